"""With a window, a policy believes what the last observations of each arm say, and nothing else."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditree as bt
from banditree import _core
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


def beside_refits(policy: Any, stream: Stream, window: int, **options: Any) -> Iterator[Any]:
    """Let a policy learn; yield, after each observation, the one that it must be like."""
    for n, observation in enumerate(stream, 1):
        policy.learn(*observation)
        yield refitted(policy, stream, n, window, **options)


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
    for fresh in beside_refits(policy, stream, window, **options):
        assert_alike(policy, fresh, stream)


@settings(max_examples=15)
@given(streams(max_rows=30, reward="continuous"), st.integers(1, 12))
def test_the_same_of_continuous_rewards(stream: Stream, window: int) -> None:
    options: dict[str, Any] = {"refresh": 0, "reward": "continuous", "seed": 1}
    policy = bt.TreeHeuristic(ARMS, categorical=stream.categorical, window=window, **options)
    for fresh in beside_refits(policy, stream, window, **options):
        assert policy._core.spread == pytest.approx(fresh._core.spread, rel=1e-6, abs=1e-9)
        assert_alike(policy, fresh, stream)


BOOTSTRAPS = st.fixed_dictionaries(
    {
        "pruning": st.sampled_from(["cv", "cv_every_fit", None]),
        "weights": st.sampled_from(["multinomial", "exponential"]),
        "cold_start": st.sampled_from(["prior", "until_success"]),
        "max_bins": st.none() | st.integers(2, 6),
    }
)


def assert_same_draws(policy: Any, fresh: Any, stream: Stream) -> None:
    """Check that arms have the same rows, and trees on the same resamples the same predictions."""
    for arm in range(len(ARMS)):
        for found, expected in zip(policy._core.rows(arm), fresh._core.rows(arm), strict=True):
            np.testing.assert_array_equal(found, expected)
        if fresh._core.n_rows(arm) == 0:
            continue
        assert policy._core.alpha(arm) == pytest.approx(fresh._core.alpha(arm))
        for context in stream.others[:2]:
            row = fresh._encoder.encode_one(context)
            found, expected = (
                each._core.draws(arm, row, 3, _core.Generator(1)) for each in (policy, fresh)
            )
            assert found == pytest.approx(expected)
    expected_rewards = [each.expected_rewards(stream.others[0]) for each in (policy, fresh)]
    assert expected_rewards[0] == pytest.approx(expected_rewards[1])


@settings(max_examples=25)
@given(streams(max_rows=30), st.integers(1, 12), BOOTSTRAPS)
def test_resamples_are_of_the_last_observations_after_every_one(
    stream: Stream, window: int, options: dict[str, Any]
) -> None:
    policy = bt.TreeBootstrap(ARMS, categorical=stream.categorical, window=window, **options)
    for fresh in beside_refits(policy, stream, window, **options):
        assert_same_draws(policy, fresh, stream)


@settings(max_examples=15)
@given(streams(max_rows=30, reward="continuous"), st.integers(1, 12), BOOTSTRAPS)
def test_the_same_of_continuous_rewards_of_resamples(
    stream: Stream, window: int, options: dict[str, Any]
) -> None:
    if options["cold_start"] == "prior":
        options["pruning"] = None  # alpha is of made-up rewards as they were when it was chosen
    options["reward"] = "continuous"
    policy = bt.TreeBootstrap(ARMS, categorical=stream.categorical, window=window, **options)
    for fresh in beside_refits(policy, stream, window, **options):
        assert policy._core.spread == pytest.approx(fresh._core.spread, rel=1e-6, abs=1e-9)
        assert_same_draws(policy, fresh, stream)


@pytest.mark.parametrize("cold_start", ["prior", "until_success"])
@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_no_resample_has_a_forgotten_observation(reward: str, cold_start: str) -> None:
    """Without features, neither bins nor alpha matter: what was drawn from is all that counts."""
    window, stream = 60, mixed_stream(400, reward)
    plain = Stream([{}] * 400, stream.arms, stream.rewards, [{}])
    options: dict[str, Any] = {"reward": reward, "cold_start": cold_start}
    policy = bt.TreeBootstrap(ARMS, window=window, **options)
    for n, observation in enumerate(plain, 1):
        policy.learn(*observation)
        if n < 150:
            continue
        fresh = refitted(policy, plain, n, window, **options)
        for arm, name in enumerate(ARMS):
            draws = [
                e._core.draws(arm, np.empty(0), 2, _core.Generator(n)) for e in (policy, fresh)
            ]
            assert draws[0] == pytest.approx(draws[1])
            assert policy.tree(name).to_dict()["n"] == fresh.tree(name).to_dict()["n"]
        intervals = [each.explain({})["golf"].interval for each in (policy, fresh)]
        assert intervals[0] == pytest.approx(intervals[1])


@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_replicas_count_the_window_between_refreshes(reward: str) -> None:
    stream, window = mixed_stream(600, reward), 60
    options: dict[str, Any] = {"reward": reward, "replicas": 4, "seed": 2}
    policy = bt.OnlineTreeBootstrap(ARMS, window=window, refresh=0.1, **options)
    for n, (context, arm, value) in enumerate(stream, 1):
        policy.learn(context, arm, value)
        index, learned = ARMS.index(arm), policy.counts[arm]
        rewards = np.array(stream.of(arm, n)[1][-window:])
        assert policy.explain({})[arm].n == len(rewards)
        if len(rewards) < window:
            continue
        members = np.array([policy._core.members(index, learned - window + i) for i in range(60)])
        for replica in range(4):
            root, own = policy.tree(arm, replica).to_dict(), rewards[members[:, replica] == 1]
            assert (root["n"], root["mean"]) == (len(own), pytest.approx(own.mean()))


def test_a_replica_may_have_its_first_row_between_refreshes() -> None:
    """Of so short a window, some replicas have no row when its trees are grown."""
    policy = bt.OnlineTreeBootstrap(["golf"], window=2, refresh=1, replicas=8, seed=1)
    for n in range(1, 60):
        policy.learn([n], "golf", n % 3 == 0)
        last = [number for number in (n - 1, n) if number > 0]
        members = [policy._core.members(0, number - 1) for number in last]
        predictions = policy._core.predictions(0, np.array([float(n)]))
        for replica in range(8):
            own = sum(taken[replica] for taken in members)
            if own == 0:
                assert predictions[replica] == 0.5
            else:
                assert policy.tree("golf", replica).to_dict()["n"] == own


@pytest.mark.parametrize(
    "make", [bt.TreeHeuristic, bt.TreeBootstrap, partial(bt.OnlineTreeBootstrap, replicas=2)]
)
def test_rewards_that_have_left_leave_no_rounding(make: Any) -> None:
    policy = make(["golf", "tennis"], reward="continuous", window=1)
    policy.learn_many([{}] * 4, ["golf", "golf", "tennis", "tennis"], [0.1, 0, 1e9 / 3, 0])
    assert policy._core.spread == (2, 0, 0, 0, 0)


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


TREE_POLICIES: list[Any] = [
    bt.TreeHeuristic,
    partial(bt.OnlineTreeBootstrap, replicas=5),
    bt.TreeBootstrap,
    partial(bt.TreeBootstrap, cold_start="until_success", reward="continuous"),
]


@pytest.mark.parametrize("make", TREE_POLICIES)
def test_memory_is_bounded_by_the_window(make: Any) -> None:
    stream = mixed_stream(3000)
    policy = make(ARMS, window=100)
    for start in (0, 1500):
        policy.learn_many(*stream.part(start, start + 1000))
        for observation in list(stream)[start + 1000 : start + 1500]:
            policy.learn(*observation)
            for i in range(len(ARMS)):
                assert policy._core.n_rows(i) <= 107  # 5 of a refresh, 2 made up
    assert min(policy._core.n_rows(i) for i in range(len(ARMS))) >= 100
    assert sum(policy.counts.values()) == 3000


@pytest.mark.parametrize(
    "make",
    [
        *TREE_POLICIES,
        *(partial(bt.TreeHeuristic, refresh=refresh) for refresh in (0, 0.3)),
        *(partial(bt.OnlineTreeBootstrap, replicas=5, refresh=refresh) for refresh in (0, 0.3)),
    ],
)
@pytest.mark.parametrize("n", [50, 240, 700])
def test_windowed_policies_go_on_from_a_copy(make: Any, n: int) -> None:
    stream = mixed_stream(900)
    policy = make(ARMS, window=64, seed=3)
    for observation in list(stream)[:n]:
        policy.learn(*observation)
    copy = pickle.loads(pickle.dumps(policy))
    batched = make(ARMS, window=64, seed=3)
    batched.learn_many(*stream.part(0, n))
    for i, observation in enumerate(list(stream)[n : n + 80]):
        for other in (copy, batched) if i % 9 == 0 else ():
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
    for make in (*TREE_POLICIES, bt.ThompsonSampling):
        with pytest.raises(bt.InvalidParameterError, match="window must be a whole number from 1"):
            make(["golf"], window=window)
