"""The data sets of the study: what they are, where they lie, and whether they are right."""

import hashlib
import importlib
import os
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from banditree.contexts.values import shorten
from banditree.errors import DataError, InvalidParameterError
from banditree.types import Arm

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
        How it is called in commands, and in text.
    files
        The names under which it may lie in a folder, without ".parquet".
    label
        The column of the class.
    unused
        Columns that are no features.
    dropped
        Classes that are no arms.
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
    separator: str = ","


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ADULT = Dataset(
    key="adult",
    title="Adult",
    files=("adult",),
    label="occupation",
    unused=("split",),
    dropped=("?", "Priv-house-serv", "Armed-Forces"),
    licence="CC BY 4.0",
    citation="Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5XW20",
    originals=(
        Original("adult/adult.data", "train", "5d7c39d7b8804f071cdd1f2a7c460872"),
        Original("adult/adult.test", "test", "35238206dfdf7f1fe215bbb874adecdc"),
    ),
    columns=_words(
        """
        age workclass fnlwgt education education-num marital-status occupation relationship race
        sex capital-gain capital-loss hours-per-week native-country income
        """
    ),
    texts=_words(
        """
        workclass education marital-status occupation relationship race sex native-country income
        """
    ),
    rows=48_842,
    digest="f29da001c7b9325fc47bc5de52f4e254dd765df33b92a63ee5027fe6d39e61d1",
    digest_rows=48_842,
)

SHUTTLE = Dataset(
    key="shuttle",
    title="Shuttle",
    files=("shuttle",),
    label="class",
    unused=("split",),
    dropped=(2, 6, 7),
    licence="CC BY 4.0",
    citation="Catlett, J. Statlog (Shuttle). UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5WS31",
    originals=(
        Original("statlog/shuttle/shuttle.trn.Z", "train", "53cbd0c3ae4986fdf48b0570978b92bc"),
        Original("statlog/shuttle/shuttle.tst", "test"),
    ),
    columns=_words("time a2 a3 a4 a5 a6 a7 a8 a9 class"),
    separator=" ",
    rows=58_000,
    digest="6f309dfa838b5ac68abbca44c576305bd3d556ef07a43483eab9a602920eb011",
    digest_rows=58_000,
)

COVERTYPE = Dataset(
    key="covertype",
    title="Covertype",
    files=("covertype",),
    label="Cover_Type",
    unused=(),
    dropped=(),
    licence="CC BY 4.0; copyright Jock A. Blackard and Colorado State University",
    citation="Blackard, J. (1998). Covertype. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C50K5N",
    originals=(Original("covtype/covtype.data.gz"),),
    columns=(
        *_words(
            """
            Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology
            Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm
            Horizontal_Distance_To_Fire_Points
            """
        ),
        *(f"Wilderness_Area{i}" for i in range(1, 5)),
        *(f"Soil_Type{i}" for i in range(1, 41)),
        "Cover_Type",
    ),
    rows=581_012,
    digest="d69a3bd0c47f8033a044d0b85eede72d0eb639114fd52c8789cf56bd8594c3b9",
    digest_rows=581_012,
)

CENSUS = Dataset(
    key="census",
    title="US Census 1990",
    files=("census", "us_census_1990", "us_census_1990_first15317"),
    label="dOccup",
    unused=("caseid",),
    dropped=(),
    licence="CC BY 4.0",
    citation="Meek, C., Thiesson, B. & Heckerman, D. (2001). US Census Data (1990). "
    "UCI Machine Learning Repository. https://doi.org/10.24432/C5VP42",
    originals=(Original("census1990-mld/USCensus1990.data.txt"),),
    columns=_words(
        """
        caseid dAge dAncstry1 dAncstry2 iAvail iCitizen iClass dDepart iDisabl1 iDisabl2 iEnglish
        iFeb55 iFertil dHispanic dHour89 dHours iImmigr dIncome1 dIncome2 dIncome3 dIncome4
        dIncome5 dIncome6 dIncome7 dIncome8 dIndustry iKorean iLang1 iLooking iMarital iMay75880
        iMeans iMilitary iMobility iMobillim dOccup iOthrserv iPerscare dPOB dPoverty dPwgt1
        iRagechld dRearning iRelat1 iRelat2 iRemplpar iRiders iRlabor iRownchld dRpincome iRPOB
        iRrelchld iRspouse iRvetserv iSchool iSept80 iSex iSubfam1 iSubfam2 iTmpabsnt dTravtime
        iVietnam dWeek89 iWork89 iWorklwk iWWII iYearsch iYearwrk dYrsserv
        """
    ),
    rows=2_458_285,
    digest="89dd850ecd751acd2ff5f1084a88a246849dc4a80a03e9e480509cbdc4d9755c",
    # Its order is random, so that the first rows are a fair sample.
    digest_rows=15_317,
)

DATASETS: dict[str, Dataset] = {d.key: d for d in (ADULT, SHUTTLE, COVERTYPE, CENSUS)}


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
    close = get_close_matches(str(key).lower(), DATASETS, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise InvalidParameterError(
        f"there is no data set {shorten(key)}; {hint}it must be one of {', '.join(DATASETS)}"
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
    """Say in what an Arrow table differs from so many rows of the data set; None if in nothing."""
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
            f"data sets take {package}, which is not installed: pip install 'banditree[study]'"
        ) from None
