"""Whom to evaluate: policies, snapshots, functions, arrays of probabilities, one arm for all."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from banditree._checking import as_floats, did_you_mean, shorten
from banditree.errors import InvalidParameterError, UnknownArmError
from banditree.evaluation.learning import Learner, Learning
from banditree.evaluation.log import Log
from banditree.policies import Policy, Snapshot
from banditree.types import Arm, FloatArray

__all__ = ["Always", "Bound", "Target", "always", "bind", "bind_learner"]

Chooser: TypeAlias = Callable[[Any], Any]
Target: TypeAlias = "Policy[Any] | Snapshot[Any] | Learning | Always | Chooser | NDArray[Any]"
"""What can be evaluated."""

ROUNDING = 1e-6


@dataclass(frozen=True)
class Always:
    """Offers one arm to everybody; `always` makes one."""

    arm: Arm


def always(arm: Arm) -> Always:
    """Return what offers one arm to everybody, to be evaluated.

    Examples
    --------
    >>> always("golf")
    Always(arm='golf')
    """
    return Always(arm)


class Bound(ABC):
    """Somebody to be evaluated, as far as one log goes."""

    def __init__(self, log: Log) -> None:
        self._log = log

    @abstractmethod
    def chances(self, start: int, stop: int) -> tuple[FloatArray, dict[Arm, float]]:
        """Return the probabilities of the log's arms in some rows: a column for each arm.

        Also, of arms that the log does not have, the sum of their probabilities over the rows.
        """

    def checked(self, start: int, stop: int) -> tuple[FloatArray, dict[Arm, float]]:
        """Return `chances`, if they are probabilities that the rows allow."""
        chances, beyond = self.chances(start, stop)
        wrong = np.argwhere(~(chances >= 0))
        if len(wrong):
            row, arm = wrong[0]
            raise InvalidParameterError(
                f"probabilities must be 0 or more, got {chances[row, arm]:g} for "
                f"{self._log.arms[arm]!r} in row {start + row}; correct what is evaluated"
            )
        if not beyond:
            off = np.flatnonzero(np.abs(chances.sum(axis=1) - 1) > ROUNDING)
            if len(off):
                raise InvalidParameterError(
                    f"the probabilities of a row must sum to 1, got {chances[off[0]].sum():g} in "
                    f"row {start + off[0]}; correct what is evaluated"
                )
        if self._log.eligible.of_row is not None:
            self._check_eligible(chances, start, stop)
        return chances, beyond

    def _check_eligible(self, chances: FloatArray, start: int, stop: int) -> None:
        sets, of_row = self._log.eligible, self._log.eligible.of_row
        assert of_row is not None
        allowed = sets.matrix(len(self._log.arms))[of_row[start:stop]]
        wrong = np.argwhere((chances > ROUNDING) & ~allowed)
        if len(wrong):
            row, arm = wrong[0]
            raise InvalidParameterError(
                f"{self._log.arms[arm]!r} has a probability of {chances[row, arm]:g} in row "
                f"{start + row}, where it was not eligible; evaluate what keeps to eligible arms"
            )


class _Fixed(Bound):
    """One arm."""

    def __init__(self, log: Log, arm: Arm) -> None:
        super().__init__(log)
        self._place = _place(log, arm, "always")

    def chances(self, start: int, stop: int) -> tuple[FloatArray, dict[Arm, float]]:
        found = np.zeros((stop - start, len(self._log.arms)))
        found[:, self._place] = 1.0
        return found, {}


class _Given(Bound):
    """An array of probabilities."""

    def __init__(self, log: Log, array: NDArray[Any]) -> None:
        super().__init__(log)
        shape = (len(log), len(log.arms))
        floats = as_floats(array)
        if floats is None or floats.shape != shape:
            raise InvalidParameterError(
                f"an array of probabilities must have a row for each of the log and a column for "
                f"each of its arms, {shape}, got {array.shape} of {array.dtype}; the columns are "
                f"those of log.arms, {shorten(log.arms)}"
            )
        self._array = floats

    def chances(self, start: int, stop: int) -> tuple[FloatArray, dict[Arm, float]]:
        return self._array[start:stop], {}


class _Asked(Bound):
    """A policy, or anything with `arms` and `propensities_many`."""

    def __init__(self, log: Log, policy: Any) -> None:
        super().__init__(log)
        known = _known_arms(policy)
        for arm in log.arms:
            if not any(arm == other and type(arm) is type(other) for other in known):
                listed = ", ".join(map(repr, known[:10])) + ", …" * (len(known) > 10)
                alike = f"make it known with add_arm({arm!r}), or leave out the rows that offer it"
                raise UnknownArmError(
                    f"the log offers {arm!r}, which {type(policy).__name__} does not have; its "
                    f"arms are {listed}; {did_you_mean(str(arm), known, alike)}"
                )
        self._policy, self._active = policy, tuple(policy.arms)
        place = {arm: i for i, arm in enumerate(log.arms)}
        self._shared = [(j, place[arm]) for j, arm in enumerate(self._active) if arm in place]
        self._others = [(j, arm) for j, arm in enumerate(self._active) if arm not in place]

    def chances(self, start: int, stop: int) -> tuple[FloatArray, dict[Arm, float]]:
        log = self._log
        found, beyond = np.zeros((stop - start, len(log.arms))), dict[Arm, float]()
        if log.eligible.of_row is None:
            asked = self._policy.propensities_many(log.contexts.part(start, stop))
            for j, arm in self._others:
                beyond[arm] = float(asked[:, j].sum())
            for j, i in self._shared:
                found[:, i] = asked[:, j]
            return found, beyond
        for members, rows in log.eligible.part(start, stop):
            able = [log.arms[i] for i in members if log.arms[i] in self._active]
            if not able:
                names = [log.arms[i] for i in members]
                raise UnknownArmError(
                    f"of the arms eligible in row {start + rows[0]}, {names}, the policy can draw "
                    "none, since they were removed; add_arm() brings one back"
                )
            asked = self._policy.propensities_many(log.contexts.taken(start + rows), able)
            for j, i in self._shared:
                found[rows, i] = asked[:, j]
        return found, beyond


class _Called(Bound):
    """A function from a context to an arm, or to probabilities."""

    def __init__(self, log: Log, function: Chooser) -> None:
        super().__init__(log)
        self._function = function

    def chances(self, start: int, stop: int) -> tuple[FloatArray, dict[Arm, float]]:
        found = np.zeros((stop - start, len(self._log.arms)))
        for row, context in enumerate(self._log.contexts.one_by_one(start, stop)):
            self._fill(found[row], self._function(context), start + row)
        return found, {}

    def _fill(self, chances: FloatArray, answer: Any, row: int) -> None:
        where = f"the function, in row {row}"
        if isinstance(answer, str | int | np.integer):
            chances[_place(self._log, answer, where)] = 1.0
        elif isinstance(answer, Mapping):
            for arm, chance in answer.items():
                chances[_place(self._log, arm, where)] = chance
        else:
            vector = as_floats(answer) if isinstance(answer, Sequence | np.ndarray) else None
            if vector is None or vector.shape != chances.shape:
                raise InvalidParameterError(
                    f"{where}, must return an arm, the probabilities of arms by name, or one for "
                    f"each of {shorten(self._log.arms)}, got {shorten(answer)}; correct it"
                )
            chances[:] = vector


class _Learned(Bound):
    """A policy that learns as it goes, asked row after row."""

    def __init__(self, log: Log, learner: Learner) -> None:
        super().__init__(log)
        self._learner = learner

    def chances(self, start: int, stop: int) -> tuple[FloatArray, dict[Arm, float]]:
        return np.array([self._learner.propose(row) for row in range(start, stop)]), {}


def bind_learner(learner: Learner, log: Log) -> Bound:
    """Return a policy that learns as it goes, to be evaluated on a log."""
    return _Learned(log, learner)


def bind(target: Any, log: Log, seed: int = 0) -> Bound:
    """Return somebody to be evaluated on a log, whatever was given."""
    if isinstance(target, Learning):
        return bind_learner(Learner(target.policy, log, seed), log)
    if isinstance(target, Always):
        return _Fixed(log, target.arm)
    if isinstance(target, np.ndarray):
        return _Given(log, target)
    if hasattr(target, "propensities_many") and hasattr(target, "arms"):
        return _Asked(log, target)
    if callable(target):
        return _Called(log, target)
    raise InvalidParameterError(
        "what is evaluated must be a policy, a snapshot, always(arm), learning(policy), a function "
        f"of a context, or an array of probabilities, got {shorten(target)}; pass one of these"
    )


def _known_arms(policy: Any) -> list[Arm]:
    """Return all arms that a policy has, those removed among them."""
    inner = policy._policy if isinstance(policy, Snapshot) else policy
    return list(inner._arms.names) if isinstance(inner, Policy) else list(inner.arms)


def _place(log: Log, arm: Any, what: str) -> int:
    for i, known in enumerate(log.arms):
        if known == arm and isinstance(arm, bool) is isinstance(known, bool):
            return i
    listed = ", ".join(map(repr, log.arms[:10])) + ", …" * (len(log.arms) > 10)
    hint = did_you_mean(str(arm), log.arms, "a log says nothing of arms that it never offers")
    raise UnknownArmError(
        f"{what}: the log has no arm {shorten(arm)}; its arms are {listed}; {hint}"
    )
