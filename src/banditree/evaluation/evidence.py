"""What a log says of somebody, row by row: weights, and what the reward model adds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from banditree.evaluation.cross_fitting import chunks
from banditree.evaluation.log import Log
from banditree.evaluation.reward_model import RewardModel
from banditree.evaluation.targets import Bound
from banditree.types import Arm, FloatArray

__all__ = ["Advance", "Evidence", "Overlap", "gather", "of_the_log"]

Advance = Callable[[int], None]
# Of arms whose weights fall short: by so many standard errors, and by so much, at least.
ERRORS, DIFFERENCE = 4.0, 0.005


@dataclass(frozen=True)
class Overlap:
    """How far the log reaches where a policy goes.

    Attributes
    ----------
    logged, wanted
        The share of the rows in which the arm was offered, and the one in which the policy would.
    covered
        The share of the policy's in which the log could have offered it too, as estimated: the mean
        weight of the arm, divided by `wanted`. NaN if the policy never wants it.
    missing
        By how much of all decisions the log falls short; 0 unless that is beyond chance.
    effective_n
        As many rows of equal weight tell what the arm earns where the policy wants it.
    """

    logged: float
    wanted: float
    covered: float
    missing: float
    effective_n: float


@dataclass(eq=False)
class Evidence:
    """What the estimators need of somebody, each an array with a number per row.

    Attributes
    ----------
    rewards
        What was earned.
    weights
        The probability of the arm that was offered, divided by its propensity.
    fitted
        What the model expects of the arm that was offered.
    modelled
        What the model expects of whom is evaluated.
    overlap
        Of each arm.
    reward_range, weight_limit
        Between what rewards lie, and what no weight can exceed.
    """

    rewards: FloatArray
    weights: FloatArray
    fitted: FloatArray
    modelled: FloatArray
    reward_range: tuple[float, float]
    weight_limit: float
    overlap: dict[Arm, Overlap] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rewards)


class Gathering:
    """Evidence of somebody, while parts of the log are read."""

    def __init__(self, bound: Bound, log: Log, fitted: FloatArray) -> None:
        self._bound, self._log, n = bound, log, len(log)
        limit = 1 / float(log.propensities.min())
        self._evidence = Evidence(
            log.rewards, np.empty(n), fitted, np.empty(n), log.reward_range, limit
        )
        self._wanted = np.zeros(len(log.arms))
        self._beyond: dict[Arm, float] = {}

    def read(self, start: int, stop: int, expected: FloatArray) -> None:
        """Take in some rows, with what the model expects of each arm."""
        chances, beyond = self._bound.checked(start, stop)
        self.take(start, stop, expected, chances, beyond)

    def take(
        self,
        start: int,
        stop: int,
        expected: FloatArray,
        chances: FloatArray,
        beyond: dict[Arm, float],
    ) -> None:
        """Take in the probabilities in some rows."""
        mine = chances[np.arange(stop - start), self._log.chosen[start:stop]]
        self._evidence.weights[start:stop] = mine / self._log.propensities[start:stop]
        self._evidence.modelled[start:stop] = np.einsum("ij,ij->i", chances, expected)
        self._wanted += chances.sum(axis=0)
        for arm, chance in beyond.items():
            self._beyond[arm] = self._beyond.get(arm, 0.0) + chance

    def done(self) -> Evidence:
        """Return the evidence of all rows."""
        log, weights, n = self._log, self._evidence.weights, len(self._log)
        n_arms = len(log.arms)
        sums, squares, rows = (
            np.bincount(log.chosen, w, minlength=n_arms) for w in (weights, weights**2, None)
        )
        for i, arm in enumerate(log.arms):
            wanted, mean = float(self._wanted[i] / n), float(sums[i] / n)
            error = float(np.sqrt(max(squares[i] / n - mean**2, 0) / n))
            short = wanted - mean
            missing = short if short > max(ERRORS * error, DIFFERENCE) else 0.0
            covered = mean / wanted if wanted > 0 else float("nan")
            worth = float(sums[i] ** 2 / squares[i]) if squares[i] > 0 else 0.0
            known = Overlap(float(rows[i] / n), wanted, covered, missing, worth)
            self._evidence.overlap[arm] = known
        for arm, chance in self._beyond.items():
            if chance > 0:
                self._evidence.overlap[arm] = Overlap(0.0, chance / n, 0.0, chance / n, 0.0)
        return self._evidence


def gather(
    bounds: Sequence[Bound], log: Log, model: RewardModel, advance: Advance | None = None
) -> list[Evidence]:
    """Return the evidence of several at once, read part by part."""
    fitted = np.empty(len(log))
    gatherings = [Gathering(bound, log, fitted) for bound in bounds]
    for start, stop in chunks(len(log)):
        expected = model.predict(start, stop)
        fitted[start:stop] = expected[np.arange(stop - start), log.chosen[start:stop]]
        for gathering in gatherings:
            gathering.read(start, stop, expected)
        if advance is not None:
            advance(stop - start)
    return [gathering.done() for gathering in gatherings]


def of_the_log(log: Log) -> Evidence:
    """Return the evidence of who made the log: its rewards, as they are."""
    ones = np.broadcast_to(np.ones(1), len(log))
    return Evidence(log.rewards, ones, log.rewards, log.rewards, log.reward_range, 1.0)
