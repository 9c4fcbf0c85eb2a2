"""Windows of the policies that fit linear models."""

from __future__ import annotations

import pickle
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditree as bt
from banditree.policies.linear.columns import first_common, is_common
from banditree.policies.linear.design import Design
from banditree.policies.linear.last_rows import Observations
from banditree.policies.linear.relearning import Relearning
from policies.linear_streams import Observation, long_stream, penalty_vector, streams

pytestmark = pytest.mark.filterwarnings("ignore::banditree.BanditreeWarning")

ARMS = list("abc")
BOTH = pytest.mark.parametrize("maker", [bt.LinUCB, bt.LogisticUCB])
CONTEXTS = [{}, {"pay": 2.5, "rank": 3.0, "city": "Oslo"}, {"height": 1.0, "member": True}]


def last_of_each(log: list[Observation], window: int) -> list[Observation]:
    places = {arm: [i for i, o in enumerate(log) if o[1] == arm][-window:] for arm in ARMS}
    return [log[i] for i in sorted(i for last in places.values() for i in last)]


def refitted(policy: Any, log: list[Observation], window: int, **options: Any) -> Any:
    """Return a policy without a window that has learned the last observations of each arm."""
    fresh = type(policy)(ARMS, **options)
    # Features in the order in which they came, so that both policies encode alike.
    fresh._set_encoder(pickle.loads(pickle.dumps(policy._encoder)))
    fresh._features_changed()
    for observation in last_of_each(log, window):
        fresh.learn(*observation)
    return fresh


def penalties(policy: Any) -> list[float]:
    if isinstance(policy, bt.LinUCB):
        return [float(amount) for amount in policy._ridge.penalty]
    return [model.fit.penalty for model in policy._models]


def assert_alike(policy: Any, fresh: Any) -> None:
    assert penalties(policy) == penalties(fresh)
    # The iteration of the logistic regression ends before the last digits.
    error = 1e-6 if isinstance(policy, bt.LinUCB) else 1e-4
    for context in CONTEXTS:
        row = policy._encoder.encode_one(context)
        for found, expected in zip(
            policy._estimates(row, np.arange(3)), fresh._estimates(row, np.arange(3)), strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=error, atol=error)


@BOTH
@settings(max_examples=15)
@given(st.data(), st.integers(1, 12), st.sampled_from([1.0, "cv"]))
def test_a_window_is_a_refit_on_the_last_observations_after_every_one(
    maker: Any, data: st.DataObject, window: int, regularization: Any
) -> None:
    options: dict[str, Any] = {"refresh": 0, "regularization": regularization}
    if maker is bt.LinUCB:
        options["reward"] = data.draw(st.sampled_from(["binary", "continuous"]))
    binary = options.get("reward") != "continuous"
    policy = maker(ARMS, window=window, **options)
    log: list[Observation] = []
    for observation in data.draw(streams(binary=binary, max_size=40)):
        policy.learn(*observation)
        log.append(observation)
        assert_alike(policy, refitted(policy, log, window, **options))


@BOTH
@pytest.mark.parametrize("window", [40, 300])
def test_each_renewal_is_a_refit_between_which_coefficients_follow(maker: Any, window: int) -> None:
    policy, log, refits = maker(ARMS, window=window), [], 0
    for observation in long_stream(3, 9 * window):
        design = policy._design
        policy.learn(*observation)
        log.append(observation)
        if policy._design is not design:
            refits += 1
            if refits % 5 == 1:
                assert_alike(policy, refitted(policy, log, window))
        elif len(log) % 97 == 0:
            assert_of_the_window(policy, last_of_each(log, window))
    # Once the windows are full, each time that a quarter of what is in them is new.
    assert 6 <= refits <= 20


def assert_of_the_window(policy: Any, window: list[Observation]) -> None:
    """Solve for the window, with the scale, bits and penalties that are in force."""
    for arm, name in enumerate(ARMS):
        own = policy._last.kept()
        mine = own.arms == arm
        x = policy._design.standardise_many(
            policy._design.known_many(own.rows[mine], own.places[mine])
        )
        r = np.array([reward for _, one, reward in window if one == name])
        assert own.rewards[mine].tolist() == r.tolist()
        amount = penalty_vector(penalties(policy)[arm], x.shape[1])
        if isinstance(policy, bt.LinUCB):
            theta = np.linalg.solve(x.T @ x + np.diag(amount), x.T @ (r - policy._ridge.centre))
            np.testing.assert_allclose(policy._ridge.theta[arm], theta, atol=1e-8)
            inverse = np.linalg.inv(x.T @ x + np.diag(amount))
            np.testing.assert_allclose(policy._ridge.inverse[arm], inverse, atol=1e-8)
        else:
            theta = policy._theta[arm]
            slope = x.T @ (1 / (1 + np.exp(-x @ theta)) - r) + amount * theta
            assert np.abs(slope).max() < 1e-2
            inverse = np.linalg.inv(x.T @ x + np.diag(policy._starts(penalties(policy)[arm])))
            np.testing.assert_allclose(policy._inverse[arm], inverse, atol=1e-8)


@BOTH
def test_memory_is_bounded_by_the_window(maker: Any) -> None:
    policy = maker(ARMS, window=50, regularization=1.0)
    for observation in long_stream(4, 1500):
        policy.learn(*observation)
        assert len(policy._last._all.rows) <= 1.25 * 1.25 * 150 + 10
    if maker is bt.LogisticUCB:
        assert all(
            len(model._rows) <= 1.25 * (50 + 1.25 * 0.25 * 150) + 10 for model in policy._models
        )
    assert sum(policy.counts.values()) == 1500


@BOTH
@pytest.mark.parametrize("n", [30, 100, 333])
def test_windowed_policies_go_on_from_a_copy(maker: Any, n: int) -> None:
    stream = list(long_stream(5, 500))
    policy = maker(ARMS, window=40)
    policy.learn_many(*zip(*stream[:n], strict=True))
    copy = pickle.loads(pickle.dumps(policy))
    for context, arm, reward in stream[n : n + 100]:
        assert copy.expected_rewards(context) == policy.expected_rewards(context)
        assert str(copy.explain(context)) == str(policy.explain(context))
        for each in (policy, copy):
            each.learn(context, arm, reward)


@BOTH
def test_arms_may_come_when_others_have_forgotten(maker: Any) -> None:
    policy = maker(["a", "b"], window=20)
    for context, arm, reward in islice(long_stream(6, 400), 100):
        policy.learn(context, arm, reward)
    policy.add_arm("c")
    log = list(long_stream(6, 400))
    for observation in log[100:]:
        policy.learn(*observation)
    assert [policy.explain({})[arm].n for arm in ARMS] == [20, 20, 20]


@BOTH
@pytest.mark.parametrize("window", [0, -1, 1.5, "all", True])
def test_a_window_is_a_whole_number(maker: Any, window: Any) -> None:
    with pytest.raises(bt.InvalidParameterError, match=r"window must be a whole number from 1 up"):
        maker(["golf"], window=window)


@BOTH
def test_refresh_is_a_share(maker: Any) -> None:
    with pytest.raises(bt.InvalidParameterError, match=r"refresh must be a number from 0 to 1"):
        maker(["golf"], refresh=-0.1)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), max_size=300))
def test_where_categories_become_common(codes: list[float]) -> None:
    counts: dict[float, int] = {}
    found: dict[float, int] = {}
    for place, code in enumerate(codes):
        if code == code:
            counts[code] = counts.get(code, 0) + 1
            if is_common(counts[code], place + 1):
                found.setdefault(code, place)
    assert sorted(first_common(np.array(codes))) == sorted(found.values())


VALUES = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0, 1000.0, np.nan])


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=80), st.integers(0, 80))
def test_relearning_is_learning_one_by_one(values: list[Any], gap: int) -> None:
    rows = np.array(values)
    rows[: min(gap, len(rows)), 0] = np.nan  # comes late
    designs = [Design(), Design()]
    for design in designs:
        design.set_features([False, False, True])
    alone, taught = designs
    renewed_at = 0
    for row in rows:
        if alone.learn(row).renewed:
            renewed_at = alone.n
    n = len(rows)
    rewards = np.arange(float(n))
    log = Observations(rows, rewards, np.zeros(n, dtype=np.int64), np.arange(n))
    lesson = Relearning(taught, log)
    choices = list(lesson.learn_all(True, 0.25))
    points = [10, 13, 17, 22, 28, 35, 44, 55, 69]
    assert choices == [(0, point) for point in points if point <= n][-1:]
    assert lesson.mean_reward == rewards[:renewed_at].mean()
    found, expected = taught.state(), alone.state()
    np.testing.assert_array_equal(found["design_columns"], expected["design_columns"])
    np.testing.assert_array_equal(found["design_counts"], expected["design_counts"])
    np.testing.assert_allclose(found["design_numbers"], expected["design_numbers"], rtol=1e-9)
    counts = [sorted(state["design_categories"].tolist()) for state in (found, expected)]
    assert counts[0] == counts[1]
