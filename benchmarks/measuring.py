"""Time and memory: how they are measured, and how they are shown."""

import ctypes
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def best_times(repeats: int, *functions: Callable[[], Any]) -> list[float]:
    """Return the shortest CPU time of each function.

    They take turns, as the machine's speed varies; CPU time leaves out what else it runs.
    """
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for function, taken in zip(functions, times, strict=True):
            start = time.process_time()
            result = function()
            taken.append(time.process_time() - start)
            del result  # its release is not timed
    return [min(taken) for taken in times]


def resident_bytes() -> float:
    """Return the memory of this process, where the system tells."""
    try:
        ctypes.CDLL(None).malloc_trim(0)  # freed memory does not count
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, AttributeError):
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE")


def in_new_process(function: Callable[..., T], *args: Any) -> T:
    """Run in a new process, whose growth is due to the function alone."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        return executor.submit(function, *args).result()


def progress(text: str) -> None:
    print(f"... {text}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    units = ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (600.0, 1.0, "s"))
    for limit, scale, unit in units:
        if seconds < limit:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds / 60:.0f} min"


def multiple(ratio: float) -> str:
    return f"{ratio:,.0f}x" if ratio >= 100 else f"{ratio:.1f}x"
