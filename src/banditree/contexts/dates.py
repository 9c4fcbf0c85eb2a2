"""Dates and times as features."""

from collections.abc import Iterator
from datetime import date, datetime, time

import numpy as np

from banditree._checking import shorten
from banditree.contexts.values import is_missing
from banditree.errors import InvalidContextError, InvalidParameterError

PARTS = ("year", "month", "day", "weekday", "hour")

# Not by strftime, which speaks the language of the machine.
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def date_parts(when: object, prefix: str = "") -> dict[str, int | str | None]:
    """Return the parts of a date or a time as features: what a policy can learn from.

    Parameters
    ----------
    when
        A `datetime`, `date` or `time`, NumPy's `datetime64` or pandas' `Timestamp`; None, if it is
        not known. A time with a zone is taken as it stands, in that zone.
    prefix
        Put before the names of the parts, so that they can stand in a context beside others; with
        "_" between them.

    Returns
    -------
    dict
        "year", "month", "day" and "hour" as numbers, "weekday" as a string such as "Monday". None
        for what is not known: a `date` has no hour, and a `time` only that.

    Examples
    --------
    >>> from datetime import datetime
    >>> date_parts(datetime(2024, 5, 1, 14, 30))
    {'year': 2024, 'month': 5, 'day': 1, 'weekday': 'Wednesday', 'hour': 14}
    >>> {"age": 31, **date_parts(None, "signup")}["signup_weekday"] is None
    True
    """
    if not isinstance(prefix, str):
        raise InvalidParameterError(
            f'prefix must be a string such as "signup", got {shorten(prefix)}'
        )
    before = prefix if not prefix or prefix.endswith("_") else f"{prefix}_"
    known = dict(_parts(when))
    return {before + part: known.get(part) for part in PARTS}


def _parts(when: object) -> Iterator[tuple[str, int | str]]:
    if when is None or is_missing(when):
        return
    if isinstance(when, np.datetime64):
        when = _from_numpy(when)
    if not isinstance(when, date | time):  # a datetime is a date
        raise InvalidContextError(
            f"a date must be a datetime, a date, a time or None, got {shorten(when)}; turn a text "
            "into one by datetime.fromisoformat, seconds since 1970 by datetime.fromtimestamp"
        )
    if isinstance(when, date):
        yield from (("year", when.year), ("month", when.month), ("day", when.day))
        yield "weekday", _WEEKDAYS[when.weekday()]
    if isinstance(when, datetime | time):
        yield "hour", when.hour


def _from_numpy(when: np.datetime64) -> object:
    """Return Python's date, or datetime if it has hours; what is out of its range as it was."""
    unit = np.datetime_data(when)[0]
    python = when.astype(
        "datetime64[D]" if unit in ("Y", "M", "W", "D") else "datetime64[us]"
    ).item()
    return python if isinstance(python, date) else when
