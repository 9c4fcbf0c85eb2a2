"""OnlineTreeBootstrap: independent halves, a batch tree on each, and exact propensities."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditree as bt
from banditree.trees.rules import way_of
from policies.laws import STANDARD_ERRORS, assert_frequencies
from policies.tree_streams import ARMS, Batch, Stream, assert_same_tree, mixed_stream, streams
from reference.strategies import policy_settings

# Streams here decide for features that come later, which is said once per policy.
pytestmark = pytest.mark.filterwarnings("ignore::banditree.BanditreeWarning")

Options = dict[str, Any]
BINS = st.none() | st.integers(2, 6)


# ---- the halves ----


def coins(n_rows: int = 400, replicas: int = 30) -> np.ndarray:
    """Return membership by arm, row and replica, as -1 and 1."""
    policy = bt.OnlineTreeBootstrap(ARMS, replicas=replicas, seed=77)
    members = [[policy._core.members(arm, row) for row in range(n_rows)] for arm in range(3)]
    assert set(np.unique(members)) == {0, 1}
    return 2.0 * np.array(members) - 1


def assert_uncorrelated(products: np.ndarray) -> None:
    """Check means of fair products of coins: each, and their squares taken together."""
    n = products.shape[0]
    scores = products.reshape(n, -1).sum(axis=0) / np.sqrt(n)
    assert np.abs(scores).max() < STANDARD_ERRORS
    # A squared score has mean 1 and variance 2 at most.
    assert (scores**2).mean() == pytest.approx(1, abs=STANDARD_ERRORS * np.sqrt(2 / len(scores)))


def test_every_coin_is_fair() -> None:
    members = coins()
    assert abs(members.mean()) < STANDARD_ERRORS / np.sqrt(members.size)
    assert_uncorrelated(members.transpose(1, 0, 2))  # by arm and replica
    assert_uncorrelated(members.transpose(2, 0, 1))  # by arm and row


def test_replicas_are_independent() -> None:
    members = coins()
    pairs = np.triu_indices(members.shape[2], 1)
    rows = members.reshape(-1, members.shape[2])
    assert_uncorrelated(rows[:, pairs[0]] * rows[:, pairs[1]])


def test_arms_are_independent() -> None:
    members = coins()
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        assert_uncorrelated(members[one] * members[other])
        assert_uncorrelated(members[one][1:] * members[other][:-1])


def test_rows_are_independent() -> None:
    members = coins()
    for lag in (1, 2, 3, 64):
        assert_uncorrelated((members[:, lag:] * members[:, :-lag]).transpose(1, 0, 2))


def test_halves_depend_on_the_seed_alone() -> None:
    def row_of(seed: int) -> list[int]:
        policy = bt.OnlineTreeBootstrap(ARMS, replicas=64, seed=seed)
        return policy._core.members(1, 5).tolist()

    assert row_of(3) == row_of(3)
    assert row_of(3) != row_of(4)


# ---- the trees ----


def learned(stream: Stream, options: Options) -> bt.OnlineTreeBootstrap:
    policy = bt.OnlineTreeBootstrap(ARMS, categorical=stream.categorical, seed=6, **options)
    for observation in stream:
        policy.learn(*observation)
    return policy


def assert_replicas(policy: bt.OnlineTreeBootstrap, stream: Stream, arm: str, n: int) -> None:
    """Compare each replica with the batch tree on its members, pruned at half of alpha.

    Bins and alpha are those of the arm's rows that count, up to the last that the replica has taken
    in. A row keeps its coins, whatever has left the window.
    """
    contexts, rewards = (values[-(policy.window or n) :] for values in stream.of(arm, n))
    index, learned = policy._arms.index(arm), policy.counts[arm]
    numbers = range(learned - len(rewards), learned)
    members = np.array([policy._core.members(index, number) for number in numbers])
    rows = policy._encoder.encode_many(stream.others[:4])
    predictions = np.array([policy._core.predictions(index, row) for row in rows])
    for replica in range(policy.replicas):
        own = np.flatnonzero(members[:, replica])
        leaves = [(0, 0.0)] * len(rows)
        if len(own):
            end = own[-1] + 1
            whole = Batch(policy, contexts[:end], rewards[:end])
            half = Batch(policy, [contexts[i] for i in own], [rewards[i] for i in own])
            expected = half.grown(edges=whole.edges()).prune(whole.alpha() / 2)
            assert_same_tree(policy.tree(arm, replica), expected, stream.exact)
            leaves = [(way.n, way.n * way.mean) for way in (way_of(expected, r) for r in rows)]
        assert predictions[:, replica] == pytest.approx(believed(policy, leaves, stream, n))


def believed(policy: Any, leaves: list[tuple[int, float]], stream: Stream, n: int) -> list[float]:
    if policy.reward == "continuous":
        mean = np.mean([r for arm in ARMS for r in stream.of(arm, n)[1][-(policy.window or n) :]])
        return [(total + mean) / (count + 1) for count, total in leaves]
    wins, losses = policy.prior
    return [(total + wins) / (count + wins + losses) for count, total in leaves]


def assert_replicas_after_every_row(stream: Stream, options: Options) -> None:
    options = {"categorical": stream.categorical, "refresh": 0, "seed": 6, **options}
    policy = bt.OnlineTreeBootstrap(ARMS, **options)
    for n, (context, arm, reward) in enumerate(stream, 1):
        policy.learn(context, arm, reward)
        assert_replicas(policy, stream, arm, n)


@settings(max_examples=20)
@given(streams(max_rows=20), policy_settings(), BINS)
def test_each_replica_is_the_batch_tree_of_its_half(
    stream: Stream, options: Options, max_bins: int | None
) -> None:
    options = {"replicas": 3, "prior": (1, 2), "max_bins": max_bins, **options}
    assert_replicas_after_every_row(stream, options)


@settings(max_examples=20)
@given(streams(max_rows=30), st.integers(1, 12), BINS)
def test_with_a_window_each_replica_is_that_of_its_half_of_the_last_rows(
    stream: Stream, window: int, max_bins: int | None
) -> None:
    assert_replicas_after_every_row(stream, {"replicas": 3, "window": window, "max_bins": max_bins})


@settings(max_examples=10)
@given(streams(max_rows=30, reward="continuous"), st.integers(1, 12))
def test_the_same_of_continuous_rewards_in_a_window(stream: Stream, window: int) -> None:
    options: Options = {"replicas": 3, "window": window, "reward": "continuous"}
    assert_replicas_after_every_row(stream, options)


@pytest.mark.parametrize("max_bins", [None, 12])
@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_each_replica_is_the_batch_tree_of_its_half_on_300_rows(
    reward: str, max_bins: int | None
) -> None:
    stream = mixed_stream(300, reward)
    options: Options = {"reward": reward, "max_bins": max_bins, "refresh": 0}
    policy = bt.OnlineTreeBootstrap(ARMS, replicas=5, seed=6, **options)
    for n, (context, arm, given_reward) in enumerate(stream, 1):
        policy.learn(context, arm, given_reward)
        if n % 20 == 0:
            assert_replicas(policy, stream, arm, n)
    leaves = {policy.tree(arm, i).n_leaves for arm in ARMS for i in range(5)}
    assert max(leaves) > 2
    assert len(leaves) > 1


def test_replicas_are_counted_from_0() -> None:
    policy = bt.OnlineTreeBootstrap(["golf"], replicas=2, seed=1)
    with pytest.raises(bt.NotFittedError, match="the arm 'golf' has no tree yet"):
        policy.tree("golf", 1)
    for wrong in (2, -1, 0.5):
        with pytest.raises(bt.InvalidParameterError, match="replica must be"):
            policy.tree("golf", wrong)


# ---- decisions ----


def enumerated(policy: bt.OnlineTreeBootstrap, context: Any) -> dict[str, float]:
    """Take every combination of one replica per arm in turn; arms that no replica knows first."""
    cold = [arm for arm in ARMS if policy._core.is_cold(policy._arms.index(arm))]
    if cold:
        return {arm: (arm in cold) / len(cold) for arm in ARMS}
    row = policy._encoder.encode_one(context)
    predictions = [policy._core.predictions(arm, row).tolist() for arm in range(len(ARMS))]
    wins = dict.fromkeys(ARMS, 0.0)
    combinations = list(product(*predictions))
    for values in combinations:
        best = [arm for arm, value in zip(ARMS, values, strict=True) if value == max(values)]
        for arm in best:
            wins[arm] += 1 / len(best) / len(combinations)
    return wins


@settings(max_examples=30)
@given(streams(max_rows=30), st.integers(1, 6))
def test_propensities_are_exact(stream: Stream, replicas: int) -> None:
    policy = learned(stream, {"replicas": replicas})
    for context in stream.others:
        assert policy.propensities(context) == pytest.approx(enumerated(policy, context))


def test_decisions_follow_the_propensities() -> None:
    stream = mixed_stream(60)
    policy = learned(stream, {"replicas": 7})
    for context in stream.others[:4]:
        expected = enumerated(policy, context)
        assert len([p for p in expected.values() if p > 0]) > 1
        assert_frequencies(policy.decide_many([context] * 20_000), expected)


def test_untried_arms_come_first() -> None:
    policy = bt.OnlineTreeBootstrap(ARMS, seed=5)
    policy.learn_many([[1]] * 40, [ARMS[0]] * 40, [1] * 40)
    halves = {ARMS[0]: 0.0, ARMS[1]: 0.5, ARMS[2]: 0.5}
    assert policy.propensities([1]) == halves
    assert_frequencies(policy.decide_many([[1]] * 2_000), halves)
    policy.learn([1], ARMS[1], 0)
    assert policy.propensities([1]) == {ARMS[0]: 0.0, ARMS[1]: 0.0, ARMS[2]: 1.0}
    policy.learn([1], ARMS[2], 0)
    assert set(policy.decide_many([[1]] * 100)) == {ARMS[0]}


def test_an_arm_that_no_replica_knows_is_untried() -> None:
    """With one replica, half of all first observations enter none."""
    for seed in range(8):
        policy = bt.OnlineTreeBootstrap(["golf", "tennis"], replicas=1, seed=seed)
        policy.learn_many([[1]] * 30, ["golf"] * 30, [1] * 30)
        n = 0
        while policy.propensities([1])["tennis"] == 1.0:
            assert policy.decide([1]) == "tennis"
            policy.learn([1], "tennis", 0)
            n += 1
        entered = [bool(policy._core.members(1, row)[0]) for row in range(n)]
        assert entered == [False] * (n - 1) + [True]


@pytest.mark.parametrize("seed", range(12))
def test_the_best_arm_is_tried_beside_good_ones(seed: int) -> None:
    policy = bt.OnlineTreeBootstrap(["a", "b", "c"], seed=seed)
    random = np.random.default_rng(seed)
    chosen = []
    for _ in range(10):
        chosen.append(policy.decide({}))
        chance = {"a": 0.8, "b": 0.85, "c": 0.95}[chosen[-1]]
        policy.learn({}, chosen[-1], int(random.random() < chance))
    assert set(chosen[:3]) == {"a", "b", "c"}


def test_an_arm_that_joins_is_believed_to_be_as_good_as_the_prior_says() -> None:
    policy = bt.OnlineTreeBootstrap(["golf"], replicas=5, prior=(3, 1), seed=2)
    policy.learn_many([[1]] * 30, ["golf"] * 30, [0] * 30)
    policy.add_arm("tennis")
    assert policy.expected_rewards([1])["tennis"] == 0.75
    assert policy.propensities([1]) == {"golf": 0.0, "tennis": 1.0}
    policy.remove_arm("tennis")
    assert policy.propensities([1]) == {"golf": 1.0}


# ---- many at once ----


@settings(max_examples=30)
@given(streams(max_rows=40), policy_settings(), BINS, st.lists(st.integers(0, 40), max_size=6))
def test_many_at_once_is_the_same(
    stream: Stream, options: Options, max_bins: int | None, cuts: list[int]
) -> None:
    options = {"replicas": 4, "max_bins": max_bins, **options}
    chunked = bt.OnlineTreeBootstrap(ARMS, categorical=stream.categorical, seed=6, **options)
    for start, stop in pairwise([0, *sorted(cuts), len(stream.arms)]):
        chunked.learn_many(*stream.part(start, stop))
    expected = learned(stream, options)
    for context in stream.others:
        assert chunked.propensities(context) == pytest.approx(expected.propensities(context))
        row = chunked._encoder.encode_one(context)
        for arm in range(len(ARMS)):
            mine, other = (p._core.predictions(arm, row) for p in (chunked, expected))
            assert mine == pytest.approx(other)
