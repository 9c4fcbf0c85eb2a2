"""Decisions and rewards as lines that are only ever added to a file."""

import json
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from banditree.errors import StateError

try:
    import fcntl
except ImportError:  # not on Windows, where nothing hinders two writers
    fcntl = None  # type: ignore[assignment]

__all__ = ["Journal", "journal_of", "lines_in"]

SYNCED_EVERY = 1.0  # seconds, at most, that a power failure can take


def journal_of(path: Path) -> Path:
    """Return where the lines of a log are that is not closed.

    Examples
    --------
    >>> journal_of(Path("log.parquet")).name
    'log.parquet.journal'
    """
    return path.with_name(f"{path.name}.journal")


def lines_in(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return what complete lines say, and where they end; a last line cut short is left out."""
    entries, end = [], 0
    data = path.read_bytes() if path.exists() else b""
    for number, (line, stop) in enumerate(_split(data)):
        checksum, _, text = line.partition(b" ")
        if checksum != _checksum(text):
            if stop == len(data):
                break
            raise StateError(
                f"line {number + 1} of {str(path)!r} is damaged; restore the file from a copy, or "
                "take out that line"
            )
        entries.append(json.loads(text))
        end = stop
    return entries, end


def _split(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield complete lines, and where each ends."""
    start = 0
    while (stop := data.find(b"\n", start)) >= 0:
        yield data[start:stop], stop + 1
        start = stop + 1


def _checksum(text: bytes) -> bytes:
    return b"%08x" % zlib.crc32(text)


class Journal:
    """The file of the lines, open for more.

    A line is with the operating system when `add` returns, so that it outlives this process; and on
    the disk within a second of the next line, or when the journal is closed.
    """

    def __init__(self, path: Path, end: int) -> None:
        self._path = path
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115  # closed by close()
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise StateError(
                f"another LogWriter has {str(path)!r} open; let one process write, or give each a "
                "file of its own"
            ) from None
        self._file.truncate(end)
        self._synced = time.monotonic()

    def add(self, entry: dict[str, Any]) -> None:
        """Add a line."""
        text = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()
        self._file.write(b"%s %s\n" % (_checksum(text), text))
        if time.monotonic() - self._synced > SYNCED_EVERY:
            self.sync()

    def sync(self) -> None:
        """Have the disk take all lines."""
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Close the file, which stays."""
        self.sync()
        self._file.close()
