"""
The native core: trees on encoded rows, policies on them, and random numbers. Use it through banditree.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

class Generator:
    """Random generator of the core, the same on every platform."""

    def __init__(self, seed: int) -> None: ...
    @property
    def state(self) -> tuple[int, int, int, int]:
        """The four 64-bit words that decide all further draws."""

    @state.setter
    def state(self, arg: tuple[int, int, int, int], /) -> None: ...
    def child(self, stream: int) -> Generator:
        """
        An independent generator for this stream number; leaves this one unchanged.
        """

    def __getstate__(self) -> tuple[int, int, int, int]: ...
    def __setstate__(self, arg: tuple[int, int, int, int], /) -> None: ...
    def uniform(self, size: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Multiples of 2**-53 in [0, 1)."""

    def integers(self, n: int, size: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Integers 0, ..., n - 1, each equally likely."""

    def exponential(self, size: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Exponential draws of mean 1."""

    def normal(self, size: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Normal draws of mean 0 and variance 1."""

    def gamma(
        self, shape: float, size: int
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Gamma draws of scale 1; shape is finite and above 0."""

    def beta(
        self, a: float, b: float, size: int
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Beta draws; a and b are finite and above 0."""

    def multinomial_weights(self, n: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """How often each of n rows comes up in n draws with replacement."""

    def exponential_weights(self, n: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """One exponential draw of mean 1 per row."""

class CategoryCodes:
    def __init__(
        self, n_features: int, categories: Sequence[tuple[int, Mapping[float, float]]]
    ) -> None: ...
    def encode(
        self, row: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]
    ) -> bool:
        """
        Puts ids in the place of categories, NaN for unknown ones; true if there are none.
        """

class Tree:
    @staticmethod
    def fit(
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        categorical: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        y: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        min_split: int,
        min_leaf: int,
        max_depth: int | None,
        max_bins: int | None,
        adjusted: bool,
        edges: Sequence[Sequence[float]] | None,
    ) -> Tree: ...
    @staticmethod
    def restore(
        nodes: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        sides: Sequence[tuple[Sequence[int], Sequence[int]]],
        n_features: int,
    ) -> Tree: ...
    def predict_one(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> float: ...
    def predict(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    def prune(self, alpha: float) -> Tree: ...
    def pruning_path(
        self,
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    ]: ...
    def cross_validate(
        self,
        folds: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_folds: int,
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
        float,
        float,
    ]: ...
    def lazy_predict_one(
        self,
        weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        alpha: float,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> float: ...
    def rows(
        self,
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    ]: ...
    def edges(self) -> list[list[float]] | None: ...
    def nodes(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
    def sides(self) -> list[tuple[list[int], list[int]]]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_leaves(self) -> int: ...
    @property
    def depth(self) -> int: ...

class IncrementalTree:
    def __init__(
        self,
        min_split: int,
        min_leaf: int,
        max_depth: int | None,
        max_bins: int | None,
        adjusted: bool,
    ) -> None: ...
    def set_categorical(
        self,
        categorical: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def learn(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        reward: float,
        weight: float,
    ) -> None: ...
    def learn_many(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        rewards: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
    ) -> None: ...
    def forget(self) -> None: ...
    def restore(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        rewards: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        renewed_at: int,
        forgotten: int,
    ) -> None: ...
    def predict_one(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> float: ...
    def predict(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    def as_tree(self) -> Tree: ...
    def edges(self) -> list[list[float]]: ...
    def rows(
        self,
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
        int,
        int,
    ]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def encoded_bytes(self) -> int: ...

def beta_win_probabilities(
    a: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    b: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """The probability that each Beta(a, b) draw is the largest."""

def student_win_probabilities(
    location: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    scale: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    freedom: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The probability that each location + scale * t draw is the largest, where t has Student's law with this freedom. Those of scale 0 that tie share evenly.
    """

def win_shares(
    values: Sequence[
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The share of all combinations of one value per arm in which the arm's value is the largest; ties share evenly.
    """

class FrozenTrees:
    """What decisions of a tree policy need. Threads may share it."""

    def decide(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> int: ...
    def decide_many(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    @property
    def n_arms(self) -> int: ...
    def categorical(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """Whether each feature is a category."""

    @property
    def spread(self) -> tuple[float, float, float, float, float]: ...
    def dump(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """All of it as bytes."""

    @staticmethod
    def restore(
        state: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> FrozenTrees: ...
    def decide_greedily(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> int: ...
    def decide_many_greedily(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def evidence(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
    def predictions(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    def kept_draws(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    def predict(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> float: ...
    def made_up(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> list[float]: ...
    def tree(self, arm: int) -> Tree: ...
    def is_cold(self, arm: int) -> bool: ...
    def n_rows(self, arm: int) -> int: ...

class RewardWindow:
    """The last rewards of an arm."""

    def __init__(self) -> None: ...
    def push(self, reward: float, most: int) -> float | None:
        """
        Take in a reward; return the one that falls out if there are more than `most` then.
        """

    def __len__(self) -> int: ...
    def rewards(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """From the oldest on."""

    def range(self) -> tuple[float, float]:
        """The lowest and the highest."""

class TreeHeuristic:
    def __init__(
        self,
        min_split: int,
        min_leaf: int,
        max_depth: int | None,
        max_bins: int | None,
        adjusted: bool,
        folds: int,
        refresh: float,
        window: int | None,
        beside: int | None,
        binary: bool,
        successes: float,
        failures: float,
    ) -> None: ...
    def tree(self, arm: int) -> Tree: ...
    def held_out(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> tuple[float, float, float]: ...
    def alpha(self, arm: int) -> float:
        """What the arm's tree is pruned at."""

    def add_arm(self) -> None: ...
    def set_categorical(
        self,
        categorical: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def learn(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        reward: float,
    ) -> None: ...
    def learn_many(
        self,
        arms: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        rewards: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def keep_last(
        self,
        counts: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def load(
        self,
        state: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Becomes the engine that was dumped."""

    @property
    def n_arms(self) -> int: ...
    def n_rows(self, arm: int) -> int: ...
    def rows(
        self, arm: int
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    ]:
        """Contexts and rewards of the arm."""

    def edges(self, arm: int) -> list[list[float]]:
        """Of the bins of each number feature."""

    def dump(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """All that the engine holds, as bytes."""

    @property
    def spread(self) -> tuple[float, float, float, float, float]:
        """Number, mean, squared error, smallest and largest of all rewards."""

    @spread.setter
    def spread(self, arg: tuple[float, float, float, float, float], /) -> None: ...
    def decide(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> int: ...
    def decide_many(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def freeze(self) -> FrozenTrees: ...
    def restore(
        self,
        arm: int,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        rewards: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_learned: int,
    ) -> None: ...
    def tend(self) -> bool:
        """
        Takes over what has been grown beside, and begins what is due; returns whether anything is being grown.
        """

    def wait(self) -> None:
        """Waits for what is being grown."""

    def decide_greedily(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> int: ...
    def decide_many_greedily(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def evidence(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

class TreeBootstrap:
    def __init__(
        self,
        min_split: int,
        min_leaf: int,
        max_depth: int | None,
        max_bins: int | None,
        adjusted: bool,
        folds: int,
        binary: bool,
        exponential: bool,
        pruning: str | None,
        prior: bool,
        patience: int,
        window: int | None,
    ) -> None: ...
    def decide(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> int: ...
    def decide_many(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def add_arm(self) -> None: ...
    def set_categorical(
        self,
        categorical: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def learn(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        reward: float,
    ) -> None: ...
    def learn_many(
        self,
        arms: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        rewards: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def keep_last(
        self,
        counts: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def load(
        self,
        state: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Becomes the engine that was dumped."""

    @property
    def n_arms(self) -> int: ...
    def n_rows(self, arm: int) -> int: ...
    def rows(
        self, arm: int
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    ]:
        """Contexts and rewards of the arm."""

    def edges(self, arm: int) -> list[list[float]]:
        """Of the bins of each number feature."""

    def dump(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """All that the engine holds, as bytes."""

    @property
    def spread(self) -> tuple[float, float, float, float, float]:
        """Number, mean, squared error, smallest and largest of all rewards."""

    @spread.setter
    def spread(self, arg: tuple[float, float, float, float, float], /) -> None: ...
    def draws(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n: int,
        random: Generator,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """What the trees on n resamples of the arm's rows predict."""

    def kept_draws(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """What the trees on resamples predict that are kept between calls."""

    def freeze(self, random: Generator) -> FrozenTrees:
        """
        What decisions need, with the resamples that kept_draws(arm, ...) keeps if random.child(arm) is given.
        """

    def made_up(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> list[float]:
        """The rewards that nobody observed in the leaf of the context."""

    def predict(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> float: ...
    def tree(self, arm: int) -> Tree: ...
    def held_out(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> tuple[float, float, float]: ...
    def standing(self, arm: int) -> tuple[int, bool, float]: ...
    def restore(
        self,
        arm: int,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        rewards: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        standing: tuple[int, bool, float],
    ) -> None: ...
    def is_cold(self, arm: int) -> bool: ...
    def alpha(self, arm: int) -> float:
        """What the arm's trees are pruned at."""

def folds_of(n_rows: int, n_folds: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """The fold that each of an arm's rows is in."""

class OnlineTreeBootstrap:
    def __init__(
        self,
        replicas: int,
        seed: int,
        min_split: int,
        min_leaf: int,
        max_depth: int | None,
        max_bins: int | None,
        adjusted: bool,
        folds: int,
        refresh: float,
        window: int | None,
        beside: int | None,
        binary: bool,
        successes: float,
        failures: float,
    ) -> None: ...
    def predictions(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    def tree(self, arm: int, replica: int) -> Tree: ...
    def is_cold(self, arm: int) -> bool: ...
    def members(
        self, arm: int, row: int
    ) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...
    def add_arm(self) -> None: ...
    def set_categorical(
        self,
        categorical: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def learn(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        reward: float,
    ) -> None: ...
    def learn_many(
        self,
        arms: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        rewards: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def keep_last(
        self,
        counts: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def load(
        self,
        state: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Becomes the engine that was dumped."""

    @property
    def n_arms(self) -> int: ...
    def n_rows(self, arm: int) -> int: ...
    def rows(
        self, arm: int
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    ]:
        """Contexts and rewards of the arm."""

    def edges(self, arm: int) -> list[list[float]]:
        """Of the bins of each number feature."""

    def dump(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """All that the engine holds, as bytes."""

    @property
    def spread(self) -> tuple[float, float, float, float, float]:
        """Number, mean, squared error, smallest and largest of all rewards."""

    @spread.setter
    def spread(self, arg: tuple[float, float, float, float, float], /) -> None: ...
    def decide(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> int: ...
    def decide_many(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def freeze(self) -> FrozenTrees: ...
    def restore(
        self,
        arm: int,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        rewards: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_learned: int,
    ) -> None: ...
    def tend(self) -> bool:
        """
        Takes over what has been grown beside, and begins what is due; returns whether anything is being grown.
        """

    def wait(self) -> None:
        """Waits for what is being grown."""

class BanditForest:
    def __init__(
        self,
        n_trees: int,
        depth: int,
        delta: float,
        epsilon_low: float,
        epsilon_high: float,
        radius: float,
        seed: int,
    ) -> None: ...
    def add_arm(self) -> None: ...
    def set_active(self, arm: int, active: bool) -> None: ...
    def set_categorical(
        self,
        categorical: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def learn(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        reward: float,
    ) -> None: ...
    def learn_many(
        self,
        arms: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        rewards: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def dump(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    def restore(
        self,
        state: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    @property
    def n_arms(self) -> int: ...
    def decide(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> int: ...
    def decide_many(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def propensities(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Of each eligible arm, in their order."""

    def expected_rewards(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Of every arm."""

    def explain(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        arm: int,
    ) -> list[tuple[list[tuple[int, float, float, bool]], bool, float, float]]:
        """
        Of each tree: the path as (feature, low, high, value), whether the tree is finished there, and number and sum of the arm's rewards. Of a category, low and high are its id.
        """

class EnsembleBeliefs:
    """What decisions of an ensemble need. Threads may share it."""

    def dump(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """All of it as bytes."""

    @staticmethod
    def restore(
        state: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> EnsembleBeliefs: ...
    def decide(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> int: ...
    def decide_many(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def propensities(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    def expectations(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Mean of each arm, and of how many rows it is the mean."""

    def attribution(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        arm: int,
    ) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...
    def n_learned(self, arm: int) -> float: ...
    @property
    def n_arms(self) -> int: ...
    @property
    def variance(self) -> float:
        """Of a reward around what was expected of it."""

    def categorical(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

class Ensemble:
    def __init__(
        self,
        binary: bool,
        refresh: float,
        window: int | None,
        most_rows: int,
        beside: int | None,
        seed: int,
    ) -> None: ...
    def freeze(self) -> EnsembleBeliefs: ...
    def rows(
        self,
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
        Annotated[NDArray[numpy.int64], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    ]:
        """Contexts, arms and rewards that are kept."""

    def dump(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """All that the engine holds, as bytes."""

    def decide(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> int: ...
    def decide_many(
        self,
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        random: Generator,
    ) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    def propensities(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    def expectations(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        eligible: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Mean of each arm, and of how many rows it is the mean."""

    def attribution(
        self,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        arm: int,
    ) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...
    def n_learned(self, arm: int) -> float: ...
    @property
    def n_arms(self) -> int: ...
    @property
    def variance(self) -> float:
        """Of a reward around what was expected of it."""

    def categorical(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...
    def add_arm(self) -> None: ...
    def set_categorical(
        self,
        categorical: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def learn(
        self,
        arm: int,
        context: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        reward: float,
    ) -> None: ...
    def learn_many(
        self,
        arms: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        contexts: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        rewards: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def keep_last(
        self,
        counts: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def load(
        self,
        state: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Becomes the engine that was dumped."""

    def tend(self) -> bool:
        """
        Takes over what has been grown beside, and begins what is due; returns whether anything is being grown.
        """

    def wait(self) -> None:
        """Waits for what is being grown."""
