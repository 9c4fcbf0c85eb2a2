"""Policies in several processes: which process this is, and what a forked one must renew."""

import os
import secrets
import threading
import weakref
from typing import Any, Protocol

from banditree import _core


class Drawing(Protocol):
    """What a policy has that a forked process must renew."""

    seed: int | None
    _random: _core.Generator
    _lock: Any
    _saving: Any


_alive: weakref.WeakValueDictionary[int, Drawing] = weakref.WeakValueDictionary()
_token = secrets.token_hex(8)


def process_token() -> str:
    """Return a word that no other process has."""
    return _token


def fresh_generator() -> _core.Generator:
    """Return an unpredictable random stream."""
    return _core.Generator(secrets.randbits(64))


def renew_after_fork(policy: Drawing) -> None:
    """See to it that a policy draws other numbers in a forked process, unless it has a seed."""
    _alive[id(policy)] = policy


def _renew() -> None:
    global _token
    _token = secrets.token_hex(8)
    for policy in list(_alive.values()):
        # A thread that is not here any more may have held them.
        policy._lock = threading.RLock()
        policy._saving = threading.Lock()
        if policy.seed is None:
            policy._random = fresh_generator()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_renew)
