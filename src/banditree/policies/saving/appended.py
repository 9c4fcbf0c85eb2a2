"""What is appended to the file of a saved policy, frame by frame.

A frame is the length of its content, a short checksum of that, the SHA-256 of the content, and the
content. Both checksums take in the one before, so that a frame fits one place of one file only. A
frame at the end of the file that is not complete was never acknowledged.
"""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from banditree.errors import BanditreeWarning, StateError
from banditree.policies.saving import files

_HEAD = 16  # length and its checksum


@dataclass(frozen=True)
class End:
    """Where a file ends, and the last checksum in it with its place."""

    size: int
    digest: bytes
    place: int = len(files.MAGIC)

    def head(self, length: int) -> bytes:
        """Return what comes first in a frame after this end."""
        written = length.to_bytes(_HEAD // 2, "little")
        return written + files.digest_of(self.digest, written)[: _HEAD // 2]

    def after(self, length: int, digest: bytes) -> "End":
        """Return the end after one more frame."""
        place = self.size + _HEAD
        return End(place + files.DIGEST + length, digest, place)


def append(path: Path, end: End, parts: files.Parts) -> End | None:
    """Write a frame after the end of a file; None, and nothing done, if it ends otherwise."""
    length, digest = sum(map(len, parts)), files.digest_of(end.digest, *parts)
    if not path.exists():
        return None
    with open(path, "r+b") as file:
        file.seek(end.place)
        if file.read(files.DIGEST) != end.digest or os.fstat(file.fileno()).st_size != end.size:
            return None
        file.seek(end.size)
        file.writelines([end.head(length), digest, *parts])
        file.flush()
        os.fsync(file.fileno())
    return end.after(length, digest)


def read(data: bytes, source: str) -> list[files.Content]:
    """Return the content of a file and of all that was appended to it."""
    content, size = files.unpack_first(data, source)
    start = len(files.MAGIC)
    end: End | None = End(size, data[start : start + files.DIGEST])
    contents = [content]
    while end is not None and end.size < len(data):
        frame, end = _next(memoryview(data), end, source)
        contents += [] if frame is None else [frame]
    return contents


def _next(data: memoryview, end: End, source: str) -> tuple[files.Content | None, End | None]:
    """Return the frame at an end, and the end after it; None and None if it is not complete."""
    start = end.size + _HEAD + files.DIGEST
    head = bytes(data[end.size : start])
    length = int.from_bytes(head[: _HEAD // 2], "little")
    # A file may have got its length before its content.
    if start > len(data) or not any(data[end.size :]):
        return _not_complete(len(data) - end.size, source)
    if head[:_HEAD] != end.head(length):
        raise StateError(f"{source} is damaged; load an intact copy")
    content = data[start : start + length]
    digest = files.digest_of(end.digest, content)
    if digest == head[_HEAD:] and len(content) == length:
        return files.read_framed(content, source), end.after(length, digest)
    if start + length < len(data):
        raise StateError(f"{source} is damaged; load an intact copy")
    return _not_complete(len(data) - end.size, source)


def _not_complete(n_bytes: int, source: str) -> tuple[None, None]:
    warnings.warn(
        f"the last {n_bytes} bytes of {source} are of a save that was broken off; "
        "the policy is that of the save before",
        BanditreeWarning,
        stacklevel=5,
    )
    return None, None
