"""Checks on parameters, rewards and weights that the trees share."""

from typing import Any

import numpy as np

from banditree.errors import BanditreeError, InvalidParameterError, InvalidRewardError
from banditree.types import FloatArray

# Beyond this, sums of cubes overflow.
LARGEST = 1e30


def check_whole(name: str, value: Any, least: int) -> int:
    """Return a whole number that is at least `least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= value < 2**31:
        raise InvalidParameterError(
            f"{name} must be a whole number from {least} up, got {value!r}; "
            f"see the documentation of {name} for its meaning"
        )
    return int(value)


def check_alpha(alpha: Any) -> float:
    """Return a complexity parameter: a number from 0 up."""
    try:
        value = float(alpha)
    except (TypeError, ValueError):
        value = float("nan")
    if not value >= 0:
        raise InvalidParameterError(
            f"alpha must be at least 0, got {alpha!r}; pruning_path().alphas lists the useful ones"
        )
    return value


def check_reward(reward: Any) -> float:
    """Return one reward as a float."""
    if type(reward) is float or type(reward) is int:
        value = float(reward) if -LARGEST <= reward <= LARGEST else float("nan")
    else:
        value = _as_float(reward)
    if not -LARGEST <= value <= LARGEST:
        raise InvalidRewardError(
            f"a reward must be a finite number of at most {LARGEST:g} in size, got {reward!r}; "
            "leave out observations without a reward"
        )
    return value


def check_weight(weight: Any) -> float:
    """Return one weight as a float."""
    value = _as_float(weight)
    if value != 0 and not 1 / LARGEST <= value <= LARGEST:
        raise InvalidParameterError(
            f"a weight must be 0 or between {1 / LARGEST:g} and {LARGEST:g}, got {weight!r}; "
            "0 leaves the observation out"
        )
    return value


def check_rewards(rewards: Any, n_rows: int) -> FloatArray:
    """Return one finite reward per row."""
    array = _one_per_row(rewards, n_rows, "y", InvalidRewardError)
    wrong = np.flatnonzero(~(np.abs(array) <= LARGEST))
    if len(wrong):
        raise InvalidRewardError(
            f"rewards must be finite numbers of at most {LARGEST:g} in size, got "
            f"{array[wrong[0]]} in row {wrong[0]}; leave out rows without a reward"
        )
    return array


def check_weights(weights: Any, n_rows: int) -> FloatArray | None:
    """Return one weight per row, not all 0; None if none were given."""
    if weights is None:
        return None
    array = _one_per_row(weights, n_rows, "weights", InvalidParameterError)
    fine = (array == 0) | ((array >= 1 / LARGEST) & (array <= LARGEST))
    wrong = np.flatnonzero(~fine)
    if len(wrong):
        raise InvalidParameterError(
            f"weights must be 0 or between {1 / LARGEST:g} and {LARGEST:g}, got "
            f"{array[wrong[0]]} in row {wrong[0]}; 0 leaves a row out"
        )
    return array


def _one_per_row(values: Any, n_rows: int, name: str, error: type[BanditreeError]) -> FloatArray:
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf" and len(array):
            array = np.array([float(value) for value in array])
        array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise error(
            f"{name} must be one number per context, got {_shown(values)}; convert it to numbers"
        ) from None
    if array.ndim != 1 or np.ndim(values) == 0:
        raise error(
            f"{name} must be one-dimensional, one number per context, got shape "
            f"{np.shape(values)}; pass one column, for instance {name}.ravel()"
        )
    if len(array) != n_rows:
        raise error(f"{name} has {len(array)} entries for {n_rows} contexts; pass one per context")
    return array


def _as_float(value: Any) -> float:
    if isinstance(value, str | bytes) or np.ndim(value) != 0:
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
