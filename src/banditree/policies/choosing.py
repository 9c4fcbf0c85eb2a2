"""Which arm is taken, from what is known of each."""

import numpy as np

from banditree import _core
from banditree.policies.arms import Indices
from banditree.types import FloatArray


def draw_by(chances: FloatArray, eligible: Indices, random: _core.Generator) -> int:
    """Return one of the eligible arms, drawn with these probabilities."""
    possible = np.flatnonzero(chances)
    drawn = np.searchsorted(np.cumsum(chances[possible]), random.uniform(1)[0], "right")
    return int(eligible[possible[min(int(drawn), len(possible) - 1)]])


def share_of_largest(values: FloatArray) -> FloatArray:
    """Return the probabilities with which the largest value is drawn, ties at random."""
    best: FloatArray = (values == values.max()).astype(np.float64)
    return best / float(best.sum())
