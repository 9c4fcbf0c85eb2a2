"""The naive tree and `Tree` against R's rpart.

The cases lie in the folder `rpart` beside the data sets (`$BANDITREE_DATA`). One more case, made by
the naive tree in the same form, needs no files.
"""

from __future__ import annotations

import csv
import json
import math
import os
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from reference import naive

NOT_FEATURES = ("y", "fold")
PREDICTIONS = 25


@dataclass(frozen=True)
class Case:
    features: list[str]
    rows: list[list[Any]]
    y: list[float]
    folds: list[int]
    expected: dict[str, Any]

    @property
    def categorical(self) -> set[int]:
        return {j for j, value in enumerate(self.rows[0]) if isinstance(value, str)}

    @property
    def settings(self) -> dict[str, int]:
        return {
            "min_split": self.expected["minsplit"],
            "min_leaf": self.expected["minbucket"],
        }

    @property
    def table(self) -> dict[str, list[float]]:
        """rpart's table, turned to run from the full tree to the root as our path does."""
        return {name: values[::-1] for name, values in self.expected["cptable"].items()}


def folder() -> Path | None:
    data = os.environ.get("BANDITREE_DATA")
    found = Path(data).resolve().parent / "rpart" if data else None
    return found if found is not None and found.is_dir() else None


def names() -> list[str]:
    here = folder()
    return ["made", *sorted(path.stem for path in here.glob("*.json"))] if here else ["made"]


@cache
def load(name: str) -> Case:
    if name == "made":
        return make()
    path = folder() / f"{name}.csv"
    with path.open(newline="") as file:
        table = list(csv.DictReader(file))
    features = [column for column in table[0] if column not in NOT_FEATURES]
    return Case(
        features,
        [[parse(row[name]) for name in features] for row in table],
        [float(row["y"]) for row in table],
        [int(row["fold"]) for row in table],
        json.loads(path.with_suffix(".json").read_text()),
    )


def parse(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def make() -> Case:
    """A case in the form of the others, with the exact naive tree in the place of rpart."""
    random = Random(5)
    rows = [[random.gauss(0, 1), random.choice("abcdef"), random.gauss(0, 1)] for _ in range(80)]
    y = [round(x + (c in "ace") + random.gauss(0, 1), 6) for x, c, _ in rows]
    folds = [1 + i % 5 for i in range(len(rows))]
    options = {"categorical": {1}, "min_split": 8, "min_leaf": 3}
    tree = naive.grow(rows, y, **options)
    result = naive.cross_validate(rows, y, None, folds, **options)
    alphas, leaves, costs = zip(*naive.pruning_path(tree), strict=True)
    table = {
        "cp": [float(alpha / tree.cost) for alpha in alphas],
        "nsplit": [n - 1 for n in leaves],
        "rel_error": [float(cost / tree.cost) for cost in costs],
        "xerror": result.errors,
        "xstd": result.standard_errors,
    }
    expected = {
        "case": "made",
        "rows": len(rows),
        "minsplit": 8,
        "minbucket": 3,
        "root_deviance": float(tree.cost),
        "leaves": leaves[0],
        "root_variable": ("x1", "c1", "x2")[tree.feature],
        "cptable": {name: values[::-1] for name, values in table.items()},
        "pruned": [pruned(tree, rows, math.sqrt(a * b)) for a, b in pairwise(alphas) if a],
    }
    return Case(["x1", "c1", "x2"], rows, y, folds, expected)


def pruned(tree: naive.Node, rows: list[list[Any]], alpha: float) -> dict[str, Any]:
    subtree = naive.prune(tree, alpha)
    return {
        "cp": alpha / float(tree.cost),
        "leaves": naive.leaves(subtree),
        "deviance": float(naive.cost(subtree)),
        "prediction": [float(naive.predict(subtree, row)) for row in rows[:PREDICTIONS]],
    }


def close(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.fixture(params=names())
def case(request: pytest.FixtureRequest) -> Case:
    return load(request.param)


class NaiveTree:
    """The naive tree behind the methods that the tests below call."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.options = {**case.settings, "categorical": case.categorical, "number": float}
        self.root = naive.grow(case.rows, case.y, **self.options)
        self.root_feature = self.root.feature

    def path(self) -> tuple[list[float], list[int], list[float]]:
        alphas, leaves, costs = zip(*naive.pruning_path(self.root), strict=True)
        return list(alphas), list(leaves), list(costs)

    def pruned(self, alpha: float) -> tuple[int, float, list[float]]:
        subtree = naive.prune(self.root, alpha)
        predictions = [naive.predict(subtree, row) for row in self.case.rows]
        return naive.leaves(subtree), naive.cost(subtree), predictions

    def cross_validated(self) -> tuple[list[float], list[float]]:
        case = self.case
        result = naive.cross_validate(case.rows, case.y, None, case.folds, **self.options)
        return result.errors, result.standard_errors


class LibraryTree:
    """`Tree` behind the same methods."""

    def __init__(self, case: Case) -> None:
        import banditree as bt

        self.case = case
        self.tree = bt.Tree(**case.settings).fit(case.rows, case.y)
        self.root_feature = self.tree.to_dict()["feature"]

    def path(self) -> tuple[list[float], list[int], list[float]]:
        path = self.tree.pruning_path()
        return list(path.alphas), list(path.leaves), list(path.costs)

    def pruned(self, alpha: float) -> tuple[int, float, list[float]]:
        subtree = self.tree.prune(alpha)
        return (
            subtree.n_leaves,
            subtree.pruning_path().costs[0],
            list(subtree.predict(self.case.rows)),
        )

    def cross_validated(self) -> tuple[list[float], list[float]]:
        result = self.tree.cross_validate(self.case.folds)
        return list(result.errors), list(result.standard_errors)


@pytest.fixture(params=[NaiveTree, LibraryTree], ids=["naive", "library"])
def tree(request: pytest.FixtureRequest, case: Case) -> NaiveTree | LibraryTree:
    return request.param(case)


def test_same_root(case: Case, tree: NaiveTree | LibraryTree) -> None:
    assert len(case.rows) == case.expected["rows"]
    assert case.features[tree.root_feature] == case.expected["root_variable"]


def test_same_path(case: Case, tree: NaiveTree | LibraryTree) -> None:
    root = case.expected["root_deviance"]
    alphas, leaves, costs = tree.path()
    assert leaves[0] == case.expected["leaves"]
    assert leaves == [splits + 1 for splits in case.table["nsplit"]]
    assert [alpha / root for alpha in alphas] == close(case.table["cp"])
    assert [cost / root for cost in costs] == close(case.table["rel_error"])


def test_same_pruned_trees(case: Case, tree: NaiveTree | LibraryTree) -> None:
    for expected in case.expected["pruned"]:
        leaves, cost, predictions = tree.pruned(expected["cp"] * case.expected["root_deviance"])
        assert leaves == expected["leaves"]
        assert cost == close(expected["deviance"])
        known = expected["prediction"]
        assert predictions[: len(known)] == close(known)


def test_same_cross_validation(case: Case, tree: NaiveTree | LibraryTree) -> None:
    errors, standard_errors = tree.cross_validated()
    assert errors == close(case.table["xerror"])
    assert standard_errors == close(case.table["xstd"])
