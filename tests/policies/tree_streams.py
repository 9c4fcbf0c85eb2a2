"""Streams of observations of several arms, and the trees that policies must make of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import banditree as bt
from banditree import _core
from banditree.policies.tree_policy import TreePolicy
from reference.strategies import Data, data_sets

ARMS = ["golf", "tennis", "chess"]
Observation = tuple[Any, str, float]


@dataclass(frozen=True)
class Stream:
    contexts: list[Any]
    arms: list[str]
    rewards: list[float]
    others: list[Any]  # contexts to decide for, with values the stream does not have
    categorical: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Observation]:
        return iter(zip(self.contexts, self.arms, self.rewards, strict=True))

    def part(self, start: int, stop: int) -> tuple[list[Any], list[str], list[float]]:
        return self.contexts[start:stop], self.arms[start:stop], self.rewards[start:stop]

    def of(self, arm: str, n: int | None = None) -> tuple[list[Any], list[float]]:
        """Return contexts and rewards of an arm among the first n observations."""
        own = [(c, r) for c, a, r in list(self)[:n] if a == arm]
        return [context for context, _ in own], [reward for _, reward in own]

    @property
    def exact(self) -> bool:
        """Whether all sums are whole numbers."""
        return set(self.rewards) <= {0, 1}


def mapped(row: list[Any]) -> dict[str, Any]:
    """Return a row as a mapping that lacks what is missing: features appear late."""
    return {f"f{j}": value for j, value in enumerate(row) if value is not None}


COIN = st.integers(0, 1)
SHARE = st.sampled_from([0, 0.25, 0.5, 1])  # a binary reward need not be whole


@st.composite
def streams(
    draw: st.DrawFn, *, reward: str = "binary", max_rows: int = 25, named: bool | None = None
) -> Stream:
    """Draw observations of three arms; `named`: contexts are mappings (None: draw that too).

    Rewards are 0 or 1 ("coin"), between them ("binary") or any ("continuous").
    """
    data: Data = draw(data_sets(max_rows=max_rows))
    named = draw(st.booleans()) if named is None else named
    n = len(data.y)
    one = COIN if reward == "coin" else draw(st.sampled_from([COIN, SHARE]))
    return Stream(
        [mapped(row) for row in data.rows] if named else data.rows,
        draw(st.lists(st.sampled_from(ARMS), min_size=n, max_size=n)),
        data.y if reward == "continuous" else draw(st.lists(one, min_size=n, max_size=n)),
        [mapped(row) if named else row for row in data.rows[:3] + data.others[:4]],
        tuple(f"f{j}" if named else j for j in data.named),
    )


def mixed_stream(n: int, reward: str = "binary", seed: int = 5) -> Stream:
    """Return contexts of all kinds with gaps, a late feature and late categories, which matter."""
    rng = np.random.default_rng(seed)
    ages, sizes = rng.integers(18, 70, n), rng.normal(size=n)
    cities = [f"city {rng.integers(0, 3 + i // 40)}" for i in range(n)]
    member, gaps = rng.random(n) < 0.4, rng.random((n, 4)) < 0.08
    arms = [ARMS[i] for i in rng.integers(0, 3, n)]
    score = (ages - 44) / 20 + sizes / 2 + 1.5 * member - rng.normal(size=n)
    score *= np.where(np.array(arms) == "golf", 1, -1)
    contexts = []
    for i in range(n):
        row = {"age": int(ages[i]), "size": sizes[i], "city": cities[i], "member": bool(member[i])}
        kept = [k for k, gap in zip(row, gaps[i], strict=True) if not gap]
        contexts.append({k: row[k] for k in kept if k != "member" or i > n // 5})
    rewards = (score > 0).astype(float) if reward == "binary" else np.round(score, 3)
    others = [*contexts[:9], {}, {"age": 44}, {"city": "never seen", "member": True}]
    return Stream(contexts, arms, rewards.tolist(), others)


def last_point(n: int) -> int:
    """Return the latest point of the schedule at n rows: it grows by a quarter each time."""
    point = 1
    while (after := max(point + 1, math.ceil(1.25 * point))) <= n:
        point = after
    return point


def folds_without_gaps(n: int, folds: int) -> np.ndarray:
    """Return the fold of each of n rows, those that have any numbered from 0."""
    return np.unique(_core.folds_of(n, folds), return_inverse=True)[1]


def grown_alpha(alpha: float, chosen_at: int, n: int) -> float:
    """Return what an alpha becomes that was chosen on fewer rows: it grows with them in steps."""
    step = max(1, chosen_at // 16)
    return alpha / chosen_at * (chosen_at + (n - chosen_at) // step * step)


@dataclass(frozen=True)
class Batch:
    """All rows of an arm, as the policy encodes them, for trees that are grown at once."""

    policy: TreePolicy
    contexts: list[Any]
    rewards: list[float]

    def grown(self, n: int | None = None, edges: Any = None) -> _core.Tree:
        """Grow a tree on the first n rows; without edges, on bins of their own."""
        policy = self.policy
        rows = policy._encoder.encode_many(self.contexts[:n])
        y = np.array(self.rewards[:n], dtype=np.float64)
        kinds, growth = policy._encoder.is_categorical, policy._settings.growth
        return _core.Tree.fit(rows, kinds, y, None, *growth, edges)

    def edges(self) -> list[list[float]] | None:
        """Return the bins, which are made at the points of the schedule."""
        if self.policy.max_bins is None:
            return None
        made = self.grown(last_point(len(self.rewards))).edges()
        return [[] for _ in self.policy._encoder.features] if made is None else made

    def alpha(self) -> float:
        """Cross-validate at the latest point of the schedule."""
        point = last_point(len(self.rewards))
        folds = min(self.policy.folds, point)
        if folds < 2:
            return math.inf
        ids = folds_without_gaps(point, folds)
        *_, lasting = self.grown(point).cross_validate(ids, int(ids.max()) + 1)
        return grown_alpha(lasting, point, len(self.rewards))

    def pruned(self, alpha: float) -> _core.Tree:
        return self.grown(edges=self.edges()).prune(alpha)


def assert_same_tree(found: bt.Tree, expected: _core.Tree, exact: bool) -> None:
    """Compare node for node; sums of what is not whole may be rounded otherwise."""
    core = found._core
    assert core.sides() == expected.sides()
    if exact:
        assert np.array_equal(core.nodes(), expected.nodes())
    else:
        np.testing.assert_allclose(core.nodes(), expected.nodes(), rtol=1e-9, atol=1e-9)


def way(node: dict[str, Any], context: Any) -> str:
    """Return the sides that a context takes on its way to the leaf of a tree's `to_dict`."""
    sides = ""
    while "left" in node:
        name = node["feature"]
        inside = name in context if isinstance(context, dict) else True
        value = context[name] if inside else None
        side = _side(node, value)
        sides, node = sides + side[0], node[side]
    return sides


def rewards_beside(root: dict[str, Any], context: Any, log: tuple[list[Any], Any]) -> list[float]:
    """Return the rewards of a log's contexts that are in the same leaf as a context."""
    leaf = way(root, context)
    return [reward for other, reward in zip(*log, strict=True) if way(root, other) == leaf]


def _side(node: dict[str, Any], value: Any) -> str:
    if "categories" in node:
        known = [side for side in ("left", "right") if value in node["categories"][side]]
        return known[0] if known else node["missing"]
    if value is None or math.isnan(value):
        return node["missing"]
    return "left" if node["threshold"] is None or value <= node["threshold"] else "right"
