"""Constructor parameters: their names and defaults, and checks that policies share."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from banditree.trees.inputs import check_seed


def as_seed(seed: Any) -> int | None:
    """Return a seed; a numpy generator is asked for one."""
    if seed is None:
        return None
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**64, dtype=np.uint64))
    return check_seed(seed)


def parameters_of(cls: type) -> Mapping[str, Any]:
    """Return the constructor's parameters and their defaults."""
    signature = inspect.signature(cls)
    return {name: p.default for name, p in signature.parameters.items()}
