"""What each arm would pay in each row of a log, by trees that never saw the row."""

import numpy as np
from numpy.typing import NDArray

from banditree.evaluation.cross_fitting import CrossFitted, Predictor, fitted_tree
from banditree.evaluation.log import Log
from banditree.types import FloatArray

__all__ = ["RewardModel"]

FOLDS = 5
# More rows make the trees finer, and the estimates hardly any better.
MOST_ROWS = 100_000


class RewardModel(CrossFitted):
    """A pruned tree for each arm and fold, fitted to the rewards of the other folds.

    Parameters
    ----------
    log
        The rows.
    seed
        Of the dealing into folds.

    Examples
    --------
    >>> import numpy as np
    >>> import polars
    >>> age = np.arange(200) % 80
    >>> table = {"age": age, "arm": np.arange(200) // 2 % 2, "reward": (age > 40) * 1.0}
    >>> log = Log.from_table(polars.DataFrame(table).with_columns(propensity=0.5))
    >>> RewardModel(log).predict(38, 44)[:, 0]
    array([0., 0., 0., 1., 1., 1.])
    """

    def __init__(self, log: Log, seed: int = 0) -> None:
        self._log = log
        super().__init__(log.contexts, folds=FOLDS, most=MOST_ROWS, seed=seed)

    def _fit(self, rows: FloatArray, places: NDArray[np.intp]) -> list[Predictor]:
        rewards, chosen = self._log.rewards[places], self._log.chosen[places]
        mean = float(rewards.mean())
        model = []
        for arm in range(len(self._log.arms)):
            mine = np.flatnonzero(chosen == arm)
            y = rewards[mine]
            model.append(fitted_tree(rows[mine], self._kinds, y, self._rng, otherwise=mean))
        return model
