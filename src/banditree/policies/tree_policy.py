"""What is common to the policies that keep trees in the native core."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from banditree import _core
from banditree.errors import NotFittedError, StateError
from banditree.policies.arms import Indices
from banditree.policies.base import Arrays, Policy
from banditree.policies.beliefs import RecodeRows
from banditree.policies.explanation import ArmExplanation
from banditree.policies.rewards import RewardKind
from banditree.policies.tally import explain_leaf
from banditree.trees import Tree
from banditree.trees.importance import as_shares, explained_costs
from banditree.trees.inputs import check_whole
from banditree.trees.rules import Way, rule_of, way_of
from banditree.trees.settings import Settings
from banditree.types import A, DeclaredFeatures, FeatureName, FloatArray, Seed


class TreePolicy(Policy[A]):
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

    _checks_rows: ClassVar[bool] = True

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
        self._settings = Settings(
            min_split,
            min_leaf,
            max_depth,
            max_bins,
            categorical,
            "adjusted",
        )
        self.min_split, self.min_leaf = min_split, min_leaf
        self.max_depth, self.max_bins = max_depth, max_bins
        self.folds = check_whole("folds", folds, 2)
        super().__init__(
            arms, reward=reward, categorical=categorical, features=features, floor=floor, seed=seed
        )

    @abstractmethod
    def _engine(self) -> Any:
        """Return the native engine, without arms."""

    def _start(self) -> None:
        self._core: Any = self._engine()
        for _ in range(len(self._arms)):
            self._core.add_arm()

    def _add_arm(self) -> None:
        self._core.add_arm()

    def _features_changed(self) -> None:
        self._core.set_categorical(self._encoder.is_categorical)

    def _choose(self, row: FloatArray, eligible: Indices) -> int:
        chosen: int = self._core.decide(row, eligible, self._random)
        return chosen

    def _choose_many(self, rows: FloatArray, eligible: Indices) -> Indices:
        chosen: Indices = self._core.decide_many(rows, eligible, self._random)
        return chosen

    def _learn(self, arm: int, row: FloatArray, reward: float) -> None:
        self._core.learn(arm, row, reward)

    def _learn_many(self, arms: Indices, rows: FloatArray, rewards: FloatArray) -> None:
        self._core.learn_many(arms, rows, rewards)

    def _keep_last(self, counts: Indices) -> None:
        self._core.keep_last(counts)

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

    def _state(self) -> Arrays:
        engine = self._core.dump()
        engine.setflags(write=False)
        return {"engine": engine}

    def _restore(self, arrays: Arrays) -> None:
        if "engine" not in arrays:
            self._learn_again(arrays)
            return
        self._core.load(arrays["engine"])
        if self._core.n_arms != len(self._arms):
            raise StateError("the policy was saved with other arms; load an intact copy")
        self._features_changed()

    def _freeze(self) -> _core.FrozenTrees:
        frozen: _core.FrozenTrees = self._core.freeze()
        return frozen

    def _frozen_state(self) -> Arrays:
        return {"trees": self._freeze().dump()}

    def _restore_frozen(self, arrays: Arrays) -> None:
        self._core = _core.FrozenTrees.restore(arrays["trees"])
        same_features = np.array_equal(self._core.categorical(), self._encoder.is_categorical)
        if self._core.n_arms != len(self._arms) or not same_features:
            raise StateError("the trees are of other arms or features; take an intact copy")

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
