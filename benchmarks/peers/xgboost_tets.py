"""Thompson sampling with XGBoost, after Nilsson et al., Tree Ensembles for Contextual Bandits.

Each leaf of each tree keeps how many residuals came to it, their mean and their variance. What an
arm pays is drawn from the normal law with the sum of the means, times the learning rate, and the
sum of the variances of these means. Between two fits, leaves learn each observation.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from peers.player import Batch, Row, World, largest

TREES, RATE = 100, 0.3
PARAMETERS = {
    "objective": "reg:squarederror", "tree_method": "hist", "max_depth": 6, "eta": RATE,
    "lambda": 1.0, "min_child_weight": 2, "nthread": 1, "verbosity": 0,
}  # fmt: skip


class XGBoostTets(Batch):
    """One model for all arms, the arm being one more category."""

    def __init__(
        self, world: World, seed: int, *, exploration: float = 1.0, gamma: float = 0.0
    ) -> None:
        import xgboost

        super().__init__(world, encode=lambda context: context)
        self.library = xgboost
        self.exploration = exploration
        self.parameters = {**PARAMETERS, "gamma": gamma, "seed": seed}
        self.rng = np.random.default_rng(seed)
        self.reached = np.empty((0, 0), dtype=np.intp)
        kinds = ["c" if i in world.categories else "q" for i in range(world.n_features)]
        self.types = [*kinds, "c"]

    def table(self, rows: NDArray[np.float64], arms: NDArray[np.intp], label: Any = None) -> Any:
        data = np.column_stack([rows, arms])
        return self.library.DMatrix(
            data, label, feature_types=self.types, enable_categorical=True, nthread=1
        )

    def fit(self, rows: NDArray[np.float64], arms: NDArray[np.intp], rewards: Row) -> None:
        table = self.table(rows, arms, rewards)
        self.base = float(rewards.mean())
        self.parameters["base_score"] = self.base
        self.model = self.library.train(self.parameters, table, num_boost_round=TREES)
        leaves = self.model.predict(table, pred_leaf=True).astype(np.intp)
        size = int(leaves.max()) + 1
        self.count = np.zeros((TREES, size))
        self.mean = np.zeros((TREES, size))
        self.square = np.zeros((TREES, size))  # the sum of squared deviations
        residuals = rewards - self.base
        for tree in range(TREES):
            reached = leaves[:, tree]
            count = np.bincount(reached, minlength=size)
            total = np.bincount(reached, residuals, minlength=size)
            mean = total / np.maximum(count, 1)
            deviations = (residuals - mean[reached]) ** 2
            self.count[tree], self.mean[tree] = count, mean
            self.square[tree] = np.bincount(reached, deviations, minlength=size)
            residuals = residuals - RATE * mean[reached]

    def choose(self, row: Row) -> int:
        arms = np.arange(self.n_arms)
        table = self.table(np.repeat(row[None], self.n_arms, axis=0), arms)
        self.reached = self.model.predict(table, pred_leaf=True).astype(np.intp)
        trees = np.arange(TREES)
        count = np.maximum(self.count[trees, self.reached], 1)
        means = self.base + RATE * self.mean[trees, self.reached].sum(axis=1)
        variances = self.square[trees, self.reached] / np.maximum(count - 1, 1) / count
        deviations = RATE * np.sqrt(variances.sum(axis=1))
        return largest(self.rng.normal(means, self.exploration * deviations), self.rng)

    def between(self, row: Row, arm: int, reward: float) -> None:
        """Count an observation in the leaves that the decision has reached."""
        at = np.arange(TREES), self.reached[arm]
        means = self.mean[at]
        residuals = reward - self.base - RATE * (np.cumsum(means) - means)
        count = self.count[at] + 1
        moved = means + (residuals - means) / count
        self.square[at] += (residuals - means) * (residuals - moved)
        self.count[at], self.mean[at] = count, moved
