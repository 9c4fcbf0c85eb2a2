"""Which splits of a large tree are drawn, so that the drawing stays readable."""

from heapq import heappop, heappush
from typing import Literal, TypeAlias

from banditree._checking import check_whole
from banditree.trees.drawing.wording import SIDES, Node, is_leaf, walk

MaxLeaves: TypeAlias = int | Literal["fit"] | None


def open_nodes(root: Node, max_depth: int | None, max_leaves: int | None) -> set[int]:
    """Return the ids of the nodes whose branches are drawn; every other split is folded.

    The subtrees that explain least are folded: those whose splits have the smallest total gain.
    A folded subtree counts as one of the leaves. The parameters are those of `tree_to_text`.

    Examples
    --------
    >>> leaf = {"n": 1, "mean": 0.5}
    >>> small, large = ({"gain": gain, "left": leaf, "right": leaf} for gain in (1.0, 2.0))
    >>> root = {"gain": 0.1, "left": small, "right": large}
    >>> open_nodes(root, None, 3) == {id(root), id(large)}
    True
    """
    if max_depth is not None:
        check_whole("max_depth", max_depth, 0)
    if max_leaves is not None:
        check_whole("max_leaves", max_leaves, 1)
    gains = _gains_below(root)
    opened: set[int] = set()
    # The first of equals is taken, so that the same tree is always drawn alike.
    frontier = [(-gains[id(root)], 0, 0, root)]
    seen, leaves = 1, 1
    while frontier and (max_leaves is None or leaves < max_leaves):
        _, _, depth, node = heappop(frontier)
        if is_leaf(node) or depth == max_depth:
            continue
        opened.add(id(node))
        leaves += 1
        for side in SIDES:
            heappush(frontier, (-gains[id(node[side])], seen, depth + 1, node[side]))
            seen += 1
    return opened


def count_leaves(node: Node) -> int:
    """Return how many leaves a subtree has."""
    return sum(is_leaf(below) for below in walk(node))


def _gains_below(root: Node) -> dict[int, float]:
    """Return the sum of the gains in each node's subtree, by the node's id."""
    gains: dict[int, float] = {}
    for node in reversed(list(walk(root))):  # children before their parents
        below = () if is_leaf(node) else (node["gain"], *(gains[id(node[s])] for s in SIDES))
        gains[id(node)] = sum(below)
    return gains
