"""When to trust an estimate, and why not."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np

from banditree.evaluation.estimators import Estimated
from banditree.evaluation.evidence import Evidence
from banditree.evaluation.health import Health
from banditree.types import Arm, FloatArray

__all__ = ["VERDICTS", "Verdict", "effective", "judge", "judge_rows"]

Verdict: TypeAlias = Literal["trust", "with care", "do not trust"]
VERDICTS: tuple[Verdict, ...] = ("trust", "with care", "do not trust")

# Below the first of these an estimate is not to be trusted, below the second with care.
EFFECTIVE = 100, 1000
PAID = 5, 30  # rows that count and paid otherwise than most
# Above the first of these it is not to be trusted, above the second with care.
HEAVIEST = 0.1, 0.02  # a single row's share of all weights
MISSING = 0.05, 0.0  # decisions that the log does not reach, among those of its arms
BEYOND = 0.01, 0.0  # decisions for arms that the log does not have
FEW = 5  # rows of an arm, as many as of equal weight, say nothing of it
ERRORS, DIFFERENCE = 4.0, 0.01


def effective(weights: FloatArray | None, n: int) -> float:
    """Return how many equally weighted rows the weights are worth.

    Examples
    --------
    >>> effective(np.array([1.0, 1.0, 0.0, 0.0]), 4)
    2.0
    """
    if weights is None:
        return float(n)
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def judge(
    name: str, given: Evidence, found: Estimated, health: Health, width: float
) -> tuple[Verdict, tuple[str, ...]]:
    """Return whether an estimate can be trusted, and what speaks against it.

    Parameters
    ----------
    name, given, found, health
        The estimator, the evidence, the estimate, and the health of the log.
    width
        Of the interval.
    """
    faults = [*_of_propensities(given, found, health), *_of_overlap(given, name)]
    faults += _of_unknown(given, width)
    if found.weights is not None:
        faults += _of_weights(found.weights, given.rewards)
    if name == "dm":
        faults.append((1, "it rests on the model alone"))
    return _worst(faults)


def judge_rows(rewards: FloatArray, health: Health) -> tuple[Verdict, tuple[str, ...]]:
    """Return whether the mean reward of rows that count can be trusted."""
    faults = [*_of_health(health), *_of_weights(np.ones(len(rewards)), rewards)]
    return _worst(faults)


def _worst(faults: "Faults") -> tuple[Verdict, tuple[str, ...]]:
    worst = max((grade for grade, _ in faults), default=0)
    return VERDICTS[worst], tuple(text for _, text in sorted(faults, key=lambda f: -f[0]))


Faults: TypeAlias = list[tuple[int, str]]


def _above(value: float, limits: tuple[float, float]) -> int:
    return 2 if value > limits[0] else int(value > limits[1])


def _below(value: float, limits: tuple[int, int]) -> int:
    return 2 if value < limits[0] else int(value < limits[1])


def _of_overlap(given: Evidence, name: str) -> Faults:
    faults: Faults = []
    others = {arm: o.missing for arm, o in given.overlap.items() if o.missing and not o.logged}
    short = {arm: o.missing for arm, o in given.overlap.items() if o.missing and o.logged}
    if others:
        grade = _above(sum(others.values()), BEYOND)
        faults.append((grade, f"the log never offers what it would: {_listed(others)}"))
    if short:
        # Where the log does not reach, what has a model is left with the model.
        grade = _above(sum(short.values()), MISSING)
        grade = grade if name in ("ips", "snips") else min(grade, 1)
        faults.append(
            (grade, f"the log could not have offered what it would, in part: {_listed(short)}")
        )
    return faults


def _of_unknown(given: Evidence, width: float) -> Faults:
    """Say of which arms a few rows tell all, if that could matter: intervals do not know of it."""
    low, high = given.reward_range
    few = {
        arm: o.wanted
        for arm, o in given.overlap.items()
        if o.logged and o.effective_n < FEW and not o.missing
    }
    if sum(few.values()) * (high - low) <= width / 2:
        return []
    return [(1, f"fewer than {FEW} rows tell of what it would offer: {_listed(few)}")]


def _listed(shares: Mapping[Arm, float]) -> str:
    largest = sorted(shares.items(), key=lambda pair: -pair[1])[:5]
    return ", ".join(f"{arm!r} in {share:.1%} of the decisions" for arm, share in largest)


def _of_propensities(given: Evidence, found: Estimated, health: Health) -> Faults:
    if found.weights is None or not given.overlap:
        return []
    faults = _of_health(health)
    mean = float(given.weights.mean())
    error = float(given.weights.std() / np.sqrt(len(given)))
    if mean > 1 + max(ERRORS * error, DIFFERENCE) and not health.wrong:
        text = f"the weights have a mean of {mean:.3f} ± {error:.3f} instead of 1"
        faults.append((2, f"{text}: the propensities are wrong"))
    return faults


def _of_health(health: Health) -> Faults:
    faults: Faults = []
    if health.wrong:
        arms = ", ".join(map(repr, health.wrong[:5]))
        faults.append((2, f"the propensities are wrong, at least of {arms}: see the log's health"))
    if health.estimated:
        faults.append((1, "the propensities were estimated, since the log has none"))
    return faults


def _of_weights(weights: FloatArray, rewards: FloatArray) -> Faults:
    faults: Faults = []
    n = effective(weights, len(weights))
    if grade := _below(n, EFFECTIVE):
        faults.append((grade, f"it rests on few rows: as many as {n:,.0f} of equal weight"))
    total = float(weights.sum())
    share = float(weights.max()) / total if total > 0 else 1.0
    if grade := _above(share, HEAVIEST):
        faults.append((grade, f"a single row has {share:.0%} of all weight"))
    counted = rewards[weights > 0]
    if len(counted):
        rest = int(np.count_nonzero(counted != np.median(counted)))
        if grade := _below(rest, PAID):
            faults.append((grade, f"only {rest} of the rows that count paid other than most"))
    return faults
