"""`Tree` against scikit-learn's DecisionTreeRegressor, on numbers without gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import banditree as bt

ROWS, FEATURES = 200, 4


def distinct(rng: np.random.Generator) -> np.ndarray:
    """Columns of distinct values that float32, which scikit-learn computes in, holds exactly."""
    columns = [rng.permutation(4096)[:ROWS] / 1024 for _ in range(FEATURES)]
    return np.column_stack(columns)


def tied(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 6, size=(ROWS, FEATURES)).astype(float)


CASES = [
    pytest.param(make, weighted, seed, id=f"{make.__name__}-{'w' if weighted else 'u'}-{seed}")
    for make in (distinct, tied)
    for weighted in (False, True)
    for seed in range(3)
]


def case(make: Any, weighted: bool, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    rng = np.random.default_rng(seed)
    contexts = make(rng)
    y = contexts[:, 0] + np.sin(3 * contexts[:, 1]) + rng.normal(size=ROWS)
    return contexts, y, rng.uniform(0.1, 5, size=ROWS) if weighted else None


def peer(contexts: Any, y: Any, weights: Any, **settings: Any) -> DecisionTreeRegressor:
    model = DecisionTreeRegressor(random_state=0, **settings)
    return model.fit(contexts, y, sample_weight=weights)


def error(model: Any, contexts: Any, y: Any, weights: Any) -> float:
    return float(np.average((y - model.predict(contexts)) ** 2, weights=weights)) * (
        ROWS if weights is None else float(weights.sum())
    )


@pytest.mark.parametrize(("make", "weighted", "seed"), CASES)
def test_same_root_split(make: Any, weighted: bool, seed: int) -> None:
    contexts, y, weights = case(make, weighted, seed)
    root = bt.Tree(max_depth=1).fit(contexts, y, weights=weights).to_dict()
    expected = peer(contexts, y, weights, max_depth=1).tree_
    assert root["feature"] == expected.feature[0]
    assert root["threshold"] == pytest.approx(expected.threshold[0], rel=1e-12)
    assert root["cost"] / root["weight"] == pytest.approx(expected.impurity[0], rel=1e-9)
    assert root["n"] == ROWS == expected.n_node_samples[0]


@pytest.mark.parametrize(("make", "weighted", "seed"), CASES)
@pytest.mark.parametrize(("min_split", "min_leaf", "max_depth"), [(2, 1, 5), (20, 7, None)])
def test_same_training_error(
    make: Any, weighted: bool, seed: int, min_split: int, min_leaf: int, max_depth: int | None
) -> None:
    contexts, y, weights = case(make, weighted, seed)
    tree = bt.Tree(min_split=min_split, min_leaf=min_leaf, max_depth=max_depth)
    tree.fit(contexts, y, weights=weights)
    expected = peer(contexts, y, weights, min_samples_split=min_split, min_samples_leaf=min_leaf,
                    max_depth=max_depth)  # fmt: skip
    assert (tree.n_leaves, tree.depth) == (expected.get_n_leaves(), expected.get_depth())
    assert error(tree, contexts, y, weights) == pytest.approx(
        error(expected, contexts, y, weights), rel=1e-9
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_full_trees_make_no_training_error_on_distinct_values(weighted: bool) -> None:
    contexts, y, weights = case(distinct, weighted, 7)
    tree = bt.Tree().fit(contexts, y, weights=weights)
    assert tree.n_leaves == peer(contexts, y, weights).get_n_leaves() == ROWS
    assert error(tree, contexts, y, weights) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("make", "weighted", "seed"), CASES)
def test_same_pruning_path(make: Any, weighted: bool, seed: int) -> None:
    contexts, y, weights = case(make, weighted, seed)
    total = ROWS if weights is None else weights.sum()
    path = bt.Tree().fit(contexts, y, weights=weights).pruning_path()
    expected = peer(contexts, y, weights).cost_complexity_pruning_path(contexts, y, weights)
    assert list(path.alphas) == pytest.approx(expected.ccp_alphas * total, rel=1e-7, abs=1e-9)
    assert list(path.costs) == pytest.approx(expected.impurities * total, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(("make", "weighted", "seed"), CASES)
def test_same_pruned_size(make: Any, weighted: bool, seed: int) -> None:
    contexts, y, weights = case(make, weighted, seed)
    total = ROWS if weights is None else weights.sum()
    tree = bt.Tree().fit(contexts, y, weights=weights)
    alphas = np.asarray(tree.pruning_path().alphas)
    for alpha in ((alphas[:-1] + alphas[1:]) / 2)[:: max(1, len(alphas) // 5)]:
        expected = peer(contexts, y, weights, ccp_alpha=alpha / total)
        assert tree.prune(alpha).n_leaves == expected.get_n_leaves()
