"""What is believed of a leaf: Beta and Student laws, and the draws from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import banditree as bt
from banditree._core import Generator
from banditree.policies.posterior import (
    Evidence,
    Overall,
    beta_law,
    effective_payoffs,
    student_law,
)
from policies.laws import assert_distributed, assert_frequencies
from policies.tree_streams import ARMS, Stream, mixed_stream

REWARDS = st.floats(-1e3, 1e3)


def evidence_of(rewards: list[list[float]], overall: Overall) -> Evidence:
    return Evidence(
        np.array([float(len(own)) for own in rewards]),
        np.array([float(sum(own)) for own in rewards]),
        np.array([np.var(own) * len(own) if own else 0.0 for own in rewards]),
        overall,
    )


# ---- the laws ----


def updated(rewards: list[float], overall: Overall) -> tuple[float, float]:
    """Take in one reward after the other: the textbook update of a normal-inverse-gamma law."""
    mean, weight, shape, rate = overall.mean, 1.0, 1.0, overall.variance
    for reward in rewards:
        rate += weight * (reward - mean) ** 2 / (2 * (weight + 1))
        mean = (weight * mean + reward) / (weight + 1)
        weight, shape = weight + 1, shape + 0.5
    return mean, np.sqrt(rate / (shape * weight))


@given(st.lists(REWARDS, max_size=30), REWARDS, st.floats(1e-3, 1e6))
def test_the_student_law_is_the_textbook_update(
    rewards: list[float], centre: float, variance: float
) -> None:
    """Far above the lowest reward all rewards are payoffs, and nothing is widened."""
    overall = Overall(centre, variance, -1e9, 1e9)
    location, scale, freedom = student_law(evidence_of([rewards], overall))
    expected = (*updated(rewards, overall), 2.0 + len(rewards))
    assert (location[0], scale[0], freedom[0]) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_a_leaf_without_rewards_has_the_law_of_all() -> None:
    location, scale, freedom = student_law(evidence_of([[]], Overall(3.0, 4.0, -1.0, 9.0)))
    assert (location[0], scale[0], freedom[0]) == (3.0, 2.0, 2.0)


@pytest.mark.parametrize("payoffs", [1, 3, 10])
def test_equal_payoffs_among_lowest_rewards_are_counted(payoffs: int) -> None:
    rewards = [5.0] * payoffs + [2.0] * 40
    overall = Overall(2.3, 1.0, 2.0, 30.0)
    assert effective_payoffs(evidence_of([rewards], overall))[0] == pytest.approx(payoffs)
    location, scale, freedom = student_law(evidence_of([rewards], overall))
    plain = updated(rewards, overall)
    assert location[0] == pytest.approx(plain[0])
    assert scale[0] ** 2 == pytest.approx(plain[1] ** 2 * (1 + 2 / payoffs - 2 / len(rewards)))
    assert freedom[0] == pytest.approx(2 + payoffs)


def test_what_never_paid_beside_noise_may_pay_much() -> None:
    overall = Overall(1.0, 0.5, 0.0, 2.0)
    rewards = [[0.0] * 9, [0.0, 2.0] * 8, [2.0] * 5, [0.0]]
    _, scale, freedom = student_law(evidence_of(rewards, overall))
    noise = 16 / (9 + 16 + 5 + 1)
    assert (scale[0], freedom[0]) == (pytest.approx(60 * np.sqrt(noise) / 10), 0.5)
    # Not what varies, what is constant above the lowest, or what was tried once.
    assert (freedom[1:] > 2).all()
    # Nor where nothing varies within an arm: there, constants are what rewards are.
    _, _, certain = student_law(evidence_of([[0.0] * 9, [2.0] * 5], overall))
    assert certain.tolist() == [11.0, 7.0]


def test_the_beta_law_counts_shares_of_a_success() -> None:
    evidence = Evidence(np.array([4.0]), np.array([1.5]), np.array([0.0]), Overall())
    assert [shape[0] for shape in beta_law(evidence, (2.0, 3.0))] == [3.5, 5.5]


# ---- the draws ----


def student_draws(law: Any, random: Generator) -> list[float]:
    """Draw for each arm a precision, then a mean of that precision."""
    values = []
    for location, scale, freedom in zip(*law, strict=True):
        gamma = random.gamma(freedom / 2, 1)[0]
        values.append(location + scale * np.sqrt(freedom / 2 / gamma) * random.normal(1)[0])
    return values


def learned(stream: Stream, **options: Any) -> bt.TreeHeuristic:
    policy = bt.TreeHeuristic(ARMS, seed=21, **options)
    policy.learn_many(stream.contexts, stream.arms, stream.rewards)
    return policy


def leaf_evidence(policy: bt.TreeHeuristic, context: Any, stream: Stream) -> Evidence:
    known = policy.explain(context)
    leaves = policy._core.evidence(policy._encoder.encode_one(context), np.arange(len(ARMS)))
    assert leaves[0].tolist() == [known[arm].n for arm in ARMS]
    assert (leaves[1] / leaves[0]).tolist() == pytest.approx([known[arm].mean for arm in ARMS])
    given_rewards = stream.rewards
    overall = (f(given_rewards) for f in (np.mean, np.var, min, max))
    return Evidence(*leaves, Overall(*overall))


def test_continuous_draws_are_student() -> None:
    """The decisions are those of draws written here, and these have Student's law."""
    stream = mixed_stream(150, "continuous")
    policy, context = learned(stream, reward="continuous"), {"age": 60, "size": 0.3}
    law = student_law(leaf_evidence(policy, context, stream))
    random = Generator(21)
    draws = np.array([student_draws(law, random) for _ in range(5_000)])
    expected = [ARMS[i] for i in draws.argmax(axis=1)]
    assert policy.decide_many([context] * 5_000) == expected
    assert policy._random.state == random.state
    for sample, location, scale, freedom in zip(draws.T, *law, strict=True):
        assert_distributed(sample, stats.t(freedom, location, scale).cdf)


def test_binary_draws_are_beta() -> None:
    stream = mixed_stream(150)
    policy, context = learned(stream), {"age": 60, "size": 0.3}
    law = beta_law(leaf_evidence(policy, context, stream), (1.0, 1.0))
    random = Generator(21)
    draws = np.array(
        [[random.beta(a, b, 1)[0] for a, b in zip(*law, strict=True)] for _ in range(5_000)]
    )
    assert policy.decide_many([context] * 5_000) == [ARMS[i] for i in draws.argmax(axis=1)]
    for sample, a, b in zip(draws.T, *law, strict=True):
        assert_distributed(sample, stats.beta(a, b).cdf)


def student_wins(law: Any) -> list[float]:
    laws = [
        stats.t(freedom, location, scale) for location, scale, freedom in zip(*law, strict=True)
    ]
    tails = [10.0**-k for k in range(1, 9)] + [1 - 10.0**-k for k in range(1, 9)]
    wins = []
    for i, own in enumerate(laws):
        others = laws[:i] + laws[i + 1 :]
        integral, _ = integrate.quad(
            lambda u, own=own, others=others: np.prod([o.cdf(own.ppf(u)) for o in others]),
            0,
            1,
            epsabs=1e-9,
            limit=200,
            points=tails,
        )
        wins.append(integral)
    return wins


@pytest.mark.parametrize("context", [{"age": 60}, {"age": 20, "member": True}, {}], ids=str)
def test_continuous_propensities_are_those_of_the_law(context: Any) -> None:
    stream = mixed_stream(150, "continuous")
    policy = learned(stream, reward="continuous")
    found = policy.propensities(context)
    law = student_law(leaf_evidence(policy, context, stream))
    assert list(found.values()) == pytest.approx(student_wins(law), abs=1e-7)
    assert_frequencies(policy.decide_many([context] * 20_000), found)


def test_before_any_reward_all_arms_are_alike() -> None:
    for reward in ("binary", "continuous"):
        policy = bt.TreeHeuristic(ARMS, reward=reward, seed=1)
        thirds = dict.fromkeys(ARMS, 1 / 3)
        assert policy.propensities({}) == pytest.approx(thirds)
        assert_frequencies(policy.decide_many([{}] * 3_000), thirds)


# ---- units of the reward ----


@settings(max_examples=25)
@given(st.floats(1e-3, 1e3), st.floats(-1e3, 1e3), st.integers(0, 9))
def test_the_unit_of_the_reward_is_nothing(scale: float, shift: float, seed: int) -> None:
    stream = mixed_stream(60, "continuous", seed)
    other = Stream(
        stream.contexts, stream.arms, [scale * r + shift for r in stream.rewards], stream.others
    )
    policy, same = learned(stream, reward="continuous"), learned(other, reward="continuous")
    for context in stream.others:
        assert same.propensities(context) == pytest.approx(policy.propensities(context), abs=1e-6)
    assert same.decide_many(stream.contexts) == policy.decide_many(stream.contexts)


# ---- arms that pay rarely ----

RARE = {  # of the arms A and B: how much they pay, and with which probability
    "100 in 2 % against 10 in 10 %": {"A": (100.0, 0.02), "B": (10.0, 0.1)},
    "200 in 1.5 % against 2 in 80 %": {"A": (200.0, 0.015), "B": (2.0, 0.8)},
}


def share_of_a(policy: Any, world: dict[str, tuple[float, float]], contexts: bool) -> float:
    """Play 4,000 steps, and return how often A, which is better, was drawn in the last 500."""
    random = np.random.default_rng(policy.seed + 1_000)
    chosen = []
    for _ in range(4_000):
        noise = {"x": float(random.normal()), "city": "abcdefgh"[random.integers(8)]}
        context = noise if contexts else {}
        chosen.append(policy.decide(context))
        amount, chance = world[chosen[-1]]
        policy.learn(context, chosen[-1], amount * (random.random() < chance))
    return chosen[-500:].count("A") / 500


@pytest.mark.slow
@pytest.mark.parametrize("world", RARE)
@pytest.mark.parametrize("make", [bt.ThompsonSampling, bt.TreeHeuristic])
def test_arms_that_pay_rarely_are_not_given_up(make: Any, world: str) -> None:
    policies = [make(["A", "B"], reward="continuous", seed=seed) for seed in range(12)]
    shares = [share_of_a(policy, RARE[world], contexts=False) for policy in policies]
    assert sum(share > 0.5 for share in shares) >= 11, shares


@pytest.mark.slow
@pytest.mark.parametrize(("world", "least"), list(zip(RARE, (11, 10), strict=True)))
def test_arms_that_pay_rarely_are_not_given_up_for_noise(world: str, least: int) -> None:
    """Contexts that say nothing divide the few payoffs among leaves."""
    policies = [bt.TreeHeuristic(["A", "B"], reward="continuous", seed=i) for i in range(12)]
    shares = [share_of_a(policy, RARE[world], contexts=True) for policy in policies]
    assert sum(share > 0.5 for share in shares) >= least, shares


def test_zeros_do_not_end_an_arm() -> None:
    """Sixty zeros, beside an arm that pays often, still leave an arm worth a try now and then."""
    for make in (bt.ThompsonSampling, bt.TreeHeuristic):
        policy = make(["A", "B"], reward="continuous", seed=4)
        policy.learn_many([{}] * 60, ["A"] * 60, [0.0] * 60)
        policy.learn_many([{}] * 500, ["B"] * 500, ([2.0] * 4 + [0.0]) * 100)
        found = policy.propensities({})
        assert 0.05 < found["A"] < 0.3
        assert_frequencies(policy.decide_many([{}] * 20_000), found)
        # One payoff, and the arm is the better one in the mean, but not for sure.
        policy.learn({}, "A", 200.0)
        assert 0.6 < policy.propensities({})["A"] < 0.99


@pytest.mark.parametrize("largest", [1e30, 1e-300])
def test_laws_of_huge_and_tiny_rewards_are_numbers(largest: float) -> None:
    for make in (bt.ThompsonSampling, bt.TreeHeuristic):
        policy = make(["A", "B", "C"], reward="continuous", seed=4)
        policy.learn_many([{}] * 6, ["A", "A", "A", "B", "B", "C"], [-largest] * 4 + [largest] * 2)
        found = policy.propensities({})
        assert sum(found.values()) == pytest.approx(1)
        assert_frequencies(policy.decide_many([{}] * 2_000), found)


def test_rounding_of_large_rewards_does_not_leave_their_range() -> None:
    n, total = np.array([3.0, 2.0]), np.array([1e200, 1e-320])
    overall = Overall(1e-320, 1e-320, lowest=0.0, highest=1e-310)
    found = effective_payoffs(Evidence(n, total, np.array([1e100, 1e-320]), overall))
    assert ((found >= 0) & (found <= n)).all()


@pytest.mark.parametrize(
    "make", [bt.ThompsonSampling, bt.TreeHeuristic, bt.Greedy, bt.OnlineTreeBootstrap]
)
def test_continuous_rewards_have_no_prior_successes(make: Any) -> None:
    with pytest.raises(bt.InvalidParameterError, match="which continuous rewards do not have"):
        make(["A"], reward="continuous", prior=(2, 1))
    make(["A"], reward="continuous", prior=(1, 1))
