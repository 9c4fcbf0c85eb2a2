"""Figures of cumulative regret."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from banditree.studies.reports.constants import best_constants
from banditree.studies.reports.style import (
    INK,
    LABEL_SIZE,
    SHADES,
    Axes,
    ConnectionPatch,
    Figure,
    MaxNLocator,
    ScaledTranslation,
    StrMethodFormatter,
    Style,
    printed,
    save_figure,
    style_of,
)
from banditree.studies.specs import BASELINE
from banditree.studies.summary import Cell, Results, interval
from banditree.types import FloatArray

__all__ = ["constants_figure", "regret_figure", "save_figure"]

UNITS = {"sports": "clicks"} | dict.fromkeys(("adult", "shuttle", "covertype", "census"), "errors")
POINTS = 120  # of a curve, in a figure
MARKERS = 6  # on a curve
WIDTH = {1: 6.2, 2: 8.6}  # inches, by the number of columns
PANEL_HEIGHT = 2.6  # inches, at least
LINE_HEIGHT = 0.17  # inches from one label to the next
KEY_OFFSET = 18  # points from the axes to the marker of a label
# What a panel needs above and below its axes, inches.
FRAME_HEIGHT = 0.75


@dataclass(frozen=True)
class Line:
    """A curve, and the text at its right end."""

    cell: Cell
    text: str
    style: Style
    banded: bool = True


@printed
def regret_figure(
    results: Results,
    environments: Sequence[str],
    *,
    relative: bool = False,
    labels: Sequence[str] | None = None,
) -> Figure:
    """Draw the cumulative regret of each policy, with its best constants: a panel per environment.

    Lines are means over seeds, bands their 95 % intervals.

    Parameters
    ----------
    results
        What the runs came to.
    environments
        Which of them to draw.
    relative
        Subtract OfflineTree's regret, seed by seed, where there is one.
    labels
        Which policies; by default all.
    """
    shown = results.labels if labels is None else labels
    panels = {name: regret_lines(results, name, shown, relative) for name in environments}
    figure, axes, height = _grid(
        len(panels), max((len(lines) for lines in panels.values()), default=0)
    )
    for panel, (environment, lines) in zip(axes, panels.items(), strict=True):
        _draw(panel, lines, environment, regret_axis(results, environment, relative), height)
    return figure


@printed
def constants_figure(
    results: Results,
    environment: str = "adult",
    *,
    label: str = "LinUCB",
    others: Sequence[str] = ("TreeBootstrap", "TreeHeuristic"),
    relative: bool = False,
) -> Figure:
    """Draw a policy once for each choice of its constants, shade by shade, and others over it.

    Parameters
    ----------
    results, relative
        As for `regret_figure`.
    environment
        Where.
    label
        The policy.
    others
        Policies to compare it with, with their best constants.
    """
    variants = results.variants(label, environment)
    variants.sort(key=lambda cell: [_number(value) for value in cell.parameters.values()])
    lines = []
    for i, variant in enumerate(variants):
        shade = SHADES[round(i * (len(SHADES) - 1) / max(1, len(variants) - 1))]
        text = f"{label}, {variant.constants}"
        # Neighbours differ in their dashes too. So many bands would hide each other.
        lines.append(Line(variant, text, Style(shade, (4, 1.2) if i % 2 else ()), banded=False))
    lines = _related(results, lines, relative)
    lines += regret_lines(results, environment, others, relative)
    figure, (axes,), height = _grid(1, len(lines))
    _draw(axes, lines, environment, regret_axis(results, environment, relative), height)
    return figure


def regret_lines(
    results: Results, environment: str, labels: Sequence[str], relative: bool
) -> list[Line]:
    """Return the curves of a panel: each policy with its best constants."""
    lines = []
    for label in labels:
        cell = results.best(label, environment)
        if cell is not None:
            constants = best_constants(results, label, environment)
            text = f"{label}, {constants}" if constants else label
            lines.append(Line(cell, text, style_of(label, results.labels)))
    return _related(results, lines, relative)


def _related(results: Results, lines: list[Line], relative: bool) -> list[Line]:
    """Return lines relative to OfflineTree, where that is wanted and there is one."""
    if not relative or not lines:
        return lines
    baseline = results.baseline(lines[0].cell.environment)
    if baseline is None:
        return lines
    related = [
        replace(line, cell=line.cell.relative_to(baseline))
        for line in lines
        if line.cell.label != BASELINE
    ]
    return [line for line in related if line.cell.seeds]


def regret_axis(results: Results, environment: str, relative: bool) -> str:
    """Return what the regret of an environment is, with its unit."""
    what = "Cumulative regret"
    if relative and results.baseline(environment) is not None:
        what = f"Regret beyond {BASELINE}"
    return f"{what} ({UNITS.get(environment, 'reward')})"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _grid(panels: int, lines: int) -> tuple[Figure, list[Axes], float]:
    """Return a figure, so many axes with room for so many labels, and the height of a panel."""
    columns = min(2, max(1, panels))
    rows = -(-panels // columns)
    height = max(PANEL_HEIGHT, FRAME_HEIGHT + LINE_HEIGHT * (lines + 1))
    if panels == 1:
        height = max(height, 3.4)
    figure = Figure(figsize=(WIDTH[columns], height * max(1, rows)))
    return figure, [figure.add_subplot(rows, columns, i + 1) for i in range(panels)], height


def _draw(axes: Axes, lines: list[Line], title: str, regret: str, height: float) -> None:
    axes.set_title(title)
    axes.set_xlabel("Steps")
    axes.set_ylabel(regret)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5))
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    lowest = min([_draw_line(axes, line, order=i) for i, line in enumerate(lines)], default=0)
    if lowest < -0.05 * axes.get_ylim()[1]:
        axes.axhline(0, color=INK, linewidth=0.7, zorder=1)
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlim(0, max((line.cell.steps[-1] for line in lines), default=1))
    _label_ends(axes, lines, height)


def _draw_line(axes: Axes, line: Line, order: int) -> float:
    """Draw a curve with its band; return the lowest point of both."""
    steps, middle, half = thinned(line.cell)
    style = line.style
    if not line.banded or len(line.cell.seeds) < 2:
        half = np.zeros_like(middle)
    else:
        band = axes.fill_between(steps, middle - half, middle + half, linewidth=0.4, zorder=2)
        band.set_facecolor((style.colour, 0.13))
        band.set_edgecolor((style.colour, 0.45))
    (drawn,) = axes.plot(steps, middle, color=style.colour, clip_on=False, zorder=3)
    if style.dashes:
        drawn.set_dashes(style.dashes)
    if style.marker:
        drawn.set_marker(style.marker)
        # Each policy's markers begin a little later, so that they do not hide each other.
        stride = max(1, len(steps) // MARKERS)
        drawn.set_markevery((stride // 2 + order * stride // 10, stride))
    return float((middle - half).min())


def thinned(cell: Cell) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return steps, mean regret and half of its 95 % interval, at as many points as can be seen."""
    keep = np.unique(np.linspace(0, len(cell.steps) - 1, POINTS).round().astype(np.intp))
    found = [interval(cell.curves[:, i]) for i in keep]
    middle, half = np.array([(0.0, 0.0), *found]).T
    return np.concatenate([[0.0], cell.steps[keep]]), middle, half


def _label_ends(axes: Axes, lines: list[Line], height: float) -> None:
    """Write at the right what each curve is, in the order of their ends and without overlap."""
    low, high = axes.get_ylim()
    ends = [(line.cell.mean - low) / (high - low) for line in lines]
    places = spread(ends, LINE_HEIGHT / (height - FRAME_HEIGHT))
    at_key, at_text = (
        axes.transAxes + ScaledTranslation(points / 72, 0, axes.figure.dpi_scale_trans)
        for points in (KEY_OFFSET, KEY_OFFSET + 6)
    )
    for line, end, place in zip(lines, ends, places, strict=True):
        colour = line.style.colour
        leader = ConnectionPatch(
            (1, end), (1, place), axes.transAxes, at_key, color=colour, linewidth=1.0
        )
        axes.add_artist(leader)
        axes.plot(
            [1], [place], line.style.marker or "_", color=colour, transform=at_key, clip_on=False
        )
        axes.text(1, place, line.text, transform=at_text, va="center", fontsize=LABEL_SIZE)


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Return places that are at least a gap apart, in the order of those wanted and near them.

    They stay between 0 and 1 if there is room for that.

    Examples
    --------
    >>> [round(place, 2) for place in spread([0.5, 0.5, 0.9], gap=0.1)]
    [0.45, 0.55, 0.9]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    # Runs of places that touch: where the middle of a run wants to be, and its members.
    runs: list[tuple[float, list[int]]] = []
    for i in order:
        middle, members = wanted[i], [i]
        while runs and middle - runs[-1][0] < gap * (len(members) + len(runs[-1][1])) / 2:
            _, before = runs.pop()
            members = before + members
            reach = gap * (len(members) - 1) / 2
            middle = sum(wanted[j] for j in members) / len(members)
            middle = max(min(middle, 1 - reach), reach)
        runs.append((middle, members))
    places = [0.0] * len(wanted)
    for middle, members in runs:
        for position, i in enumerate(members):
            places[i] = middle + gap * (position - (len(members) - 1) / 2)
    return places
