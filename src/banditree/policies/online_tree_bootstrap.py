"""The paper's online bootstrap: many trees per arm, each on a random half."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Unpack

import numpy as np

from banditree import _core
from banditree._checking import check_share, check_whole
from banditree.errors import InvalidParameterError
from banditree.policies.arms import Indices
from banditree.policies.background import check_background
from banditree.policies.choosing import share_of_largest
from banditree.policies.explanation import ArmExplanation
from banditree.policies.parameters import check_window, with_parameters_of
from banditree.policies.posterior import check_prior
from banditree.policies.refreshed import RefreshedPolicy
from banditree.policies.rewards import RewardKind
from banditree.policies.tally import explain_leaf
from banditree.policies.tree_policy import TreeParameters, TreePolicy
from banditree.trees import Tree
from banditree.types import A, FloatArray


class OnlineTreeBootstrap(RefreshedPolicy[A]):
    """Several trees per arm, each on a random half of its observations (section 5.3).

    Every observation enters each of an arm's replicas with probability one half, independently. A
    decision draws one replica per arm, independently, and takes the arm whose replica predicts
    most, ties at random. Arms never tried come first, in random order; an arm counts as tried once
    a replica has an observation of it. Unlike `TreeBootstrap` a decision does not touch the data,
    and unlike `TreeHeuristic` the uncertainty about the splits is drawn too.

    The paper leaves open how replicas are pruned and what an empty one says. Here all replicas of
    an arm are pruned at the complexity cross-validated on all its observations (halved, since cost
    is a sum), chosen again each time they have grown by a quarter, and use the bins of all its
    observations, which are stored once. A leaf predicts (successes + S0)
    / (n + S0 + F0), as in Eckles and Kaptein, so that no arm is dropped for early failures;
    continuous rewards: the mean of the leaf and one observation at the mean of all rewards.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).
    replicas
        Trees per arm. Few of them freeze exploration; time and memory grow with their number.
    refresh
        A replica's tree is grown anew each time its observations have grown by this share; in
        between its splits stay, and observations are counted in its leaves at once. 0: after every
        observation.
    window
        How many observations of each arm count: the latest ones; others are not stored. None:
        all count. An observation that falls out of the window leaves the counts at once; all trees
        of the arm are grown anew each time a share `refresh` of the window is new. What came before
        a change of what arms pay is forgotten too (see `changes`).
    background, prior
        As for `TreeHeuristic`.
    min_split, min_leaf, max_depth, max_bins, folds
        How trees are grown and pruned (see `TreePolicy`).

    Examples
    --------
    >>> policy = OnlineTreeBootstrap(["golf", "tennis"], seed=7)
    >>> for age in range(20, 60):
    ...     policy.learn({"age": age}, "golf", reward=age > 40)
    ...     policy.learn({"age": age}, "tennis", reward=age <= 40)
    >>> policy.decide({"age": 25})
    'tennis'
    """

    @with_parameters_of(TreePolicy)
    def __init__(
        self,
        arms: Sequence[A],
        *,
        reward: RewardKind = "binary",
        replicas: int = 50,
        refresh: float = 0.05,
        window: int | None = None,
        background: bool = False,
        prior: tuple[float, float] = (1.0, 1.0),
        **of_trees: Unpack[TreeParameters],
    ) -> None:
        self.replicas = check_whole("replicas", replicas, 1)
        self.refresh = check_share("refresh", refresh)
        self.window = check_window(window)
        self.background = check_background(background, refresh)
        self.prior = check_prior(prior, reward)
        super().__init__(arms, reward=reward, **of_trees)

    def tree(self, arm: A, replica: int = 0) -> Tree:
        """Return one of the arm's trees as it is now, pruned."""
        if check_whole("replica", replica, 0) >= self.replicas:
            raise InvalidParameterError(
                f"replica must be below {self.replicas}, the number of replicas, got {replica}; "
                "they are counted from 0"
            )
        with self._lock:
            return self._tree(self._arms.index(arm), replica)

    def _trees(self, arm: int) -> Iterator[_core.Tree]:
        for replica in range(self.replicas):
            with suppress(ValueError):  # one that no observation has entered yet
                yield self._core.tree(arm, replica)

    def _engine(self) -> Any:
        return _core.OnlineTreeBootstrap(self.replicas, self._entropy, *self._engine_settings)

    def _predictions(self, row: FloatArray, eligible: Indices) -> list[FloatArray]:
        return [self._core.predictions(arm, row) for arm in eligible.tolist()]

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        cold = np.array([self._core.is_cold(arm) for arm in eligible.tolist()], dtype=np.float64)
        if cold.any():
            return share_of_largest(cold)
        return _core.win_shares(self._predictions(row, eligible))

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return np.array([values.mean() for values in self._predictions(row, eligible)])

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        if self._is_untried(arm):
            return explain_leaf(self.reward, "always", 0, 0, 0)
        values = self._core.predictions(arm, row)
        low, high = np.quantile(values, [0.025, 0.975]).tolist()
        rule = f"mean of {self.replicas} trees"
        n = self._core.n_rows(arm)
        n = min(n, self.window or n)
        return ArmExplanation(rule, n, float(values.mean()), (low, high))
