"""What is common to the policies that learn in the native core."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from banditree.errors import StateError
from banditree.policies.arms import Indices
from banditree.policies.base import Arrays, Policy
from banditree.types import A, FloatArray


class EnginePolicy(Policy[A]):
    """A policy whose beliefs are in an engine of the native core."""

    _checks_rows: ClassVar[bool] = True

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

    def _state(self) -> Arrays:
        engine = self._core.dump()
        engine.setflags(write=False)
        return {"engine": engine}

    def _restore(self, arrays: Arrays) -> None:
        self._core.load(arrays["engine"])
        if self._core.n_arms != len(self._arms):
            raise StateError("the policy was saved with other arms; load an intact copy")
        self._features_changed()

    def _take_frozen(self, frozen: Any) -> None:
        """Decide by what decisions need, and learn nothing any more."""
        self._core = frozen
        same_features = np.array_equal(frozen.categorical(), self._encoder.is_categorical)
        if frozen.n_arms != len(self._arms) or not same_features:
            raise StateError("the snapshot is of other arms or features; take an intact copy")
