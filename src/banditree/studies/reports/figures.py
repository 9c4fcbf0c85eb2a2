"""Figures of cumulative regret."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from banditree.studies.reports.constants import best_constants, varying
from banditree.studies.reports.curves import Curve, regret_limits, thinned
from banditree.studies.reports.figure_style import (
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
from banditree.studies.reports.placing import spread
from banditree.studies.specs import BASELINE
from banditree.studies.summary import Cell, Results

__all__ = ["constants_figure", "regret_figure", "save_figure"]

UNITS = {"sports": "clicks"} | dict.fromkeys(("adult", "shuttle", "covertype", "census"), "errors")
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
# A policy leaves the frame if it is drawn so many times as high as the best. Beyond OfflineTree's
# the best may be nearly nothing, so the regret itself must be so many times as large, too.
LOSES, LOSES_ITSELF = 10, 2


@dataclass(frozen=True)
class Line:
    """A curve, and the text at its right end.

    Attributes
    ----------
    variant
        One of many choices of constants. So many bands would hide each other, and its constants
        are never left out.
    leaves
        It is so much worse than the best that it leaves the frame.
    """

    cell: Cell
    text: str
    style: Style
    variant: bool = False
    leaves: bool = False


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
    lines += _related(results, best_lines(results, environment, others), relative)
    return _figure([_panel(results, environment, lines, relative)])


def regret_lines(
    results: Results, environment: str, labels: Sequence[str], relative: bool
) -> list[Line]:
    """Return the curves of a panel: each policy with its best constants."""
    whole = best_lines(results, environment, labels)
    regrets = {line.cell.label: line.cell.mean for line in whole}
    return leaving(_related(results, whole, relative), regrets)


def best_lines(results: Results, environment: str, labels: Sequence[str]) -> list[Line]:
    """Return a line for each policy with its best constants."""
    lines = []
    for label in labels:
        cell = results.best(label, environment)
        if cell is not None:
            constants = best_constants(results, label, environment)
            text = f"{label}, {constants}" if constants else label
            lines.append(Line(cell, text, style_of(label, results.labels)))
    return lines


def leaving(lines: list[Line], regrets: Mapping[str, float]) -> list[Line]:
    """Return lines of which those that are far worse than the best leave the frame.

    Parameters
    ----------
    regrets
        The whole regret of each policy, where lines show what is beyond OfflineTree's.
    """
    contending = [line.cell for line in lines if line.cell.label != BASELINE]
    if not contending:
        return lines
    best = max(0.0, min(cell.mean for cell in contending))
    best_itself = min(regrets[cell.label] for cell in contending)

    def loses(cell: Cell) -> bool:
        is_far = cell.mean > LOSES * best and regrets[cell.label] > LOSES_ITSELF * best_itself
        return is_far and cell.label != BASELINE

    return [
        replace(line, leaves=True, text=f"{line.cell.label} ↑ {line.cell.mean:,.0f}")
        if loses(line.cell)
        else line
        for line in lines
    ]


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
    short = line.text if line.leaves else line.cell.label
    return "\n".join(broken(short, most, LABEL_FONT, most=LABEL_LINES))


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
        _draw_line(axes, line, curve, order=i)
    shown = [c for c, line in zip(curves, panel.lines, strict=True) if not line.leaves]
    low, high = regret_limits(shown)
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


def _draw_line(axes: Axes, line: Line, curve: Curve, order: int) -> None:
    style = line.style
    if (curve.low < curve.high).any():
        band = axes.fill_between(curve.steps, curve.low, curve.high, linewidth=0.4, zorder=2)
        band.set_facecolor((style.colour, 0.13))
        band.set_edgecolor((style.colour, 0.45))
    (drawn,) = axes.plot(curve.steps, curve.mean, color=style.colour, zorder=3)
    drawn.set_clip_on(line.leaves)
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


def _label_ends(axes: Axes, lines: list[Line], gap: float) -> None:
    """Write at the right what each curve is, in the order of their ends and without overlap."""
    low, high = axes.get_ylim()
    ends = [(line.cell.mean - low) / (high - low) for line in lines]
    # What has left the frame is named at its upper edge, the worst at the top.
    wanted = [1 + 1e-9 * end if line.leaves else end for line, end in zip(lines, ends, strict=True)]
    # A place for each line of text; those of one label stay together since they want the same.
    counts = [_count(line) for line in lines]
    places = iter(spread(np.repeat(wanted, counts).tolist(), gap))
    at_key, at_text = (
        axes.transAxes + ScaledTranslation(points / 72, 0, axes.figure.dpi_scale_trans)
        for points in (KEY_OFFSET, KEY_OFFSET + TEXT_OFFSET)
    )
    for line, end, count in zip(lines, ends, counts, strict=True):
        place = float(np.mean([next(places) for _ in range(count)]))
        colour = line.style.colour
        if not line.leaves:
            leader = ConnectionPatch(
                (1, end), (1, place), axes.transAxes, at_key, color=colour, linewidth=1.0
            )
            axes.add_artist(leader)
        axes.plot(
            [1], [place], line.style.marker or "_", color=colour, transform=at_key, clip_on=False
        )
        axes.text(1, place, line.text, transform=at_text, va="center", fontsize=LABEL_SIZE)
