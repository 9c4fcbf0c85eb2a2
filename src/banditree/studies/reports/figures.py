"""Figures of cumulative regret."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from banditree.studies.reports.constants import best_constants, varying
from banditree.studies.reports.style import (
    INK,
    LABEL_FONT,
    LABEL_SIZE,
    SHADES,
    TITLE_FONT,
    Axes,
    ConnectionPatch,
    Figure,
    MaxNLocator,
    ScaledTranslation,
    StrMethodFormatter,
    Style,
    broken,
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
PANEL_HEIGHT = {1: 3.4, 2: 2.6}  # at least
LINE_HEIGHT = 0.17  # inches from one label to the next
KEY_OFFSET = 18  # points from the axes to the marker of a label
TEXT_OFFSET = 6  # points from there to the label
# What a panel needs above and below its axes, and at the left besides numbers, inches.
FRAME_HEIGHT, FRAME_WIDTH = 0.75, 0.4
# How much of a panel's width a label may take. If it must be broken, then where the curves get
# more room.
WIDEST, WIDEST_BROKEN = 0.36, 0.3
TITLE_LINES = LABEL_LINES = 2  # at most
# A title that takes more of a panel's width may reach over labels; so many points are below it.
LONG_TITLE, LONG_TITLE_PAD = 0.4, 10
MOST_TICKS = 5  # on an axis, besides that at its beginning
TICK_GAP = 0.06  # inches between numbers, at least
TICK_STEPS = (1, 2, 2.5, 5, 10)  # horizons are multiples of these, and have a number then
# How much longer bands may make the axis of regret. With few seeds they are so wide that curves
# would look flat.
WIDENED = 0.5
MARGIN = 0.05  # of the axis of regret, beyond what is drawn


@dataclass(frozen=True)
class Line:
    """A curve, and the text at its right end.

    Attributes
    ----------
    variant
        One of many choices of constants. So many bands would hide each other, and its constants
        are never left out.
    """

    cell: Cell
    text: str
    style: Style
    variant: bool = False


@dataclass(frozen=True)
class Panel:
    """What a panel shows: curves, and what they are.

    Attributes
    ----------
    signed
        Whether regret can be negative.
    """

    title: str
    regret: str
    lines: list[Line]
    signed: bool


class Curve(NamedTuple):
    """What is drawn of a line: the mean, and the band from low to high."""

    steps: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray


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
    return _figure(
        [
            _panel(results, name, regret_lines(results, name, shown, relative), relative)
            for name in environments
        ]
    )


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
    lines, names = [], varying(results, label)
    for i, variant in enumerate(variants):
        shade = SHADES[round(i * (len(SHADES) - 1) / max(1, len(variants) - 1))]
        constants = [f"{k}={v}" for k, v in variant.parameters.items() if k in names]
        # Neighbours differ in their dashes too.
        style = Style(shade, (4, 1.2) if i % 2 else ())
        lines.append(Line(variant, ", ".join([label, *constants]), style, variant=True))
    lines = _related(results, lines, relative)
    lines += regret_lines(results, environment, others, relative)
    return _figure([_panel(results, environment, lines, relative)])


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


def _panel(results: Results, environment: str, lines: list[Line], relative: bool) -> Panel:
    signed = relative and results.baseline(environment) is not None
    what = f"Regret beyond {BASELINE}" if signed else "Cumulative regret"
    return Panel(environment, f"{what} ({_unit(results, environment)})", lines, signed)


def _unit(results: Results, environment: str) -> str:
    about = results.about.get(environment)
    # Of rows with a right class, regret is the number of wrong ones.
    is_classified = about is not None and about.rows is not None
    return UNITS.get(environment, "errors" if is_classified else "reward")


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _figure(panels: Sequence[Panel]) -> Figure:
    """Draw panels, in two columns if there are several."""
    columns = min(2, max(1, len(panels)))
    rows = -(-len(panels) // columns)
    width = WIDTH[columns] / columns
    panels = [_fitted(panel, width) for panel in panels]
    # What a title takes beyond its first line is not there for labels.
    frame = FRAME_HEIGHT + LINE_HEIGHT * max((p.title.count("\n") for p in panels), default=0)
    titles = [text for panel in panels for text in panel.title.split("\n")]
    texts = max((sum(map(_count, panel.lines)) for panel in panels), default=0)
    height = max(PANEL_HEIGHT[columns], frame + LINE_HEIGHT * (texts + 1))
    is_long = max(map(TITLE_FONT.width, titles), default=0) > LONG_TITLE * width
    figure = Figure(figsize=(WIDTH[columns], height * max(1, rows)))
    for i, panel in enumerate(panels):
        axes = figure.add_subplot(rows, columns, i + 1)
        _draw(axes, panel)
        axes.set_title(panel.title, pad=LONG_TITLE_PAD if is_long else None)
        _label_ends(axes, panel.lines, LINE_HEIGHT / (height - frame))
    _set_steps(figure, panels, width)
    return figure


def _fitted(panel: Panel, width: float) -> Panel:
    """Return a panel with texts that leave room for the curves if it is so many inches wide."""
    # A title begins above the axes and ends where the labels do.
    title = broken(panel.title, width - 2 * FRAME_WIDTH, TITLE_FONT, most=TITLE_LINES)
    lines = [replace(line, text=end_text(line, width)) for line in panel.lines]
    return replace(panel, title="\n".join(title), lines=lines)


def end_text(line: Line, width: float) -> str:
    """Return what is written at the end of a line in a panel that is so many inches wide."""
    if LABEL_FONT.width(line.text) <= WIDEST * width:
        return line.text
    most = WIDEST_BROKEN * width
    whole = broken(line.text, most, LABEL_FONT)
    if line.variant or len(whole) <= LABEL_LINES:
        return "\n".join(whole)
    # The constants are in a table of the report.
    return "\n".join(broken(line.cell.label, most, LABEL_FONT, most=LABEL_LINES))


def _count(line: Line) -> int:
    return 1 + line.text.count("\n")


def _draw(axes: Axes, panel: Panel) -> None:
    axes.set_xlabel("Steps")
    axes.set_ylabel(panel.regret)
    axes.yaxis.set_major_locator(MaxNLocator(MOST_TICKS))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:,.12g}"))
    curves = [curve_of(line, panel.signed) for line in panel.lines]
    for i, (line, curve) in enumerate(zip(panel.lines, curves, strict=True)):
        _draw_line(axes, line.style, curve, order=i)
    low, high = regret_limits(curves)
    if low < 0:
        axes.axhline(0, color=INK, linewidth=0.7, zorder=1)
    axes.set_ylim(low, high)
    axes.set_xlim(0, max((curve.steps[-1] for curve in curves), default=1))


def curve_of(line: Line, signed: bool) -> Curve:
    """Return what is drawn of a line, given whether regret can be negative."""
    steps, mean, half = thinned(line.cell)
    if line.variant or len(line.cell.seeds) < 2:
        half = np.zeros_like(mean)
    low = mean - half
    # Student's law does not know that regret is not negative.
    return Curve(steps, mean, low if signed else np.maximum(low, np.minimum(mean, 0)), mean + half)


def regret_limits(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return where the axis of regret begins and ends: the means, and as much of bands as goes."""
    low = min((curve.mean.min() for curve in curves), default=0.0)
    high = max((curve.mean.max() for curve in curves), default=0.0)
    below = low - min((curve.low.min() for curve in curves), default=0.0)
    above = max((curve.high.max() for curve in curves), default=0.0) - high
    wanted = below + above
    if low < high and wanted > WIDENED * (high - low):
        share = WIDENED * (high - low) / wanted
        below, above = share * below, share * above
    low, high = low - below, high + above
    margin = MARGIN * (high - low)
    high = high + margin or 1.0
    return (float(low - margin) if low < -0.05 * high else 0.0), float(high)


def _draw_line(axes: Axes, style: Style, curve: Curve, order: int) -> None:
    if (curve.low < curve.high).any():
        band = axes.fill_between(curve.steps, curve.low, curve.high, linewidth=0.4, zorder=2)
        band.set_facecolor((style.colour, 0.13))
        band.set_edgecolor((style.colour, 0.45))
    (drawn,) = axes.plot(curve.steps, curve.mean, color=style.colour, clip_on=False, zorder=3)
    if style.dashes:
        drawn.set_dashes(style.dashes)
    if style.marker:
        drawn.set_marker(style.marker)
        # Each policy's markers begin a little later, so that they do not hide each other.
        stride = max(1, len(curve.steps) // MARKERS)
        drawn.set_markevery((stride // 2 + order * stride // 10, stride))


def _set_steps(figure: Figure, panels: Sequence[Panel], width: float) -> None:
    """Put as many numbers on the axes of steps as there is room for; all are equally wide."""
    texts = [text for panel in panels for line in panel.lines for text in line.text.split("\n")]
    numbers = [f"{end:,.0f}" for axes in figure.axes for end in axes.get_ylim()]
    beside = FRAME_WIDTH + (KEY_OFFSET + TEXT_OFFSET) / 72
    for group in (texts, numbers):
        beside += max(map(LABEL_FONT.width, group), default=0)
    for axes in figure.axes:
        _, end = axes.get_xlim()
        # The last number is often longer than that before it.
        last, before = (LABEL_FONT.width(f"{number:,.0f}") for number in (end, 0.8 * end))
        needed = (last + before) / 2 + TICK_GAP
        ticks = max(1, min(MOST_TICKS, int((width - beside) / needed)))
        axes.xaxis.set_major_locator(MaxNLocator(ticks, steps=TICK_STEPS, integer=True))


def thinned(cell: Cell) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return steps, mean regret and half of its 95 % interval, at as many points as can be seen."""
    keep = np.unique(np.linspace(0, len(cell.steps) - 1, POINTS).round().astype(np.intp))
    found = [interval(cell.curves[:, i]) for i in keep]
    middle, half = np.array([(0.0, 0.0), *found]).T
    return np.concatenate([[0.0], cell.steps[keep]]), middle, half


def _label_ends(axes: Axes, lines: list[Line], gap: float) -> None:
    """Write at the right what each curve is, in the order of their ends and without overlap."""
    low, high = axes.get_ylim()
    ends = [(line.cell.mean - low) / (high - low) for line in lines]
    # A place for each line of text; those of one label stay together since they want the same.
    counts = [_count(line) for line in lines]
    places = iter(spread(np.repeat(ends, counts).tolist(), gap))
    at_key, at_text = (
        axes.transAxes + ScaledTranslation(points / 72, 0, axes.figure.dpi_scale_trans)
        for points in (KEY_OFFSET, KEY_OFFSET + TEXT_OFFSET)
    )
    for line, end, count in zip(lines, ends, counts, strict=True):
        place = float(np.mean([next(places) for _ in range(count)]))
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
