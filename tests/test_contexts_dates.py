"""Dates and times as features."""

from datetime import UTC, date, datetime, time, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

import banditree as bt

EVENING = {"year": 2024, "month": 5, "day": 1, "weekday": "Wednesday", "hour": 22}
DAY = {**EVENING, "hour": None}
NOTHING = dict.fromkeys(EVENING)


@pytest.mark.parametrize(
    ("when", "parts"),
    [
        (datetime(2024, 5, 1, 22, 59), EVENING),
        (datetime(2024, 5, 1, 22, tzinfo=timezone(timedelta(hours=9))), EVENING),
        (pd.Timestamp("2024-05-01 22:15", tz=UTC), EVENING),
        (np.datetime64("2024-05-01T22:15:07.123456789"), EVENING),
        (np.datetime64("2024-05-01T22"), EVENING),
        (date(2024, 5, 1), DAY),
        (np.datetime64("2024-05-01"), DAY),
        (np.datetime64("2024-05"), DAY),
        (time(22, 30), {**NOTHING, "hour": 22}),
        (None, NOTHING),
        (pd.NaT, NOTHING),
        (pd.NA, NOTHING),
        (np.datetime64("NaT"), NOTHING),
        (float("nan"), NOTHING),
    ],
)
def test_parts(when, parts):
    assert bt.date_parts(when) == parts
    assert list(bt.date_parts(when)) == list(parts)
    for prefix in ("signup", "signup_"):
        assert bt.date_parts(when, prefix) == {f"signup_{part}": v for part, v in parts.items()}


@pytest.mark.parametrize("day", range(7))
def test_weekdays(day):
    names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    assert bt.date_parts(date(2024, 4, 29) + timedelta(day))["weekday"] == names[day]


@pytest.mark.parametrize(
    "wrong", ["2024-05-01", 1714600000, timedelta(1), np.datetime64("99999-01-01"), [date.today()]]
)
def test_what_is_no_date(wrong):
    with pytest.raises(bt.InvalidContextError, match=r"a date must be .*got .*fromisoformat"):
        bt.date_parts(wrong)
    with pytest.raises(bt.InvalidParameterError, match="prefix must be a string"):
        bt.date_parts(None, 5)


def test_a_policy_learns_from_the_parts():
    policy = bt.TreeHeuristic(["golf", "tennis"], seed=1)
    moment = datetime(2024, 5, 1)
    for hours in range(200):
        context = {"age": 31, **bt.date_parts(moment + timedelta(hours=hours), "seen")}
        late = context["seen_hour"] >= 12
        policy.learn(context, "golf", int(late))
    assert "seen_hour" in policy.explain(context)["golf"].rule
    with pytest.raises(bt.InvalidContextError, match=r"date_parts\(value, prefix\)"):
        policy.learn({"age": 31, "seen": moment}, "golf", 1)
