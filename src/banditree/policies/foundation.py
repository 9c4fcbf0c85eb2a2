"""How a policy is made, kept in a file or a pickle, and made again."""

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Generic, Self

import numpy as np

from banditree import _core
from banditree._checking import check_share
from banditree.contexts import Encoder
from banditree.contexts.features import Pending
from banditree.errors import StateError
from banditree.policies.arms import Arms, Indices
from banditree.policies.beliefs import Arrays, Beliefs
from banditree.policies.drift import ChangeWatch
from banditree.policies.parameters import as_seed, is_parameter, parameters_of, read_only
from banditree.policies.processes import fresh_generator, process_token, renew_after_fork
from banditree.policies.rewards import RewardKind, check_kind
from banditree.policies.saving import files
from banditree.policies.saving.journal import Journal
from banditree.types import A, Change, DeclaredFeatures, FeatureName, FloatArray, Seed

# Declared categories should have come by then.
_SEEN_BY = 100


@contextmanager
def restoring(source: str) -> Iterator[None]:
    """Whatever is wrong with a state that is read here is a StateError."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    except StateError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        ImportError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        raise StateError(f"{source} cannot be restored ({error}); load an intact copy") from error


class Foundation(Beliefs, Generic[A]):
    """What a policy consists of; `Policy` says what its parameters mean."""

    # Whether the methods of `Beliefs` refuse infinite values themselves.
    _checks_rows: ClassVar[bool] = False

    def __init__(
        self,
        arms: Sequence[A],
        *,
        reward: RewardKind = "binary",
        categorical: Sequence[FeatureName] = (),
        features: DeclaredFeatures | None = None,
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        self._arms: Arms[A] = Arms(arms)
        self.reward = check_kind(reward)
        self.floor = check_share("floor", floor)
        self._set_encoder(Encoder(categorical, features))
        self._counts = [0] * len(self._arms)
        forgets = getattr(self, "window", None) is not None and self._can_keep_last()
        self._watch = ChangeWatch(len(self._arms), self.reward) if forgets else None
        self._awaits = bool(self.categorical)  # declared categories that may never come
        self.seed = as_seed(seed)
        # Of what is drawn once and kept, such as halves of the data: not changed by `reseed`.
        self._entropy = secrets.randbits(64) if self.seed is None else self.seed
        self._random = _core.Generator(self._entropy)
        self._lock = threading.RLock()
        self._saving = threading.Lock()
        self._journal: Journal | None = None
        renew_after_fork(self)
        self._start()
        if self._encoder.n_features:
            self._features_changed()

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_" and is_parameter(type(self), name) and self._is_made(name):
            raise read_only(type(self), name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if is_parameter(type(self), name):
            raise read_only(type(self), name)
        object.__delattr__(self, name)

    def _is_made(self, name: str) -> bool:
        # Not hasattr: a default that the class itself holds is no value yet.
        return name in vars(self) or isinstance(getattr(type(self), name, None), property)

    def _set_parameter(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    categorical: tuple[FeatureName, ...]

    def _set_encoder(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._encoder.tells = True
        self._set_parameter("categorical", encoder.categorical)

    def _commit(self, pending: Pending | None) -> None:
        if pending is not None:
            if self._journal is not None:
                self._journal.added_contexts(pending)
            self._encoder.commit(pending)
            self._features_changed()

    def _learn_one(self, arm: int, row: FloatArray, reward: float) -> None:
        if self._watch is None:
            self._learn(arm, row, reward)
            self._counts[arm] += 1
            return
        expected = float(self._expected(row, np.array([arm]))[0])
        self._learn(arm, row, reward)
        kept = self._watch.see(arm, expected, reward, self._counts)
        self._counts[arm] += 1
        if kept is not None:
            self._keep_last(np.array(kept))

    def _take_in(self, arms: Indices, rows: FloatArray, rewards: FloatArray) -> None:
        if self._watch is not None:
            # A change may be found after any of them.
            for arm, row, reward in zip(arms.tolist(), rows, rewards.tolist(), strict=True):
                self._learn_one(arm, row, reward)
            return
        self._learn_many(arms, rows, rewards)
        for index, more in enumerate(np.bincount(arms).tolist()):
            self._counts[index] += more

    def _note(self, call: str, arm: Any) -> None:
        if self._journal is not None:
            self._journal.changed_arm(call, self._arms.names[self._arms.index(arm)])

    def _look_for_categories(self, more: int = 0, pending: Pending | None = None) -> None:
        """Warn of declared categories that neither came nor are among what comes now."""
        # Before anything is learned: a warning may be an error, and an error changes nothing.
        n = sum(self._counts) + more
        if n >= _SEEN_BY:
            self._awaits = False
            self._encoder.tell_never_came(n, pending)

    @classmethod
    def _can_keep_last(cls) -> bool:
        return cls._keep_last is not Beliefs._keep_last

    @property
    def changes(self) -> tuple[Change[A], ...]:
        """Where the policy found that an arm pays less than it did, and forgot what came before.

        Only policies with a `window` look for changes.
        """
        with self._lock:
            found = [] if self._watch is None else self._watch.changes
            names = self._arms.names
            return tuple(Change(n, names[index] if index >= 0 else None) for n, index in found)

    # State.

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._unpickle, (self._pack(), self._objects())

    def _objects(self) -> dict[str, Any]:
        """Return parameters that JSON cannot hold; pickles carry them as they are."""
        return {}

    def _described_objects(self) -> dict[str, Any]:
        """Return what a file can hold of these parameters."""
        return {}

    @classmethod
    def _built_objects(cls, described: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters again, from what a file holds of them."""
        return {}

    def _identity(self) -> dict[str, Any]:
        """Return what the policy is, apart from what it has learned and draws."""
        apart = {"arms", "features", *self._objects()}
        names = [name for name in parameters_of(type(self)) if name not in apart]
        return {
            "policy": type(self).__name__,
            "module": type(self).__module__,
            "parameters": {name: getattr(self, name) for name in names},
            "objects": self._described_objects(),
            "arms": self._arms.state(),
            "contexts": self._encoder.state(),
        }

    def _pack(self) -> bytes:
        return b"".join(files.seal(self._frame()))

    def _frame(self) -> files.Parts:
        """Return a copy of the policy; what takes longer than copying needs no lock."""
        with self._lock:
            header = {
                **self._identity(),
                "entropy": self._entropy,
                **self._progress(),
            }
            watch = {} if self._watch is None else self._watch.state()
            return files.frame(header, self._state() | watch)

    def _progress(self) -> dict[str, Any]:
        """Return what changes with every step."""
        return {
            "random": list(self._random.state),
            "counts": self._counts,
            # Another process must not draw the same numbers, unless there is a seed.
            "process": process_token() if self.seed is None else None,
        }

    def _append_to(self, path: str | os.PathLike[str]) -> None:
        """Append to the file what came since the last time, or write it if there was none."""
        target = files.as_path(path).absolute()
        try:
            if not self._append_since(target):
                with self._lock:
                    journal = self._journal = Journal(target, sum(self._counts))
                    parts = self._frame()
                journal.write_whole(parts)
        except BaseException:
            with self._lock:
                self._journal = None
            raise

    def _append_since(self, target: Path) -> bool:
        """Append what came since the last time; return False if the file must be written anew."""
        with self._lock:
            journal = self._journal
            if journal is None or not journal.can_go_on(target, sum(self._counts)):
                return False
            steps, arrays = journal.take()
            parts = files.frame({"steps": steps, **self._progress()}, arrays)
        return journal.append(parts)

    @classmethod
    def _identified(cls, header: dict[str, Any], objects: dict[str, Any]) -> Self:
        """Return a policy of this identity that has learned nothing."""
        objects = objects or cls._built_objects(header["objects"])
        names = [arm["name"] for arm in header["arms"]]
        policy = cls(arms=names, **header["parameters"], **objects)
        policy._set_encoder(Encoder.from_state(header["contexts"]))
        policy._entropy = header["entropy"]
        policy._arms.restore_activity([arm["active"] for arm in header["arms"]])
        return policy

    @classmethod
    def _unpack(cls, header: dict[str, Any], arrays: Arrays, objects: dict[str, Any]) -> Self:
        policy = cls._identified(header, objects)
        policy._counts = [int(count) for count in header["counts"]]
        if len(policy._counts) != len(policy._arms):
            raise StateError("the policy has counts of other arms; load an intact copy")
        # Warn again: whoever loads the policy may not be the one who taught it.
        policy._awaits = bool(policy.categorical)
        policy._begin_again(lambda: policy._restore(arrays), True)
        if policy._watch is not None:
            policy._watch.restore(arrays, policy._counts)
        policy._resume_draws(header)
        return policy

    def _resume_draws(self, header: dict[str, Any]) -> None:
        if header["process"] in (None, process_token()):
            self._random.state = tuple(header["random"])
        else:
            self._random = fresh_generator()

    @classmethod
    def _thaw(cls, header: dict[str, Any], arrays: Arrays, objects: dict[str, Any]) -> Self:
        """Return a policy that decides by what `_frozen_state` gave, and never learns."""
        policy = cls._identified(header, objects)
        policy._awaits = False
        policy._begin_again(lambda: policy._restore_frozen(arrays), True)
        return policy

    @classmethod
    def _unpickle(cls, data: bytes, objects: dict[str, Any]) -> Self:
        header, arrays = files.unpack(data, "the pickle")
        return cls._rebuild(cls._unpack, header, arrays, objects, "the pickle")

    @classmethod
    def _rebuild(
        cls,
        build: Callable[[dict[str, Any], Arrays, dict[str, Any]], Self],
        header: dict[str, Any],
        arrays: Arrays,
        objects: dict[str, Any],
        source: str,
    ) -> Self:
        """Return what is built of a state."""
        with restoring(source):
            return build(header, arrays, objects)

    def _begin_again(self, restore: Callable[[], None], is_taught: bool) -> None:
        """Set up the beliefs anew, with the arms and features that are known."""
        state = self._random.state
        self._random = _core.Generator(self._entropy)
        self._start()
        self._features_changed()
        self._arms_changed()
        if is_taught:
            restore()
        # Last, since the steps above may draw, as they did when the policy was new.
        self._random.state = state
