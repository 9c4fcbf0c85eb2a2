"""The file that a policy is saved in.

A line that says what it is, the SHA-256 of the rest, then a zip archive: `policy.json` and one
`.npy` file per array. Nothing in it is executed when it is read.
"""

import contextlib
import hashlib
import io
import json
import os
import secrets
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.contexts.values import shorten
from banditree.errors import InvalidParameterError, StateError

MAGIC = b"banditree policy\n"
FORMAT = 2
_DIGEST = hashlib.sha256().digest_size


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of the file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        _add(file, "policy.json", json.dumps({"format": FORMAT, **header}).encode())
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), allow_pickle=False)
            _add(file, f"{name}.npy", content.getbuffer())
    body = archive.getvalue()
    return MAGIC + hashlib.sha256(body).digest() + body


def _add(archive: zipfile.ZipFile, name: str, content: bytes | memoryview) -> None:
    # A ZipInfo of its own carries no time of day: the same state gives the same bytes.
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, compresslevel=1)


def unpack(data: bytes, source: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays; `source` names the file in errors."""
    start = len(MAGIC) + _DIGEST
    if not data.startswith(MAGIC):
        raise StateError(
            f"{source} is not a saved policy; pass a file that policy.save() has written"
        )
    digest, body = data[len(MAGIC) : start], data[start:]
    if hashlib.sha256(body).digest() != digest:
        raise StateError(f"{source} is truncated or damaged; load an intact copy")
    try:
        return _read(body)
    except StateError:
        raise
    except Exception as error:  # what zipfile and the decompressors raise is no closed list
        raise StateError(f"{source} cannot be read ({error}); load an intact copy") from error


def _read(body: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        header = json.loads(file.read("policy.json"))
        if header["format"] != FORMAT:
            raise StateError(
                f"the policy was saved in format {header['format']}, but this version of "
                f"banditree reads format {FORMAT}; install the version that wrote it"
            )
        arrays = {}
        for name in file.namelist():
            if name.endswith(".npy"):
                with file.open(name) as member:
                    array = np.lib.format.read_array(member, allow_pickle=False)
                arrays[name.removesuffix(".npy")] = array
    return header, arrays


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that at every moment either the old or the new one is there, complete."""
    target = as_path(path)
    try:
        _replace(target, data)
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


def _replace(target: Path, data: bytes) -> None:
    """Write to a temporary file, then rename it."""
    temporary = target.parent / f".{secrets.token_hex(8)}.part"
    # Not by mkstemp, which lets nobody but the owner read the file, whatever the umask.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
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
