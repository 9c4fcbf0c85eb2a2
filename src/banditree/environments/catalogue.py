"""The data sets of the study as they are published."""

from dataclasses import dataclass

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

CENSUS_COLUMNS = _words(
    """
    caseid dAge dAncstry1 dAncstry2 iAvail iCitizen iClass dDepart iDisabl1 iDisabl2 iEnglish
    iFeb55 iFertil dHispanic dHour89 dHours iImmigr dIncome1 dIncome2 dIncome3 dIncome4
    dIncome5 dIncome6 dIncome7 dIncome8 dIndustry iKorean iLang1 iLooking iMarital iMay75880
    iMeans iMilitary iMobility iMobillim dOccup iOthrserv iPerscare dPOB dPoverty dPwgt1
    iRagechld dRearning iRelat1 iRelat2 iRemplpar iRiders iRlabor iRownchld dRpincome iRPOB
    iRrelchld iRspouse iRvetserv iSchool iSept80 iSex iSubfam1 iSubfam2 iTmpabsnt dTravtime
    iVietnam dWeek89 iWork89 iWorklwk iWWII iYearsch iYearwrk dYrsserv
    """
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
    columns=CENSUS_COLUMNS,
    # All are codes: of classes where the name begins with i, of ranges where it begins with d.
    categorical=tuple(name for name in CENSUS_COLUMNS if name not in ("caseid", "dOccup")),
    rows=2_458_285,
    digest="89dd850ecd751acd2ff5f1084a88a246849dc4a80a03e9e480509cbdc4d9755c",
    # Its order is random, so that the first rows are a fair sample.
    digest_rows=15_317,
)

DATASETS: dict[str, Dataset] = {d.key: d for d in (ADULT, SHUTTLE, COVERTYPE, CENSUS)}
