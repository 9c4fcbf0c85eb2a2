"""Exact laws of a decision where contexts say nothing, and how frequencies are held against them.

The largest of some draws, one per arm: Beta draws by Gauss-Legendre quadrature, which is exact for
whole shapes; binomial shares by summing over all outcomes, ties shared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

# A true law is farther away than this once in millions of tests; seeds are fixed besides.
STANDARD_ERRORS = 5


def assert_frequencies(decisions: Sequence[Any], probabilities: dict[Any, float]) -> None:
    """Check that every arm was drawn as often as it should be, within the standard error."""
    n = len(decisions)
    assert set(decisions) <= set(probabilities)
    for arm, probability in probabilities.items():
        error = np.sqrt(probability * (1 - probability) / n)
        frequency = sum(decision == arm for decision in decisions) / n
        assert abs(frequency - probability) <= STANDARD_ERRORS * error + 1e-12, (arm, probability)


def assert_distributed(sample: Any, cdf: Callable[[Any], Any]) -> None:
    """Check by Kolmogorov and Smirnov's distance, which exceeds this once in 100,000 samples."""
    distance = stats.kstest(sample, cdf).statistic
    assert distance < stats.kstwobign.isf(1e-5) / np.sqrt(len(sample))


def beta_wins(laws: Sequence[tuple[float, float]], nodes: int = 300) -> np.ndarray:
    """Return the probability that each Beta(a, b) draw is the largest."""
    ends = np.array([stats.beta.ppf([1e-17, 1 - 1e-16], *law) for law in laws])
    low, high = ends[:, 0].min(), ends[:, 1].max()
    at, weight = _legendre(nodes)
    x, weight = low + (high - low) * (at + 1) / 2, weight * (high - low) / 2
    below = np.array([stats.beta.cdf(x, *law) for law in laws])
    density = np.array([stats.beta.pdf(x, *law) for law in laws])
    others = [np.delete(below, i, axis=0).prod(axis=0) for i in range(len(laws))]
    return np.array([(weight * density[i] * others[i]).sum() for i in range(len(laws))])


@cache
def _legendre(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(nodes)


def binomial_wins(arms: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return the probability that each arm's share of successes in a resample is the largest.

    An arm is (successes, failures): its share is Binomial(n, successes / n) / n.
    """
    return np.array(
        [_wins(arm, [*arms[:i], *arms[i + 1 :]]) for i, arm in enumerate(arms)], dtype=np.float64
    )


def _wins(arm: tuple[int, int], others: Sequence[tuple[int, int]]) -> float:
    n = sum(arm)
    outcomes = np.arange(n + 1)
    ties = np.ones((1, n + 1))  # row m: m of the others tie, the rest are below
    for other in others:
        below, equal = _against(outcomes, n, other)
        ties = np.vstack([ties * below, np.zeros(n + 1)]) + np.vstack(
            [np.zeros(n + 1), ties * equal]
        )
    shared = (ties / np.arange(1, len(ties) + 1)[:, None]).sum(axis=0)
    return float((stats.binom.pmf(outcomes, n, arm[0] / n) * shared).sum())


def _against(outcomes: np.ndarray, n: int, other: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return how likely the other share is below, and how likely equal to, each outcome / n."""
    size = sum(other)
    scaled = outcomes * size
    law = stats.binom(size, other[0] / size)
    equal = np.where(scaled % n == 0, law.pmf(scaled // n), 0.0)
    return law.cdf(-(-scaled // n) - 1), equal
