"""What is common to policies that take the arm with the largest upper confidence bound."""

from abc import abstractmethod

import numpy as np

from banditree.policies.arms import Indices
from banditree.policies.base import Policy
from banditree.policies.choosing import share_of_largest
from banditree.policies.explanation import ArmExplanation
from banditree.types import A, FloatArray


class ConfidencePolicy(Policy[A]):
    """Takes the arm of the largest estimate plus width, ties at random; untried arms come first."""

    @abstractmethod
    def _estimates(self, row: FloatArray, eligible: Indices) -> tuple[FloatArray, FloatArray]:
        """Return the mean reward expected of each eligible arm, and the width above and below."""

    @abstractmethod
    def _describe(self, arm: int) -> tuple[str, int]:
        """Return what an arm's estimate follows from, and its number of observations."""

    def _bounds(self, row: FloatArray, eligible: Indices) -> FloatArray:
        estimates, widths = self._estimates(row, eligible)
        return estimates + widths

    def _choose(self, row: FloatArray, eligible: Indices) -> int:
        return self._draw_largest(self._bounds(row, eligible), eligible)

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return share_of_largest(self._bounds(row, eligible))

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return self._possible(self._estimates(row, eligible)[0])

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        rule, n = self._describe(arm)
        (estimate,), (width,) = self._estimates(row, np.array([arm]))
        reach = np.array([estimate - width, estimate, estimate + width])
        low, mean, high = self._possible(reach).tolist()
        return ArmExplanation(rule, n, mean if n else float("nan"), (low, high))

    def _possible(self, means: FloatArray) -> FloatArray:
        """Return means that rewards can have: probabilities are from 0 to 1."""
        return means.clip(0.0, 1.0) if self.reward == "binary" else means


def squared_norms(inverses: FloatArray, x: FloatArray, chosen: Indices) -> FloatArray:
    """Return x'Vx for those of the matrices V that are chosen."""
    width = len(x)
    places = np.flatnonzero(x)
    if 2 * len(places) < width:
        # Most columns are bits that are not set. The entries that count are few enough to pick.
        entries = (places[:, None] * width + places).ravel()
        picked = inverses.reshape(-1, width * width).take(entries, axis=1)
        values = x[places]
        sparse: FloatArray = np.maximum(picked @ np.multiply.outer(values, values).ravel(), 0.0)
        return sparse[chosen]
    if len(chosen) < len(inverses):
        inverses = inverses[chosen]
    # One product with all matrices on top of each other is twice as fast as one with each.
    images = (inverses.reshape(-1, width) @ x).reshape(-1, width)
    # Rounding must not make a norm negative.
    norms: FloatArray = np.maximum(images @ x, 0.0)
    return norms
