"""After every observation the incremental tree is the one that `Tree.fit` grows on all of them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import banditree as bt
from banditree import _core
from reference import naive
from reference.strategies import Data, data_sets, tree_settings

Options = dict[str, Any]
BINS = st.none() | st.integers(2, 6)
BINARY = st.integers(0, 1)
STRUCTURE = ("n", "feature", "missing", "threshold", "categories")


@dataclass(frozen=True)
class Stream:
    contexts: list[Any]
    y: list[float]
    weights: list[float]
    others: list[Any]  # contexts to predict for
    categorical: tuple[Any, ...]

    @property
    def exact(self) -> bool:
        """Whether all sums are whole numbers."""
        return set(self.y) <= {0, 1} and all(w == int(w) for w in self.weights)


def mapped(row: list[Any], named: bool) -> Any:
    """Return a row as it is, or as a mapping that lacks what is missing."""
    return {f"f{j}": v for j, v in enumerate(row) if v is not None} if named else row


def as_stream(data: Data, named: bool, y: list[float] | None = None) -> Stream:
    return Stream(
        [mapped(row, named) for row in data.rows],
        data.y if y is None else y,
        [1] * len(data.y) if data.weights is None else data.weights,
        [mapped(row, named) for row in data.rows[:4] + data.others],
        tuple(f"f{j}" if named else j for j in data.named),
    )


@st.composite
def streams(draw: st.DrawFn, *, exact: bool = True, max_rows: int = 40) -> Stream:
    data = draw(data_sets(exact=exact, max_rows=max_rows))
    y = [draw(BINARY) for _ in data.y] if draw(st.booleans()) else None
    return as_stream(data, draw(st.booleans()), y)


def empty_tree(stream: Stream, options: Options) -> bt.IncrementalTree:
    return bt.IncrementalTree(categorical=stream.categorical, **options)


def learned(stream: Stream, options: Options, n: int | None = None) -> bt.IncrementalTree:
    tree = empty_tree(stream, options)
    for observation in list(zip(stream.contexts, stream.y, stream.weights, strict=True))[:n]:
        tree.learn(*observation)
    return tree


def batch_tree(stream: Stream, options: Options, n: int, inc: bt.IncrementalTree) -> bt.Tree:
    """Grow a tree on the first n observations, on the incremental tree's bins if it has any."""
    edges = inc.bin_edges if options.get("max_bins") is not None else None
    tree = bt.Tree(categorical=stream.categorical, **options)
    return tree.fit(stream.contexts[:n], stream.y[:n], stream.weights[:n], bin_edges=edges)


def parts(tree: bt.Tree) -> tuple[list[Any], list[float]]:
    """What must agree exactly, and the sums, which may be rounded; node by node."""
    structure: list[Any] = []
    sums: list[float] = []
    stack = [tree.to_dict()]
    while stack:
        node = stack.pop()
        structure.append([node.get(name) for name in STRUCTURE])
        sums += [node[name] for name in ("weight", "mean", "cost")]
        if "left" in node:
            sums.append(node["gain"])
            stack += [node["right"], node["left"]]
    return structure, sums


def assert_same(found: bt.Tree, expected: bt.Tree, exact: bool = False) -> None:
    if exact:
        assert found.to_dict() == expected.to_dict()
        return
    (structure, sums), (wanted, wanted_sums) = parts(found), parts(expected)
    assert structure == wanted
    np.testing.assert_allclose(sums, wanted_sums, rtol=1e-9, atol=1e-9)


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


def mixed_stream(n: int, reward: str) -> Stream:
    """Six features of all kinds, with gaps, a late feature, and weights of 0."""
    rng = np.random.default_rng(11)
    numbers = np.stack([rng.integers(0, 9, n), rng.normal(size=n), rng.integers(0, 400, n)])
    letters, codes, flags = rng.integers(0, 9, n), rng.integers(0, 7, n), rng.random(n) < 0.4
    score = numbers[0] / 4 + numbers[1] + letters % 3 - 2 * flags + rng.normal(size=n)
    y = score > 1.5 if reward == "binary" else np.round(score, 2)
    contexts = []
    for i in range(n):
        row = dict(zip("abc", numbers[:, i].tolist(), strict=True))
        row |= {"letter": f"letter {letters[i]}", "code": int(codes[i]), "flag": bool(flags[i])}
        gaps = rng.random(6) < 0.05
        kept = [k for k, gap in zip(row, gaps, strict=True) if not gap and (k != "flag" or i > 50)]
        contexts.append({k: row[k] for k in kept})
    weights = rng.integers(0, 4, n) if reward == "binary" else np.round(rng.exponential(size=n), 3)
    return Stream(contexts, y.astype(float).tolist(), weights.tolist(), contexts[:20], ("code",))


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


def assert_same_edges(found: Any, expected: Any) -> None:
    assert {k: v.tolist() for k, v in found.items()} == {k: list(v) for k, v in expected.items()}


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
    """When so many have come that rows without a gap would have grown by a quarter, or half left."""
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


@pytest.mark.parametrize(("renewed_at", "forgotten"), [(3, 0), (2, 1), (0, 0), (1, 0), (2, 5)])
def test_a_forged_state_is_refused(renewed_at: int, forgotten: int) -> None:
    tree = bt.IncrementalTree()
    tree.learn_many([[1], [2]], [0, 1])
    state = tree.__getstate__()
    state["rows"] = (*state["rows"][:3], renewed_at, forgotten)
    with pytest.raises(ValueError, match="can have forgotten"):
        bt.IncrementalTree.__new__(bt.IncrementalTree).__setstate__(state)


def test_exact_tree_has_no_edges() -> None:
    tree = bt.IncrementalTree()
    tree.learn_many([[1, "a"], [2, "b"]], [0, 1])
    assert tree.bin_edges == {}


def copies(tree: Any) -> list[Any]:
    return [pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree)]


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
