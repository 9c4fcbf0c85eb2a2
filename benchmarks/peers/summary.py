"""From single runs to the lines of the tables."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from peers.player import Entry
from peers.store import Run

Result = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A peer with certain constants in an environment, all seeds together."""

    entry: Entry
    environment: str
    constants: dict[str, Any]
    results: list[Result]  # finished ones
    trouble: str = ""  # why there are none

    @property
    def complete(self) -> bool:
        return bool(self.results) and not self.trouble

    def regret(self, mark: int) -> tuple[float, float]:
        """Return mean and standard error; the latter NaN of one seed."""
        found = np.array([result["regret"][str(mark)] for result in self.results])
        error = found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
        return float(found.mean()), float(error)

    def time(self, what: str, which: int) -> float:
        return float(np.mean([result[what][which] for result in self.results]))

    @property
    def micro_per_step(self) -> float:
        return self.time("decide", 2) + self.time("learn", 2)

    @property
    def peak(self) -> float:
        return max(result["peak"] for result in self.results) / 2**20


def lines_of(found: Sequence[tuple[Run, Result]]) -> list[Line]:
    """Return a line for each peer, constants and environment, in the order of the runs."""
    groups: dict[tuple[str, str, str], list[tuple[Run, Result]]] = defaultdict(list)
    for run, result in found:
        groups[run.environment, run.entry.name, json.dumps(run.constants)].append((run, result))
    return [line_of([run for run, _ in g], [result for _, result in g]) for g in groups.values()]


def line_of(runs: list[Run], results: list[Result]) -> Line:
    done = [result for result in results if result["state"] == "done"]
    trouble = next((t for t in map(trouble_of, runs, results) if t), "")
    return Line(runs[0].entry, runs[0].environment, runs[0].constants, done, trouble)


def trouble_of(run: Run, result: Result) -> str:
    if result["state"] == "over":
        return f"over {result['limit']:g} s, at step {result['done']:,} of {run.steps:,}"
    if result["state"] == "failed":
        return f"failed: {result['error']}"
    return ""


@dataclass(frozen=True)
class Pair:
    """What a peer has at its defaults, and at the best constants tried, known in hindsight."""

    default: Line
    best: Line


def pairs_of(lines: Sequence[Line], steps: int) -> dict[str, dict[str, Pair]]:
    """Return, by environment and by peer, the defaults and the best, in the order of the lines."""
    groups: dict[str, dict[str, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        groups[line.environment][line.entry.name].append(line)
    return {
        environment: {name: pair_of(tried, steps) for name, tried in peers.items()}
        for environment, peers in groups.items()
    }


def pair_of(tried: Sequence[Line], steps: int) -> Pair:
    complete = [line for line in tried if line.complete]
    best = min(complete, key=lambda line: line.regret(steps)[0], default=tried[0])
    return Pair(tried[0], best)
