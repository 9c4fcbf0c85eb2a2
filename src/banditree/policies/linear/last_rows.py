"""The last observations of each arm, in the order in which they came."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from banditree.policies.linear.columns import grown
from banditree.types import FloatArray


class Observations(NamedTuple):
    """Encoded rows, and of each its reward, its arm, and how many had come before."""

    rows: FloatArray
    rewards: FloatArray
    arms: NDArray[np.int64]
    places: NDArray[np.int64]


class LastRows:
    """A window over the observations of each arm.

    Parameters
    ----------
    n_arms
        How many arms there are.
    most
        How many observations of each arm are kept.

    Examples
    --------
    >>> last = LastRows(2, 1)
    >>> last.push(0, np.array([7.0]), 1.0, place=0)
    >>> last.push(0, np.array([8.0]), 0.0, place=1)
    (array([7.]), 1.0, 0)
    >>> last.kept().rows
    array([[8.]])
    """

    def __init__(self, n_arms: int, most: int) -> None:
        self._most = most
        self.overflowed = False  # whether anything has ever fallen out
        self._n = 0
        self._all = Observations(np.empty((0, 0)), np.empty(0), *np.empty((2, 0), dtype=np.int64))
        # Per arm, where in `_all` its observations are. Others are there that have fallen out.
        self._own: list[deque[int]] = [deque() for _ in range(n_arms)]

    def add_arm(self) -> None:
        """Begin with one more arm."""
        self._own.append(deque())

    def push(
        self, arm: int, row: FloatArray, reward: float, place: int
    ) -> tuple[FloatArray, float, int] | None:
        """Keep an observation; return row, reward and place of the one that falls out, if any."""
        self._reserve(self._n + 1, len(row))
        rows, rewards, arms, places = self._all
        rows[self._n], rewards[self._n] = row, reward
        arms[self._n], places[self._n] = arm, place
        self._own[arm].append(self._n)
        self._n += 1
        if len(self._own[arm]) <= self._most:
            return None
        self.overflowed = True
        at = self._own[arm].popleft()
        return rows[at], float(rewards[at]), int(places[at])

    def keep_last(self, counts: Sequence[int]) -> None:
        """Let all of each arm fall out but so many, the last ones."""
        for own, count in zip(self._own, counts, strict=True):
            while len(own) > count:
                own.popleft()
        self.overflowed = True

    def kept(self) -> Observations:
        """Return all that have not fallen out."""
        at = np.sort(np.concatenate([np.array(own, dtype=np.int64) for own in self._own]))
        return Observations(*(array[at] for array in self._all))

    def begin_again(self, kept: Observations) -> None:
        """Keep these and no others; they are numbered from 0 now."""
        self._n = len(kept.rows)
        self._all = kept._replace(places=np.arange(self._n))
        self._find_own()

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what is kept."""
        arrays = {f"last_{name}": array for name, array in self.kept()._asdict().items()}
        return {**arrays, "last_overflowed": np.array(self.overflowed)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep what `state` was taken from."""
        self._all = Observations(*(arrays[f"last_{name}"] for name in Observations._fields))
        self._n = len(self._all.rows)
        self.overflowed = bool(arrays["last_overflowed"])
        self._find_own()

    def _find_own(self) -> None:
        arms = self._all.arms
        self._own = [deque(np.flatnonzero(arms == arm).tolist()) for arm in range(len(self._own))]

    def _reserve(self, n: int, n_features: int) -> None:
        rows, *others = self._all
        more_rows = grown(n, 0.25) + 8 - len(rows) if n > len(rows) else 0
        more_features = max(n_features - rows.shape[1], 0)
        if more_rows or more_features:
            # A feature that appears late was missing before.
            room = ((0, more_rows), (0, more_features))
            rows = np.pad(rows, room, constant_values=np.nan)
            self._all = Observations(rows, *(np.pad(array, (0, more_rows)) for array in others))
