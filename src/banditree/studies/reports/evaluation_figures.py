"""Figures of evaluations: values with intervals, overlap, effective rows, health of the log."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from banditree.evaluation import Comparison, Evaluation, Log
from banditree.evaluation.results import LOGGED
from banditree.evaluation.verdicts import EFFECTIVE
from banditree.studies.reports.figure_style import (
    GRID,
    INK,
    LABEL_FONT,
    LABEL_SIZE,
    OTHER_COLOURS,
    Axes,
    Figure,
    StrMethodFormatter,
    printed,
    shortened,
)

__all__ = ["Picture", "pictures"]

WIDTH, ROW, FRAME = 7.2, 0.34, 0.9  # inches: of a figure, of a row, and around the rows
NAMES = 1.9  # inches, at most, for names at the left
MOST_ARMS = 30  # in a figure; those that somebody wants most
# The main estimate stands out; the others are there to be compared with it.
SHOWN = {"dr": ("o", 5.5, 1.0), "snips": ("s", 3.5, 0.55), "ips": ("^", 3.5, 0.55)}
VERDICTS = {"trust": "#009e73", "with care": "#e69f00", "do not trust": "#d55e00"}


@dataclass(frozen=True)
class Picture:
    """A figure with its words; as `Illustration`, which is of studies."""

    name: str
    caption: str
    alt: str
    draw: Callable[[], Figure]


def pictures(log: Log, found: Comparison) -> list[Picture]:
    """Return the figures of a report."""
    others = {name: of for name, of in found.evaluations.items() if name != LOGGED}
    values = ", ".join(f"{n} {of.estimates['dr'].value:.4f}" for n, of in others.items())
    return [
        Picture(
            "values",
            "Estimated value per decision with intervals: ● doubly robust, coloured by its verdict "
            "(green: trust, yellow: with care, orange: do not trust), ■ self-normalised, ▲ inverse "
            "propensity. The dashed line is what who made the log has earned.",
            f"Estimated values: {values}",
            partial(values_figure, found),
        ),
        Picture(
            "overlap",
            "How often each arm was offered in the log, and how often each would offer it. Where "
            "the log has little of what somebody wants, the estimate rests on few rows.",
            "Shares of arms in the log and of those evaluated",
            partial(overlap_figure, log, others),
        ),
        Picture(
            "effective-rows",
            "As many rows of equal weight the estimates rest on: below the first line they are not "
            "to be trusted, below the second with care.",
            "Effective sample sizes",
            partial(effective_figure, others),
        ),
        Picture(
            "health",
            "The mean weight of each arm, ± two standard errors. With right propensities it is 1.",
            "Mean weights of arms",
            partial(health_figure, log),
        ),
    ]


@printed
def values_figure(found: Comparison) -> Figure:
    """Draw values with their intervals, the best on top."""
    ranked = sorted(found.evaluations.items(), key=lambda pair: pair[1].estimates["dr"].value)
    names = [name for name, _ in ranked if name != LOGGED]
    figure, axes = _rows(names, "reward per decision")
    logged = found.evaluations[LOGGED].estimates["dr"]
    axes.axvline(logged.value, color=INK, linewidth=1, dashes=(4, 2))
    axes.axvspan(logged.low, logged.high, color=GRID, alpha=0.6, linewidth=0)
    for i, name in enumerate(names):
        for place, (estimator, look) in zip((0, -0.22, -0.36), SHOWN.items(), strict=True):
            known = found.evaluations[name].estimates[estimator]
            marker, size, alpha = look
            colour = VERDICTS[known.verdict] if estimator == "dr" else INK
            y = i + place + 0.15
            axes.plot([known.low, known.high], [y, y], color=colour, alpha=alpha)
            axes.plot([known.value], [y], marker, markersize=size, color=colour, alpha=alpha)
    return figure


@printed
def overlap_figure(log: Log, others: dict[str, Evaluation]) -> Figure:
    """Draw the shares of the arms."""
    wanted = {
        arm: max([known.logged, *(of.overlap[arm].wanted for of in others.values())])
        for arm, known in next(iter(others.values())).overlap.items()
        if all(arm in of.overlap for of in others.values())
    }
    arms = sorted(wanted, key=lambda arm: wanted[arm])[-MOST_ARMS:]
    figure, axes = _rows([str(arm) for arm in arms], "share of the decisions")
    first = next(iter(others.values())).overlap
    axes.plot([first[a].logged for a in arms], range(len(arms)), "|", ms=12, color=INK, label="log")
    markers = "osD^vPX*"
    for i, (name, of) in enumerate(others.items()):
        axes.plot(
            [of.overlap[arm].wanted for arm in arms],
            range(len(arms)),
            markers[i % len(markers)],
            color=OTHER_COLOURS[i % len(OTHER_COLOURS)],
            label=shortened(name, NAMES, LABEL_FONT),
            alpha=0.85,
        )
    axes.set_xlim(left=0)
    _key(figure, axes)
    return figure


@printed
def effective_figure(others: dict[str, Evaluation]) -> Figure:
    """Draw the effective sample sizes on a logarithmic axis."""
    names = list(others)[::-1]
    sizes = [max(others[name].estimates["dr"].effective_n, 1.0) for name in names]
    figure, axes = _rows(names, "effective rows")
    colours = [VERDICTS[others[name].estimates["dr"].verdict] for name in names]
    axes.barh(range(len(names)), sizes, height=0.5, color=colours)
    axes.set_xscale("log")
    axes.set_xlim(1, 2 * max([*sizes, *EFFECTIVE]))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    for limit in EFFECTIVE:
        axes.axvline(limit, color=INK, linewidth=1, dashes=(4, 2))
    return figure


@printed
def health_figure(log: Log) -> Figure:
    """Draw the mean weights of the arms that the log has most of."""
    known = sorted(log.health.arms.items(), key=lambda pair: pair[1].rows)[-MOST_ARMS:]
    figure, axes = _rows([str(arm) for arm, _ in known], "mean weight")
    axes.axvline(1, color=INK, linewidth=1, dashes=(4, 2))
    for i, (_, arm) in enumerate(known):
        colour = VERDICTS["do not trust" if arm.is_wrong else "trust"]
        if arm.is_short and not arm.is_wrong:
            colour = VERDICTS["with care"]
        reach = 2 * np.nan_to_num(arm.error)
        axes.plot([arm.weight - reach, arm.weight + reach], [i, i], color=colour)
        axes.plot([arm.weight], [i], "o", color=colour)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, 0.9), max(high, 1.1))
    return figure


def _rows(names: list[str], what: str) -> tuple[Figure, Axes]:
    """Return a figure with a row for each name."""
    figure = Figure(figsize=(WIDTH, FRAME + ROW * len(names)))
    axes: Any = figure.add_subplot()
    axes.set_yticks(range(len(names)), [shortened(name, NAMES, LABEL_FONT) for name in names])
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlabel(what)
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    return figure, axes


def _key(figure: Figure, axes: Any) -> None:
    axes.legend(fontsize=LABEL_SIZE, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
