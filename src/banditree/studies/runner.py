"""Carrying out a study: every run once, on as many processors as wanted."""

import sys
from contextlib import closing
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from banditree.environments.base import check_count
from banditree.errors import DataError
from banditree.studies.building import build
from banditree.studies.runs import Failure, Run, key_of
from banditree.studies.specs import EnvironmentSpec, Study, as_json
from banditree.studies.store import Store
from banditree.studies.workers import outcomes

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
    if workers is not None:
        check_count("workers", workers)
    store = Store(Path(folder))
    runs, skipped = plan(study)
    done = store.keys()
    distinct = {run.key: run for run in runs}  # a policy may be there under two names
    todo = [run for run in distinct.values() if run.key not in done]
    named = [(run.key, run.variant.label, run.environment.name) for run in runs]
    store.note("study", {"study": asdict(study), "skipped": skipped, "runs": named})
    bar = _Bar(len(distinct), len(distinct) - len(todo), shown=progress)
    failures = []
    with bar, closing(outcomes(todo, bar.begun, workers, ray)) as came:
        for outcome in came:
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
        except DataError as error:
            skipped[spec.name] = str(error)
    runs = []
    for variant, spec, seed in study.cells():
        if spec in fingerprints:
            key = key_of(variant, fingerprints[spec], seed, study.horizon, version("banditree"))
            runs.append(Run(variant, spec, seed, study.horizon, key))
    return runs, skipped


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
