"""How much memory something takes."""

import ctypes
import gc
from contextlib import suppress
from pathlib import Path
from types import TracebackType

__all__ = ["PeakMemory"]

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


class PeakMemory:
    """Measures by how many bytes the process has grown at most within a block.

    Only Linux can forget an earlier peak; elsewhere it is by how much the process has grown.

    Examples
    --------
    >>> with PeakMemory() as measured:
    ...     size = len(bytearray(30_000_000))
    >>> measured.bytes >= 0
    True
    """

    bytes: int = 0

    def __enter__(self) -> "PeakMemory":
        gc.collect()
        with suppress(OSError, AttributeError, TypeError):  # where there is no such function
            # What was freed earlier is given back, or a block could use it and seem to need less.
            ctypes.CDLL(None).malloc_trim(0)
        self._before = _resident()
        self._forgot = False
        with suppress(OSError):
            CLEAR.write_text("5")
            self._forgot = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        most = _peak() if self._forgot else _resident()
        self.bytes = max(0, most - self._before)


def _resident() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)


def _peak() -> int:
    """Return the most that the process has had since the peak was forgotten."""
    lines = STATUS.read_text().splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(peak) * 1024
