"""What all policies share: arms, contexts, rewards, randomness, threads and state."""

import os
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from banditree import _core
from banditree.contexts import Encoder
from banditree.errors import StateError
from banditree.policies import files
from banditree.policies.arms import Arms, Indices
from banditree.policies.explanation import ArmExplanation, Explanation
from banditree.policies.parameters import as_seed, parameters_of
from banditree.policies.rewards import RewardKind, check_kind, check_many, check_one
from banditree.types import Arm, Context, Contexts, FeatureName, FloatArray, Seed

Arrays = dict[str, NDArray[Any]]

# Of draws that only estimate something: apart from those of decisions.
_ESTIMATES = 2**63


class Policy(ABC):
    """Decides which arm to offer in a context, and learns from the reward.

    A policy of your own derives from this class. Its constructor checks its parameters, keeps each
    in an attribute of the same name, and calls this constructor last; then it fills in the methods
    below that begin with an underscore. Arms reach them as indices, contexts as float64 rows (one
    number per feature, ids for categories, NaN for missing values) that grow longer as features
    appear. `banditree.checks.check_policy` tests the result.

    Parameters
    ----------
    arms
        The options: distinct strings or whole numbers.
    reward
        "binary" for rewards of 0 and 1, "continuous" for any finite number. "binary" also takes
        what lies between, as a success of that probability: where such rewards vary little,
        "continuous" learns much faster.
    categorical
        Names of features whose numbers are categories.
    seed
        Of all random draws; None for one that nobody can know. A numpy Generator is asked for one.
    """

    # Whether the methods below refuse infinite values themselves.
    _checks_rows: ClassVar[bool] = False

    def __init__(
        self,
        arms: Sequence[Arm],
        *,
        reward: RewardKind = "binary",
        categorical: Sequence[FeatureName] = (),
        seed: Seed = None,
    ) -> None:
        self._arms = Arms(arms)
        self.reward = check_kind(reward)
        self._encoder = Encoder(categorical)
        self.categorical = self._encoder.categorical
        self.seed = as_seed(seed)
        self._entropy = secrets.randbits(64) if self.seed is None else self.seed
        self._random = _core.Generator(self._entropy)
        self._lock = threading.RLock()
        self._start()

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
        """Return the beliefs, as arrays from which `_restore` makes them again."""

    @abstractmethod
    def _restore(self, arrays: Arrays) -> None:
        """Take over beliefs; called after `_start`, with arms and features in place."""

    @abstractmethod
    def _add_arm(self) -> None:
        """Make room for one more arm, the one of the highest index."""

    # What a policy may do besides, or faster.

    def _arms_changed(self) -> None:
        """Hear that arms were added, removed or brought back."""
        return

    def _features_changed(self) -> None:
        """Hear that there are new features, or that one was found to be a category."""
        return

    def _choose_many(self, rows: FloatArray, eligible: Indices) -> Sequence[int]:
        return [self._choose(row, eligible) for row in rows]

    def _learn_many(self, arms: Indices, rows: FloatArray, rewards: FloatArray) -> None:
        for arm, row, reward in zip(arms.tolist(), rows, rewards.tolist(), strict=True):
            self._learn(arm, row, reward)

    # What users call.

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms that may be drawn now."""
        return self._arms.active

    def decide(self, context: Context, arms: Sequence[Arm] | None = None) -> Arm:
        """Return the arm to offer. Changes nothing but the random stream.

        Parameters
        ----------
        context
            What is known now: a mapping, a sequence or a 1-D array.
        arms
            The arms that are eligible this time; None for all.
        """
        with self._lock:
            row = self._encoder.encode_one(context)
            if not self._checks_rows:
                self._encoder.check_finite(row)
            eligible = self._arms.all if arms is None else self._arms.indices(arms)
            try:
                return self._arms.names[self._choose(row, eligible)]
            except ValueError:
                self._encoder.check_finite(row)
                raise

    def decide_many(self, contexts: Contexts, arms: Sequence[Arm] | None = None) -> list[Arm]:
        """Return the arm to offer in each context: the same as `decide` for each, but faster."""
        with self._lock:
            rows = self._encoder.encode_many(contexts)
            eligible = self._arms.all if arms is None else self._arms.indices(arms)
            return [self._arms.names[i] for i in self._choose_many(rows, eligible)]

    def learn(self, context: Context, arm: Arm, reward: float) -> None:
        """Take in what came of offering an arm. A call that raises has changed nothing.

        Rewards may come late, in any order, for arms that have been removed since, and from the
        decisions of another system.
        """
        with self._lock:
            index = self._arms.index(arm)
            value = check_one(self.reward, reward)
            row, pending = self._encoder.stage_one(context)
            if pending is not None:
                self._commit(pending)
            self._learn(index, row, value)

    def learn_many(self, contexts: Contexts, arms: Sequence[Arm], rewards: Any) -> None:
        """Take in many observations: the same as `learn` for each, but faster."""
        with self._lock:
            rows, pending = self._encoder.stage_many(contexts)
            indices = self._arms.each(arms, len(rows))
            values = check_many(self.reward, rewards, len(rows))
            self._commit(pending)
            self._learn_many(indices, rows, values)

    def propensities(self, context: Context, arms: Sequence[Arm] | None = None) -> dict[Arm, float]:
        """Return the probability with which `decide` draws each arm; 0 for arms not eligible."""
        with self._lock:
            row, eligible = self._read(context, arms)
            return self._as_propensities(eligible, self._propensities(row, eligible))

    def expected_rewards(
        self, context: Context, arms: Sequence[Arm] | None = None
    ) -> dict[Arm, float]:
        """Return the mean reward that the policy expects of each eligible arm."""
        with self._lock:
            row, eligible = self._read(context, arms)
            return self._by_name(eligible, self._expected(row, eligible))

    def explain(self, context: Context, arms: Sequence[Arm] | None = None) -> Explanation:
        """Return, for each eligible arm, the rule that applies, n, mean and interval."""
        with self._lock:
            row, eligible = self._read(context, arms)
            return Explanation(
                {self._arms.names[i]: self._explain(row, i) for i in eligible.tolist()}
            )

    def add_arm(self, arm: Arm) -> None:
        """Let an arm take part from now on; one that was removed returns with what it learned."""
        with self._lock:
            if self._arms.add(arm) is not None:
                self._add_arm()
            self._arms_changed()

    def remove_arm(self, arm: Arm) -> None:
        """Keep an arm out of decisions; rewards of earlier decisions for it are still accepted."""
        with self._lock:
            self._arms.remove(arm)
            self._arms_changed()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a file, all or nothing; `banditree.load` reads it."""
        files.write(path, self._pack())

    def __repr__(self) -> str:
        shown = []
        for name, default in parameters_of(type(self)).items():
            value = getattr(self, name)
            if name == "arms":
                value = list(value)
            if name == "arms" or value != default:
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (type(self), self._pack(), self._objects())

    # State.

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

    def _pack(self) -> bytes:
        with self._lock:
            names = [name for name in parameters_of(type(self)) if name not in self._objects()]
            header = {
                "policy": type(self).__name__,
                "module": type(self).__module__,
                "parameters": {name: getattr(self, name) for name in names if name != "arms"},
                "objects": self._described_objects(),
                "arms": self._arms.state(),
                "contexts": self._encoder.state(),
                "entropy": self._entropy,
                "random": list(self._random.state),
            }
            return files.pack(header, self._state())

    @classmethod
    def _unpack(cls, header: dict[str, Any], arrays: Arrays, objects: dict[str, Any]) -> Self:
        objects = objects or cls._built_objects(header["objects"])
        names = [arm["name"] for arm in header["arms"]]
        policy = cls(arms=names, **header["parameters"], **objects)
        policy._encoder = Encoder.from_state(header["contexts"])
        policy._entropy = header["entropy"]
        policy._random = _core.Generator(policy._entropy)
        policy._arms.restore_activity([arm["active"] for arm in header["arms"]])
        policy._start()
        policy._features_changed()
        policy._arms_changed()
        policy._restore(arrays)
        # Last, since the steps above may draw, as they did when the policy was new.
        policy._random.state = tuple(header["random"])
        return policy

    # Shared steps.

    def _read(self, context: Context, arms: Sequence[Arm] | None) -> tuple[FloatArray, Indices]:
        row = self._encoder.encode_one(context)
        self._encoder.check_finite(row)
        return row, self._arms.all if arms is None else self._arms.indices(arms)

    def _as_propensities(self, eligible: Indices, values: FloatArray) -> dict[Arm, float]:
        return dict.fromkeys(self.arms, 0.0) | self._by_name(eligible, values)

    def _by_name(self, arms: Indices, values: FloatArray) -> dict[Arm, float]:
        pairs = zip(arms.tolist(), values.tolist(), strict=True)
        return {self._arms.names[i]: value for i, value in pairs}

    def _commit(self, pending: Any) -> None:
        if pending is not None:
            self._encoder.commit(pending)
            self._features_changed()

    def _estimating(self) -> _core.Generator:
        """Return the random stream for estimates: always the same, so that equal beliefs agree."""
        return _core.Generator(self._entropy).child(_ESTIMATES)

    def _draw_uniformly(self, eligible: Indices) -> int:
        return int(eligible[self._random.integers(len(eligible), 1)[0]])

    def _draw_largest(self, values: FloatArray, eligible: Indices) -> int:
        """Return the eligible arm of the largest value, ties at random."""
        best = eligible[np.flatnonzero(values == values.max())]
        return int(best[0]) if len(best) == 1 else self._draw_uniformly(best)


def share_of_largest(values: FloatArray) -> FloatArray:
    """Return the probabilities with which the largest value is drawn, ties at random."""
    best: FloatArray = (values == values.max()).astype(np.float64)
    return best / float(best.sum())


def load(path: str | os.PathLike[str], **objects: Any) -> Policy:
    """Return the policy that `save` wrote: it decides and learns on as the saved one would.

    Parameters
    ----------
    path
        The file.
    objects
        Parameters that a file cannot hold: the `learner` of a `Bootstrap`, unless it is one of
        scikit-learn's.

    Raises
    ------
    StateError
        If the file is truncated, damaged, or no saved policy.

    Examples
    --------
    >>> import tempfile, banditree as bt
    >>> policy = bt.TreeHeuristic(["golf", "tennis"], seed=1)
    >>> policy.learn({"age": 31}, "golf", 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     policy.save(f"{folder}/policy.bt")
    ...     again = bt.load(f"{folder}/policy.bt")
    >>> again.decide_many([{"age": 40}] * 9) == policy.decide_many([{"age": 40}] * 9)
    True
    """
    source = str(path)
    header, arrays = files.unpack(Path(path).read_bytes(), source)
    named = [cls for cls in subclasses(Policy) if cls.__name__ == header.get("policy")]
    # Of several of one name, the one that was saved; else the one defined last.
    named = [cls for cls in named if cls.__module__ == header.get("module")] or named
    if not named:
        raise StateError(
            f"{source} holds a policy of the class {header.get('policy')!r}, which is not known "
            "here; import the module that defines it before loading"
        )
    return _rebuild(named[-1], header, arrays, objects, source)


def _rebuild(
    cls: type[Policy], header: dict[str, Any], arrays: Arrays, objects: dict[str, Any], source: str
) -> Policy:
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            return cls._unpack(header, arrays, objects)
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


def _unpickle(cls: type[Policy], data: bytes, objects: dict[str, Any]) -> Policy:
    header, arrays = files.unpack(data, "the pickle")
    return _rebuild(cls, header, arrays, objects, "the pickle")


def subclasses(cls: type) -> Iterator[type[Policy]]:
    """Yield every policy that is defined so far."""
    children: Sequence[type[Policy]] = cls.__subclasses__()
    for child in children:
        yield child
        yield from subclasses(child)
