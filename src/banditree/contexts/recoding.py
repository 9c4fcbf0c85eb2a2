"""Encoded values of a feature whose kind was put right."""

from collections.abc import Callable
from math import isfinite
from typing import TypeAlias

import numpy as np

from banditree.contexts.columns import key_of
from banditree.contexts.features import NAN, Feature
from banditree.contexts.values import canonical, kind_of
from banditree.types import FloatArray, Kind, Value

RecodeRows: TypeAlias = Callable[[FloatArray], FloatArray]


class Recoding:
    """Values of a feature that were encoded as one kind, as another; misfits become missing.

    Attributes
    ----------
    feature
        The feature as it is afterwards. A number that becomes a category gets its categories as
        rows are recoded.
    """

    def __init__(self, old: Feature, index: int, kind: Kind) -> None:
        self._index = index  # of its column
        self._was_categorical = old.is_categorical
        self.feature = Feature(old.name, kind)
        self._codes = np.array([*(self._code(value) for value in old.categories), NAN])

    def rows(self, rows: FloatArray) -> FloatArray:
        """Return rows with new codes of the feature."""
        changed = rows.copy()
        changed[:, self._index] = self._column(rows[:, self._index])
        return changed

    def _column(self, codes: FloatArray) -> FloatArray:
        if self._was_categorical:
            # A missing value reads the last element.
            recoded: FloatArray = self._codes[np.where(np.isnan(codes), -1, codes).astype(np.intp)]
            return recoded
        if self.feature.kind == "number":
            return codes
        present = np.flatnonzero(~np.isnan(codes))
        new = np.full(len(codes), NAN)
        new[present] = [self._code(canonical(value)) for value in codes[present].tolist()]
        return new

    def _code(self, value: Value) -> float:
        kind = self.feature.kind
        if kind == "number":
            return _number(value)
        if kind not in ("category", kind_of(value)):
            return NAN
        ids = self.feature.ids
        return ids.setdefault(key_of(value, kind), float(len(ids)))


def _number(value: Value) -> float:
    """Return the number that a value is or reads as, else NaN."""
    if isinstance(value, bool):
        return NAN
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return NAN
    return number if isfinite(number) else NAN
