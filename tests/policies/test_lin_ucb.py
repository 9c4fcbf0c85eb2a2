"""LinUCB against ridge regressions that are solved from the whole log after every observation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditree as bt
from banditree.policies.lin_ucb import LinUCB
from policies import linear_laws
from policies.linear_laws import ARMS
from policies.linear_referee import Referee
from policies.linear_streams import (
    CONTEXTS,
    Row,
    long_stream,
    penalty_vector,
    streams,
)

# Streams here decide for features that come later, which is said once per policy.
pytestmark = pytest.mark.filterwarnings("ignore::banditree.BanditreeWarning")


def ridge(x: np.ndarray, r: np.ndarray, amount: float) -> np.ndarray:
    return np.linalg.solve(x.T @ x + np.diag(penalty_vector(amount, x.shape[1])), x.T @ r)


class LinReferee(Referee):
    """The log of a policy, and what LinUCB must make of it."""

    centre = 0.0

    def renewed(self) -> None:
        if self.policy.reward == "continuous":
            self.centre = float(np.mean([r for log in self.logs.values() for _, r in log]))

    def penalty(self, arm: str) -> float:
        return float(self.policy._ridge.penalty["abc".index(arm)])

    def rows(self, arm: str) -> tuple[np.ndarray, np.ndarray]:
        x, r = super().rows(arm)
        return x, r - self.centre

    def solve(self, x: np.ndarray, r: np.ndarray, amount: float) -> np.ndarray:
        return ridge(x, r, amount)

    def error(self, x: np.ndarray, r: np.ndarray, theta: np.ndarray) -> float:
        return float(((r - x @ theta) ** 2).sum())

    def slack(self, x: np.ndarray, r: np.ndarray) -> float:
        return 1e-6 * float((r**2).sum())

    def bounds(self, context: Row, arm: str) -> tuple[float, float]:
        """Return estimate and width."""
        if not self.logs[arm]:
            return math.nan, math.inf
        x, r = self.rows(arm)
        new = self.design.matrix([context])[0]
        penalties = penalty_vector(self.penalty(arm), len(new))
        # As least squares with a row per penalty: squaring the design would lose half the digits.
        q, upper = np.linalg.qr(np.vstack([x, np.diag(np.sqrt(penalties))]))
        estimate = new @ np.linalg.solve(upper, q[: len(x)].T @ r)
        spread = np.linalg.norm(np.linalg.solve(upper.T, new))
        return self.centre + float(estimate), self.policy.alpha * float(spread)

    # Times in seconds since 1970 cost the running means and variances of features some digits.
    def compare(self, context: Row, tolerance: float = 1e-5) -> None:
        row = self.policy._encoder.encode_one(context)
        for arm, known in self.policy.explain(context).items():
            estimate, width = self.bounds(context, str(arm))
            assert known.n == len(self.logs[str(arm)])
            least, most = (0, 1) if self.policy.reward == "binary" else (-math.inf, math.inf)
            if known.n == 0:
                assert math.isnan(known.mean)
                assert known.interval == (least, most)
                continue
            found = self.policy._estimates(row, np.array([self.policy.arms.index(arm)]))
            assert found[0][0] == pytest.approx(estimate, rel=1e-10, abs=tolerance)
            assert found[1][0] == pytest.approx(width, rel=1e-5, abs=tolerance)
            reach = np.array([estimate - width, estimate, estimate + width]).clip(least, most)
            low, high = known.interval
            assert [low, known.mean, high] == pytest.approx(reach, rel=1e-10, abs=tolerance)


@pytest.mark.parametrize("regularization", ["cv", 0.5, 20.0])
@settings(max_examples=40)
@given(data=st.data())
def test_closed_form_after_every_observation(regularization, data):
    reward = data.draw(st.sampled_from(["binary", "continuous"]))
    stream = data.draw(streams(binary=reward == "binary"))
    other = data.draw(CONTEXTS)
    referee = LinReferee(LinUCB(ARMS, alpha=0.7, regularization=regularization, reward=reward))
    for observation in stream:
        referee.learn(*observation)
        referee.compare(observation[0])
    referee.compare(other)


@pytest.mark.parametrize("binary", [True, False])
def test_closed_form_of_a_long_stream(binary):
    """Penalties and scale change many times, and stay for long times in between."""
    policy = LinUCB(ARMS, reward="binary" if binary else "continuous")
    referee = LinReferee(policy)
    for i, observation in enumerate(long_stream(3, 400, binary=binary)):
        referee.learn(*observation)
        if i % 7 == 0:
            referee.compare(observation[0])
    assert len({referee.penalty(arm) for arm in "abc"}) > 1 or referee.penalty("a") != 1
    assert referee.due["a"] > 100


def test_the_arm_of_the_largest_bound_is_taken():
    policy = LinUCB(ARMS, alpha=0.5, seed=1)
    referee = LinReferee(policy)
    for observation in long_stream(4, 60):
        referee.learn(*observation)
        bounds = {arm: sum(referee.bounds(observation[0], arm)) for arm in policy.arms}
        tried = {arm: n for arm, n in bounds.items() if not math.isnan(n)}
        best = max(tried, key=tried.__getitem__) if len(tried) == len(bounds) else None
        if best is not None:
            assert policy.decide(observation[0]) == best
            assert policy.propensities(observation[0])[best] == 1
            pair = [arm for arm in policy.arms if arm != best]
            second = max(pair, key=bounds.__getitem__)
            assert policy.decide(observation[0], arms=pair) == second


def test_more_features_than_observations():
    random = np.random.default_rng(5)
    rows, new = random.normal(size=(4, 40)), random.normal(size=40)
    policy = LinUCB(ARMS, regularization=2.0, reward="continuous")
    rewards = random.normal(size=4)
    policy.learn_many(rows, ["a"] * 4, rewards)
    x = np.column_stack([np.ones(4), (rows - rows.mean(axis=0)) / rows.std(axis=0)])
    theta = ridge(x, rewards - rewards.mean(), 2.0)
    new_x = [1, *(new - rows.mean(axis=0)) / rows.std(axis=0)]
    estimate = rewards.mean() + theta @ new_x
    assert policy.expected_rewards(new)["a"] == pytest.approx(estimate)


def test_what_all_continuous_rewards_have_in_common_does_not_matter():
    near, far = (LinUCB(["a", "b", "c"], reward="continuous") for _ in range(2))
    for context, arm, reward in long_stream(6, 200, binary=False):
        near.learn(context, arm, reward - 1e6)
        far.learn(context, arm, reward + 1e9)
        there = {arm: value - 1e9 - 1e6 for arm, value in far.expected_rewards(context).items()}
        # Of sixteen digits, ten are before the point.
        assert there == pytest.approx(near.expected_rewards(context), abs=1e-5)
    assert (near._ridge.penalty == far._ridge.penalty).all()


# Missing values, constants, extremes.


def test_a_missing_row_does_no_harm():
    linear_laws.assert_a_missing_row_does_no_harm(LinUCB(ARMS, alpha=0.1, seed=1))


def test_a_constant_feature_changes_nothing():
    linear_laws.assert_a_constant_feature_changes_nothing(
        LinUCB(ARMS), LinUCB(ARMS), long_stream(8, 100)
    )


def test_extreme_numbers_leave_finite_bounds():
    policy = LinUCB(ARMS, reward="continuous")
    linear_laws.assert_extreme_numbers_leave_finite_bounds(
        policy, [1e30 * (i % 4 - 2) / 2 for i in range(42)]
    )


def test_a_tiny_penalty():
    """Two columns are the same but for their units: X'X alone has no inverse."""
    policy = LinUCB(["a"], regularization=1e-12)
    for i in range(50):
        policy.learn({"city": "Rome" if i % 2 else "Oslo", "x": 3.0 * i, "y": 6.0 * i}, "a", i % 2)
    estimates = [
        policy.expected_rewards({"city": city, "x": 3, "y": 6})["a"] for city in ("Rome", "Oslo")
    ]
    # The first row of each city has no bit, so that the slope of x is not quite 0.
    assert estimates == pytest.approx([0.99864, 0], abs=5e-4)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_untried_arms_come_first(alpha):
    policy = LinUCB(["a"], alpha=alpha, reward="continuous", seed=2)
    for i in range(20):
        policy.learn([float(i)], "a", 1e6)
    linear_laws.assert_untried_arms_come_first(policy)
    policy.learn([3.0], "c", 0)
    assert policy.decide([3.0]) == "a"


# State.


@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_a_loaded_policy_goes_on_as_the_saved_one(tmp_path, reward):
    policy = LinUCB(ARMS, alpha=0.2, reward=reward, seed=3)
    stream = long_stream(9, 150, binary=reward == "binary")
    linear_laws.assert_goes_on_when_loaded(policy, stream, tmp_path / "policy.bt")


@settings(max_examples=30)
@given(streams(binary=False))
def test_many_at_once_give_the_same_state(stream):
    one, many = (LinUCB(["a", "b", "c"], reward="continuous", seed=1) for _ in range(2))
    for observation in stream:
        one.learn(*observation)
    many.learn_many(*map(list, zip(*stream, strict=True)))
    linear_laws.assert_same_state(one, many)


def regret(n_values: int | None, alpha: float, seed: int) -> float:
    """Play a world in which one number decides; a category of so many values does not."""
    random = np.random.default_rng(seed)
    policy, total = LinUCB(["a", "b", "c"], alpha=alpha, seed=seed), 0.0
    for i in range(1500):
        x = float(random.random())
        value = i if n_values is None else int(random.integers(max(n_values, 1)))
        context = {"x": x} if n_values == 0 else {"x": x, "noise": f"v{value}"}
        chances = {"a": 0.9 - 0.8 * x, "b": 0.5, "c": 0.1 + 0.8 * x}
        arm = policy.decide(context)
        policy.learn(context, arm, float(random.random() < chances[str(arm)]))
        total += max(chances.values()) - chances[str(arm)]
    return total


@pytest.mark.slow
def test_a_category_that_says_nothing_costs_little():
    """By the median: now and then LinUCB settles on a wrong arm, with or without it."""
    none, *others = (
        np.median([regret(n, 1.0, seed) for seed in range(7)]) for n in (0, 40, 200, 1000, None)
    )
    assert max(others) <= 1.6 * none


def test_a_category_of_many_values_is_learned():
    random = np.random.default_rng(11)
    policy, rewards = LinUCB(["a", "b", "c"], alpha=0.3, seed=1), []
    for _ in range(3000):
        value = int(random.integers(60))
        arm = policy.decide({"value": f"v{value}"})
        rewards.append(float(random.random() < (0.8 if "abc"[value % 3] == arm else 0.1)))
        policy.learn({"value": f"v{value}"}, arm, rewards[-1])
    # Arms at random have a mean of 1/3.
    assert np.mean(rewards[-1000:]) > 0.6


def test_it_learns():
    linear_laws.assert_learns(LinUCB(["a", "b", "c"], alpha=0.3, seed=1))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"alpha": -1}, "alpha must be a number from 0 up, got -1"),
        ({"alpha": math.nan}, "alpha must be"),
        ({"alpha": math.inf}, "alpha must be"),
        ({"alpha": True}, "got True"),
        ({"alpha": "1"}, "got '1'"),
        ({"regularization": 0}, 'regularization must be "cv" or a number above 0, got 0'),
        ({"regularization": "CV"}, "got 'CV'"),
        ({"regularization": None}, "got None"),
        ({"regularization": math.inf}, "got inf"),
        ({"reward": "stars"}, "reward must be"),
    ],
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(bt.InvalidParameterError, match=message):
        LinUCB(ARMS, **wrong)


def test_explanations_say_what_they_are():
    policy = LinUCB(ARMS, alpha=0.5)
    policy.learn([1.0], "a", 1)
    assert policy.explain([2.0])["a"].rule == "linear in 1 feature"
    policy = LinUCB(ARMS)
    policy.learn([1.0, 2.0], "a", 1)
    assert policy.explain([2.0, 3.0])["b"].rule == "linear in 2 features"
