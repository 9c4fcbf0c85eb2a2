"""The naive tree against cases worked by hand and against brute force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import naive
from reference.strategies import (
    EIGHTHS,
    SMALL_INTEGERS,
    Data,
    data_sets,
    policy_settings,
    unhurried,
)


def column(*values: object) -> list[list[object]]:
    return [[value] for value in values]


def test_one_row_is_a_leaf() -> None:
    assert naive.to_dict(naive.grow(column(3.0), [2])) == {
        "n": 1,
        "weight": 1.0,
        "mean": 2.0,
        "cost": 0.0,
    }


def test_split_by_hand() -> None:
    tree = naive.grow(column(1, 2, 4, 7), [0, 0, 1, 1])
    assert (tree.feature, tree.threshold, tree.cost, tree.gain) == (0, 3.0, 1, 1)
    assert (tree.left.mean, tree.right.mean) == (0, 1)
    assert [naive.predict(tree, [v]) for v in (3.0, 3.1)] == [0, 1]


def test_xor_is_a_leaf_because_no_split_gains() -> None:
    rows = [[a, b] for a, b in product((0, 1), repeat=2)]
    assert naive.grow(rows, [0, 1, 1, 0]).left is None


def test_weights_count_like_copies_except_in_n() -> None:
    weighted = naive.grow(column(1, 2, 3), [0, 1, 0], [1, 2, 3], min_split=4)
    assert (weighted.n, weighted.weight, weighted.mean) == (3, 6, Fraction(1, 3))
    assert weighted.left is None
    copies = naive.grow(column(1, 2, 2, 3, 3, 3), [0, 1, 1, 0, 0, 0], min_split=4)
    assert (copies.n, copies.cost, copies.threshold) == (6, weighted.cost, 2.5)


def test_a_row_of_weight_zero_is_not_there() -> None:
    rows, y = column(9, 1, 2, 1.5), [5, 0, 1, 7]
    assert naive.grow(rows, y, [0, 1, 1, 0]) == naive.grow(rows[1:3], y[1:3])
    assert naive.bin_edges(rows, [0, 1, 1, 0], (), 2) == {0: [1.5]}


def test_ties_go_to_the_first_feature_then_to_the_lowest_threshold() -> None:
    tree = naive.grow([[0, 5], [1, 6], [2, 7]], [0, 1, 0])
    assert (tree.feature, tree.threshold) == (0, 0.5)


def test_a_difference_by_rounding_is_a_tie() -> None:
    # Each feature isolates one row, and 0.1 + 0.2 is more than 0.3 by a hair.
    first, second, y = [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0.3, 0.1 + 0.2]
    gains = [naive.grow(column(*feature), y).gain for feature in (first, second)]
    assert gains[0] < gains[1] == pytest.approx(gains[0])
    assert naive.grow(list(zip(first, second, strict=True)), y).feature == 0


def test_midpoint_that_rounds_up_becomes_the_lower_value() -> None:
    low, high = 1 + 2**-52, 1 + 2 * 2**-52
    assert naive.midpoint(low, high) == low
    tree = naive.grow(column(low, high), [0, 1])
    assert [naive.predict(tree, [v]) for v in (low, high)] == [0, 1]


@pytest.mark.parametrize(("reward", "side"), [(0, "left"), (1, "right")])
def test_missing_numbers_go_where_they_gain_most(reward: float, side: str) -> None:
    tree = naive.grow(column(1, 2, None), [0, 1, reward])
    assert (tree.threshold, tree.missing) == (1.5, side)
    assert naive.predict(tree, [float("nan")]) == reward


def test_present_against_missing() -> None:
    tree = naive.grow(column(1, None, 2, None), [0, 1, 0, 1])
    assert (tree.threshold, tree.missing, tree.left.n) == (None, "right", 2)
    assert [naive.predict(tree, [v]) for v in (1e9, None)] == [0, 1]


@pytest.mark.parametrize(
    ("weights", "side"), [([1, 1], "left"), ([2, 1], "left"), ([1, 2], "right")]
)
def test_unseen_missing_goes_to_the_heavier_side(weights: list[float], side: str) -> None:
    assert naive.grow(column(1, 2), [0, 1], weights).missing == side
    assert naive.grow(column("a", "b"), [0, 1], weights, categorical={0}).missing == side


def test_categories_are_cut_in_the_order_of_their_means() -> None:
    rows, y = column("c", "a", "b", "a", None), [9, 0, 8, 1, 1]
    tree = naive.grow(rows, y, categorical={0}, max_depth=1)
    assert naive.to_dict(tree)["categories"] == {"left": ["a"], "right": ["c", "b"]}
    assert tree.missing == "left"
    assert naive.predict(tree, ["never seen"]) == tree.left.mean


def test_equal_means_stand_in_order_of_appearance_with_missing_first() -> None:
    # min_leaf forbids the cut that isolates the one reward.
    tree = naive.grow(column("b", "a", None, "c"), [0, 0, 0, 1], categorical={0}, min_leaf=2)
    assert (tree.missing, tree.left_categories, tree.right_categories) == (
        "left",
        ("b",),
        ("a", "c"),
    )


def test_false_stands_before_true() -> None:
    rows, y = column(True, False, True, False, None), [0, 0, 0, 0, 1]
    tree = naive.grow(rows, y, categorical={0}, min_leaf=2)
    assert (tree.left_categories, tree.right_categories, tree.missing) == (
        (False,),
        (True,),
        "right",
    )


def test_a_category_unseen_in_the_node_counts_as_missing_there() -> None:
    rows = [[0, "a"], [0, "b"], [0, "b"], [1, "c"], [1, "c"]]
    tree = naive.grow(rows, [0, 1, 1, 9, 9], categorical={1})
    assert (tree.feature, tree.left.feature, tree.left.missing) == (0, 1, "right")
    assert naive.predict(tree, [0, "c"]) == naive.predict(tree, [0, None]) == 1


def test_stops() -> None:
    rows, y = column(1, 2, 3, 4), [1, 0, 0, 0]
    assert naive.grow(rows, y, min_split=5).left is None
    assert naive.grow(rows, y, max_depth=0).left is None
    assert naive.depth(naive.grow(rows, [1, 0, 1, 0], max_depth=1)) == 1
    assert naive.grow(rows, y, min_leaf=2).threshold == 2.5
    assert naive.grow(rows, y, min_leaf=3).left is None


def test_bin_edges_by_hand() -> None:
    assert naive.edges_of([1, 2, 3, 4, 5, 6, 7, 8], 4) == [2.5, 4.5, 6.5]
    assert naive.edges_of([1, 1, 1, 1, 1, 1, 2, 3], 2) == [1.5]
    assert naive.edges_of([3, 1, 2, 2], 3) == [1.5, 2.5]
    assert naive.edges_of([], 3) == []


def test_thresholds_of_bins_are_the_lowest_edge_between() -> None:
    tree = naive.grow(column(1, 8), [0, 1], edges={0: [2.5, 4.5, 6.5]})
    assert tree.threshold == 2.5
    assert naive.grow(column(1, 2), [0, 1], edges={0: [2.5, 4.5, 6.5]}).left is None


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(2, 8))
def test_bins_are_few_and_hold_about_equal_counts(values: list[float], max_bins: int) -> None:
    edges = naive.edges_of(values, max_bins)
    assert len(edges) < max_bins
    assert edges == sorted(set(edges))
    largest_tie = max(values.count(v) for v in values)
    counts = [sum(naive.bisect_left(edges, v) == b for v in values) for b in range(len(edges) + 1)]
    assert min(counts) > 0
    if len(set(values)) > max_bins:
        assert max(counts) < len(values) / max_bins + largest_tie


def subset_gains(groups: dict[object, naive.Sums]) -> Iterator[Fraction]:
    """Gains of every way to part the categories in two."""
    nothing = naive.Sums(0, 0, 0, 0)
    total = sum(groups.values(), nothing)
    for size in range(1, len(groups)):
        for chosen in combinations(groups, size):
            left = sum((groups[category] for category in chosen), nothing)
            yield total.cost - left.cost - (total - left).cost


@unhurried
@given(
    st.lists(st.tuples(st.sampled_from("abcde") | st.none(), SMALL_INTEGERS, EIGHTHS), min_size=1)
)
def test_best_cut_of_the_mean_order_is_the_best_of_all_subsets(
    table: list[tuple[str | None, int, float]],
) -> None:
    groups: dict[object, naive.Sums] = {}
    for category, y, w in table:
        one = naive.Sums(1, Fraction(w), Fraction(w) * y, Fraction(w) * y * y)
        groups[category] = groups[category] + one if category in groups else one
    categories, rewards, weights = zip(*table, strict=True)
    tree = naive.grow(column(*categories), rewards, weights, categorical={0}, max_depth=1)
    assert (tree.gain or 0) == max(subset_gains(groups), default=0)


@unhurried
@given(data_sets(max_rows=15), policy_settings())
def test_splits_keep_to_the_settings(data: Data, options: dict[str, int]) -> None:
    tree = naive.grow(data.rows, data.y, data.weights, categorical=data.categorical, **options)
    assert options["max_depth"] is None or naive.depth(tree) <= options["max_depth"]
    for node in naive.inner_nodes(tree):
        assert node.n >= options["min_split"]
        assert min(node.left.n, node.right.n) >= options["min_leaf"]
        assert node.n == node.left.n + node.right.n
        assert node.gain == node.cost - node.left.cost - node.right.cost > 0


def test_path_and_prune_by_hand() -> None:
    tree = naive.grow(column(1, 2, 3, 4), [0, 1, 5, 5])
    assert naive.pruning_path(tree) == [
        (0, 3, 0),
        (Fraction(1, 2), 2, Fraction(1, 2)),
        (Fraction(81, 4), 1, Fraction(83, 4)),
    ]
    assert [naive.leaves(naive.prune(tree, a)) for a in (0, 0.4, 0.5, 20, 20.25)] == [3, 3, 2, 2, 1]


def subtrees(node: naive.Node) -> Iterator[naive.Node]:
    """Every way to prune a tree."""
    yield node.as_leaf()
    if node.left is not None:
        for left, right in product(subtrees(node.left), list(subtrees(node.right))):
            yield replace(node, left=left, right=right)


@unhurried
@given(data_sets(max_rows=9), st.integers(0, 24))
def test_prune_gives_the_smallest_of_the_cheapest_subtrees(data: Data, quarters: int) -> None:
    alpha = quarters / 4
    tree = naive.grow(data.rows, data.y, data.weights, categorical=data.categorical)
    candidates = [
        (naive.cost(t) + Fraction(alpha) * naive.leaves(t), naive.leaves(t)) for t in subtrees(tree)
    ]
    pruned = naive.prune(tree, alpha)
    leaves = naive.leaves(pruned)
    assert (naive.cost(pruned) + Fraction(alpha) * leaves, leaves) == min(candidates)


@unhurried
@given(data_sets(max_rows=20), policy_settings())
def test_path_lists_the_pruned_trees(data: Data, options: dict[str, int]) -> None:
    tree = naive.grow(data.rows, data.y, data.weights, categorical=data.categorical, **options)
    path = naive.pruning_path(tree)
    assert path[0][1] == naive.leaves(tree)
    assert path[-1][1] == 1
    for (alpha, leaves, cost), after in zip(path, [*path[1:], (None,)], strict=True):
        above = alpha * 2 + 1 if after[0] is None else (alpha + after[0]) / 2
        for pruned in (naive.prune(tree, float(alpha)), naive.prune(tree, float(above))):
            assert (naive.leaves(pruned), naive.cost(pruned)) == (leaves, cost)


def test_cross_validation_by_hand() -> None:
    # Each fold's tree is grown on one x = 0 row and one x = 1 row and predicts the other two.
    rows, y = column(0, 1, 0, 1), [0, 2, 1, 3]
    result = naive.cross_validate(rows, y, None, ["a", "a", "b", "b"])
    assert result.alphas == [0, 4]
    # Full tree: every error is 1. Root alone: the means are 2 and 1; errors 4, 0, 0, 4.
    assert result.errors == [4 / 5, 8 / 5]
    assert result.standard_errors == pytest.approx([0, (32 - 64 / 4) ** 0.5 / 5])
    assert result.best_alpha == 0


def test_of_equal_errors_the_largest_alpha_is_best() -> None:
    rows, y = column(0, 1, 2, 3), [0, 1, 0, 1]
    result = naive.cross_validate(rows, y, None, [0, 1, 2, 3], min_split=4)
    assert len(set(result.errors)) == 1
    assert result.best_alpha == max(result.alphas) > 0
