"""LinUCB: a ridge regression per arm, and optimism."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from banditree.policies.arms import Indices
from banditree.policies.base import Arrays
from banditree.policies.linear.columns import grown
from banditree.policies.linear.confidence import ConfidencePolicy, squared_norms
from banditree.policies.linear.design import Design
from banditree.policies.linear.last_rows import LastRows
from banditree.policies.linear.relearning import BLOCK, Relearning
from banditree.policies.linear.ridge import Ridge
from banditree.types import A, FloatArray


class LinUCB(ConfidencePolicy[A]):
    """LinUCB with one model per arm (Li et al., 2010), its penalty by cross-validation.

    An arm's bound is x'θ + α √(x'A⁻¹x), with A = X'X + Λ, θ = A⁻¹X'r, X the arm's rows and r their
    rewards; the arm of the largest bound is taken. x is 1, then numbers, standardised, and one
    bit per common category, 0 or 1. Λ is λ on the diagonal, but at most 1 for the constant.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).
    alpha
        How much the width counts, in units of the reward. The best value differs between tasks.
    regularization
        λ; "cv" to choose one per arm, each time its observations have grown by `refresh`, from 0.25
        to 1024 by their squared error in 5-fold cross-validation; 1 until there are 10.
    refresh
        By which share observations grow until means, scales and λ are computed anew. 0: after every
        observation, at many times the cost.
    window
        Only so many observations of each arm, the last ones, count, so that the policy follows a
        world that changes. None: all count. An observation that falls out of the window leaves θ
        and A at once; means, scales, bits and λ follow each time a share `refresh` of what counts
        is new. The policy is then the one that has learned what is in the window and nothing else.
        What came before a change of what arms pay is forgotten too (see `changes`).

    Notes
    -----
    - An arm without observations has an infinite bound: it is tried first.
    - Binary rewards: `expected_rewards` and `explain` cut estimates and intervals at 0 and 1;
      decisions compare the bounds as they are. Continuous rewards count from their mean
      over all arms, renewed with the scale, so that an arm of few observations is expected to be
      like the others, not to be worth 0.
    - The interval that `explain` returns is estimate ± width, not one of 95 %.
    - A missing number counts as its mean, before as after a change of the mean; a missing or rare
      category has no bit: one seen only once, or in less than 1 % of the contexts so far. A
      feature that appears late was missing before.
    - Means and scales are those of all contexts learned from, of all arms, at the last renewal:
      each time there were more by `refresh`, or when a column began to vary or left its range.
    - Without a window no rows are kept: memory grows with arms × columns², columns being numbers
      and bits.

    Examples
    --------
    >>> policy = LinUCB(["golf", "tennis"], seed=1)
    >>> ages = [20, 30, 40, 50] * 10
    >>> policy.learn_many([[age] for age in ages], ["golf", "tennis"] * 20, [0, 1, 1, 0] * 10)
    >>> policy.decide([22]), policy.decide([45])
    ('tennis', 'golf')
    """

    _link: ClassVar[str] = "linear"

    def _start(self) -> None:
        self._design = Design(self.refresh)
        self._ridge = self._new_ridge()
        self._last = None if self.window is None else LastRows(len(self._arms), self.window)

    def _new_ridge(self) -> Ridge:
        n_arms, width = len(self._arms), self._design.width
        centred = self.reward == "continuous"
        return Ridge(n_arms, width, self.regularization, centred, self.refresh)

    def _add_arm(self) -> None:
        self._ridge.add_arm()
        if self._last is not None:
            self._last.add_arm()

    def _learn(self, arm: int, row: FloatArray, reward: float) -> None:
        design, ridge, last = self._design, self._ridge, self._last
        place = design.n
        renewed, copies = design.learn(row)
        left = None if last is None else last.push(arm, row, reward, place)
        if last is not None and last.overflowed and renewed:
            self._learn_window(last)
            return
        ridge.widen(design.width, copies)
        rough = left is not None and self._forget(arm, *left)
        due = ridge.add(arm, design.raw(row), reward)
        if renewed:
            ridge.rebuild(design.from_raw)
        elif rough:
            ridge.solve(arm, design.from_raw)
        elif not due:
            ridge.update(arm, design.standardise(row), reward)
        if due:
            ridge.choose_penalty(arm, design.from_raw)

    def _forget(self, arm: int, row: FloatArray, reward: float, place: int) -> bool:
        """Take out what has fallen out of the window; return whether the arm must be solved."""
        (known,) = self._design.known_many(row[None], np.array([place]))
        raw, x = self._design.raw(known), self._design.standardise(known)
        return self._ridge.remove(arm, raw, x, reward)

    def _learn_window(self, last: LastRows) -> None:
        kept = last.kept()
        self._design = Design(self.refresh)
        self._features_changed()
        lesson = Relearning(self._design, kept)
        chosen = {}
        for arm, _ in lesson.learn_all(self.regularization == "cv", self.refresh):
            trial = self._counted(lesson, [arm])
            trial.choose_penalty(arm, self._design.from_raw)
            chosen[arm] = trial.penalty[arm], trial.due[arm]
        self._ridge = self._counted(lesson, range(len(self._arms)))
        for arm, (penalty, due) in chosen.items():
            self._ridge.penalty[arm], self._ridge.due[arm] = penalty, due
        for arm in range(len(self._arms)):
            self._ridge.solve(arm, self._design.from_raw)
        self._design.due = grown(len(kept.rows), self.refresh)
        last.begin_again(kept)

    def _counted(self, lesson: Relearning, arms: Sequence[int]) -> Ridge:
        """Return a ridge that has counted what is learned of some arms."""
        ridge = self._new_ridge()
        ridge.begin(lesson.first_reward, lesson.mean_reward)
        for arm in arms:
            rows, rewards = lesson.of_arm(arm)
            for start in range(0, len(rows), BLOCK):
                block = slice(start, start + BLOCK)
                ridge.count_many(arm, self._design.raw_many(rows[block]), rewards[block])
        return ridge

    def _estimates(self, row: FloatArray, eligible: Indices) -> tuple[FloatArray, FloatArray]:
        x, ridge = self._design.standardise(row), self._ridge
        widths = self.alpha * np.sqrt(squared_norms(ridge.inverse, x, eligible))
        widths[ridge.n[eligible] == 0] = np.inf
        return ridge.centre + (ridge.theta @ x)[eligible], widths

    def _n_learned(self, arm: int) -> int:
        return int(self._ridge.n[arm])

    def _state(self) -> Arrays:
        last = {} if self._last is None else self._last.state()
        return {**self._design.state(), **self._ridge.state(), **last}

    def _frozen_state(self) -> Arrays:
        return {**self._design.frozen_state(), **self._ridge.frozen_state()}

    def _restore_frozen(self, arrays: Arrays) -> None:
        self._design.restore(arrays)
        self._ridge.restore_frozen(arrays)

    def _restore(self, arrays: Arrays) -> None:
        self._design.restore(arrays)
        self._ridge.restore(arrays)
        if self._last is not None:
            self._last.restore(arrays)
