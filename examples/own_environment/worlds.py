"""An environment of one's own: visitors on a ring, with an arm at every few degrees."""

import numpy as np

import banditree as bt
from banditree.environments import Environment, Episode


class Ring(Environment):
    """Visitors stand somewhere on a ring; the nearer an arm is, the more often it pays.

    Parameters
    ----------
    arms
        How many there are, at equal distances.
    """

    name = "ring"

    def __init__(self, arms=4):
        if arms < 2:
            raise bt.InvalidParameterError(f"arms must be at least 2, got {arms}")
        self.arms = arms

    def episode(self, horizon, seed):
        """Return as many visitors, and what each arm would pay for each of them."""
        rng = np.random.default_rng(seed)
        angles = rng.uniform(0, 2 * np.pi, horizon)
        places = 2 * np.pi * np.arange(self.arms) / self.arms
        chances = (1 + np.cos(angles[:, None] - places)) / 2
        return Episode(
            arms=tuple(range(self.arms)),
            contexts=np.column_stack([np.cos(angles), np.sin(angles)]),
            categorical=(),
            features=("x", "y"),
            rewards=(rng.random(chances.shape) < chances).astype(float),
            regrets=chances.max(axis=1, keepdims=True) - chances,
        )

    def fingerprint(self):
        """Return what tells this ring from another."""
        return {"environment": "ring", "arms": self.arms}
