"""`Tree` against the naive tree: node for node, on small data sets full of ties and gaps."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import banditree as bt
from reference import naive
from reference.strategies import Data, cases, unhurried

Options = dict[str, Any]
Case = tuple[Data, Options]
BINS = st.none() | st.integers(2, 6)


def close(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


def library_tree(data: Data, options: Options, max_bins: int | None = None) -> bt.Tree:
    tree = bt.Tree(categorical=data.named, max_bins=max_bins, **options)
    return tree.fit(data.rows, data.y, weights=data.weights)


def naive_options(data: Data, options: Options, max_bins: int | None = None) -> Options:
    edges = None
    if max_bins is not None:
        edges = naive.bin_edges(data.rows, data.weights, data.categorical, max_bins)
    return {"categorical": data.categorical, "edges": edges, **options}


def naive_tree(data: Data, options: Options, max_bins: int | None = None) -> naive.Node:
    settings = naive_options(data, options, max_bins)
    return naive.grow(data.rows, data.y, data.weights, **settings)


def assert_same(node: dict[str, Any], expected: dict[str, Any]) -> None:
    assert node.keys() == expected.keys()
    assert node["n"] == expected["n"]
    numbers = ("weight", "mean", "cost", "gain")
    for name in expected.keys() & set(numbers):
        assert node[name] == close(expected[name]), name
    for name in expected.keys() & {"feature", "missing", "threshold"}:
        assert node[name] == expected[name], name
    if "categories" in expected:
        for side in ("left", "right"):
            found, wanted = node["categories"][side], expected["categories"][side]
            assert len(found) == len(wanted)
            assert set(found) == set(wanted)
    if "left" in expected:
        assert_same(node["left"], expected["left"])
        assert_same(node["right"], expected["right"])


@unhurried
@given(cases(), BINS)
def test_same_tree(case: Case, max_bins: int | None) -> None:
    data, options = case
    tree = library_tree(data, options, max_bins)
    expected = naive_tree(data, options, max_bins)
    assert_same(tree.to_dict(), naive.to_dict(expected))
    assert (tree.n_leaves, tree.depth) == (naive.leaves(expected), naive.depth(expected))


@unhurried
@given(cases(exact=False), BINS)
def test_same_tree_where_sums_are_rounded(case: Case, max_bins: int | None) -> None:
    data, options = case
    expected = naive_tree(data, options, max_bins)
    assert_same(library_tree(data, options, max_bins).to_dict(), naive.to_dict(expected))


DIGITS = st.integers(0, 9)


@unhurried
@given(st.lists(st.tuples(DIGITS, DIGITS, st.integers(0, 1)), min_size=1), st.integers(2, 12))
def test_same_bins(table: list[tuple[int, int, int]], max_bins: int) -> None:
    rows, y = [row[:2] for row in table], [row[2] for row in table]
    tree = bt.Tree(max_bins=max_bins).fit(rows, y)
    edges = naive.bin_edges(rows, None, (), max_bins)
    assert_same(tree.to_dict(), naive.to_dict(naive.grow(rows, y, edges=edges)))


@pytest.mark.parametrize("max_bins", [None, 2])
@pytest.mark.parametrize("low", [1.0, 1 + 2**-52, -1.0, 5e-324, 0.0])
def test_same_threshold_between_neighbouring_floats(low: float, max_bins: int | None) -> None:
    rows, y = [[low], [math.nextafter(low, math.inf)]], [0, 1]
    tree = bt.Tree(max_bins=max_bins).fit(rows, y)
    assert_same(tree.to_dict(), naive.to_dict(naive.grow(rows, y)))
    assert list(tree.predict(rows)) == [0, 1]


def test_a_row_of_weight_zero_is_not_there() -> None:
    # "b", "c" and "d" have equal means, and min_leaf forbids the cut that keeps them together.
    rows, y = [[value] for value in ("c", "b", "d", "a", "c")], [1, 0, 0, 1, 0]
    tree = bt.Tree(min_leaf=2).fit(rows, y, weights=[0, 2, 1, 1, 1])
    without = bt.Tree(min_leaf=2).fit(rows[1:], y[1:], weights=[2, 1, 1, 1])
    assert tree.to_dict() == without.to_dict()


def test_categories_are_listed_in_the_order_of_their_first_appearance() -> None:
    rows = [[value] for value in ("d", "b", "c", "a", "e", "b")]
    tree = bt.Tree(max_depth=1).fit(rows, [0, 1, 0, 1, 0, 1])
    assert tree.to_dict()["categories"] == {"left": ["d", "c", "e"], "right": ["b", "a"]}


@unhurried
@given(cases(), BINS)
def test_same_predictions(case: Case, max_bins: int | None) -> None:
    data, options = case
    rows = data.rows + data.others
    expected = naive_tree(data, options, max_bins)
    found = library_tree(data, options, max_bins).predict(rows)
    assert list(found) == close([float(naive.predict(expected, row)) for row in rows])


@unhurried
@given(cases(), BINS)
def test_same_path(case: Case, max_bins: int | None) -> None:
    data, options = case
    path = library_tree(data, options, max_bins).pruning_path()
    alphas, leaves, costs = zip(
        *naive.pruning_path(naive_tree(data, options, max_bins)), strict=True
    )
    assert list(path.leaves) == list(leaves)
    assert list(path.alphas) == close([float(alpha) for alpha in alphas])
    assert list(path.costs) == close([float(cost) for cost in costs])


@unhurried
@given(cases(max_rows=25))
def test_same_pruned_trees(case: Case) -> None:
    data, options = case
    tree, expected = library_tree(data, options), naive_tree(data, options)
    alphas = [float(alpha) for alpha, _, _ in naive.pruning_path(expected)]
    between = [(a + b) / 2 for a, b in pairwise(alphas)]
    for alpha in [*alphas, *between, 2 * alphas[-1] + 1]:
        pruned = tree.prune(alpha)
        assert_same(pruned.to_dict(), naive.to_dict(naive.prune(expected, alpha)))
    assert_same(tree.to_dict(), naive.to_dict(expected))


def can_be_cross_validated(data: Data) -> bool:
    """Whether the rewards differ and every fold leaves some weight to grow a tree on."""
    weights = data.weights or [1] * len(data.y)
    folds = {fold for fold, w in zip(data.folds, weights, strict=True) if w > 0}
    rewards = {y for y, w in zip(data.y, weights, strict=True) if w > 0}
    return len(folds) > 1 and len(rewards) > 1


@unhurried
@given(cases(max_rows=25), BINS)
def test_same_cross_validation(case: Case, max_bins: int | None) -> None:
    data, options = case
    assume(can_be_cross_validated(data))
    found = library_tree(data, options, max_bins).cross_validate(data.folds)
    settings = naive_options(data, options, max_bins)
    expected = naive.cross_validate(data.rows, data.y, data.weights, data.folds, **settings)
    assert list(found.alphas) == close(expected.alphas)
    assert list(found.errors) == close(expected.errors)
    # The variance is a difference of sums, so its root has half their digits.
    assert list(found.standard_errors) == pytest.approx(
        expected.standard_errors, rel=1e-6, abs=1e-6
    )
    best = list(found.alphas).index(found.best_alpha)
    assert expected.errors[best] == close(min(expected.errors))
    assert all(error > found.errors[best] for error in found.errors[best + 1 :])
    if found.best_alpha == close(expected.best_alpha):
        assert found.lasting_alpha == close(expected.lasting_alpha)
