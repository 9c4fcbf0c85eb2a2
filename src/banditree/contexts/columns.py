"""One feature of many contexts, read at once."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from banditree.contexts.values import infinite, kind_of, plain, type_change
from banditree.types import FeatureName, FloatArray, Kind, Value

NUMBERS = {int, float, type(None)}
STRINGS = {str, type(None)}
BOOLEANS = {bool, type(None)}


@dataclass(slots=True)
class Column:
    """The values of one feature: `numbers`, or else `codes` into the distinct `keys`.

    Keys are in order of first appearance; the code of a missing value is -1. Among declared
    categories the key of a boolean is a 1-tuple, because True and 1 are equal in Python.
    """

    kind: Kind
    numbers: FloatArray | None = None
    codes: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    keys: list[Hashable] = field(default_factory=list)


def key_of(value: Value, kind: Kind) -> Hashable:
    """Return what a category is looked up by."""
    return (value,) if kind == "category" and isinstance(value, bool) else value


def from_values(values: Sequence[Any], name: FeatureName, expected: Kind) -> Column:
    """Read a column of arbitrary values by the rules for single values.

    Parameters
    ----------
    values
        One value per context.
    name
        The feature, for messages.
    expected
        The feature's kind so far. The column must be of this kind, unless it is "unknown".
    """
    types = set(map(type, values))
    uniform = types <= NUMBERS or types <= STRINGS or types <= BOOLEANS
    if not uniform or (expected == "category" and float in types):
        values = [plain(value, name, row) for row, value in enumerate(values)]
        types = set(map(type, values))
    if types == {type(None)}:
        return Column(expected, codes=np.full(len(values), -1, np.intp))
    if expected == "category":
        return _coded([None if v is None else key_of(v, expected) for v in values], expected)
    if types <= NUMBERS:
        return from_numbers(_as_floats(values, name), values, name, expected)
    return _coded(values, _only_kind(values, types, name, expected))


def from_array(array: NDArray[Any], name: FeatureName, expected: Kind) -> Column:
    """Read a column from a 1-D array of any type."""
    numeric = array.dtype.kind in "fiu"
    if isinstance(array, np.ma.MaskedArray):
        if not numeric or expected == "category":
            return from_values(list(array), name, expected)
        array = np.ma.filled(array.astype(np.float64), np.nan)
    if numeric and expected == "category":
        return _distinct(array, name)
    if numeric:
        return from_numbers(as_float64(array), array, name, expected)
    return from_values(listed(array), name, expected)


def from_numbers(
    numbers: FloatArray, originals: Sequence[Any] | NDArray[Any], name: FeatureName, expected: Kind
) -> Column:
    """Check a column of numbers; `originals` has the values as they were sent, for messages."""
    wrong = np.isinf(numbers)
    if wrong.any():
        row = int(wrong.argmax())
        raise infinite(name, originals[row], row)
    if expected == "number":
        return Column("number", numbers)
    present = ~np.isnan(numbers)
    if not present.any():
        return Column(expected, codes=np.full(len(numbers), -1, np.intp))
    if expected != "unknown":
        row = int(present.argmax())
        raise type_change(name, expected, originals[row], "number", row)
    return Column("number", numbers)


def as_float64(array: NDArray[Any]) -> FloatArray:
    """Convert to native float64, without a copy where that is possible."""
    with np.errstate(over="ignore"):  # a long double beyond the range becomes inf, refused later
        return array.astype(np.float64, copy=False)


def listed(array: NDArray[Any]) -> list[Any]:
    """Return the elements, as Python values where numpy has a faithful one."""
    # tolist() would turn dates in nanoseconds into integers, and masked values into None.
    if array.dtype.kind in "fiubUTO" and not isinstance(array, np.ma.MaskedArray):
        return cast("list[Any]", array.tolist())
    return list(array)


def _as_floats(values: Sequence[Any], name: FeatureName) -> FloatArray:
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        for row, value in enumerate(values):
            plain(value, name, row)
        raise


def _only_kind(
    values: Sequence[Value | None], types: set[type], name: FeatureName, expected: Kind
) -> Kind:
    if types <= STRINGS and expected in ("string", "unknown"):
        return "string"
    for row, value in enumerate(values):
        if value is None:
            continue
        kind = kind_of(value)
        if expected == "unknown":
            expected = kind
        elif kind != expected:
            raise type_change(name, expected, value, kind, row)
    return expected


def _coded(keys: Sequence[Hashable], kind: Kind) -> Column:
    distinct = dict.fromkeys(keys)
    distinct.pop(None, None)
    position: dict[Hashable, int] = {key: i for i, key in enumerate(distinct)}
    position[None] = -1
    codes = np.fromiter(map(position.__getitem__, keys), np.intp, len(keys))
    return Column(kind, codes=codes, keys=list(distinct))


def _distinct(array: NDArray[Any], name: FeatureName) -> Column:
    """Code an array of numbers that are declared categories."""
    if array.dtype.kind == "f":
        # Only for its check: integers must not become floats, long identifiers would fall together.
        originals, array = array, as_float64(array)
        from_numbers(array, originals, name, "unknown")
    present = np.flatnonzero(array == array)
    values, first, inverse = np.unique(array[present], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    codes = np.full(len(array), -1, np.intp)
    codes[present] = rank[inverse]
    return Column("category", codes=codes, keys=values[order].tolist())


def surely_finite(values: FloatArray) -> bool:
    """Return whether the sum is finite: only if all values are, and fast to take."""
    # Not the dot product: BLAS takes it with threads of its own, in the way of the caller's.
    with np.errstate(over="ignore", invalid="ignore"):
        return isfinite(values.sum())


def any_present(column: FloatArray) -> bool:
    """Return whether some value is not missing; most often the first one."""
    return len(column) > 0 and not (np.isnan(column[0]) and np.isnan(column).all())
