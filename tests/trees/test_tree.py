"""What users see of `Tree`: the forms of contexts, fitting, pruning, cross-validation, extremes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import banditree as bt
from reference.strategies import Data, data_sets, tree_settings

Options = dict[str, Any]

COLUMNS: dict[str, list[Any]] = {
    "age": [31, 44, None, 18, 67, 25, 44, 39],
    "city": ["Berlin", "Rome", "Rome", None, "Oslo", "Berlin", "Oslo", "Rome"],
    "member": [True, False, True, True, None, False, False, True],
    "shop": [3, 1, 3, 2, 2, 1, None, 3],
}
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
ROWS = [list(record.values()) for record in RECORDS]
Y = [1, 0, 1, 1, 0, 0, 1, 1]
NAN_TABLE = pd.DataFrame(COLUMNS).astype({"age": float, "shop": float, "city": object})
SPARSE = [{k: v for k, v in record.items() if v is not None} for record in RECORDS]


def named(node: dict[str, Any]) -> dict[str, Any]:
    """Turn the positions in a tree on sequences into names."""
    if "left" not in node:
        return node
    sides = {"left": named(node["left"]), "right": named(node["right"])}
    return node | {"feature": list(COLUMNS)[node["feature"]]} | sides


def random_rows(n: int, m: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    contexts = rng.integers(0, 12, (n, m)).astype(float)
    return contexts, (contexts[:, 0] + rng.normal(0, 4, n) > 6).astype(float)


@pytest.mark.parametrize(
    "contexts",
    [
        pytest.param(SPARSE, id="mappings that lack keys"),
        pytest.param(tuple(RECORDS), id="tuple of mappings"),
        pytest.param(iter(RECORDS), id="iterator"),
        pytest.param(pd.DataFrame(COLUMNS), id="pandas"),
        pytest.param(NAN_TABLE, id="pandas with NaN"),
        pytest.param(pl.DataFrame(COLUMNS), id="polars"),
        pytest.param(pa.table(COLUMNS), id="Arrow"),
    ],
)
def test_same_tree_from_every_named_form(contexts: Any) -> None:
    expected = bt.Tree(categorical=["shop"]).fit(RECORDS, Y)
    tree = bt.Tree(categorical=["shop"]).fit(contexts, Y)
    assert sorted(tree.features) == sorted(COLUMNS)
    assert tree.to_dict() == expected.to_dict()
    for table in (RECORDS, SPARSE, pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS)):
        assert list(tree.predict(table)) == list(expected.predict(RECORDS)) == Y


@pytest.mark.parametrize(
    "contexts",
    [
        pytest.param(ROWS, id="lists"),
        pytest.param([tuple(row) for row in ROWS], id="tuples"),
        pytest.param(np.array(ROWS, dtype=object), id="array of objects"),
    ],
)
def test_same_tree_from_every_form_without_names(contexts: Any) -> None:
    tree = bt.Tree(categorical=[3]).fit(contexts, Y)
    assert tree.features == [0, 1, 2, 3]
    assert named(tree.to_dict()) == bt.Tree(categorical=["shop"]).fit(RECORDS, Y).to_dict()
    assert list(tree.predict(contexts)) == Y


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.uint16, object])
def test_type_and_layout_of_an_array_do_not_matter(dtype: Any) -> None:
    contexts, y = random_rows(60, 3)
    expected = bt.Tree().fit(contexts, y).to_dict()
    for layout in (contexts.astype(dtype), np.asfortranarray(contexts.astype(dtype))):
        assert bt.Tree().fit(layout, y).to_dict() == expected
    wide = np.repeat(contexts, 2, axis=1)[:, ::2].astype(dtype)
    assert bt.Tree().fit(wide, y.astype(bool)).to_dict() == expected


def test_inputs_are_left_as_they_were() -> None:
    contexts, y = random_rows(40, 3)
    weights = np.linspace(0, 2, 40)
    before = contexts.copy(), y.copy(), weights.copy()
    bt.Tree(categorical=[1]).fit(contexts, y, weights).predict(contexts)
    assert all(map(np.array_equal, before, (contexts, y, weights)))


def test_categorical_numbers_are_split_by_subset() -> None:
    rows, y = [[1], [2], [3], [4]], [1, 0, 1, 0]
    assert bt.Tree(max_depth=1).fit(rows, y).to_dict()["threshold"] == 1.5
    tree = bt.Tree(max_depth=1, categorical=[0]).fit(rows, y)
    assert tree.to_dict()["categories"] == {"left": [2, 4], "right": [1, 3]}
    assert "threshold" not in tree.to_dict()
    assert list(tree.predict(rows)) == y


def test_strings_and_booleans_are_categories() -> None:
    tree = bt.Tree().fit([{"city": c} for c in "abcab"], [1, 0, 1, 1, 0])
    assert tree.to_dict()["categories"] == {"left": ["b"], "right": ["a", "c"]}
    tree = bt.Tree().fit([[True], [False], [True]], [0, 1, 0])
    assert tree.to_dict()["categories"] == {"left": [True], "right": [False]}
    assert (tree.predict([True]), tree.predict([np.False_])) == (0, 1)


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_missing_values_follow_the_side_that_was_best_in_training(missing: Any) -> None:
    tree = bt.Tree().fit([[1], [2], [8], [9], [missing]], [0, 0, 1, 1, 1])
    assert tree.to_dict()["missing"] == "right"
    assert tree.predict([missing]) == 1
    tree = bt.Tree().fit([["a"], ["b"], [missing], [missing]], [0, 1, 0, 0])
    assert (tree.to_dict()["missing"], tree.predict([missing])) == ("left", 0)


def test_missing_values_can_have_a_side_of_their_own() -> None:
    tree = bt.Tree().fit([[1], [2], [None], [None]], [0, 0, 1, 1])
    assert (tree.n_leaves, tree.to_dict()["threshold"]) == (2, None)
    assert list(tree.predict([[-1e300], [1e300], [None]])) == [0, 0, 1]


def test_missing_values_never_seen_go_to_the_heavier_side() -> None:
    rows, y = [[1], [2], [3]], [0, 1, 1]
    assert bt.Tree().fit(rows, y).predict([None]) == 1
    assert bt.Tree().fit(rows, y, [5, 1, 1]).predict([None]) == 0
    assert bt.Tree().fit(rows, y, [2, 1, 1]).predict([None]) == 0  # left, if equal


def test_unseen_category_counts_as_missing() -> None:
    tree = bt.Tree().fit([["a"], ["a"], ["b"], [None]], [0, 0, 1, 1])
    assert (tree.predict(["never seen"]), tree.predict([None])) == (1, 1)
    tree = bt.Tree().fit([["a"], ["a"], ["b"]], [0, 0, 1])
    assert (tree.predict(["never seen"]), tree.predict([None])) == (0, 0)
    numbers = bt.Tree(categorical=[0]).fit([[1], [1], [2]], [0, 0, 1])
    assert numbers.predict([3]) == 0


def test_category_unseen_in_a_node_counts_as_missing_there() -> None:
    rows = [[0, "a"], [0, "a"], [0, "b"], [1, "c"], [1, "c"], [1, "c"], [1, "c"]]
    tree = bt.Tree().fit(rows, [0, 0, 1, 9, 9, 9, 9])
    assert tree.predict([0, "c"]) == 0


def test_unknown_features_are_left_out_at_prediction() -> None:
    tree = bt.Tree().fit([{"a": 1}, {"a": 2}], [0, 1])
    assert tree.predict({"a": 2, "b": "new"}) == 1
    assert list(tree.predict([{}, {"b": 3}])) == [0, 0]


def test_a_declared_category_must_be_a_position_where_contexts_have_no_names() -> None:
    with pytest.raises(bt.InvalidParameterError, match=r"'a'.*positions 0 to 1"):
        bt.Tree(categorical=["a"]).fit([[1, 2], [3, 4]], [0, 1])
    bt.Tree(categorical=["later"]).fit([{"a": 1}, {"a": 2}], [0, 1])


def test_bin_edges_must_cover_every_number() -> None:
    incremental = bt.IncrementalTree()
    incremental.learn({"a": 1.0}, 1)
    assert incremental.bin_edges == {}
    with pytest.raises(bt.InvalidParameterError, match="no edges for the feature 'a'"):
        bt.Tree().fit([{"a": 1.0}, {"a": 2.0}], [0, 1], bin_edges=incremental.bin_edges)


def test_one_context_gives_a_float_and_many_an_array() -> None:
    tree = bt.Tree().fit(RECORDS, Y)
    assert type(tree.predict(RECORDS[0])) is float
    assert type(bt.Tree().fit([[1.0], [2.0]], [0, 1]).predict(np.array([2.0]))) is float
    many = tree.predict(RECORDS[:3])
    assert isinstance(many, np.ndarray)
    assert (many.shape, many.dtype) == ((3,), np.float64)
    assert tree.predict([]).shape == (0,)


def test_fit_returns_the_tree_and_replaces_what_was_there() -> None:
    tree = bt.Tree(min_leaf=2)
    assert tree.fit(RECORDS, Y) is tree
    contexts, y = random_rows(30, 2)
    tree.fit(contexts, y)
    fresh = bt.Tree(min_leaf=2).fit(contexts, y)
    assert (tree.features, tree.to_dict()) == ([0, 1], fresh.to_dict())
    assert tree.cross_validate(3).errors.tolist() == fresh.cross_validate(3).errors.tolist()


def test_leaves_and_depth() -> None:
    tree = bt.Tree().fit([[1], [2], [3]], [0, 1, 3])
    assert (tree.n_leaves, tree.depth) == (3, 2)
    assert bt.Tree(max_depth=0).fit([[1], [2]], [0, 1]).depth == 0
    assert bt.Tree(max_depth=1).fit([[1], [2], [3]], [0, 1, 3]).n_leaves == 2
    assert bt.Tree(min_split=4).fit([[1], [2], [3]], [0, 1, 3]).n_leaves == 1
    assert bt.Tree(min_leaf=2).fit([[1], [2], [3]], [0, 1, 3]).n_leaves == 1


def test_prune_makes_a_new_tree_and_leaves_the_old() -> None:
    contexts, y = random_rows(80, 3)
    tree = bt.Tree().fit(contexts, y)
    before = tree.to_dict()
    pruned = tree.prune(tree.pruning_path().alphas[-2])
    assert pruned is not tree
    assert 1 < pruned.n_leaves < tree.n_leaves
    assert tree.to_dict() == before
    assert tree.prune(0).to_dict() == before
    assert pruned.prune(1e9).n_leaves == tree.prune(float("inf")).n_leaves == 1
    assert tree.prune(1e9).predict([0, 0, 0]) == pytest.approx(y.mean())


@given(data_sets(max_rows=30), tree_settings())
def test_the_path_is_monotone_and_pruning_reproduces_it(data: Data, options: Options) -> None:
    tree = bt.Tree(categorical=data.named, **options).fit(data.rows, data.y, data.weights)
    path = tree.pruning_path()
    assert (path.alphas[0], path.leaves[0], path.leaves[-1]) == (0, tree.n_leaves, 1)
    assert (np.diff(path.alphas) > 0).all()
    assert (np.diff(path.leaves) < 0).all()
    assert (np.diff(path.costs) > 0).all()
    assert len(path) == len(path.alphas) == len(path.leaves) == len(path.costs)
    for alpha, leaves, cost in zip(path.alphas, path.leaves, path.costs, strict=True):
        pruned = tree.prune(alpha)
        assert pruned.n_leaves == leaves
        assert pruned.pruning_path().costs[0] == pytest.approx(cost, rel=1e-9, abs=1e-9)


def test_cross_validation_depends_on_the_seed_alone() -> None:
    contexts, y = random_rows(90, 3)
    tree = bt.Tree().fit(contexts, y)
    first, again = tree.cross_validate(5, seed=4), tree.cross_validate(5, seed=4)
    assert first.errors.tolist() == again.errors.tolist()
    assert first.errors.tolist() != tree.cross_validate(5, seed=5).errors.tolist()
    assert first.alphas.tolist() == tree.pruning_path().alphas.tolist()
    assert first.best_alpha in first.alphas
    assert first.errors[first.alphas == first.best_alpha] == first.errors.min()
    assert (first.standard_errors > 0).all()
    assert tree.cross_validate().errors.tolist() == tree.cross_validate(10, seed=0).errors.tolist()


def test_fold_ids_may_have_any_whole_type_and_start_anywhere() -> None:
    contexts, y = random_rows(60, 2)
    tree = bt.Tree().fit(contexts, y)
    ids = np.arange(60) % 4
    expected = tree.cross_validate(ids).errors.tolist()
    for same in (ids.tolist(), ids + 1, ids - 7, ids.astype(float), ids.astype(np.uint8)):
        assert tree.cross_validate(same).errors.tolist() == expected
    assert tree.cross_validate(ids, seed=9).errors.tolist() == expected
    assert tree.cross_validate(np.arange(60) // 15).errors.tolist() != expected


def test_fold_ids_of_rows_without_weight_are_ignored() -> None:
    contexts, y = random_rows(40, 2)
    weights, ids = np.ones(40), np.arange(40) % 4
    weights[::3] = 0
    found = bt.Tree().fit(contexts, y, weights).cross_validate(ids)
    kept = weights > 0
    expected = bt.Tree().fit(contexts[kept], y[kept]).cross_validate(ids[kept])
    assert found.errors.tolist() == expected.errors.tolist()


def shape(node: dict[str, Any]) -> dict[str, Any]:
    """A tree without the numbers of rows."""
    rest = {k: v for k, v in node.items() if k != "n"}
    return rest | {side: shape(node[side]) for side in ("left", "right") if side in node}


def repeated(values: list[Any], times: list[int]) -> list[Any]:
    return [value for value, k in zip(values, times, strict=True) for _ in range(k)]


@given(data_sets(max_rows=25), st.data())
def test_a_weight_of_k_is_a_row_k_times(data: Data, more: st.DataObject) -> None:
    n = len(data.y)
    times = more.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    weighted = bt.Tree(categorical=data.named).fit(data.rows, data.y, times)
    rows, y = repeated(data.rows, times), repeated(data.y, times)
    found, expected = weighted.to_dict(), bt.Tree(categorical=data.named).fit(rows, y).to_dict()
    assert (found["n"], expected["n"]) == (n, sum(times))
    assert_close(shape(found), shape(expected))


def assert_close(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if key in ("left", "right"):
            assert_close(found[key], value)
        elif key in ("weight", "mean", "cost", "gain"):
            assert found[key] == pytest.approx(value, rel=1e-12, abs=1e-9)
        else:
            assert found[key] == value


@given(data_sets(max_rows=25), tree_settings(), st.none() | st.integers(2, 6))
def test_rows_of_weight_0_are_as_if_absent(
    data: Data, options: Options, max_bins: int | None
) -> None:
    settings: Options = {"categorical": data.named, "max_bins": max_bins, **options}
    rows = [*data.others, *data.rows]
    y = [*(7 for _ in data.others), *data.y]
    weights = [*(0 for _ in data.others), *(1 for _ in data.y)]
    found = bt.Tree(**settings).fit(rows, y, weights)
    assert found.to_dict() == bt.Tree(**settings).fit(data.rows, data.y).to_dict()


@given(data_sets(max_rows=30), tree_settings(), st.integers(0, 5))
def test_enough_bins_divide_the_rows_as_an_exact_tree(
    data: Data, options: Options, more: int
) -> None:
    exact = bt.Tree(categorical=data.named, **options).fit(data.rows, data.y, data.weights)
    max_bins = max(2, len(data.rows) + more)
    binned = bt.Tree(categorical=data.named, max_bins=max_bins, **options)
    binned.fit(data.rows, data.y, data.weights)
    kept = [r for i, r in enumerate(data.rows) if data.weights is None or data.weights[i] > 0]
    assert list(binned.predict(kept)) == list(exact.predict(kept))
    assert (binned.n_leaves, binned.depth) == (exact.n_leaves, exact.depth)


@pytest.mark.parametrize(
    ("contexts", "y"),
    [
        pytest.param([[3.5, "a"]], [2], id="one row"),
        pytest.param([[1, "a"]] * 5, [0, 1, 0, 1, 1], id="one distinct context"),
        pytest.param([[i] for i in range(5)], [0.1] * 5, id="constant reward"),
        pytest.param([[None], [None]], [0, 1], id="nothing but missing values"),
        pytest.param([{}, {}], [0, 1], id="no features"),
    ],
)
def test_a_tree_without_a_split(contexts: Any, y: list[float]) -> None:
    tree = bt.Tree().fit(contexts, y)
    assert (tree.n_leaves, tree.depth, len(tree.pruning_path())) == (1, 0, 1)
    assert tree.predict(contexts) == pytest.approx([sum(y) / len(y)] * len(y))
    assert tree.to_text().startswith("mean")
    assert tree.prune(0).n_leaves == 1


def test_a_constant_feature_is_never_split() -> None:
    tree = bt.Tree().fit([[7, i, "x"] for i in range(9)], [i % 2 for i in range(9)])
    text = tree.to_text()
    assert "feature 1 " in text
    assert "feature 0 " not in text
    assert "feature 2 " not in text


def test_a_thousand_features() -> None:
    contexts, y = random_rows(50, 1000)
    contexts[:, 777] = y
    tree = bt.Tree().fit(contexts, y)
    assert (tree.to_dict()["feature"], tree.n_leaves) == (777, 2)


def test_ten_thousand_categories() -> None:
    names = [f"user {i}" for i in range(10_000)]
    y = [int(i % 3 == 0) for i in range(10_000)]
    tree = bt.Tree().fit([{"user": name} for name in names], y)
    assert tree.n_leaves == 2
    assert list(tree.predict([{"user": name} for name in names])) == y
    assert len(tree.to_dict()["categories"]["right"]) == 3334


def test_a_tree_three_thousand_deep() -> None:
    # Alternating rewards: the best split is always to take off the first row.
    rows, y = [[i] for i in range(3001)], [i % 2 for i in range(3001)]
    tree = bt.Tree().fit(rows, y)
    assert (tree.depth, tree.n_leaves) == (3000, 3001)
    assert list(tree.predict(rows)) == y
    node, depth = tree.to_dict(), 0
    while "left" in node:
        node, depth = node["right"], depth + 1
    assert depth == 3000
    assert tree.to_text(max_leaves=None).count("\n") == 6000
    assert tree.to_svg(max_depth=3).startswith("<svg")
    path = tree.pruning_path()
    assert (path.leaves[0], path.leaves[-1]) == (3001, 1)
    assert tree.prune(path.alphas[1]).n_leaves == path.leaves[1]
    assert tree.cross_validate(2).errors.shape == path.alphas.shape


@pytest.mark.parametrize(
    "text",
    [
        "Tree()",
        "Tree(min_split=5, min_leaf=2, max_depth=3, max_bins=64, categorical=['shop', 4])",
        "Tree(max_depth=0)",
    ],
)
def test_repr_is_a_constructor_call(text: str) -> None:
    tree = eval(text, {"Tree": bt.Tree})
    assert eval(repr(tree), {"Tree": bt.Tree})._settings == tree._settings
    assert repr(eval(repr(tree), {"Tree": bt.Tree})) == repr(tree)
