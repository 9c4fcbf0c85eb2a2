"""Forgetting the oldest observation leaves the tree that `Tree.fit` grows on the others."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import banditree as bt
from banditree import _core
from reference import naive
from reference.strategies import tree_settings
from trees.row_streams import (
    BINS,
    Options,
    Stream,
    assert_same,
    assert_same_edges,
    copies,
    empty_tree,
    learned,
    mixed_stream,
    streams,
)

Row = tuple[Any, float, float]


def batch_tree_on(rows: list[Row], inc: bt.IncrementalTree) -> bt.Tree:
    """Grow a tree on the rows alone, with the features, categories and bins of another."""
    encoder = copy.deepcopy(inc._encoder)
    contexts, rewards, weights = zip(*rows, strict=True)
    encoded, pending = encoder.stage_many(list(contexts))
    encoder.commit(pending)
    edges = inc._core.edges() if inc.bin_edges else None
    core = _core.Tree.fit(
        encoded,
        encoder.is_categorical,
        np.array(rewards, float),
        np.array(weights, float),
        *inc._settings.growth,
        edges,
    )
    return bt.Tree._of(inc._settings, encoder, core)


def assert_same_while_forgetting(stream: Stream, options: Options, forgets: list[int]) -> None:
    """Forget so many rows after each one that is learned, as far as there are some."""
    inc, kept = empty_tree(stream, options), list[Row]()
    observations = zip(stream.contexts, stream.y, stream.weights, strict=True)
    for observation, n_forgets in zip(observations, forgets, strict=False):
        inc.learn(*observation)
        kept += [observation] if observation[2] else []
        for _ in range(min(n_forgets, len(kept))):
            inc.forget()
            del kept[0]
            assert len(inc) == len(kept)
            if kept:
                assert_same(inc.as_tree(), batch_tree_on(kept, inc), stream.exact)
        if kept:
            assert_same(inc.as_tree(), batch_tree_on(kept, inc), stream.exact)
    for twin in copies(inc) if kept else []:
        assert_same(twin.as_tree(), inc.as_tree(), stream.exact)


FORGETS = st.lists(st.sampled_from([0, 0, 1, 1, 1, 2, 9]), min_size=40, max_size=40)


@given(streams(), tree_settings(), BINS, FORGETS)
def test_forgetting_leaves_the_tree_of_the_other_rows(
    stream: Stream, options: Options, max_bins: int | None, forgets: list[int]
) -> None:
    assert_same_while_forgetting(stream, {"max_bins": max_bins, **options}, forgets)


@given(streams(exact=False), tree_settings(min_leaf=1), BINS, FORGETS)
def test_forgetting_where_sums_are_rounded(
    stream: Stream, options: Options, max_bins: int | None, forgets: list[int]
) -> None:
    assert_same_while_forgetting(stream, {"max_bins": max_bins, **options}, forgets)


@given(st.lists(st.sampled_from([1e9, 3e4, 1001, 1000, 3, 2, 0.1]), min_size=1), FORGETS)
@example([1e9] + [0.1, 3, 2] * 9, [0] * 28 + [1])
def test_nothing_is_left_of_a_large_reward_that_is_forgotten(
    y: list[float], forgets: list[int]
) -> None:
    rows = [[i] for i in range(len(y))]
    weights = [1e6 if i % 7 == 0 else 0.3 for i in range(len(y))]
    assert_same_while_forgetting(Stream(rows, y, weights, [], ()), {}, forgets)


@pytest.mark.parametrize("options", [{}, {"min_leaf": 3, "category_gain": "adjusted"}], ids=str)
@pytest.mark.parametrize("max_bins", [None, 6])
@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_a_window_of_150_rows(reward: str, max_bins: int | None, options: Options) -> None:
    stream = mixed_stream(600, reward)
    window = [0] * 200 + [1] * 400
    assert_same_while_forgetting(stream, {"max_bins": max_bins, **options}, window)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=60), FORGETS)
def test_bins_are_renewed_while_rows_are_forgotten(values: list[int], forgets: list[int]) -> None:
    """When a quarter of the rows that they were made from have come, or half of all have left."""
    inc = bt.IncrementalTree(max_bins=3)
    stored: list[list[int]] = []  # all rows since, forgotten ones included
    made_of, gone = 0, 0
    for value, n_forgets in zip(values, forgets, strict=False):
        inc.learn([value], value % 2)
        stored.append([value])
        if len(stored) == max(made_of + 1, -(-5 * made_of // 4)):
            stored, gone = stored[gone:], 0
            made_of = len(stored)
        for _ in range(min(n_forgets, len(inc))):
            inc.forget()
            gone += 1
            if 2 * gone >= len(stored):
                stored, gone = stored[gone:], 0
                made_of = len(stored)
        if stored:
            expected = naive.bin_edges(stored[:made_of], None, frozenset(), 3)
            assert_same_edges(inc.bin_edges, expected)


@given(streams(), tree_settings(), BINS, FORGETS, st.integers(1, 30))
def test_copies_of_a_tree_that_has_forgotten_go_on_as_it_does(
    stream: Stream, options: Options, max_bins: int | None, forgets: list[int], n: int
) -> None:
    original = learned(stream, {"max_bins": max_bins, **options}, n)
    for _ in range(min(sum(forgets[:5]), len(original))):
        original.forget()
    twins = copies(original)
    observations = zip(stream.contexts, stream.y, stream.weights, strict=True)
    rest = list(zip(observations, forgets, strict=False))[n:]
    batched = copy.deepcopy(original)
    for observation, n_forgets in rest:
        for tree in (original, *twins):
            tree.learn(*observation)
            for _ in range(min(n_forgets, len(tree))):
                tree.forget()
    for twin in twins:
        assert len(twin) == len(original)
        assert_same_edges(twin.bin_edges, original.bin_edges)
        if len(original):
            assert_same(twin.as_tree(), original.as_tree(), stream.exact)
    single = copy.deepcopy(batched)
    for observation, _ in rest:
        single.learn(*observation)
    batched.learn_many(*([o[i] for o, _ in rest] for i in range(3)))
    assert_same_edges(batched.bin_edges, single.bin_edges)
    if len(single):
        assert_same(batched.as_tree(), single.as_tree(), stream.exact)


def test_memory_is_bounded_by_the_rows_that_are_not_forgotten() -> None:
    tree, random = bt.IncrementalTree(max_bins=16), np.random.default_rng(3)
    contexts, rewards = random.normal(size=(6000, 3)), random.integers(2, size=6000)
    held = []
    for context, reward in zip(contexts, rewards.tolist(), strict=True):
        tree.learn(context, reward)
        if len(tree) > 200:
            tree.forget()
            held.append(tree._core.bytes)
    assert max(held[-1000:]) < 1.5 * max(held[:1000])
    assert len(tree._core.rows()[1]) <= 250


def test_without_a_row_there_is_nothing_to_forget() -> None:
    tree = bt.IncrementalTree()
    for _ in range(2):
        with pytest.raises(bt.NotFittedError, match="no observation to forget; call learn first"):
            tree.forget()
        tree.learn({"a": 1}, 1)
        tree.forget()
    with pytest.raises(bt.NotFittedError, match="learned nothing"):
        tree.predict({"a": 1})
    tree.learn({"a": 2}, 0)
    assert tree.predict({"a": 1}) == 0


@pytest.mark.parametrize(
    ("renewed_at", "forgotten"), [(3, 0), (2, 1), (0, 0), (1, 0), (2, 5), (2, 2**63)]
)
def test_a_forged_state_is_refused(renewed_at: int, forgotten: int) -> None:
    tree = bt.IncrementalTree()
    tree.learn_many([[1], [2]], [0, 1])
    state = tree.__getstate__()
    state["rows"] = (*state["rows"][:3], renewed_at, forgotten)
    with pytest.raises(ValueError, match="can have forgotten"):
        bt.IncrementalTree.__new__(bt.IncrementalTree).__setstate__(state)
