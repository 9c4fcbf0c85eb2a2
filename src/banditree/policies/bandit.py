"""The policy for somebody with no opinion: an ensemble that shares what it learns between arms."""

from collections.abc import Sequence
from typing import Any

from banditree import _core
from banditree.policies.arms import Indices
from banditree.policies.base import Arrays
from banditree.policies.beliefs import RecodeRows
from banditree.policies.engine_policy import EnginePolicy
from banditree.policies.explanation import ArmExplanation
from banditree.policies.rewards import RewardKind
from banditree.policies.tally import explain_leaf
from banditree.trees.inputs import check_share, check_whole
from banditree.types import A, DeclaredFeatures, FeatureName, FloatArray, Seed

# Rows that a fit reads: beyond, it would take longer and know little more.
_MOST_ROWS = 100_000


class Bandit(EnginePolicy[A]):
    """Three learners on the observations of all arms, weighed by what each predicted before it knew.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).
    refresh
        By which share observations grow until the learners are fitted again.
    window
        Only so many observations of each arm, the last ones, count. None: all count.
    """

    def __init__(
        self,
        arms: Sequence[A],
        *,
        reward: RewardKind = "binary",
        refresh: float = 0.15,
        window: int | None = None,
        categorical: Sequence[FeatureName] = (),
        features: DeclaredFeatures | None = None,
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        self.refresh = check_share("refresh", refresh)
        self.window = None if window is None else check_whole("window", window, 1)
        super().__init__(
            arms, reward=reward, categorical=categorical, features=features, floor=floor, seed=seed
        )

    def _engine(self) -> Any:
        binary = self.reward == "binary"
        return _core.Ensemble(binary, self.refresh, self.window, _MOST_ROWS, self._entropy)

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        chances: FloatArray = self._core.propensities(row, eligible)
        return chances

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        means: FloatArray = self._core.expectations(row, eligible)[0]
        return means

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        return explain_leaf(self.reward, "always", 0, 0, 0)

    def _frozen_state(self) -> Arrays:
        return {"beliefs": self._core.freeze().dump()}

    def _restore_frozen(self, arrays: Arrays) -> None:
        self._take_frozen(_core.EnsembleBeliefs.restore(arrays["beliefs"]))

    def _relearn(self, arrays: Arrays, recode: RecodeRows) -> None:
        former = self._engine()
        former.load(arrays["engine"])
        contexts, arms, rewards = former.rows()
        self._core.learn_many(arms, recode(contexts), rewards)
