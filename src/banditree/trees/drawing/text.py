"""A tree as indented text."""

from typing import NamedTuple

from banditree.trees.drawing.folding import count_leaves, open_nodes
from banditree.trees.drawing.wording import SIDES, Node, Side, Wording, is_leaf, number

MAX_LEAVES = 32  # With the nodes above them about as many lines as a window has.

_NAME_ROOM = 60
_LIST_ROOM = 60
_DEEPEST_INDENT = 40  # Deeper lines state their depth instead; indents would grow quadratically.


def tree_to_text(
    root: Node, *, max_depth: int | None = None, max_leaves: int | None = MAX_LEAVES
) -> str:
    """Draw a tree as text, one line per node: the rule of its branch, its mean and its rows.

    Parameters
    ----------
    root
        The root as ``Tree.to_dict()`` gives it.
    max_depth
        Levels to draw below the root; None: all.
    max_leaves
        Leaves to draw; None: all. Beyond either limit a subtree is one line that counts its
        leaves; those that explain least are folded first.

    Returns
    -------
    str
        Lines joined by newlines. Long lists of categories are shortened, and "(or missing)" marks
        the branch that missing values follow.

    Raises
    ------
    InvalidParameterError
        If ``max_depth`` is negative or ``max_leaves`` is less than 1.

    Examples
    --------
    >>> old = {"n": 40, "weight": 40.0, "mean": 0.45, "cost": 9.9}
    >>> young = {"n": 60, "weight": 60.0, "mean": 0.1, "cost": 5.4}
    >>> root = {"n": 100, "weight": 100.0, "mean": 0.24, "cost": 18.24, "gain": 2.94,
    ...         "feature": "age", "threshold": 40.5, "missing": "left",
    ...         "left": young, "right": old}
    >>> print(tree_to_text(root))
    mean 0.24, n 100
    ├─ age ≤ 40.5 (or missing): mean 0.1, n 60
    └─ age > 40.5: mean 0.45, n 40
    """
    wording, opened = Wording.of(root), open_nodes(root, max_depth, max_leaves)
    lines = [_numbers(root, opened)]
    stack = _branches(root, opened, "", 1)
    while stack:
        branch = stack.pop()
        rule = wording.rule(branch.parent, branch.side)
        words = rule.text(name_room=_NAME_ROOM, list_room=_LIST_ROOM)
        node = branch.parent[branch.side]
        lines.append(f"{_start(branch)}{words}: {_numbers(node, opened)}")
        stack += _branches(node, opened, _indent_below(branch), branch.depth + 1)
    return "\n".join(lines)


class _Branch(NamedTuple):
    parent: Node
    side: Side
    indent: str
    depth: int


def _branches(node: Node, opened: set[int], indent: str, depth: int) -> list[_Branch]:
    """Return the branches below a node, the one to be drawn first at the end."""
    if id(node) not in opened:
        return []
    return [_Branch(node, side, indent, depth) for side in reversed(SIDES)]


def _start(branch: _Branch) -> str:
    connector = "├─ " if branch.side == "left" else "└─ "
    depth = f"(depth {branch.depth}) " if branch.depth > _DEEPEST_INDENT else ""
    return branch.indent + depth + connector


def _indent_below(branch: _Branch) -> str:
    if branch.depth >= _DEEPEST_INDENT:
        return branch.indent
    return branch.indent + ("│  " if branch.side == "left" else "   ")


def _numbers(node: Node, opened: set[int]) -> str:
    folded = not is_leaf(node) and id(node) not in opened
    leaves = f" … {count_leaves(node)} leaves" if folded else ""
    return f"mean {number(node['mean'])}, n {node['n']}{leaves}"
