"""A decision tree written to be obviously right: the rules of docs/trees.md, in plain Python.

Sums and gains are exact (`Fraction`); `number=float` trades that for speed. A row is a list of
values; a missing value is None or NaN; the columns in `categorical` hold categories.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from reference.lasting import lasting_alpha

Row = Sequence[Any]
Number = Any  # Fraction, or float where speed matters more
Edges = dict[int, list[float]]
Order = dict[int, list[Any]]  # of each categorical column: as they first appear, or False, True
Split = tuple["Sums", dict[str, Any]]  # what it sends left; fields of the node

GAIN_TIE = Fraction(1, 10**12)
PRUNE_TIE = Fraction(1, 10**9)
Categories = tuple[Any, ...]


@dataclass(slots=True)
class Sums:
    """Rows, Σw, Σwy and Σwy² of a set of rows."""

    n: int
    w: Number
    s: Number
    q: Number

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.n + other.n, self.w + other.w, self.s + other.s, self.q + other.q)

    def __sub__(self, other: Sums) -> Sums:
        return Sums(self.n - other.n, self.w - other.w, self.s - other.s, self.q - other.q)

    @property
    def mean(self) -> Number:
        return self.s / self.w

    @property
    def cost(self) -> Number:
        """Σw(y − mean)², which equals Σwy² − (Σwy)² / Σw."""
        return self.q - self.s * self.s / self.w if self.n else 0


@dataclass(frozen=True)
class Node:
    n: int
    weight: Number
    mean: Number
    cost: Number
    gain: Number = None
    feature: int | None = None
    threshold: float | None = None  # None for a number split: present left, missing right
    missing: str | None = None  # "left" or "right"
    left_categories: Categories | None = None
    right_categories: Categories | None = None
    left: Node | None = None
    right: Node | None = None

    def as_leaf(self) -> Node:
        return Node(self.n, self.weight, self.mean, self.cost)

    def goes_left(self, value: Any) -> bool:
        """The side of a value at prediction."""
        if self.left_categories is not None:
            known = self.left_categories + self.right_categories
            return value in self.left_categories if value in known else self.missing == "left"
        if is_missing(value):
            return self.missing == "left"
        return self.threshold is None or value <= self.threshold


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def midpoint(low: float, high: float) -> float:
    middle = (low + high) / 2
    return low if middle == high else middle


@dataclass(frozen=True)
class Grower:
    """The rows of a tree (those with a weight) and its settings."""

    rows: list[Row]
    sums: list[Sums]  # one per row
    categorical: Collection[int]
    min_split: int
    min_leaf: int
    max_depth: int | None
    edges: Edges
    order: Order
    category_gain: str

    def total(self, members: Sequence[int]) -> Sums:
        return sum((self.sums[i] for i in members), Sums(0, 0, 0, 0))

    def node(self, members: list[int], depth: int, zero: Number) -> Node:
        here = self.total(members)
        leaf = Node(here.n, here.w, here.mean, here.cost)
        deep = self.max_depth is not None and depth >= self.max_depth
        best = None if here.n < self.min_split or deep else self.best(members, here, zero)
        if best is None:
            return leaf
        gain, feature, (left_sums, fields) = best
        heavier = "left" if left_sums.w >= (here - left_sums).w else "right"
        inner = replace(leaf, gain=gain, feature=feature, **{"missing": heavier} | fields)
        left = [i for i in members if inner.goes_left(self.rows[i][feature])]
        right = [i for i in members if not inner.goes_left(self.rows[i][feature])]
        return replace(
            inner, left=self.node(left, depth + 1, zero), right=self.node(right, depth + 1, zero)
        )

    def best(
        self, members: list[int], here: Sums, zero: Number
    ) -> tuple[Number, int, Split] | None:
        """The first of the splits whose gain is the largest, up to the tie tolerance."""
        spread = here.q - 2 * zero * here.s + zero * zero * here.w  # Σw(y − zero)²
        tolerance = spread * GAIN_TIE
        found = []
        for feature in range(len(self.rows[0])):
            credit = self.credit(feature, members)
            for split in self.splits(feature, members):
                left, right = split[0], here - split[0]
                if min(left.n, right.n) >= self.min_leaf:
                    gain = here.cost - left.cost - right.cost
                    found.append((gain * credit, feature, split))
        positive = [candidate for candidate in found if candidate[0] > tolerance]
        largest = max((gain for gain, _, _ in positive), default=0)
        return next((found for found in positive if found[0] >= largest - tolerance), None)

    def credit(self, feature: int, members: list[int]) -> Number:
        """How much of a gain counts, weights aside."""
        groups = list(self.groups(feature, members).values())
        plain = self.category_gain == "plain" or feature not in self.categorical
        if plain or len(groups) <= 2:
            return 1
        all_rows = self.unweighted(members)
        explained = all_rows.cost - sum(self.unweighted(group).cost for group in groups)
        if explained <= 0:
            return 0
        chance = all_rows.cost * (len(groups) - 2) / (len(members) - 1)
        return max(1 - chance * 3 / 2 / explained, 0)

    def unweighted(self, members: Sequence[int]) -> Sums:
        rewards = [self.sums[i].mean for i in members]
        return Sums(len(rewards), len(rewards), sum(rewards), sum(y * y for y in rewards))

    def groups(self, feature: int, members: list[int]) -> dict[Any, list[int]]:
        groups: dict[Any, list[int]] = {}
        for i in members:
            value = self.rows[i][feature]
            groups.setdefault(None if is_missing(value) else value, []).append(i)
        return groups

    def splits(self, feature: int, members: list[int]) -> Iterator[Split]:
        groups = self.groups(feature, members)
        if feature in self.categorical:
            return self.category_splits(feature, {k: self.total(m) for k, m in groups.items()})
        absent = groups.pop(None, [])
        return self.number_splits(feature, groups, self.total(absent))

    def number_splits(
        self, feature: int, groups: dict[Any, list[int]], absent: Sums
    ) -> Iterator[Split]:
        edges = self.edges.get(feature)
        values: dict[Any, Sums] = {}  # ascending; the key is the value, or its bin
        for value in sorted(groups):
            key = value if edges is None else bisect_left(edges, value)
            values[key] = values.get(key, Sums(0, 0, 0, 0)) + self.total(groups[value])
        keys = list(values)
        left = Sums(0, 0, 0, 0)
        for low, high in pairwise(keys):
            left = left + values[low]
            threshold = midpoint(low, high) if edges is None else edges[low]
            if absent.n:
                yield left + absent, {"threshold": threshold, "missing": "left"}
                yield left, {"threshold": threshold, "missing": "right"}
            else:
                yield left, {"threshold": threshold}
        if absent.n and keys:
            yield left + values[keys[-1]], {"threshold": None, "missing": "right"}

    def category_splits(self, feature: int, groups: dict[Any, Sums]) -> Iterator[Split]:
        rank = {category: i for i, category in enumerate([None, *self.order[feature]])}
        # Equal means part only where min_leaf forbids the better cuts; then missing comes first.
        ordered = sorted(groups, key=lambda category: (groups[category].mean, rank[category]))
        left = Sums(0, 0, 0, 0)
        for cut in range(1, len(ordered)):
            left = left + groups[ordered[cut - 1]]
            low, high = (
                tuple(sorted(set(side) - {None}, key=rank.__getitem__))
                for side in (ordered[:cut], ordered[cut:])
            )
            side = {"missing": "left" if None in ordered[:cut] else "right"}
            fields = {"left_categories": low, "right_categories": high}
            yield left, fields | (side if None in groups else {})


def grow(
    rows: Sequence[Row],
    y: Sequence[float],
    weights: Sequence[float] | None = None,
    *,
    categorical: Collection[int] = (),
    min_split: int = 2,
    min_leaf: int = 1,
    max_depth: int | None = None,
    edges: Edges | None = None,
    order: Order | None = None,
    category_gain: str = "plain",
    number: Callable[[float], Number] = Fraction,
) -> Node:
    weights = [1] * len(rows) if weights is None else weights
    kept = [i for i, w in enumerate(weights) if w > 0]
    sums = []
    for i in kept:
        w, reward = number(weights[i]), number(y[i])
        sums.append(Sums(1, w, w * reward, w * reward * reward))
    data = [rows[i] for i in kept]
    order = category_order(data, None, categorical) if order is None else order
    zero = number(sorted([0, min(y[i] for i in kept), max(y[i] for i in kept)])[1])
    limits = min_split, min_leaf, max_depth
    grower = Grower(data, sums, categorical, *limits, edges or {}, order, category_gain)
    return grower.node(list(range(len(data))), 0, zero)


def category_order(
    rows: Sequence[Row], weights: Sequence[float] | None, categorical: Collection[int]
) -> Order:
    weights = [1] * len(rows) if weights is None else weights
    kept = [row for row, w in zip(rows, weights, strict=True) if w > 0]
    order = {}
    for j in categorical:
        found = list(dict.fromkeys(row[j] for row in kept if not is_missing(row[j])))
        order[j] = sorted(found) if all(isinstance(v, bool) for v in found) else found
    return order


def bin_edges(
    rows: Sequence[Row],
    weights: Sequence[float] | None,
    categorical: Collection[int],
    max_bins: int,
) -> Edges:
    weights = [1] * len(rows) if weights is None else weights
    kept = [row for row, w in zip(rows, weights, strict=True) if w > 0]
    columns = [j for j in range(len(rows[0])) if j not in categorical]
    return {j: edges_of([r[j] for r in kept if not is_missing(r[j])], max_bins) for j in columns}


def edges_of(values: list[float], max_bins: int) -> list[float]:
    distinct = sorted(set(values))
    edges, before = [], 0
    for low, high in pairwise(distinct):
        upto = sum(value <= low for value in values)
        crossed = upto * max_bins // len(values) > before * max_bins // len(values)
        if crossed or len(distinct) <= max_bins:
            edges.append(midpoint(low, high))
        before = upto
    return edges


def inner_nodes(node: Node) -> Iterator[Node]:
    if node.left is not None:
        yield node
        yield from inner_nodes(node.left)
        yield from inner_nodes(node.right)


def leaves(node: Node) -> int:
    return sum(1 for _ in inner_nodes(node)) + 1


def depth(node: Node) -> int:
    return 0 if node.left is None else 1 + max(depth(node.left), depth(node.right))


def cost(node: Node) -> Number:
    return node.cost if node.left is None else cost(node.left) + cost(node.right)


def gained(node: Node) -> Number:
    """What counts of all gains; if each counts in full, the cost of the node less its leaves'."""
    return sum(inner.gain for inner in inner_nodes(node))


def predict(node: Node, row: Row) -> Number:
    while node.left is not None:
        node = node.left if node.goes_left(row[node.feature]) else node.right
    return node.mean


def prune(node: Node, alpha: float) -> Node:
    if node.left is None:
        return node
    pruned = replace(node, left=prune(node.left, alpha), right=prune(node.right, alpha))
    if gained(pruned) <= alpha * (leaves(pruned) - 1) * float(1 + PRUNE_TIE):
        return node.as_leaf()
    return pruned


def link(node: Node) -> Number:
    """The alpha from which on this subtree is no better than a leaf."""
    return gained(node) / (leaves(node) - 1)


def collapse(node: Node, limit: Number) -> Node:
    if node.left is None or link(node) <= limit:
        return node.as_leaf()
    return replace(node, left=collapse(node.left, limit), right=collapse(node.right, limit))


def pruning_path(tree: Node) -> list[tuple[Number, int, Number]]:
    """(alpha, leaves, cost) of each subtree: collapse the weakest links until the root is left."""
    path = [(0, leaves(tree), cost(tree))]
    while tree.left is not None:
        alpha = min(link(node) for node in inner_nodes(tree))
        limit = alpha * (1 + PRUNE_TIE)
        while any(link(node) <= limit for node in inner_nodes(tree)):
            tree = collapse(tree, limit)
        path.append((alpha, leaves(tree), cost(tree)))
    return path


@dataclass(frozen=True)
class CrossValidation:
    alphas: list[float]
    errors: list[float]
    standard_errors: list[float]
    best_alpha: float
    lasting_alpha: float


def cross_validate(
    rows: Sequence[Row],
    y: Sequence[float],
    weights: Sequence[float] | None,
    folds: Sequence[Any],
    *,
    number: Callable[[float], Number] = Fraction,
    **settings: Any,
) -> CrossValidation:
    weights = [1] * len(rows) if weights is None else weights
    order = category_order(rows, weights, settings.get("categorical", ()))
    tree = grow(rows, y, weights, number=number, **settings)
    alphas = [float(alpha) for alpha, _, _ in pruning_path(tree)]
    betas = [math.sqrt(a * b) for a, b in pairwise(alphas)] + [math.inf]
    errors: list[tuple[Any, list[Any]]] = []  # of each row its weight, and its error at each beta
    for fold in set(folds):
        rest = [i for i, f in enumerate(folds) if f != fold]
        held_out = [i for i, f in enumerate(folds) if f == fold]
        part = [[data[i] for i in rest] for data in (rows, y, weights)]
        fold_tree = grow(*part, number=number, order=order, **settings)
        share = float(fold_tree.weight / tree.weight)
        pruned = [prune(fold_tree, beta * share) for beta in betas]
        for i in held_out:
            found = [(number(y[i]) - predict(one, rows[i])) ** 2 for one in pruned]
            errors.append((number(weights[i]), found))
    first = [sum(w * e[k] for w, e in errors) for k in range(len(betas))]
    second = [sum(w * e[k] ** 2 for w, e in errors) for k in range(len(betas))]
    variances = [q - s * s / tree.weight for s, q in zip(first, second, strict=True)]
    best = max(k for k, s in enumerate(first) if s == min(first))
    return CrossValidation(
        alphas,
        [float(s / tree.cost) for s in first],
        [math.sqrt(max(v, 0)) / float(tree.cost) for v in variances],
        alphas[best],
        lasting_alpha(alphas, best, errors),
    )


def to_dict(node: Node) -> dict[str, Any]:
    described: dict[str, Any] = {"n": node.n}
    described |= {name: float(getattr(node, name)) for name in ("weight", "mean", "cost")}
    if node.left is None:
        return described
    described |= {"gain": float(node.gain), "feature": node.feature, "missing": node.missing}
    if node.left_categories is None:
        described["threshold"] = node.threshold
    else:
        described["categories"] = {
            "left": list(node.left_categories),
            "right": list(node.right_categories),
        }
    return described | {"left": to_dict(node.left), "right": to_dict(node.right)}
