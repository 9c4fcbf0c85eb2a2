"""Checks on parameters, rewards and weights that the trees share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from banditree._checking import as_float, as_floats, as_real, shorten
from banditree.errors import BanditreeError, InvalidParameterError, InvalidRewardError
from banditree.types import FloatArray

# Beyond this, sums of cubes overflow.
LARGEST = 1e30


def check_alpha(alpha: Any) -> float:
    """Return a complexity parameter: a number from 0 up."""
    value = as_float(alpha)
    if not value >= 0:
        raise InvalidParameterError(
            f"alpha must be a number from 0 up, got {shorten(alpha)}; "
            "pruning_path().alphas lists the useful ones"
        )
    return value


def check_reward(reward: Any) -> float:
    """Return one reward as a float."""
    if type(reward) is float or type(reward) is int:
        value = float(reward) if -LARGEST <= reward <= LARGEST else float("nan")
    else:
        value = as_float(reward)
    if not -LARGEST <= value <= LARGEST:
        raise InvalidRewardError(
            f"a reward must be a finite number of at most {LARGEST:g} in size, "
            f"got {shorten(reward)}; {_reward_advice(reward, 'observations')}"
        )
    return value


def check_weight(weight: Any) -> float:
    """Return one weight as a float."""
    value = as_float(weight)
    if value != 0 and not 1 / LARGEST <= value <= LARGEST:
        raise InvalidParameterError(
            f"a weight must be 0 or between {1 / LARGEST:g} and {LARGEST:g}, "
            f"got {shorten(weight)}; 0 leaves the observation out"
        )
    return value


def check_rewards(rewards: Any, n_rows: int, name: str = "y") -> FloatArray:
    """Return one finite reward per row."""
    array = _one_per_row(rewards, n_rows, name, InvalidRewardError)
    wrong = np.flatnonzero(~(np.abs(array) <= LARGEST))
    if len(wrong):
        raise InvalidRewardError(
            f"rewards must be finite numbers of at most {LARGEST:g} in size, got "
            f"{array[wrong[0]]} in row {wrong[0]}; {_reward_advice(array[wrong[0]], 'rows')}"
        )
    return array


def _reward_advice(reward: Any, of_what: str) -> str:
    """Return what to do about a reward that is not a number: only a missing one can be left out."""
    not_a_number = isinstance(reward, float | np.floating) and reward != reward
    # By name, so that pandas need not be imported to recognise its NA.
    if reward is None or not_a_number or type(reward).__name__ == "NAType":
        return f"leave out {of_what} without a reward"
    if isinstance(reward, str | bytes):
        return "send a number, such as 1 for a success and 0 for a failure"
    return "send a finite number"


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
    array = as_floats(values)
    if array is None:
        raise error(
            f"{name} must be one number per context, got {_first_wrong(values)}; "
            "convert it to numbers"
        )
    if array.ndim != 1:
        raise error(
            f"{name} must be one-dimensional, one number per context, got {shorten(values)} of "
            f"shape {array.shape}; pass one column, for instance {name}.ravel()"
        )
    if len(array) != n_rows:
        raise error(f"{name} has {len(array)} entries for {n_rows} contexts; pass one per context")
    return array


def _first_wrong(values: Any) -> str:
    """Show the first element that is no number, and its row; all of it if it has no rows."""
    elements = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(elements, Sequence) and not isinstance(elements, str | bytes):
        for row, value in enumerate(elements):
            if as_real(value) is None:
                return f"{shorten(value)} in row {row}"
    return shorten(values)
