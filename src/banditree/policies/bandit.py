"""The policy for somebody with no opinion: an ensemble that shares what it learns between arms."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from banditree import _core
from banditree._checking import check_share
from banditree.errors import NotFittedError
from banditree.policies.arms import Indices
from banditree.policies.background import BesidePolicy, check_background
from banditree.policies.base import Arrays, Policy
from banditree.policies.beliefs import RecodeRows
from banditree.policies.explanation import ArmExplanation
from banditree.policies.parameters import PolicyParameters, check_window, with_parameters_of
from banditree.policies.rewards import RewardKind
from banditree.policies.tally import explain_leaf
from banditree.trees.imitation import Imitation
from banditree.types import A, FeatureName, FloatArray

# Rows that a fit reads: beyond, it would take longer and know little more.
_MOST_ROWS = 100_000
# Contexts on which the tree of an arm imitates what is expected of it.
_IMITATED = 4_000
# Features that the text of an explanation names.
_NAMED = 3


class Bandit(BesidePolicy[A]):
    """An ensemble on the observations of all arms: every observation helps to find the splits.

    Boosted trees and a forest whose splits all arms share, with a mean for each arm in every leaf,
    and a linear model of each arm. A stack weighs the three by what each predicted before it knew
    the reward. A decision draws each arm's mean reward from a law around what they say together, as
    narrow as the arm's observations in the leaves allow, and takes the largest draw.

    One tree for each arm, as in the paper, sees that arm's observations only. Where arms have
    something in common, sharing the splits makes more of them: over 10,000 steps of Covertype,
    Bandit has a regret of 2,632 ± 35 where `TreeHeuristic` has 3,270 ± 48, and on the digits of 351
    where it has 1,595 (docs/bandit.md has more, and what is not measured yet).

    Learners are fitted again each time the observations have grown by `refresh`; in between, the
    forest and the linear model learn every observation at once. A fit reads the last 100,000
    observations at most, of which each arm has as many as any other that has more, so that a fit
    takes as long after a million.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).
    refresh
        By which share observations grow until the learners are fitted again.
    window
        Only so many observations of each arm, the last ones, are in the next fit. What came before
        a change of what arms pay is forgotten at once (see `changes`). None: all count.
    background
        Fit the learners on a native thread, beside decisions and observations. Meanwhile the policy
        decides by the ones it has, which learn on; new ones learn what has come since, before they
        take over. What the policy believes then depends on how fast the machine is; after `wait`,
        only on what it has learned. Fits of fewer than 100 observations, and after a change, are in
        `learn`.

    Examples
    --------
    >>> policy = Bandit(["golf", "tennis"], seed=7)
    >>> people = [{"age": age, "city": "Berlin" if age % 3 else None} for age in range(20, 60)]
    >>> policy.learn_many(people, ["golf"] * 40, [person["age"] > 40 for person in people])
    >>> policy.learn_many(people, ["tennis"] * 40, [person["age"] <= 40 for person in people])
    >>> policy.decide({"age": 25, "city": "Berlin"})
    'tennis'
    >>> known = policy.explain({"age": 25, "city": "Berlin"})["tennis"]
    >>> max(known.contributions, key=lambda name: abs(known.contributions[name]))
    'age'
    """

    @with_parameters_of(Policy)
    def __init__(
        self,
        arms: Sequence[A],
        *,
        reward: RewardKind = "binary",
        refresh: float = 0.15,
        window: int | None = None,
        background: bool = False,
        **of_all: Unpack[PolicyParameters],
    ) -> None:
        self.refresh = check_share("refresh", refresh)
        self.window = check_window(window)
        self.background = check_background(background, refresh)
        super().__init__(arms, reward=reward, **of_all)

    def tree(self, arm: A) -> Imitation:
        """Return the small tree that imitates best what is expected of an arm.

        The policy itself has no tree for each arm. This one is grown, when asked for, on what is
        expected of the arm in contexts that were observed, and `fidelity` says how well it
        imitates that.
        """
        with self._lock:
            index = self._arms.index(arm)
            rows = self._core.rows()[0]
            if len(rows) < 2:
                raise NotFittedError(
                    "there are too few observations to grow a tree on; "
                    "learn(context, arm, reward) brings them"
                )
            rows = rows[:: -(-len(rows) // _IMITATED)]
            asked = np.array([index])
            means = np.array([self._core.expectations(row, asked)[0, 0] for row in rows])
            return Imitation._imitate(deepcopy(self._encoder), self.categorical, rows, means)

    def _engine(self) -> Any:
        binary = self.reward == "binary"
        limits = self.refresh, self.window, _MOST_ROWS, self._beside
        return _core.Ensemble(binary, *limits, self._entropy)

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        chances: FloatArray = self._core.propensities(row, eligible)
        return chances

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        means: FloatArray = self._core.expectations(row, eligible)[0]
        return means

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        if self._core.n_learned(arm) == 0:
            return explain_leaf(self.reward, "not tried yet", 0, 0, 0)
        mean, n = self._core.expectations(row, np.array([arm]))[:, 0].tolist()
        base, parts = self._core.attribution(row, arm)
        known = explain_leaf(self.reward, "", n, n * mean, n * self._core.variance)
        names = self._encoder.features
        moved = {names[i]: float(parts[i]) for i in np.argsort(-np.abs(parts)) if parts[i]}
        rule = ", ".join([f"base {base:.3f}", *_in_words(moved)])
        return replace(known, rule=rule, base=base, contributions=moved)

    def _frozen_state(self) -> Arrays:
        return {"beliefs": self._core.freeze().dump()}

    def _restore_frozen(self, arrays: Arrays) -> None:
        self._take_frozen(_core.EnsembleBeliefs.restore(arrays["beliefs"]))

    def _relearn(self, arrays: Arrays, recode: RecodeRows) -> None:
        former = self._engine()
        former.load(arrays["engine"])
        contexts, arms, rewards = former.rows()
        self._core.learn_many(arms, recode(contexts), rewards)


def _in_words(moved: Mapping[FeatureName, float]) -> Iterator[str]:
    """Yield what the features that moved the mean most add to it."""
    for name in list(moved)[:_NAMED]:
        yield f"{name} {moved[name]:+.3f}"
    rest = sum(list(moved.values())[_NAMED:])
    if len(moved) > _NAMED:
        yield f"{len(moved) - _NAMED} others {rest:+.3f}"
