"""Ridge regressions, one per arm, that learn row by row and change scale without the rows."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from banditree.policies.linear.columns import grown
from banditree.policies.linear.penalty import (
    DEFAULT,
    GRID,
    LEAST_ROWS,
    N_FOLDS,
    Regularization,
    add_outer,
    fold_ids,
    penalties,
    remove_outer,
    symmetric_inverse,
)
from banditree.types import FloatArray

# Makes sums over standardised rows of sums over raw ones, along the last axis.
FromRaw: TypeAlias = Callable[[FloatArray], FloatArray]

# All that a ridge knows; each array has one entry per arm.
ARRAYS = ("n", "due", "penalty", "moments", "cross", "squares", "inverse", "theta")
# What estimates need of it, beside the centre.
FROZEN = ("n", "inverse", "theta")


class Ridge:
    """θ = (X'X + Λ)⁻¹X'r and (X'X + Λ)⁻¹ for each arm, X its rows, standardised.

    It does not keep rows but their moments before standardising, per arm and fold of the
    cross-validation; everything follows from these, for any scale. Between changes of scale and
    penalty, an observation is a rank-one update.

    Parameters
    ----------
    n_arms, width
        How many arms there are, and how long rows are.
    regularization
        The penalty, or "cv".
    centred
        Whether r is measured from `centre`, the mean of all rewards, which is renewed with the
        scale; otherwise `centre` is 0.
    refresh
        By which share the rows of an arm grow until its penalty is chosen again.
    """

    def __init__(
        self,
        n_arms: int,
        width: int,
        regularization: Regularization,
        centred: bool,
        refresh: float = 0.25,
    ) -> None:
        self._refresh = refresh
        self._fixed = None if regularization == "cv" else float(regularization)
        self._centred = centred
        self.centre = 0.0
        # Moments count rewards from the first one, so that a large mean costs no precision.
        self._origin = 0.0
        self.n, self.due = np.zeros((2, n_arms), dtype=np.int64)
        self.due[:] = LEAST_ROWS
        self.penalty = np.full(n_arms, DEFAULT if self._fixed is None else self._fixed)
        self.moments = np.zeros((n_arms, N_FOLDS, width, width))
        self.cross = np.zeros((n_arms, N_FOLDS, width))
        self.squares = np.zeros((n_arms, N_FOLDS))
        self.inverse = np.stack([np.diag(1 / penalties(p, width)) for p in self.penalty])
        self.theta = np.zeros((n_arms, width))

    @property
    def width(self) -> int:
        """Length of the rows."""
        return self.theta.shape[1]

    def add_arm(self) -> None:
        """Begin with one more arm."""
        regularization: Regularization = "cv" if self._fixed is None else self._fixed
        fresh = Ridge(1, self.width, regularization, self._centred, self._refresh)
        for name in ARRAYS:
            setattr(self, name, np.concatenate([getattr(self, name), getattr(fresh, name)]))

    def widen(self, width: int, copies: list[int]) -> None:
        """Make room for longer rows; columns named in `copies` were 1 in all rows so far."""
        more = width - self.width
        if more > 0:
            self.moments = np.pad(self.moments, ((0, 0), (0, 0), (0, more), (0, more)))
            self.cross = np.pad(self.cross, ((0, 0), (0, 0), (0, more)))
            self.theta = np.pad(self.theta, ((0, 0), (0, more)))
            self.inverse = np.pad(self.inverse, ((0, 0), (0, more), (0, more)))
            new = np.arange(width - more, width)
            self.inverse[:, new, new] = 1 / self.penalty[:, None]
        for column in copies:
            self.moments[:, :, column, :] = self.moments[:, :, 0, :]
            self.moments[:, :, :, column] = self.moments[:, :, :, 0]
            self.cross[:, :, column] = self.cross[:, :, 0]

    def add(self, arm: int, raw: FloatArray, reward: float) -> bool:
        """Count an observation; return whether the penalty of its arm is due to be chosen again."""
        if not self.n.any():
            self._origin = reward
        row = int(self.n[arm])
        fold = fold_ids(row, row + 1)[0]
        distance = reward - self._origin
        self.moments[arm, fold] += np.multiply.outer(raw, raw)
        self.cross[arm, fold] += raw * distance
        self.squares[arm, fold] += distance * distance
        self.n[arm] += 1
        return self._fixed is None and bool(self.n[arm] >= self.due[arm])

    def update(self, arm: int, x: FloatArray, reward: float) -> None:
        """Bring an arm up to date with an observation that was counted, the scale unchanged."""
        error = reward - self.centre - float(self.theta[arm] @ x)
        direction, growth = add_outer(self.inverse[arm], x)
        self.theta[arm] += direction * (error / growth)

    def remove(self, arm: int, raw: FloatArray, x: FloatArray, reward: float) -> bool:
        """Take out an observation that was counted; return whether the arm must be solved anew.

        Such an arm has as many rows as it may have, and its penalty is not chosen before all is
        learned anew. So only sums over folds matter, and any fold will do.
        """
        distance = reward - self._origin
        self.moments[arm, 0] -= np.multiply.outer(raw, raw)
        self.cross[arm, 0] -= raw * distance
        self.squares[arm, 0] -= distance * distance
        self.n[arm] -= 1
        error = reward - self.centre - float(self.theta[arm] @ x)
        direction = remove_outer(self.inverse[arm], x)
        if direction is None:
            return True
        self.theta[arm] -= direction * error
        return False

    def begin(self, origin: float, centre: float) -> None:
        """Count rewards from `origin`, the first one, and from `centre` in the models."""
        self._origin = origin
        self.centre = centre if self._centred else 0.0

    def count_many(self, arm: int, raw: FloatArray, rewards: FloatArray) -> None:
        """Count observations; the arm must be solved then."""
        first = int(self.n[arm])
        folds, distances = fold_ids(first, first + len(raw)), rewards - self._origin
        for fold in range(N_FOLDS):
            rows, own = raw[folds == fold], distances[folds == fold]
            self.moments[arm, fold] += rows.T @ rows
            self.cross[arm, fold] += own @ rows
            self.squares[arm, fold] += own @ own
        self.n[arm] += len(raw)

    def rebuild(self, from_raw: FromRaw) -> None:
        """Compute all arms for a new scale."""
        if self._centred:
            self.centre = self._origin + float(self.cross[..., 0].sum() / self.n.sum())
        for arm in range(len(self.n)):
            self.solve(arm, from_raw)

    def choose_penalty(self, arm: int, from_raw: FromRaw) -> None:
        """Cross-validate the penalty of an arm, and compute the arm for it."""
        self.penalty[arm] = GRID[self.errors(arm, from_raw).argmin()]
        self.due[arm] = grown(int(self.n[arm]), self._refresh)
        self.solve(arm, from_raw)

    def errors(self, arm: int, from_raw: FromRaw) -> FloatArray:
        """Return the held-out squared error of an arm for each penalty of `GRID`."""
        gram = from_raw(from_raw(self.moments[arm]).swapaxes(-1, -2))
        used = _used(gram.sum(axis=0))
        gram, cross = gram[:, used[:, None], used], from_raw(self.cross[arm])[:, used]
        size = len(used)
        # Per fold, one system for each penalty.
        systems = np.repeat((gram.sum(axis=0) - gram)[:, None], len(GRID), axis=1)
        systems[..., range(size), range(size)] += [penalties(amount, size) for amount in GRID]
        targets = cross + (self._origin - self.centre) * gram[..., 0]
        theta = np.linalg.solve(systems, (targets.sum(axis=0) - targets)[:, None, :, None])[..., 0]
        # Predictions, too, are counted from the first reward; the first column is the constant.
        theta[..., 0] += self.centre - self._origin
        predicted = ((theta @ gram) * theta).sum(axis=-1) - 2 * (theta @ cross[..., None])[..., 0]
        total: FloatArray = (predicted + self.squares[arm][:, None]).sum(axis=0)
        return total

    def solve(self, arm: int, from_raw: FromRaw) -> None:
        """Compute an arm from what is counted."""
        amount, raw = float(self.penalty[arm]), self.moments[arm].sum(axis=0)
        gram = from_raw(from_raw(raw).T)
        cross = self.cross[arm].sum(axis=0) + (self._origin - self.centre) * raw[0]
        used = _used(gram)
        block = np.ix_(used, used)
        system = gram[block] + np.diag(penalties(amount, self.width)[used])
        self.inverse[arm] = np.diag(1 / penalties(amount, self.width))
        self.inverse[arm][block] = symmetric_inverse(system, np.array(min(amount, 1.0)))
        self.theta[arm] = self.inverse[arm] @ from_raw(cross)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all numbers."""
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in ARRAYS}
        return {**arrays, "rewards_from": np.array([self._origin, self.centre])}

    def frozen_state(self) -> dict[str, NDArray[Any]]:
        """Return what estimates need, for a ridge that will not learn on."""
        return {name: getattr(self, name) for name in FROZEN} | {"centre": np.array(self.centre)}

    def restore_frozen(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Become a ridge that estimates as the one that `frozen_state` was taken from."""
        for name in FROZEN:
            setattr(self, name, arrays[name])
        self.centre = float(arrays["centre"])

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Become the ridge that `state` was taken from."""
        for name in ARRAYS:
            setattr(self, name, arrays[name].copy())
        self._origin, self.centre = arrays["rewards_from"].tolist()


def _used(gram: FloatArray) -> NDArray[np.int64]:
    """Return the columns in which some row of an arm is not 0, and the constant.

    The others have coefficients of 0. With categories there are many of them, since most arms see
    few categories.
    """
    used = gram.diagonal() > 0
    used[0] = True
    return np.flatnonzero(used)
