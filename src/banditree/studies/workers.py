"""Who carries out runs: this process, several processes, or a Ray cluster."""

import logging
import os
import socket
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from banditree.errors import InvalidParameterError
from banditree.studies.runs import Failure, Job, perform

__all__ = ["outcomes"]

Announce = Callable[[Any], None]
Perform = Callable[[Job], Any]

KILLED = "its process was killed, maybe for want of memory"
# Where data are looked for, which processes on a cluster must know too.
PLACES = ("BANDITREE_DATA", "BANDITREE_CACHE")


def outcomes(
    runs: Iterable[Job], announce: Announce, workers: int | None = None, ray: str | None = None
) -> Generator[Any]:
    """Carry out runs; yield what comes of them as it comes.

    Parameters
    ----------
    runs
        What to do, in this order.
    announce
        Called with each run before it begins.
    workers
        How many at a time; by default as many as there are processors.
    ray
        Address of a Ray cluster, whose processors are used instead of this machine's.
    """
    if ray is not None:
        return _on_ray(runs, announce, ray, workers)
    workers = workers or _n_processors()
    return _here(runs, announce) if workers == 1 else _by_processes(runs, announce, workers)


def _here(runs: Iterable[Job], announce: Announce) -> Generator[Any]:
    for run in runs:
        announce(run)
        yield perform(run)


def _by_processes(runs: Iterable[Job], announce: Announce, workers: int) -> Generator[Any]:
    queue = deque(runs)
    while queue:
        underway: dict[str, Job] = {}
        try:
            yield from _in_pool(queue, underway, announce, workers)
        except BrokenProcessPool:
            # One of them has killed its process, mostly for want of memory, and all are lost.
            for run in list(underway.values()):
                yield _alone(run)


def _in_pool(
    queue: deque[Job], underway: dict[str, Job], announce: Announce, workers: int
) -> Generator[Any]:
    """Carry out what is in a queue. Which runs have begun and not ended is in `underway`."""
    from joblib import Parallel, delayed

    places = _modules()

    def taken() -> Iterator[Any]:
        while queue:
            run = queue.popleft()
            underway[run.key] = run
            announce(run)
            yield delayed(found_from)(places, perform, run)

    with warnings.catch_warnings():
        # A worker that has grown is replaced by a fresh one, as it should be.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
        # If results cannot be stored, those under way are of no use.
        warnings.filterwarnings("ignore", message="(?s).*adjusting the input task iterator")
        parallel = Parallel(n_jobs=workers, return_as="generator_unordered", pre_dispatch="n_jobs")
        for outcome in parallel(taken()):
            del underway[outcome.run.key]
            yield outcome


def _alone(run: Job) -> Any:
    """Carry out a run in a process that may die."""
    from joblib import Parallel, delayed

    try:
        found: list[Any] = Parallel(n_jobs=2)([delayed(found_from)(_modules(), perform, run)])
    except BrokenProcessPool:
        return Failure(run, KILLED, KILLED)
    return found[0]


def found_from(places: list[str], perform: Perform, run: Job) -> Any:
    """Carry out a run in a process that finds modules where the first one does."""
    sys.path.extend(place for place in places if place not in sys.path)
    return perform(run)


def _modules() -> list[str]:
    """Return where modules are looked for, as seen from any folder."""
    return [str(Path(place).resolve()) for place in sys.path]


def _on_ray(
    runs: Iterable[Job], announce: Announce, address: str, workers: int | None
) -> Generator[Any]:
    # By Ray's own tasks: its backend for joblib hands results over only when all are there, and a
    # crash would lose them.
    ray = _connected(address)
    try:
        task, places = ray.remote(found_from), _modules()
        workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        queue = iter(runs)
        underway: dict[Any, Job] = {}
        while True:
            while len(underway) < workers and (run := next(queue, None)) is not None:
                announce(run)
                underway[task.remote(places, perform, run)] = run
            if not underway:
                return
            (ready, *_), _ = ray.wait(list(underway), num_returns=1)
            run = underway.pop(ready)
            try:
                yield ray.get(ready)
            except ray.exceptions.RayError as error:  # the process died, more than once
                yield Failure(run, KILLED, str(error))
    finally:
        ray.shutdown()


def _connected(address: str) -> Any:
    try:
        import ray
    except ImportError:
        raise InvalidParameterError(
            "running on a cluster needs Ray: pip install 'banditree[ray]'"
        ) from None
    _check_reachable(address)
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.WARNING,
            runtime_env={"env_vars": _places()},
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidParameterError(f"there is no Ray cluster at {address!r}: {reason}") from None
    return ray


def _check_reachable(address: str) -> None:
    """Refuse an address that nobody answers at, where Ray would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():  # "auto" and the like
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise InvalidParameterError(f"there is no Ray cluster at {address!r}: {error}") from None


def _places() -> dict[str, str]:
    """Return where data are, as seen from any folder."""
    return {name: str(Path(os.environ[name]).resolve()) for name in PLACES if os.environ.get(name)}


def _n_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
