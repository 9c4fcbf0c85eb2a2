"""The click probabilities of the sports ads, drawn as decision trees."""

from collections.abc import Sequence
from dataclasses import dataclass

from banditree.environments.sports_ads import CLICKS, Node
from banditree.studies.reports.figure_style import (
    FONT_SIZE,
    INK,
    LABEL_SIZE,
    PAPER,
    Axes,
    Figure,
    printed,
)

__all__ = ["click_trees_figure"]

QUESTIONS = {
    "male": "male?",
    "over_40": "over 40?",
    "high_income": "high income?",
    "city": "lives in a city?",
}
# Light to dark blue, by probability; the text on it stays readable.
LEAF_SHADES = ("#eef5fb", "#d3e6f4", "#b0d3ec", "#86bce0", "#5aa3d2")
LEAF_WIDTH, LEVEL_HEIGHT, TITLE_HEIGHT = 0.84, 0.72, 0.3  # inches


@dataclass(frozen=True)
class Placed:
    """A node of a tree with its place: leaves are one apart, levels too."""

    x: float
    level: int
    node: Node
    children: tuple["Placed", ...] = ()

    @property
    def depth(self) -> int:
        """The number of levels under it."""
        return max((1 + child.depth for child in self.children), default=0)

    @property
    def leaves(self) -> int:
        """The number of leaves under it, or 1."""
        return sum(child.leaves for child in self.children) or 1


@printed
def click_trees_figure(ads: Sequence[str] = ("golf",)) -> Figure:
    """Draw how likely a click on each ad is, as a tree of questions; yes goes left."""
    trees = [place(CLICKS[ad]) for ad in ads]
    columns = min(2, len(trees))
    rows = [trees[i : i + columns] for i in range(0, len(trees), columns)]
    levels = [1 + max(tree.depth for tree in row) for row in rows]
    leaves = max(tree.leaves for tree in trees)
    size = (columns * leaves * LEAF_WIDTH, sum(levels) * LEVEL_HEIGHT + len(rows) * TITLE_HEIGHT)
    figure = Figure(figsize=size)
    grid = figure.add_gridspec(len(rows), columns, height_ratios=levels)
    for i, (ad, tree) in enumerate(zip(ads, trees, strict=True)):
        row = i // columns
        axes = figure.add_subplot(grid[row, i % columns])
        axes.set_axis_off()
        axes.set_title(f"{ad.capitalize()} ad: probability of a click", loc="center")
        middle = (tree.leaves - 1) / 2
        axes.set_xlim(middle - leaves / 2, middle + leaves / 2)
        axes.set_ylim(-levels[row] + 0.7, 0.3)
        _draw(axes, tree)
    return figure


def place(node: Node, level: int = 0, left: int = 0) -> Placed:
    """Return the places of a node and of all under it; the first leaf is at x = `left`."""
    if isinstance(node, float):
        return Placed(left, level, node)
    children: list[Placed] = []
    for child in node[1:]:
        children.append(place(child, level + 1, left + sum(c.leaves for c in children)))
    middle = sum(child.x for child in children) / len(children)
    return Placed(middle, level, node, tuple(children))


def _draw(axes: Axes, placed: Placed) -> None:
    for child, answer in zip(placed.children, ("yes", "no"), strict=bool(placed.children)):
        axes.plot(
            [placed.x, child.x], [-placed.level, -child.level], color=INK, linewidth=1.0, zorder=1
        )
        _write(
            axes,
            0.5 * (placed.x + child.x),
            -placed.level - 0.5,
            answer,
            {"boxstyle": "square,pad=0.15", "facecolor": PAPER, "edgecolor": "none"},
            size=LABEL_SIZE,
        )
        _draw(axes, child)
    box = {"boxstyle": "round,pad=0.4", "facecolor": PAPER, "edgecolor": INK, "linewidth": 0.9}
    if isinstance(placed.node, float):
        box |= {"boxstyle": "round4,pad=0.4", "facecolor": shade_of(placed.node)}
        _write(axes, placed.x, -placed.level, f"{placed.node:.0%}", box, weight="bold")
    else:
        _write(axes, placed.x, -placed.level, question(placed.node[0]), box)


def _write(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    box: dict[str, object],
    *,
    size: float = FONT_SIZE,
    weight: str = "normal",
) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=size, weight=weight, bbox=box)


def question(feature: str) -> str:
    """Return what a node asks.

    Examples
    --------
    >>> question("over_40"), question("has_dog")
    ('over 40?', 'has dog?')
    """
    return QUESTIONS.get(feature, feature.replace("_", " ") + "?")


def shade_of(probability: float) -> str:
    """Return the colour of a leaf."""
    return LEAF_SHADES[min(int(probability * 10), len(LEAF_SHADES) - 1)]
