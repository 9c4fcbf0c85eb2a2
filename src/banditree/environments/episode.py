"""What happens in a run, laid out in advance so that policies can be compared on equal terms."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from banditree.types import Arm, FeatureName, FloatArray

__all__ = ["Episode"]


@dataclass(frozen=True, eq=False)
class Episode:
    """Steps in their order, with what every arm would pay in each.

    Attributes
    ----------
    arms
        The options.
    contexts
        A row per step. Categories are ids, missing values NaN.
    categorical
        The positions of the features that are categories.
    features
        What the features are called, in the order of the columns.
    rewards, regrets
        Of each step and arm. The regret is by how much the best arm of the step pays more, on
        average where that is known.
    delays
        After how many steps the reward of each step becomes known; 0 before the next decision.
    """

    arms: tuple[Arm, ...]
    contexts: FloatArray
    categorical: tuple[int, ...]
    features: tuple[FeatureName, ...]
    rewards: FloatArray
    regrets: FloatArray
    delays: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.contexts)

    def part(self, start: int, stop: int) -> "Episode":
        """Return the steps from start to before stop."""
        cut = slice(start, stop)
        return replace(
            self,
            contexts=self.contexts[cut],
            rewards=self.rewards[cut],
            regrets=self.regrets[cut],
            delays=None if self.delays is None else self.delays[cut],
        )

    def regret_of(self, chosen: Sequence[int] | NDArray[np.intp]) -> FloatArray:
        """Return the regret of each step, given the position of the arm chosen in it.

        Examples
        --------
        >>> from banditree.environments import SportsAds
        >>> SportsAds().episode(horizon=3, seed=0).regret_of([0, 0, 0]).shape
        (3,)
        """
        picked: FloatArray = self.regrets[np.arange(len(self)), np.asarray(chosen, dtype=np.intp)]
        return picked
