"""Logistic regression by penalised maximum likelihood, for rows that keep coming."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.policies.penalty import (
    DEFAULT,
    GRID,
    N_FOLDS,
    add_outer,
    fold_ids,
    penalties,
    symmetric_inverse,
)
from banditree.types import FloatArray

# A solution is reached when the next Newton step changes no coefficient by more than this.
TOLERANCE = 1e-5
# Convergence is slow if a step is not smaller than the one before by this factor.
SLOW = 0.3
# Newton's method needs fewer than ten; this many only where penalties are next to nothing.
MOST_STEPS = 200
# After so many steps without exact Hessians, cross-validation goes on with them.
MOST_CHORD_STEPS = 15


def sigmoid(margins: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(−margins)), which overflows for none."""
    values: FloatArray = 0.5 * np.tanh(0.5 * margins) + 0.5
    return values


class Logistic:
    """θ that minimises Σ log(1 + exp(x'θ)) − r x'θ + θ'Λθ / 2 over rows x and rewards r.

    Kept are a point next to the solution, the gradient there, exact but for rounding, and the
    inverse of the Hessian, which is that of an earlier point. A new row changes the gradient by one
    term; Newton steps then lead to the new solution, each at the cost of one pass over the rows.
    The Hessian is computed again when they shrink slowly. The last step, too small to go on from,
    makes `theta` better still.

    The caller keeps the rows and passes them each time.
    """

    STATE = ("penalty", "vectors", "inverse_hessian")

    def __init__(self, width: int, penalty: float = DEFAULT) -> None:
        self.penalty = penalty
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

    def restart(self, start: FloatArray, rows: FloatArray, rewards: FloatArray) -> None:
        """Solve again, for other rows than before, from a point that is near the solution."""
        self._point = start
        self._gradient = self._gradient_at(start, rows, rewards)
        self._settle(rows, rewards)

    def set_penalty(self, penalty: float, rows: FloatArray, rewards: FloatArray) -> None:
        """Solve again for another penalty."""
        self.penalty = penalty
        self._compute_inverse(rows)
        self.restart(self._point, rows, rewards)

    def _gradient_at(self, point: FloatArray, rows: FloatArray, rewards: FloatArray) -> FloatArray:
        gradient: FloatArray = (sigmoid(rows @ point) - rewards) @ rows
        return gradient + penalties(self.penalty, len(point)) * point

    def _compute_inverse(self, rows: FloatArray) -> None:
        system = weighted_gram(rows, sigmoid(rows @ self._point))
        system[np.diag_indices_from(system)] += penalties(self.penalty, len(system))
        self._inverse = symmetric_inverse(system, np.array(min(self.penalty, 1.0)))

    def _settle(self, rows: FloatArray, rewards: FloatArray) -> None:
        """Go on to the solution."""
        step = -(self._inverse @ self._gradient)
        size = float(np.abs(step).max())
        last = np.inf
        for _ in range(MOST_STEPS):
            if size <= TOLERANCE:
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
            if float(step @ gradient) <= 0.5 * abs(slope) or float(np.abs(step).max()) <= TOLERANCE:
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


def deviances(rows: FloatArray, rewards: FloatArray, start: FloatArray) -> FloatArray:
    """Return the held-out −log likelihood for each penalty of `GRID`, by cross-validation.

    `start` is a coefficient vector to begin from, best the one for all rows.
    """
    folds = fold_ids(0, len(rows))
    chances = sigmoid(rows @ start)
    grams = [weighted_gram(rows[folds == f], chances[folds == f]) for f in range(N_FOLDS)]
    total = sum(grams)
    result = np.zeros(len(GRID))
    for fold, gram in enumerate(grams):
        held = folds == fold
        if held.any():
            thetas = _solve_grid(rows[~held], rewards[~held], start, total - gram)
            margins = rows[held] @ thetas.T
            lost = np.logaddexp(0.0, margins) - rewards[held, None] * margins
            result += lost.sum(axis=0)
    return result


def _solve_grid(
    rows: FloatArray, rewards: FloatArray, start: FloatArray, gram: FloatArray
) -> FloatArray:
    """Return the solution for each penalty; `gram` is the Hessian at `start`, but for penalties.

    All penalties take their steps together, with the Hessian of the start; those that get nowhere
    with it are solved one by one.
    """
    width = len(start)
    amounts = np.array([penalties(amount, width) for amount in GRID])
    systems = np.repeat(gram[None], len(GRID), axis=0)
    systems[:, range(width), range(width)] += amounts
    inverses = symmetric_inverse(systems, np.minimum(GRID, 1.0))
    thetas = np.tile(start, (len(GRID), 1))
    steps = np.full(thetas.shape, np.inf)
    open_ = np.arange(len(GRID))  # penalties that are neither solved nor given up
    sizes = np.full(len(GRID), np.inf)
    for _ in range(MOST_CHORD_STEPS):
        errors = sigmoid(rows @ thetas[open_].T) - rewards[:, None]
        gradients = errors.T @ rows + amounts[open_] * thetas[open_]
        steps = -(inverses[open_] @ gradients[..., None])[..., 0]
        last, now = sizes[open_], np.abs(steps).max(axis=1)
        sizes[open_] = np.where(now <= 0.8 * last, now, np.inf)
        thetas[open_] += steps
        open_ = open_[(now > TOLERANCE) & (now <= 0.8 * last)]
        if len(open_) == 0:
            break
    for index in np.flatnonzero(~(sizes <= TOLERANCE)):
        fit = Logistic(width)
        fit._point = start.copy()
        fit.set_penalty(float(GRID[index]), rows, rewards)
        thetas[index] = fit.theta
    return thetas
