"""What is believed of a leaf: Beta and normal-inverse-gamma laws, and the draws from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import banditree as bt
from banditree._core import Generator
from banditree.policies.posterior import Evidence, beta_law, student_law
from policies.laws import assert_distributed, assert_frequencies
from policies.tree_streams import ARMS, Stream, mixed_stream

REWARDS = st.floats(-1e3, 1e3)


def evidence_of(rewards: list[list[float]], overall: tuple[float, float]) -> Evidence:
    return Evidence(
        np.array([float(len(own)) for own in rewards]),
        np.array([float(sum(own)) for own in rewards]),
        np.array([np.var(own) * len(own) if own else 0.0 for own in rewards]),
        overall,
    )


# ---- the laws ----


def updated(rewards: list[float], overall: tuple[float, float]) -> tuple[float, float, float]:
    """Take in one reward after the other: the textbook update of a normal-inverse-gamma law."""
    mean, weight, shape, rate = overall[0], 1.0, 1.0, overall[1]
    for reward in rewards:
        rate += weight * (reward - mean) ** 2 / (2 * (weight + 1))
        mean = (weight * mean + reward) / (weight + 1)
        weight, shape = weight + 1, shape + 0.5
    return mean, np.sqrt(rate / (shape * weight)), 2 * shape


@given(st.lists(REWARDS, max_size=30), REWARDS, st.floats(1e-3, 1e6))
def test_the_student_law_is_the_textbook_update(
    rewards: list[float], centre: float, variance: float
) -> None:
    location, scale, freedom = student_law(evidence_of([rewards], (centre, variance)))
    expected = updated(rewards, (centre, variance))
    assert (location[0], scale[0], freedom[0]) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_a_leaf_without_rewards_has_the_law_of_all() -> None:
    location, scale, freedom = student_law(evidence_of([[]], (3.0, 4.0)))
    assert (location[0], scale[0], freedom[0]) == (3.0, 2.0, 2.0)


def test_the_beta_law_counts_shares_of_a_success() -> None:
    evidence = Evidence(np.array([4.0]), np.array([1.5]), np.array([0.0]), (0.0, 0.0))
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
    return Evidence(*leaves, (np.mean(stream.rewards), np.var(stream.rewards)))


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
