import hashlib
import io
import json
import os
import re
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

import banditree as bt
from banditree import StateError
from banditree.policies.saving import files

HEADER = {"policy": "Uniform", "arms": ["golf", 1], "entropy": 2**64 - 1, "rate": 0.1}
ARRAYS = {
    "n": np.array([1.0, np.nan, -0.0]),
    "codes": np.array([[1, 2], [3, 4]], dtype=np.int64),
    "none": np.empty((0, 3)),
    "flags": np.array([True, False]),
}


def test_what_is_packed_is_unpacked():
    header, arrays = files.unpack(files.pack(HEADER, ARRAYS), "here")
    assert header == {"format": files.FORMAT, **HEADER}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        arrays[name].flat[:] = 0  # the policy that takes them over writes to them


def test_bytes_depend_on_nothing_but_the_state(monkeypatch):
    data = files.pack(HEADER, ARRAYS)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    assert files.pack(HEADER, ARRAYS) == data
    strided = {name: np.asfortranarray(array) for name, array in ARRAYS.items()}
    assert files.unpack(files.pack(HEADER, strided), "here")[1]["codes"].tolist() == [
        [1, 2],
        [3, 4],
    ]


def test_nothing_in_a_file_is_executed():
    with pytest.raises(ValueError, match="holds objects, which a file cannot hold"):
        files.pack(HEADER, {"objects": np.array([object()])})


def signed(body: bytes) -> bytes:
    return files.MAGIC + hashlib.sha256(body).digest() + body


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "somewhere is not a saved policy; pass a file that policy.save"),
        (b"PK\x03\x04", "is not a saved policy"),
        (files.MAGIC[:-1], "is not a saved policy"),
        (files.MAGIC, "is truncated or damaged; load an intact copy"),
        (files.MAGIC + bytes(32), "is truncated or damaged"),
        (files.pack(HEADER, ARRAYS) + b"\n", "is truncated or damaged"),
        (signed(b"PK\x03\x04 no archive"), r"cannot be read \(File is not a zip file\)"),
        (signed(b"too short"), "is truncated or damaged"),
        (signed(b""), "is truncated or damaged"),
        (
            files.pack({**HEADER, "format": 4}, ARRAYS),
            "saved in format 4, but this version of banditree reads formats up to 3; install",
        ),
    ],
)
def test_what_is_no_policy(data, message):
    with pytest.raises(StateError, match=message):
        files.unpack(data, "somewhere")


def zipped(header: object) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("policy.json", json.dumps(header))
        with file.open("n.npy", "w") as member:
            np.lib.format.write_array(member, ARRAYS["n"])
    return archive.getvalue()


@pytest.mark.parametrize(
    "body", [files.pack(HEADER, ARRAYS)[len(files.MAGIC) + 32 :], zipped({**HEADER, "format": 2})]
)
def test_forged_contents_are_refused(body):
    """With the right checksum, so that whoever reads them sees the damage."""
    random = np.random.default_rng(5)
    refused = 0
    for _ in range(500):
        forged = bytearray(body)
        forged[random.integers(len(body))] ^= 1 << random.integers(8)
        try:
            files.unpack(signed(bytes(forged)), "here")
        except StateError:
            refused += 1
    assert refused > 100  # the rest changed values, or what nobody reads, such as the time


@pytest.mark.parametrize("content", [{"format": 2}, [], 5, "text", None])
def test_headers_of_any_kind(content):
    if isinstance(content, dict):
        assert files.unpack(signed(zipped(content)), "here")[0] == content
        return
    text = json.dumps(content).encode()
    framed = len(text).to_bytes(8, "little") + text
    for body in (zipped(content), len(framed).to_bytes(8, "little") + framed):
        with pytest.raises(StateError, match="cannot be read"):
            files.unpack(signed(body), "here")


def test_a_frame_is_a_copy():
    """A policy may learn on while the file is written."""
    array = np.zeros(3)
    parts = files.frame(HEADER, {"n": array})
    array[:] = 1
    assert files.unpack(b"".join(files.seal(parts)), "here")[1]["n"].tolist() == [0, 0, 0]


def test_a_save_killed_at_any_moment_leaves_the_old_or_the_new_file(tmp_path):
    path = tmp_path / "policy.bt"
    bt.Uniform(["old"]).save(path)
    script = (
        "import sys, banditree as bt, numpy as np\n"
        "policy = bt.TreeHeuristic(['new'], seed=1)\n"
        "rows = np.random.default_rng(1).normal(size=(3000, 9))\n"
        "policy.learn_many(rows, ['new'] * 3000, rows[:, 0] > 0)\n"
        "print('ready', flush=True)\n"
        "while True: policy.save(sys.argv[1])\n"
    )
    seen = set()
    for delay in np.geomspace(1e-4, 0.1, 12):
        command = [sys.executable, "-c", script, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(delay)
            process.kill()
        seen.add(bt.load(path).arms)
    assert seen <= {("old",), ("new",)}
    assert ("new",) in seen


def fail(*args, **options):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("old", [b"old", None])
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, step, old):
    path = tmp_path / "policy.bt"
    if old is not None:
        path.write_bytes(old)
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        files.write(path, [b"new"])
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if old is None else [old])


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "policy.bt"
    path.write_bytes(b"old")

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write(path, [b"new"])
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"old"]


def test_write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("policy.bt", tmp_path / "policy.bt", tmp_path / ("x" * 250)):
        files.write(path, [b"old"])
        files.write(path, [b"new"])
        with open(path, "rb") as file:
            assert file.read() == b"new"
    assert len(list(tmp_path.iterdir())) == 2


def test_the_file_is_as_private_as_others(tmp_path):
    path, ordinary = tmp_path / "policy.bt", tmp_path / "ordinary"
    ordinary.write_bytes(b"")
    files.write(path, [b"1"])
    assert path.stat().st_mode == ordinary.stat().st_mode
    path.chmod(0o600)
    files.write(path, [b"2"])
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".", "this is a folder; name a file in it: '.'"),
        ("folder", "this is a folder; name a file in it: 'folder'"),
        (
            "no/such/folder/policy.bt",
            "there is no folder 'no/such/folder'; make it first, or save elsewhere: "
            "'no/such/folder/policy.bt'",
        ),
        ("file/policy.bt", "'file' is a file, not a folder; save elsewhere: 'file/policy.bt'"),
        ("x" * 300, f"File name too long: '{'x' * 300}'"),
    ],
)
def test_where_nothing_can_be_written(tmp_path, monkeypatch, path, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=rf"\] {re.escape(message)}$"):
        bt.Uniform(["golf"]).save(path)
    assert {p.name for p in tmp_path.iterdir()} == {"folder", "file"}


@pytest.mark.parametrize("path", ["", None, 5, b"policy.bt"])
def test_a_path_that_names_no_file_is_refused(path):
    message = f"path must name a file, got {re.escape(repr(path))}; pass one such as"
    with pytest.raises(bt.InvalidParameterError, match=message):
        bt.Uniform(["golf"]).save(path)
    with pytest.raises(bt.InvalidParameterError, match=message):
        bt.load(path)


def test_a_missing_folder_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        bt.Uniform(["golf"]).save(tmp_path / "none" / "policy.bt")


def test_a_full_disk_is_said_of_the_target(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match=r"No space left on device: '.*/policy.bt'$"):
        files.write(tmp_path / "policy.bt", [b"new"])
