"""Logistic regression by penalised maximum likelihood, for rows that keep coming."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.policies.linear.penalty import (
    DEFAULT,
    GRID,
    add_outer,
    fold_ids,
    penalties,
    remove_outer,
    symmetric_inverse,
)
from banditree.types import FloatArray

# A solution is reached when the next Newton step would change no coefficient by more than this; as
# that step is still taken, errors are smaller by about the factor SLOW, at least.
TOLERANCE = 3e-5
# The same for cross-validation, where only the likelihood counts.
COARSE = 1e-3
# Convergence is slow if a step is not smaller than the one before by this factor.
SLOW = 0.5
# Newton's method needs fewer than ten; this many only where penalties are next to nothing.
MOST_STEPS = 200


def sigmoid(margins: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(−margins)), without overflow."""
    values: FloatArray = 0.5 * np.tanh(0.5 * margins) + 0.5
    return values


class Logistic:
    """θ that minimises Σ log(1 + exp(x'θ)) − r x'θ + θ'Λθ / 2 over rows x and rewards r.

    It keeps a point next to the solution, the gradient there, exact but for rounding, and the
    inverse of the Hessian at an earlier point. A new row changes the gradient by one term; Newton
    steps then lead to the new solution, each at the cost of one pass over the rows. The Hessian is
    computed again when they shrink slowly. The last step, too small to go on from, makes `theta`
    better still.

    The caller keeps the rows and passes them each time.
    """

    STATE = ("penalty", "vectors", "inverse_hessian")

    def __init__(self, width: int, penalty: float = DEFAULT, tolerance: float = TOLERANCE) -> None:
        self.penalty = penalty
        self._tolerance = tolerance
        self.theta, self._point, self._gradient = np.zeros((3, width))
        self._inverse = np.diag(1 / penalties(penalty, width))

    def widen(self, width: int) -> None:
        """Make room for columns that were 0 in all rows so far."""
        old = len(self.theta)
        if width > old:
            self.theta, self._point, self._gradient = (
                np.pad(array, (0, width - old))
                for array in (self.theta, self._point, self._gradient)
            )
            self._inverse = np.pad(self._inverse, (0, width - old))
            last = np.arange(old, width)
            self._inverse[last, last] = 1 / self.penalty

    def add(self, rows: FloatArray, rewards: FloatArray) -> None:
        """Take in the last of the rows; all others were there before."""
        x, reward = rows[-1], float(rewards[-1])
        chance = float(sigmoid(x @ self._point))
        self._gradient += (chance - reward) * x
        add_outer(self._inverse, x, chance * (1 - chance))
        self._settle(rows, rewards)

    def forget(self, x: FloatArray, reward: float, rows: FloatArray) -> None:
        """Leave out a row that was there before; `rows` are the others; `add` follows."""
        chance = float(sigmoid(x @ self._point))
        self._gradient -= (chance - reward) * x
        if remove_outer(self._inverse, x, chance * (1 - chance)) is None:
            self._compute_inverse(rows)

    def restart(self, start: FloatArray, rows: FloatArray, rewards: FloatArray) -> None:
        """Solve again, for other rows than before, from a point that is near the solution."""
        self._point = start
        self._gradient = self._gradient_at(start, rows, rewards)
        self._settle(rows, rewards)

    def set_penalty(self, penalty: float, rows: FloatArray, rewards: FloatArray) -> None:
        """Solve again for another penalty."""
        self.penalty = penalty
        self._point = self.theta
        self._compute_inverse(rows)
        self.restart(self.theta, rows, rewards)

    def _gradient_at(self, point: FloatArray, rows: FloatArray, rewards: FloatArray) -> FloatArray:
        gradient: FloatArray = (sigmoid(rows @ point) - rewards) @ rows
        return gradient + penalties(self.penalty, len(point)) * point

    def _compute_inverse(self, rows: FloatArray) -> None:
        system = weighted_gram(rows, sigmoid(rows @ self._point))
        system.flat[:: len(system) + 1] += penalties(self.penalty, len(system))
        self._inverse = symmetric_inverse(system, np.array(min(self.penalty, 1.0)))

    def _settle(self, rows: FloatArray, rewards: FloatArray) -> None:
        """Go on to the solution."""
        step = -(self._inverse @ self._gradient)
        size = float(np.abs(step).max())
        last = np.inf
        for _ in range(MOST_STEPS):
            if size <= self._tolerance:
                break
            if size > SLOW * last:
                self._compute_inverse(rows)
                step = -(self._inverse @ self._gradient)
            self._take(step, rows, rewards)
            last = float(np.abs(step).max())
            step = -(self._inverse @ self._gradient)
            size = float(np.abs(step).max())
        self.theta = self._point + step

    def _take(self, step: FloatArray, rows: FloatArray, rewards: FloatArray) -> None:
        """Go along a step, but not far beyond the lowest point on the way."""
        slope = float(step @ self._gradient)
        while True:
            point = self._point + step
            gradient = self._gradient_at(point, rows, rewards)
            # The function is convex: its slope rises all the way, from `slope`, below 0.
            beyond = float(step @ gradient) > 0.5 * abs(slope)
            if not beyond or float(np.abs(step).max()) <= self._tolerance:
                break
            step, slope = step / 2, slope / 2
        self._point, self._gradient = point, gradient

    def state(self) -> tuple[NDArray[Any], ...]:
        """Return all numbers, in the order of `STATE`."""
        vectors = np.stack([self.theta, self._point, self._gradient])
        return np.array(self.penalty), vectors, self._inverse

    def restore(self, penalty: NDArray[Any], vectors: NDArray[Any], inverse: NDArray[Any]) -> None:
        """Become the regression that `state` was taken from."""
        self.penalty = float(penalty)
        self.theta, self._point, self._gradient = vectors.copy()
        self._inverse = inverse.copy()


def weighted_gram(rows: FloatArray, chances: FloatArray) -> FloatArray:
    """Return the sum of p(1 − p) x x' over rows."""
    # The product of an array with itself takes half the time of that of two.
    scaled = rows * np.sqrt(chances * (1 - chances))[:, None]
    gram: FloatArray = scaled.T @ scaled
    return gram


def deviances(rows: FloatArray, rewards: FloatArray) -> FloatArray:
    """Return the held-out −log likelihood for each penalty of `GRID`, by cross-validation."""
    rows = _narrowed(rows)
    folds = fold_ids(0, len(rows))
    result = np.zeros(len(GRID))
    for fold in np.unique(folds):
        held = folds == fold
        kept_rows, kept_rewards = rows[~held], rewards[~held]
        fit = Logistic(rows.shape[1], tolerance=COARSE)
        # From the strongest to the weakest penalty, since the solution for one is near the next.
        for index in (-GRID).argsort():
            fit.set_penalty(float(GRID[index]), kept_rows, kept_rewards)
            margins = rows[held] @ fit.theta
            result[index] += (np.logaddexp(0.0, margins) - rewards[held] * margins).sum()
    return result


def _narrowed(rows: FloatArray) -> FloatArray:
    """Return rows with no more columns than there are rows, for which all solutions predict alike.

    A rotation of all columns but the first, the constant, changes neither likelihood nor penalty,
    and columns that are 0 after it have coefficients of 0.
    """
    if rows.shape[1] <= len(rows) + 1:
        return rows
    triangle = np.asarray(np.linalg.qr(rows[:, 1:].T, mode="r"))
    return np.column_stack([rows[:, 0], triangle.T])
