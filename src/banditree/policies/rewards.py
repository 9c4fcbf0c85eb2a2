"""Checks on rewards."""

from typing import Any, Literal, TypeAlias

import numpy as np

from banditree._checking import check_choice, shorten
from banditree.errors import InvalidRewardError
from banditree.trees.inputs import check_reward, check_rewards
from banditree.types import FloatArray

RewardKind: TypeAlias = Literal["binary", "continuous"]


def check_kind(kind: Any) -> RewardKind:
    """Return a kind of reward."""
    checked: RewardKind = check_choice("reward", kind, RewardKind)
    return checked


def check_one(kind: RewardKind, reward: Any) -> float:
    """Return one reward as a float."""
    value = check_reward(reward)
    if kind == "binary" and not 0 <= value <= 1:
        raise _outside(shorten(reward))
    return value


def check_many(kind: RewardKind, rewards: Any, n_rows: int) -> FloatArray:
    """Return one reward per row."""
    array = check_rewards(rewards, n_rows, "rewards")
    if kind == "binary":
        wrong = np.flatnonzero((array < 0) | (array > 1))
        if len(wrong):
            raise _outside(f"{array[wrong[0]]:g} in row {wrong[0]}")
    return array


def _outside(shown: str) -> InvalidRewardError:
    return InvalidRewardError(
        f"a binary reward must lie between 0 and 1, got {shown}; "
        'make the policy with reward="continuous" for other rewards'
    )
