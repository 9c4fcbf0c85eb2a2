"""A loaded policy lives again through what was appended to its file."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from banditree.errors import StateError
from banditree.policies.base import Policy
from banditree.policies.beliefs import Arrays
from banditree.policies.foundation import restoring
from banditree.policies.rewards import check_many
from banditree.policies.saving import files


def replay(policy: Policy[Any], contents: Sequence[files.Content], source: str) -> None:
    """Do again what was appended, oldest first."""
    with restoring(source):
        for header, arrays in contents:
            _Reading(policy, arrays).follow(header["steps"])
            if policy._counts != header["counts"]:
                raise StateError(f"{source} has other counts of observations; load an intact copy")
            policy._resume_draws(header)


_TYPES = {"arms": "int64", "rewards": "float64", "rows": "float64"}


class _Reading:
    """Takes observations from arrays, step by step."""

    def __init__(self, policy: Policy[Any], arrays: Arrays) -> None:
        self._policy = policy
        self._arms, self._rewards, self._rows = (arrays[name] for name in _TYPES)
        for name, dtype in _TYPES.items():
            if arrays[name].ndim != 1 or arrays[name].dtype != dtype:
                raise ValueError(f"{name} are no list of {dtype}")

    def follow(self, steps: Sequence[Any]) -> None:
        for call, *given in steps:
            if call == "learn":
                self._learn(*given)
            elif call == "contexts":
                self._policy._encoder.commit_again(*given)
                self._policy._features_changed()
            elif call == "add_arm":
                self._policy.add_arm(*given)
            elif call == "remove_arm":
                self._policy.remove_arm(*given)
            else:
                raise ValueError(f"there is no step {call!r}")
        if len(self._arms) or len(self._rewards) or len(self._rows):
            raise ValueError("there are more observations than steps")

    def _learn(self, n: int, width: int) -> None:
        policy = self._policy
        arms, self._arms = self._arms[:n], self._arms[n:]
        rewards, self._rewards = self._rewards[:n], self._rewards[n:]
        cells, self._rows = self._rows[: n * width], self._rows[n * width :]
        rows = cells.reshape(n, width)
        if width != policy._encoder.n_features:
            raise ValueError("the contexts have other features")
        if np.any((arms < 0) | (arms >= len(policy._arms))):
            raise ValueError("there is no such arm")
        policy._encoder.check_finite(rows)
        policy._take_in(arms, rows, check_many(policy.reward, rewards, n))
