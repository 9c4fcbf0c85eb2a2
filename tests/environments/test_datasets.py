"""The registry of data sets: where they are found, and how they are told from others."""

import hashlib
import os
import re
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from banditree.environments import datasets, download
from banditree.environments.datasets import DATASETS, describe, find, locate, verify
from banditree.environments.download import fetch
from banditree.errors import DataError, InvalidParameterError

REAL = os.environ.get("BANDITREE_DATA")  # of whoever runs the tests, before they change it


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Make folders for the data and the cache, of which only the cache is named."""
    monkeypatch.delenv("BANDITREE_DATA", raising=False)
    monkeypatch.setenv("BANDITREE_CACHE", str(tmp_path / "cache"))
    for name in ("data", "cache"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.fixture
def without_extra(monkeypatch):
    for name in ("pooch", "pyarrow", "pyarrow.parquet", "tqdm"):
        monkeypatch.setitem(sys.modules, name, None)


def made_up(key: str, n_rows: int = 5) -> pa.Table:
    """Return rows of the shape of a data set, stored as its files store them."""
    dataset = DATASETS[key]
    columns = {}
    for i, name in enumerate(dataset.columns):
        numbers = [(7 * i + 3 * row) % 100 - 20 for row in range(n_rows)]
        column = pa.array([f"value {n}" for n in numbers] if name in dataset.texts else numbers)
        columns[name] = column.dictionary_encode() if name in dataset.texts else column.cast("int8")
    if dataset.originals[0].split:
        columns["split"] = pa.array(["train"] * n_rows).dictionary_encode()
    return pa.table(columns)


def naive_digest(table: pa.Table) -> str:
    content = b""
    for name in table.column_names:
        values = table.column(name).to_pylist()
        content += name.encode() + b"\n"
        if isinstance(values[0], str):
            content += "\n".join(values).encode()
        else:
            content += struct.pack(f"<{len(values)}q", *values)
    return hashlib.sha256(content).hexdigest()


def register(monkeypatch, key: str, table: pa.Table, digest_rows: int) -> None:
    """Let a data set be this table."""
    digest = naive_digest(table.slice(0, digest_rows))
    changed = replace(DATASETS[key], rows=table.num_rows, digest=digest, digest_rows=digest_rows)
    monkeypatch.setitem(DATASETS, key, changed)


def put(folder: Path, name: str, table: pa.Table | None = None) -> Path:
    path = folder / f"{name}.parquet"
    pq.write_table(made_up("shuttle") if table is None else table, path)
    return path


# The registry


def test_keys_and_order():
    assert list(DATASETS) == ["adult", "shuttle", "covertype", "census"]
    assert all(key == dataset.key for key, dataset in DATASETS.items())


@pytest.mark.parametrize(
    ("key", "n_features"), [("adult", 14), ("shuttle", 9), ("covertype", 54), ("census", 67)]
)
def test_features_are_those_of_the_task(key, n_features):
    dataset = DATASETS[key]
    assert len(set(dataset.columns)) == len(dataset.columns)
    assert len(set(dataset.columns) - {dataset.label, *dataset.unused}) == n_features
    assert dataset.label in dataset.columns
    assert set(dataset.texts) < set(dataset.columns)
    assert set(dataset.unused) <= {*dataset.columns, "split"}


def test_all_columns_of_census_are_codes():
    census = DATASETS["census"]
    assert set(census.categorical) == set(census.columns) - {census.label, *census.unused}
    assert not any(DATASETS[key].categorical for key in ("adult", "shuttle", "covertype"))


@pytest.mark.parametrize("key", DATASETS)
def test_terms_and_checks_are_given(key):
    dataset = DATASETS[key]
    assert dataset.licence.startswith("CC BY 4.0")
    assert re.search(r"https://doi\.org/10\.24432/\w{6}$", dataset.citation)
    assert re.fullmatch("[0-9a-f]{64}", dataset.digest)
    assert 0 < dataset.digest_rows <= dataset.rows
    assert key in dataset.files


def test_originals_are_in_the_archive_of_uci():
    assert download.ARCHIVE == "https://archive.ics.uci.edu/ml/machine-learning-databases/"
    assert [o.path for dataset in DATASETS.values() for o in dataset.originals] == [
        "adult/adult.data",
        "adult/adult.test",
        "statlog/shuttle/shuttle.trn.Z",
        "statlog/shuttle/shuttle.tst",
        "covtype/covtype.data.gz",
        "census1990-mld/USCensus1990.data.txt",
    ]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (
            "covertyp",
            r"no data set 'covertyp'; did you mean 'covertype'\?$",
        ),
        ("COVERTYPE", "did you mean 'covertype'"),
        ("mnist", "no data set 'mnist'; there are adult, shuttle, covertype, census$"),
        (["adult"], "no data set "),
        (None, "no data set None"),
    ],
)
@pytest.mark.parametrize("function", [find, locate, verify, fetch])
def test_an_unknown_name_is_refused(function, key, message):
    with pytest.raises(InvalidParameterError, match=message):
        function(key)


# Where they lie


def test_a_data_set_that_is_nowhere():
    assert [locate(key) for key in DATASETS] == [None] * 4


def test_the_folder_of_the_user_comes_before_the_cache(folders, monkeypatch):
    cached = put(folders / "cache", "adult")
    own = put(folders / "data", "adult")
    assert locate("adult") == cached
    monkeypatch.setenv("BANDITREE_DATA", str(folders / "data"))
    assert locate("adult") == own
    own.unlink()
    assert locate("adult") == cached


def test_a_folder_of_that_name_is_no_data_set(folders):
    (folders / "cache" / "adult.parquet").mkdir()
    assert locate("adult") is None


@pytest.mark.parametrize("folder", ["", "missing"])
def test_no_folder_of_the_user(folders, monkeypatch, folder):
    monkeypatch.chdir(folders / "data")
    put(folders / "data", "adult")
    monkeypatch.setenv("BANDITREE_DATA", folder)
    assert locate("adult") is None


def test_a_home_folder_is_understood(folders, monkeypatch):
    monkeypatch.setenv("HOME", str(folders))
    monkeypatch.setenv("USERPROFILE", str(folders))
    monkeypatch.setenv("BANDITREE_DATA", "~/data")
    monkeypatch.setenv("BANDITREE_CACHE", "~/cache")
    assert datasets.cache_folder() == folders / "cache"
    path = put(folders / "data", "adult")
    assert locate("adult") == path


def test_census_has_several_names_and_the_complete_comes_first(folders):
    for name in ("us_census_1990_first15317", "us_census_1990", "census"):
        path = put(folders / "cache", name)
        assert locate("census") == path


def test_the_cache_is_where_the_system_keeps_them(monkeypatch):
    import pooch

    monkeypatch.delenv("BANDITREE_CACHE")
    assert datasets.cache_folder() == Path(pooch.os_cache("banditree"))


@pytest.mark.usefixtures("without_extra")
def test_without_the_extra_the_folder_of_the_user_is_enough(folders, monkeypatch):
    monkeypatch.delenv("BANDITREE_CACHE")
    assert locate("adult") is None
    (folders / "data" / "adult.parquet").write_bytes(b"")
    monkeypatch.setenv("BANDITREE_DATA", str(folders / "data"))
    assert locate("adult") == folders / "data" / "adult.parquet"


def test_description(folders):
    here = put(folders / "cache", "shuttle", made_up("shuttle", n_rows=5))
    (folders / "cache" / "adult.parquet").write_bytes(b"damaged")
    listings = {listing.key: listing for listing in describe()}
    assert list(listings) == list(DATASETS)
    assert (listings["shuttle"].where, listings["shuttle"].rows) == (str(here), 5)
    assert (listings["adult"].title, listings["adult"].rows) == ("Adult", None)
    assert (listings["census"].where, listings["census"].rows) == ("not here", 2_458_285)
    assert "Colorado State University" in listings["covertype"].licence


@pytest.mark.usefixtures("without_extra")
def test_description_without_the_extra(folders):
    (folders / "cache" / "adult.parquet").write_bytes(b"")
    assert [listing.rows for listing in describe()] == [None, 58_000, 581_012, 2_458_285]


# Whether they are right


@pytest.mark.parametrize("key", DATASETS)
def test_digests_agree_with_the_data(folders, monkeypatch, key):
    """On the real files where they are, else on made-up ones."""
    if REAL:
        monkeypatch.setenv("BANDITREE_DATA", REAL)
    if locate(key) is None:
        table = made_up(key, n_rows=30)
        register(monkeypatch, key, table, digest_rows=30)
        put(folders / "cache", key, table)
    verify(key)


def test_the_first_rows_alone_are_right_too(folders, monkeypatch):
    table = made_up("census", n_rows=30)
    register(monkeypatch, "census", table, digest_rows=20)
    verify("census", put(folders, "complete", table))
    verify("census", put(folders, "part", table.slice(0, 20)))
    with pytest.raises(DataError, match="expected 30 rows, got 21;"):
        verify("census", put(folders, "torn", table.slice(0, 21)))


def with_column(table: pa.Table, name: str, values: pa.Array, new_name: str = "") -> pa.Table:
    return table.set_column(table.column_names.index(name), new_name or name, values)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: with_column(t, "age", pa.array([0] * t.num_rows)),
        lambda t: with_column(t, "race", pa.array(["x"] * t.num_rows)),
        lambda t: with_column(t, "age", t["age"], new_name="years"),
        lambda t: with_column(t, "age", pa.array([None] * t.num_rows, "int8")),
        lambda t: with_column(t, "age", t["age"].cast("float64")),
        lambda t: t.take(list(range(t.num_rows))[::-1]),
        lambda t: t.drop_columns("split"),
        lambda t: t.select(t.column_names[::-1]),
    ],
)
def test_other_content_is_refused(folders, monkeypatch, change):
    table = made_up("adult")
    register(monkeypatch, "adult", table, digest_rows=table.num_rows)
    path = put(folders / "cache", "adult", change(table))
    with pytest.raises(DataError) as caught:
        verify("adult")
    message = str(caught.value)
    assert str(path) in message
    assert f"expected content with sha256 {DATASETS['adult'].digest}, got " in message
    assert "remove that file, then run `banditree data fetch adult`" in message


def test_it_does_not_matter_how_columns_are_stored(folders, monkeypatch):
    table = made_up("adult")
    register(monkeypatch, "adult", table, digest_rows=table.num_rows)
    plain = table.cast(
        pa.schema(
            (f.name, "int64" if pa.types.is_integer(f.type) else "large_string")
            for f in table.schema
        )
    )
    in_pieces = pa.concat_tables([plain.slice(0, 2), plain.slice(2)])
    verify("adult", put(folders, "other", in_pieces))


def test_a_file_that_is_not_parquet(folders):
    path = folders / "cache" / "adult.parquet"
    path.write_bytes(b"<html>" + b"no such page" * 100)
    with pytest.raises(DataError, match=r"cannot be read: .*; remove that file"):
        verify("adult")


def test_nothing_to_verify():
    with pytest.raises(DataError, match="'adult' is not here; run `banditree data fetch adult`"):
        verify("adult")


def test_a_cache_that_cannot_be_written(folders, monkeypatch):
    (folders / "file").write_bytes(b"")
    monkeypatch.setenv("BANDITREE_CACHE", str(folders / "file"))
    with pytest.raises(DataError, match=r"'adult' cannot be stored in .*file: File exists; "):
        fetch("adult")


@pytest.mark.parametrize("package", download.PACKAGES)
def test_a_missing_package_is_named_before_anything_is_downloaded(folders, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(download, "make_parquet", None)
    with pytest.raises(DataError, match=rf"need {package}, .* pip install 'banditree\[study\]'"):
        fetch("shuttle")


@pytest.mark.usefixtures("without_extra")
def test_without_the_extra_nothing_is_verified(folders):
    (folders / "cache" / "adult.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"pyarrow, .* pip install 'banditree\[study\]'"):
        verify("adult")


def test_importing_is_light():
    script = (
        "import sys, banditree.environments.download, banditree.environments.datasets;"
        "print(*{'pyarrow', 'pooch', 'tqdm', 'requests', 'unlzw3'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
