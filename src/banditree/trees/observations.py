"""Reading contexts, rewards and weights to learn from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.contexts import Encoder, Pending, take
from banditree.errors import InvalidContextError, InvalidParameterError
from banditree.trees.inputs import check_rewards, check_weights
from banditree.types import FloatArray


@dataclass(frozen=True)
class Observations:
    """Rows for the core, none of weight 0, and what the encoder has yet to commit."""

    rows: FloatArray
    rewards: FloatArray
    weights: FloatArray | None
    used: NDArray[np.bool_] | None  # which of the contexts have a row, if not all
    pending: Pending | None


def read_observations(
    encoder: Encoder, contexts: Any, y: Any, weights: Any, *, may_be_empty: bool
) -> Observations:
    """Check and encode many observations."""
    if isinstance(contexts, Iterator):
        contexts = list(contexts)
    rows, pending = encoder.stage_many(contexts)
    if len(rows) == 0 and not may_be_empty:
        raise InvalidContextError("at least one context is needed, got none; pass some rows")
    rewards = check_rewards(y, len(rows))
    row_weights = check_weights(weights, len(rows))
    if row_weights is None or row_weights.all():
        return Observations(rows, rewards, row_weights, None, pending)
    used = row_weights > 0
    if not used.any() and not may_be_empty:
        raise InvalidParameterError("weights are all 0; at least one must be positive")
    # A row of weight 0 must leave no trace, not even in the order of categories.
    rows, pending = encoder.stage_many(take(contexts, used))
    return Observations(rows, rewards[used], row_weights[used], used, pending)
