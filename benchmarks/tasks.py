"""The five tasks of the benchmarks: what a policy sees, may do, and is paid."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import banditree as bt

FloatArray = NDArray[np.float64]
Arm = str | int


@dataclass(frozen=True, eq=False)
class Episode:
    """Steps in their order. What each arm would pay is fixed, so that policies are paired."""

    arms: tuple[Arm, ...]
    features: tuple[str, ...]
    categories: dict[int, tuple[str, ...]]  # of the features at these positions, by id
    contexts: FloatArray  # a row per step; categories as ids
    rewards: FloatArray  # of each step and arm
    regrets: FloatArray

    def __len__(self) -> int:
        return len(self.contexts)

    def part(self, start: int, stop: int) -> "Episode":
        cut = slice(start, stop)
        arrays = (self.contexts[cut], self.rewards[cut], self.regrets[cut])
        return Episode(self.arms, self.features, self.categories, *arrays)

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the contexts as an application would send them, categories spelled out."""
        columns: list[list[Any]] = []
        for i, column in enumerate(self.contexts.T.astype(int).tolist()):
            names = self.categories.get(i)
            columns.append([names[j] for j in column] if names else column)
        return [dict(zip(self.features, row, strict=True)) for row in zip(*columns, strict=True)]

    def regret_of(self, chosen: NDArray[np.intp]) -> FloatArray:
        """Return the regret of each step, given the position of the arm chosen in it."""
        return self.regrets[np.arange(len(self)), chosen]


# Tasks from classified data


@dataclass(frozen=True, eq=False)
class Classified:
    """A data set whose classes are the arms: the right one pays 1, all others 0."""

    key: str
    title: str
    arms: tuple[Arm, ...]
    features: tuple[str, ...]
    categories: dict[int, tuple[str, ...]]
    columns: tuple[NDArray[Any], ...]  # in narrow types: Covertype would take 250 MB as float64
    labels: NDArray[np.intp]
    made_up: bool = False

    def order(self, seed: int, horizon: int) -> NDArray[np.intp]:
        """Return the rows in random order; once all have come, again in another order."""
        rng = np.random.default_rng(seed)
        passes = range(-(-horizon // len(self.labels)))
        return np.concatenate([rng.permutation(len(self.labels)) for _ in passes])[:horizon]

    def take(self, rows: NDArray[np.intp]) -> Episode:
        contexts = np.empty((len(rows), len(self.columns)))
        for i, column in enumerate(self.columns):
            contexts[:, i] = column[rows]
        rewards = np.eye(len(self.arms))[self.labels[rows]]
        return Episode(self.arms, self.features, self.categories, contexts, rewards, 1 - rewards)

    def episode(self, seed: int, horizon: int) -> Episode:
        return self.take(self.order(seed, horizon))


@dataclass(frozen=True)
class Source:
    """Where a classified data set lies, and what to make up where it does not."""

    title: str
    file: str
    label: str
    unused: tuple[str, ...]  # columns that are no features
    dropped: tuple[Arm, ...]  # classes that are no arms
    n_classes: int
    numbers: tuple[int, ...]  # how many values each number column has, roughly
    category_sizes: tuple[int, ...] = ()


SOURCES = {
    "shuttle": Source(
        "Shuttle", "shuttle", "class", ("split",), (2, 6, 7), 4, (100,) * 5 + (300,) * 4
    ),
    "adult": Source(
        "Adult",
        "adult",
        "occupation",
        ("split",),
        ("?", "Priv-house-serv", "Armed-Forces"),
        12,
        (74, 28_000, 16, 120, 100, 96),
        (9, 16, 7, 6, 5, 2, 42, 2),
    ),
    "covertype": Source(
        "Covertype",
        "covertype",
        "Cover_Type",
        (),
        (),
        7,
        (2000, 360, 60, 500, 700, 7000, 255, 255, 255, 7000) + (2,) * 44,
    ),
    # The codes of Census are read as numbers: their columns are stored so, and many are ordered.
    "census": Source(
        "Census",
        "us_census_1990_first15317",
        "dOccup",
        ("caseid",),
        (),
        9,
        (2, 3, 4, 5, 8) * 13 + (10, 17),
    ),
}
MADE_UP_ROWS = 20_000


def read(key: str, source: Source, path: Path) -> Classified:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path, use_threads=False)
    classes = table.column(source.label).to_pylist()
    arms = tuple(sorted(set(classes) - set(source.dropped)))
    place = {arm: i for i, arm in enumerate(arms)}
    labels = np.array([place.get(value, -1) for value in classes])
    rows = np.flatnonzero(labels >= 0)
    features = [f for f in table.column_names if f not in (source.label, *source.unused)]
    columns, categories = [], {}
    for i, feature in enumerate(features):
        column = table.column(feature).combine_chunks()
        if pyarrow.types.is_dictionary(column.type):
            categories[i] = tuple(column.dictionary.to_pylist())
            column = column.indices
        columns.append(column.to_numpy()[rows])
    return Classified(
        key, source.title, arms, tuple(features), categories, tuple(columns), labels[rows]
    )


def make_up(key: str, source: Source) -> Classified:
    """Return rows of the same shape, whose class is the largest of noisy sums of features."""
    rng = np.random.default_rng(0)
    sizes = source.numbers + source.category_sizes
    features = tuple(f"feature {i}" for i in range(len(sizes)))
    columns = tuple(rng.integers(0, size, MADE_UP_ROWS, dtype=np.int16) for size in sizes)
    shares = np.column_stack(columns) / np.array(sizes)
    scores = shares @ rng.normal(size=(len(sizes), source.n_classes))
    labels = (scores + rng.normal(size=scores.shape)).argmax(axis=1)
    arms = tuple(range(source.n_classes))
    first = len(source.numbers)
    categories = {
        first + i: tuple(f"value {j}" for j in range(size))
        for i, size in enumerate(source.category_sizes)
    }
    return Classified(key, source.title, arms, features, categories, columns, labels, made_up=True)


# Sports ads


@dataclass(frozen=True, eq=False)
class SportsAds:
    """Four fair, independent bits of a user, and an ad for one of four sports; a click pays 1.

    Regret is the expected one: what the best ad's probability of a click is ahead.
    """

    key: str = "sports"
    title: str = "Sports ads"
    arms: tuple[Arm, ...] = ("golf", "basketball", "tennis", "soccer")
    features: tuple[str, ...] = ("male", "over_40", "high_income", "city")
    made_up: bool = False  # it is so by definition, the same everywhere

    @property
    def categories(self) -> dict[int, tuple[str, ...]]:
        return {}

    def episode(self, seed: int, horizon: int) -> Episode:
        rng = np.random.default_rng(seed)
        users = rng.integers(0, 2, size=(horizon, len(self.features)))
        clicks = click_probabilities(users)
        rewards = (rng.random((horizon, 1)) < clicks).astype(np.float64)
        regrets = clicks.max(axis=1, keepdims=True) - clicks
        contexts = users.astype(np.float64)
        return Episode(self.arms, self.features, self.categories, contexts, rewards, regrets)


def click_probabilities(users: NDArray[np.integer[Any]]) -> FloatArray:
    """Return a row per user and a column per sport."""
    male, over_40, high_income, city = users.astype(bool).T

    def when(condition: Any, then: Any, otherwise: Any) -> FloatArray:
        return np.where(condition, then, otherwise)

    golf = when(high_income, when(over_40, when(male, 0.45, 0.30), 0.12), when(over_40, 0.09, 0.03))
    basketball = when(city, when(over_40, 0.06, when(male, 0.42, 0.24)), when(male, 0.21, 0.09))
    tennis = when(male, when(over_40, 0.33, 0.06), when(over_40, 0.09, 0.39))
    soccer = when(city, when(high_income, 0.24, 0.09), when(high_income, 0.12, 0.36))
    return np.column_stack([golf, basketball, tennis, soccer])


# Use

Task = Classified | SportsAds
CLASSIFIED = tuple(SOURCES)
KEYS = (*CLASSIFIED, "sports")


@cache
def load(key: str) -> Task:
    """Return a task, on made-up data where $BANDITREE_DATA does not have the real."""
    if key == "sports":
        return SportsAds()
    source = SOURCES[key]
    folder = os.environ.get("BANDITREE_DATA")
    path = Path(folder or ".") / f"{source.file}.parquet"
    return read(key, source, path) if folder and path.exists() else make_up(key, source)


def origin(chosen: Sequence[Task]) -> str:
    """Return one line about where the rows come from."""
    absent = [task.title for task in chosen if task.made_up]
    if absent:
        return f"Made-up data, as $BANDITREE_DATA does not have the real: {', '.join(absent)}."
    return "Real data, rows in random order; of Census, the first 15,317 rows."


def new_policy(name: str, task: Task, seed: int, **settings: Any) -> bt.Policy:
    policy: bt.Policy = getattr(bt, name)(
        task.arms, categorical=list(task.categories), seed=seed, **settings
    )
    return policy


def play(
    policy: bt.Policy, episode: Episode, contexts: Sequence[Any] | None = None
) -> NDArray[np.intp]:
    """Decide and learn in every step; return the positions of the arms chosen."""
    place = {arm: i for i, arm in enumerate(episode.arms)}
    chosen = np.empty(len(episode), dtype=np.intp)
    rewards = episode.rewards.tolist()
    for t, context in enumerate(episode.contexts if contexts is None else contexts):
        arm = policy.decide(context)
        chosen[t] = i = place[arm]
        policy.learn(context, arm, rewards[t][i])
    return chosen
