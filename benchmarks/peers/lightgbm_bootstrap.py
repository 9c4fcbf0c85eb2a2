"""Bootstrapped Thompson sampling with LightGBM."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from peers.player import Batch, Row, World, largest

MODELS, TREES = 10, 100


class LightGbmBootstrap(Batch):
    """Ten models on resamples, the arm being one more category; a decision asks one of them."""

    def __init__(self, world: World, seed: int, **settings: Any) -> None:
        import lightgbm

        super().__init__(world, encode=lambda context: context)
        self.library = lightgbm
        self.parameters = {
            "objective": "binary", "num_threads": 1, "verbosity": -1, "seed": seed, **settings
        }  # fmt: skip
        self.categories = list(world.categories)
        self.rng = np.random.default_rng(seed)

    def fit(self, rows: NDArray[np.float64], arms: NDArray[np.intp], rewards: Row) -> None:
        table = np.column_stack([rows, arms])
        self.models = []
        for _ in range(MODELS):
            drawn = self.rng.integers(len(table), size=len(table))
            data = self.library.Dataset(
                table[drawn], rewards[drawn],
                categorical_feature=[*self.categories, table.shape[1] - 1],
            )  # fmt: skip
            self.models.append(self.library.train(self.parameters, data, num_boost_round=TREES))

    def choose(self, row: Row) -> int:
        table = np.column_stack([np.repeat(row[None], self.n_arms, 0), np.arange(self.n_arms)])
        model = self.models[self.rng.integers(MODELS)]
        return largest(model.predict(table, num_threads=1), self.rng)
