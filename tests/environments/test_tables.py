"""Tables read from files: what is missing, what is refused, and with which words."""

import gzip
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import banditree as bt
from banditree.environments import Classification
from banditree.environments.tables import HEAD, read_table

MARKERS = ["NA", "null", "nan", "NaN", "N/A", "NULL"]


def written(folder: Path, content: bytes | str, name: str = "table.csv") -> Path:
    path = folder / name
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if name.lower().endswith(".gz") else content)
    return path


# What is missing


@pytest.mark.parametrize("marker", MARKERS)
def test_among_texts_only_an_empty_cell_is_missing(tmp_path: Path, marker: str):
    path = written(tmp_path, f'land,x\n{marker},1\n,2\n"",3\nFR,4\n')
    assert read_table(path)["land"].to_pylist() == [marker, None, None, "FR"]


@pytest.mark.parametrize("marker", [*MARKERS, ""])
def test_among_numbers_and_booleans_markers_are_missing(tmp_path: Path, marker: str):
    path = written(tmp_path, f"a,b,c\n1,1.5,true\n{marker},{marker},{marker}\n2,2.5,false\n")
    table = read_table(path)
    assert [str(kind) for kind in table.schema.types] == ["int64", "double", "bool"]
    assert [table[name].to_pylist()[1] for name in "abc"] == [None] * 3


def test_a_class_called_na_is_an_arm_and_csv_is_as_parquet(tmp_path: Path):
    rows = pa.table({"x": [1, 2, 3, 4, None], "land": ["NA", None, "FR", "nan", "NA"]})
    rows = rows.append_column("label", pa.array(["NA", "EU", None, "EU", "NA"]))
    pyarrow.csv.write_csv(rows, tmp_path / "rows.csv")
    pyarrow.parquet.write_table(rows, tmp_path / "rows.parquet")
    found = [Classification.from_file(tmp_path / f"rows.{e}", "label") for e in ("csv", "parquet")]
    assert found[0].arms == ("EU", "NA")
    assert found[0].fingerprint() == found[1].fingerprint()


def test_an_empty_column_is_missing_everywhere(tmp_path: Path):
    path = written(tmp_path, "none,x,label\n,1,a\n,2,b\n")
    environment = Classification.from_file(path, "label")
    assert environment.features == ("none", "x")
    assert np.isnan(environment.episode(2, 0).contexts[:, 0]).all()


def test_empty_cells_count_as_before_in_the_fingerprint(tmp_path: Path):
    path = written(tmp_path, "city,age,in,label\nLima,1,true,a\n,,,b\nBonn,2.5,false,a\nLima,3,,\n")
    # Stored results hold this hash.
    content = Classification.from_file(path, "label").fingerprint()["content"]
    assert content == "ef2a4e1019e77f6ebb1a10df940cfeed"


@pytest.mark.parametrize("name", ["table.csv.gz", "TABLE.CSV.GZ", "Table.CSV"])
def test_packed_files_and_capital_letters_are_read(tmp_path: Path, name: str):
    path = written(tmp_path, "x,label\n1,a\n2,b\n", name)
    assert read_table(path).to_pydict() == {"x": [1, 2], "label": ["a", "b"]}


# What is refused


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("lab,x\nx,1\né,2\n".encode("latin-1"), "column 'lab'"),
        ("lab,x,land\nx,1,é\né,2,y\n".encode("latin-1"), "column 'lab', 'land'"),
        ("x,année\n1,2\n".encode("latin-1"), "its first line"),
        ("x,né\n1,2\n".encode("latin-1"), "its first line"),
        ("lab,x\nx,1\ny,2\n".encode("utf-16"), "its first line"),
    ],
)
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_files_that_are_not_utf8_are_refused(tmp_path: Path, content: bytes, where: str, name: str):
    path = written(tmp_path, content, name)
    with pytest.raises(bt.InvalidParameterError) as caught:
        Classification.from_file(path, "x")
    assert str(caught.value) == f"{str(path)!r} is not UTF-8 text: see {where}; save it as UTF-8"


def test_utf8_with_or_without_a_mark_is_read(tmp_path: Path):
    for encoding in ("utf-8", "utf-8-sig"):
        path = written(tmp_path, "né,label\né,a\nx,b\n".encode(encoding))
        assert read_table(path).column_names == ["né", "label"]


@pytest.mark.parametrize("shift", range(2))
def test_a_header_longer_than_what_is_looked_at_is_read(tmp_path: Path, shift: int):
    name = "a" * shift + "é" * (HEAD // 2)  # for one shift, the end lies amid a character
    path = written(tmp_path, f"{name},x\n1,2\n")
    assert read_table(path).column_names == [name, "x"]


@pytest.mark.parametrize(
    ("content", "noun"),
    [
        ("user_id;num_id;label\na;1;x\nb;2;y\n", "semicolons"),
        ("user_id\tnum_id\tlabel\na\t1\tx\n", "tabs"),
        ('\n"user_id";"label"\n"a";"x"\n', "semicolons"),
        ("x;label\n1,5;a\n2,5;b\n", "semicolons"),  # Arrow itself only sees a row too long
    ],
)
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_other_separators_are_named(tmp_path: Path, content: str, noun: str, name: str):
    words = f"seem to be separated by {noun}, where commas are needed"
    with pytest.raises(bt.InvalidParameterError, match=words):
        Classification.from_file(written(tmp_path, content, name), "label")


def test_semicolons_in_one_of_many_headers_are_fine(tmp_path: Path):
    path = written(tmp_path, 'a;b,"c\td"\n1,x\n2,y\n')
    assert Classification.from_file(path, "c\td").features == ("a;b",)


def test_a_broken_archive_is_refused(tmp_path: Path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"x,label\n1,a\n" * 1000)[:20])
    with pytest.raises(bt.InvalidParameterError, match="cannot be read"):
        read_table(path)


# Dates and times

NOON = datetime(2024, 5, 1, 12)
TIMES: dict[str, list[Any]] = {
    "signup": [date(2024, 5, 1), None, date(2024, 5, 2)],
    "seen": [None, NOON, NOON],
    "zoned": [NOON.replace(tzinfo=UTC)] * 3,
    "hour": [time(12), time(13), None],
    "stay": [timedelta(seconds=90)] * 3,
}
PLAIN: dict[str, list[Any]] = {
    "age": [31, 64, None],
    "city": ["Lima", None, "Bonn"],
    "member": [True, None, False],
    "label": ["a", "b", "a"],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_all_columns_of_dates_are_named_at_once(make: Any):
    table = make({"age": PLAIN["age"], **TIMES, **PLAIN})
    with pytest.raises(bt.InvalidParameterError) as caught:
        Classification(table, "label")
    assert str(caught.value) == (
        "dates and times are no features, and these columns hold them: 'signup', 'seen', 'zoned', "
        "'hour', 'stay'; name them in dates to have year, month, day, weekday and hour as "
        "features, or in unused; turn durations into numbers first"
    )
    with pytest.raises(bt.InvalidParameterError, match="hold them: 'seen', 'stay'; name"):
        Classification(table, "label", unused=["signup", "zoned", "hour"], categorical=["seen"])
    environment = Classification(table, "label", unused=list(TIMES))
    assert environment.features == ("age", "city", "member")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dates_are_turned_into_parts_if_asked(make: Any):
    table = make({**PLAIN, **TIMES})
    asked = ["signup", "seen", "hour"]
    environment = Classification(table, "label", unused=["zoned", "stay"], dates=asked)
    assert environment.features == (
        *("age", "city", "member", "signup_year", "signup_month", "signup_day", "signup_weekday"),
        *("seen_year", "seen_month", "seen_day", "seen_weekday", "seen_hour", "hour_hour"),
    )
    shown = dict(zip(environment.features, environment.contexts(np.arange(3)).T, strict=True))
    expected = {"signup_day": [1, np.nan, 2], "seen_hour": [np.nan, 12, 12], "hour_hour": [12, 13]}
    for name, values in expected.items():
        np.testing.assert_array_equal(shown[name][: len(values)], values)
    weekdays = environment.categories[environment.features.index("signup_weekday")]
    assert weekdays == ["Wednesday", "Thursday"]


@pytest.mark.parametrize(
    ("dates", "message"),
    [
        (["singup"], "dates: the table has no column 'singup'; did you mean 'signup'"),
        (
            ["signup", "stay"],
            "dates: column 'stay' holds other values: a date must be a datetime.* got Timedelta",
        ),
        (
            ["signup", "city"],
            "dates: column 'city' holds other values: .* got 'Lima'; .*fromisoformat",
        ),
        (["label"], "dates: 'label' is no feature, as it is the label or in unused; name it once"),
        (["zoned"], "dates: 'zoned' is no feature"),
        ("signup", "dates must be a list of column names, got 'signup'"),
        (["signup", "seen"], "there is a column 'seen_day' already"),
    ],
)
def test_what_is_no_date_is_told(dates: Any, message: str):
    table = pd.DataFrame({**TIMES, **PLAIN, "seen_day": [1, 2, 3]})
    unused = ["zoned", *(name for name in TIMES if name not in dates)]
    with pytest.raises(bt.InvalidParameterError, match=message):
        Classification(table, "label", unused=unused, dates=dates)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_date_as_label_is_not_called_a_feature(make: Any):
    table = make({"age": [1, 2, 3], "when": TIMES["signup"]})
    with pytest.raises(bt.InvalidParameterError, match="column 'when'"):
        Classification(table, "when")


@pytest.mark.parametrize(
    "column",
    [
        pa.array(TIMES["signup"], pa.date64()),
        pa.array(TIMES["signup"]).dictionary_encode(),
        pd.Series(TIMES["seen"], dtype="timestamp[ns][pyarrow]"),
        pd.Series(TIMES["seen"], dtype="category"),
        pl.Series(TIMES["seen"], dtype=pl.Object),
    ],
)
def test_dates_are_known_in_any_guise(column: Any):
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    table = make[type(column).__module__.partition(".")[0]]({"when": column, **PLAIN})
    with pytest.raises(bt.InvalidParameterError, match="hold them: 'when'; name"):
        Classification(table, "label")


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({**PLAIN, "when": [pd.NaT] * 3}),
        pl.DataFrame({**PLAIN, "when": pl.Series([None] * 3, dtype=pl.Date)}),
        pa.table({**PLAIN, "when": pa.nulls(3, pa.timestamp("us"))}),
    ],
)
def test_a_column_of_dates_that_are_all_missing_is_taken(table: Any):
    contexts = Classification(table, "label").episode(3, 0).contexts
    assert np.isnan(contexts[:, 3]).all()


def test_dates_in_files_are_named(tmp_path: Path):
    path = written(tmp_path, "signup,hour,x,label\n2024-05-01,12:00,1,a\nNA,13:00,2,b\n")
    with pytest.raises(bt.InvalidParameterError, match="hold them: 'signup', 'hour'; name"):
        Classification.from_file(path, "label")
    assert Classification.from_file(path, "label", unused=["signup", "hour"]).features == ("x",)


def test_the_numbers_of_rows_of_pandas_are_no_feature(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [3, 4, 5], "bought": ["a", "b", "a"]})
    frame.iloc[[2, 0, 1]].to_parquet(tmp_path / "part.parquet")
    assert "__index_level_0__" in pyarrow.parquet.read_table(tmp_path / "part.parquet").column_names
    assert read_table(tmp_path / "part.parquet").column_names == ["age", "bought"]


def test_columns_named_by_numbers() -> None:
    frame = pd.DataFrame([[3, 1.5], [4, 2.5], [5, 3.5]]).assign(bought=["a", "b", "a"])
    assert Classification(frame, "bought", unused=["1"]).features == ("0",)
    with pytest.raises(bt.InvalidParameterError, match="unused: the table has no column '7'"):
        Classification(frame, "bought", unused=["7"])
