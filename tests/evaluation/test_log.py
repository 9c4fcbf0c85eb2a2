"""Logs: what tables are read as, and what is wrong with those that are refused."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet
import pytest

import banditree as bt
from banditree.environments import Delayed, SportsAds
from banditree.errors import (
    BanditreeError,
    BanditreeWarning,
    InvalidParameterError,
    InvalidRewardError,
    UnknownArmError,
)
from banditree.evaluation import Log, evaluate
from evaluation.made_up import ARMS, LOGGER, a_log, as_log, best, drawn

TABLE = drawn(200)
FORMS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "arrow": lambda table: table.to_arrow(),
}


@pytest.mark.parametrize("form", FORMS)
def test_any_table_is_the_same_log(form: str):
    log = as_log(FORMS[form](TABLE), context=["age", "city"])
    assert log.arms == ARMS
    assert [log.arms[i] for i in log.chosen] == TABLE["item"].to_list()
    assert log.rewards.tolist() == TABLE["click"].to_list()
    assert log.propensities.tolist() == TABLE["p"].to_list()
    assert list(log.contexts.one_by_one(0, 2)) == TABLE[:2].select("age", "city").to_dicts()
    assert evaluate(best, log).estimates == evaluate(best, as_log(TABLE)).estimates


@pytest.mark.parametrize("name", ["log.parquet", "log.csv"])
def test_files_are_read(tmp_path: Path, name: str):
    path = tmp_path / name
    write = TABLE.write_parquet if name.endswith("parquet") else TABLE.write_csv
    write(path)
    for given in (path, str(path)):
        assert len(as_log(given)) == 200


def test_columns_are_not_copied():
    table = pl.DataFrame({"item": ["a", "b"], "click": [1.0, 0.0], "p": [0.5, 0.5], "x": [1, 2]})
    log = as_log(table)
    assert np.shares_memory(log.rewards, table["click"].to_numpy())
    assert np.shares_memory(log.propensities, table["p"].to_numpy())


def test_rows_are_sorted_by_time():
    times = pl.Series([3, 1, 2] * 50)
    shuffled = TABLE[:150].with_columns(at=times)
    log = as_log(shuffled, time="at")
    order = np.argsort(times.to_numpy(), kind="stable")
    assert log.rewards.tolist() == shuffled["click"].to_numpy()[order].tolist()
    (first,) = log.contexts.one_by_one(0, 1)
    assert first == {"age": shuffled["age"][1], "city": shuffled["city"][1]}


def test_arms_of_whole_numbers_stay_so():
    table = pd.DataFrame({"arm": [3, 1, 3], "reward": [0, 1, 0], "propensity": [0.5] * 3, "x": 1})
    assert Log.from_table(table).arms == (1, 3)
    assert Log.from_table(table, arms=[5, 3, 1]).arms == (5, 3, 1)


def test_missing_rewards_are_filled_in_or_left_out():
    gaps = TABLE.with_columns(
        click=pl.when(pl.col("age") < 30).then(None).otherwise(pl.col("click"))
    )
    n_missing = gaps["click"].null_count()
    kept = as_log(gaps, no_reward="leave out")
    assert len(kept) == 200 - n_missing
    assert kept.health.join_rate == pytest.approx(1 - n_missing / 200)
    filled = as_log(gaps, no_reward=0)
    assert len(filled) == 200
    assert filled.rewards.sum() == kept.rewards.sum()
    assert "of the decisions have no reward" in str(filled)


def with_row(row: int, **values: Any) -> pl.DataFrame:
    changed = [
        pl.when(pl.int_range(pl.len()) == row).then(pl.lit(v)).otherwise(pl.col(name)).alias(name)
        for name, v in values.items()
    ]
    return TABLE.with_columns(changed)


FLOATS = TABLE.with_columns(item=pl.col("p"))
PROPENSITY = "a propensity must be above 0 and at most 1, got "
BAD: list[tuple[str, Any, dict[str, Any], type[BanditreeError], str]] = [
    ("0", with_row(7, p=0.0), {}, InvalidParameterError, f"{PROPENSITY}0 in row 7 (1 such rows)"),
    ("above 1", with_row(7, p=1.2), {}, InvalidParameterError, f"{PROPENSITY}1.2 in row 7"),
    ("negative", with_row(7, p=-0.1), {}, InvalidParameterError, f"{PROPENSITY}-0.1 in row 7"),
    ("NaN", with_row(7, p=math.nan), {}, InvalidParameterError, "got none in row 7 (1 such rows)"),
    (
        "no propensity",
        with_row(7, p=None),
        {},
        InvalidParameterError,
        "pass propensity=None to est",
    ),
    ("no reward", with_row(7, click=None), {}, InvalidRewardError, "1 of 200 rows have no reward"),
    ("infinite", with_row(7, click=math.inf), {}, InvalidRewardError, "got inf in row 7"),
    (
        "no arm",
        with_row(7, item=None),
        {},
        InvalidParameterError,
        "no arm in 1 rows, first in row 7",
    ),
    ("empty", TABLE[:0], {}, InvalidParameterError, "the table has no rows"),
    (
        "one arm",
        TABLE.filter(item="golf"),
        {},
        InvalidParameterError,
        "offers 'golf' in all of its",
    ),
    ("another arm", TABLE, {"arms": ["golf", "tennis"]}, UnknownArmError, "has the arm 'soccer'"),
    (
        "text",
        TABLE,
        {"reward": "city"},
        InvalidParameterError,
        "'city' of reward must hold numbers",
    ),
    ("misspelt", TABLE, {"reward": "clik"}, InvalidParameterError, "did you mean 'click'?"),
    ("twice", TABLE, {"context": ["age", "click"]}, InvalidParameterError, "is named for both"),
    ("a text", TABLE, {"context": "age"}, InvalidParameterError, "put a single name in a list"),
    (
        "no table",
        [1, 2],
        {},
        InvalidParameterError,
        "table must be a pandas, polars or Arrow table",
    ),
    ("no file", "none.parquet", {}, InvalidParameterError, "there is no file 'none.parquet'"),
    ("a word", with_row(7, click=None), {"no_reward": "zero"}, InvalidParameterError, "no_reward"),
    ("float arms", FLOATS, {}, InvalidParameterError, "must hold strings or whole numbers"),
]


@pytest.mark.parametrize(
    ("table", "options", "error", "words"), [b[1:] for b in BAD], ids=[b[0] for b in BAD]
)
def test_what_is_wrong_is_named(
    table: Any, options: dict[str, Any], error: type[BanditreeError], words: str
):
    with pytest.raises(error) as raised:
        as_log(table, **options)
    assert words in str(raised.value)


def test_times_must_be_there():
    with pytest.raises(InvalidParameterError, match="of time is empty in row 1"):
        as_log(TABLE[:3].with_columns(at=pl.Series([1, None, 2])), time="at")


# Eligible arms


@pytest.mark.parametrize(
    "cells", [["golf|tennis", "golf|soccer"], [["golf", "tennis"], ["golf", "soccer"]]]
)
def test_eligible_arms_are_read_from_text_and_lists(cells: list[Any]):
    table = pl.DataFrame(
        {"item": ["tennis", "golf"], "click": [1, 0], "p": [0.5, 0.5], "x": [1, 2]}
    )
    log = as_log(table.with_columns(pl.Series("can", cells)), eligible="can", arms=ARMS)
    assert log.eligible.sets == ((0, 2), (0, 1))


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("golf|soccer", "row 0 offered 'tennis', which is not among the arms that it names"),
        ("golf|chess", "row 0 names 'chess' as eligible, which is none of the arms"),
        (5, "the eligible arms of row 0 must be a list of arms"),
    ],
)
def test_eligible_arms_that_cannot_be_are_refused(cell: Any, words: str):
    table = pl.DataFrame(
        {"item": ["tennis", "golf"], "click": [1, 0], "p": [0.5, 0.5], "x": [1, 2]}
    )
    cells = pl.Series("can", [cell, cell])
    with pytest.raises(BanditreeError) as raised:
        as_log(table.with_columns(cells), eligible="can", arms=ARMS)
    assert words in str(raised.value)


# Health


def test_right_propensities_are_healthy():
    wrong = sum(bool(a_log(5_000, seed).health.wrong) for seed in range(40))
    assert wrong == 0


def test_wrong_propensities_are_found():
    for seed in range(40):
        table = drawn(2_000, seed).with_columns(p=pl.lit(1 / 3))
        health = as_log(table).health
        assert health.wrong, seed
        assert "was offered more often than its propensities say" in str(health)


def test_an_arm_that_is_hardly_ever_drawn_is_no_sign_of_wrong_propensities():
    rare = np.array([[0.5, 0.499, 0.001], [0.001, 0.4, 0.599]])
    assert not any(as_log(drawn(2_000, seed, rare)).health.wrong for seed in range(40))


def test_the_mean_weights_are_those_of_the_definition():
    log = a_log(500)
    golf = np.where(log.chosen == 0, 1 / log.propensities, 0)
    known = log.health.arms["golf"]
    assert known.weight == pytest.approx(golf.mean())
    assert known.rows == (log.chosen == 0).sum()
    assert known.least == 0.2
    assert log.health.weight == pytest.approx((1 / log.propensities).mean() / 3)


def test_certain_decisions_are_counted_as_useless():
    certain = np.array([[1.0, 0, 0], [0.2, 0.2, 0.6]])
    log = as_log(drawn(1_000, 0, certain))
    share = (drawn(1_000, 0, certain)["city"] == "Bonn").mean()
    assert log.health.useless == pytest.approx(share)
    assert "the arm was certain" in str(log)


def test_rewards_that_depend_on_the_arm_are_noticed():
    gaps = drawn(3_000).with_columns(
        click=pl.when((pl.col("item") == "golf") & (pl.col("age") < 50))
        .then(None)
        .otherwise("click")
    )
    assert "what is missing depends on the arm" in str(as_log(gaps, no_reward=0))


# Without propensities


def test_propensities_are_estimated_with_a_warning():
    table = drawn(4_000).drop("p")
    with pytest.warns(BanditreeWarning, match="the log has no propensities; they are estimated"):
        log = as_log(table, propensity=None)
    true = LOGGER[(table["city"] == "Lima").to_numpy().astype(int), log.chosen]
    assert np.abs(log.propensities - true).mean() < 0.06
    found = evaluate(best, log).estimates["dr"]
    assert found.verdict == "with care"
    assert any("estimated" in reason for reason in found.reasons)


# Recorded


def test_decisions_are_recorded_with_their_propensities():
    ads = SportsAds()
    log = Log.record(bt.Uniform(["golf", "basketball", "tennis", "soccer"], seed=1), ads, 300)
    assert set(log.propensities.tolist()) == {0.25}
    episode = ads.episode(300, 0)
    assert log.rewards.tolist() == episode.rewards[np.arange(300), log.chosen].tolist()


def test_a_recorded_policy_learns_and_a_snapshot_does_not():
    policy = bt.TreeHeuristic(["golf", "basketball", "tennis", "soccer"], seed=1)
    Log.record(policy, SportsAds(), 100)
    assert sum(policy.counts.values()) == 100
    Log.record(policy.snapshot(), SportsAds(), 100)
    assert sum(policy.counts.values()) == 100
    Log.record(policy, Delayed(SportsAds(), 30), 100)
    assert sum(policy.counts.values()) < 200


def test_parquet_of_pandas_has_no_index_among_the_contexts(tmp_path: Path):
    path = tmp_path / "log.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(TABLE.to_pandas()[::2]), path)
    (first,) = as_log(path).contexts.one_by_one(0, 1)
    assert set(first) == {"age", "city"}
