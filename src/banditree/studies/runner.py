"""Carrying out a study: every run once, on as many processors as wanted."""

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from banditree._checking import check_whole
from banditree.environments.environment import Description, Environment
from banditree.errors import DataError, InvalidParameterError
from banditree.studies.building import (
    build,
    check_data,
    description_of,
    fingerprint_of,
    why_not,
)
from banditree.studies.code import code_of_run
from banditree.studies.extra import TO_RUN, check_extra
from banditree.studies.runs import Failure, Run, key_of
from banditree.studies.specs import EnvironmentSpec, Study
from banditree.studies.store import Store
from banditree.studies.workers import outcomes

__all__ = ["Bar", "Plan", "plan", "run_study"]


@dataclass(frozen=True)
class Plan:
    """What a study comes to.

    Attributes
    ----------
    runs
        All of them, done or not.
    skipped
        Environments that are left out for want of data, and why.
    left_out
        Policies that cannot be run in an environment, and why.
    about
        What each environment is, unless it is the user's own and fails to say.
    """

    runs: list[Run]
    skipped: dict[str, str]
    left_out: dict[str, str]
    about: dict[str, Description]


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
        check_whole("workers", workers, 1)
    check_extra(*TO_RUN)
    planned = plan(study)
    store = Store(folder)
    done = store.keys()
    distinct = {run.key: run for run in planned.runs}  # a policy may be there under two names
    todo = [run for run in distinct.values() if run.key not in done]
    store.note("study", _noted(study, planned))
    store.note("failures", {})  # those of the time before are tried again
    bar = Bar(len(distinct), len(distinct) - len(todo), shown=progress)
    for name, about in planned.about.items():
        for remark in about.remarks:
            bar.say(f"{name}: {remark}")
    failures = []
    with bar, closing(outcomes(todo, bar.begun, workers, ray)) as came:
        for outcome in came:
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                store.add(outcome)
            bar.finished(outcome.run)
    store.note("failures", {str(failure.run): failure.error for failure in failures})
    return failures


def _noted(study: Study, planned: Plan) -> dict[str, Any]:
    """Return what a report needs to know beside the runs."""
    return {
        "study": asdict(study),
        "skipped": planned.skipped,
        "left_out": planned.left_out,
        "about": {name: asdict(about) for name, about in planned.about.items()},
        "runs": [(run.key, run.variant.label, run.environment.name) for run in planned.runs],
        "codes": sorted(
            {(run.variant.policy, run.environment.name, run.code) for run in planned.runs}
        ),
    }


def plan(study: Study) -> Plan:
    """Return the runs of a study, and what is left out; raise if nothing remains."""
    environments, skipped = _prepared(study.environments)
    specs = [spec for spec in study.environments if spec.name in environments]
    prints = {spec.name: fingerprint_of(spec, environments[spec.name]) for spec in specs}
    runs, left_out = [], {}
    code_of = cache(code_of_run)  # it reads files, and most runs have the same
    for variant, spec, seed in study.cells():
        built = environments.get(spec.name)
        if built is None:
            continue
        horizon = study.horizon_of(spec)
        reason = why_not(variant.policy, built, horizon)
        if reason is not None:
            left_out[f"{variant.label} on {spec.name}"] = reason
            continue
        code = code_of(variant.policy, spec.task)
        key = key_of(variant, prints[spec.name], seed, horizon, code)
        runs.append(Run(variant, spec, seed, horizon, key, code))
    if not runs:
        reasons = [f"{name}: {reason}" for name, reason in (skipped | left_out).items()]
        raise DataError(f"there is nothing to run; {'; '.join(reasons)}")
    # The longest first: at the end, no processor waits for another's long run.
    runs.sort(key=lambda run: -run.horizon)
    about = {spec.name: description_of(spec, environments[spec.name]) for spec in specs}
    known = {name: described for name, described in about.items() if described is not None}
    return Plan(runs, skipped, left_out, known)


def _prepared(
    specs: Sequence[EnvironmentSpec],
) -> tuple[dict[str, Environment], dict[str, str]]:
    """Return environments by name, and why others cannot be had."""
    environments, skipped = {}, {}
    for spec in specs:
        try:
            check_data(spec)
            environments[spec.name] = build(spec)
        except DataError as error:
            skipped[spec.name] = str(error)
        except InvalidParameterError as error:
            raise InvalidParameterError(f"environment {spec.name!r}: {error}") from None
    return environments, skipped


class Bar:
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

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        if not self._bar.disable:
            self._bar.write(text, file=sys.stderr)

    def begun(self, run: Any) -> None:
        """Show that a run is under way."""
        self._underway.append(str(run))
        self._show()

    def finished(self, run: Any) -> None:
        """Count a run."""
        self._underway.remove(str(run))
        self._bar.update()
        self._show()

    def _show(self) -> None:
        self._bar.set_postfix_str("; ".join(self._underway[:2]), refresh=sys.stderr.isatty())
