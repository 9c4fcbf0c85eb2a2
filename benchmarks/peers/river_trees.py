"""river: a Hoeffding tree for each arm, with Thompson sampling in its leaves."""

from typing import Any

import numpy as np

from peers.player import Player, Row, World


class RiverTrees(Player):
    def __init__(self, world: World, seed: int, **settings: Any) -> None:
        from river.tree import HoeffdingTreeClassifier

        self.categories = set(world.categories)
        self.trees = [
            HoeffdingTreeClassifier(
                leaf_prediction="mc", nominal_attributes=list(world.categories), **settings
            )
            for _ in range(world.n_arms)
        ]
        self.rng = np.random.default_rng(seed)
        self.told: dict[int, Any] = {}

    def decide(self, context: Row) -> int:
        values = enumerate(context.tolist())
        self.told = {i: f"{v:g}" if i in self.categories else v for i, v in values if v == v}
        counts = np.array([self.counts(tree) for tree in self.trees])
        return int(self.rng.beta(counts[:, 1] + 1, counts[:, 0] + 1).argmax())

    def counts(self, tree: Any) -> tuple[float, float]:
        """Return how many failures and successes came to the leaf of the context."""
        node = tree._root  # what the public predict_proba_one looks at, before it normalises
        if node is None:
            return 0.0, 0.0
        if hasattr(node, "traverse"):
            node = node.traverse(self.told, until_leaf=True)
        return node.stats.get(0, 0.0), node.stats.get(1, 0.0)

    def learn(self, context: Row, arm: int, reward: float) -> None:
        """Learn of the context just decided on."""
        self.trees[arm].learn_one(self.told, int(reward))
