"""Counts of each arm's rewards, and the laws that follow from them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree import _core
from banditree.policies.explanation import ArmExplanation, binary_interval, continuous_interval
from banditree.policies.posterior import Overall
from banditree.policies.rewards import RewardKind
from banditree.types import FloatArray

# Differences of equal rewards from their mean, relative to the rewards.
_ROUNDING = 1e-12


class Tally:
    """Number, sum and squared error around the mean of each arm's rewards.

    With a window, those of the last rewards of each arm only.

    Examples
    --------
    >>> tally = Tally(2)
    >>> tally.add(0, 1.0)
    >>> tally.add(0, 3.0)
    >>> tally.n, tally.total, tally.squared_error
    (array([2., 0.]), array([4., 0.]), array([2., 0.]))
    """

    def __init__(self, n_arms: int, window: int | None = None) -> None:
        self._window = window
        self._clear(n_arms)

    def _clear(self, n_arms: int) -> None:
        self.n, self.total, self.squared_error = np.zeros((3, n_arms))
        self.lowest = self.highest = 0.0  # of all rewards
        self._last = [
            _core.RewardWindow() for _ in range(n_arms)
        ]  # without a window, they stay empty

    @property
    def mean(self) -> FloatArray:
        """Mean reward of each arm; 0 without one."""
        return self.total / np.maximum(self.n, 1)

    def add_arm(self) -> None:
        """Begin to count for one more arm."""
        self.n, self.total, self.squared_error = (
            np.append(array, 0.0) for array in (self.n, self.total, self.squared_error)
        )
        self._last.append(_core.RewardWindow())

    def add(self, arm: int, reward: float) -> None:
        """Count one reward."""
        none_yet = not self.n.any()
        self.lowest = reward if none_yet else min(self.lowest, reward)
        self.highest = reward if none_yet else max(self.highest, reward)
        before = reward - self.total[arm] / max(self.n[arm], 1)
        self.n[arm] += 1
        self.total[arm] += reward
        # Equal rewards have no squared error, not even by rounding: none of them is a payoff.
        if self.n[arm] > 1 and abs(before) > _ROUNDING * abs(reward):
            self.squared_error[arm] += before * (reward - self.total[arm] / self.n[arm])
        if self._window is not None:
            left = self._last[arm].push(reward, self._window)
            if left is not None:
                self._remove(arm, left)

    def _remove(self, arm: int, reward: float) -> None:
        """Take a reward that has fallen out of the window out of the counts."""
        before = reward - self.total[arm] / self.n[arm]
        self.n[arm] -= 1
        self.total[arm] -= reward
        error = self.squared_error[arm] - before * (reward - self.total[arm] / self.n[arm])
        lowest, highest = self._last[arm].range()
        self.squared_error[arm] = max(error, 0.0) if lowest < highest else 0.0
        ranges = [last.range() for last in self._last if len(last)]
        self.lowest = min(low for low, _ in ranges)
        self.highest = max(high for _, high in ranges)

    def keep_last(self, counts: Sequence[int]) -> None:
        """Keep only so many of the last rewards of each arm; of a tally with a window."""
        last = [window.rewards() for window in self._last]
        self._clear(len(last))
        for arm, (rewards, count) in enumerate(zip(last, counts, strict=True)):
            for reward in rewards[len(rewards) - min(count, len(rewards)) :].tolist():
                self.add(arm, reward)

    def overall(self) -> Overall:
        """Return what is known of all rewards."""
        n = self.n.sum()
        if n == 0:
            return Overall()
        mean = self.total.sum() / n
        between = (self.n * (self.mean - mean) ** 2).sum()
        variance = (self.squared_error.sum() + between) / n
        return Overall(float(mean), float(variance), self.lowest, self.highest)

    def explain(self, arm: int, kind: RewardKind) -> ArmExplanation:
        """Return what is known of an arm, whatever the context."""
        values = (float(array[arm]) for array in (self.n, self.total, self.squared_error))
        return explain_leaf(kind, "always", *values)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the counts."""
        counts = {"n": self.n, "total": self.total, "squared_error": self.squared_error}
        if self._window is not None:
            counts |= {f"last_{i}": last.rewards() for i, last in enumerate(self._last)}
        return counts | {"range": np.array([self.lowest, self.highest])}

    def frozen_state(self) -> dict[str, NDArray[Any]]:
        """Return the counts, for a tally that will not count on: without the last rewards."""
        none = {name: np.empty(0) for name in self.state() if name.startswith("last_")}
        return self.state() | none

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the counts of as many arms."""
        n, total, squared_error = arrays["n"], arrays["total"], arrays["squared_error"]
        if not n.shape == total.shape == squared_error.shape == self.n.shape:
            raise ValueError("counts of another number of arms")
        self.n, self.total, self.squared_error = n, total, squared_error
        self.lowest, self.highest = arrays["range"].tolist()
        if self._window is not None:
            for i, last in enumerate(self._last):
                for reward in arrays[f"last_{i}"].tolist():
                    last.push(reward, self._window)


def explain_leaf(
    kind: RewardKind, rule: str, n: float, total: float, squared_error: float
) -> ArmExplanation:
    """Return what n rewards of this sum and squared error say, observed where the rule holds."""
    mean = total / n if n else float("nan")
    if kind == "binary":
        interval = binary_interval(total, n)
    else:
        interval = continuous_interval(mean, squared_error / max(n - 1, 1), n)
    return ArmExplanation(rule, round(n), mean, interval)
