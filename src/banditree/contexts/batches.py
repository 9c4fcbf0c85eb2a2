"""The forms that contexts may come in, and a common view of many contexts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from banditree._checking import shorten, with_article
from banditree.contexts.columns import Column, from_array, from_values, listed
from banditree.errors import InvalidContextError, InvalidParameterError
from banditree.types import FeatureName, Kind

ACCEPTED = (
    "one context is a mapping, a sequence of values or a 1-D array; many are a list of those, "
    "a 2-D array, or a pandas, polars or Arrow table"
)
LIBRARIES = ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf")

# Types that are certainly a value, tested first because the general test takes 1.4 µs.
VALUES = frozenset({float, int, str, bool, type(None)})


class Batch(Protocol):
    """Many contexts, one column per feature."""

    named: bool
    length: int

    @property
    def names(self) -> Sequence[FeatureName]:
        """The features, in order of first appearance; new ones are yet to be checked."""
        ...

    def column(self, position: int, expected: Kind) -> Column:
        """Read the column of `names[position]`; `expected` is the feature's kind so far."""
        ...


class Single(NamedTuple):
    """One context: a dict if it is named, else a list."""

    named: bool
    values: Any


class Records:
    """A list of mappings."""

    named = True

    def __init__(self, records: Sequence[Mapping[Any, Any]]) -> None:
        self.length = len(records)
        self.records = records
        keys: dict[Any, Any] = {}
        for record in records:
            keys.update(record)
        self.names = list(keys)

    def first_with(self, name: Any) -> int:
        """Return the number of the first context that has a name."""
        return next(i for i, record in enumerate(self.records) if name in record)

    def column(self, position: int, expected: Kind) -> Column:
        """Collect the values of one key."""
        name = self.names[position]
        return from_values([record.get(name) for record in self.records], name, expected)


class Rows:
    """A list of sequences of equal length."""

    named = False

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        self.length = len(rows)
        self.names: Sequence[FeatureName] = range(len(rows[0]))
        for index, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise wrong_length(len(row), len(rows[0]), f"context {index}")
        self.columns = list(zip(*rows, strict=True))

    def column(self, position: int, expected: Kind) -> Column:
        """Read one position of all sequences."""
        return from_values(self.columns[position], self.names[position], expected)


class Matrix:
    """A 2-D array."""

    named = False

    def __init__(self, array: NDArray[Any]) -> None:
        # Slices of a numpy matrix would stay 2-D; a masked array must stay one.
        self.array = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
        self.length = array.shape[0]
        self.names: Sequence[FeatureName] = range(array.shape[1])

    def column(self, position: int, expected: Kind) -> Column:
        """Read one column of the array."""
        return from_array(self.array[:, position], self.names[position], expected)


class Structured:
    """A 1-D array with named fields."""

    named = True

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.length = len(array)
        self.names = list(array.dtype.names or ())

    def column(self, position: int, expected: Kind) -> Column:
        """Read one field of the array."""
        name = self.names[position]
        return from_array(self.array[name], name, expected)


def feature_name(key: object) -> FeatureName:
    """Check a mapping's key or a table's column name."""
    if isinstance(key, str):
        return str.__str__(key)
    whole = isinstance(key, int | np.integer) and not isinstance(key, bool | np.timedelta64)
    if whole and -(2**63) <= key < 2**64:  # type: ignore[operator]  # mypy forgets what whole says
        return int(key)  # type: ignore[call-overload,no-any-return]
    raise InvalidContextError(
        f"a feature's name is a string or an integer of at most 64 bits, got {shorten(key)} "
        f"({type(key).__name__}); rename this key or column"
    )


def wrong_length(got: int, expected: int, what: str = "the context") -> InvalidContextError:
    """Return the error for a sequence or array of another length than those before."""
    return InvalidContextError(
        f"{what} has {got} features, expected {expected}; contexts without names must all have the "
        "same length: send None for missing values, or use mappings if features come and go"
    )


def unreadable(contexts: object, what: str = "a context cannot be") -> InvalidContextError:
    """Return the error for something that is no context at all."""
    return InvalidContextError(f"{what} {_form(contexts)}, got {shorten(contexts)}; {ACCEPTED}")


def frame_form(value: object) -> Literal["table", "column"] | None:
    """Return what an object of a data-frame library is, by its class: nothing is imported."""
    for cls in type(value).__mro__:
        if cls.__module__.partition(".")[0] in LIBRARIES:
            if cls.__name__ == "LazyFrame":
                raise InvalidContextError("a LazyFrame has no rows yet; call its .collect() first")
            if cls.__name__ in ("DataFrame", "Table", "RecordBatch"):
                return "table"
            if cls.__name__ in ("Series", "Array", "ChunkedArray"):
                return "column"
    return None


def is_one(contexts: object) -> bool:
    """Return whether the argument is one context rather than many."""
    if isinstance(contexts, Mapping | np.void):
        return True
    if isinstance(contexts, np.ndarray):
        return _is_one_array(contexts)
    if isinstance(contexts, str | bytes | bytearray | memoryview):
        raise unreadable(contexts)
    if isinstance(contexts, Iterator):
        return False
    form = frame_form(contexts)
    if form is not None:
        return form == "column"
    if isinstance(contexts, Sequence):
        return len(contexts) > 0 and not is_context(contexts[0])
    raise unreadable(contexts)


def is_context(value: object) -> bool:
    """Return whether an element of a sequence is a context itself rather than a value."""
    if type(value) in VALUES:
        return False
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    if isinstance(value, str | bytes | bytearray | memoryview):
        return False
    if isinstance(value, Mapping | Sequence | np.void):
        return True
    return frame_form(value) is not None


def read_one(context: object) -> Single:
    """Bring one context into the form of a dict or a list."""
    if isinstance(context, Mapping):
        return Single(True, context if isinstance(context, dict) else dict(context))
    if isinstance(context, list | tuple) and context and type(context[0]) in VALUES:
        return Single(False, context)
    if isinstance(context, memoryview):
        raise unreadable(context)
    if not (isinstance(context, Sequence) and len(context) == 0) and not is_one(context):
        raise _not_one(context)
    if isinstance(context, np.void):
        return Single(True, _named_fields(context))
    if isinstance(context, np.ndarray):
        return Single(False, listed(context))
    if frame_form(context) == "column":
        return _read_column(context)
    return Single(False, list(context))  # type: ignore[call-overload]


def _not_one(contexts: Any) -> InvalidContextError:
    if not isinstance(contexts, Iterator) and len(contexts) == 1:
        return InvalidContextError(
            f"expected one context, got {_form(contexts)} of one context, {shorten(contexts)}; "
            "pass the context inside it, or call the method that ends in _many"
        )
    return InvalidContextError(
        f"expected one context, got many ({_form(contexts)}); call the method that ends in _many"
    )


def read_many(contexts: object) -> Batch | None:
    """Give many contexts a common view; None if there are none."""
    if isinstance(contexts, Iterator):
        contexts = list(contexts)
        if contexts and not is_context(contexts[0]):
            raise unreadable(contexts[0], "context 0 cannot be")
    if is_one(contexts):
        raise InvalidContextError(
            f"expected many contexts, got one ({_form(contexts)}); put it in a list, or call the "
            "method for one context; many values of a single feature are a 2-D array or a table "
            "of one column"
        )
    batch: Batch
    if isinstance(contexts, np.ndarray) and contexts.dtype.names is not None:
        batch = Structured(contexts)
    elif isinstance(contexts, np.ndarray) and contexts.ndim == 2:
        batch = Matrix(contexts)
    elif frame_form(contexts) == "table":
        # Here, so that narwhals is only needed by those who send tables.
        from banditree.contexts.tables import Frame

        batch = Frame(contexts)
    else:
        return _read_list(list(contexts))  # type: ignore[call-overload]
    return batch if batch.length else None


def take(contexts: Any, wanted: NDArray[np.bool_]) -> Any:
    """Return the contexts, of many, for which `wanted` is true."""
    if isinstance(contexts, np.ndarray):
        return contexts[wanted]
    if frame_form(contexts) == "table":
        from banditree.contexts import tables

        return tables.take(contexts, wanted)
    return [context for context, keep in zip(contexts, wanted, strict=True) if keep]


def _read_list(items: list[Any]) -> Batch | None:
    if not items:
        return None
    if all(type(item) is dict for item in items):
        return Records(items)
    if _is_stack(items):
        return Matrix(np.stack(items))
    singles = [_read_item(item, index) for index, item in enumerate(items)]
    named = singles[0].named
    for index, single in enumerate(singles):
        if single.named != named:
            raise InvalidContextError(
                f"context 0 is {_form(items[0])} and context {index} is {_form(items[index])}; "
                "send contexts with names (mappings) or without (sequences), not both"
            )
    values = [single.values for single in singles]
    return Records(values) if named else Rows(values)


def _read_item(item: object, index: int) -> Single:
    if not is_context(item) or (isinstance(item, np.ndarray) and item.ndim > 1):
        raise unreadable(item, f"context {index} cannot be")
    try:
        return read_one(item)
    except InvalidContextError as error:
        raise InvalidContextError(f"context {index}: {error}") from None


def _is_stack(items: list[Any]) -> bool:
    """Return whether all are plain 1-D arrays of numbers that make up a matrix."""
    first = items[0]
    return (
        type(first) is np.ndarray
        and first.ndim == 1
        and first.dtype.kind in "fiu"
        and all(
            type(item) is np.ndarray and item.dtype == first.dtype and item.shape == first.shape
            for item in items
        )
    )


def _is_one_array(array: NDArray[Any]) -> bool:
    if array.dtype.names is not None:
        if array.ndim == 1:
            return False
        raise unreadable(array)
    if array.ndim == 1:
        return array.dtype != object or len(array) == 0 or not is_context(array[0])
    if array.ndim == 2:
        return False
    raise unreadable(array)


def _read_column(column: Any) -> Single:
    """Read a pandas Series by its index, any other column by position."""
    if hasattr(column, "index") and hasattr(column.index, "tolist"):
        return Single(True, _unique(column.index.tolist(), column.tolist()))
    return Single(False, column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())


def _named_fields(record: np.void) -> dict[Any, Any]:
    names = record.dtype.names
    if names is None:
        raise unreadable(record)
    return {name: record[name] for name in names}


def _unique(names: Sequence[Any], values: Sequence[Any]) -> dict[Any, Any]:
    check_unique(names)
    return dict(zip(names, values, strict=True))


def check_unique(names: Sequence[Any]) -> None:
    """Refuse a name that occurs twice."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidContextError(
            f"feature {twice!r} occurs more than once; names must be unique: rename or drop one"
        )


def _form(contexts: object) -> str:
    """Say what something is, such as "a list" or "a 2-D array"."""
    if isinstance(contexts, np.ndarray):
        return f"a {contexts.ndim}-D array"
    return with_article(type(contexts).__name__)


def numeric_array(batch: Batch) -> NDArray[Any] | None:
    """Return the array if the batch is a plain matrix of numbers."""
    if isinstance(batch, Matrix) and batch.array.dtype.kind in "fiu":
        array = batch.array
        return None if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
    return None


def declared_names(names: Any, parameter: str = "categorical") -> tuple[FeatureName, ...]:
    """Check the names of features that a parameter declares."""
    # An array without dimensions is of an iterable class, but cannot be iterated.
    listed = isinstance(names, Iterable) and getattr(names, "ndim", 1) != 0
    if isinstance(names, str | bytes | memoryview) or not listed:
        raise InvalidParameterError(
            f"{parameter} must be a list of feature names, got {shorten(names)}; "
            f"put a single name in a list"
        )
    try:
        return tuple(feature_name(name) for name in names)
    except InvalidContextError as error:
        raise InvalidParameterError(f"{parameter}: {error}") from None
