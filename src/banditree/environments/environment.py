"""What every environment can do."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.environments.episode import Episode

__all__ = ["Description", "Environment"]


@dataclass(frozen=True)
class Description:
    """What there is to know of an environment before a policy plays in it.

    Attributes
    ----------
    arms, features
        How many there are.
    rows
        How many can come before one is repeated; None where they are drawn.
    remarks
        What to know before trusting the results, each without a full stop.

    Examples
    --------
    >>> from banditree.environments import SportsAds
    >>> SportsAds().describe()
    Description(arms=4, features=4, rows=None, remarks=())
    """

    arms: int
    features: int
    rows: int | None
    remarks: tuple[str, ...] = ()


class Environment(ABC):
    """Yields contexts, and what the arms pay in them."""

    name: str

    @abstractmethod
    def episode(self, horizon: int, seed: int) -> Episode:
        """Return the steps of a run: the same for the same seed, whatever the policy does."""

    @abstractmethod
    def fingerprint(self) -> dict[str, Any]:
        """Return what distinguishes this environment from any other, as JSON could hold it."""

    def describe(self) -> Description:
        """Return what there is to know before a policy plays: here, of rows that are drawn."""
        episode = self.episode(1, 0)
        return Description(len(episode.arms), episode.contexts.shape[1], rows=None)


def random_order(n_rows: int, horizon: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return rows in random order; once all have come, they come again in another order."""
    passes = range(-(-horizon // n_rows))
    return np.concatenate([rng.permutation(n_rows) for _ in passes])[:horizon]
