"""Policies from files."""

import os
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any

from banditree.errors import InvalidParameterError, StateError
from banditree.policies.base import Policy
from banditree.policies.parameters import COMMON, parameters_of
from banditree.policies.saving import appended, files
from banditree.policies.saving.replaying import replay
from banditree.types import Seed


def load(
    path: str | os.PathLike[str], *, seed: "Seed | EllipsisType" = ..., **objects: Any
) -> Policy[Any]:
    """Return the policy that `save` wrote: it decides and learns on as the saved one would.

    A policy without a seed learns on as the saved one, but draws numbers of its own in every
    process other than the one that saved it.

    Parameters
    ----------
    path
        The file.
    seed
        Of draws from now on, as by `Policy.reseed`; left out, those of the saved policy.
    objects
        Parameters that a file cannot hold: the `learner` of a `Bootstrap`, unless it is one of
        scikit-learn's.

    Raises
    ------
    StateError
        If the file is truncated, damaged, or no saved policy.
    InvalidParameterError
        If the path names no file, or if there is no such argument.

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
    (header, arrays), *later = appended.read(files.as_path(path).read_bytes(), source)
    cls = class_of(header, source)
    if objects:
        check_objects("load", cls, header, objects)
    policy = cls._rebuild(cls._unpack, header, arrays, objects, source)
    replay(policy, later, source)
    if seed is not ...:
        policy.reseed(seed)
    return policy


def class_of(header: dict[str, Any], source: str) -> type[Policy[Any]]:
    """Return the class of the policy that a header describes."""
    named = [cls for cls in subclasses(Policy) if cls.__name__ == header.get("policy")]
    named = [cls for cls in subclasses(Policy) if cls.__name__ == header.get("policy")]
    # Of several of one name, the one that was saved; else the one defined last.
    named = [cls for cls in named if cls.__module__ == header.get("module")] or named
    if not named:
        raise StateError(
            f"{source} holds a policy of the class {header.get('policy')!r}, which is not known "
            "here; import the module that defines it before loading"
        )
    return named[-1]


def check_objects(caller: str, cls: type, header: dict[str, Any], objects: dict[str, Any]) -> None:
    """Refuse arguments that are no parameters of the policy, or that its file holds."""
    held = COMMON.union(dict(header.get("parameters") or {}))
    taken = [name for name in parameters_of(cls) if name not in held]
    wrong = next((name for name in objects if name not in taken), None)
    if wrong is not None:
        raise InvalidParameterError(
            f"{caller} has no argument {wrong!r} for a saved {cls.__name__}; it takes "
            f"{' and '.join([*(['seed'] if caller == 'load' else ()), *taken]) or 'none'}; "
            "all else is in the file"
        )


def subclasses(cls: type) -> Iterator[type[Policy[Any]]]:
    """Yield every policy that is defined so far."""
    children: Sequence[type[Policy[Any]]] = cls.__subclasses__()
    for child in children:
        yield child
        yield from subclasses(child)
