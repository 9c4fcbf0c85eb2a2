"""With a window, a policy believes what the last observations of each arm say, and nothing else."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditree as bt
from policies.tree_streams import ARMS, Stream, mixed_stream, streams

pytestmark = pytest.mark.filterwarnings("ignore::banditree.BanditreeWarning")


def refitted(policy: Any, stream: Stream, n: int, window: int, **options: Any) -> Any:
    """Return a policy without a window that has learned the last observations of each arm."""
    fresh = type(policy)(ARMS, categorical=stream.categorical, **options)
    # Features in the order in which they came, so that both policies encode alike.
    fresh._set_encoder(pickle.loads(pickle.dumps(policy._encoder)))
    fresh._features_changed()
    places = {arm: [i for i in range(n) if stream.arms[i] == arm][-window:] for arm in ARMS}
    for i in sorted(i for last in places.values() for i in last):
        fresh.learn(stream.contexts[i], stream.arms[i], stream.rewards[i])
    return fresh


def assert_alike(policy: Any, fresh: Any, stream: Stream) -> None:
    for context in stream.others[:4]:
        assert policy.propensities(context) == pytest.approx(
            fresh.propensities(context), rel=1e-6, abs=1e-9
        )
        assert policy.expected_rewards(context) == pytest.approx(fresh.expected_rewards(context))


@settings(max_examples=25)
@given(streams(max_rows=30), st.integers(1, 12), st.none() | st.integers(2, 6))
def test_a_window_is_a_refit_on_the_last_observations_after_every_one(
    stream: Stream, window: int, max_bins: int | None
) -> None:
    options: dict[str, Any] = {"refresh": 0, "max_bins": max_bins, "seed": 1}
    policy = bt.TreeHeuristic(ARMS, categorical=stream.categorical, window=window, **options)
    for n, observation in enumerate(stream, 1):
        policy.learn(*observation)
        assert_alike(policy, refitted(policy, stream, n, window, **options), stream)


@settings(max_examples=15)
@given(streams(max_rows=30, reward="continuous"), st.integers(1, 12))
def test_the_same_of_continuous_rewards(stream: Stream, window: int) -> None:
    options: dict[str, Any] = {"refresh": 0, "reward": "continuous", "seed": 1}
    policy = bt.TreeHeuristic(ARMS, categorical=stream.categorical, window=window, **options)
    for n, observation in enumerate(stream, 1):
        policy.learn(*observation)
        fresh = refitted(policy, stream, n, window, **options)
        assert policy._core.spread == pytest.approx(fresh._core.spread, rel=1e-6, abs=1e-9)
        assert_alike(policy, fresh, stream)


REWARDS = st.lists(st.tuples(st.sampled_from(ARMS), st.integers(-3, 9)), max_size=40)


@given(REWARDS, st.integers(1, 7), st.booleans())
def test_thompson_sampling_believes_the_last_rewards(
    rewards: list[tuple[str, int]], window: int, binary: bool
) -> None:
    kind: Any = "binary" if binary else "continuous"
    policy = bt.ThompsonSampling(ARMS, reward=kind, window=window, seed=1)
    seen: list[tuple[str, float]] = []
    for arm, value in rewards:
        seen.append((arm, float(value > 3) if binary else value / 4))
        policy.learn({}, *seen[-1])
        fresh = bt.ThompsonSampling(ARMS, reward=kind, seed=1)
        for each in ARMS:
            last = [reward for name, reward in seen if name == each][-window:]
            fresh.learn_many([{}] * len(last), [each] * len(last), last)
        assert policy.propensities({}) == pytest.approx(fresh.propensities({}), rel=1e-6, abs=1e-9)
    copy = pickle.loads(pickle.dumps(policy))
    for each in (policy, copy):
        each.learn({}, ARMS[0], 1)
    assert copy.propensities({}) == policy.propensities({})


@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_counts_follow_the_window_between_refreshes(reward: str) -> None:
    stream, window = mixed_stream(600, reward), 60
    policy = bt.TreeHeuristic(ARMS, reward=reward, window=window, refresh=0.1)
    refits = 0
    for n, (context, arm, value) in enumerate(stream, 1):
        policy.learn(context, arm, value)
        _, rewards = stream.of(arm, n)
        tree = policy.tree(arm).to_dict()
        assert tree["n"] == min(len(rewards), window)
        assert tree["mean"] == pytest.approx(np.mean(rewards[-window:]))
        beyond = len(rewards) - window
        if beyond > 0 and beyond % 6 == 0:  # a tenth of the window
            fresh = refitted(policy, stream, n, window, reward=reward, refresh=0.1)
            assert policy.tree(arm).to_text() == fresh.tree(arm).to_text()
            refits += 1
    assert refits > 10


def test_a_leaf_whose_observations_are_all_forgotten_says_nothing() -> None:
    policy = bt.TreeHeuristic(["golf"], window=40, refresh=1, seed=1)
    for i in range(40):
        policy.learn({"x": i % 2}, "golf", i % 2)
    for _ in range(39):
        policy.learn({"x": 1}, "golf", 1)
    assert policy.tree("golf").n_leaves == 2
    assert policy.explain({"x": 0})["golf"].n == 0
    assert policy.expected_rewards({"x": 0}) == {"golf": 0.5}
    assert "n 0" in str(policy.tree("golf"))


def test_memory_is_bounded_by_the_window() -> None:
    stream = mixed_stream(3000)
    policy = bt.TreeHeuristic(ARMS, window=100)
    policy.learn_many(*stream.part(0, 3000))
    for i in range(len(ARMS)):
        assert 100 <= policy._core.n_rows(i) <= 105
    assert sum(policy.counts.values()) == 3000


@pytest.mark.parametrize("refresh", [0, 0.05, 0.3])
@pytest.mark.parametrize("n", [50, 240, 700])
def test_windowed_policies_go_on_from_a_copy(refresh: float, n: int) -> None:
    stream = mixed_stream(900)
    policy = bt.TreeHeuristic(ARMS, window=64, refresh=refresh, seed=3)
    for observation in list(stream)[:n]:
        policy.learn(*observation)
    copy = pickle.loads(pickle.dumps(policy))
    batched = bt.TreeHeuristic(ARMS, window=64, refresh=refresh, seed=3)
    batched.learn_many(*stream.part(0, n))
    for observation in list(stream)[n : n + 80]:
        for other in (copy, batched):
            assert other.propensities(observation[0]) == policy.propensities(observation[0])
        for each in (policy, copy, batched):
            each.learn(*observation)
    assert copy.tree("golf").to_dict() == policy.tree("golf").to_dict()


def test_a_window_follows_a_change() -> None:
    """After the arms have swapped, a windowed policy finds the better one again."""
    random, last = np.random.default_rng(4), []
    policies = [bt.TreeHeuristic(["a", "b"], window=window, seed=2) for window in (200, None)]
    for policy in policies:
        right = []
        for step in range(4000):
            best = "a" if step < 2000 else "b"
            arm = policy.decide({})
            right.append(arm == best)
            policy.learn({}, arm, int(random.random() < (0.6 if arm == best else 0.2)))
        last.append(np.mean(right[2600:]))
    assert last[0] > 0.9
    assert last[1] < 0.7


@pytest.mark.parametrize("window", [0, -1, 1.5, "all", True])
def test_a_window_is_a_whole_number(window: Any) -> None:
    with pytest.raises(bt.InvalidParameterError, match=r"window must be a whole number from 1 up"):
        bt.TreeHeuristic(["golf"], window=window)
    with pytest.raises(bt.InvalidParameterError, match=r"window must be a whole number from 1 up"):
        bt.ThompsonSampling(["golf"], window=window)
