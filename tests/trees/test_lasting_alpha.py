"""Which subtree policies take, and where in its interval: `CrossValidation.lasting_alpha`."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import banditree as bt
from banditree.trees.results import CrossValidation

N_ROWS = 60
FOLDS = np.arange(N_ROWS) % 5


def grown(contexts: np.ndarray, y: np.ndarray) -> bt.Tree:
    return bt.Tree(max_depth=2).fit(contexts, y)


def held_out_errors(contexts: np.ndarray, y: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """Return the squared error of each subtree of the path on each row."""
    betas = np.sqrt(alphas[:-1] * alphas[1:])
    errors = np.empty((len(alphas), len(y)))
    for fold in range(5):
        held = fold == FOLDS
        tree = grown(contexts[~held], y[~held])
        for k, beta in enumerate(betas):
            predicted = tree.prune(beta * np.mean(~held)).predict(contexts[held])
            errors[k, held] = (y[held] - predicted) ** 2
        errors[-1, held] = (y[held] - y[~held].mean()) ** 2
    return errors


def largest_like_leaf(errors: np.ndarray) -> int:
    """Return the first subtree that errs more than the leaf by less than a standard error."""
    for k, differences in enumerate(errors[:-1] - errors[-1]):
        if differences.sum() < math.sqrt(len(differences)) * differences.std():
            return k
    return len(errors) - 1


def inside(alphas: np.ndarray, k: int) -> float:
    """Return the alpha that lasts, a quarter of the way through the interval of subtree k."""
    end = alphas[k + 1] if k + 1 < len(alphas) else alphas[k] * 1.25**4
    return float(alphas[k] ** 0.75 * end**0.25)


def assert_taken(found: CrossValidation, k: int) -> None:
    assert found.lasting_alpha == pytest.approx(inside(found.alphas, k), rel=1e-9)


def test_a_leaf_is_taken_only_where_it_is_better_by_a_standard_error() -> None:
    seen: Counter[str] = Counter()
    for seed in range(60):
        random = np.random.default_rng(seed)
        contexts = random.random((N_ROWS, 2))
        y = (random.random(N_ROWS) < 0.4 + 0.2 * (contexts[:, 0] > 0.5)).astype(float)
        found = grown(contexts, y).cross_validate(FOLDS)
        last = len(found.alphas) - 1
        best = list(found.alphas).index(found.best_alpha)
        if best < last:
            assert_taken(found, best)
            seen["the best, which is no leaf"] += 1
            continue
        k = largest_like_leaf(held_out_errors(contexts, y, found.alphas))
        assert_taken(found, k)
        seen["the leaf" if k == last else "the largest" if k == 0 else "one between"] += 1
    assert len(seen) == 4
    assert min(seen.values()) >= 3, seen


def test_a_tree_that_is_worse_by_exactly_a_standard_error_gives_way_to_the_leaf() -> None:
    """On two rows it errs by 0.0075 more than the leaf, on two by 0.0025 less: 0.01 ± 0.01."""
    tree = bt.Tree().fit([[2], [0], [3], [1]], [0.5, 0.6, 0.6, 0.5])
    found = tree.cross_validate([0, 1, 0, 1])
    assert found.alphas.tolist() == pytest.approx([0, 0.005])
    assert_taken(found, 1)
