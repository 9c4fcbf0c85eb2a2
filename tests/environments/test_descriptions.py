"""What environments tell about themselves."""

import json
from dataclasses import asdict
from typing import Any

import pandas as pd
import pytest

from banditree.environments import (
    Classification,
    Delayed,
    Description,
    Drifting,
    Environment,
    Episode,
    SportsAds,
)


def people(n_rows: int, **columns: Any) -> pd.DataFrame:
    labels = [("a", "b", "c")[i % 3] for i in range(n_rows)]
    return pd.DataFrame({"x": range(n_rows), "label": labels, **columns})


def names(n_rows: int, n_different: int) -> list[str]:
    return [f"user {i % n_different}" for i in range(n_rows)]


def remarks(table: pd.DataFrame, **settings: Any) -> tuple[str, ...]:
    return Classification(table, "label", **settings).describe().remarks


def test_drawn_rows_have_no_number():
    assert SportsAds().describe() == Description(arms=4, features=4, rows=None, remarks=())


def test_an_environment_of_ones_own_describes_itself():
    class Own(Environment):
        name = "own"

        def episode(self, horizon: int, seed: int) -> Episode:
            return SportsAds().episode(horizon, seed)

        def fingerprint(self) -> dict[str, Any]:
            return {}

    assert Own().describe() == Description(4, 4, None)


def test_a_clean_table_needs_no_remark():
    table = people(30, city=names(30, 3), y=range(30))
    assert Classification(table, "label").describe() == Description(3, 3, 30, ())


@pytest.mark.parametrize(
    ("n_missing", "expected"),
    [
        (1, "1 of 1,200 rows has no label and is left out"),
        (14, "14 of 1,200 rows have no label and are left out"),
    ],
)
def test_rows_without_label_are_counted(n_missing: int, expected: str):
    table = people(1200)
    table.loc[: n_missing - 1, "label"] = None
    assert remarks(table) == (expected,)
    assert Classification(table, "label").describe().rows == 1200 - n_missing


def test_rows_of_dropped_classes_are_another_remark():
    table = people(3702)
    table.loc[0, "label"] = None  # else an "a"
    found = Classification(table, "label", dropped=["b"]).describe()
    assert found == Description(
        arms=2,
        features=1,
        rows=2467,
        remarks=(
            "1 of 3,702 rows has no label and is left out",
            "1,234 rows of the dropped classes are left out",
        ),
    )
    table = pd.DataFrame({"x": [1, 2, 3], "label": ["a", "b", "c"]})
    assert remarks(table, dropped=["c"]) == ("1 row of the dropped classes is left out",)


def test_features_that_seem_to_name_the_rows_are_named():
    table = people(
        1200, user_id=names(1200, 1200), half=names(1200, 600), more=names(1200, 601), y=range(1200)
    )
    advice = "different values in 1,200 rows; if it only names the rows, put it into unused"
    assert remarks(table) == (
        f"feature 'user_id' has 1,200 {advice}",
        f"feature 'more' has 601 {advice}",
    )
    assert remarks(table, unused=["user_id", "more"]) == ()
    assert remarks(table, unused=["user_id", "more"], categorical=["y"]) == (
        f"feature 'y' has 1,200 {advice}",
    )


def test_few_rows_or_missing_names_say_nothing():
    assert remarks(people(19, user_id=names(19, 19))) == ()
    assert len(remarks(people(20, user_id=names(20, 20)))) == 1
    some = [name if i % 2 else None for i, name in enumerate(names(20, 20))]
    assert remarks(people(20, user_id=some)) == ()


def test_values_of_rows_left_out_do_not_count():
    user_id = [f"user {i}" if i % 3 == 1 else "no one" for i in range(60)]
    table = people(60, user_id=user_id)
    assert remarks(table, dropped=["b"]) == ("20 rows of the dropped classes are left out",)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda inner: Drifting(inner, 500),
            "from step 500 on each arm pays what the one before it did",
        ),
        (lambda inner: Delayed(inner, 100), "rewards come 100 steps late"),
        (lambda inner: Delayed(inner, 1), "rewards come 1 step late"),
        (lambda inner: Delayed(inner, 100, random=True), "rewards come about 100 steps late"),
    ],
)
def test_harder_ones_add_a_remark(make: Any, expected: str):
    assert make(SportsAds()).describe() == Description(4, 4, None, (expected,))
    inner = Classification(people(20, user_id=names(20, 20)), "label")
    found = make(inner).describe()
    assert found == Description(3, 2, 20, (*inner.describe().remarks, expected))


def test_a_description_is_what_json_can_hold():
    table = people(40, user_id=names(40, 40))
    table.loc[:2, "label"] = None
    environment = Delayed(Drifting(Classification(table, "label", dropped=["c"]), 5), 7)
    found = json.loads(json.dumps(asdict(environment.describe())))
    assert list(found) == ["arms", "features", "rows", "remarks"]
    assert (found["arms"], found["features"], found["rows"]) == (2, 2, 25)
    assert len(found["remarks"]) == 5


def test_a_label_that_is_a_number_is_remarked() -> None:
    frame = pd.DataFrame({"x": [1, 2] * 15, "price": [i + 0.5 for i in range(30)]})
    (remark,) = Classification(frame, "price").describe().remarks
    assert remark.startswith("the label 'price' has 30 different values in 30 rows")
