"""Differences in regret between policies, paired seed by seed."""

import math
from dataclasses import dataclass, replace

import numpy as np

from banditree.studies.summary import Cell, Results, interval
from banditree.types import FloatArray

__all__ = ["Difference", "Span", "compare", "difference", "paired", "regret_between"]

NEGLIGIBLE = 0.05  # of the regret: a smaller difference does not count
MARGIN = 0.2  # of the regret: an interval that reaches further does not speak against a difference


@dataclass(frozen=True)
class Difference:
    """A mean over seeds of paired differences in regret.

    Attributes
    ----------
    mean, half
        The mean, and half of its 95 % interval; NaN for a single seed.
    scale
        The larger of the two regrets; 0 if there is none to measure the difference by.
    """

    mean: float
    half: float
    scale: float = 0.0

    @property
    def is_known(self) -> bool:
        """Whether there are seeds enough for an interval."""
        return not math.isnan(self.half)

    @property
    def share(self) -> float:
        """The size of the mean beside the larger of the two regrets."""
        return abs(self.mean) / self.scale if self.scale > 0 else math.inf

    @property
    def lower(self) -> bool | None:
        """Whether the first is lower, by a difference that counts; None if it cannot be said."""
        return self._beyond(-self.mean)

    @property
    def higher(self) -> bool | None:
        """Whether the first is higher, by a difference that counts; None if it cannot be said."""
        return self._beyond(self.mean)

    @property
    def equal(self) -> bool | None:
        """Whether neither is lower by a difference that counts; None if it cannot be said."""
        if self.lower or self.higher:
            return False
        return None if None in (self.lower, self.higher) else True

    def _beyond(self, mean: float) -> bool | None:
        """Return whether a mean counts as more than 0."""
        if mean > self.half and self.share >= NEGLIGIBLE:
            return True
        # A wide interval includes 0 for want of seeds, which is no evidence against a difference.
        return False if mean + self.half <= MARGIN * self.scale else None

    def __str__(self) -> str:
        if self.is_known:
            places = decimals(max(abs(self.mean), self.half))
            text = f"{signed(self.mean, places)} ± {self.half:,.{places}f}"
        else:
            text = signed(self.mean, decimals(self.mean))
        return text if math.isinf(self.share) else f"{text} ({percent(self.share)})"


def signed(value: float, places: int) -> str:
    """Return a number with its sign, to so many decimals.

    Examples
    --------
    >>> signed(-1234.56, 1)
    '−1,234.6'
    """
    return f"{value:+,.{places}f}".replace("-", "−")


def percent(share: float) -> str:
    """Return a share as text.

    Examples
    --------
    >>> percent(0.2)
    '20 %'
    """
    return f"{100 * share:.0f} %"


def decimals(value: float) -> int:
    """Return how many decimals show three digits of a value, one at least and six at most."""
    if value == 0 or not math.isfinite(value):
        return 1
    return min(6, max(1, 2 - math.floor(math.log10(abs(value)))))


def regret_between(cell: Cell, start: float, stop: float) -> FloatArray:
    """Return the regret of each seed between two shares of the steps.

    Examples
    --------
    >>> cell = Cell("a", {}, "e", (0,), np.array([5, 10]), np.array([[4.0, 6.0]]), 0.0)
    >>> regret_between(cell, 0.4, 1.0).tolist()
    [2.8]
    """
    steps = np.concatenate([[0.0], cell.steps])
    ends = np.array([start, stop]) * steps[-1]
    curves = np.hstack([np.zeros((len(cell.seeds), 1)), cell.curves])
    return np.array([np.diff(np.interp(ends, steps, curve))[0] for curve in curves])


def paired(first: Cell, second: Cell) -> tuple[Cell, Cell]:
    """Return two cells with the seeds that both have, in one order."""
    seeds = tuple(seed for seed in first.seeds if seed in second.seeds)
    kept = [
        replace(cell, seeds=seeds, curves=cell.curves[[cell.seeds.index(seed) for seed in seeds]])
        for cell in (first, second)
    ]
    return kept[0], kept[1]


def difference(values: FloatArray) -> Difference | None:
    """Return the mean of paired differences; None if there are none."""
    return Difference(*interval(values)) if len(values) else None


# Shares of the steps.
Span = tuple[float, float]
WHOLE: Span = (0.0, 1.0)
FIRST: Span = (0.0, 0.2)
MIDDLE: Span = (0.4, 0.6)
LAST: Span = (0.8, 1.0)
END: Span = (0.9, 1.0)


def compare(
    results: Results, first: Cell, second: Cell, span: Span = WHOLE, against: Span | None = None
) -> Difference | None:
    """Return how far the first cell's regret exceeds the second's; None without common seeds.

    Parameters
    ----------
    results
        For OfflineTree: where it was run, the scale is the regret beyond its.
    first, second
        Cells of one environment.
    span, against
        Which steps of the first and of the second, as shares of all; by default the same.
    """
    first, second = paired(first, second)
    spans = ((first, span), (second, against or span))
    own, other = (regret_between(cell, *steps) for cell, steps in spans)
    found = difference(own - other)
    if found is None:
        return None
    baseline = results.baseline(first.environment)
    larger = 0.0
    for cell, steps in spans:
        beyond = cell if baseline is None else cell.relative_to(baseline)
        if beyond.seeds:
            larger = max(larger, float(regret_between(beyond, *steps).mean()))
    return replace(found, scale=larger)
