"""MABWiser: trees with Thompson sampling in their leaves, and LinUCB."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from peers.player import Batch, OneHot, Player, Row, World


class TreeBandit(Batch):
    """`fit` when the observations have grown, `partial_fit`, which keeps the trees, between."""

    def __init__(self, world: World, seed: int, **settings: Any) -> None:
        from mabwiser.mab import MAB, LearningPolicy, NeighborhoodPolicy

        super().__init__(world, OneHot(world))
        trees = NeighborhoodPolicy.TreeBandit(tree_parameters=settings)
        arms = list(range(world.n_arms))
        self.mab = MAB(arms, LearningPolicy.ThompsonSampling(), trees, seed=seed)

    def fit(self, rows: NDArray[np.float64], arms: NDArray[np.intp], rewards: Row) -> None:
        self.mab.fit(arms, rewards, rows)

    def between(self, row: Row, arm: int, reward: float) -> None:
        self.mab.partial_fit([arm], [reward], row[None])

    def choose(self, row: Row) -> int:
        return int(self.mab.predict(row[None]))


class LinUCB(Player):
    """Learns each observation at once. Its regression has no intercept: a column of ones is."""

    def __init__(self, world: World, seed: int, **settings: Any) -> None:
        from mabwiser.mab import MAB, LearningPolicy

        self.encode = OneHot(world, standardised=True)
        self.mab = MAB(list(range(world.n_arms)), LearningPolicy.LinUCB(**settings), seed=seed)
        self.fitted = False

    def decide(self, context: Row) -> int:
        return int(self.mab.predict(self.row(context))) if self.fitted else 0

    def learn(self, context: Row, arm: int, reward: float) -> None:
        learn = self.mab.partial_fit if self.fitted else self.mab.fit
        learn([arm], [reward], self.row(context))
        self.fitted = True

    def row(self, context: Row) -> NDArray[np.float64]:
        return np.append(self.encode(context), 1.0)[None]
