"""TreeHeuristic: the batch tree after every observation, and Thompson sampling in its leaves."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditree as bt
from banditree.trees.rules import Way, way_of
from policies.laws import assert_frequencies, beta_wins
from policies.tree_streams import (
    ARMS,
    Batch,
    Stream,
    assert_same_tree,
    folds_without_gaps,
    grown_alpha,
    mixed_stream,
    rewards_beside,
    streams,
)
from reference.strategies import policy_settings
from trees import real_data

# Streams here decide for features that come later, which is said once per policy.
pytestmark = pytest.mark.filterwarnings("ignore::banditree.BanditreeWarning")

Options = dict[str, Any]
BINS = st.none() | st.integers(2, 6)
# Contexts that tell no observation from another.
EMPTY = [{}, {"x": 1}, {"x": None}, [1.0, "a", None]]


# ---- contexts that say nothing ----


def taught(policy: Any, counts: list[tuple[int, int]], context: Any, seed: int = 0) -> Any:
    """Teach successes and failures of each arm, in random order."""
    rows = [
        (arm, reward)
        for arm, (wins, losses) in zip(policy.arms, counts, strict=True)
        for reward in [1] * wins + [0] * losses
    ]
    np.random.default_rng(seed).shuffle(rows)
    for arm, reward in rows:
        policy.learn(context, int(arm), int(reward))
    return policy


COUNTS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=4)


@settings(max_examples=35)
@given(COUNTS, st.sampled_from(EMPTY), st.integers(0, 99), st.booleans())
def test_without_information_it_is_thompson_sampling(
    counts: list[tuple[int, int]], context: Any, seed: int, binned: bool
) -> None:
    options: Options = {} if binned else {"max_bins": None}
    policy = taught(bt.TreeHeuristic(range(len(counts)), **options), counts, context, seed)
    thompson = taught(bt.ThompsonSampling(range(len(counts))), counts, context, seed)
    found = policy.propensities(context)
    assert list(found.values()) == pytest.approx(
        beta_wins([(wins + 1, losses + 1) for wins, losses in counts]), abs=1e-9
    )
    assert found == pytest.approx(thompson.propensities(context), abs=1e-12)
    assert policy.expected_rewards(context) == pytest.approx(thompson.expected_rewards(context))


@pytest.mark.parametrize(
    ("counts", "prior"),
    [
        ([(0, 0), (0, 0)], (1, 1)),
        ([(3, 9), (1, 1), (20, 60)], (1, 1)),
        ([(0, 5), (1, 4), (2, 3), (0, 0)], (1, 1)),
        ([(3, 9), (1, 1), (20, 60)], (2, 7)),
    ],
)
def test_decisions_follow_the_beta_laws(
    counts: list[tuple[int, int]], prior: tuple[int, int]
) -> None:
    policy = taught(bt.TreeHeuristic(range(len(counts)), prior=prior, seed=3), counts, {"x": 1})
    wins = beta_wins([(s + prior[0], f + prior[1]) for s, f in counts])
    assert list(policy.propensities({"x": 1}).values()) == pytest.approx(wins, abs=1e-9)
    decisions = policy.decide_many([{"x": 1}] * 20_000)
    assert_frequencies(decisions, dict(enumerate(wins)))


def test_the_leaf_of_the_context_is_what_counts() -> None:
    policy = bt.TreeHeuristic(["golf", "tennis"])
    for age in range(20, 60):
        policy.learn({"age": age}, "golf", int(age < 40))
        policy.learn({"age": age}, "tennis", int(age % 2))
    for age, golf in [(25, (21, 1)), (55, (1, 21))]:
        found = policy.propensities({"age": age})
        assert list(found.values()) == pytest.approx(beta_wins([golf, (21, 21)]), abs=1e-9)


# ---- the tree after every observation ----


def assert_batch_tree(policy: bt.TreeHeuristic, stream: Stream, arm: str, n: int) -> None:
    batch = Batch(policy, *stream.of(arm, n))
    index = policy._arms.index(arm)
    if policy.max_bins is not None:
        assert policy._core.edges(index) == batch.edges()
    assert policy._core.alpha(index) == pytest.approx(batch.alpha(), rel=1e-9, abs=1e-12)
    expected = batch.pruned(policy._core.alpha(index))
    assert_same_tree(policy.tree(arm), expected, stream.exact)


def assert_batch_leaves(policy: bt.TreeHeuristic, stream: Stream, arm: str, n: int) -> None:
    index = policy._arms.index(arm)
    expected = Batch(policy, *stream.of(arm, n)).pruned(policy._core.alpha(index))
    for row in policy._encoder.encode_many(stream.others[:5]):
        leaf = way_of(expected, row)
        (count,), (total,), (error,) = policy._core.evidence(row, np.array([index]))
        assert count == leaf.n
        assert (total / count, error) == pytest.approx((leaf.mean, leaf.cost), abs=1e-9)


def assert_batch_trees_after_every_row(stream: Stream, options: Options) -> None:
    """Begin with one arm; the others join when the stream has them. Later, look now and then."""
    policy = bt.TreeHeuristic([ARMS[0]], categorical=stream.categorical, refresh=0, **options)
    for n, (context, arm, reward) in enumerate(stream, 1):
        if arm not in policy.arms:
            policy.add_arm(arm)
        policy.learn(context, arm, reward)
        if n <= 60 or n % 3 == 0:
            assert_batch_leaves(policy, stream, arm, n)
            assert_batch_tree(policy, stream, arm, n)
    for arm in policy.arms:
        if arm in stream.arms:
            assert_batch_tree(policy, stream, arm, len(stream.arms))


FOLDS = st.integers(2, 10)


@settings(max_examples=35)
@given(streams(), policy_settings(), BINS, FOLDS)
def test_same_tree_after_every_row(
    stream: Stream, options: Options, max_bins: int | None, folds: int
) -> None:
    assert_batch_trees_after_every_row(stream, {"max_bins": max_bins, "folds": folds, **options})


@settings(max_examples=25)
@given(streams(reward="continuous"), policy_settings(min_leaf=1), BINS)
def test_same_tree_of_continuous_rewards(
    stream: Stream, options: Options, max_bins: int | None
) -> None:
    assert_batch_trees_after_every_row(
        stream, {"reward": "continuous", "max_bins": max_bins, **options}
    )


@pytest.mark.parametrize("options", [{}, {"min_leaf": 4, "min_split": 11, "max_depth": 3}], ids=str)
@pytest.mark.parametrize("max_bins", [None, 12])
@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_same_tree_in_the_course_of_250_rows(
    reward: str, max_bins: int | None, options: Options
) -> None:
    stream = mixed_stream(250, reward)
    options = {"reward": reward, "max_bins": max_bins, **options}
    assert_batch_trees_after_every_row(stream, options)
    policy = learned(stream, options)
    assert max(policy.tree(arm).n_leaves for arm in ARMS) > 2


def learned(stream: Stream, options: Options) -> bt.TreeHeuristic:
    policy = bt.TreeHeuristic(ARMS, categorical=stream.categorical, seed=1, **options)
    for observation in stream:
        policy.learn(*observation)
    return policy


def test_one_arm_has_the_tree_of_the_public_class() -> None:
    contexts, rewards = (values[:200] for values in mixed_stream(700).of("golf"))
    policy = bt.TreeHeuristic(["golf"], max_bins=None, refresh=0)
    policy.learn_many(contexts, ["golf"] * 200, rewards)
    tree = bt.Tree(category_gain="adjusted").fit(contexts, rewards)
    point = 185  # 1, 2, 3, 4, 5, 7, ..., 118, 148, 185, 232
    first = bt.Tree(category_gain="adjusted").fit(contexts[:point], rewards[:point])
    validated = first.cross_validate(folds_without_gaps(point, 10))
    alpha = grown_alpha(validated.lasting_alpha, point, 200)
    assert policy._core.alpha(0) == pytest.approx(alpha)
    assert policy.tree("golf").to_dict() == tree.prune(alpha).to_dict()
    assert 1 < policy.tree("golf").n_leaves < tree.n_leaves


# ---- trees that are refreshed ----


@pytest.mark.parametrize("refresh", [0.05, 0.5, 1])
@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_between_refreshes_splits_stay_and_rows_are_counted(refresh: float, reward: str) -> None:
    stream = mixed_stream(240, reward)
    policy = bt.TreeHeuristic(ARMS, reward=reward, refresh=refresh)
    grown_at, splits = dict.fromkeys(ARMS, 0), dict.fromkeys(ARMS)
    for n, (context, arm, value) in enumerate(stream, 1):
        policy.learn(context, arm, value)
        index, (contexts, rewards) = ARMS.index(arm), stream.of(arm, n)
        if len(rewards) >= max(grown_at[arm] + 1, math.ceil(grown_at[arm] * (1 + refresh))):
            grown_at[arm] = len(rewards)
        else:
            assert shape(policy.tree(arm).to_dict()) == splits[arm]
        splits[arm] = shape(policy.tree(arm).to_dict())
        tree, rows = policy._core.tree(index), policy._encoder.encode_many(contexts)
        ways = [way_of(tree, row) for row in rows]
        inside = [v for v, w in zip(rewards, ways, strict=True) if sides(w) == sides(ways[-1])]
        (count,), (total,), _ = policy._core.evidence(rows[-1], np.array([index]))
        assert ways[-1].n == count == len(inside)
        assert total == pytest.approx(sum(inside))
        assert ways[-1].mean == pytest.approx(np.mean(inside))
    assert max(policy.tree(arm).n_leaves for arm in ARMS) > 2


def shape(node: dict[str, Any]) -> Any:
    """Return the splits of a tree, without what they count."""
    if "left" not in node:
        return None
    split = node["feature"], node.get("threshold"), str(node.get("categories"))
    return split, shape(node["left"]), shape(node["right"])


def sides(way: Way) -> list[str]:
    return [step.side for step in way.steps]


def test_at_a_refresh_the_tree_is_that_of_every_row() -> None:
    contexts, rewards = (values[:185] for values in mixed_stream(700).of("golf"))
    lazy, eager = (bt.TreeHeuristic(["golf"], refresh=refresh) for refresh in (0.25, 0))
    for policy in (lazy, eager):  # both choose alpha at 185 rows, a point of both schedules
        policy.learn_many(contexts, ["golf"] * 185, rewards)
    assert lazy.tree("golf").to_dict() == eager.tree("golf").to_dict()


@pytest.mark.parametrize("refresh", [-0.1, 1.5, float("nan"), None, "often", True])
def test_refresh_is_a_share(refresh: Any) -> None:
    with pytest.raises(bt.InvalidParameterError, match=r"refresh must be a number from 0 to 1.*;"):
        bt.TreeHeuristic(["golf"], refresh=refresh)


# ---- what is said of a leaf ----


def assert_leaf_counts(policy: bt.TreeHeuristic, stream: Stream) -> None:
    for arm in set(stream.arms):
        root = policy.tree(arm).to_dict()
        for context in stream.others:
            inside = rewards_beside(root, context, stream.of(arm))
            known = policy.explain(context)[arm]
            assert known.n == len(inside)
            assert known.mean == pytest.approx(np.mean(inside), abs=1e-9)
            assert known.rule == policy.tree(arm).rule(context)


@settings(max_examples=35)
@given(streams(), policy_settings(), BINS)
def test_explain_counts_the_observations_of_the_leaf(
    stream: Stream, options: Options, max_bins: int | None
) -> None:
    assert_leaf_counts(learned(stream, {"max_bins": max_bins, **options}), stream)


@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_explain_counts_the_observations_of_larger_trees(reward: str) -> None:
    stream = mixed_stream(300, reward)
    policy = learned(stream, {"reward": reward})
    assert_leaf_counts(policy, stream)
    assert len({known.n for known in policy.explain({"age": 30}).values()}) > 1


# ---- many at once ----


def assert_same_policy(found: bt.TreeHeuristic, expected: bt.TreeHeuristic, stream: Stream) -> None:
    for index, arm in enumerate(ARMS):
        assert found._core.alpha(index) == pytest.approx(expected._core.alpha(index))
        if arm in stream.arms:
            assert_same_tree(found.tree(arm), expected.tree(arm)._core, stream.exact)
    for context in stream.others:
        assert found.propensities(context) == pytest.approx(expected.propensities(context))
    assert found._core.spread == pytest.approx(expected._core.spread)


@settings(max_examples=35)
@given(
    streams(max_rows=40),
    policy_settings(),
    BINS,
    st.lists(st.integers(0, 40), max_size=6),
)
def test_many_at_once_is_the_same(
    stream: Stream, options: Options, max_bins: int | None, cuts: list[int]
) -> None:
    options = {"max_bins": max_bins, **options}
    chunked = bt.TreeHeuristic(ARMS, categorical=stream.categorical, seed=1, **options)
    for start, stop in pairwise([0, *sorted(cuts), len(stream.arms)]):
        chunked.learn_many(*stream.part(start, stop))
    assert_same_policy(chunked, learned(stream, options), stream)


@pytest.mark.parametrize("chunk", [1, 7, 64, 400])
@pytest.mark.parametrize("max_bins", [None, 12])
@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_many_at_once_is_the_same_on_400_rows(
    reward: str, max_bins: int | None, chunk: int
) -> None:
    stream = mixed_stream(400, reward)
    options: Options = {"max_bins": max_bins, "reward": reward}
    chunked = bt.TreeHeuristic(ARMS, seed=1, **options)
    for start in range(0, 400, chunk):
        chunked.learn_many(*stream.part(start, start + chunk))
    assert_same_policy(chunked, learned(stream, options), stream)


# ---- real data ----


def real_stream(name: str, n: int) -> Stream:
    data = real_data.stream(name, n)
    arms = [ARMS[i % 3] for i in range(n)]
    rewards = [float(y if arm == "golf" else 1 - y) for y, arm in zip(data.y, arms, strict=True)]
    contexts = [dict(c) if isinstance(c, dict) else c for c in data.contexts]
    return Stream(contexts, arms, rewards, contexts[:9])


@pytest.mark.parametrize("max_bins", [None, 255])
@pytest.mark.parametrize("name", real_data.NAMES)
def test_same_tree_on_real_data(name: str, max_bins: int | None) -> None:
    stream = real_stream(name, 1500)
    policy = bt.TreeHeuristic(ARMS, max_bins=max_bins, refresh=0)
    for n, observation in enumerate(stream, 1):
        policy.learn(*observation)
        if n in (60, 500, 1100, 1500):
            for arm in ARMS:
                assert_batch_tree(policy, stream, arm, n)
    assert max(policy.tree(arm).n_leaves for arm in ARMS) > 2


# ---- the core ----


@pytest.mark.parametrize("policy", [bt.TreeHeuristic, bt.TreeBootstrap, bt.OnlineTreeBootstrap])
@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
def test_a_spread_of_rewards_that_cannot_be(policy: Any, place: int, wrong: float) -> None:
    core = policy(ARMS, reward="continuous")._core
    values = [10.0, 0.5, 2.0, -0.5, 1.0]
    core.spread = tuple(values)
    if (place, wrong) in ((1, -1.0), (3, -1.0)):
        wrong = -np.inf
    values[place] = wrong
    with pytest.raises(ValueError, match="five finite numbers"):
        core.spread = tuple(values)
    assert core.spread == (10.0, 0.5, 2.0, -0.5, 1.0)
