"""Finds out that arms pay less than they did, so that a policy can forget what came before.

Each arm has a CUSUM: the sum of log likelihood ratios of "it pays less than expected" against "it
pays as expected", kept from falling below 0. What is expected is what the policy expected before it
learned the reward, less by as much as this arm has fallen short of that so far: leaves and arms are
chosen for their high means, and pay a little less. If nothing has changed, the mean of the
exponential of each term is 1 at most, and so the mean number of observations up to a false alarm at
least the exponential of `LEVEL` (Lorden, 1971): 65 million.
"""

from collections.abc import Mapping, Sequence
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.policies.rewards import RewardKind

# An alarm is raised above it.
LEVEL = 18.0

# A rate above this one counts as this one, so that no single failure says too much.
_HIGHEST_RATE = 0.9

# Of continuous rewards, a fall by a quarter of a standard deviation is looked for. A reward says no
# more than one that is twice that deviation too low, so that `_SLACK` makes up for the exponential
# of what it says, whatever the law of the rewards: Bennett's inequality.
_FALL, _LOWEST = 0.25, 2.0
_SLACK = (np.expm1(_FALL * _LOWEST) - _FALL * _LOWEST) / _LOWEST**2

# Before an arm has so many rewards, their deviation is not known.
_LEAST = 10

# Differences from what is expected that are due to rounding, relative to the rewards.
_ROUNDING = 1e-9


class _Arm:
    """What an arm was expected to pay since the last change, and how far it fell short of that."""

    __slots__ = ("evidence", "expected", "n", "squares", "surplus")

    def __init__(self) -> None:
        self.n = self.expected = self.surplus = self.squares = self.evidence = 0.0

    def add(self, expected: float, reward: float) -> None:
        surplus = reward - expected
        self.n += 1
        self.expected += expected
        self.surplus += surplus
        self.squares += surplus * surplus

    def half_as_many(self, expected: float, reward: float) -> float:
        """Return what a binary reward says for half the rate of successes."""
        usual = min((self.expected + self.surplus + 1) / (self.expected + 1), 1.0)
        rate = min(expected * usual, _HIGHEST_RATE)
        return reward * log(0.5) + (1 - reward) * log((1 - rate / 2) / (1 - rate))

    def lower(self, expected: float, reward: float) -> float:
        """Return what a continuous reward says for a lower mean."""
        surplus = reward - expected
        negligible = abs(surplus) <= _ROUNDING * (abs(expected) + abs(reward))
        if self.n < _LEAST or self.squares == 0 or negligible:
            return 0.0
        usual = min(self.surplus / (self.n + _LEAST), 0.0)
        deviations = (surplus - usual) / sqrt(self.squares / self.n)
        return _FALL * min(-deviations, _LOWEST) - float(_SLACK)


class ChangeWatch:
    """Watches what the arms of a policy pay.

    Parameters
    ----------
    n_arms
        How many arms there are.
    reward
        The kind of rewards.

    Examples
    --------
    >>> watch = ChangeWatch(2, "binary")
    >>> for n in range(100):
    ...     assert watch.see(0, 0.5, n % 2, [n, 7]) is None
    >>> found = [watch.see(0, 0.5, 0, [n, 7]) for n in range(100, 150)]
    >>> next(kept for kept in found if kept)
    [45, 0]
    """

    def __init__(self, n_arms: int, reward: RewardKind) -> None:
        self._reward = reward
        self._arms = [_Arm() for _ in range(n_arms)]
        # Of arms for which something speaks, how many observations each arm had before.
        self._since: dict[int, list[int]] = {}
        self.changes: list[tuple[int, int]] = []  # at which observation, and by which arm

    def add_arm(self) -> None:
        """Begin with one more arm."""
        self._arms.append(_Arm())
        for counts in self._since.values():
            counts.append(0)

    def see(
        self, index: int, expected: float, reward: float, counts: Sequence[int]
    ) -> list[int] | None:
        """Take note of an arm's reward; return how many observations of each arm to keep.

        None: there is no change, and all are kept. `counts` is how many observations each arm had
        before this one.
        """
        arm = self._arms[index]
        says = arm.half_as_many if self._reward == "binary" else arm.lower
        arm.evidence = max(arm.evidence + says(expected, reward), 0.0)
        arm.add(expected, reward)
        if arm.evidence == 0:
            self._since.pop(index, None)
            return None
        before = self._since.setdefault(index, list(counts))
        if arm.evidence <= LEVEL:
            return None
        self.changes.append((sum(counts) + 1, index))
        self._arms = [_Arm() for _ in self._arms]
        self._since = {}
        kept = [n - then for n, then in zip(counts, before, strict=True)]
        kept[index] += 1
        return kept

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what is known of the arms."""
        numbers = [[getattr(arm, name) for name in _Arm.__slots__] for arm in self._arms]
        since = [self._since[index] for index in sorted(self._since)]
        return {
            "watch_arms": np.array(numbers),
            "watch_since": np.array(since, dtype=np.int64).reshape(len(since), len(self._arms)),
            "watch_changes": np.array(self.changes, dtype=np.int64).reshape(-1, 2),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]], counts: Sequence[int]) -> None:
        """Become the watch that `state` was taken from, if it was: older files have none."""
        if "watch_arms" not in arrays:
            return
        numbers, since, changes = (
            arrays[f"watch_{name}"] for name in ("arms", "since", "changes")
        )
        rising = np.flatnonzero(numbers[:, _Arm.__slots__.index("evidence")] > 0)
        if numbers.shape != (len(self._arms), len(_Arm.__slots__)) or not np.isfinite(numbers).all():
            raise ValueError("what is known of changes is not of these arms")
        if since.shape != (len(rising), len(counts)) or (since < 0).any() or (since > counts).any():
            raise ValueError("a change cannot have begun there")
        if changes.shape[1:] != (2,) or np.any((changes < 0) | (changes[:, 1:] >= len(counts))):
            raise ValueError("there is no such change")
        for arm, values in zip(self._arms, numbers.tolist(), strict=True):
            for name, value in zip(_Arm.__slots__, values, strict=True):
                setattr(arm, name, value)
        self._since = dict(zip(rising.tolist(), since.tolist(), strict=True))
        self.changes = [(n, index) for n, index in changes.tolist()]
