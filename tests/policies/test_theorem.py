"""Theorem 1 of the paper: the bootstrap chooses as Thompson sampling does, up to Σ 1 / √n.

Both choice probabilities are computed exactly from successes and failures: the bootstrap's from
binomial laws, Thompson sampling's from Beta(successes, failures). The policies must have them. With
its made-up success and failure, TreeBootstrap resamples one of each more than it was taught, and
ThompsonSampling's uniform prior adds the same to its Beta law; so the two, taught the same log, are
the two algorithms of the theorem on the same (n, p).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import banditree as bt
from policies.laws import assert_frequencies, beta_wins, binomial_wins

Arms = list[tuple[int, int]]  # successes and failures of each arm

# Shares p of successes in tenths, and how large the arms are beside each other.
ALIKE = [((2, 2, 2), (1, 2, 4)), ((1, 1), (1, 3)), ((3, 3, 4, 4), (1, 2, 3, 1))]
APART = [((1, 2), (1, 1)), ((3, 5), (1, 1)), ((2, 3, 5), (2, 1, 1))]
SIZES = [20 * 2**k for k in range(8)]


def arms_of(n: int, tenths: tuple[int, ...], sizes: tuple[int, ...]) -> Arms:
    totals = [n * size for size in sizes]
    return [(t * p // 10, t - t * p // 10) for t, p in zip(totals, tenths, strict=True)]


def difference(arms: Arms) -> float:
    bootstrap, thompson = binomial_wins(arms), beta_wins(arms, nodes=400)
    assert bootstrap.sum() == pytest.approx(1, abs=1e-9)
    assert thompson.sum() == pytest.approx(1, abs=1e-9)
    return float(np.abs(bootstrap - thompson).max())


@pytest.mark.parametrize(("tenths", "sizes"), [*ALIKE, *APART], ids=str)
def test_the_difference_is_bounded_by_the_sum_of_inverse_roots(
    tenths: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    constants = []
    for n in SIZES:
        roots = sum(1 / np.sqrt(n * size) for size in sizes)
        constants.append(difference(arms_of(n, tenths, sizes)) / roots)
    # C depends on p only: what the small arms need is enough for those a hundred times as large.
    assert max(constants[4:]) <= 1.02 * max(constants[:4])
    assert 0 < max(constants) < 0.1


@pytest.mark.parametrize(("tenths", "sizes"), ALIKE, ids=str)
def test_where_the_arms_are_alike_the_rate_is_that_of_the_theorem(
    tenths: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    """Shares that differ are told apart exponentially fast; equal ones show the square root."""
    large = SIZES[3:]
    differences = [difference(arms_of(n, tenths, sizes)) for n in large]
    slope = np.polyfit(np.log(large), np.log(differences), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.05)


@pytest.mark.parametrize(("tenths", "sizes"), APART, ids=str)
def test_where_the_arms_are_apart_the_rate_is_steeper(
    tenths: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    differences = [difference(arms_of(n, tenths, sizes)) for n in SIZES[:4]]
    slope = np.polyfit(np.log(SIZES[:4]), np.log(differences), 1)[0]
    assert slope < -0.6


def taught(policy: Any, arms: Arms) -> Any:
    """Teach all but the success and the failure that the policy starts with."""
    for arm, (wins, losses) in enumerate(arms):
        rewards = [1] * (wins - 1) + [0] * (losses - 1)
        policy.learn_many([{}] * len(rewards), [arm] * len(rewards), rewards)
    return policy


POLICY_CASES = [
    (10, (1, 1), (1, 3)),
    (40, (1, 1), (1, 3)),
    (20, (2, 2, 2), (1, 2, 4)),
    (20, (1, 2), (1, 1)),
    (10, (3, 3, 4, 4), (1, 2, 3, 1)),
]


@pytest.mark.parametrize(("n", "tenths", "sizes"), POLICY_CASES)
def test_the_policies_have_these_probabilities(
    n: int, tenths: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    arms = arms_of(n, tenths, sizes)
    bootstrap = taught(bt.TreeBootstrap(range(len(arms)), seed=11), arms)
    thompson = taught(bt.ThompsonSampling(range(len(arms)), seed=11), arms)
    heuristic = taught(bt.TreeHeuristic(range(len(arms)), seed=11), arms)
    exact = beta_wins(arms)
    assert list(thompson.propensities({}).values()) == pytest.approx(exact, abs=1e-9)
    assert list(heuristic.propensities({}).values()) == pytest.approx(exact, abs=1e-9)
    decisions = bootstrap.decide_many([{}] * 40_000)
    assert_frequencies(decisions, dict(enumerate(binomial_wins(arms))))
    assert_frequencies(thompson.decide_many([{}] * 5_000), dict(enumerate(exact)))


def test_so_many_decisions_tell_the_two_algorithms_apart() -> None:
    """The bootstrap on the smallest arms is not Thompson sampling, and the test above sees it."""
    arms = arms_of(10, (1, 1), (1, 3))
    decisions = taught(bt.TreeBootstrap([0, 1], seed=12), arms).decide_many([{}] * 100_000)
    assert_frequencies(decisions, dict(enumerate(binomial_wins(arms))))
    with pytest.raises(AssertionError):
        assert_frequencies(decisions, dict(enumerate(beta_wins(arms))))
