"""The observations of one arm, and the logistic regression on them."""

import numpy as np
from numpy.typing import NDArray

from banditree.policies.linear.columns import Scale, grown
from banditree.policies.linear.design import Design
from banditree.policies.linear.logistic import Logistic, deviances
from banditree.policies.linear.penalty import GRID, LEAST_ROWS
from banditree.types import FloatArray


class LogisticArm:
    """Rows as they were encoded and as they are standardised now, rewards, and their model.

    Parameters
    ----------
    design
        Shared with the other arms: a scale is that of the contexts of all.
    penalty
        The penalty to begin with.
    chooses
        Whether to choose another one by cross-validation, as rows come in.
    refresh
        By which share they grow until it is chosen again.
    """

    def __init__(
        self, design: Design, penalty: float, chooses: bool, refresh: float = 0.25
    ) -> None:
        self._design = design
        self._refresh = refresh
        self._chooses = chooses
        self.due = LEAST_ROWS
        self._first = self._end = 0  # rows outside are forgotten, or room for more
        self._rows = np.empty((0, 0))
        self._rewards = np.empty(0)
        self._standard = np.empty((0, design.width))
        self.fit = Logistic(design.width, penalty)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._end - self._first

    @property
    def rows(self) -> FloatArray:
        """Encoded rows."""
        return self._rows[self._first : self._end]

    @property
    def rewards(self) -> FloatArray:
        """One reward per row."""
        return self._rewards[self._first : self._end]

    @property
    def standard(self) -> FloatArray:
        """Rows as the model sees them."""
        return self._standard[self._first : self._end]

    def take_count(self, n: int) -> None:
        """Have so many rows, without any: of a model that never learns, nobody asks for them."""
        self._end = n

    def widen(self) -> None:
        """Follow the design if its rows have grown."""
        more = self._design.width - self._standard.shape[1]
        if more > 0:
            self._standard = np.pad(self._standard, ((0, 0), (0, more)))
            self.fit.widen(self._design.width)

    def add(self, row: FloatArray, reward: float) -> None:
        """Keep an observation; the model does not know it yet."""
        at = self._end
        self._reserve(at + 1, len(row))
        self._rows[at] = self._design.known(row)
        self._rewards[at] = reward
        self._standard[at] = self._design.standardise(row)
        self._end += 1

    def forget_first(self) -> FloatArray:
        """Leave out the oldest observation; return its row as the model saw it. Another follows."""
        x: FloatArray = self.standard[0].copy()
        reward = float(self.rewards[0])
        self._first += 1
        self.fit.forget(x, reward, self.standard)
        return x

    def take_in_last(self) -> None:
        """Let the model learn from the last observation, the scale being unchanged."""
        self.fit.add(self.standard, self.rewards)

    def rescale(self, former: Scale) -> None:
        """Standardise all rows again, and solve for them."""
        self._reserve(self._end, self._design.n_features)
        self._standard = self._design.standardise_many(self._rows)
        start = self._design.scale.carry_over(self.fit.theta, former)
        self.fit.restart(start, self.standard, self.rewards)

    def choose_penalty(self) -> bool:
        """Cross-validate the penalty if that is due; return whether it is another one now."""
        if not self._chooses or self.n < self.due:
            return False
        self.due = grown(self.n, self._refresh)
        former, errors = self.fit.penalty, deviances(self.standard, self.rewards)
        self.fit.set_penalty(float(GRID[errors.argmin()]), self.standard, self.rewards)
        return self.fit.penalty != former

    def relearn(self, rows: FloatArray, rewards: FloatArray, penalty: float, due: int) -> None:
        """Become an arm with these observations and penalty; the design is in place."""
        fresh = Logistic(self._design.width, penalty)
        self.restore(rows, rewards, due, list(fresh.state()))
        if self.n > 0:
            self.fit.restart(self.fit.theta, self.standard, self.rewards)

    def restore(
        self, rows: FloatArray, rewards: FloatArray, due: int, numbers: list[NDArray[np.float64]]
    ) -> None:
        """Become an arm with these observations and this model; the design is in place."""
        self._first, self._end, self.due = 0, len(rows), due
        self._rows, self._rewards = rows.copy(), rewards.copy()
        self._standard = self._design.standardise_many(self._rows)
        self.fit.restore(*numbers)

    def _reserve(self, n: int, n_features: int) -> None:
        more_features = n_features - self._rows.shape[1]
        if more_features > 0:
            self._rows = np.pad(self._rows, ((0, 0), (0, more_features)), constant_values=np.nan)
        if n > len(self._rows):
            # Rows beyond `n` are missing throughout.
            more = grown(n, 0.25) + 8 - len(self._rows)
            self._rows = np.pad(self._rows, ((0, more), (0, 0)), constant_values=np.nan)
            self._rewards = np.pad(self._rewards, (0, more))
            self._standard = np.pad(self._standard, ((0, more), (0, 0)))
