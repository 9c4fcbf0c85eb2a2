"""The prediction of a bootstrap tree, without growing it, is that of the tree grown and pruned."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import banditree as bt
from banditree._core import Generator
from reference import naive
from reference.strategies import Data, data_sets, tree_settings

Options = dict[str, Any]
BINS = st.none() | st.integers(2, 6)


def bootstrap_weights(kind: str, seed: int, n: int) -> np.ndarray:
    generator = Generator(seed)
    if kind == "multinomial":
        return generator.multinomial_weights(n)
    return generator.exponential_weights(n)


def assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def alphas_to_try(tree: bt.Tree) -> list[float]:
    alphas = tree.pruning_path().alphas.tolist()
    between = [(a + b) / 2 for a, b in pairwise(alphas)]
    return [*alphas, *between, 2 * alphas[-1] + 1]


def used(data: Data) -> Data:
    """The rows that a tree keeps: those of positive weight."""
    if data.weights is None:
        return data
    kept = [i for i, weight in enumerate(data.weights) if weight > 0]
    rows, y = [data.rows[i] for i in kept], [data.y[i] for i in kept]
    return Data(rows, y, None, data.categorical, data.named, data.others, [])


def assert_lazy_equals_grown(
    data: Data, options: Options, max_bins: int | None, weights: np.ndarray
) -> None:
    """Compare for every interesting alpha; the referee gets the bins of the full data."""
    settings: Options = {"categorical": data.named, "max_bins": max_bins, **options}
    full = bt.Tree(**settings).fit(data.rows, data.y)
    edges = None
    if max_bins is not None:
        edges = naive.bin_edges(data.rows, None, data.categorical, max_bins)
    grown = bt.Tree(**settings).fit(data.rows, data.y, weights, bin_edges=edges)
    contexts = data.rows + data.others
    encoded = full._encoder.encode_many(contexts)
    for alpha in alphas_to_try(grown):
        expected = grown.prune(alpha).predict(contexts)
        found = [full._core.lazy_predict_one(weights, alpha, row) for row in encoded]
        assert_close(found, expected)


@given(
    data_sets(max_rows=20),
    tree_settings(),
    BINS,
    st.sampled_from(["multinomial", "exponential"]),
    st.integers(0, 2**32),
)
def test_same_as_growing_and_pruning(
    data: Data, options: Options, max_bins: int | None, kind: str, seed: int
) -> None:
    data = used(data)
    if data.categorical and kind == "multinomial":
        # The order of categories of equal mean would matter, and hang on rows that are left out.
        options = {**options, "min_leaf": 1}
    weights = bootstrap_weights(kind, seed, len(data.y))
    assert_lazy_equals_grown(data, options, max_bins, weights)


@given(data_sets(max_rows=15), tree_settings(min_leaf=1), BINS)
def test_weights_of_the_tree_itself_are_replaced(
    data: Data, options: Options, max_bins: int | None
) -> None:
    settings: Options = {"categorical": data.named, "max_bins": max_bins, **options}
    weighted = bt.Tree(**settings).fit(data.rows, data.y, data.weights)
    kept = np.ones(len(data.y)) if data.weights is None else np.array(data.weights) > 0
    plain = bt.Tree(**settings).fit(data.rows, data.y, kept)
    contexts = data.rows + data.others
    encoded = weighted._encoder.encode_many(contexts)
    for alpha in alphas_to_try(plain):
        expected = plain.prune(alpha).predict(contexts)
        ones = np.ones(weighted._core.n_rows)
        assert_close(
            [weighted._core.lazy_predict_one(ones, alpha, row) for row in encoded], expected
        )


def mixed_data(n: int, seed: int, reward: str) -> Data:
    """Numbers with and without ties, strings, booleans and gaps; half of them matter."""
    rng = np.random.default_rng(seed)
    ties, floats = rng.integers(0, 30, n), rng.normal(size=n)
    codes, flags = rng.integers(0, 12, n), rng.random(n) < 0.3
    noise, gaps = rng.normal(size=(n, 2)), rng.random(n) < 0.1
    score = ties / 10 + floats + (codes % 3) - 2 * flags + rng.normal(size=n)
    y = (score > 2).astype(float) if reward == "binary" else score
    columns = [
        [None if gap else float(v) for gap, v in zip(gaps, ties, strict=True)],
        floats.tolist(),
        [f"code {c}" for c in codes],
        flags.tolist(),
        *noise.T.tolist(),
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    others = [[v if rng.random() < 0.7 else None for v in rows[i]] for i in range(10)]
    others += [[99.0, -99.0, "never seen", None, 0.0, 0.0]]
    return Data(rows, y.tolist(), None, frozenset({2, 3}), (), others, [])


@pytest.mark.parametrize("max_bins", [None, 32])
@pytest.mark.parametrize("kind", ["multinomial", "exponential"])
@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_same_on_two_thousand_rows(reward: str, kind: str, max_bins: int | None) -> None:
    data = mixed_data(2000, 7, reward)
    edges = None
    if max_bins is not None:
        edges = naive.bin_edges(data.rows, None, data.categorical, max_bins)
    full = bt.Tree(max_bins=max_bins).fit(data.rows, data.y)
    weights = bootstrap_weights(kind, 3, 2000)
    grown = bt.Tree(max_bins=max_bins).fit(data.rows, data.y, weights, bin_edges=edges)
    path = grown.pruning_path().alphas
    contexts = data.rows[:10] + data.others
    rows = full._encoder.encode_many(contexts)
    for alpha in [*path[:: len(path) // 5], 1.001 * path[-10], *path[-3:], 1.1 * path[-1]]:
        expected = grown.prune(alpha).predict(contexts)
        found = [full._core.lazy_predict_one(weights, alpha, row) for row in rows]
        assert_close(found, expected)


def test_all_rows_but_one_left_out() -> None:
    tree = bt.Tree().fit([[1.0], [2.0], [3.0]], [0, 1, 5])
    context = np.array([1.0])
    assert tree._core.lazy_predict_one(np.array([0.0, 0.0, 2.0]), 0.0, context) == 5


@pytest.mark.parametrize(
    ("weights", "alpha", "context", "message"),
    [
        ([1.0, 1.0], 0.0, [1.0], "weights has length 2, expected 3"),
        ([1.0, 1.0, -1.0], 0.0, [1.0], "weights must be 0 or between"),
        ([0.0, 0.0, 0.0], 0.0, [1.0], "no row of positive weight"),
        ([1.0, 1.0, 1.0], -1.0, [1.0], "alpha must be at least 0"),
        ([1.0, 1.0, 1.0], float("nan"), [1.0], "alpha must be at least 0"),
        ([1.0, 1.0, 1.0], 0.0, [1.0, 2.0], "context has length 2, expected 1"),
    ],
)
def test_refused(weights: Any, alpha: float, context: Any, message: str) -> None:
    tree = bt.Tree().fit([[1.0], [2.0], [3.0]], [0, 1, 5])
    with pytest.raises(ValueError, match=message):
        tree._core.lazy_predict_one(np.array(weights), alpha, np.array(context))


def test_a_pruned_tree_has_no_rows_to_grow_on() -> None:
    pruned = bt.Tree().fit([[1.0], [2.0]], [0, 1]).prune(0)
    with pytest.raises(ValueError, match="pruned tree"):
        pruned._core.lazy_predict_one(np.ones(2), 0.0, np.array([1.0]))
