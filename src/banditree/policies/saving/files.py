"""The file that a policy is saved in.

A line that says what it is, the SHA-256 of the rest, then the length of the rest, a header in JSON
and arrays as they are in memory; then what was appended (`appended.py`). Nothing in it is executed
when it is read. Format 2 had a zip archive in place of length, header and arrays.
"""

import contextlib
import hashlib
import io
import json
import math
import os
import secrets
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from banditree._checking import shorten
from banditree.errors import InvalidParameterError, StateError

MAGIC = b"banditree policy\n"
FORMAT = 3
_ZIPPED_FORMAT = 2
_ZIP = b"PK\x03\x04"
DIGEST = hashlib.sha256().digest_size
_LENGTH = 8

Parts: TypeAlias = Sequence[bytes | memoryview]
Content: TypeAlias = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of the file."""
    return b"".join(seal(frame(header, arrays)))


def frame(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Parts:
    """Return header and arrays as bytes that later changes of the arrays do not reach.

    Arrays that cannot be written to are not copied: nobody changes them.
    """
    described, contents = [], []
    for name, array in arrays.items():
        plain = np.asarray(array)
        if plain.dtype.hasobject:
            raise ValueError(f"the array {name!r} holds objects, which a file cannot hold")
        plain = np.ascontiguousarray(plain, dtype=plain.dtype.newbyteorder("<"))
        described.append([name, plain.dtype.str, np.shape(array)])
        flat = plain.reshape(-1)
        contents.append(flat.tobytes() if flat.flags.writeable else flat.view(np.uint8).data)
    text = json.dumps({"format": FORMAT, **header, "arrays": described}).encode()
    return [_length(len(text)), text, *contents]


def seal(parts: Parts) -> Parts:
    """Return the parts of the file: what it is, a checksum, and what was framed."""
    parts = [_length(sum(map(len, parts))), *parts]
    return [MAGIC, digest_of(*parts), *parts]


def _length(n: int) -> bytes:
    return n.to_bytes(_LENGTH, "little")


def digest_of(*parts: bytes | memoryview) -> bytes:
    """Return the checksum of all parts, one after the other."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()


def unpack(data: bytes, source: str) -> Content:
    """Return header and arrays; `source` names the file in errors."""
    content, size = unpack_first(data, source)
    if size != len(data):
        raise _damaged(source)
    return content


def unpack_first(data: bytes, source: str) -> tuple[Content, int]:
    """Return header and arrays, and where they end."""
    if not data.startswith(MAGIC):
        raise StateError(
            f"{source} is not a saved policy; pass a file that policy.save() has written"
        )
    start = len(MAGIC) + DIGEST
    body = memoryview(data)[start:]
    end = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    # An archive, read as a length, is longer than any file.
    zipped = body[: len(_ZIP)] == _ZIP and end > len(body)
    if not zipped:
        body = body[:end]
    if digest_of(body) != data[len(MAGIC) : start] or not (zipped or len(body) == end):
        raise _damaged(source)
    if zipped:
        return _readable(_read_zip, bytes(body), source), len(data)
    return read_framed(body[_LENGTH:], source), start + len(body)


def read_framed(content: memoryview, source: str) -> Content:
    """Return header and arrays of what `frame` has returned."""
    return _readable(_unframe, content, source)


def _damaged(source: str) -> StateError:
    return StateError(f"{source} is truncated or damaged; load an intact copy")


def _readable(read: Callable[[Any], Content], body: bytes | memoryview, source: str) -> Content:
    try:
        return read(body)
    except StateError:
        raise
    except Exception as error:  # what zipfile and the decompressors raise is no closed list
        raise StateError(f"{source} cannot be read ({error}); load an intact copy") from error


def _unframe(content: memoryview) -> Content:
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    header = _checked(json.loads(bytes(content[_LENGTH:start])), FORMAT)
    arrays = {}
    for name, described, shape in header.pop("arrays"):
        dtype, count = np.dtype(described), math.prod(shape)
        if dtype.hasobject or not dtype.itemsize or min(shape, default=0) < 0:
            raise ValueError(f"there is no array {name!r} of {described!r}")
        end = start + count * dtype.itemsize
        # A copy: in its place, and what takes it over may write to it.
        array = np.frombuffer(content[start:end], np.uint8).copy()
        arrays[name], start = array.view(dtype).reshape(shape), end
    if start != len(content):
        raise ValueError("the arrays have other lengths")
    return header, arrays


def _checked(header: Any, known: int) -> dict[str, Any]:
    """Return a header of a format that is known."""
    if header["format"] != known:
        raise StateError(
            f"the policy was saved in format {header['format']}, but this version of "
            f"banditree reads formats up to {FORMAT}; install the version that wrote it"
        )
    return dict(header)


def _read_zip(body: bytes) -> Content:
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        header = _checked(json.loads(file.read("policy.json")), _ZIPPED_FORMAT)
        arrays = {}
        for name in file.namelist():
            if name.endswith(".npy"):
                with file.open(name) as member:
                    array = np.lib.format.read_array(member, allow_pickle=False)
                arrays[name.removesuffix(".npy")] = array
    return header, arrays


def write(path: str | os.PathLike[str], parts: Parts) -> None:
    """Write a file so that at every moment either the old or the new one is there, complete."""
    target = as_path(path)
    try:
        _replace(target, parts)
    except OSError as error:
        # It names the temporary file, of which the caller knows nothing.
        raise OSError(error.errno, _reason(target, error), os.fspath(path)) from error


def as_path(path: Any) -> Path:
    """Return the path that a user gave for a file."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InvalidParameterError(
            f"path must name a file, got {shorten(path)}; pass one such as 'policy.bt'"
        )
    return Path(path)


def _replace(target: Path, parts: Parts) -> None:
    """Write to a temporary file, then rename it."""
    temporary = target.parent / f".{secrets.token_hex(8)}.part"
    # Not by mkstemp, which lets nobody but the owner read the file, whatever the umask.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _reason(target: Path, error: OSError) -> str:
    """Say why the file could not be written."""
    folder = target.parent
    if not folder.exists():
        return f"there is no folder {str(folder)!r}; make it first, or save elsewhere"
    if not folder.is_dir():
        return f"{str(folder)!r} is a file, not a folder; save elsewhere"
    if target.is_dir():
        return "this is a folder; name a file in it"
    return error.strerror or str(error)
