"""Rows of many contexts at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.contexts.batches import Batch, numeric_array
from banditree.contexts.columns import any_present, as_float64, surely_finite
from banditree.contexts.features import NAN, Draft, Feature
from banditree.contexts.values import infinite
from banditree.types import FloatArray


def fill(batch: Batch, features: Sequence[Feature], drafts: list[Draft] | None) -> FloatArray:
    """Encode many contexts; names that are no feature are left out.

    What is new goes to `drafts`, if given; otherwise it counts as missing.
    """
    matrix = numeric_array(batch)
    if matrix is not None:
        return _fill_matrix(batch, matrix, features, drafts)
    index = {feature.name: i for i, feature in enumerate(features)}
    rows = np.full((batch.length, len(features)), NAN)
    for position, name in enumerate(batch.names):
        target = index.get(name)
        if target is not None:
            draft = Draft(features[target])
            codes = draft.encode_column(batch.column(position, draft.kind))
            rows[:, target] = codes if drafts is not None else draft.without_new(codes)
            if drafts is not None and draft.changed:
                drafts.append(draft)
    return rows


def _fill_matrix(
    batch: Batch, array: NDArray[Any], features: Sequence[Feature], drafts: list[Draft] | None
) -> FloatArray:
    """Encode a 2-D array of numbers: all at once, then the few columns that need care."""
    rows = np.require(as_float64(array), requirements=["C", "ALIGNED"])
    if not surely_finite(rows.reshape(-1)):
        wrong = np.argwhere(np.isinf(rows))
        if len(wrong):
            row, column = wrong[0]
            raise infinite(batch.names[int(column)], array[row, column].item(), int(row))
    careful = [i for i, feature in enumerate(features) if feature.kind != "number"]
    if any(features[i].is_categorical for i in careful) and np.may_share_memory(rows, array):
        rows = rows.copy()
    for i in careful:
        draft = Draft(features[i])
        if draft.kind == "unknown" and any_present(rows[:, i]):
            draft.kind = "number"
        elif draft.kind != "unknown":
            codes = draft.encode_column(batch.column(i, draft.kind))
            rows[:, i] = codes if drafts is not None else draft.without_new(codes)
        if drafts is not None and draft.changed:
            drafts.append(draft)
    return rows
