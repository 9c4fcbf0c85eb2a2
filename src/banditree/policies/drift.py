"""Finds out that arms pay less than they did, so that a policy can forget what came before.

Each arm has a CUSUM: the sum of log likelihood ratios of "it pays less than expected" against "it
pays as expected", kept from falling below 0; and so have all arms together, since often the whole
world changes. What is expected is what the policy expected before it learned the reward, less by as
much as this arm has fallen short of that so far: leaves and arms are chosen for their high means,
and pay a little less. If nothing has changed, the mean of the exponential of each term is 1 at
most, and so the mean number of observations up to a false alarm of a sum at least the exponential
of `LEVEL` (Lorden, 1971): 65 million.
"""

from collections.abc import Mapping, Sequence
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.policies.rewards import RewardKind

# An alarm is raised above it.
LEVEL = 18.0

# A rate above this one counts as this one, so that no single failure says too much: a policy that
# is sure of an arm, and wrong in contexts not seen for long, is not in another world.
_HIGHEST_RATE = 0.75

# Of continuous rewards, a fall by a quarter of a standard deviation is looked for. A reward says no
# more than one that is twice that deviation too low, so that `_SLACK` makes up for the exponential
# of what it says, whatever the law of the rewards: Bennett's inequality.
_FALL, _LOWEST = 0.25, 2.0
_SLACK = (np.expm1(_FALL * _LOWEST) - _FALL * _LOWEST) / _LOWEST**2

# In place of an arm, of a change that was seen in what all arms paid together.
_TOGETHER = -1

# Before an arm has so many rewards, their deviation is not known.
_LEAST = 10

# Differences from what is expected that are due to rounding, relative to the rewards.
_ROUNDING = 1e-9


class _Arm:
    """What an arm was expected to pay since the last change, and how far it fell short of that."""

    __slots__ = ("expected", "n", "squares", "surplus")

    def __init__(self) -> None:
        self.n = self.expected = self.surplus = self.squares = 0.0

    def add(self, expected: float, reward: float) -> None:
        surplus = reward - expected
        self.n += 1
        self.expected += expected
        self.surplus += surplus
        self.squares += surplus * surplus

    def half_as_many(self, expected: float, reward: float) -> float:
        """Return what a binary reward says for half the rate of successes."""
        # Priors expect too much of what pays rarely, and that must not count: there is no evidence
        # before the first success, and little as long as few successes were expected.
        usual = max(self.expected + self.surplus, 0.0) / (self.expected + 1)
        rate = min(expected * min(usual, 1.0), _HIGHEST_RATE)
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


class _Sum:
    """Evidence for a change, and how many observations each arm had when it began to gather."""

    __slots__ = ("evidence", "since")

    def __init__(self) -> None:
        self.evidence = 0.0
        self.since: list[int] = []

    def add(self, ratio: float, counts: Sequence[int]) -> list[int] | None:
        """Take in one more ratio; return `since` if there is a change."""
        if self.evidence == 0:
            self.since = list(counts)
        self.evidence = max(self.evidence + ratio, 0.0)
        return self.since if self.evidence > LEVEL else None


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
    >>> found = [watch.see(0, 0.5, 0, [n, 7]) for n in range(100, 200)]
    >>> next(kept for kept in found if kept)
    [67, 0]
    """

    def __init__(self, n_arms: int, reward: RewardKind) -> None:
        self._reward = reward
        self.changes: list[tuple[int, int]] = []  # after how many observations, and of which arm
        self._begin(n_arms)

    def _begin(self, n_arms: int) -> None:
        self._arms = [_Arm() for _ in range(n_arms)]
        self._sums = [_Sum() for _ in range(n_arms + 1)]  # the last one: of all arms together

    def add_arm(self) -> None:
        """Begin with one more arm."""
        self._arms.append(_Arm())
        self._sums.insert(-1, _Sum())
        for each in self._sums:
            each.since.append(0)

    def see(
        self, index: int, expected: float, reward: float, counts: Sequence[int]
    ) -> list[int] | None:
        """Take note of an arm's reward; return how many observations of each arm to keep.

        None: there is no change, and all are kept. `counts` is how many observations each arm had
        before this one.
        """
        arm = self._arms[index]
        says = arm.half_as_many if self._reward == "binary" else arm.lower
        ratio = says(expected, reward)
        arm.add(expected, reward)
        own = self._sums[index].add(ratio, counts)
        since = self._sums[-1].add(ratio, counts) if own is None else own
        if since is None:
            return None
        self.changes.append((sum(counts) + 1, _TOGETHER if own is None else index))
        self._begin(len(counts))
        kept = [n - before for n, before in zip(counts, since, strict=True)]
        kept[index] += 1
        return kept

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what is known of the arms."""
        numbers = [[getattr(arm, name) for name in _Arm.__slots__] for arm in self._arms]
        since = [each.since for each in self._sums if each.evidence > 0]
        return {
            "watch_arms": np.array(numbers),
            "watch_sums": np.array([each.evidence for each in self._sums]),
            "watch_since": np.array(since, dtype=np.int64).reshape(-1, len(self._arms)),
            "watch_changes": np.array(self.changes, dtype=np.int64).reshape(-1, 2),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]], counts: Sequence[int]) -> None:
        """Become the watch that `state` was taken from, if it was: older files have none."""
        if "watch_arms" not in arrays:
            return
        numbers, sums, since, changes = (
            arrays[f"watch_{name}"] for name in ("arms", "sums", "since", "changes")
        )
        n_arms, rising = len(counts), np.flatnonzero(sums > 0)
        _require(numbers.shape == (n_arms, len(_Arm.__slots__)), np.isfinite(numbers))
        _require(sums.shape == (n_arms + 1,), (sums >= 0) & (sums <= LEVEL))
        _require(since.shape == (len(rising), n_arms), (since >= 0) & (since <= counts))
        _require(changes.ndim == 2 and changes.shape[1] == 2, changes >= [[0, _TOGETHER]])
        _require(True, changes[:, 1] < n_arms)
        for arm, values in zip(self._arms, numbers.tolist(), strict=True):
            for name, value in zip(_Arm.__slots__, values, strict=True):
                setattr(arm, name, value)
        for i, before in zip(rising.tolist(), since.tolist(), strict=True):
            self._sums[i].evidence, self._sums[i].since = float(sums[i]), before
        self.changes = [(n, index) for n, index in changes.tolist()]


def _require(has_shape: bool, holds: NDArray[np.bool_]) -> None:
    if not has_shape or not holds.all():
        raise ValueError("what is known of changes is not of this policy")
