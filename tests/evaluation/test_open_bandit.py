"""A real log, of two policies that were live at once: what one log says of the other is known.

Where it is not at hand, made-up rows of the same shape take its place.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from banditree.evaluation import Evaluation, Log, evaluate

FILE = "open_bandit_small_logged.parquet"
CAMPAIGNS = ("all", "men", "women")


def rows_of(campaign: str) -> dict[str, pl.DataFrame]:
    """Return the log of each policy."""
    path = Path(os.environ.get("BANDITREE_DATA", "")) / FILE
    if not path.is_file():
        return {"random": made_up(0), "bts": made_up(1)}
    wanted = ["policy", "campaign", "item_id", "position", "click", "propensity_score"]
    features = [f"user_feature_{i}" for i in range(4)]
    table = pl.read_parquet(path, columns=[*wanted, *features]).filter(campaign=campaign)
    return {
        policy: table.filter(policy=policy).drop("policy", "campaign")
        for policy in ("random", "bts")
    }


def made_up(sharpness: float) -> pl.DataFrame:
    """Return 10,000 impressions of a policy that prefers some of 34 items; few are clicked."""
    rng = np.random.default_rng(5)
    position = rng.integers(1, 4, 10_000)
    likes = np.exp(sharpness * rng.normal(size=(4, 34)))[position]
    likes /= likes.sum(axis=1, keepdims=True)
    item = (rng.random((10_000, 1)) > np.cumsum(likes, axis=1)[:, :-1]).sum(axis=1)
    clicks = rng.random(10_000) < 0.002 + 0.0002 * item
    columns = {"item_id": item, "position": position, "click": clicks * 1}
    return pl.DataFrame({**columns, "propensity_score": likes[np.arange(10_000), item]})


def chances_of(logged: pl.DataFrame, arms: tuple[Any, ...]) -> dict[int, NDArray[Any]]:
    """Return with which probability a policy without contexts drew each item, by position.

    That of the Bernoulli Thompson sampling moved on with time; its mean is the item's share.
    """
    found = {}
    for position in logged["position"].unique().to_list():
        mine = logged.filter(position=position)
        counts = dict(mine.group_by("item_id").len().iter_rows())
        found[position] = np.array([counts.get(arm, 0) / len(mine) for arm in arms])
    return found


def as_log(table: pl.DataFrame) -> Log:
    return Log.from_table(table, arm="item_id", reward="click", propensity="propensity_score")


def obp_formulas(log: Log, chances: NDArray[Any]) -> dict[str, float]:
    """Return IPS and SNIPS as the Open Bandit Pipeline defines them."""
    iw = chances[np.arange(len(log)), log.chosen] / log.propensities
    return {
        "ips": float(np.mean(iw * log.rewards)),
        "snips": float(np.mean(iw * log.rewards) / np.mean(iw)),
    }


def overlap(one: Evaluation, own: pl.DataFrame, estimator: str) -> bool:
    """Return whether an estimate and the mean of whom it is about are within both intervals."""
    mean = own["click"].mean()
    half = 1.96 * own["click"].std() / np.sqrt(len(own))
    found = one.estimates[estimator]
    return found.low <= mean + half and mean - half <= found.high


@pytest.mark.parametrize("campaign", CAMPAIGNS)
@pytest.mark.parametrize(("logger", "other"), [("random", "bts"), ("bts", "random")])
def test_one_log_says_what_the_other_policy_earned(campaign: str, logger: str, other: str):
    tables = rows_of(campaign)
    log = as_log(tables[logger])
    by_position = chances_of(tables[other], log.arms)
    positions = tables[logger]["position"].to_list()
    chances = np.array([by_position[position] for position in positions])
    found = evaluate(chances, log)
    for name, value in obp_formulas(log, chances).items():
        assert found.estimates[name].value == pytest.approx(value, rel=1e-12)
    for name in ("ips", "snips", "dr", "switch-dr"):
        assert overlap(found, tables[other], name), (name, found.estimates[name])
