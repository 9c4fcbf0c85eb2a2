"""Errors raised by banditree.

Each derives from `BanditreeError` and from exactly one built-in, so that both
``except BanditreeError`` and, for instance, ``except ValueError`` work::

    BanditreeError(Exception)
    ├── InvalidParameterError(ValueError)
    ├── InvalidContextError(ValueError)
    ├── InvalidRewardError(ValueError)
    ├── UnknownArmError(LookupError)
    ├── NotFittedError(RuntimeError)
    ├── StateError(ValueError)
    └── DataError(OSError)

`BanditreeWarning(UserWarning)` is the class of every warning.

A message says what was wrong, the rule, the value received and what to do about it.
"""

__all__ = [
    "BanditreeError",
    "BanditreeWarning",
    "DataError",
    "InvalidContextError",
    "InvalidParameterError",
    "InvalidRewardError",
    "NotFittedError",
    "StateError",
    "UnknownArmError",
]


class BanditreeError(Exception):
    """The base of every error that banditree raises on purpose."""


class InvalidParameterError(BanditreeError, ValueError):
    """A constructor or method was given a setting outside its allowed values."""


class InvalidContextError(BanditreeError, ValueError):
    """A context cannot be read: an infinite value, a changed type, a wrong length."""


class InvalidRewardError(BanditreeError, ValueError):
    """A reward is not finite, or lies outside [0, 1] where rewards are binary."""


# LookupError rather than KeyError, because KeyError shows its message in quotes.
class UnknownArmError(BanditreeError, LookupError):
    """An arm was named that the policy does not have."""


class NotFittedError(BanditreeError, RuntimeError):
    """A tree was asked for something that it only knows after `fit`."""


class StateError(BanditreeError, ValueError):
    """A saved state is truncated, damaged, foreign or of an unknown version."""


class DataError(BanditreeError, OSError):
    """A data set is neither here nor can be downloaded, or is not what it should be."""


class BanditreeWarning(UserWarning):
    """Something is allowed, but probably not meant: a feature's name never seen before."""
