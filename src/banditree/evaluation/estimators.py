"""Estimators of what somebody would have earned.

Each is a mean over the rows, or a ratio of two means. With w the weight of a row, r its reward, q
what the model expects of the arm that was offered and m of whom is evaluated:

=========  ======================================================  =============================
ips        mean(w r)                                               inverse propensity
snips      mean(w r) / mean(w)                                     self-normalised
dm         mean(m)                                                 direct method: the model alone
dr         mean(m + w (r - q))                                     doubly robust
switch-dr  mean(m + w (r - q) where w is at most a limit, else m)  large weights give way to the
                                                                   model
=========  ======================================================  =============================
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from banditree.evaluation.evidence import Evidence
from banditree.types import FloatArray

__all__ = ["ESTIMATORS", "Estimated"]

LIMITS = 20  # of weights, that SWITCH chooses from


@dataclass(frozen=True, eq=False)
class Estimated:
    """An estimate, with what its interval follows from.

    Attributes
    ----------
    numerator, denominator
        The interval is around the ratio of their means; None for a denominator of 1.
    terms
        Returns unbiased summands: their mean has the expectation of that ratio. Row i may use what
        came before it.
    bounds
        Between what a term must lie.
    weights
        Those it used; None for none.
    slack
        By how much more the truth may differ, on either side.
    apart
        The estimate, if it is not the ratio itself.
    """

    numerator: FloatArray
    denominator: FloatArray | None
    terms: Callable[[], FloatArray]
    bounds: tuple[float, float]
    weights: FloatArray | None
    slack: float = 0.0
    apart: float | None = None

    @property
    def value(self) -> float:
        """The estimate."""
        return self.centre if self.apart is None else self.apart

    @property
    def centre(self) -> float:
        """What the interval is around."""
        below = 1.0 if self.denominator is None else float(self.denominator.mean())
        return float(self.numerator.mean()) / below if below > 0 else float("nan")

    def influence(self) -> FloatArray:
        """Return by how much each row moves the ratio, times the number of rows."""
        if self.denominator is None:
            return self.numerator - self.centre
        mean = float(self.denominator.mean())
        return (self.numerator - self.centre * self.denominator) / mean


def inverse_propensity(given: Evidence) -> Estimated:
    """Weigh each reward by how much likelier it would have been."""
    low, high = (given.weight_limit * bound for bound in given.reward_range)
    terms = given.weights * given.rewards
    return Estimated(terms, None, lambda: terms, (min(0.0, low), max(0.0, high)), given.weights)


def self_normalised(given: Evidence) -> Estimated:
    """Divide by the weights' mean, which is known to be 1 and varies as the numerator does."""
    low, high = given.reward_range
    width = given.weight_limit * (high - low)
    sums, bounds = given.weights * given.rewards, (high - width, low + width)
    return Estimated(sums, given.weights, lambda: _normalised_so_far(given), bounds, given.weights)


def _normalised_so_far(given: Evidence) -> FloatArray:
    """Return the terms of a doubly robust estimate whose model is the estimate so far."""
    low, high = given.reward_range
    weights, sums = given.weights, given.weights * given.rewards
    before, total = np.cumsum(sums) - sums, np.cumsum(weights) - weights
    so_far = np.full(len(sums), (low + high) / 2)
    np.divide(before, total, out=so_far, where=total > 0)
    np.clip(so_far, low, high, out=so_far)
    terms: FloatArray = so_far + weights * (given.rewards - so_far)
    return terms


def direct(given: Evidence) -> Estimated:
    """Trust the model.

    How wrong a model is, only its correction tells: the interval is that of the doubly robust
    estimate, and reaches to the estimate itself.
    """
    corrected = doubly_robust(given)
    return replace(corrected, weights=None, apart=float(given.modelled.mean()))


def doubly_robust(given: Evidence) -> Estimated:
    """Correct the model by what it missed where the log can tell."""
    terms = given.modelled + given.weights * (given.rewards - given.fitted)
    return Estimated(
        terms, None, lambda: terms, _corrected(given, given.weight_limit), given.weights
    )


def switch(given: Evidence) -> Estimated:
    """Correct the model but where weights are large: beyond a limit chosen from the data.

    The share of the decisions beyond the limit is known, but not by how much the model errs there:
    the interval is wider by that share of the range of rewards.
    """
    limit = switch_limit(given)
    kept = np.where(given.weights <= limit, given.weights, 0.0)
    low, high = given.reward_range
    slack = min(float(given.weights.mean() - kept.mean()), 1.0) * (high - low)
    terms = given.modelled + kept * (given.rewards - given.fitted)
    return Estimated(terms, None, lambda: terms, _corrected(given, limit), kept, slack)


def switch_limit(given: Evidence) -> float:
    """Return the limit of weights with the least squared error: variance and largest bias."""
    weights, n = given.weights, len(given)
    positive = weights[weights > 0]
    if not len(positive):
        return 0.0
    limits = np.geomspace(positive.min(), positive.max(), LIMITS)
    limits[-1] = positive.max()
    # Sums over the rows of weights up to each limit: first those from one limit to the next.
    step = np.searchsorted(limits, weights)

    def up_to(values: FloatArray) -> FloatArray:
        return np.cumsum(np.bincount(step, values, minlength=LIMITS))

    moved, model = weights * (given.rewards - given.fitted), given.modelled
    means = (up_to(moved) + model.sum()) / n
    squares = (up_to(moved * (moved + 2 * model)) + (model**2).sum()) / n
    sums = up_to(weights)
    low, high = given.reward_range
    beyond = (sums[-1] - sums) / n
    biases = (high - low) * np.minimum(beyond, 1.0)
    return float(limits[int(np.argmin((squares - means**2) / n + biases**2))])


def _corrected(given: Evidence, limit: float) -> tuple[float, float]:
    """Return between what the terms of a corrected model lie."""
    low, high = given.reward_range
    below, above = _span(given.fitted)
    least, most = _span(given.modelled)
    return least + limit * (low - above), most + limit * (high - below)


def _span(values: FloatArray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


ESTIMATORS: dict[str, Callable[[Evidence], Estimated]] = {
    "ips": inverse_propensity,
    "snips": self_normalised,
    "dm": direct,
    "dr": doubly_robust,
    "switch-dr": switch,
}
