"""contextualbandits: policies over scikit-learn's learners, and linear ones of its own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from peers.player import STARTS, Batch, OneHot, Player, Row, World


class Refitted(Batch):
    """A policy that is fitted to all observations; it starts by itself, at random."""

    # Its seeds begin at 1.
    def __init__(self, world: World, seed: int, *, policy: str, **settings: Any) -> None:
        import contextualbandits.online

        super().__init__(world, OneHot(world, standardised=policy == "LogisticUCB"), STARTS)
        leaf = settings.pop("min_samples_leaf", 1)
        made = getattr(contextualbandits.online, policy)
        if policy == "BootstrappedTS":
            from sklearn.tree import DecisionTreeClassifier

            tree = DecisionTreeClassifier(min_samples_leaf=leaf)
            self.policy = made(tree, world.n_arms, random_state=seed + 1, njobs_arms=1, **settings)
        else:
            if policy.startswith("Partitioned"):
                settings["min_samples_leaf"] = leaf
            self.policy = made(world.n_arms, random_state=seed + 1, njobs=1, **settings)

    def decide(self, context: Row) -> int:
        return self.choose(self.encode(context))

    def fit(self, rows: NDArray[np.float64], arms: NDArray[np.intp], rewards: Row) -> None:
        self.policy.fit(rows, arms, rewards)

    def choose(self, row: Row) -> int:
        return int(self.policy.predict(row[None])[0])


class OnlineLinUCB(Player):
    """LinUCB, which learns each observation at once."""

    def __init__(self, world: World, seed: int, **settings: Any) -> None:
        from contextualbandits.online import LinUCB

        self.encode = OneHot(world, standardised=True)
        self.policy = LinUCB(world.n_arms, random_state=seed + 1, njobs=1, **settings)

    def decide(self, context: Row) -> int:
        return int(self.policy.predict(self.encode(context)[None])[0])

    def learn(self, context: Row, arm: int, reward: float) -> None:
        row = self.encode(context)[None]
        self.policy.partial_fit(row, np.array([arm]), np.array([reward]))
