"""Tables of pandas, polars and Arrow, read column by column through narwhals."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.contexts.batches import check_unique
from banditree.contexts.columns import Column, from_array, from_values, listed
from banditree.contexts.values import kind_of, plain
from banditree.errors import InvalidContextError
from banditree.types import FeatureName, Kind

try:
    import narwhals as nw
except ImportError:
    raise InvalidContextError(
        "tables are read through narwhals, which is not installed: pip install narwhals"
    ) from None


class Frame:
    """A table, one feature per column."""

    named = True

    def __init__(self, table: Any) -> None:
        if type(table).__name__ == "RecordBatch":  # Arrow's, which narwhals does not take
            table = sys.modules["pyarrow"].Table.from_batches([table])
        raw = getattr(table, "column_names", None)
        self.names: list[FeatureName] = list(table.columns if raw is None else raw)
        check_unique(self.names)
        self.frame = nw.from_native(table, eager_only=True, pass_through=False)
        self.length = len(self.frame)
        self._columns = list(self.frame.iter_columns())

    def column(self, position: int, expected: Kind) -> Column:
        """Read one column of the table, in bulk where its type allows."""
        series, name = self._columns[position], self.names[position]
        dtype = series.dtype
        if dtype.is_integer() and expected == "category" and series.null_count():
            return from_values(series.to_list(), name, expected)  # to_numpy() would give floats
        if dtype.is_float() or (dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128)):
            return from_array(series.to_numpy(), name, expected)
        if dtype in (nw.String, nw.Categorical, nw.Enum):
            return _texts(series, name, expected)
        return from_values(series.to_list(), name, expected)


def take(table: Any, wanted: NDArray[np.bool_]) -> Any:
    """Return the rows of a table for which `wanted` is true."""
    return Frame(table).frame.filter(wanted.tolist()).to_native()


def _texts(series: "nw.Series[Any]", name: FeatureName, expected: Kind) -> Column:
    """Read strings, or a categorical column, which may hold numbers in pandas."""
    coded = _by_arrow(series)
    values = series.to_list() if coded is None else coded[1]
    if series.dtype != nw.String and expected == "unknown":
        expected = _category_kind(values, name)
    if coded is None:
        return from_values(values, name, expected)
    if set(map(type, values)) == {str} and expected in ("string", "category", "unknown"):
        kind: Kind = "category" if expected == "category" else "string"
        return Column(kind, codes=coded[0], keys=values)
    return _recoded(*coded, series, name, expected)


def _recoded(
    codes: NDArray[np.intp],
    values: list[Any],
    series: "nw.Series[Any]",
    name: FeatureName,
    expected: Kind,
) -> Column:
    """Read the distinct values by the rules for single values, then spread them by `codes`."""
    try:
        distinct = from_values(values, name, expected)
    except InvalidContextError:  # again, to name the right row
        return from_values(series.to_list(), name, expected)
    # Missing values have code -1, which reads the last element.
    if distinct.numbers is not None:
        return Column(distinct.kind, np.append(distinct.numbers, np.nan)[codes])
    return Column(distinct.kind, codes=np.append(distinct.codes, -1)[codes], keys=distinct.keys)


def _category_kind(values: list[Any], name: FeatureName) -> Kind:
    """Return "category" if the categories of a categorical column are not just strings."""
    present = (plain(value, name) for value in values)
    kinds = {kind_of(value) for value in present if value is not None}
    return "category" if "number" in kinds or len(kinds) > 1 else "unknown"


def _by_arrow(series: "nw.Series[Any]") -> tuple[NDArray[np.intp], list[Any]] | None:
    """Return codes and distinct values, if Arrow is loaded.

    For a million strings of few distinct values this takes an eighth of the time of a list and a
    dict; for a pandas column of Python objects, three quarters.
    """
    if "pyarrow" not in sys.modules:
        return None
    array = series.to_arrow()
    if not hasattr(array, "dictionary"):
        array = array.dictionary_encode()
    if not hasattr(array, "indices"):  # in chunks, being too long for one array
        return None
    codes = array.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    values = array.dictionary.to_numpy(zero_copy_only=False)
    return _in_order(codes, values)


def _in_order(codes: NDArray[np.intp], values: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Sort the distinct values by first appearance and drop those that never appear."""
    never = len(codes)
    first = np.full(len(values) + 1, never)
    first[codes[::-1]] = np.arange(never)[::-1]  # of equal codes, the last assignment stays
    first = first[:-1]  # missing values had code -1
    order = np.argsort(first, kind="stable")[: int((first < never).sum())]
    rank = np.full(len(values) + 1, -1)
    rank[order] = np.arange(len(order))
    return rank[codes], listed(values[order])
