"""Tables as columns of numbers and of category ids."""

import csv
import hashlib
from codecs import getincrementaldecoder
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from banditree.contexts import date_parts
from banditree.contexts.batches import Batch, frame_form
from banditree.contexts.columns import from_values
from banditree.errors import InvalidContextError, InvalidParameterError
from banditree.types import FeatureName, FloatArray

if TYPE_CHECKING:  # they load narwhals, which only those need who send tables
    import narwhals as nw

    from banditree.contexts.tables import Frame

# The narrowest first; a data set of a million rows would fill the memory as float64.
CELL_TYPES = (np.int8, np.int16, np.int32, np.float32)

TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)  # a datetime is a date

HEAD = 1 << 16  # bytes of a CSV file in which its header is looked at
WRONG_SEPARATORS = {";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True, eq=False)
class Column:
    """Numbers with NaN where they are missing, or ids of `categories` with -1 there."""

    cells: NDArray[Any]
    categories: list[Hashable] | None = None

    def numbers(self, rows: NDArray[np.intp]) -> FloatArray:
        """Return some rows; categories as ids, missing values as NaN."""
        taken = self.cells[rows].astype(np.float64)
        if self.categories is not None:
            taken[taken < 0] = np.nan
        return taken


def read_table(path: Path) -> Any:
    """Return the Arrow table in a Parquet or CSV file."""
    if not path.exists():
        raise InvalidParameterError(f"there is no file {str(path)!r}")
    try:
        if path.name.lower().endswith(".parquet"):
            import pyarrow.parquet

            return _without_index(pyarrow.parquet.read_table(path, use_threads=False))
        if path.name.lower().endswith((".csv", ".csv.gz")):
            return _read_csv(path)
    except InvalidParameterError:
        raise
    except ImportError:
        raise InvalidParameterError(
            "reading files needs pyarrow: pip install 'banditree[study]'"
        ) from None
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise InvalidParameterError(f"{str(path)!r} cannot be read: {error}") from None
    raise InvalidParameterError(
        f"{str(path)!r} is neither Parquet nor CSV; the name must end in .parquet, .csv or .csv.gz"
    )


def _without_index(table: Any) -> Any:
    """Return a table without the numbers of rows that pandas has written beside its columns."""
    added = (table.schema.pandas_metadata or {}).get("index_columns", [])
    unnamed = [name for name in table.column_names if name in added and name.startswith("__index_")]
    return table.drop_columns(unnamed)


def _read_csv(path: Path) -> Any:
    """Return the table in a CSV file; an empty cell is missing, and so is NA among numbers."""
    import pyarrow.csv

    packed = "gzip" if path.name.lower().endswith(".gz") else None
    with pyarrow.input_stream(path, compression=packed) as file:
        _check_header(path, file.read(HEAD))
    # Arrow would take the text NA for missing in either all columns or none.
    as_text = pyarrow.csv.ConvertOptions(strings_can_be_null=False)
    with pyarrow.input_stream(path, compression=packed) as file:
        table = pyarrow.csv.read_csv(file, convert_options=as_text)
    # Arrow reads what is not UTF-8 as bytes.
    types = pyarrow.types
    foreign = [field.name for field in table.schema if types.is_binary(field.type)]
    if foreign:
        raise _not_utf8(path, f"column {', '.join(map(repr, foreign))}")
    for i, field in enumerate(table.schema):
        if types.is_string(field.type):
            table = table.set_column(i, field, _without_empty(table.column(i)))
    return table


def _check_header(path: Path, head: bytes) -> None:
    """Refuse a CSV file that is not UTF-8, or whose header shows another separator."""
    lines = head.lstrip(b"\r\n").splitlines() or [b""]
    cut_off = len(lines) == 1 and len(head) == HEAD  # perhaps amid a character
    try:
        line = getincrementaldecoder("utf-8-sig")().decode(lines[0], final=not cut_off)
    except UnicodeDecodeError:
        raise _not_utf8(path, "its first line") from None
    cells = next(csv.reader([line]), [])
    for separator, noun in WRONG_SEPARATORS.items():
        if len(cells) == 1 and separator in cells[0]:
            raise InvalidParameterError(
                f"the cells of {str(path)!r} seem to be separated by {noun}, where commas are "
                "needed; save it with commas"
            )


def _not_utf8(path: Path, where: str) -> InvalidParameterError:
    return InvalidParameterError(f"{str(path)!r} is not UTF-8 text: see {where}; save it as UTF-8")


def _without_empty(texts: Any) -> Any:
    """Return a column of text with empty cells missing."""
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(texts, ""), None, texts)


def open_table(table: Any) -> "Frame":
    """Give a pandas, polars or Arrow table the view that contexts have."""
    if frame_form(table) != "table":
        raise InvalidParameterError(
            f"a table must be one of pandas, polars or Arrow, got {type(table).__name__}"
        )
    from banditree.contexts.tables import Frame

    frame = Frame(table)
    if not frame.length:
        raise InvalidParameterError("the table has no rows")
    return frame


def time_columns(frame: "Frame") -> list[FeatureName]:
    """Return the names of the columns that hold dates, times or durations."""
    columns = zip(frame.names, frame.frame.iter_columns(), strict=True)
    return [name for name, series in columns if _holds_times(series)]


def _holds_times(series: "nw.Series[Any]") -> bool:
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_temporal():
        return series.null_count() < len(series)
    if dtype.is_numeric() or dtype in (nw.String, nw.Boolean):
        return False
    # pandas keeps dates as objects; the first value stands for all.
    return any(isinstance(value, TIMES) for value in series.drop_nulls().head(1).to_list())


def read_column(batch: Batch, name: str, *, categorical: bool) -> Column:
    """Return a column of a table."""
    try:
        index = [str(known) for known in batch.names].index(name)
        column = batch.column(index, "category" if categorical else "unknown")
    except InvalidContextError as error:
        raise InvalidParameterError(f"column {name!r}: {error}") from None
    return _stored(column)


def read_dates(frame: "Frame", name: str) -> dict[str, Column]:
    """Return the parts of a column of dates as columns of their own; without those never known."""
    columns = zip(map(str, frame.names), frame.frame.iter_columns(), strict=True)
    values = next(series for known, series in columns if known == name).to_list()
    try:
        rows = [date_parts(value, name) for value in values]
    except InvalidContextError as error:
        raise InvalidParameterError(f"dates: column {name!r} holds other values: {error}") from None
    parts = {part: [row[part] for row in rows] for part in date_parts(None, name)}
    return {
        part: _stored(from_values(cells, part, "unknown"))
        for part, cells in parts.items()
        if any(cell is not None for cell in cells)
    }


def _stored(column: Any) -> Column:
    """Return a column as it is kept, for many runs."""
    if column.numbers is not None:
        return Column(_narrow(column.numbers))
    return Column(_narrow(column.codes), column.keys)


def _narrow(cells: NDArray[Any]) -> NDArray[Any]:
    """Return the same values in the narrowest type that holds them."""
    for cell_type in CELL_TYPES:
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = cells.astype(cell_type)
        if np.array_equal(narrow, cells, equal_nan=True):
            return narrow
    return cells


def content_hash(
    columns: Sequence[tuple[str, Column]], rows: NDArray[np.intp], classes: NDArray[np.intp]
) -> str:
    """Return a hash of some rows, the same whatever file or library they came from."""
    digest = hashlib.sha256(classes.astype(np.int64).tobytes())
    for name, column in columns:
        digest.update(repr((name, column.categories)).encode())
        digest.update(column.numbers(rows).tobytes())
    return digest.hexdigest()[:32]
