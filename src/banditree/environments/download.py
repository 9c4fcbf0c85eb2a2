"""Getting data sets from where they are published."""

import gzip
import hashlib
import io
import os
import shutil
import tempfile
import zlib
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from banditree.environments.datasets import (
    Dataset,
    Original,
    cache_folder,
    data_folder,
    find,
    find_difference,
    how_to_get,
    in_one_line,
    load_extra,
    locate,
)
from banditree.errors import DataError

__all__ = ["fetch"]

ARCHIVE = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
TIMEOUT = 30.0  # seconds in which the archive must send something

# Large, since every chunk is flushed to disk.
CHUNK = 1 << 18

# With which bytes packed files start; names do not tell, as a server may send them unpacked.
GZIP = b"\x1f\x8b"
COMPRESS = b"\x1f\x9d"

DAMAGE = (gzip.BadGzipFile, zlib.error, EOFError, ValueError, IndexError)

PACKAGES = ("pyarrow", "pooch", "requests", "tqdm", "unlzw3")

# The narrowest first, as in the files that are handed around.
INTEGERS = ("uint8", "int8", "int16", "int32")


def fetch(key: str, progress: bool = True) -> Path:
    """Return the file of a data set; download it into the cache if it is nowhere yet.

    A download that fails or is interrupted leaves nothing behind.

    Parameters
    ----------
    key
        One of `DATASETS`.
    progress
        Show a progress bar, if the standard error is a terminal.

    Raises
    ------
    DataError
        If the download fails, or is not what was published.
    """
    dataset = find(key)
    found = locate(key)
    if found is not None:
        return found
    for module in PACKAGES:
        load_extra(module)  # rather now than after some minutes
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # In the cache, so that the last step is a renaming within one file system.
        with tempfile.TemporaryDirectory(prefix=f"{key}-", dir=folder) as work:
            made = make_parquet(dataset, Path(work), progress)
            os.replace(made, folder / f"{key}.parquet")
    except DataError:
        raise
    except OSError as error:
        raise DataError(
            f"data set {key!r} cannot be stored in {folder}: {error.strerror or error}; make room "
            "there, or set BANDITREE_CACHE to another folder"
        ) from error
    return folder / f"{key}.parquet"


def make_parquet(dataset: Dataset, folder: Path, progress: bool) -> Path:
    """Download the originals into a folder and return the Parquet file made of them."""
    pyarrow, parquet = load_extra("pyarrow"), load_extra("pyarrow.parquet")
    parts = []
    for original in dataset.originals:
        path = folder / original.name
        download(dataset, original, path, progress)
        try:
            plain = unpack(path)
            check_md5(original, plain)
            parts.append(read_original(dataset, original, plain))
        except DAMAGE as error:  # among them pyarrow's errors, which are ValueErrors
            raise damaged(dataset, f"{original.name}: {in_one_line(error)}") from error
    table = encode_texts(pyarrow.concat_tables(parts, promote_options="permissive"))
    difference = find_difference(dataset, table, dataset.rows)
    if difference is not None:
        raise damaged(dataset, difference)
    parquet.write_table(table, folder / "made.parquet", compression="zstd")
    return folder / "made.parquet"


# Download


def download(dataset: Dataset, original: Original, path: Path, progress: bool) -> None:
    """Write an original to a file as it comes."""
    pooch, requests, tqdm = (load_extra(name) for name in ("pooch", "requests", "tqdm"))
    url = ARCHIVE + original.path
    responses: list[Any] = []
    hooks = {"response": lambda response, *_, **__: responses.append(response)}
    # The downloader sets the total once it is known, but it takes a bar without one for no bar.
    # None: hidden where the output is no terminal.
    hide = None if progress else True
    with tqdm.tqdm(total=1, desc=original.name, unit="B", unit_scale=True, disable=hide) as bar:
        get = pooch.HTTPDownloader(bar, CHUNK, timeout=TIMEOUT, hooks=hooks)
        try:
            get(url, str(path), None)
        except requests.RequestException as error:
            raise DataError(
                f"data set {dataset.key!r} is neither in $BANDITREE_DATA "
                f"({_data_place()}) nor in the cache ({cache_folder()}), and its "
                f"download failed: {reason(error, url)}; {how_to_get(dataset.key)}"
            ) from error
        finally:
            for response in responses:
                response.close()  # the downloader leaves it open when something goes wrong


def _data_place() -> str:
    folder = data_folder()
    if folder is None:
        return "not set"
    return str(folder) if folder.is_dir() else f"{folder}, where there is no folder"


def reason(error: Any, url: str) -> str:
    """Say in a few words why a request failed."""
    host = urlsplit(url).hostname
    if error.response is not None:
        return f"{host} answered {error.response.status_code} {error.response.reason} for {url}"
    return f"the connection to {host} failed ({type(error).__name__})"


def damaged(dataset: Dataset, what: str) -> DataError:
    """Return the error for a download that is not what was published."""
    return DataError(
        f"the download of data set {dataset.key!r} is not as it was published: {what}; try again, "
        f"or put {dataset.key}.parquet into a folder and set BANDITREE_DATA to it"
    )


# Conversion


def unpack(path: Path) -> Path:
    """Return the file with the plain content of a file that may be packed."""
    with path.open("rb") as file:
        start = file.read(2)
    if start not in (GZIP, COMPRESS):
        return path
    plain = path.with_name(f"{path.name}.plain")
    with plain.open("wb") as target:
        if start == GZIP:
            with gzip.open(path) as source:
                shutil.copyfileobj(source, target)
        else:
            target.write(load_extra("unlzw3").unlzw(path))
    return plain


def check_md5(original: Original, plain: Path) -> None:
    """Raise a ValueError if the content is known to be another."""
    if original.md5 is None:
        return
    with plain.open("rb") as file:
        md5 = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if md5 != original.md5:
        raise ValueError(f"expected md5 {original.md5}, got {md5}")


def read_original(dataset: Dataset, original: Original, path: Path) -> Any:
    """Return the rows of an original as an Arrow table."""
    pyarrow, csv = load_extra("pyarrow"), load_extra("pyarrow.csv")
    types = {c: "string" if c in dataset.texts else "int32" for c in dataset.columns}
    with open_cells(dataset, path) as file:
        batches = csv.open_csv(
            file,
            csv.ReadOptions(column_names=dataset.columns, skip_rows=count_preamble(dataset, path)),
            csv.ParseOptions(quote_char=False),
            # No cell is missing: an empty one is damage.
            csv.ConvertOptions(column_types=types, null_values=[]),
        )
        # Block by block, since as int32 the largest data set would take 0.7 GB.
        blocks = [narrow(pyarrow.Table.from_batches([batch])) for batch in batches]
    table = pyarrow.concat_tables(blocks, promote_options="permissive")
    if original.split is None:
        return table
    return table.append_column("split", pyarrow.array([original.split] * table.num_rows))


def open_cells(dataset: Dataset, path: Path) -> IO[bytes]:
    """Open a plain original as text with commas between the cells."""
    if dataset.separator == ",":
        return path.open("rb")
    lines = path.read_bytes().splitlines()
    return io.BytesIO(b"\n".join(b",".join(line.split()) for line in lines))


def count_preamble(dataset: Dataset, path: Path) -> int:
    """Return how many lines come before the rows: a header or a remark, or nothing."""
    with path.open("rb") as file:
        first = file.readline().strip()
    return int(first.startswith(b"|") or first == ",".join(dataset.columns).encode())


def narrow(table: Any) -> Any:
    """Return the table with each column of numbers in the narrowest type that holds them."""
    pyarrow, compute = load_extra("pyarrow"), load_extra("pyarrow.compute")
    for i, name in enumerate(table.column_names):
        column = table.column(name)
        if not pyarrow.types.is_integer(column.type):
            continue
        limits = compute.min_max(column)
        for integer in INTEGERS:
            try:
                limits["min"].cast(integer), limits["max"].cast(integer)
            except pyarrow.ArrowInvalid:
                continue
            table = table.set_column(i, name, column.cast(integer))
            break
    return table


def encode_texts(table: Any) -> Any:
    """Return the table with its texts trimmed, as ids of categories in alphabetical order."""
    pyarrow, compute = load_extra("pyarrow"), load_extra("pyarrow.compute")
    table = narrow(table)
    for i, name in enumerate(table.column_names):
        column = table.column(name)
        if not pyarrow.types.is_string(column.type):
            continue
        # The labels of one original end in a full stop, those of the other do not.
        column = compute.utf8_trim(column, " .").combine_chunks()
        categories = pyarrow.array(sorted(column.unique().to_pylist()))
        ids = compute.index_in(column, categories)
        if len(categories) <= 128:
            ids = ids.cast("int8")
        table = table.set_column(i, name, pyarrow.DictionaryArray.from_arrays(ids, categories))
    return table
