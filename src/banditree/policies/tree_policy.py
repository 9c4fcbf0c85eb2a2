"""What is common to the policies that keep trees in the native core."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from banditree import _core
from banditree._checking import check_whole
from banditree.errors import NotFittedError
from banditree.policies.base import Arrays
from banditree.policies.beliefs import RecodeRows
from banditree.policies.engine_policy import EnginePolicy
from banditree.policies.explanation import ArmExplanation
from banditree.policies.parameters import PolicyParameters
from banditree.policies.rewards import RewardKind
from banditree.policies.tally import explain_leaf
from banditree.trees import Tree
from banditree.trees.importance import as_shares, explained_costs
from banditree.trees.rules import Way, rule_of, way_of
from banditree.trees.settings import Settings
from banditree.types import A, DeclaredFeatures, FeatureName, FloatArray, Seed


class TreeParameters(PolicyParameters, total=False):
    """What constructors of tree policies hand on to that of `TreePolicy`."""

    min_split: int
    min_leaf: int
    max_depth: int | None
    max_bins: int | None
    folds: int


class TreePolicy(EnginePolicy[A]):
    """A policy whose trees are in the native core.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).
    min_split, min_leaf, max_depth, max_bins
        As for `Tree`. With `max_bins=None` splits are exact, and slow beyond a thousand
        observations.
    folds
        Into how many folds an arm's observations are dealt to choose the size of its tree.
    """

    def __init__(
        self,
        arms: Sequence[A],
        *,
        reward: RewardKind = "binary",
        min_split: int = 2,
        min_leaf: int = 1,
        max_depth: int | None = None,
        max_bins: int | None = 64,
        folds: int = 10,
        categorical: Sequence[FeatureName] = (),
        features: DeclaredFeatures | None = None,
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        self._settings = Settings(min_split, min_leaf, max_depth, max_bins, categorical, "adjusted")
        self.min_split, self.min_leaf = min_split, min_leaf
        self.max_depth, self.max_bins = max_depth, max_bins
        self.folds = check_whole("folds", folds, 2)
        super().__init__(
            arms, reward=reward, categorical=categorical, features=features, floor=floor, seed=seed
        )

    def _is_untried(self, arm: int) -> bool:
        return bool(self._core.n_rows(arm) == 0)

    def _tree(self, arm: int, *which: int) -> Tree:
        """Return a copy of an arm's tree; an arm that has learned nothing has none."""
        try:
            core: _core.Tree = self._core.tree(arm, *which)
        except ValueError:
            name = self._arms.names[arm]
            raise NotFittedError(
                f"the arm {name!r} has no tree yet; it grows with learn(context, {name!r}, reward)"
            ) from None
        return Tree._of(self._settings, deepcopy(self._encoder), core)

    @property
    def feature_importance(self) -> dict[FeatureName, float]:
        """Share of each feature in the cost that the splits of all arms' trees take away.

        It sums to 1; all are 0 as long as no tree has a split.
        """
        with self._lock:
            explained = np.zeros(self._encoder.n_features)
            for arm in self._arms.all.tolist():
                for tree in [] if self._is_untried(arm) else self._trees(arm):
                    gains = explained_costs(tree)
                    explained[: len(gains)] += gains
            return as_shares(self._encoder.features, explained)

    def _trees(self, arm: int) -> Iterator[_core.Tree]:
        """Yield all trees of an arm that has learned something."""
        yield self._core.tree(arm)

    def _explain_leaf(self, arm: int, row: FloatArray) -> ArmExplanation:
        """Return what the leaf of a row in an arm's tree says of the arm.

        The rewards of the leaf have chosen it, so they look more extreme than further ones will be.
        The interval therefore reaches to that of observations which a tree without them puts where
        the row is. A snapshot has no observations to put there: its interval is that of the leaf.
        """
        tree = self._core.tree(arm)
        way = self._way(arm, tree, row)
        root = Tree._of(self._settings, self._encoder, tree).to_dict()
        rule = rule_of(root, way.steps)
        leaf = explain_leaf(self.reward, rule, way.n, way.n * way.mean, way.cost)
        if isinstance(self._core, _core.FrozenTrees):
            return leaf
        held_out = explain_leaf(self.reward, rule, *self._held_out(arm, row))
        low, high = zip(leaf.interval, held_out.interval, strict=True)
        return replace(leaf, interval=(min(low), max(high)))

    def _way(self, arm: int, tree: _core.Tree, row: FloatArray) -> Way:
        """Return the way of a row through an arm's tree, with what was observed at its end."""
        return way_of(tree, row)

    def _held_out(self, arm: int, row: FloatArray) -> tuple[float, float, float]:
        """Return number, sum and squared error of the held-out rewards where a row is."""
        n, total, squared_error = self._core.held_out(arm, row)
        return n, total, squared_error

    def _freeze(self) -> _core.FrozenTrees:
        frozen: _core.FrozenTrees = self._core.freeze()
        return frozen

    def _frozen_state(self) -> Arrays:
        return {"trees": self._freeze().dump()}

    def _restore(self, arrays: Arrays) -> None:
        if "engine" in arrays:
            super()._restore(arrays)
        else:
            self._learn_again(arrays)

    def _restore_frozen(self, arrays: Arrays) -> None:
        self._take_frozen(_core.FrozenTrees.restore(arrays["trees"]))

    def _relearn(self, arrays: Arrays, recode: RecodeRows) -> None:
        former = self._engine()
        former.load(arrays["engine"])
        rows = self._rows(former)
        contexts = {name: recode(rows[name]) for name in rows if name.startswith("contexts_")}
        self._learn_again(rows | contexts)

    # The trees are a function of the observations: files of format 2 hold nothing else, and what
    # a feature is can be put right.

    def _rows(self, core: Any) -> Arrays:
        """Return the observations of an engine."""
        arrays = {"spread": np.array(core.spread)}
        for arm in range(len(self._arms)):
            arrays[f"contexts_{arm}"], arrays[f"rewards_{arm}"] = core.rows(arm)
        return arrays

    def _learn_again(self, arrays: Arrays) -> None:
        """Learn the observations of an engine."""
        for arm, learned in enumerate(self._counts):
            rows, rewards = arrays[f"contexts_{arm}"], arrays[f"rewards_{arm}"]
            self._core.restore(arm, rows, rewards, learned)
        self._core.spread = tuple(arrays["spread"].tolist())
