"""What plays in the benchmark: the interface, and what adapters of other libraries share."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float64]
GROWTH = 0.15  # of the observations, after which a batch learner is fitted again
STARTS = 20  # observations before its first fit
ONCE_EACH = 2  # times that it plays each arm at first, where its library has no cold start


@dataclass(frozen=True, eq=False)
class World:
    """What a player may know before it plays.

    Sizes of categories, means and deviations are of all contexts of the run: more than an
    application knows, and never to a peer's disadvantage.
    """

    n_arms: int
    n_features: int
    categories: Mapping[int, int]  # position of a feature: how many values it has
    means: Row  # of the columns of OneHot: numbers, then a column for each category
    deviations: Row
    bits: frozenset[int] = frozenset()  # positions of the numbers that are 0 or 1

    @classmethod
    def of(cls, n_arms: int, contexts: NDArray[np.float64], categorical: list[int]) -> "World":
        sizes = {i: int(np.nanmax(contexts[:, i], initial=0)) + 1 for i in categorical}
        numbers = np.nan_to_num(np.delete(contexts, categorical, axis=1))
        shares = [share(contexts[:, i], size) for i, size in sizes.items()]
        means = np.concatenate([numbers.mean(axis=0), *shares])
        flags = means[numbers.shape[1] :]
        variances = np.concatenate([numbers.var(axis=0), flags * (1 - flags)])
        deviations = np.sqrt(np.where(variances > 0, variances, 1.0))
        is_bit = np.all((contexts == 0) | (contexts == 1), axis=0)
        bits = frozenset(np.flatnonzero(is_bit).tolist()) - sizes.keys()
        return cls(n_arms, contexts.shape[1], sizes, means, deviations, bits)


def share(column: Row, size: int) -> Row:
    """Return how often a feature has each category."""
    ids = column[~np.isnan(column)].astype(int)
    return np.bincount(ids, minlength=size) / len(column)


class Player(ABC):
    """A policy. Contexts are rows of numbers; categories are ids, missing values NaN."""

    @abstractmethod
    def decide(self, context: Row) -> int:
        """Return the position of an arm."""

    @abstractmethod
    def learn(self, context: Row, arm: int, reward: float) -> None:
        """Learn what an arm has paid."""


class Informed(ABC):
    """A bound rather than a policy: it is told what every arm would have paid."""

    @abstractmethod
    def decide(self, context: Row) -> int:
        """Return the position of an arm."""

    @abstractmethod
    def learn_all(self, context: Row, rewards: Row) -> None:
        """Learn what all arms would have paid."""


@dataclass(frozen=True)
class Entry:
    """A line of the benchmark.

    `fixed` is what makes it this line, `grid` the constants that are tried beside the defaults.
    """

    name: str
    library: str  # as it is installed; its version is part of what a run depends on
    module: str  # as it is imported
    player: type
    about: str  # how it was set up
    fixed: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[Mapping[str, Any], ...] = ()

    def make(self, world: World, seed: int, constants: Mapping[str, Any]) -> Any:
        return self.player(world, seed, **self.fixed, **constants)


class OneHot:
    """Turns a context into numbers: a column for each category, zeros where it is missing.

    The last context is remembered, so that a step encodes once.
    """

    def __init__(self, world: World, standardised: bool = False) -> None:
        self.sizes, self.standardised = world.categories, standardised
        self.positions = list(self.sizes)
        self.means, self.deviations = world.means, world.deviations
        self.last: Row | None = None
        self.row: Row = np.empty(0)

    def __call__(self, context: Row) -> Row:
        if context is not self.last:
            self.last, self.row = context, self.encode(context)
        return self.row

    def encode(self, context: Row) -> Row:
        parts = [np.nan_to_num(np.delete(context, self.positions))]
        for i, size in self.sizes.items():
            bits = np.zeros(size)
            if not np.isnan(context[i]):
                bits[int(context[i])] = 1.0
            parts.append(bits)
        row = np.concatenate(parts)
        return (row - self.means) / self.deviations if self.standardised else row


class Batch(Player):
    """A learner that is fitted to all observations, again after each growth by `GROWTH`.

    Before its first fit it plays the arms in turn.
    """

    def __init__(self, world: World, encode: Any, starts: int = 0) -> None:
        self.n_arms, self.encode = world.n_arms, encode
        self.due = starts or max(STARTS, ONCE_EACH * world.n_arms)
        self.rows: list[Row] = []
        self.arms: list[int] = []
        self.rewards: list[float] = []
        self.fitted = False

    @abstractmethod
    def fit(self, rows: NDArray[np.float64], arms: NDArray[np.intp], rewards: Row) -> None:
        """Fit to all observations."""

    @abstractmethod
    def choose(self, row: Row) -> int:
        """Return the position of an arm, once fitted."""

    def between(self, row: Row, arm: int, reward: float) -> None:
        """Learn an observation between two fits, where a library can."""

    def decide(self, context: Row) -> int:
        if not self.fitted:
            return len(self.rows) % self.n_arms
        return self.choose(self.encode(context))

    def learn(self, context: Row, arm: int, reward: float) -> None:
        row = self.encode(context)
        self.rows.append(row)
        self.arms.append(arm)
        self.rewards.append(reward)
        if len(self.rows) >= self.due:
            self.due = int(np.ceil(self.due * (1 + GROWTH)))
            self.fit(np.array(self.rows), np.array(self.arms), np.array(self.rewards))
            self.fitted = True
        elif self.fitted:
            self.between(row, arm, reward)


def largest(values: Row, rng: np.random.Generator) -> int:
    """Return the position of the largest value, ties at random."""
    return int(rng.choice(np.flatnonzero(values == values.max())))
