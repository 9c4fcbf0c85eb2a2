"""The paper's TreeHeuristic: Thompson sampling in the leaves of one tree per arm."""

from collections.abc import Sequence
from typing import Any, Unpack

from banditree import _core
from banditree._checking import check_share
from banditree.policies.arms import Indices
from banditree.policies.background import check_background
from banditree.policies.explanation import ArmExplanation
from banditree.policies.parameters import check_window, with_parameters_of
from banditree.policies.posterior import (
    Evidence,
    Overall,
    check_prior,
    expected,
    win_probabilities,
)
from banditree.policies.refreshed import RefreshedPolicy
from banditree.policies.rewards import RewardKind
from banditree.policies.tally import explain_leaf
from banditree.policies.tree_policy import TreeParameters, TreePolicy
from banditree.trees import Tree
from banditree.types import A, FloatArray


class TreeHeuristic(RefreshedPolicy[A]):
    """One tree per arm on all its observations; a decision draws from the leaves (Algorithm 3).

    An arm's tree is the one that `Tree` grows on its observations, pruned, as of the last time they
    had grown by `refresh`; the counts in its leaves are always those of all observations. A
    decision finds the leaf of the context in each arm's tree, draws the arm's mean reward from what
    the leaf says, and takes the arm of the largest draw. Binary rewards: from Beta(successes in the
    leaf + S0, failures + F0). Continuous rewards: from a Student law whose prior is worth one
    observation at the mean and variance of all rewards so far, and that is wide where an arm paid
    rarely or never, so that such an arm is not given up for its zeros.

    The paper leaves open when the size of a tree is chosen. Here its complexity alpha is
    cross-validated again each time the arm's observations have grown by a quarter.

    The fastest of the tree policies, and the one to begin with: a decision takes microseconds and
    grows nothing; an observation takes microseconds too, but for those at which a tree is grown
    anew.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).
    prior
        S0 and F0, the successes and failures that every leaf starts with. Continuous
        rewards have none: any other than (1, 1) is refused.
    refresh
        By which share an arm's observations grow until its tree is grown anew. 0: the tree is the
        one of all observations after each of them, at several times the cost.
    window
        How many observations of each arm count: the latest ones, so that the policy follows a
        world that changes, and its memory stays bounded. None: all count. An observation that
        falls out of the window leaves the counts at once, and the trees when they are grown anew.
        What came before a change of what arms pay is forgotten too (see `changes`).
    background
        Grow trees on a native thread of their own, beside decisions and observations (see
        `RefreshedPolicy`).
    min_split, min_leaf, max_depth, max_bins, folds
        How trees are grown and pruned (see `TreePolicy`).

    Examples
    --------
    >>> policy = TreeHeuristic(["golf", "tennis"], seed=7)
    >>> for age in range(20, 60):
    ...     context = {"age": age, "city": "Berlin" if age % 3 else None}
    ...     policy.learn(context, "golf", reward=age > 40)
    ...     policy.learn(context, "tennis", reward=age <= 40)
    >>> policy.decide({"age": 25, "city": "Berlin"})
    'tennis'
    >>> print(policy.explain({"age": 25, "city": "Berlin"}))
    arm     mean   interval         n  rule
    tennis  1.000  0.839 to 1.000  21  age ≤ 40.5
    golf    0.000  0.000 to 0.161  21  age ≤ 40.5
    """

    @with_parameters_of(TreePolicy)
    def __init__(
        self,
        arms: Sequence[A],
        *,
        reward: RewardKind = "binary",
        prior: tuple[float, float] = (1.0, 1.0),
        refresh: float = 0.05,
        window: int | None = None,
        background: bool = False,
        **of_trees: Unpack[TreeParameters],
    ) -> None:
        self.prior = check_prior(prior, reward)
        self.refresh = check_share("refresh", refresh)
        self.window = check_window(window)
        self.background = check_background(background, refresh)
        super().__init__(arms, reward=reward, **of_trees)

    def tree(self, arm: A) -> Tree:
        """Return the arm's tree as it is now, pruned."""
        with self._lock:
            return self._tree(self._arms.index(arm))

    def _engine(self) -> Any:
        return _core.TreeHeuristic(*self._engine_settings)

    def _evidence(self, row: FloatArray, eligible: Indices) -> Evidence:
        n, mean, squared_error, lowest, highest = self._core.spread
        overall = Overall(mean, squared_error / max(n, 1), lowest, highest)
        counts, total, errors = self._core.evidence(row, eligible)
        return Evidence(counts, total, errors, overall)

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return win_probabilities(self.reward, self._evidence(row, eligible), self.prior)

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return expected(self.reward, self._evidence(row, eligible), self.prior)

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        if self._is_untried(arm):
            return explain_leaf(self.reward, "always", 0, 0, 0)
        return self._explain_leaf(arm, row)
