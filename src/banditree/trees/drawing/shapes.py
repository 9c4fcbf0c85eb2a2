"""What a picture of a tree consists of: boxes with their lines of text and their places."""

import math
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from banditree.trees.drawing.folding import count_leaves, open_nodes
from banditree.trees.drawing.layout import place
from banditree.trees.drawing.style import text_width
from banditree.trees.drawing.wording import (
    Node,
    Rule,
    Side,
    Wording,
    columns,
    exact,
    is_leaf,
    number,
)

QUESTION_SIZE = 13
MEAN_SIZE = 15
SMALL_SIZE = 11
LABEL_SIZE = 11

_ROOM = 28  # Columns of a line in a box.
_PADDING = 12
_BOX_HEIGHT = 48
_GAP = 18
_LEVEL_GAP = 52
_LEAST_WIDTH = 64

Kind: TypeAlias = Literal["inner", "leaf", "stub"]

_EXACT = Wording()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in a box."""

    text: str
    size: int
    bold: bool = False
    muted: bool = False

    @property
    def width(self) -> float:
        """Return the approximate width in pixels."""
        return text_width(self.text, self.size, bold=self.bold)

    @property
    def height(self) -> float:
        """Return the distance to the next line."""
        return round(self.size * 1.35)


@dataclass(slots=True)
class Shape:
    """A box; ``x`` is its centre and ``y`` its top."""

    node: Node
    kind: Kind
    depth: int
    lines: list[Line]
    tooltip: str
    parent: int | None = None
    yes: Side = "left"
    answer: str = ""
    takes_missing: bool = False
    children: list[int] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    height: float = _BOX_HEIGHT

    @property
    def width(self) -> float:
        """Return the width of the box."""
        return max(_LEAST_WIDTH, max(line.width for line in self.lines) + 2 * _PADDING)

    @property
    def answer_width(self) -> float:
        """Return the width of the text on the edge to this box."""
        words = f"{self.answer} or missing" if self.takes_missing else self.answer
        return text_width(words, LABEL_SIZE) + 4


@dataclass(frozen=True, slots=True)
class Sketch:
    """All boxes in their places, parents first, and the range of the means in colour."""

    shapes: list[Shape]
    width: float
    height: float
    lowest: float
    highest: float

    @property
    def has_scale(self) -> bool:
        """Whether the colours tell means apart."""
        return self.lowest < self.highest

    def share(self, mean: float) -> float:
        """Return where a mean lies between the lowest (0) and the highest (1)."""
        if not self.has_scale or not math.isfinite(mean):
            return 0.0
        # Halved, so that the range of numbers near the largest float stays finite.
        return (mean / 2 - self.lowest / 2) / (self.highest / 2 - self.lowest / 2)


def make_sketch(root: Node, max_depth: int | None, max_leaves: int | None) -> Sketch:
    """Turn a tree into boxes with places."""
    shapes = _make_shapes(root, open_nodes(root, max_depth, max_leaves))
    height = _place_levels(shapes)
    slots = [max(shape.width, shape.answer_width) for shape in shapes]
    pairs = [(s.children[0], s.children[1]) if s.children else None for s in shapes]
    centres = place(slots, pairs, _GAP)
    for shape, centre in zip(shapes, centres, strict=True):
        shape.x = centre
    width = max(centre + slot / 2 for centre, slot in zip(centres, slots, strict=True))
    means = [s.node["mean"] for s in shapes if s.kind != "inner" and math.isfinite(s.node["mean"])]
    return Sketch(shapes, width, height, min(means, default=0.0), max(means, default=0.0))


def _place_levels(shapes: list[Shape]) -> float:
    """Give the inner boxes of a level one height and all boxes their top; return the bottom."""
    heights = [0.0] * (max(shape.depth for shape in shapes) + 1)
    for shape in shapes:
        shape.height = max(sum(line.height for line in shape.lines) + _PADDING, _BOX_HEIGHT)
        heights[shape.depth] = max(heights[shape.depth], shape.height)
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] + height + _LEVEL_GAP)
    for shape in shapes:
        shape.y = tops[shape.depth]
        if shape.kind == "inner":
            shape.height = heights[shape.depth]
    return max(shape.y + shape.height for shape in shapes)


def _make_shapes(root: Node, opened: set[int]) -> list[Shape]:
    """Return a box per drawn node, parents before children."""
    wording = Wording.of(root)
    shapes = [_shape(root, 0, opened, wording)]
    stack = _branches(shapes[0], 0)
    while stack:
        parent_index, side = stack.pop()
        parent = shapes[parent_index]
        shape = _shape(parent.node[side], parent.depth + 1, opened, wording)
        shape.parent = parent_index
        _describe_edge(shape, parent, side)
        parent.children.append(len(shapes))
        stack += _branches(shape, len(shapes))
        shapes.append(shape)
    return shapes


def _branches(shape: Shape, index: int) -> list[tuple[int, Side]]:
    """Return the branches to draw below a box; yes, which stands on the left, at the end."""
    no: Side = "left" if shape.yes == "right" else "right"
    return [(index, no), (index, shape.yes)] if shape.kind == "inner" else []


def _shape(node: Node, depth: int, opened: set[int], wording: Wording) -> Shape:
    mean = Line(number(node["mean"]), MEAN_SIZE, bold=True)
    rows = Line(f"n = {node['n']}", SMALL_SIZE)
    if is_leaf(node):
        return Shape(node, "leaf", depth, [mean, rows], _numbers(node))
    question = wording.question(node)
    tooltip = f"{_plain(_EXACT.rule(node, question.yes))}?\n{_numbers(node)}"
    if id(node) not in opened:
        count = Line(f"… {count_leaves(node)} leaves", SMALL_SIZE)
        return Shape(node, "stub", depth, [mean, rows, count], tooltip)
    numbers = Line(f"mean {number(node['mean'])} · n = {node['n']}", SMALL_SIZE, muted=True)
    lines = [*_question_lines(question.rule), numbers]
    return Shape(node, "inner", depth, lines, tooltip, yes=question.yes)


def _question_lines(rule: Rule) -> list[Line]:
    """Return the question on one line if it fits, on two otherwise."""
    full = _plain(rule)
    texts = [full] if columns(full) <= _ROOM else [rule.head(_ROOM), rule.tail(_ROOM)]
    return [Line(text, QUESTION_SIZE, bold=True) for text in texts if text]


def _plain(rule: Rule) -> str:
    """Return the rule in full, without the mark of missing values."""
    return replace(rule, or_missing=False).text()


def _describe_edge(shape: Shape, parent: Shape, side: Side) -> None:
    """Say how the box is reached: yes or no on the edge, the rule in the tooltip."""
    rule = _EXACT.rule(parent.node, side)
    shape.answer = "yes" if parent.yes == side else "no"
    shape.takes_missing = rule.or_missing
    shape.tooltip = f"{rule.text()}\n{shape.tooltip}"


def _numbers(node: Node) -> str:
    """Return the numbers of a node for its tooltip."""
    parts = {"n": str(node["n"]), "mean": exact(node["mean"]), "cost": number(node["cost"], 6)}
    if node["weight"] != node["n"]:
        parts["weight"] = number(node["weight"], 6)
    if "gain" in node:
        parts["gain"] = number(node["gain"], 6)
    return ", ".join(f"{name} {value}" for name, value in parts.items())
