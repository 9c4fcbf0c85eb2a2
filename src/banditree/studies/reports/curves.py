"""Curves of regret: at which points they are drawn, and what of them fits into a frame."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from banditree.studies.summary import Cell, interval
from banditree.types import FloatArray

__all__ = ["Curve", "regret_limits", "thinned"]

POINTS = 120  # of a curve, in a figure
# How much longer bands may make the axis of regret. With few seeds they are so wide that curves
# would look flat.
WIDENED = 0.5
MARGIN = 0.05  # of the axis of regret, beyond what is drawn


class Curve(NamedTuple):
    """What is drawn of a line: the mean, and the band from low to high."""

    steps: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray


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


def thinned(cell: Cell) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return steps, mean regret and half of its 95 % interval, at as many points as can be seen."""
    keep = np.unique(np.linspace(0, len(cell.steps) - 1, POINTS).round().astype(np.intp))
    found = [interval(cell.curves[:, i]) for i in keep]
    middle, half = np.array([(0.0, 0.0), *found]).T
    return np.concatenate([[0.0], cell.steps[keep]]), middle, half
