"""The paper's TreeBootstrap: every decision fits trees to resampled data."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from banditree import _core
from banditree._checking import check_choice, check_whole
from banditree.policies.arms import Indices
from banditree.policies.base import Arrays
from banditree.policies.beliefs import Reading
from banditree.policies.choosing import share_of_largest
from banditree.policies.estimates import stream_for
from banditree.policies.explanation import ArmExplanation
from banditree.policies.parameters import check_window, with_parameters_of
from banditree.policies.rewards import RewardKind
from banditree.policies.tally import explain_leaf
from banditree.policies.tree_policy import TreeParameters, TreePolicy
from banditree.trees import Tree
from banditree.trees.rules import Way, way_of
from banditree.types import A, Context, Contexts, FloatArray

Pruning: TypeAlias = Literal["cv", "cv_every_fit"]
Weights: TypeAlias = Literal["multinomial", "exponential"]
ColdStart: TypeAlias = Literal["until_success", "prior"]


class TreeBootstrap(TreePolicy[A]):
    """Every decision fits each arm's tree to a resample of its observations (Algorithm 2).

    For every eligible arm: draw as many of its observations as it has, with replacement; grow a
    tree on them; prune it; ask it for the context. The arm of the highest prediction is taken, ties
    at random. Of the tree only the way to the context's leaf is grown, and of the rest what pruning
    needs to know: the answer is the same, and a decision costs a few passes over the arms'
    observations.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).
    pruning
        How far trees are pruned. "cv": at a complexity that is cross-validated on the arm's
        observations each time they have grown by a quarter. "cv_every_fit": cross-validated on
        every resample, the algorithm to the letter, and slow. None: not at all.
    weights
        "multinomial": a resample counts each observation a whole number of times. "exponential":
        each observation gets a random weight of mean 1 (the Bayesian bootstrap), so that no two
        resamples tie and none misses an observation.
    cold_start
        What keeps an arm from being dropped after a first failure. "prior": an arm starts with one
        made-up success and one made-up failure at its first context. "until_success": an arm is
        offered until its first success. Either way, arms never tried come first, in random order.
        For continuous rewards the made-up ones are the highest and the lowest reward of all arms so
        far, and follow them; a success is a reward above the mean of those before; the very first
        reward is no success.
    patience
        With "until_success": after this many failures, and no success, an arm is not offered first
        any more.
    window
        From how many observations of each arm resamples are drawn: the latest ones; others are not
        stored. None: from all. Bins, complexity and the place of the made-up observations follow
        each time 5 % of the window are new; whether an arm is still offered first does not change
        again. What came before a change of what arms pay is forgotten too (see `changes`).
    min_split, min_leaf, max_depth, max_bins, folds
        How trees are grown and pruned (see `TreePolicy`).

    Examples
    --------
    >>> policy = TreeBootstrap(["golf", "tennis"], seed=7)
    >>> for age in range(20, 60):
    ...     policy.learn({"age": age}, "golf", reward=age > 40)
    ...     policy.learn({"age": age}, "tennis", reward=age <= 40)
    >>> policy.decide({"age": 25})
    'tennis'
    >>> policy.propensities({"age": 25}, draws=100)
    {'golf': 0.0, 'tennis': 1.0}
    """

    @with_parameters_of(TreePolicy)
    def __init__(
        self,
        arms: Sequence[A],
        *,
        reward: RewardKind = "binary",
        pruning: Pruning | None = "cv",
        weights: Weights = "multinomial",
        cold_start: ColdStart = "prior",
        patience: int = 100,
        window: int | None = None,
        **of_trees: Unpack[TreeParameters],
    ) -> None:
        self.pruning = None if pruning is None else check_choice("pruning", pruning, Pruning)
        self.weights = check_choice("weights", weights, Weights)
        self.cold_start = check_choice("cold_start", cold_start, ColdStart)
        self.patience = check_whole("patience", patience, 1)
        self.window = check_window(window)
        super().__init__(arms, reward=reward, **of_trees)

    def tree(self, arm: A) -> Tree:
        """Return the pruned tree on the arm's observations as they are, without resampling."""
        with self._lock:
            return self._tree(self._arms.index(arm))

    def propensities(
        self, context: Context, arms: Sequence[A] | None = None, *, draws: int | None = None
    ) -> dict[A, float]:
        """Return an estimate of the probability with which `decide` draws each arm.

        Each arm's tree is fitted to `draws` resamples. The estimate is how often the arm wins among
        all combinations of one resample per arm. The standard error is about 0.4 / √draws where two
        arms are alike, 0.5 √(K / draws) at most for K arms, and smaller where one arm leads. An arm
        that nothing is known of wins first, as in `decide`. Equal beliefs give equal estimates, and
        the random stream stays where it is.

        By default the trees on resamples are kept from call to call, for all contexts, and grown
        anew each time an arm's observations, beyond a hundred, have grown by 5 %, or 5 % of its
        window are new: up to 4096 of them while these are few, 256 from a thousand on. Such a call
        takes a fraction of a millisecond, and the one at which trees are grown anew as long as some
        hundred decisions. With `draws`, all are fitted in the call, to the observations as they
        are.
        """
        return self._propensities_by(self._chances_by(draws), context, arms)

    def propensities_many(
        self, contexts: Contexts, arms: Sequence[A] | None = None, *, draws: int | None = None
    ) -> FloatArray:
        """Return `propensities` of each context, each estimated from this many `draws`.

        A row for each context, a column for each arm of `policy.arms`.
        """
        return self._table(contexts, arms, self._chances_by(draws), 0.0)

    def _chances_by(self, draws: int | None) -> Reading:
        if draws is not None:
            check_whole("draws", draws, 1)
        return lambda row, eligible: self._above_floor(self._propensities(row, eligible, draws))

    def _engine(self) -> Any:
        return _core.TreeBootstrap(
            *self._settings.growth,
            self.folds,
            self.reward == "binary",
            self.weights == "exponential",
            self.pruning,
            self.cold_start == "prior",
            self.patience,
            self.window,
        )

    def _propensities(
        self, row: FloatArray, eligible: Indices, draws: int | None = None
    ) -> FloatArray:
        cold = np.array([self._core.is_cold(arm) for arm in eligible.tolist()], dtype=np.float64)
        if cold.any():
            return share_of_largest(cold)
        arms, stream = eligible.tolist(), self._estimating()
        if draws is None:
            return _core.win_shares(
                [self._core.kept_draws(arm, row, stream.child(arm)) for arm in arms]
            )
        stream = stream_for(stream, int(self._core.spread[0]), row)
        return _core.win_shares(
            [self._core.draws(arm, row, draws, stream.child(arm)) for arm in arms]
        )

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return np.array([self._prediction(row, arm) for arm in eligible.tolist()])

    def _prediction(self, row: FloatArray, arm: int) -> float:
        """Return what the tree without resampling says; for an untried arm, what the prior does."""
        if self._is_untried(arm):
            return 0.5 if self.reward == "binary" else float(self._core.spread[1])
        return float(self._core.predict(arm, row))

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        if self._is_untried(arm):
            return explain_leaf(self.reward, "always", 0, 0, 0)
        return self._explain_leaf(arm, row)

    # What is explained was observed: made-up rewards, the first two of an arm, have no part in it.

    def _way(self, arm: int, tree: _core.Tree, row: FloatArray) -> Way:
        return way_of(tree, row).without(self._core.made_up(arm, row))

    def _freeze(self) -> _core.FrozenTrees:
        frozen: _core.FrozenTrees = self._core.freeze(self._estimating())
        return frozen

    def _held_out(self, arm: int, row: FloatArray) -> tuple[float, float, float]:
        rows, rewards = self._core.rows(arm)
        made_up = 2 if self.cold_start == "prior" else 0
        first = len(rewards) - min(len(rewards) - made_up, self.window or len(rewards))
        if first == 0:
            return super()._held_out(arm, row)
        real = self._engine()
        real.set_categorical(self._encoder.is_categorical)
        real.add_arm()
        real.restore(0, rows[first:], rewards[first:], self._core.standing(arm))
        n, total, squared_error = real.held_out(0, row)
        return n, total, squared_error

    def _rows(self, core: Any) -> Arrays:
        standings = np.array([core.standing(arm) for arm in range(len(self._arms))])
        # What trees of a feature as it was are pruned at says nothing of new ones.
        standings[:, 2] = np.nan
        return super()._rows(core) | {"standings": standings}

    def _learn_again(self, arrays: Arrays) -> None:
        for arm, (failures, settled, alpha) in enumerate(arrays["standings"].tolist()):
            rows, rewards = arrays[f"contexts_{arm}"], arrays[f"rewards_{arm}"]
            self._core.restore(arm, rows, rewards, (int(failures), bool(settled), alpha))
        self._core.spread = tuple(arrays["spread"].tolist())
