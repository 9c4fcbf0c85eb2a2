"""The five tasks of the benchmarks: what a policy sees, may do, and is paid."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import banditree as bt
from banditree.environments import Classification, Environment, Episode, SportsAds
from banditree.environments.datasets import DATASETS, locate
from banditree.environments.tables import read_table


@dataclass(frozen=True, eq=False)
class Task:
    key: str
    title: str
    environment: Environment
    made_up: bool = False  # sports ads are so by definition, the same everywhere

    def episode(self, seed: int, horizon: int) -> Episode:
        return self.environment.episode(horizon, seed)


def as_dicts(task: Task, episode: Episode) -> list[dict[str, Any]]:
    """Return the contexts as an application would send them, categories spelled out."""
    assert isinstance(task.environment, Classification)
    columns = []
    for i, column in enumerate(episode.contexts.T.astype(int).tolist()):
        names = task.environment.categories.get(i)
        columns.append([names[j] for j in column] if names else column)
    return [dict(zip(episode.features, row, strict=True)) for row in zip(*columns, strict=True)]


# Made-up data, where the real are not at hand: of each task how many values each number has,
# roughly, the sizes of the categories, and the number of classes.
SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    "shuttle": ((100,) * 5 + (300,) * 4, (), 4),
    "adult": ((74, 28_000, 16, 120, 100, 96), (9, 16, 7, 6, 5, 2, 42, 2), 12),
    "covertype": ((2000, 360, 60, 500, 700, 7000, 255, 255, 255, 7000) + (2,) * 44, (), 7),
    "census": ((2, 3, 4, 5, 8) * 13 + (10, 17), (), 9),
}
MADE_UP_ROWS = 20_000


def make_up(key: str) -> pd.DataFrame:
    """Return rows of the same shape, whose class is the largest of noisy sums of features."""
    rng = np.random.default_rng(0)
    numbers, categories, n_classes = SHAPES[key]
    sizes = numbers + categories
    values = [rng.integers(0, size, MADE_UP_ROWS, dtype=np.int16) for size in sizes]
    shares = np.column_stack(values) / np.array(sizes)
    scores = shares @ rng.normal(size=(len(sizes), n_classes))
    labels = (scores + rng.normal(size=scores.shape)).argmax(axis=1)
    columns: dict[str, Any] = {}
    for i, column in enumerate(values):
        is_number = i < len(numbers)
        columns[f"feature {i}"] = column if is_number else [f"value {v}" for v in column.tolist()]
    return pd.DataFrame({**columns, "label": labels})


# Use

CLASSIFIED = tuple(SHAPES)
KEYS = (*CLASSIFIED, "sports")


@cache
def load(key: str) -> Task:
    """Return a task, on made-up data where the real are not at hand."""
    if key == "sports":
        return Task(key, "Sports ads", SportsAds())
    source, path = DATASETS[key], locate(key)
    if path is None:
        return Task(key, source.title, Classification(make_up(key), "label"), made_up=True)
    real = Classification(
        read_table(path),
        source.label,
        unused=source.unused,
        dropped=source.dropped,
        categorical=source.categorical,
    )
    return Task(key, source.title, real)


def origin(chosen: Sequence[Task]) -> str:
    """Return one line about where the rows come from."""
    absent = [task.title for task in chosen if task.made_up]
    if absent:
        return f"Made-up data, as $BANDITREE_DATA does not have the real: {', '.join(absent)}."
    return "Real data, rows in random order; of Census, the first 15,317 rows."


def new_policy(name: str, episode: Episode, seed: int, **settings: Any) -> bt.Policy:
    policy: bt.Policy = getattr(bt, name)(
        episode.arms, categorical=list(episode.categorical), seed=seed, **settings
    )
    return policy
