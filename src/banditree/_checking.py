"""Checks of arguments, and what is said about wrong ones."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, get_args

import numpy as np

from banditree.errors import InvalidParameterError
from banditree.types import FloatArray

__all__ = [
    "as_float",
    "as_floats",
    "as_real",
    "check_choice",
    "check_seed",
    "check_share",
    "check_whole",
    "did_you_mean",
    "shorten",
    "with_article",
]


def did_you_mean(name: str, known: Iterable[object], otherwise: str) -> str:
    """Return a hint at the known name that is most like another, whatever its case.

    Examples
    --------
    >>> did_you_mean("gofl", ["golf", "tennis"], "add it")
    "did you mean 'golf'?"
    >>> did_you_mean("chess", ["golf", "tennis"], "add it")
    'add it'
    """
    by_text = {str(other).strip().casefold(): other for other in known}
    close = get_close_matches(name.strip().casefold(), by_text, n=1)
    return f"did you mean {by_text[close[0]]!r}?" if close else otherwise


def shorten(value: object) -> str:
    """Return `value` as it may appear in a message: never long, never an error."""
    try:
        plainly = isinstance(value, np.number | np.bool_ | np.datetime64)
        text = str(value) if plainly else repr(value)  # inf, rather than np.float32(inf)
    except Exception:  # repr is the caller's code; Python itself refuses integers of 4,301 digits
        return f"<{type(value).__name__}>"
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an" before it.

    Examples
    --------
    >>> with_article("int"), with_article("float"), with_article("ndarray"), with_article("uint8")
    ('an int', 'a float', 'an ndarray', 'a uint8')
    """
    sounds_open = noun[:1].lower() in "aeio" or noun.startswith("nd")
    return f"{'an' if sounds_open else 'a'} {noun}"


def check_whole(name: str, value: Any, least: int) -> int:
    """Return a whole number that is at least `least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= value < 2**31:
        raise InvalidParameterError(
            f"{name} must be a whole number from {least} up, got {shorten(value)}; "
            f"see the documentation of {name} for its meaning"
        )
    return int(value)


def check_share(name: str, value: Any) -> float:
    """Return a number from 0 to 1."""
    share = as_float(value)
    if isinstance(value, bool) or not 0 <= share <= 1:
        raise InvalidParameterError(
            f"{name} must be a number from 0 to 1, got {shorten(value)}; "
            f"see the documentation of {name} for its meaning"
        )
    return share


def check_choice(name: str, value: Any, literal: Any) -> Any:
    """Return the value if it is one of the words of a Literal type."""
    words = get_args(literal)
    if not isinstance(value, str) or value not in words:
        listed = ", ".join(f'"{word}"' for word in words)
        raise InvalidParameterError(
            f"{name} must be one of {listed}; got {shorten(value)}; "
            f"see the documentation of {name} for what they mean"
        )
    return value


def check_seed(seed: Any) -> int:
    """Return a seed: a whole number of at most 64 bits."""
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= seed < 2**64:
        raise InvalidParameterError(
            f"seed must be a whole number from 0 up to 2**64 - 1, got {shorten(seed)}; "
            "any one will do"
        )
    return int(seed)


def as_floats(values: Any) -> FloatArray | None:
    """Return the numbers as an array; None if some are no real numbers. Strings are not numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = np.array([as_real(value) for value in array.flat]).reshape(array.shape)
        if array.dtype.kind not in "biuf":
            return None
        return np.require(array, np.float64, ["C", "A"]).reshape(array.shape)
    except (TypeError, ValueError):
        return None


def as_float(value: Any) -> float:
    """Return the number; NaN if it is no real number."""
    real = as_real(value)
    return float("nan") if real is None else real


def as_real(value: Any) -> float | None:
    """Return the number, NaN if it is missing; None if it is no real number."""
    if value is None:
        return float("nan")
    if isinstance(value, str | bytes | complex | np.complexfloating):
        return None
    if getattr(value, "ndim", 0) != 0:
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
