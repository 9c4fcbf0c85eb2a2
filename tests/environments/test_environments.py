"""Environments pay what they say, repeat themselves, and refuse nonsense."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import banditree as bt
from banditree.environments import (
    Classification,
    Delayed,
    Drifting,
    OfflineTree,
    SportsAds,
    play,
)
from banditree.environments.sports_ads import click_probabilities

ROWS = {
    "age": [31, 64, None, 22, 50, 41],
    "city": ["Lima", None, "Bonn", "Lima", "Oslo", "Bonn"],
    "member": [True, False, None, True, True, False],
    "bought": ["tea", "milk", "tea", None, "rice", "milk"],
}


def shop(**settings: Any) -> Classification:
    return Classification(pd.DataFrame(ROWS), "bought", **settings)


# Sports ads


def test_sports_ads_click_as_defined():
    users = np.array([[1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0]])
    assert click_probabilities(users).tolist() == [
        [0.45, 0.06, 0.33, 0.24],
        [0.03, 0.09, 0.39, 0.36],
        [0.03, 0.42, 0.06, 0.09],
        [0.3, 0.09, 0.09, 0.12],
    ]


def test_sports_ads_pay_by_their_probabilities():
    episode = SportsAds().episode(40_000, 3)
    expected = click_probabilities(episode.contexts.astype(int))
    error = np.sqrt((expected * (1 - expected)).sum(axis=0))
    assert (abs((episode.rewards - expected).sum(axis=0)) < 4 * error).all()
    assert episode.regrets == pytest.approx(expected.max(axis=1, keepdims=True) - expected)
    assert abs(episode.contexts.mean(axis=0) - 0.5).max() < 4 * 0.5 / 200


# Classified tables


def test_classes_are_arms_and_the_right_one_pays():
    episode = shop().episode(100, 0)
    assert episode.arms == ("milk", "rice", "tea")
    assert episode.features == ("age", "city", "member")
    assert episode.categorical == (1, 2)
    assert (episode.rewards.sum(axis=1) == 1).all()
    assert (episode.regrets == 1 - episode.rewards).all()
    # Age tells the class in every row but those that lack it.
    classes = {31: "tea", 64: "milk", 50: "rice", 41: "milk"}
    for context, rewards in zip(episode.contexts, episode.rewards, strict=True):
        right = episode.arms[int(rewards.argmax())]
        assert right == ("tea" if np.isnan(context[0]) else classes[int(context[0])])
        assert int(context[0]) != 22 if not np.isnan(context[0]) else True


def test_every_row_comes_once_before_any_comes_again():
    environment = shop()
    assert environment.n_rows == 5
    ages = environment.episode(15, 7).contexts[:, 0]
    passes = ages.reshape(3, 5)
    assert all(sorted(map(str, one)) == sorted(map(str, passes[0])) for one in passes)
    assert len({tuple(map(str, one)) for one in passes}) > 1


def test_episodes_repeat_and_longer_ones_begin_alike():
    one, two = shop().episode(20, 5), shop().episode(5, 5)
    assert np.array_equal(one.contexts[:5], two.contexts, equal_nan=True)
    assert not np.array_equal(one.contexts, shop().episode(20, 6).contexts, equal_nan=True)


def test_all_libraries_and_files_give_the_same_environment(tmp_path: Path):
    table = pa.table(ROWS)
    pyarrow.parquet.write_table(table, tmp_path / "shop.parquet")
    tables = [pd.DataFrame(ROWS), pl.DataFrame(ROWS), table]
    found = [Classification(each, "bought") for each in tables]
    found.append(Classification.from_file(tmp_path / "shop.parquet", "bought"))
    assert found[-1].name == "shop"
    assert len({str(each.fingerprint()) for each in found}) == 1
    other = {**ROWS, "age": [31, 64, None, 22, 50, 42]}
    assert Classification(pd.DataFrame(other), "bought").fingerprint() != found[0].fingerprint()


def test_csv_files_are_read(tmp_path: Path):
    pyarrow.csv.write_csv(pa.table(ROWS), tmp_path / "shop.csv")
    environment = Classification.from_file(str(tmp_path / "shop.csv"), "bought")
    assert environment.arms == ("milk", "rice", "tea")
    assert environment.categorical == (1, 2)
    assert np.isnan(environment.episode(5, 0).contexts).sum() == 3


@pytest.mark.parametrize(
    ("labels", "arms"),
    [
        ([3, 1, 2, 1], (1, 2, 3)),
        ([3.0, 1.0, 1.0, None], (1, 3)),
        ([0.5, 1.0, 1.0, 0.5], (1, "0.5")),
        ([True, False, True, True], ("False", "True")),
    ],
)
def test_labels_of_any_kind_become_arms(labels: list[Any], arms: tuple[Any, ...]):
    table = pd.DataFrame({"x": [1, 2, 3, 4], "label": labels})
    assert Classification(table, "label").arms == arms


def test_columns_and_classes_can_be_left_out():
    environment = shop(unused=["city"], dropped=["rice"], categorical=["age"])
    assert environment.arms == ("milk", "tea")
    assert environment.features == ("age", "member")
    assert environment.categorical == (0, 1)
    assert environment.n_rows == 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"label": "buoght"}, "label: the table has no column 'buoght'; did you mean 'bought'?"),
        ({"label": "zzz"}, "its columns are age, city, member, bought"),
        ({"unused": ["cty"]}, "unused: the table has no column 'cty'; did you mean 'city'?"),
        ({"unused": "city"}, "unused must be a list of column names, got 'city'"),
        ({"dropped": ["coal"]}, "'coal' is not a class of 'bought'; these are 'milk', 'rice'"),
        ({"dropped": ["milk", "tea"]}, "dropped leaves 1 of the classes"),
        ({"unused": ["age", "city", "member"]}, "no feature beside the label 'bought'"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], words: str):
    with pytest.raises(bt.InvalidParameterError, match=words.replace("?", r"\?")):
        Classification(pd.DataFrame(ROWS), **{"label": "bought", **settings})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([1, 2], "one of pandas, polars or Arrow, got list"),
        (pd.DataFrame({"x": [], "label": []}), "no rows"),
        (pd.DataFrame({"x": [1, 2], "label": ["a", "a"]}), "has 1 different value;"),
        (pd.DataFrame({"x": [1, 2], "label": [None, None]}), "has 0 different values;"),
        (pd.DataFrame({"x": range(1001), "label": range(1001)}), "1,001 different values"),
        (pd.DataFrame({"x": [1, np.inf], "label": [1, 2]}), "column 'x': .*inf"),
        (pd.DataFrame({"x": [1, [2]], "label": [1, 2]}), "column 'x'"),
    ],
)
def test_wrong_tables_are_refused(table: Any, words: str):
    with pytest.raises(bt.InvalidParameterError, match=words):
        Classification(table, "label")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.parquet", None, "there is no file"),
        ("bad.parquet", b"not Parquet", "cannot be read"),
        ("bad.csv", b"", "cannot be read"),
        ("table.xlsx", b"", "neither Parquet nor CSV"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, name: str, content: bytes | None, words: str):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(bt.InvalidParameterError, match=words):
        Classification.from_file(tmp_path / name, "label")


@pytest.mark.parametrize("horizon", [0, -1, 1.5, True, "9"])
def test_wrong_horizons_are_refused(horizon: Any):
    for environment in (SportsAds(), shop()):
        with pytest.raises(bt.InvalidParameterError, match="horizon must be a whole number"):
            environment.episode(horizon, 0)


# Harder ones


def test_drift_moves_what_pays_to_the_next_arm():
    calm, drifting = (e.episode(50, 1) for e in (shop(), Drifting(shop(), at=20)))
    assert (drifting.rewards[:20] == calm.rewards[:20]).all()
    for arm in range(3):
        assert (drifting.rewards[20:, (arm + 1) % 3] == calm.rewards[20:, arm]).all()
        assert (drifting.regrets[20:, (arm + 1) % 3] == calm.regrets[20:, arm]).all()
    assert Drifting(shop(), at=20).fingerprint() != Drifting(shop(), at=21).fingerprint()


def test_random_delays_have_their_mean():
    delays = Delayed(SportsAds(), 30, random=True).episode(20_000, 2).delays
    assert delays is not None
    assert delays.min() == 0
    assert abs(delays.mean() - 30) < 4 * np.sqrt(30 * 31 / 20_000)


@pytest.mark.parametrize("wrong", [{"delay": 0}, {"delay": 1, "random": 1}])
def test_wrong_delays_are_refused(wrong: dict[str, Any]):
    with pytest.raises(bt.InvalidParameterError):
        Delayed(SportsAds(), **wrong)


class Logging(bt.Uniform):
    """Writes down what it is taught, beside how many decisions it has made."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.decisions = 0
        self.log: list[tuple[int, tuple[float, ...], Any, float]] = []

    def decide(self, context: Any, arms: Any = None) -> Any:
        self.decisions += 1
        return super().decide(context, arms)

    def learn(self, context: Any, arm: Any, reward: float) -> None:
        self.log.append((self.decisions, tuple(context), arm, reward))


def test_rewards_are_learned_when_they_arrive():
    episode = Delayed(SportsAds(), 7).episode(50, 0)
    policy = Logging(episode.arms, seed=0)
    chosen = play(policy, episode)
    assert len(policy.log) == 43
    for t, (decisions, context, arm, reward) in enumerate(policy.log):
        assert decisions == t + 8  # after step t + 7 was decided
        assert context == tuple(episode.contexts[t])
        assert arm == episode.arms[chosen[t]]
        assert reward == episode.rewards[t, chosen[t]]


def test_without_delay_every_step_is_learned_at_once():
    episode = SportsAds().episode(50, 0)
    policy = Logging(episode.arms, seed=0)
    play(policy, episode)
    assert [entry[0] for entry in policy.log] == list(range(1, 51))


@pytest.mark.parametrize("delay", [None, 2])
@pytest.mark.parametrize("arm", ["hockey", ["golf"], None])
def test_an_arm_that_does_not_exist_is_explained(arm: Any, delay: int | None):
    class Confused(bt.Uniform[Any]):
        def decide(self, context: Any, arms: Any = None) -> Any:
            return arm

    ads = SportsAds()
    episode = (Delayed(ads, delay) if delay else ads).episode(3, 0)
    message = rf"decide of Confused returned {re.escape(repr(arm))}, and must return one of .*golf"
    with pytest.raises(bt.UnknownArmError, match=message):
        play(Confused(episode.arms, seed=0), episode)


# OfflineTree


def test_the_rest_is_what_an_episode_does_not_show():
    table = pd.DataFrame({"x": range(30), "label": ["a", "b", "c"] * 10})
    environment = Classification(table, "label")
    shown = environment.episode(20, 4).contexts[:, 0]
    contexts, classes = environment.held_out(20, 4)
    assert sorted([*shown, *contexts[:, 0]]) == list(range(30))
    assert (classes == contexts[:, 0] % 3).all()


def test_offline_tree_finds_what_can_be_found():
    rng = np.random.default_rng(0)
    x = rng.random((600, 2))
    label = np.where(x[:, 0] > 0.5, "high", np.where(x[:, 1] > 0.5, "low", "lowest"))
    table = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "label": label})
    environment = Classification(table, "label")
    episode = environment.episode(200, 1)
    chosen = OfflineTree(environment).choose(episode, 1)
    assert episode.regret_of(chosen).sum() < 10


def test_offline_tree_needs_rows_of_its_own():
    environment = shop()
    with pytest.raises(bt.InvalidParameterError, match="of 5 rows 5 steps leave 0; shorten"):
        OfflineTree(environment).choose(environment.episode(5, 0), 0)
