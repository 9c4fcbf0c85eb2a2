"""Downloads, from a server on this machine that holds made-up originals."""

import gzip
import hashlib
import io
import os
import socket
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tqdm

from banditree.environments import download
from banditree.environments.datasets import DATASETS, digest_of, verify
from banditree.environments.download import fetch
from banditree.errors import DataError

ADULT_DATA = b"""\
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, \
2174, 0, 40, United-States, <=50K
50, ?, 83311, Bachelors, 13, Divorced, ?, Husband, Black, Male, 0, 1902, 13, Cuba, >50K

"""
ADULT_TEST = b"""\
|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Sales, Own-child, Black, Female, 0, 0, 40, \
Trinadad&Tobago, <=50K.

"""
SHUTTLE_TRAIN = b"50 21 77 0 28 0 27 48 22 2\n55 0 92 0 0 26 36 92 56 4\n"
SHUTTLE_TEST = b"55\t-4821 81  0 -6 11 -25 88 64 4 \r\n"
COVERTYPE = b"2596,51,3,258,-6,510,221,232,148,6279,1" + b",0" * 43 + b",5\n"
CENSUS_HEADER = ",".join(DATASETS["census"].columns).encode() + b"\r\n"
CENSUS = b"10000" + b",5" * 68 + b"\n" + b"2468284" + b",223" * 68 + b"\n"


def compress(content: bytes) -> bytes:
    """Return a .Z file whose every code is a letter.

    Codes have 9 bits and come in groups of eight. Whoever reads them forgets all else at the code
    256; before that, 247 letters are too few for codes of 10 bits.
    """
    packed = bytearray(b"\x1f\x9d\x90")
    for start in range(0, len(content), 247):
        codes = [*content[start : start + 247], 256]
        bits = sum(code << (9 * i) for i, code in enumerate(codes))
        packed += bits.to_bytes((9 * len(codes) + 7) // 8, "little")
    return bytes(packed)


ORIGINALS = {
    "adult/adult.data": ADULT_DATA,
    "adult/adult.test": ADULT_TEST,
    "statlog/shuttle/shuttle.trn.Z": compress(SHUTTLE_TRAIN),
    "statlog/shuttle/shuttle.tst": SHUTTLE_TEST,
    "covtype/covtype.data.gz": gzip.compress(COVERTYPE),
    "census1990-mld/USCensus1990.data.txt": CENSUS_HEADER + CENSUS,
}
PLAIN = {**ORIGINALS, "statlog/shuttle/shuttle.trn.Z": SHUTTLE_TRAIN}


LETTERS = {"u": "uint8", "b": "int8", "h": "int16", "i": "int32"}


def table_of(key: str, types: str, *rows: tuple) -> pa.Table:
    """Return a table whose columns have these types, a letter for each."""
    dataset = DATASETS[key]
    names = [*dataset.columns, *(["split"] if dataset.originals[0].split else [])]
    columns = []
    for letter, values in zip(types, zip(*rows, strict=True), strict=True):
        if letter == "T":
            ids = pa.array([sorted(set(values)).index(value) for value in values], "int8")
            columns.append(pa.DictionaryArray.from_arrays(ids, sorted(set(values))))
        else:
            columns.append(pa.array(values, LETTERS[letter]))
    return pa.table(columns, names)


# fmt: off
EXPECTED = {
    "adult": table_of(
        "adult", "uTiTuTTTTThhuTTT",
        (39, "State-gov", 77516, "Bachelors", 13, "Never-married", "Adm-clerical", "Not-in-family",
         "White", "Male", 2174, 0, 40, "United-States", "<=50K", "train"),
        (50, "?", 83311, "Bachelors", 13, "Divorced", "?", "Husband",
         "Black", "Male", 0, 1902, 13, "Cuba", ">50K", "train"),
        (25, "Private", 226802, "11th", 7, "Never-married", "Sales", "Own-child",
         "Black", "Female", 0, 0, 40, "Trinadad&Tobago", "<=50K", "test"),
    ),
    "shuttle": table_of(
        "shuttle", "uhuububuuuT",
        (50, 21, 77, 0, 28, 0, 27, 48, 22, 2, "train"),
        (55, 0, 92, 0, 0, 26, 36, 92, 56, 4, "train"),
        (55, -4821, 81, 0, -6, 11, -25, 88, 64, 4, "test"),
    ),
    "covertype": table_of(
        "covertype", "huuhbhuuuh" + "u" * 45,
        (2596, 51, 3, 258, -6, 510, 221, 232, 148, 6279, 1, *[0] * 43, 5),
    ),
    "census": table_of("census", "i" + "u" * 68, (10_000, *[5] * 68), (2_468_284, *[223] * 68)),
}
# fmt: on


@dataclass
class Archive:
    """What the server has, what it does wrong, and what it was asked for."""

    files: dict[str, bytes] = field(default_factory=lambda: dict(ORIGINALS))
    breaks_off: bool = False
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def server():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            archive = self.server.archive
            archive.asked.append(self.path[1:])
            body = archive.files.get(self.path[1:])
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if archive.breaks_off else body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=lambda: running.serve_forever(poll_interval=0.01))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def archive(server, monkeypatch):
    server.archive = Archive()
    monkeypatch.setattr(download, "ARCHIVE", f"http://127.0.0.1:{server.server_port}/")
    return server.archive


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Name a cache folder that does not exist yet, and let the data sets be the made-up ones."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.delenv("BANDITREE_DATA", raising=False)
    monkeypatch.setenv("BANDITREE_CACHE", str(tmp_path / "cache"))
    for key, table in EXPECTED.items():
        change(monkeypatch, key, digest=digest_of(table))
        originals = [
            replace(o, md5=o.md5 and hashlib.md5(PLAIN[o.path]).hexdigest())
            for o in DATASETS[key].originals
        ]
        n_rows = table.num_rows
        change(monkeypatch, key, originals=tuple(originals), rows=n_rows, digest_rows=n_rows)
    return tmp_path / "cache"


def change(monkeypatch, key, **attributes):
    monkeypatch.setitem(DATASETS, key, replace(DATASETS[key], **attributes))


def owner(path: str) -> str:
    return next(k for k, d in DATASETS.items() if path in [o.path for o in d.originals])


def message_of(key: str) -> str:
    """Return the message with which a download fails, after a look at what it left behind."""
    with pytest.raises(DataError) as caught:
        fetch(key)
    assert os.listdir(os.environ["BANDITREE_CACHE"]) == []
    message = str(caught.value)
    assert "\n" not in message
    assert f"put {key}.parquet into a folder and set BANDITREE_DATA to it" in message
    return message


# What works


@pytest.mark.parametrize("key", DATASETS)
def test_originals_become_the_table(archive, cache, key):
    path = fetch(key)
    assert path == cache / f"{key}.parquet"
    assert os.listdir(cache) == [f"{key}.parquet"]
    assert archive.asked == [original.path for original in DATASETS[key].originals]
    table = pq.read_table(path)
    assert table.schema == EXPECTED[key].schema
    assert table.equals(EXPECTED[key])
    for ours, expected in zip(table.columns, EXPECTED[key].columns, strict=True):
        if pa.types.is_dictionary(ours.type):
            assert ours.chunk(0).dictionary == expected.chunk(0).dictionary
    verify(key)


@pytest.mark.parametrize("key", DATASETS)
def test_the_second_time_nothing_is_downloaded(archive, key):
    path = fetch(key)
    archive.asked.clear()
    assert fetch(key) == path
    assert archive.asked == []


def test_the_folder_of_the_user_comes_first(archive, tmp_path, monkeypatch):
    fetch("adult")
    path = tmp_path / "adult.parquet"
    path.write_bytes(b"")
    monkeypatch.setenv("BANDITREE_DATA", str(tmp_path))
    assert fetch("adult") == path


def test_a_server_may_send_a_packed_file_unpacked(archive):
    archive.files["covtype/covtype.data.gz"] = COVERTYPE
    archive.files["statlog/shuttle/shuttle.trn.Z"] = SHUTTLE_TRAIN
    fetch("covertype")
    fetch("shuttle")


def test_the_header_of_census_may_be_missing(archive):
    archive.files["census1990-mld/USCensus1990.data.txt"] = CENSUS
    fetch("census")


def test_types_are_the_narrowest_of_all_blocks(archive, monkeypatch):
    """A file is read in blocks of a megabyte, each of which needs other types."""
    n_rows = 30_000
    rows = [[row - 100, row, -row, row % 256] + [0] * 51 for row in range(n_rows)]
    content = "\n".join(",".join(map(str, row)) for row in rows).encode()
    table = table_of("covertype", "h" * 55, *rows)
    change(monkeypatch, "covertype", rows=n_rows, digest_rows=n_rows, digest=digest_of(table))
    archive.files["covtype/covtype.data.gz"] = gzip.compress(content, 1)
    types = pq.read_table(fetch("covertype")).schema.types
    assert list(map(str, types)) == ["int16"] * 3 + ["uint8"] * 52


@pytest.mark.parametrize(("n_categories", "index_type"), [(128, "int8"), (129, "int32")])
def test_many_categories_take_wider_ids(n_categories, index_type):
    names = [str(i) for i in range(n_categories)]
    encoded = download.encode_texts(pa.table({"name": [f" {name}." for name in names]}))["name"]
    assert encoded.to_pylist() == names
    assert str(encoded.type.index_type) == index_type


@pytest.mark.usefixtures("archive")
def test_progress_is_shown_on_a_terminal_and_nowhere_else(monkeypatch, cache):
    def output(terminal: bool, progress: bool) -> str:
        stream = io.StringIO()
        stream.isatty = lambda: terminal
        monkeypatch.setattr(sys, "stderr", stream)
        fetch("adult", progress=progress).unlink()
        return stream.getvalue()

    assert "adult.data: 100%" in output(terminal=True, progress=True)
    assert output(terminal=False, progress=True) == ""
    assert output(terminal=True, progress=False) == ""


# What fails


@pytest.mark.parametrize("key", DATASETS)
def test_no_network(monkeypatch, cache, key):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setattr(download, "ARCHIVE", f"http://127.0.0.1:{port}/")
    assert message_of(key) == (
        f"data set {key!r} is neither in $BANDITREE_DATA (not set) nor in the cache ({cache}), and "
        "its download failed: the connection to 127.0.0.1 failed (ConnectionError); "
        f"run `banditree data fetch {key}` when online, or put {key}.parquet into a folder and "
        "set BANDITREE_DATA to it"
    )


def test_a_folder_of_data_that_is_not_there(monkeypatch, archive, tmp_path):
    monkeypatch.setenv("BANDITREE_DATA", str(tmp_path / "nowhere"))
    archive.files.clear()
    assert message_of("adult").startswith("data set 'adult' is neither in $BANDITREE_DATA (")
    assert "nowhere, where there is no folder) nor in the cache" in message_of("adult")


def test_a_server_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(download, "ARCHIVE", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        start = time.monotonic()
        assert "the connection to 127.0.0.1 failed (ReadTimeout)" in message_of("adult")
        assert time.monotonic() - start < 10


@pytest.mark.parametrize("path", ORIGINALS)
def test_a_missing_original(archive, path):
    del archive.files[path]
    message = message_of(owner(path))
    assert "127.0.0.1 answered 404 Not Found for http" in message
    assert path in message


@pytest.mark.parametrize("key", DATASETS)
def test_a_connection_that_breaks_off(archive, key):
    archive.breaks_off = True
    assert "the connection to 127.0.0.1 failed" in message_of(key)


@pytest.mark.parametrize("path", ORIGINALS)
def test_half_an_original(archive, path):
    archive.files[path] = archive.files[path][: len(archive.files[path]) // 2]
    assert "is not as it was published: " in message_of(owner(path))


@pytest.mark.parametrize("content", [b"", b"<html>\nPlease log in.\n</html>\n"])
@pytest.mark.parametrize("path", ORIGINALS)
def test_something_else(archive, path, content):
    archive.files[path] = content
    message = message_of(owner(path))
    assert "is not as it was published: " + path.rpartition("/")[2] in message


@pytest.mark.parametrize("path", ["adult/adult.data", "adult/adult.test"])
def test_a_wrong_md5(archive, path):
    expected = hashlib.md5(archive.files[path]).hexdigest()
    archive.files[path] += b"\n"  # which would not change the table
    got = hashlib.md5(archive.files[path]).hexdigest()
    assert f"expected md5 {expected}, got {got}; try again" in message_of("adult")


@pytest.mark.parametrize("key", DATASETS)
@pytest.mark.usefixtures("archive")
def test_wrong_content(monkeypatch, key):
    came = DATASETS[key].digest
    change(monkeypatch, key, digest="0" * 64)
    message = message_of(key)
    assert f"expected content with sha256 {'0' * 64}, got {came}; try again" in message


@pytest.mark.usefixtures("archive")
def test_a_part_of_census_is_not_enough_when_downloaded(monkeypatch):
    change(monkeypatch, "census", rows=2_458_285)
    assert "expected 2,458,285 rows, got 2; try again" in message_of("census")


@pytest.mark.parametrize("cell", [b"", b"NA", b"?", b"1.5", b"99999999999"])
def test_cells_that_are_no_whole_numbers(archive, monkeypatch, cell):
    """Which only the reader can tell, beyond the rows of the digest."""
    change(monkeypatch, "census", rows=3)
    archive.files["census1990-mld/USCensus1990.data.txt"] += b"7" + b",5" * 67 + b"," + cell
    assert "USCensus1990.data.txt: " in message_of("census")


# Interruptions


@pytest.mark.parametrize("key", DATASETS)
@pytest.mark.usefixtures("archive")
def test_interrupted_while_downloading(monkeypatch, cache, key):
    seen = []

    def update(*_):
        seen.extend(path.name for path in cache.rglob("*") if path.is_file())
        raise KeyboardInterrupt

    monkeypatch.setattr(tqdm.tqdm, "update", update)
    with pytest.raises(KeyboardInterrupt):
        fetch(key)
    assert seen == [DATASETS[key].originals[0].name]
    assert os.listdir(cache) == []


@pytest.mark.parametrize("key", DATASETS)
@pytest.mark.usefixtures("archive")
def test_interrupted_while_writing(monkeypatch, cache, key):
    def write(_, path, **__):
        path.write_bytes(b"half of it")
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(pq, "write_table", write)
        with pytest.raises(KeyboardInterrupt):
            fetch(key)
    assert os.listdir(cache) == []
    assert fetch(key).exists()


@pytest.mark.usefixtures("archive")
def test_a_full_disk(monkeypatch, cache):
    def write(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", write)
    advice = "No space left on device; make room there, or set BANDITREE_CACHE to another folder"
    with pytest.raises(DataError, match=advice):
        fetch("adult")
    assert os.listdir(cache) == []
