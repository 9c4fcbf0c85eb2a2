"""Observations learned again from the first on, many at a time, by a design of linear models."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from banditree.policies.linear.columns import first_common, grown
from banditree.policies.linear.design import Design
from banditree.policies.linear.last_rows import Observations
from banditree.policies.linear.penalty import LEAST_ROWS
from banditree.types import FloatArray

# So many rows at most are turned into design rows at once: memory.
BLOCK = 4096


class Relearning:
    """Teaches a new design, which knows its features, as learning one by one would.

    Only what a row changes by itself is done row by row: a new column, a new scale. What lies
    between is summed up at once. Observations are in the order in which they came.
    """

    def __init__(self, design: Design, observations: Observations) -> None:
        self._design = design
        self._all = observations
        self._places = np.arange(len(observations.rows))
        self._n = 0
        self._marked = self._rows_with_new_columns()
        self._renewed_at = 0

    @property
    def first_reward(self) -> float:
        """The reward of the first observation."""
        return float(self._all.rewards[0])

    @property
    def mean_reward(self) -> float:
        """Mean of the rewards up to the last renewal of the scale."""
        return float(self._all.rewards[: self._renewed_at].mean())

    def of_arm(self, arm: int) -> tuple[FloatArray, FloatArray]:
        """Return what is learned so far of an arm: rows, as they were known then, and rewards."""
        own = np.flatnonzero(self._all.arms[: self._n] == arm)
        return self._design.known_many(self._all.rows[own], own), self._all.rewards[own]

    def learn_all(self, chooses: bool, refresh: float) -> Iterator[tuple[int, int]]:
        """Learn; stop where the penalty of an arm was chosen last, and yield it and its n there."""
        stops = []
        for arm in np.unique(self._all.arms).tolist() if chooses else []:
            own = np.flatnonzero(self._all.arms == arm)
            due = last_choice(len(own), refresh)
            if due > 0:
                stops.append((int(own[due - 1]) + 1, arm, due))
        for stop, arm, due in sorted(stops):
            self._learn_until(stop)
            yield arm, due
        self._learn_until(len(self._all.rows))

    def _rows_with_new_columns(self) -> NDArray[np.int64]:
        """Return the rows at which the design gets a column, and the end."""
        marked = {len(self._all.rows)}
        for feature, is_category in enumerate(self._design.is_category):
            values = self._all.rows[:, feature]
            missing = np.isnan(values)
            if is_category:
                marked.update(first_common(values))
            elif not missing.all():
                # The first row of all needs no column for those before that lack the number.
                first = int(missing.argmin())
                marked.add(first)
                if first == 0 and missing.any():
                    marked.add(int(missing.argmax()))
        return np.array(sorted(marked))

    def _learn_until(self, stop: int) -> None:
        design, rows = self._design, self._all.rows
        while self._n < stop:
            quiet = self._quiet_until(stop)
            if quiet > self._n:
                design.learn_quietly(rows[self._n : quiet])
                self._n = quiet
            else:
                renewed = design.learn(rows[self._n]).renewed
                self._n += 1
                if renewed:
                    self._renewed_at = self._n

    def _quiet_until(self, stop: int) -> int:
        """Return up to where no row changes more than sums."""
        marked = int(self._marked[np.searchsorted(self._marked, self._n)])
        end = min(stop, marked, self._design.due - 1, self._n + BLOCK)
        if end <= self._n:
            return self._n
        loud = self._design.changes_scale(self._all.rows[self._n : end])
        return self._n + int(loud.argmax()) if loud.any() else end


def last_choice(n: int, refresh: float) -> int:
    """Return at how many of n observations the penalty of an arm was chosen last; 0 for never."""
    due = LEAST_ROWS
    if n < due:
        return 0
    while grown(due, refresh) <= n:
        due = grown(due, refresh)
    return due
