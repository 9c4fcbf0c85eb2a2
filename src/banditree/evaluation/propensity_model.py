"""With which probability each arm was drawn, where the log does not say."""

import numpy as np
from numpy.typing import NDArray

from banditree import _core
from banditree.evaluation.context_rows import ContextRows
from banditree.evaluation.cross_fitting import BINS, Constant, CrossFitted, Predictor, chunks
from banditree.evaluation.eligibility import Eligibility
from banditree.evaluation.reading import Codes
from banditree.types import FloatArray

__all__ = ["LEAST", "estimate_propensities"]

FOLDS, TREES, LEAST_LEAF = 3, 8, 50
MOST_ROWS = 30_000
# No estimate is below this: weights beyond its inverse would rest on a guess.
LEAST = 0.005


class _Forest:
    """The mean of some trees."""

    def __init__(self, trees: list[_core.Tree]) -> None:
        self.trees = trees

    def predict(self, contexts: FloatArray, /) -> FloatArray:
        """Return a number for each row."""
        means: FloatArray = np.mean([tree.predict(contexts) for tree in self.trees], axis=0)
        return means


class _Shares(CrossFitted):
    """A forest for each arm and fold, each tree on half of the rows of the other folds."""

    def __init__(self, contexts: ContextRows, chosen: Codes, n_arms: int) -> None:
        self._chosen, self._n_arms = chosen, n_arms
        super().__init__(contexts, folds=FOLDS, most=MOST_ROWS, seed=0)

    def _fit(self, rows: FloatArray, places: NDArray[np.intp]) -> list[Predictor]:
        offered = [(self._chosen[places] == arm) * 1.0 for arm in range(self._n_arms)]
        if not rows.shape[1]:
            return [Constant(float(y.mean())) for y in offered]
        n = max(1, len(rows) // 2)
        halves = [np.sort(self._rng.permutation(len(rows))[:n]) for _ in range(TREES)]
        return [self._forest(rows, y, halves) for y in offered]

    def _forest(self, rows: FloatArray, y: FloatArray, halves: list[NDArray[np.intp]]) -> Predictor:
        growth = 2 * LEAST_LEAF, LEAST_LEAF, None, BINS, True
        return _Forest(
            [
                _core.Tree.fit(rows[half], self._kinds, y[half], None, *growth, None)
                for half in halves
            ]
        )


def estimate_propensities(
    contexts: ContextRows, chosen: Codes, n_arms: int, eligible: Eligibility
) -> FloatArray:
    """Return the estimated probability with which each row's arm was drawn, at least `LEAST`."""
    shares = _Shares(contexts, chosen, n_arms)
    member = eligible.matrix(n_arms)
    found = np.empty(len(chosen))
    for start, stop in chunks(len(chosen)):
        drawn = np.maximum(shares.predict(start, stop), LEAST)
        drawn *= member[0] if eligible.of_row is None else member[eligible.of_row[start:stop]]
        mine = drawn[np.arange(stop - start), chosen[start:stop]]
        found[start:stop] = np.maximum(mine / drawn.sum(axis=1), LEAST)
    return found
