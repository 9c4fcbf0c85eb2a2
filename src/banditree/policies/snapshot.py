"""What decisions need of a policy: immutable, as bytes, and for any number of threads."""

import contextlib
import hashlib
import threading
from collections.abc import Sequence
from typing import Any, Generic, NoReturn, Self

import numpy as np

from banditree import _core
from banditree._checking import shorten
from banditree.contexts import Features
from banditree.errors import InvalidParameterError, StateError
from banditree.policies.base import Policy
from banditree.policies.beliefs import Arrays
from banditree.policies.choosing import draw_by
from banditree.policies.explanation import Explanation
from banditree.policies.processes import fresh_generator, process_token
from banditree.policies.saving import files
from banditree.policies.saving.loading import check_objects, class_of
from banditree.types import A, Context, Contexts, Decision, FloatArray, Key

MAGIC = b"banditree snapshot\n"
FORMAT = 1


class Snapshot(Generic[A]):
    """A policy as it was at one moment: what decisions need, and nothing else.

    It decides as the policy would have at that moment, with the same propensities to the last bit,
    and never changes. Any number of threads may ask it at once, without a lock. `Policy.snapshot`
    makes one; `to_bytes` and `from_bytes` carry it to other processes.

    Without a key, draws are random numbers that nobody can know, others in each thread and process.
    With a key they follow from the key and the propensities alone, so that a decision can be
    repeated anywhere.

    Examples
    --------
    >>> from banditree import TreeHeuristic
    >>> policy = TreeHeuristic(["golf", "tennis"], seed=1)
    >>> policy.learn_many([{"age": 31}] * 3, ["golf", "golf", "tennis"], [1, 1, 0])
    >>> snapshot = policy.snapshot()
    >>> snapshot.decision({"age": 40}, key="order-17").arm
    'golf'
    >>> Snapshot.from_bytes(snapshot.to_bytes()) == snapshot
    True
    """

    __slots__ = ("__weakref__", "_data", "_digest", "_local", "_objects", "_policy")

    _data: bytes
    _digest: str
    _local: threading.local
    _objects: dict[str, Any]
    _policy: Policy[A]

    def __init__(self, data: bytes, objects: dict[str, Any]) -> None:
        header, arrays = _unseal(data)
        cls = class_of(header, "the snapshot")
        if objects:
            check_objects("from_bytes", cls, header, objects)
        policy = cls._rebuild(cls._thaw, header, arrays, objects, "the snapshot")
        values = {
            "_data": data,
            "_digest": hashlib.sha256(data).hexdigest(),
            "_local": threading.local(),
            "_objects": objects,
            "_policy": policy,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, policy: Policy[A]) -> Self:
        """Return the snapshot of a policy; the same as `policy.snapshot()`."""
        with policy._lock:
            data, held = _seal(policy), policy._described_objects()
            # What the bytes hold is built again, so that nobody else has a hand in it.
            objects = {k: v for k, v in policy._objects().items() if k not in held}
        return cls(data, objects)

    @classmethod
    def from_bytes(cls, data: bytes, **objects: Any) -> Self:
        """Return the snapshot that `to_bytes` gave these bytes of.

        Parameters
        ----------
        data
            The bytes.
        objects
            Parameters that bytes cannot hold, as for `load`: the `learner` of a `Bootstrap`, unless
            it is one of scikit-learn's.

        Raises
        ------
        StateError
            If the bytes are truncated, damaged, or not of a snapshot.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InvalidParameterError(
                f"data must be bytes, got {shorten(data)}; pass what to_bytes() returned"
            )
        return cls(bytes(data), objects)

    def to_bytes(self) -> bytes:
        """Return the snapshot as bytes: the same for equal beliefs, on every machine."""
        return self._data

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes, in hexadecimal digits: a name for what is believed."""
        return self._digest

    @property
    def arms(self) -> tuple[A, ...]:
        """The arms that may be drawn."""
        return self._policy.arms

    @property
    def features(self) -> Features:
        """What is known of each feature: its kind, and how many categories it has."""
        return self._policy._encoder.described

    def decide(
        self, context: Context, arms: Sequence[A] | None = None, key: Key | None = None
    ) -> A:
        """Return the arm to offer; with a key, that of `decision` with the same key.

        Parameters
        ----------
        context, arms
            As for `Policy.decide`.
        key
            What the draw follows from: a string, a whole number or bytes. None: a fresh draw.
        """
        if key is not None:
            return self.decision(context, arms, key).arm
        return self._reader().decide(context, arms)

    def decide_many(self, contexts: Contexts, arms: Sequence[A] | None = None) -> list[A]:
        """Return the arm to offer in each context, by fresh draws.

        For policies with trees most of the time is spent where other threads can run.
        """
        policy = self._reader()
        if not policy.floor:
            return policy.decide_many(contexts, arms)
        rows = policy._encoder.encode_many(contexts)
        eligible = policy._arms.all if arms is None else policy._arms.indices(arms)
        chosen = np.array(policy._choose_many(rows, eligible), dtype=np.int64)
        uniformly = np.flatnonzero(policy._random.uniform(len(rows)) < policy.floor)
        chosen[uniformly] = eligible[policy._random.integers(len(eligible), len(uniformly))]
        return policy._arms.named(chosen)

    def decision(
        self, context: Context, arms: Sequence[A] | None = None, key: Key | None = None
    ) -> Decision[A]:
        """Return the arm to offer with the probability that it was drawn with.

        With a key the draw follows from the key and the propensities alone: the same snapshot,
        context, arms and key give the same arm in every process. Use a key once, such as the
        number of an order: decisions of equal keys are not independent.
        """
        policy = self._reader()
        random = policy._random if key is None else _generator_of(key)
        row, eligible = policy._read(context, arms)
        chances = policy._chances(row, eligible)
        order = np.argsort(eligible)  # so that the order in which arms are named does not matter
        arm = policy._arms.names[draw_by(chances[order], eligible[order], random)]
        propensities = policy._as_propensities(eligible, chances)
        return Decision(arm, propensities[arm], propensities)

    def propensities(self, context: Context, arms: Sequence[A] | None = None) -> dict[A, float]:
        """Return the probability with which each arm is drawn; 0 for arms not eligible.

        To the last bit what the policy's `propensities` returned at that moment.
        """
        return Policy.propensities(self._reader(), context, arms)

    def propensities_many(self, contexts: Contexts, arms: Sequence[A] | None = None) -> FloatArray:
        """Return `propensities` of each context: a row for each, a column for each of `arms`."""
        return Policy.propensities_many(self._reader(), contexts, arms)

    def expected_rewards(self, context: Context, arms: Sequence[A] | None = None) -> dict[A, float]:
        """Return the mean reward that is expected of each eligible arm."""
        return self._reader().expected_rewards(context, arms)

    def expected_rewards_many(
        self, contexts: Contexts, arms: Sequence[A] | None = None
    ) -> FloatArray:
        """Return `expected_rewards` of each context; NaN for arms that are not eligible."""
        return self._reader().expected_rewards_many(contexts, arms)

    def explain(self, context: Context, arms: Sequence[A] | None = None) -> Explanation:
        """Return, for each eligible arm, the rule that applies, n, mean and interval.

        The interval of a tree policy is that of the leaf's own observations. The policy's own also
        reaches to that of observations held out, which a snapshot does not have; it may be wider.
        """
        return self._reader().explain(context, arms)

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if isinstance(other, Snapshot) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        made, n_features = type(self._policy).__name__, self._policy._encoder.n_features
        arms = f"{len(self.arms)} arm{'' if len(self.arms) == 1 else 's'}"
        features = f"{n_features} feature{'' if n_features == 1 else 's'}"
        return f"<Snapshot of {made}: {arms}, {features}, {self._digest[:12]}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._data, self._objects)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{name} cannot be set: a snapshot never changes; take another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name} cannot be deleted: a snapshot never changes")

    def _reader(self) -> Policy[A]:
        """Return the policy as this thread reads it: with a generator of its own, and no lock."""
        local = self._local
        # A forked process must not draw what its parent draws.
        if getattr(local, "process", None) is not process_token():
            policy = self._policy
            reader = object.__new__(type(policy))
            own = {"_random": fresh_generator(), "_lock": contextlib.nullcontext()}
            vars(reader).update(vars(policy) | own)
            local.reader, local.process = reader, process_token()
        reader_here: Policy[A] = local.reader
        return reader_here


def _seal(policy: Policy[Any]) -> bytes:
    """Return what decisions need as bytes, without anything that they do not depend on."""
    identity = policy._identity()
    if "seed" in identity["parameters"]:
        identity["parameters"]["seed"] = None
    entropy = policy._entropy if policy._frozen_needs_entropy else 0
    header = {"snapshot": FORMAT, **identity, "entropy": entropy}
    return MAGIC + files.pack(header, policy._frozen_state())


def _unseal(data: bytes) -> tuple[dict[str, Any], Arrays]:
    if not data.startswith(MAGIC):
        raise StateError("these bytes are no snapshot; pass what snapshot.to_bytes() returned")
    header, arrays = files.unpack(data[len(MAGIC) :], "the snapshot")
    if header.get("snapshot") != FORMAT:
        raise StateError(
            f"the snapshot is in format {header.get('snapshot')}, but this version of banditree "
            f"reads format {FORMAT}; install the version that wrote it"
        )
    return header, arrays


def _generator_of(key: Any) -> _core.Generator:
    """Return the random stream of a key: another one for "17" than for 17."""
    if isinstance(key, str):
        canonical = b"str:" + key.encode("utf-8", "surrogatepass")
    elif isinstance(key, int | np.integer) and not isinstance(key, bool):
        canonical = b"int:" + format(int(key), "x").encode()
    elif isinstance(key, bytes):
        canonical = b"bytes:" + key
    else:
        raise InvalidParameterError(
            f"key must be a string, a whole number or bytes, got {shorten(key)}; "
            "pass what names the decision, such as the number of an order"
        )
    digest = hashlib.sha256(canonical).digest()
    return _core.Generator(int.from_bytes(digest[:8], "little"))
