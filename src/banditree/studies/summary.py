"""What the runs of a study say together."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.environments.environment import Description
from banditree.errors import StateError
from banditree.studies.specs import BASELINE
from banditree.studies.store import FILE, Record, Store
from banditree.types import FloatArray

__all__ = ["Cell", "Results", "read_results"]

# Two-sided 97.5 % points of Student's law, by degrees of freedom; the normal law's beyond.
STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Cell:
    """All seeds of one policy, with fixed parameters, in one environment.

    Attributes
    ----------
    curves
        A row per seed: the cumulative regret after each of `steps`.
    """

    label: str
    parameters: dict[str, Any]
    environment: str
    seeds: tuple[int, ...]
    steps: NDArray[np.int64]
    curves: FloatArray
    seconds: float

    @property
    def regrets(self) -> FloatArray:
        """The regret over all steps, of each seed."""
        last: FloatArray = self.curves[:, -1]
        return last

    @property
    def mean(self) -> float:
        """The mean regret over all steps."""
        return float(self.regrets.mean())

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the mean; NaN for a single seed."""
        return interval(self.regrets)[1]

    @property
    def constants(self) -> str:
        """The parameters, as text."""
        return ", ".join(f"{name}={value}" for name, value in self.parameters.items())

    def relative_to(self, other: "Cell") -> "Cell":
        """Return the regret beyond another's, seed by seed."""
        common = [seed for seed in self.seeds if seed in other.seeds]
        own = self.curves[[self.seeds.index(seed) for seed in common]]
        theirs = other.curves[[other.seeds.index(seed) for seed in common]]
        return Cell(
            self.label,
            self.parameters,
            self.environment,
            tuple(common),
            self.steps,
            own - theirs,
            self.seconds,
        )


@dataclass(frozen=True, eq=False)
class Results:
    """The cells of a study, and what is known about it."""

    name: str
    horizon: int
    environments: list[str]  # in the order of the study
    labels: list[str]
    cells: list[Cell]
    skipped: dict[str, str]  # environments without data, and why
    missing: int  # runs that have not been done, or have failed
    version: str
    left_out: dict[str, str] = field(default_factory=dict)  # policies that cannot be run somewhere
    failures: dict[str, str] = field(default_factory=dict)  # of the last time
    about: dict[str, Description] = field(default_factory=dict)  # the environments
    command: str = ""  # of the paper's experiments
    others: dict[str, int] = field(default_factory=dict)  # runs of other versions, not used
    outdated: int = 0  # runs of this version with other code of one's own, not used

    def variants(self, label: str, environment: str) -> list[Cell]:
        """Return the cells of a policy in an environment, one for each choice of constants."""
        return [c for c in self.cells if (c.label, c.environment) == (label, environment)]

    def best(self, label: str, environment: str) -> Cell | None:
        """Return the cell of the constants with the least mean regret.

        As long as a study is under way, of those with the most seeds.
        """
        cells = self.variants(label, environment)
        most = max((len(cell.seeds) for cell in cells), default=0)
        whole = [cell for cell in cells if len(cell.seeds) == most]
        return min(whole, key=lambda cell: cell.mean, default=None)

    def horizon_of(self, environment: str) -> int:
        """Return the steps of a run in an environment."""
        ends = (int(cell.steps[-1]) for cell in self.cells if cell.environment == environment)
        return next(ends, self.horizon)

    def baseline(self, environment: str) -> Cell | None:
        """Return OfflineTree's cell, where there is one."""
        return self.best(BASELINE, environment)


def interval(values: FloatArray) -> tuple[float, float]:
    """Return the mean and half of its 95 % interval by Student's law.

    Examples
    --------
    >>> mean, half = interval(np.array([1.0, 2.0, 3.0]))
    >>> mean, round(half, 3)
    (2.0, 2.484)
    """
    n = len(values)
    mean = float(np.mean(values))
    if n < 2:
        return mean, math.nan
    return mean, student(n - 1) * float(np.std(values, ddof=1)) / math.sqrt(n)


def student(freedom: int) -> float:
    """Return how many standard errors half of a 95 % interval is."""
    return STUDENT[freedom - 1] if freedom <= len(STUDENT) else 1.96


def read_results(folder: str | Path) -> Results:
    """Return the results of the study that was run last in a folder."""
    if not (Path(folder) / FILE).exists():
        raise StateError(f"{str(folder)!r} has no results; run a study first")
    store = Store(folder)
    note = _last_study(store)
    study = note["study"]
    finished = {record.key: record for record in store.records()}
    # Under the names that the study gives them: another study may have run them first.
    records = [
        replace(finished[key], label=label, environment=environment)
        for key, label, environment in note["runs"]
        if key in finished
    ]
    failures = store.last_note("failures") or {}
    if not records:
        raise StateError(
            f"no run of {study['name']!r} in {store.path} is finished{_reason(failures)}"
        )
    version = records[0].build
    environments = [e["name"] for e in study["environments"] if e["name"] not in note["skipped"]]
    return Results(
        name=study["name"],
        horizon=study["horizon"],
        environments=environments,
        labels=[policy["label"] for policy in study["policies"]],
        cells=_cells(records),
        skipped=note["skipped"],
        missing=len(note["runs"]) - len(records),
        version=version,
        left_out=note["left_out"],
        failures=failures,
        about={n: _description(note["about"][n]) for n in environments if n in note["about"]},
        command=study["command"],
        others=dict(Counter(r.build for r in finished.values() if r.build != version)),
        outdated=sum(_is_outdated(r, note.get("codes", [])) for r in finished.values()),
    )


def _last_study(store: Store) -> dict[str, Any]:
    """Return what the store notes of the study that was run last."""
    note: dict[str, Any] | None = store.last_note("study")
    if note is None:
        raise StateError(f"{store.path} has no results yet; run a study first")
    if "about" not in note:
        raise StateError(
            f"{store.path} was written by an earlier version; run the study once more: finished "
            "runs are kept"
        )
    return note


def _is_outdated(record: Record, codes: list[list[str]]) -> bool:
    """Return whether a policy or an environment of one's own has changed since a run."""
    return any(
        (record.policy, record.environment) == (policy, environment)
        and record.version != code
        and record.build == code.partition(" ")[0]
        for policy, environment, code in codes
    )


def _reason(failures: dict[str, str]) -> str:
    """Say why the first run failed, and how many others did."""
    for run, error in failures.items():
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        return f"; {run} failed{more}: {error}"
    return ""


def _description(about: dict[str, Any]) -> Description:
    return Description(**{**about, "remarks": tuple(about["remarks"])})


def _cells(records: Sequence[Record]) -> list[Cell]:
    together: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        key = (record.environment, record.label, repr(sorted(record.parameters.items())))
        together.setdefault(key, []).append(record)
    return [_cell(sorted(group, key=lambda r: r.seed)) for group in together.values()]


def _cell(group: list[Record]) -> Cell:
    first = group[0]
    return Cell(
        first.label,
        first.parameters,
        first.environment,
        tuple(record.seed for record in group),
        first.steps,
        np.array([record.curve for record in group]),
        float(np.mean([record.seconds for record in group])),
    )
