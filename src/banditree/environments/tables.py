"""Tables as columns of numbers and of category ids."""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.contexts.batches import Batch, frame_form, read_many
from banditree.errors import InvalidContextError, InvalidParameterError
from banditree.types import FloatArray

# The narrowest first; a data set of a million rows would fill the memory as float64.
CELL_TYPES = (np.int8, np.int16, np.int32, np.float32)


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

            return pyarrow.parquet.read_table(path, use_threads=False)
        if path.name.lower().endswith((".csv", ".csv.gz")):
            import pyarrow.csv

            with_missing = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
            return pyarrow.csv.read_csv(path, convert_options=with_missing)
    except ImportError:
        raise InvalidParameterError(
            "reading files takes pyarrow: pip install 'banditree[study]'"
        ) from None
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise InvalidParameterError(f"{str(path)!r} cannot be read: {error}") from None
    raise InvalidParameterError(
        f"{str(path)!r} is neither Parquet nor CSV; the name must end in .parquet, .csv or .csv.gz"
    )


def open_table(table: Any) -> Batch:
    """Give a pandas, polars or Arrow table the view that contexts have."""
    if frame_form(table) != "table":
        raise InvalidParameterError(
            f"a table must be one of pandas, polars or Arrow, got {type(table).__name__}"
        )
    batch = read_many(table)
    if batch is None:
        raise InvalidParameterError("the table has no rows")
    return batch


def read_column(batch: Batch, name: str, *, categorical: bool) -> Column:
    """Return a column of a table."""
    try:
        column = batch.column(batch.names.index(name), "category" if categorical else "unknown")
    except InvalidContextError as error:
        raise InvalidParameterError(f"column {name!r}: {error}") from None
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
