"""The rules for a single value: what is a number, a category, missing, or refused."""

import math
import numbers
from collections.abc import Mapping, Sequence, Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum

import numpy as np

from banditree._checking import shorten, with_article
from banditree.errors import InvalidContextError
from banditree.types import FeatureName, Kind, Value

NOUNS: dict[Kind, str] = {
    "number": "a number",
    "string": "a string",
    "boolean": "a boolean",
    "category": "a category",
    "unknown": "missing",
}

ADVICE: tuple[tuple[tuple[type, ...], str], ...] = (
    (
        (datetime, date, time, np.datetime64),
        "send its parts in its place, such as the hour and the weekday: banditree.date_parts(value,"
        " prefix) returns them",
    ),
    ((timedelta, np.timedelta64), "send a number such as its seconds"),
    ((bytes, bytearray, memoryview), "decode it to a string"),
    ((Enum,), "send its .name or its .value"),
    ((numbers.Complex,), "send its real and imaginary parts as two features"),
    ((Mapping, Sequence, Set, np.ndarray), "send each of its elements as a feature of its own"),
)

# Whole numbers up to here are exact as floats.
EXACT = 2.0**53


def place(name: FeatureName, row: int | None) -> str:
    """Say which feature, and of which context if there are many."""
    return f"feature {name!r}" if row is None else f"feature {name!r} of context {row}"


def type_change(
    name: FeatureName, was: Kind, value: object, now: Kind, row: int | None = None
) -> InvalidContextError:
    """Return the error for a feature that was one kind and comes as another."""
    return InvalidContextError(
        f"{place(name, row)} is {NOUNS[was]}, as declared or first seen, and came as {NOUNS[now]}:"
        f" {shorten(value)}; a feature keeps its type: send {NOUNS[was]} or None, or declare a"
        f" category of mixed types from the start, by categorical=[...] or features=...;"
        f" set_feature() of a policy corrects what was first seen; one that keeps no contexts"
        f" (LinUCB, LogisticUCB, BanditForest) is made anew instead, with features=..."
    )


def infinite(name: FeatureName, value: object, row: int | None = None) -> InvalidContextError:
    """Return the error for a number that is not finite."""
    return InvalidContextError(
        f"{place(name, row)} is {shorten(value)}: numbers must be finite and fit a 64-bit float; "
        "send None if the value is not known"
    )


def kind_of(value: Value) -> Kind:
    """Return the kind of feature that a plain value belongs to."""
    if isinstance(value, str):
        return "string"
    return "boolean" if isinstance(value, bool) else "number"


def plain(value: object, name: FeatureName, row: int | None = None) -> Value | None:
    """Reduce any value to a plain string, boolean or finite number, or None if it is missing.

    Raises
    ------
    InvalidContextError
        If the value is infinite or of a type that no feature can have.
    """
    kind = type(value)
    if value is None or kind is str or kind is bool:
        return value  # type: ignore[return-value]
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if is_missing(value):
        return None
    # numpy counts a time difference as an integer.
    if isinstance(value, int | np.integer) and not isinstance(value, np.timedelta64):
        return _whole(int(value), name, row)
    if isinstance(value, float | np.floating):
        return _finite(float(value), value, name, row)
    return _rare(value, name, row)


def canonical(value: Value) -> Value:
    """Return the one spelling of a category: 1.0 becomes 1, whatever container it came in."""
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return int(value)
    return value


def is_missing(value: object) -> bool:
    """Return whether a value other than None stands for a missing one."""
    if isinstance(value, float | np.floating):
        return bool(value != value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    # By name, so that pandas need not be imported to recognise its NA and NaT.
    return value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")


def _whole(value: int, name: FeatureName, row: int | None) -> int:
    try:
        float(value)
    except OverflowError:
        raise infinite(name, value, row) from None
    return value


def _finite(value: float, original: object, name: FeatureName, row: int | None) -> float:
    if not math.isfinite(value):
        raise infinite(name, original, row)
    return value


def _rare(value: object, name: FeatureName, row: int | None) -> Value | None:
    if isinstance(value, Decimal | numbers.Real) and not isinstance(value, np.timedelta64):
        return _exact(value, name, row)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return plain(value[()], name, row)
    if type(value).__module__.startswith("pyarrow") and hasattr(value, "as_py"):
        return plain(value.as_py(), name, row)
    advice = "send a number, a string, a boolean, or None if the value is not known"
    for types, hint in ADVICE:
        if isinstance(value, types):
            advice = hint
            break
    raise InvalidContextError(
        f"{place(name, row)} is {with_article(type(value).__name__)}: {shorten(value)}; "
        f"a feature is a number, a string, a boolean or missing; {advice}"
    )


def _exact(value: Decimal | numbers.Real, name: FeatureName, row: int | None) -> int | float | None:
    try:
        number = float(value)
    except OverflowError:
        raise infinite(name, value, row) from None
    if number != number:
        return None
    _finite(number, value, name, row)
    # Whole decimals stay integers: as floats, long identifiers would fall together.
    if abs(number) < 1e40 and int(value) == value:  # type: ignore[arg-type]
        return int(value)  # type: ignore[arg-type]
    return number
