"""The penalty of linear models: its values, and how cross-validation deals rows into folds."""

from math import inf
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from banditree._checking import shorten
from banditree.errors import InvalidParameterError
from banditree.types import FloatArray

Regularization: TypeAlias = float | Literal["cv"]

# What cross-validation chooses from, in the order in which ties are settled.
GRID = np.array([1.0, 4.0, 0.25, 16.0, 64.0, 256.0, 1024.0])
N_FOLDS = 5
# With fewer rows, the penalty is DEFAULT.
LEAST_ROWS = 10
DEFAULT = 1.0
# Taking a row out of an inverse multiplies rounding errors by up to one over this.
LEAST_LEFT = 1e-3


def check_scale(alpha: Any) -> float:
    """Return how much a confidence width counts: a number from 0 up."""
    value = _number(alpha)
    if not 0 <= value < inf:
        raise InvalidParameterError(
            f"alpha must be a number from 0 up, got {shorten(alpha)}; "
            "the larger it is, the more is tried out, and with 0 nothing is"
        )
    return value


def check_regularization(regularization: Any) -> Regularization:
    """Return a penalty, or "cv" for one by cross-validation."""
    if isinstance(regularization, str) and regularization == "cv":
        return "cv"
    value = _number(regularization)
    if not 0 < value < inf:
        raise InvalidParameterError(
            f'regularization must be "cv" or a number above 0, got {shorten(regularization)}; '
            '"cv" chooses one by cross-validation'
        )
    return value


def penalties(amount: float, width: int) -> FloatArray:
    """Return the penalty of each column: that of the constant, the first, is at most 1.

    A larger one would draw every estimate towards 0, however little the other columns matter.
    """
    values = np.full(width, amount)
    values[0] = min(amount, 1.0)
    return values


def fold_ids(start: int, stop: int) -> NDArray[np.int64]:
    """Return the folds of the rows from number `start` to `stop`, of one arm.

    The bits of the row number are mixed (the finaliser of the generator SplitMix64), so that folds
    follow from the log alone, and follow no rhythm in it.
    """
    bits = np.arange(start + 1, stop + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((bits ^ (bits >> np.uint64(31))) % np.uint64(N_FOLDS)).astype(np.int64)


def symmetric_inverse(matrices: FloatArray, least: FloatArray) -> FloatArray:
    """Return the inverses of symmetric matrices whose eigenvalues are at least `least`, one each.

    Rounding may leave a matrix with smaller eigenvalues, even singular, where penalties are tiny.
    """
    try:
        inverses = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrices)
        values = np.maximum(values, np.expand_dims(least, -1))
        inverses = (vectors / values[..., None, :]) @ vectors.swapaxes(-1, -2)
    # Rounding again: whatever is made of these by rank-one updates stays symmetric.
    result: FloatArray = (inverses + inverses.swapaxes(-1, -2)) / 2
    return result


def add_outer(inverse: FloatArray, x: FloatArray, weight: float = 1.0) -> tuple[FloatArray, float]:
    """Turn the inverse of A, in place, into that of A + weight x x' (Sherman and Morrison).

    Returns A⁻¹x and 1 + weight x'A⁻¹x, of the former A.
    """
    direction = inverse @ x
    growth = 1.0 + weight * float(x @ direction)
    scaled = direction * np.sqrt(weight / growth)
    inverse -= np.multiply.outer(scaled, scaled)
    return direction, growth


def remove_outer(inverse: FloatArray, x: FloatArray, weight: float = 1.0) -> FloatArray | None:
    """Turn the inverse of A, in place, into that of A − weight x x'; return the new A⁻¹x.

    Where rounding would tell, nothing is changed, and None returned.
    """
    direction = inverse @ x
    left = 1.0 - weight * float(x @ direction)
    if left < LEAST_LEFT:
        return None
    scaled = direction * np.sqrt(weight / left)
    inverse += np.multiply.outer(scaled, scaled)
    result: FloatArray = direction / left
    return result


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return float("nan")
    try:
        return float(value)
    except OverflowError:  # of a whole number
        return inf
