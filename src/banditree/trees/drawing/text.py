"""A tree as indented text."""

from typing import NamedTuple

from banditree.trees.drawing.wording import SIDES, Node, Side, Wording, is_leaf, number

_NAME_ROOM = 60
_LIST_ROOM = 60
_DEEPEST_INDENT = 40  # Deeper lines state their depth instead; indents would grow quadratically.


def tree_to_text(root: Node) -> str:
    """Draw a tree as text, one line per node: the rule of its branch, its mean and its rows.

    Parameters
    ----------
    root
        The root as ``Tree.to_dict()`` gives it.

    Returns
    -------
    str
        Lines joined by newlines. Long lists of categories are shortened, and "(or missing)" marks
        the branch that missing values follow.

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
    wording = Wording.of(root)
    lines = [_numbers(root)]
    stack = _branches(root, "", 1)
    while stack:
        branch = stack.pop()
        rule = wording.rule(branch.parent, branch.side)
        words = rule.text(name_room=_NAME_ROOM, list_room=_LIST_ROOM)
        node = branch.parent[branch.side]
        lines.append(f"{_start(branch)}{words}: {_numbers(node)}")
        stack += _branches(node, _indent_below(branch), branch.depth + 1)
    return "\n".join(lines)


class _Branch(NamedTuple):
    parent: Node
    side: Side
    indent: str
    depth: int


def _branches(node: Node, indent: str, depth: int) -> list[_Branch]:
    """Return the branches below a node, the one to be drawn first at the end."""
    if is_leaf(node):
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


def _numbers(node: Node) -> str:
    return f"mean {number(node['mean'])}, n {node['n']}"
