"""Horizontal places for the nodes of a binary tree."""

from collections.abc import Sequence
from dataclasses import dataclass


def place(
    widths: Sequence[float], children: Sequence[tuple[int, int] | None], gap: float
) -> list[float]:
    """Return the centre of each node, so that parents are centred over their children.

    Two subtrees stand as close as the nodes on their common levels allow (Reingold and Tilford,
    1981). Linear in the number of nodes.

    Parameters
    ----------
    widths
        Width of each node; parents come before their children, the root first.
    children
        The places of the left and the right child in that order, None for a leaf.
    gap
        Smallest distance between two nodes of one level.

    Returns
    -------
    list of float
        Centres; the leftmost edge of all nodes is at 0.

    Examples
    --------
    >>> place([10.0, 20.0, 20.0], [(1, 2), None, None], gap=4.0)
    [22.0, 10.0, 34.0]
    """
    distances, contour = _measure(widths, children, gap)
    centres = [-min(contour.lefts) - contour.shift] * len(widths)
    for parent, pair in enumerate(children):
        if pair is not None:
            centres[pair[0]] = centres[parent] - distances[parent] / 2
            centres[pair[1]] = centres[parent] + distances[parent] / 2
    return centres


@dataclass(slots=True)
class _Contour:
    """Outermost edges of a subtree per level, deepest level first, relative to its root.

    An edge is its stored value plus ``shift``, so that moving a subtree costs nothing.
    """

    lefts: list[float]
    rights: list[float]
    shift: float = 0.0

    def add_root(self, width: float) -> None:
        self.lefts.append(-width / 2 - self.shift)
        self.rights.append(width / 2 - self.shift)


def _measure(
    widths: Sequence[float], children: Sequence[tuple[int, int] | None], gap: float
) -> tuple[list[float], _Contour]:
    """Return the distance between the children of each node, and the contour of the whole."""
    contours: dict[int, _Contour] = {}
    distances = [0.0] * len(widths)
    for index in range(len(widths) - 1, -1, -1):
        pair = children[index]
        if pair is None:
            contours[index] = _Contour([], [])
        else:
            left, right = contours.pop(pair[0]), contours.pop(pair[1])
            distances[index] = _distance(left, right) + gap
            contours[index] = _joined(left, right, distances[index])
        contours[index].add_root(widths[index])
    return distances, contours[0]


def _distance(left: _Contour, right: _Contour) -> float:
    """Return how far apart the two roots must be for the subtrees to touch."""
    levels = min(len(left.lefts), len(right.lefts))
    overlap = max(left.rights[-i] - right.lefts[-i] for i in range(1, levels + 1))
    return overlap + left.shift - right.shift


def _joined(left: _Contour, right: _Contour, distance: float) -> _Contour:
    """Merge two contours into the deeper one, in time of the shallower one's depth."""
    left.shift -= distance / 2
    right.shift += distance / 2
    offset = right.shift - left.shift
    if len(left.lefts) >= len(right.lefts):
        for i in range(1, len(right.lefts) + 1):
            left.rights[-i] = right.rights[-i] + offset
        return left
    for i in range(1, len(left.lefts) + 1):
        right.lefts[-i] = left.lefts[-i] - offset
    return right
