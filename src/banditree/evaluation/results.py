"""What an evaluation comes to."""

from dataclasses import dataclass

from banditree.evaluation.evidence import Overlap
from banditree.evaluation.health import Health
from banditree.evaluation.intervals import Interval
from banditree.evaluation.verdicts import Verdict
from banditree.signs import for_terminal
from banditree.types import Arm

__all__ = ["LOGGED", "Comparison", "Difference", "Estimate", "Evaluation"]

LOGGED = "logged"
"""What who made the log is called in comparisons."""


@dataclass(frozen=True)
class Estimate:
    """What somebody would have earned per decision, as estimated.

    Attributes
    ----------
    value
        The estimate.
    low, high
        Its interval.
    effective_n
        As many rows of equal weight it rests on.
    largest_weight
        Of the rows; 0 for an estimator that uses none.
    verdict
        "trust", "with care" or "do not trust".
    reasons
        What speaks against it, the worst first.
    """

    value: float
    low: float
    high: float
    effective_n: float
    largest_weight: float
    verdict: Verdict
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Difference:
    """By how much one earns more than another per decision, on the same rows."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return for_terminal(f"{self.value:+.4f} ({self.low:+.4f} to {self.high:+.4f})")


@dataclass(frozen=True)
class Evaluation:
    """What a log says of somebody.

    Attributes
    ----------
    name
        Whom.
    estimates
        By estimator: "ips", "snips", "dm", "dr" and "switch-dr".
    overlap
        Of each arm, how far the log reaches where it would go.
    health
        Of the log.
    interval, level
        How intervals were made, and with which probability they hold.
    """

    name: str
    estimates: dict[str, Estimate]
    overlap: dict[Arm, Overlap]
    health: Health
    interval: Interval
    level: float

    def __str__(self) -> str:
        head = [f"{self.level:.0%} interval", "effective rows", "verdict"]
        rows = [["", "value", *head]]
        rows += [[name, *_cells(found)] for name, found in self.estimates.items()]
        reasons = {r: None for found in self.estimates.values() for r in found.reasons}
        lines = [f"{self.name}, on {self.health.n_rows:,} rows", aligned(rows)]
        return for_terminal("\n".join([*lines, *(f"! {reason}" for reason in reasons)]))


@dataclass(frozen=True)
class Comparison:
    """What a log says of several, and of who made it.

    Attributes
    ----------
    evaluations
        Of each, by name; "logged" is who made the log.
    differences
        Of each two, by estimator: by how much the first earns more than the second.
    """

    evaluations: dict[str, Evaluation]
    differences: dict[tuple[str, str], dict[str, Difference]]

    def difference(self, first: str, second: str = LOGGED, *, estimator: str = "dr") -> Difference:
        """Return by how much one earns more than another, by an estimator."""
        return self.differences[first, second][estimator]

    def table(self, estimator: str = "dr") -> list[list[str]]:
        """Return a row for each, the best first, as text; the header is the first row."""
        ranked = sorted(
            self.evaluations.items(), key=lambda pair: -_or_least(pair[1].estimates[estimator])
        )
        level = next(iter(self.evaluations.values())).level
        interval = f"{level:.0%} interval"
        rows = [["", "value", interval, "effective rows", "verdict", f"beyond {LOGGED}", interval]]
        for name, found in ranked:
            cells = ["", ""]
            if name != LOGGED:
                more = self.difference(name, estimator=estimator)
                cells = [f"{more.value:+.4f}", f"{more.low:+.4f} to {more.high:+.4f}"]
            rows.append([name, *_cells(found.estimates[estimator]), *cells])
        return rows

    def __str__(self) -> str:
        lines = [aligned(self.table())]
        for name, found in self.evaluations.items():
            lines += [f"! {name}: {reason}" for reason in found.estimates["dr"].reasons]
        return for_terminal("\n".join(lines))


def _or_least(found: Estimate) -> float:
    return found.value if found.value == found.value else float("-inf")


def _cells(found: Estimate) -> list[str]:
    interval = f"{found.low:.4f} to {found.high:.4f}"
    return [f"{found.value:.4f}", interval, f"{found.effective_n:,.0f}", found.verdict]


def aligned(rows: list[list[str]]) -> str:
    """Return a table as text: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)
