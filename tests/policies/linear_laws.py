"""What both policies that fit linear models must do."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditree as bt
from policies.linear_streams import Observation

ARMS = ["a", "b"]


def assert_same_state(first: Any, second: Any) -> None:
    arrays, others = first._state(), second._state()
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert np.array_equal(array, others[name], equal_nan=True), name


def play(policy: Any, observation: Observation) -> Any:
    context, arm, reward = observation
    if arm not in policy.arms:
        policy.add_arm(arm)
    decided = policy.decide(context)
    policy.learn(context, arm, reward)
    return decided


def assert_goes_on_when_loaded(policy: Any, stream: Iterable[Observation], path: Path) -> None:
    loaded = pickle.loads(pickle.dumps(policy))
    for i, observation in enumerate(stream):
        if i in (1, 9, 70, 71, 130):  # on and between renewals
            policy.save(path)
            loaded = bt.load(path)
        assert play(policy, observation) == play(loaded, observation)
        assert_same_state(policy, loaded)


def assert_learns(policy: Any) -> None:
    """Let a policy of the arms a, b and c find which of three numbers is behind each."""
    random = np.random.default_rng(10)
    rewards = []
    for _ in range(600):
        x = random.normal(size=4)
        arm = policy.decide(x)
        chance = 1 / (1 + np.exp(-3 * x["abc".index(str(arm))]))
        rewards.append(float(random.random() < chance))
        policy.learn(x, arm, rewards[-1])
    # Arms at random have a mean of 1/2; five standard errors above it.
    assert np.mean(rewards) > 0.5 + 5 * np.sqrt(0.25 / len(rewards))


def assert_a_missing_row_does_no_harm(policy: Any) -> None:
    """Teach a policy of the arms a and b one row without any value."""
    random = np.random.default_rng(7)
    for _ in range(100):
        x = random.normal(size=3)
        arm = "ab"[int(random.integers(2))]
        policy.learn(x, arm, float((x[0] > 0) == (arm == "a")))
    before = policy.expected_rewards([1.0, 0, 0])
    policy.learn([np.nan] * 3, "a", 0)
    after = policy.expected_rewards([1.0, 0, 0])
    assert after["a"] == pytest.approx(before["a"], abs=0.05)
    assert after["b"] == before["b"]
    rows = random.normal(size=(300, 3))
    wins = [policy.decide(row) == "a" for row in rows]
    assert np.mean(wins == (rows[:, 0] > 0)) > 0.9
    assert policy.decide([np.nan] * 3) in ["a", "b"]


def assert_a_constant_feature_changes_nothing(
    with_it: Any, without: Any, stream: Iterable[Observation], **tolerance: float
) -> None:
    for context, arm, reward in stream:
        known = "b" if arm == "c" else arm
        with_it.learn({**context, "planet": "Earth", "g": 9.81}, known, reward)
        without.learn(context, known, reward)
        wide = with_it.expected_rewards({**context, "planet": "Mars", "g": 3.7})
        assert wide == pytest.approx(without.expected_rewards(context), **tolerance)


def assert_extreme_numbers_leave_finite_bounds(policy: Any, rewards: list[float]) -> None:
    values = [0.0, 1e308, -1e308, 1e-300, 5e-324, 1.0, -3.0] * 6
    for i, (value, reward) in enumerate(zip(values, rewards, strict=True)):
        policy.learn({"x": value, "y": float(i % 3)}, ARMS[i % 2], reward)
        for known in policy.explain({"x": values[-1 - i], "y": 1e300}).values():
            assert known.n == 0 or np.isfinite([known.mean, *known.interval]).all()


def assert_untried_arms_come_first(policy: Any) -> None:
    """Add arms to a policy of the arm a alone, and let it try one of them."""
    policy.add_arm("b")
    policy.add_arm("c")
    assert policy.propensities([3.0]) == {"a": 0, "b": 0.5, "c": 0.5}
    assert policy.decide([3.0], arms=["a", "b"]) == "b"
    policy.learn([3.0], "b", 0)
