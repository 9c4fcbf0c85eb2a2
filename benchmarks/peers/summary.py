"""From single runs to the lines of the tables."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from peers.planning import best_tried
from peers.player import Entry
from peers.running import Found, Result


@dataclass(frozen=True)
class Line:
    """A peer with certain constants in an environment, all seeds together."""

    entry: Entry
    constants: dict[str, Any]
    steps: int
    results: list[Result]  # of the seeds that were played to the end
    stopped: Result | None = None  # of one that was not
    failure: str = ""

    @property
    def complete(self) -> bool:
        return bool(self.results) and not self.stopped and not self.failure

    @property
    def played(self) -> bool:
        return bool(self.results or self.stopped or self.failure)

    def regret(self, mark: int) -> tuple[float, float] | None:
        """Return mean and standard error, NaN of one seed; None if it did not come so far."""
        results = [self.stopped] if self.stopped else self.results
        found = np.array([r["regret"][str(mark)] for r in results if str(mark) in r["regret"]])
        if not len(found):
            return None
        error = found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
        return float(found.mean()), float(error)

    @property
    def total(self) -> float:
        """The mean regret after all steps; infinite where it did not come so far."""
        final = self.regret(self.steps) if self.complete else None
        return final[0] if final else np.inf


@dataclass(frozen=True)
class Pair:
    """What a peer has at its defaults, and at the best of the constants tried."""

    default: Line
    best: Line


def pairs_of(found: Found) -> dict[str, dict[str, Pair]]:
    """Return, by environment and by peer, the defaults and the best, in the order of the runs."""
    groups: dict[str, Found] = defaultdict(list)
    for run, result in found:
        groups[run.line].append((run, result))
    best = best_tried(found)
    pairs: dict[str, dict[str, Pair]] = defaultdict(dict)
    for name, group in groups.items():
        run = group[0][0]
        if run.constants:
            continue
        default = line_of(group)
        chosen = line_of(groups[best[name].line]) if name in best else default
        pairs[run.environment][run.entry.name] = Pair(
            default, chosen if chosen.total < default.total else default
        )
    return pairs


def line_of(group: Found) -> Line:
    run = group[0][0]
    results = [result for _, result in group]
    done = [result for result in results if result["state"] == "done"]
    stopped = next((result for result in results if result["state"] == "over"), None)
    failure = next((r["error"] for r in results if r["state"] == "failed"), "")
    return Line(run.entry, run.constants, run.steps, done, stopped, failure)
