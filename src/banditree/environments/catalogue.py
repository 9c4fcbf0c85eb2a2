"""The data sets of the study as they are published; catalogue.toml lists them."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from banditree.types import Arm

__all__ = ["DATASETS", "Dataset", "Original"]


@dataclass(frozen=True)
class Original:
    """A file of a data set as it is published.

    Attributes
    ----------
    path
        Where it lies in the archive.
    split
        What the column `split` says of its rows; None if the data set has no such column.
    md5
        Of the file once it is unpacked, where that is known.
    """

    path: str
    split: str | None = None
    md5: str | None = None

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Dataset:
    """A classified table: where to find it, how to read it, and how to tell that it is right.

    Attributes
    ----------
    key, title
        What it is called in commands, and in text.
    files
        The names under which it may lie in a folder, without ".parquet".
    label
        The column of the class.
    unused
        Columns that are no features.
    dropped
        Classes that are no arms.
    categorical
        Columns of numbers that are codes.
    licence, citation
        Under which terms it is published, and how to cite it.
    originals
        The files in which it is published, in the order of their rows.
    columns
        The columns of these files, in order; a column `split` may follow.
    texts
        Which of the columns are text; all others are whole numbers.
    separator
        What stands between the cells of the originals; a blank for any number of blanks.
    rows
        How many there are.
    digest
        A hash of the first `digest_rows` rows: see `digest_of`.
    digest_rows
        These rows alone are the data set too, if there is no more of it in a folder.
    """

    key: str
    title: str
    files: tuple[str, ...]
    label: str
    unused: tuple[str, ...]
    dropped: tuple[Arm, ...]
    licence: str
    citation: str
    originals: tuple[Original, ...]
    columns: tuple[str, ...]
    rows: int
    digest: str
    digest_rows: int
    texts: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    separator: str = ","


def _read(path: Path) -> dict[str, Dataset]:
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    return {key: _dataset(key, **entry) for key, entry in entries.items()}


def _dataset(
    key: str,
    *,
    label: str,
    rows: int,
    columns: str,
    citation: str,
    originals: list[dict[str, str]],
    files: Sequence[str] = (),
    unused: Sequence[str] = (),
    dropped: Sequence[Arm] = (),
    texts: str = "",
    only_codes: bool = False,
    **others: Any,
) -> Dataset:
    names = tuple(columns.split())
    features = tuple(name for name in names if name != label and name not in unused)
    return Dataset(
        key=key,
        files=tuple(files) or (key,),
        label=label,
        unused=tuple(unused),
        dropped=tuple(dropped),
        citation=" ".join(citation.split()),
        originals=tuple(Original(**original) for original in originals),
        columns=names,
        texts=tuple(texts.split()),
        categorical=features if only_codes else (),
        rows=rows,
        **{"digest_rows": rows, **others},
    )


DATASETS = _read(Path(__file__).with_suffix(".toml"))
