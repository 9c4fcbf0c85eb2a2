"""Models of a log that never see the row that they are asked about."""

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from banditree import _core
from banditree.contexts import Encoder
from banditree.evaluation.context_rows import ContextRows
from banditree.types import FloatArray

__all__ = ["BINS", "CHUNK", "Constant", "CrossFitted", "Predictor", "chunks", "fitted_tree"]

# Rows that are worked on at a time: 10 million of them are never in memory as anything but columns.
CHUNK = 50_000
BINS, LEAST_LEAF = 64, 5
# A tree on fewer rows than this would be a guess.
FEWEST_ROWS = 20
PRUNING_FOLDS = 3


class Predictor(Protocol):
    """What predicts a number for each encoded row."""

    def predict(self, contexts: FloatArray, /) -> FloatArray:
        """Return a number for each row."""
        ...


class Constant:
    """Predicts the same for all."""

    def __init__(self, value: float) -> None:
        self.value = value

    def predict(self, contexts: FloatArray, /) -> FloatArray:
        """Return a number for each row."""
        return np.full(len(contexts), self.value)


class CrossFitted(ABC):
    """As many models as there are folds of the rows: each is fitted to the other folds.

    Of very many rows, a sample is fitted to.

    Parameters
    ----------
    contexts
        Of all rows.
    folds
        How many.
    most
        Rows to fit to, of all folds together.
    seed
        Of what is random.
    """

    def __init__(self, contexts: ContextRows, *, folds: int, most: int, seed: int) -> None:
        n = len(contexts)
        self._contexts = contexts
        self._rng = np.random.default_rng(seed)
        self._n_folds = min(folds, n)
        self._fold_of = self._rng.permutation(np.arange(n, dtype=np.int32) % self._n_folds)
        self._sample = np.arange(n) if n <= most else np.sort(self._rng.choice(n, most, False))
        self._encoder = Encoder()
        rows, pending = self._encoder.stage_many(contexts.taken(self._sample))
        self._encoder.commit(pending)
        self._kinds = self._encoder.is_categorical
        self._models = [
            self._fit(rows[kept], self._sample[kept])
            for kept in (self._fold_of[self._sample] != fold for fold in range(self._n_folds))
        ]

    @abstractmethod
    def _fit(self, rows: FloatArray, places: NDArray[np.intp]) -> list[Predictor]:
        """Return a model of encoded rows: a predictor for each arm. `places` are their numbers."""

    def predict(self, start: int, stop: int) -> FloatArray:
        """Return what is predicted of rows: a row for each, a column for each arm."""
        rows = self._encoder.encode_many(self._contexts.part(start, stop))
        fold_of = self._fold_of[start:stop]
        found = np.empty((len(rows), len(self._models[0])))
        for fold, model in enumerate(self._models):
            mine = np.flatnonzero(fold_of == fold)
            if len(mine):
                held_out = np.ascontiguousarray(rows[mine])
                for arm, predictor in enumerate(model):
                    found[mine, arm] = predictor.predict(held_out)
        return found


def chunks(n: int) -> list[tuple[int, int]]:
    """Return the beginnings and ends of parts of n rows.

    Examples
    --------
    >>> chunks(120_000)
    [(0, 50000), (50000, 100000), (100000, 120000)]
    """
    return [(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK)]


def fitted_tree(
    rows: FloatArray,
    kinds: NDArray[np.uint8],
    y: FloatArray,
    rng: np.random.Generator,
    *,
    otherwise: float,
) -> Predictor:
    """Return a pruned tree, or a constant where there are too few rows for one."""
    if not len(y):
        return Constant(otherwise)
    if len(y) < FEWEST_ROWS or not rows.shape[1]:
        return Constant(float(y.mean()))
    rows, y = np.ascontiguousarray(rows), np.ascontiguousarray(y)
    growth = 2 * LEAST_LEAF, LEAST_LEAF, None, BINS, True
    tree = _core.Tree.fit(rows, kinds, y, None, *growth, None)
    if tree.n_leaves == 1:
        return tree
    folds = rng.permutation(np.arange(len(y), dtype=np.int64) % PRUNING_FOLDS)
    *_, best_alpha, _ = tree.cross_validate(folds, PRUNING_FOLDS)
    return tree.prune(best_alpha)
