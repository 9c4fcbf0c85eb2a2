"""The data sets of the study: where they lie, and whether they are right."""

import hashlib
import importlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from banditree._checking import did_you_mean, shorten
from banditree.environments.catalogue import DATASETS, Dataset, Original
from banditree.errors import DataError, InvalidParameterError

__all__ = [
    "DATASETS",
    "Dataset",
    "Listing",
    "Original",
    "cache_folder",
    "describe",
    "find",
    "locate",
    "verify",
]


def find(key: str) -> Dataset:
    """Return the data set of that name.

    Examples
    --------
    >>> find("adult").label
    'occupation'
    """
    dataset = DATASETS.get(str(key))
    if dataset is not None:
        return dataset
    known = f"there are {', '.join(DATASETS)}"
    raise InvalidParameterError(
        f"there is no data set {shorten(key)}; {did_you_mean(str(key), DATASETS, known)}"
    )


# Where they lie


def data_folder() -> Path | None:
    """Return the folder in which the user keeps data sets: $BANDITREE_DATA."""
    named = os.environ.get("BANDITREE_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """Return the folder of downloaded data sets: $BANDITREE_CACHE, or the system's own."""
    named = os.environ.get("BANDITREE_CACHE")
    return Path(named or load_extra("pooch").os_cache("banditree")).expanduser()


def locate(key: str) -> Path | None:
    """Return the file of a data set, in $BANDITREE_DATA or else in the cache; None if in neither.

    Nothing is downloaded, and the file is not read: `verify` does that.
    """
    dataset = find(key)
    folder = data_folder()
    path = None if folder is None else _look_for(dataset, folder)
    if path is None:
        with suppress(DataError):  # where the extra is not installed, nothing was downloaded
            path = _look_for(dataset, cache_folder())
    return path


def _look_for(dataset: Dataset, folder: Path) -> Path | None:
    paths = (folder / f"{name}.parquet" for name in dataset.files)
    return next((path for path in paths if path.is_file()), None)


@dataclass(frozen=True)
class Listing:
    """A line in a list of the data sets."""

    key: str
    title: str
    path: Path | None  # None if it is not here
    rows: int | None  # as published if it is not here; None if its file cannot be read
    licence: str

    @property
    def where(self) -> str:
        """The path, or that there is none."""
        return "not here" if self.path is None else str(self.path)


def describe() -> list[Listing]:
    """Return what there is to know of each data set, and where it is.

    Examples
    --------
    >>> [listing.key for listing in describe()]
    ['adult', 'shuttle', 'covertype', 'census']
    """
    listings = []
    for dataset in DATASETS.values():
        path = locate(dataset.key)
        rows = dataset.rows if path is None else _count_rows(path)
        listings.append(Listing(dataset.key, dataset.title, path, rows, dataset.licence))
    return listings


def _count_rows(path: Path) -> int | None:
    try:
        rows: int = load_extra("pyarrow.parquet").read_metadata(path).num_rows
    except (OSError, ValueError):  # pyarrow's errors are ValueErrors; DataError is an OSError
        return None
    return rows


# Whether they are right


def verify(key: str, path: Path | None = None) -> None:
    """Read a data set and compare it with what was published; it takes a second or two.

    The file is by default the one that `locate` finds. One that differs raises a `DataError`.
    """
    dataset = find(key)
    path = path or locate(key)
    if path is None:
        raise DataError(f"data set {key!r} is not here; {how_to_get(key)}")
    parquet = load_extra("pyarrow.parquet")
    try:
        table = parquet.read_table(path, use_threads=False)
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        fault = f"cannot be read: {in_one_line(error)}"
    else:
        rows = dataset.digest_rows if table.num_rows == dataset.digest_rows else dataset.rows
        difference = find_difference(dataset, table, rows)
        if difference is None:
            return
        fault = f"is not data set {key!r} as it was published: {difference}"
    raise DataError(f"{path} {fault}; remove that file, then {how_to_get(key)}")


def find_difference(dataset: Dataset, table: Any, rows: int) -> str | None:
    """Say how an Arrow table differs from the data set of so many rows; None if it does not."""
    if table.num_rows != rows:
        return f"expected {rows:,} rows, got {table.num_rows:,}"
    digest = digest_of(table.slice(0, dataset.digest_rows))
    if digest != dataset.digest:
        return f"expected content with sha256 {dataset.digest}, got {digest}"
    return None


def digest_of(table: Any) -> str:
    """Return a hash of an Arrow table that does not depend on how the columns are stored.

    It is the SHA-256 of, for each column in order, its name, a newline, and its values: whole
    numbers as 8 bytes each, the lowest first; anything else as strings with newlines between them.

    Examples
    --------
    >>> import pyarrow
    >>> narrow, wide = (pyarrow.table({"a": pyarrow.array([1, 2], t)}) for t in ("int8", "int64"))
    >>> digest_of(narrow) == digest_of(wide)
    True
    """
    is_integer = load_extra("pyarrow.types").is_integer
    digest = hashlib.sha256()
    for name in table.column_names:
        column = table.column(name)
        digest.update(f"{name}\n".encode())
        if is_integer(column.type) and not column.null_count:
            digest.update(column.to_numpy().astype("<i8").tobytes())
        else:
            # 20 times as fast as by to_pylist
            digest.update("\n".join(map(str, column.to_numpy())).encode())
    return digest.hexdigest()


# Advice


def how_to_get(key: str) -> str:
    """Return what the user can do to have a data set."""
    return (
        f"run `banditree data fetch {key}` when online, or put {key}.parquet into a folder and set "
        "BANDITREE_DATA to it"
    )


def in_one_line(error: Exception) -> str:
    """Return the message of another library's error as part of ours."""
    text = " ".join(str(error).split())
    return text if len(text) <= 120 else f"{text[:117]}..."


def load_extra(module: str) -> Any:
    """Import a module of the extra `study`, which is loaded only where it is used."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise DataError(
            f"data sets need {package}, which is not installed: pip install 'banditree[study]'"
        ) from None
