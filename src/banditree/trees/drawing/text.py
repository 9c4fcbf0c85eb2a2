"""A tree as indented text."""

from typing import NamedTuple

from banditree.trees.drawing.folding import MaxLeaves, count_leaves, open_nodes
from banditree.trees.drawing.wording import (
    SIDES,
    Node,
    Rule,
    Side,
    Wording,
    columns,
    is_leaf,
    number,
)

_MOST_LEAVES = 32  # With the nodes above them about as many lines as a window has.
_MOST_LEVELS = 12  # So that indents leave most of a line to the words.
_MOST_COLUMNS = 120
_LEAST_ROOM = 24  # Of the words, in lines that are indented further.
_LONGEST_RULE = 80
_ALL = 10**9
_DEEPEST_INDENT = 40  # Deeper lines state their depth instead; indents would grow quadratically.


def tree_to_text(root: Node, *, max_depth: int | None = None, max_leaves: MaxLeaves = "fit") -> str:
    """Draw a tree as text, one line per node: the rule of its branch, its mean and its rows.

    Parameters
    ----------
    root
        The root as ``Tree.to_dict()`` gives it.
    max_depth
        Levels to draw below the root; None: all.
    max_leaves
        Leaves to draw; None: all; "fit": up to 32, of 12 levels at most. Beyond either limit a
        subtree is one line that counts its leaves; those that explain least are folded first.

    Returns
    -------
    str
        Lines joined by newlines. Names and lists of categories are shortened where a line would be
        longer than 120 columns, and "(or missing)" marks the branch that missing values follow.

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
    wording, opened = Wording.of(root), _opened(root, max_depth, max_leaves)
    lines = [_numbers(root, opened)]
    stack = _branches(root, opened, "", 1)
    while stack:
        branch = stack.pop()
        node, start = branch.parent[branch.side], _start(branch)
        end = f": {_numbers(node, opened)}"
        room = max(_MOST_COLUMNS - len(start) - len(end), _LEAST_ROOM)
        lines.append(start + _words(wording.rule(branch.parent, branch.side), room) + end)
        stack += _branches(node, opened, _indent_below(branch), branch.depth + 1)
    return "\n".join(lines)


def _opened(root: Node, max_depth: int | None, max_leaves: MaxLeaves) -> set[int]:
    if max_leaves != "fit":
        return open_nodes(root, max_depth, max_leaves)
    return open_nodes(root, _MOST_LEVELS if max_depth is None else max_depth, _MOST_LEAVES)


def _words(rule: Rule, room: int) -> str:
    """Return a rule that fits the room; the name yields to the values, down to half of it."""
    room = min(room, _LONGEST_RULE)
    text = rule.text()
    if columns(text) <= room:
        return text
    room -= columns(text) - columns(rule.head(_ALL)) - columns(rule.tail(_ALL))
    name_room = max(room // 2, room - columns(rule.tail(_ALL)))
    name = columns(rule.head(name_room))
    return rule.text(name_room=name_room, list_room=room - name)


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
