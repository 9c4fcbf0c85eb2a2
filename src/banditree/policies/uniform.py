"""Every arm equally often."""

import numpy as np

from banditree.policies.arms import Indices
from banditree.policies.tally import Tally
from banditree.policies.tally_policy import TallyPolicy
from banditree.types import A, FloatArray


class Uniform(TallyPolicy[A]):
    """Draws every eligible arm with the same probability, whatever it has learned.

    The yardstick for every other policy, and the fairest way to collect a log.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).

    Examples
    --------
    >>> policy = Uniform(["golf", "tennis"], seed=1)
    >>> policy.propensities({"age": 31})
    {'golf': 0.5, 'tennis': 0.5}
    >>> policy.learn({"age": 31}, "golf", 1)
    >>> policy.expected_rewards({"age": 31})
    {'golf': 1.0, 'tennis': 0.0}
    """

    def _start(self) -> None:
        self._tally = Tally(len(self._arms))

    def _choose(self, row: FloatArray, eligible: Indices) -> int:
        return self._draw_uniformly(eligible)

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return np.full(len(eligible), 1 / len(eligible))

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return self._tally.mean[eligible]
