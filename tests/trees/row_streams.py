"""Streams of observations for incremental trees, and how trees are compared."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import banditree as bt
from reference.strategies import Data, data_sets

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


def assert_same_edges(found: Any, expected: Any) -> None:
    assert {k: v.tolist() for k, v in found.items()} == {k: list(v) for k, v in expected.items()}


def copies(tree: Any) -> list[Any]:
    return [pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree)]
