"""The rows that the benchmarks of trees run on, and how much is measured on them."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
N_FEATURES = 54
GROWTH = 10  # the larger number of rows is so many times the smaller


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    rows: int = 20_000
    repeats: int = 7
    timed_alphas: int = 5
    timed_folds: int = 2
    warm_up: int = 300
    learns: int = 2_000
    shuffles: int = 3
    predictions: int = 100_000
    peer_predictions: int = 1_000

    @property
    def most_rows(self) -> int:
        return GROWTH * self.rows + self.warm_up + self.learns


QUICK = Plan(500, 2, 2, 1, 20, 100, 1, 1_000, 20)


@dataclass(frozen=True, eq=False)
class Data:
    name: str
    contexts: FloatArray
    rewards: FloatArray


def covertype(n_rows: int, seed: int = 0) -> Data:
    """Return rows of Covertype in random order, or made-up ones where the data set is not at hand.

    The data set may have fewer rows than asked for.
    """
    folder = os.environ.get("BANDITREE_DATA")
    path = Path(folder or ".") / "covertype.parquet"
    rng = np.random.default_rng(seed)
    return _read(path, n_rows, rng) if folder and path.exists() else _made_up(n_rows, rng)


def _read(path: Path, n_rows: int, rng: np.random.Generator) -> Data:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path, use_threads=False)
    rows = rng.permutation(len(table))[:n_rows]
    contexts = np.empty((len(rows), N_FEATURES))
    for i in range(N_FEATURES):
        contexts[:, i] = table.column(i).to_numpy()[rows]
    rewards = (table.column("Cover_Type").to_numpy()[rows] == 2).astype(np.float64)
    return Data("Covertype, class 2 against the rest", contexts, rewards)


def _made_up(n_rows: int, rng: np.random.Generator) -> Data:
    """10 whole-numbered columns and two one-hot groups of 4 and 40, as in Covertype."""
    sizes = [2000, 360, 60, 500, 700, 7000, 255, 255, 255, 7000]
    numbers = rng.integers(0, sizes, size=(n_rows, len(sizes)))
    area = rng.integers(0, 4, n_rows)
    soil = np.minimum(rng.geometric(0.08, n_rows) - 1, 39)
    share = numbers / np.array(sizes)
    score = 3 * np.sin(6 * share[:, 0]) + 2 * share[:, 5] * (area < 2) - share[:, 9] * (soil % 3)
    rewards = (score + rng.normal(size=n_rows) > 0.5).astype(np.float64)
    contexts = np.hstack([numbers, np.eye(4)[area], np.eye(40)[soil]])
    return Data("made-up data of the shape of Covertype", contexts, rewards)
