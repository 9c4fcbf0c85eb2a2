"""LogisticUCB against solvers that begin anew with the whole log after every observation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import banditree as bt
from banditree.policies.linear.logistic import Logistic, deviances, sigmoid
from banditree.policies.logistic_ucb import LogisticUCB
from policies import linear_laws
from policies.linear_laws import ARMS
from policies.linear_referee import Referee
from policies.linear_streams import (
    CONTEXTS,
    Row,
    by_key,
    long_stream,
    naive_errors,
    penalty_vector,
    streams,
)

# Streams here decide for features that come later, which is said once per policy.
pytestmark = pytest.mark.filterwarnings("ignore::banditree.BanditreeWarning")


def solve(x: np.ndarray, r: np.ndarray, amount: float) -> np.ndarray:
    """Return the maximum of the penalised likelihood, by a trust-region method from 0."""
    penalties = penalty_vector(amount, x.shape[1])

    def value(theta: np.ndarray) -> float:
        margins = x @ theta
        lost = np.logaddexp(0, margins) - r * margins
        return float(lost.sum() + (penalties * theta**2).sum() / 2)

    def gradient(theta: np.ndarray) -> np.ndarray:
        return x.T @ (sigmoid(x @ theta) - r) + penalties * theta

    def hessian(theta: np.ndarray) -> np.ndarray:
        chances = sigmoid(x @ theta)
        return x.T @ (x * (chances * (1 - chances))[:, None]) + np.diag(penalties)

    start = np.zeros(x.shape[1])
    found = minimize(
        value, start, jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-6}
    )
    # Two Newton steps more, since the trust region ends where values do not differ any more.
    theta = found.x
    for _ in range(2):
        theta = theta - np.linalg.solve(hessian(theta), gradient(theta))
    assert np.abs(gradient(theta)).max() < 1e-8
    return theta


def deviance(x: np.ndarray, r: np.ndarray, theta: np.ndarray) -> float:
    margins = x @ theta
    return float((np.logaddexp(0, margins) - r * margins).sum())


class LogisticReferee(Referee):
    """The log of a policy, and what LogisticUCB must make of it."""

    def penalty(self, arm: str) -> float:
        return self.policy._models["abc".index(arm)].fit.penalty

    def solve(self, x: np.ndarray, r: np.ndarray, amount: float) -> np.ndarray:
        return solve(x, r, amount)

    def error(self, x: np.ndarray, r: np.ndarray, theta: np.ndarray) -> float:
        return deviance(x, r, theta)

    def slack(self, x: np.ndarray, r: np.ndarray) -> float:
        return 1e-3  # only penalties that are as good as equal may be taken for each other

    def compare_thetas(self) -> None:
        for index, arm in enumerate(self.policy.arms):
            if self.logs[str(arm)]:
                x, r = self.rows(str(arm))
                theta = solve(x, r, self.penalty(str(arm)))
                keys = self.design.row(self.design.log[0])
                found = by_key(self.policy._design, self.policy._encoder, self.policy._theta[index])
                expected = dict(zip(keys, theta.tolist(), strict=True))
                assert found.keys() == expected.keys()
                for key, value in expected.items():
                    assert abs(found[key] - value) <= 1e-4, (arm, key)

    def bounds(self, context: Row, arm: str) -> tuple[float, float]:
        """Return estimate and width, as the supplement of the paper defines them."""
        if not self.logs[arm]:
            return math.nan, math.inf
        x, r = self.rows(arm)
        new = self.design.matrix([context])[0]
        s = max(len(r), 2)
        policy = self.policy
        length = 1 + len({name for other in self.design.log for name in other})
        rho = math.sqrt(length * math.log(s) * math.log(s * policy.horizon / policy.delta))
        starts = np.ones(len(new))
        starts[len(new) - len(self.design.bits) :] = max(1.0, self.penalty(arm))
        inverse = np.linalg.inv(np.diag(starts) + x.T @ x)
        estimate = 1 / (1 + math.exp(-(new @ solve(x, r, self.penalty(arm)))))
        return estimate, policy.alpha * rho * math.sqrt(new @ inverse @ new)

    def compare(self, context: Row) -> None:
        for arm, known in self.policy.explain(context).items():
            estimate, width = self.bounds(context, str(arm))
            assert known.n == len(self.logs[str(arm)])
            assert known.mean == pytest.approx(estimate, abs=1e-4, nan_ok=True)
            index = np.array([self.policy.arms.index(arm)])
            widths = self.policy._estimates(self.policy._encoder.encode_one(context), index)[1]
            assert widths[0] == pytest.approx(width, rel=1e-5)
            if known.n > 0:
                reach = (max(0.0, estimate - width), min(1.0, estimate + width))
                assert known.interval == pytest.approx(reach, abs=1e-4)


@pytest.mark.parametrize("regularization", ["cv", 0.5, 20.0])
@settings(max_examples=15)
@given(data=st.data())
def test_the_solution_after_every_observation(regularization, data):
    stream, other = data.draw(streams(max_size=20)), data.draw(CONTEXTS)
    policy = LogisticUCB(ARMS, alpha=0.1, regularization=regularization, horizon=500, delta=0.1)
    referee = LogisticReferee(policy)
    for observation in stream:
        referee.learn(*observation)
        referee.compare_thetas()
    referee.compare(stream[0][0])
    referee.compare(other)


def test_a_penalty_above_one_in_an_arm_that_is_tried_after_a_number_began_to_vary():
    """X begins with 1 there, not with the penalty, which is for bits."""
    referee = LogisticReferee(LogisticUCB(ARMS, regularization=20.0))
    for pay in (0.0, 0.0, 0.0, 0.0, 0.125):
        referee.learn({"pay": pay}, "a", 0.0)
    # The scale is not renewed by this observation.
    referee.learn({"pay": 0.0}, "b", 0.0)
    referee.compare({"pay": 0.125})


def test_the_solution_in_a_long_stream():
    """Penalties and scale change many times, and stay for long times in between."""
    referee = LogisticReferee(LogisticUCB(ARMS))
    for i, observation in enumerate(long_stream(3, 250)):
        referee.learn(*observation)
        if i < 40 or i % 5 == 0:
            referee.compare_thetas()
        if i % 20 == 0:
            referee.compare(observation[0])
    assert {referee.penalty(arm) for arm in "abc"} != {1.0}


def test_an_arm_that_is_tried_late():
    """Rows have grown long by then, and the scale is not renewed."""
    referee = LogisticReferee(LogisticUCB(ARMS))
    random = np.random.default_rng(6)
    for i in range(31):
        context = {f"f{j}": float(value) for j, value in enumerate(random.normal(size=12))}
        referee.learn(context, "b" if i == 30 else "a", float(i % 2))
    assert referee.policy._design.due > 31 + 1
    referee.compare({f"f{j}": 1.0 for j in range(12)})


def hard_rows(n: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with outliers and a pair of columns that are nearly the same."""
    random = np.random.default_rng(4)
    x = random.normal(size=(n, width)) * np.where(random.random((n, width)) < 0.02, 20, 1)
    x[:, 2] = x[:, 1] + 0.01 * x[:, 2]
    x[:, 0] = 1.0
    r = (random.random(n) < sigmoid(2 * x[:, 1] - 2)).astype(float)
    return x, r


@pytest.mark.parametrize("amount", [1e-3, 1.0])
def test_the_solver_against_scikit_learn(amount):
    x, r = hard_rows(400, 12)
    fit = Logistic(12, amount)
    for n in range(1, len(x) + 1):
        fit.add(x[:n], r[:n])
        if n >= 50 and n % 50 == 0:
            other = LogisticRegression(
                C=1 / amount, fit_intercept=False, tol=1e-10, solver="newton-cholesky"
            )
            assert fit.theta == pytest.approx(other.fit(x[:n], r[:n]).coef_[0], abs=1e-4)


def test_the_solver_where_classes_are_separate():
    """Without the penalty, there would be no solution."""
    x = np.column_stack([np.ones(40), np.linspace(-1, 1, 40)])
    r = (x[:, 1] > 0.1).astype(float)
    fit = Logistic(2, 1e-4)
    for n in range(1, 41):
        fit.add(x[:n], r[:n])
        assert fit.theta == pytest.approx(solve(x[:n], r[:n], 1e-4), abs=1e-4)


def test_the_solver_from_far_away():
    x, r = hard_rows(200, 6)
    fit = Logistic(6, 0.5)
    fit.restart(np.array([30.0, -40, 40, 20, -20, 10]), x, r)
    assert fit.theta == pytest.approx(solve(x, r, 0.5), abs=1e-4)


@pytest.mark.parametrize("n", [12, 30, 150])
def test_cross_validation(n):
    """The fewest rows are fewer than the columns."""
    x, r = hard_rows(n, 25)
    assert deviances(x, r) == pytest.approx(naive_errors(solve, deviance, x, r), rel=2e-3)


def test_the_arm_of_the_largest_bound_is_taken():
    policy = LogisticUCB(["a", "b", "c"], alpha=0.01, seed=1)
    referee = LogisticReferee(policy)
    for i, observation in enumerate(long_stream(5, 60)):
        referee.learn(*observation)
        if i > 40:
            bounds = {arm: sum(referee.bounds(observation[0], arm)) for arm in "abc"}
            first, second, _ = sorted(bounds, key=bounds.__getitem__, reverse=True)
            assert policy.decide(observation[0]) == first
            assert policy.propensities(observation[0])[first] == 1
            others = [arm for arm in "abc" if arm != first]
            assert policy.decide(observation[0], arms=others) == second


# Missing values, constants, extremes.


def test_a_missing_row_does_no_harm():
    linear_laws.assert_a_missing_row_does_no_harm(LogisticUCB(ARMS, alpha=0.001, seed=1))


def test_a_constant_feature_changes_nothing():
    policies = LogisticUCB(ARMS), LogisticUCB(ARMS)
    linear_laws.assert_a_constant_feature_changes_nothing(*policies, long_stream(8, 80), abs=1e-4)


def test_extreme_numbers_leave_finite_bounds():
    rewards = [(i % 4) / 3 for i in range(42)]
    linear_laws.assert_extreme_numbers_leave_finite_bounds(LogisticUCB(ARMS), rewards)


def test_intervals_are_of_probabilities():
    policy = LogisticUCB(["a", "b"], alpha=1.0)
    policy.learn_many([[1.0], [2.0], [4.0]], ["a"] * 3, [0, 1, 1])
    explained = policy.explain([1e6])
    assert [known.interval for known in explained.values()] == [(0, 1), (0, 1)]


def test_a_tiny_penalty():
    policy = LogisticUCB(["a"], regularization=1e-9)
    for i in range(40):
        policy.learn({"city": "Rome" if i % 2 else "Oslo", "x": float(i)}, "a", i % 2)
    chances = [policy.expected_rewards({"city": city, "x": 9})["a"] for city in ("Rome", "Oslo")]
    assert chances == pytest.approx([1, 0], abs=1e-3)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_untried_arms_come_first(alpha):
    policy = LogisticUCB(["a"], alpha=alpha, seed=2)
    policy.learn_many([[float(i)] for i in range(20)], ["a"] * 20, [1] * 20)
    linear_laws.assert_untried_arms_come_first(policy)
    assert policy.decide([3.0], arms=["b", "c"]) == "c"


def test_one_observation_has_a_width():
    policy = LogisticUCB(ARMS, alpha=1.0)
    policy.learn([1.0], "a", 1)
    low, high = policy.explain([1.0])["a"].interval
    assert 0 <= low < high <= 1


# State.


def test_a_loaded_policy_goes_on_as_the_saved_one(tmp_path):
    policy = LogisticUCB(ARMS, alpha=0.01, seed=3)
    stream = long_stream(9, 150)
    linear_laws.assert_goes_on_when_loaded(policy, stream, tmp_path / "policy.bt")


@settings(max_examples=20)
@given(streams())
def test_many_at_once_give_the_same_state(stream):
    one, many = (LogisticUCB(["a", "b", "c"], seed=1) for _ in range(2))
    for observation in stream:
        one.learn(*observation)
        one.expected_rewards(observation[0])  # which must change nothing
    many.learn_many(*map(list, zip(*stream, strict=True)))
    linear_laws.assert_same_state(one, many)


def test_it_learns():
    linear_laws.assert_learns(LogisticUCB(["a", "b", "c"], alpha=0.01, seed=1))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"reward": "continuous"}, "rewards between 0 and 1, got 'continuous'; LinUCB takes"),
        ({"reward": "stars"}, 'reward must be one of "binary"'),
        ({"alpha": -1}, "alpha must be a number from 0 up, got -1"),
        ({"regularization": 0}, "regularization must be"),
        ({"horizon": 0}, "horizon must be a whole number from 1 up, got 0"),
        ({"horizon": 1.5}, "got 1.5"),
        ({"delta": 0}, "delta must be a number between 0 and 1, got 0"),
        ({"delta": 1}, "got 1"),
        ({"delta": "0.1"}, "got '0.1'"),
    ],
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(bt.InvalidParameterError, match=message):
        LogisticUCB(ARMS, **wrong)


def test_repr_shows_what_was_set():
    policy = LogisticUCB(ARMS, horizon=500, regularization=2)
    assert repr(policy) == "LogisticUCB(arms=['a', 'b'], regularization=2.0, horizon=500)"
    policy.learn([1.0, 2.0], "a", 1)
    assert policy.explain([2.0, 3.0])["b"].rule == "logistic in 2 features"
