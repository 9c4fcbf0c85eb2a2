"""Whether a module's file is still what was imported, by the bytecode that Python keeps of it."""

import marshal
import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER
from pathlib import Path

__all__ = ["has_changed"]

# Before the code: magic number, flags, and the time and size of the source.
_HEADER = 16


def has_changed(module: str, file: Path) -> bool:
    """Return whether a file has other code than the module that was imported from it.

    An import leaves the bytecode in a file with the time and size of the source. Where there is
    none, or where Python could not write it, nothing is known and the answer is False.
    """
    kept = _bytecode(module)
    if len(kept) < _HEADER or kept[:8] != MAGIC_NUMBER + bytes(4):  # of hashed sources, or another
        return False
    about = file.stat()
    if kept[8:_HEADER] == _word(int(about.st_mtime)) + _word(about.st_size):
        return False
    try:
        now = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
        return bool(
            marshal.loads(kept[_HEADER:]) != now
        )  # a file that was only touched is the same
    except (EOFError, SyntaxError, TypeError, ValueError):
        return True


def _bytecode(module: str) -> bytes:
    """Return what Python keeps of a module that it imported; nothing if it may be out of date."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    # Other loaders, such as that of pytest, keep what they compile elsewhere.
    if spec is None or type(spec.loader) is not SourceFileLoader or sys.dont_write_bytecode:
        return b""
    kept = Path(spec.cached or "")
    if not kept.is_file() or not os.access(kept.parent, os.W_OK):
        return b""
    return kept.read_bytes()


def _word(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "little")
