"""After every observation the incremental tree is the one that `Tree.fit` grows on all of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import banditree as bt
from reference import naive
from reference.strategies import Data, data_sets, tree_settings
from trees.row_streams import (
    BINS,
    Options,
    Stream,
    as_stream,
    assert_same,
    assert_same_edges,
    copies,
    empty_tree,
    learned,
    mixed_stream,
    streams,
)


def batch_tree(stream: Stream, options: Options, n: int, inc: bt.IncrementalTree) -> bt.Tree:
    """Grow a tree on the first n observations, on the incremental tree's bins if it has any."""
    edges = inc.bin_edges if options.get("max_bins") is not None else None
    tree = bt.Tree(categorical=stream.categorical, **options)
    return tree.fit(stream.contexts[:n], stream.y[:n], stream.weights[:n], bin_edges=edges)


def assert_same_after_every_row(stream: Stream, options: Options) -> None:
    inc = empty_tree(stream, options)
    for n, observation in enumerate(zip(stream.contexts, stream.y, stream.weights, strict=True), 1):
        inc.learn(*observation)
        assert len(inc) == np.count_nonzero(stream.weights[:n])
        if len(inc):
            assert_same(inc.as_tree(), batch_tree(stream, options, n, inc), stream.exact)


def test_adjusted_gains_of_weighted_rows_round_alike() -> None:
    """The gains of both trees are equal to the last bit, whatever the order of the sums."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        inc = bt.IncrementalTree(category_gain="adjusted")
        contexts = [{"value": f"v{i}"} for i in random.integers(9, size=60)]
        rewards, weights = random.integers(2, size=60).tolist(), random.integers(1, 4, size=60)
        for context, reward, weight in zip(contexts, rewards, weights.tolist(), strict=True):
            inc.learn(context, reward, weight)
        batch = bt.Tree(category_gain="adjusted").fit(contexts, rewards, weights)
        assert inc.as_tree().to_dict() == batch.to_dict()


@given(streams(), tree_settings(), BINS)
def test_same_tree_after_every_row(stream: Stream, options: Options, max_bins: int | None) -> None:
    assert_same_after_every_row(stream, {"max_bins": max_bins, **options})


@given(streams(exact=False), tree_settings(min_leaf=1), BINS)
def test_same_tree_where_sums_are_rounded(
    stream: Stream, options: Options, max_bins: int | None
) -> None:
    assert_same_after_every_row(stream, {"max_bins": max_bins, **options})


@given(st.lists(st.sampled_from([1e9, 3e4, 1001, 1000, 3, 2, 1]), min_size=1, max_size=30))
@example([1e9] * 9 + [1, 2])
def test_same_tree_where_rewards_come_closer_to_zero(y: list[float]) -> None:
    rows = [[i] for i in range(len(y))]
    assert_same_after_every_row(Stream(rows, y, [1] * len(y), [], ()), {})


def test_a_leaf_of_equal_contexts_that_another_joined_before_it_may_be_split() -> None:
    rows, y = [[1], [1], [-1], [-1], [0], [1]], [0, 1, 1, 1, 0, 0]
    assert_same_after_every_row(Stream(rows, y, [1] * 6, [], ()), {"min_split": 4})


@pytest.mark.parametrize("options", [{}, {"min_leaf": 3, "min_split": 9}], ids=str)
@pytest.mark.parametrize("max_bins", [None, 16])
@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_same_tree_after_each_of_600_rows(
    reward: str, max_bins: int | None, options: Options
) -> None:
    stream = mixed_stream(600, reward)
    assert_same_after_every_row(stream, {"max_bins": max_bins, **options})
    assert learned(stream, {"max_bins": max_bins, **options}).as_tree().n_leaves > 40


@given(streams(), tree_settings(), BINS)
def test_same_predictions(stream: Stream, options: Options, max_bins: int | None) -> None:
    inc = learned(stream, {"max_bins": max_bins, **options})
    tree = inc.as_tree()
    expected = tree.predict(stream.others)
    assert list(inc.predict(stream.others)) == list(expected)
    assert [inc.predict(context) for context in stream.others] == list(expected)
    assert [tree.predict(context) for context in stream.others] == list(expected)


@given(streams(), tree_settings(), BINS, st.lists(st.integers(0, 40), max_size=6))
def test_many_at_once_is_the_same(
    stream: Stream, options: Options, max_bins: int | None, cuts: list[int]
) -> None:
    options = {"max_bins": max_bins, **options}
    chunked = empty_tree(stream, options)
    for start, stop in pairwise([0, *sorted(cuts), len(stream.y)]):
        part = slice(start, stop)
        chunked.learn_many(stream.contexts[part], stream.y[part], stream.weights[part])
    expected = learned(stream, options)
    assert len(chunked) == len(expected)
    assert_same(chunked.as_tree(), expected.as_tree(), stream.exact)
    assert_same_edges(chunked.bin_edges, expected.bin_edges)


@pytest.mark.parametrize("max_bins", [None, 16])
@pytest.mark.parametrize("chunk", [1, 7, 40, 150])
def test_many_at_once_is_the_same_on_600_rows(max_bins: int | None, chunk: int) -> None:
    stream = mixed_stream(600, "binary")
    chunked = empty_tree(stream, {"max_bins": max_bins})
    for i in range(0, 600, chunk):
        part = slice(i, i + chunk)
        chunked.learn_many(stream.contexts[part], stream.y[part], stream.weights[part])
    expected = learned(stream, {"max_bins": max_bins})
    assert_same(chunked.as_tree(), expected.as_tree(), exact=True)


def test_many_without_weights_count_once_each() -> None:
    rows, y = [[i % 7, i % 3] for i in range(50)], [i % 2 for i in range(50)]
    tree = bt.IncrementalTree()
    assert tree.learn_many(rows, y) is None
    assert_same(tree.as_tree(), bt.Tree().fit(rows, y), exact=True)


def schedule(n: int) -> int:
    """The latest point, at n rows, at which bins are made."""
    point = 1
    while True:
        after = max(point + 1, -(-5 * point // 4))
        if after > n:
            return point
        point = after


def test_schedule() -> None:
    points = [schedule(n) for n in range(1, 33)]
    assert sorted(set(points)) == [1, 2, 3, 4, 5, 7, 9, 12, 15, 19, 24, 30]


@given(data_sets(), st.integers(2, 6))
def test_bins_follow_the_schedule(data: Data, max_bins: int) -> None:
    stream = as_stream(data, named=False)
    inc = empty_tree(stream, {"max_bins": max_bins})
    kept: list[Any] = []
    for row, y, weight in zip(data.rows, data.y, stream.weights, strict=True):
        inc.learn(row, y, weight)
        kept += [row] if weight else []
        first = kept[: schedule(len(kept))]
        if first:
            # A column whose values are yet to come is a number feature without edges.
            present = {j for j in data.categorical if any(r[j] is not None for r in kept)}
            expected = naive.bin_edges(first, None, data.categorical, max_bins)
            blank = data.categorical - present - set(data.named)
            known = {j for j in blank if j in inc.bin_edges}
            assert_same_edges(inc.bin_edges, expected | {j: [] for j in known})


def test_exact_tree_has_no_edges() -> None:
    tree = bt.IncrementalTree()
    tree.learn_many([[1, "a"], [2, "b"]], [0, 1])
    assert tree.bin_edges == {}


@given(streams(), tree_settings(), BINS, st.integers(0, 40))
def test_copies_learn_on_as_the_original(
    stream: Stream, options: Options, max_bins: int | None, n: int
) -> None:
    options = {"max_bins": max_bins, **options}
    for twin in copies(learned(stream, options, n)):
        original = learned(stream, options, n)
        assert repr(twin) == repr(original)
        assert len(twin) == len(original)
        for observation in list(zip(stream.contexts, stream.y, stream.weights, strict=True))[n:]:
            twin.learn(*observation)
            original.learn(*observation)
        assert_same(twin.as_tree(), original.as_tree(), stream.exact)
        assert_same_edges(twin.bin_edges, original.bin_edges)
        assert list(twin.predict(stream.others)) == pytest.approx(
            list(original.predict(stream.others)), rel=1e-9, abs=1e-9
        )


def test_a_deep_copy_is_independent() -> None:
    tree = bt.IncrementalTree()
    tree.learn_many([["a"], ["b"]], [0, 1])
    for twin in copies(tree):
        twin.learn(["c"], 1)
    assert len(tree) == 2
    assert tree.as_tree().to_dict()["categories"] == {"left": ["a"], "right": ["b"]}


def test_as_tree_is_a_snapshot() -> None:
    stream = mixed_stream(200, "binary")
    tree = learned(stream, {"max_bins": 8}, 100)
    snapshot = tree.as_tree()
    before, predicted = snapshot.to_dict(), snapshot.predict(stream.others)
    for observation in list(zip(stream.contexts, stream.y, stream.weights, strict=True))[100:]:
        tree.learn(*observation)
    assert snapshot.to_dict() == before
    assert list(snapshot.predict(stream.others)) == list(predicted)
    assert tree.as_tree().to_dict() != before
    assert snapshot.predict({"a": 1, "new": "feature"}) == snapshot.predict({"a": 1})


def test_as_tree_prunes_and_cross_validates_as_a_fitted_tree() -> None:
    stream = mixed_stream(300, "binary")
    snapshot = learned(stream, {}).as_tree()
    fitted = bt.Tree(categorical=["code"]).fit(stream.contexts, stream.y, stream.weights)
    assert snapshot.pruning_path().alphas == pytest.approx(fitted.pruning_path().alphas)
    found, expected = snapshot.cross_validate(5, seed=3), fitted.cross_validate(5, seed=3)
    assert found.errors.tolist() == pytest.approx(expected.errors.tolist())


def test_weight_counts_as_that_many_rows_do() -> None:
    once, twice = bt.IncrementalTree(), bt.IncrementalTree()
    for i in range(30):
        once.learn([i % 7, i % 4], i % 2, weight=1 + i % 3)
        for _ in range(1 + i % 3):
            twice.learn([i % 7, i % 4], i % 2)
    assert (len(once), len(twice)) == (30, 60)
    contexts = [[a, b] for a in range(7) for b in range(4)]
    assert list(once.predict(contexts)) == list(twice.predict(contexts))


def test_repr_is_a_constructor_call() -> None:
    for text in ("IncrementalTree()", "IncrementalTree(min_leaf=3, max_bins=8)"):
        assert repr(eval(text, {"IncrementalTree": bt.IncrementalTree})) == text
