"""What each policy does in its own way."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

from numpy.typing import NDArray

from banditree.contexts.recoding import RecodeRows
from banditree.errors import InvalidParameterError
from banditree.policies.arms import Indices
from banditree.policies.explanation import ArmExplanation
from banditree.types import FloatArray

__all__ = ["Arrays", "Beliefs", "Reading", "RecodeRows"]

Arrays: TypeAlias = dict[str, NDArray[Any]]

Reading: TypeAlias = Callable[[FloatArray, Indices], FloatArray]
"""What a row says of eligible arms: a number for each."""


class Beliefs(ABC):
    """What a policy believes: the methods that every policy must fill in, and those that it may.

    Arms reach them as indices, contexts as float64 rows (see `Policy`).
    """

    # What a policy must do.

    @abstractmethod
    def _start(self) -> None:
        """Set up beliefs about `len(self._arms)` arms and no features."""

    @abstractmethod
    def _choose(self, row: FloatArray, eligible: Indices) -> int:
        """Return one of the eligible arms; draws come from `self._random`."""

    @abstractmethod
    def _learn(self, arm: int, row: FloatArray, reward: float) -> None:
        """Take in one observation. Nothing here may fail: all was checked before."""

    @abstractmethod
    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        """Return the probability that `_choose` returns each of the eligible arms."""

    @abstractmethod
    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        """Return the mean reward that the policy expects of each of the eligible arms."""

    @abstractmethod
    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        """Return what the policy knows of an arm."""

    @abstractmethod
    def _state(self) -> Arrays:
        """Return the beliefs, as arrays from which `_restore` makes them again.

        Arrays of beliefs that change may be returned as they are: they are copied at once. Large
        copies made here can do without that by `setflags(write=False)`.
        """

    @abstractmethod
    def _restore(self, arrays: Arrays) -> None:
        """Take over beliefs; called after `_start`, with arms and features in place."""

    @abstractmethod
    def _add_arm(self) -> None:
        """Make room for one more arm, the one of the highest index."""

    # What a policy may do besides, or faster.

    # Whether decisions by `_frozen_state` depend on `_entropy`, as estimates of `_estimating` do.
    _frozen_needs_entropy: ClassVar[bool] = False

    def _frozen_state(self) -> Arrays:
        """Return what decisions need of the beliefs, for `_restore_frozen`."""
        return self._state()

    def _restore_frozen(self, arrays: Arrays) -> None:
        """Take over what decisions need, for a policy that never learns."""
        self._restore(arrays)

    def _keep_last(self, counts: Indices) -> None:
        """Become what the policy would be had each arm learned its last so many observations only.

        Of those that count still. Policies with a `window` can do this; they are asked to when what
        arms pay has changed.
        """
        return

    def _relearn(self, arrays: Arrays, recode: RecodeRows) -> None:
        """Take over beliefs as `_restore` does, of contexts that `recode` changes.

        It takes and returns rows. A policy that does not keep the contexts cannot do this.
        """
        raise InvalidParameterError(
            f"{type(self).__name__} does not keep the contexts as it learned them, so that what "
            "a feature is cannot be changed afterwards; declare it when making the policy, with "
            "features=..., and learn anew"
        )

    def _arms_changed(self) -> None:
        """Take note of arms that were added, removed or brought back."""
        return

    def _features_changed(self) -> None:
        """Take note of new features, and of those found to be categories."""
        return

    def _choose_many(self, rows: FloatArray, eligible: Indices) -> Sequence[int] | Indices:
        return [self._choose(row, eligible) for row in rows]

    def _learn_many(self, arms: Indices, rows: FloatArray, rewards: FloatArray) -> None:
        for arm, row, reward in zip(arms.tolist(), rows, rewards.tolist(), strict=True):
            self._learn(arm, row, reward)
