"""Carrying out a study: every run once, on as many processors as wanted."""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from banditree.environments.base import check_count
from banditree.errors import BanditreeError, InvalidParameterError
from banditree.studies.building import build
from banditree.studies.runs import Failure, Outcome, Run, key_of, perform
from banditree.studies.specs import EnvironmentSpec, Study, as_json
from banditree.studies.store import Store

__all__ = ["Skipped", "run_study"]

Skipped = dict[str, str]
"""Environments that could not be built, and why."""


def run_study(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    ray: str | None = None,
    progress: bool = True,
) -> list[Failure]:
    """Carry out what of a study is not done yet; return the runs that failed.

    Every run is stored as soon as it is finished, so a study that was interrupted goes on where it
    stood. Results do not depend on the number of workers.

    Parameters
    ----------
    study
        What to run.
    folder
        Where results are, and go.
    workers
        Processes; by default one per processor.
    ray
        Address of a Ray cluster to run on instead, for instance "auto".
    progress
        Show a bar.
    """
    store = Store(Path(folder))
    runs, skipped = plan(study)
    done = store.keys()
    todo = [run for run in runs if run.key not in done]
    store.note("study", {"study": asdict(study), "skipped": skipped, "keys": [r.key for r in runs]})
    bar = _Bar(len(runs), len(runs) - len(todo), shown=progress)
    failures = []
    with bar, _backend(workers, ray) as n_jobs:
        for outcome in _outcomes(todo, n_jobs, bar):
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                store.add(outcome, version("banditree"))
            bar.finished(outcome.run)
    return failures


def plan(study: Study) -> tuple[list[Run], Skipped]:
    """Return the runs of a study, and the environments that are left out for want of data."""
    fingerprints: dict[EnvironmentSpec, str] = {}
    skipped: Skipped = {}
    for spec in study.environments:
        try:
            fingerprints[spec] = as_json(build(spec).fingerprint())
        except OSError as error:  # DataError: the data are neither here nor to be had
            if not isinstance(error, BanditreeError):
                raise
            skipped[spec.name] = str(error)
    runs = []
    for variant, spec, seed in study.cells():
        if spec in fingerprints:
            key = key_of(variant, fingerprints[spec], seed, study.horizon, version("banditree"))
            runs.append(Run(variant, spec, seed, study.horizon, key))
    return runs, skipped


def _outcomes(todo: list[Run], n_jobs: int, bar: "_Bar") -> Iterator[Outcome | Failure]:
    """Yield outcomes as they come."""
    from joblib import Parallel, delayed

    def announced() -> Iterator[Any]:
        for run in todo:
            bar.begun(run)
            yield delayed(perform)(run)

    if n_jobs == 1:
        for run in todo:
            bar.begun(run)
            yield perform(run)
        return
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
    yield from parallel(announced())


def _backend(workers: int | None, ray: str | None) -> AbstractContextManager[int]:
    if ray is None:
        return nullcontext(_n_workers(workers))
    return _RayBackend(ray, workers)


def _n_workers(workers: int | None) -> int:
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return check_count("workers", workers)


class _RayBackend:
    """Sends joblib's work to a Ray cluster."""

    def __init__(self, address: str, workers: int | None) -> None:
        try:
            import ray
            from ray.util.joblib import register_ray
        except ImportError:
            raise InvalidParameterError(
                "running on a cluster takes Ray: pip install 'banditree[ray]'"
            ) from None
        try:
            ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise InvalidParameterError(f"no Ray cluster at {address!r}: {reason}") from None
        register_ray()
        self._ray = ray
        self._workers = workers or max(2, int(ray.cluster_resources().get("CPU", 2)))

    def __enter__(self) -> int:
        from joblib import parallel_config

        self._config = parallel_config(backend="ray", n_jobs=self._workers)
        self._config.__enter__()
        return self._workers

    def __exit__(self, *error: Any) -> None:
        self._config.unregister()
        self._ray.shutdown()


class _Bar:
    """How many runs are done, which are under way, and how long it will take."""

    def __init__(self, total: int, done: int, *, shown: bool) -> None:
        from tqdm import tqdm

        self._bar = tqdm(
            total=total,
            initial=done,
            unit="run",
            disable=not shown,
            dynamic_ncols=True,
            mininterval=0.1 if sys.stderr.isatty() else 15,  # a log needs no animation
        )
        self._underway: list[str] = []

    def __enter__(self) -> None:
        self._bar.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._bar.set_postfix_str("", refresh=False)
        self._bar.__exit__(*error)

    def begun(self, run: Run) -> None:
        self._underway.append(str(run))
        self._show()

    def finished(self, run: Run) -> None:
        self._underway.remove(str(run))
        self._bar.update()
        self._show()

    def _show(self) -> None:
        self._bar.set_postfix_str("; ".join(self._underway[:2]), refresh=sys.stderr.isatty())
