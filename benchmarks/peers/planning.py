"""Which runs there are, and in which order, so that what is there at any time is of use."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tasks import KEYS

from peers.player import Entry
from peers.running import Found, Runner
from peers.store import Run

TRIALS = 2  # seeds on which the constants of a grid are tried
TRIAL_SHARE = 0.5  # of the time that a line has, for a trial of constants


@dataclass(frozen=True)
class Size:
    """How long the runs are, and how many of them."""

    steps: int
    seeds: int
    grid: bool


def play(runner: Runner, entries: Sequence[Entry], keys: Sequence[str], size: Size) -> Found:
    """Run everything: all defaults, then what else is tried, then the best of it on all seeds."""
    found = runner.run(defaults(entries, keys, size))
    if size.grid:
        found += runner.run(trials(entries, keys, size, found), TRIAL_SHARE)
        found += runner.run(confirmations(found, size))
    return found


def defaults(entries: Iterable[Entry], keys: Sequence[str], size: Size) -> list[Run]:
    return [
        Run(entry, {}, key, seed, size.steps)
        for seed in range(size.seeds)
        for key in keys
        for entry in entries
    ]


def trials(entries: Iterable[Entry], keys: Sequence[str], size: Size, found: Found) -> list[Run]:
    """Return the runs of other constants, on the paper's tasks, where defaults were not stopped."""
    stopped = {run.line for run, result in found if result["state"] != "done" and not run.seed}
    return [
        run
        for key in keys
        if key in KEYS
        for entry in entries
        for constants in entry.grid
        for seed in range(min(TRIALS, size.seeds))
        if (run := Run(entry, dict(constants), key, seed, size.steps)).default_line not in stopped
    ]


def confirmations(found: Found, size: Size) -> list[Run]:
    """Return, of each peer in each environment, the other seeds of the best constants."""
    return [
        Run(best.entry, best.constants, best.environment, seed, size.steps)
        for best in best_tried(found).values()
        if best.constants
        for seed in range(TRIALS, size.seeds)
    ]


def best_tried(found: Found) -> Mapping[str, Run]:
    """Return, by line at its defaults, a run of the constants that did best on the trial seeds.

    Constants that were tried on fewer seeds than the defaults are compared on those.
    """
    regrets: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    runs: dict[str, Run] = {}
    for run, result in found:
        if result["state"] == "done" and run.seed < TRIALS:
            regrets[run.default_line][run.line][run.seed] = result["regret"][str(run.steps)]
            runs.setdefault(run.line, run)
    return {
        default: runs[min(tried, key=lambda line: lead(tried[line], tried.get(default, {})))]
        for default, tried in regrets.items()
    }


def lead(regret: Mapping[int, float], default: Mapping[int, float]) -> float:
    """Return how much more regret there is than at the defaults, on the seeds of both."""
    both: list[Any] = sorted(regret.keys() & default.keys())
    return float(np.mean([regret[seed] - default[seed] for seed in both])) if both else np.inf
