"""A policy with a window finds out that an arm pays less, and forgets what came before."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import banditree as bt
from banditree.checks.saved import difference, saved
from banditree.environments import Drifting, Environment, SportsAds, play
from banditree.environments.classification import Classification
from banditree.environments.datasets import DATASETS, locate
from banditree.environments.tables import read_table
from banditree.policies.drift import LEVEL, ChangeWatch
from banditree.policies.saving import files
from policies.tree_streams import ARMS, Stream, mixed_stream

pytestmark = pytest.mark.filterwarnings("ignore::banditree.BanditreeWarning")

WINDOWED: dict[str, Any] = {
    "TreeHeuristic": bt.TreeHeuristic,
    "live TreeHeuristic": partial(bt.TreeHeuristic, refresh=0),
    "Greedy": bt.Greedy,
    "TreeBootstrap": bt.TreeBootstrap,
    "TreeBootstrap until success": partial(bt.TreeBootstrap, cold_start="until_success"),
    "OnlineTreeBootstrap": partial(bt.OnlineTreeBootstrap, replicas=5),
    "ThompsonSampling": bt.ThompsonSampling,
    "LinUCB": bt.LinUCB,
    "LogisticUCB": bt.LogisticUCB,
}
every_windowed = pytest.mark.parametrize("maker", WINDOWED.values(), ids=list(WINDOWED))
continuous = [
    partial(maker, reward="continuous") for name, maker in WINDOWED.items() if name != "LogisticUCB"
]


def fallen(n: int, at: int, reward: str = "binary") -> Stream:
    """Return a stream in which, from some place on, "golf" never pays more than its worst."""
    stream = mixed_stream(n, reward)
    low = 0.0 if reward == "binary" else -3.0
    rewards = [
        low if i >= at and arm == "golf" else value
        for i, (arm, value) in enumerate(zip(stream.arms, stream.rewards, strict=True))
    ]
    return Stream(stream.contexts, stream.arms, rewards, stream.others)


def taught(policy: Any, stream: Stream, n: int | None = None) -> Any:
    for observation in list(stream)[:n]:
        policy.learn(*observation)
    return policy


def n_of(policy: Any, arm: str) -> int:
    """Return how many observations an arm's beliefs are made of."""
    return int(policy.explain({})[arm].n)


# Change by construction


@every_windowed
def test_after_a_change_what_came_before_does_not_count(maker: Any) -> None:
    stream = fallen(900, 600)
    policy = taught(maker(ARMS, window=5000, seed=1), stream)
    (change,) = policy.changes
    assert change.arm in ("golf", None)
    assert 600 < change.n < 720
    # Whatever is kept began to come shortly before the alarm, whichever arm it was of.
    came_since = {arm: stream.arms[570:].count(arm) for arm in ARMS}
    assert policy.counts == {arm: stream.arms.count(arm) for arm in ARMS}
    if not isinstance(policy, bt.OnlineTreeBootstrap | bt.TreeHeuristic | bt.TreeBootstrap):
        assert all(0 < n_of(policy, arm) <= came_since[arm] for arm in ARMS)
    else:
        rows = {arm: policy._core.n_rows(i) for i, arm in enumerate(ARMS)}
        assert all(0 < rows[arm] <= came_since[arm] + 2 for arm in ARMS)  # 2 may be made up
    assert policy.expected_rewards({})["golf"] < 0.3


@pytest.mark.parametrize("maker", continuous)
def test_continuous_rewards_may_be_shifted_and_scaled(maker: Any) -> None:
    stream = fallen(900, 600, "continuous")
    policies = []
    for shift, scale in ((0, 1), (1000, 1), (0, 64), (-500, 1 / 64)):
        rewards = [shift + scale * value for value in stream.rewards]
        moved = Stream(stream.contexts, stream.arms, rewards, stream.others)
        policies.append(taught(maker(ARMS, window=5000, seed=1), moved))
    (change,) = policies[0].changes
    assert change.arm in ("golf", None)
    assert 600 < change.n < 800
    if not isinstance(policies[0], bt.LinUCB):  # whose penalty is not free of the scale
        assert all(policy.changes == (change,) for policy in policies)


@every_windowed
def test_a_world_that_does_not_change_raises_no_alarm(maker: Any) -> None:
    n = 800 if maker is bt.LogisticUCB else 2000
    assert taught(maker(ARMS, window=100, seed=1), mixed_stream(n)).changes == ()


@pytest.mark.parametrize("law", ["normal", "skewed", "rare loss", "heavy", "constant"])
def test_no_law_of_rewards_raises_an_alarm(law: str) -> None:
    rng, n = np.random.default_rng(2), 3000
    rewards = {
        "normal": rng.normal(size=n),
        "skewed": -rng.exponential(size=n),
        "rare loss": np.where(rng.random(n) < 0.02, -100.0, 1.0),
        "heavy": rng.standard_t(2, size=n),
        "constant": np.full(n, 0.1),
    }[law]
    policy = bt.TreeHeuristic(["a", "b"], reward="continuous", window=10**6, seed=1)
    for i, x in enumerate(rng.normal(size=(n, 3))):
        policy.learn(x, policy.decide(x), rewards[i])
    assert policy.changes == ()


@every_windowed
def test_without_a_window_nothing_is_forgotten(maker: Any) -> None:
    stream = fallen(700, 500)
    policy = taught(maker(ARMS, seed=1), stream)
    assert policy.changes == ()
    assert not [name for name in saved(policy).arrays if name.startswith("watch_")]


def test_a_policy_finds_one_change_after_another() -> None:
    policy = bt.TreeHeuristic(["a", "b"], window=10_000, seed=1)
    rng, chosen = np.random.default_rng(1), []
    for step in range(3000):
        good = "ab"[step // 1000 % 2]
        chosen.append(policy.decide({}) == good)
        arm = good if chosen[-1] else "ab"[1 - step // 1000 % 2]
        policy.learn({}, arm, int(rng.random() < (0.6 if arm == good else 0.1)))
    assert [change.n // 1000 for change in policy.changes] == [1, 2]
    assert all(np.mean(chosen[start + 300 : start + 1000]) > 0.9 for start in (0, 1000, 2000))


# What is kept


@every_windowed
@pytest.mark.parametrize("counts", [(40, 7, 1), (0, 30, 0), (500, 500, 500)])
def test_a_policy_becomes_what_the_rows_it_keeps_would_have_made(
    maker: Any, counts: tuple[int, ...]
) -> None:
    window, stream, options = 40, mixed_stream(160), {}
    if maker in (bt.LinUCB, bt.LogisticUCB):
        options = {"refresh": 0, "regularization": 1.0}
    policy = taught(maker(ARMS, window=window, seed=1, **options), stream)
    policy._keep_last(np.array(counts))
    fresh = maker(ARMS, window=window, seed=1, **options)
    fresh._set_encoder(pickle.loads(pickle.dumps(policy._encoder)))
    fresh._features_changed()
    for i in kept_places(stream, [min(count, window) for count in counts]):
        fresh.learn(stream.contexts[i], stream.arms[i], stream.rewards[i])
    if isinstance(policy, bt.OnlineTreeBootstrap):  # rows keep the coins they came with
        for arm, name in enumerate(ARMS):
            for mine, other in zip(policy._core.rows(arm), fresh._core.rows(arm), strict=True):
                np.testing.assert_array_equal(mine, other)
            first = policy.counts[name] - fresh.counts[name]
            members = [policy._core.members(arm, first + i) for i in range(fresh.counts[name])]
            sizes = np.sum(members, axis=0) if members else np.zeros(5)
            assert policy._core.is_cold(arm) == (not sizes.any())
            for replica in np.flatnonzero(sizes).tolist():
                assert policy.tree(name, replica).to_dict()["n"] == sizes[replica]
        return
    for context in stream.others[:4]:
        for read in ("propensities", "expected_rewards"):
            found, expected = (getattr(each, read)(context) for each in (policy, fresh))
            assert found == pytest.approx(expected, rel=1e-4, abs=1e-6)


def kept_places(stream: Stream, counts: list[int]) -> list[int]:
    """Return where in a stream the last so many observations of each arm are."""
    places: list[int] = []
    for arm, count in zip(ARMS, counts, strict=True):
        own = [i for i, name in enumerate(stream.arms) if name == arm]
        places += own[len(own) - min(count, len(own)) :]
    return sorted(places)


def test_an_engine_without_a_window_keeps_all() -> None:
    engine = bt.TreeHeuristic(["a", "b"])._core
    with pytest.raises(ValueError, match="no window"):
        engine.keep_last(np.array([1, 1]))
    engine = bt.TreeHeuristic(["a", "b"], window=9)._core
    with pytest.raises(ValueError, match="negative"):
        engine.keep_last(np.array([1, -1]))
    with pytest.raises(ValueError, match="counts"):
        engine.keep_last(np.array([1]))


# State


@every_windowed
@pytest.mark.parametrize("n", [590, 605, 900])
def test_a_copy_goes_on_as_the_policy_does(maker: Any, n: int, tmp_path: Path) -> None:
    """Before the change, while evidence is gathering, and after the alarm."""
    stream = fallen(950, 600)
    policy = taught(maker(ARMS, window=300, seed=3), stream, n)
    assert len(policy.changes) == (n == 900)
    policy.save(tmp_path / "policy.bt", append=True)
    copies = [pickle.loads(pickle.dumps(policy)), bt.load(tmp_path / "policy.bt")]
    for observation in list(stream)[n:]:
        for each in (policy, *copies):
            each.learn(*observation)
    policy.save(tmp_path / "policy.bt", append=True)
    assert len(policy.changes) == 1
    for each in (*copies, bt.load(tmp_path / "policy.bt")):
        assert each.changes == policy.changes
        assert difference(saved(each), saved(policy)) is None


@every_windowed
def test_learning_many_is_learning_one_by_one_across_a_change(maker: Any) -> None:
    stream = fallen(900, 600)
    one, many = maker(ARMS, window=400, seed=3), maker(ARMS, window=400, seed=3)
    taught(one, stream)
    for start, stop in pairwise((0, 500, 900)):
        many.learn_many(*stream.part(start, stop))
    assert len(many.changes) == 1
    assert many.changes == one.changes
    for context in stream.others[:4]:
        assert many.propensities(context) == pytest.approx(one.propensities(context), abs=1e-9)


def test_an_arm_added_late_is_watched_too() -> None:
    policy = bt.TreeHeuristic(["a"], window=1000, seed=1)
    for step in range(200):
        policy.learn({}, "a", step % 2)
        if step == 30:
            policy.add_arm("b")
        if step > 30:
            policy.learn({}, "b", int(step < 150))
    assert [change.arm for change in policy.changes] == ["b"]
    assert 200 + 31 < policy.changes[0].n < sum(policy.counts.values())


def test_a_feature_can_be_put_right_after_a_change() -> None:
    policy = bt.OnlineTreeBootstrap(["a", "b"], window=100, replicas=3, seed=1)
    trees = bt.TreeHeuristic(["a", "b"], window=100, seed=1)
    for each in (policy, trees):
        for step in range(400):
            each.learn({"age": str(step % 7)}, "ab"[step % 2], int(step < 350))
        assert each.changes
        n_rows = [each._core.n_rows(arm) for arm in (0, 1)]
        assert max(n_rows) < 100
        each.set_feature("age", "number")
        assert [each._core.n_rows(arm) for arm in (0, 1)] == n_rows
        each.learn({"age": 5}, "a", 0)


def test_files_from_before_changes_were_watched_for_still_load() -> None:
    stream = fallen(900, 600)
    policy = taught(bt.TreeHeuristic(ARMS, window=300, seed=3), stream, 500)
    header, arrays = files.unpack(policy._pack(), "")
    for name in ("watch_arms", "watch_sums", "watch_since", "watch_changes"):
        del arrays[name]
    older = bt.TreeHeuristic._unpickle(files.pack(header, arrays), {})
    for observation in list(stream)[500:]:
        older.learn(*observation)
    assert [change.n > 600 for change in older.changes] == [True]


FORGED: list[tuple[str, Any]] = [
    ("watch_arms", lambda array: array[:2]),
    ("watch_arms", lambda array: array * math.nan),
    ("watch_arms", lambda array: array[0]),
    ("watch_sums", lambda array: array[:2]),
    ("watch_sums", lambda array: -array),
    ("watch_sums", lambda array: array + 99),
    ("watch_since", lambda array: array[:0]),
    ("watch_since", lambda array: array + 10**6),
    ("watch_since", lambda array: -1 - array),
    ("watch_changes", lambda array: array[:, :1]),
    ("watch_changes", lambda array: np.array([[3, 7]])),
    ("watch_changes", lambda array: np.array([[-3, 1]])),
    ("watch_changes", lambda array: np.array([[3, -2]])),
]


@pytest.mark.parametrize(("name", "forge"), FORGED)
def test_what_no_watch_has_written_is_refused(name: str, forge: Any) -> None:
    policy = taught(bt.TreeHeuristic(ARMS, window=300, seed=3), fallen(900, 600), 606)
    header, arrays = files.unpack(policy._pack(), "")
    assert len(arrays["watch_since"]) > 0
    with pytest.raises(bt.StateError):
        bt.TreeHeuristic._unpickle(files.pack(header, arrays | {name: forge(arrays[name])}), {})


# The watch itself


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9, 1.0])
def test_evidence_does_not_grow_where_nothing_has_changed(rate: float) -> None:
    """The mean of its exponential is 1 at most, also if more is expected than comes."""
    for expected in (rate, min(1.3 * rate, 1.0)):
        watch = ChangeWatch(1, "binary")
        for n in range(1000):
            watch.see(0, expected, rate, [n])
        arm = watch._arms[0]
        assert watch._sums[0].evidence == 0
        says = [arm.half_as_many(expected, reward) for reward in (0, 1)]
        assert (1 - rate) * math.exp(says[0]) + rate * math.exp(says[1]) < 1.003


@pytest.mark.parametrize("low", [0.2, 1.0, 2.0, 3.0, 30.0])
def test_no_two_values_say_more_than_one_on_average(low: float) -> None:
    """So do rewards `low` deviations below their mean, as often as a variance of 1 allows."""
    watch, chance = ChangeWatch(1, "continuous"), 1 / (1 + low * low)
    arm = watch._arms[0]
    arm.n, arm.squares = 1e9, 1e9
    says = [arm.lower(5.0, 5.0 + value) for value in (-low, 1 / low)]
    assert chance * math.exp(says[0]) + (1 - chance) * math.exp(says[1]) <= 1


def test_an_alarm_needs_evidence() -> None:
    watch, n = ChangeWatch(2, "binary"), 1000
    for i in range(n):
        assert watch.see(1, 0.1, float(i % 10 == 0), [3, i]) is None
    kept = None
    while kept is None:
        kept = watch.see(1, 0.1, 0.0, [3, n])
        n += 1
    # Nine failures since the last success belong to it.
    assert kept == [0, n - 991]
    assert LEVEL / math.log(0.95 / 0.9) < n - 991 < 1.3 * LEVEL / math.log(0.95 / 0.9)
    assert watch.changes == [(3 + n, 1)]
    assert [each.evidence for each in watch._sums] == [0, 0, 0]


def test_arms_that_fall_together_are_seen_together() -> None:
    """No arm alone has fallen far enough to be sure of it."""
    watch, n_arms = ChangeWatch(8, "binary"), 8
    counts = [0] * n_arms
    for step in range(3000):
        index = step % n_arms
        reward = float(step // n_arms % 2 or (step > 2400 and step // n_arms % 4 < 3))
        kept = watch.see(index, 0.5, 1 - reward, counts)
        counts[index] += 1
        if kept is not None:
            break
    assert watch.changes == [(sum(counts), -1)]
    assert 2400 < sum(counts) < 2900
    assert sum(counts) - 2400 - n_arms < sum(kept) < sum(counts) - 2400 + 3 * n_arms


@pytest.mark.parametrize("rate", [0.0, 0.002, 0.3])
def test_many_new_arms_that_pay_less_than_their_priors_raise_no_alarm(rate: float) -> None:
    policy, rng = (
        bt.ThompsonSampling(list(range(60)), window=10**6, seed=1),
        np.random.default_rng(1),
    )
    for step in range(6000):
        if step == 3000:
            for arm in range(60, 120):
                policy.add_arm(arm)
        policy.learn({}, policy.decide({}), float(rng.random() < rate))
    assert policy.changes == ()


def test_an_arm_added_while_evidence_gathers_has_all_its_rows_kept() -> None:
    watch = ChangeWatch(1, "binary")
    for n in range(100):
        watch.see(0, 0.5, n % 2, [n])
    watch.see(0, 0.5, 0, [100])
    watch.add_arm()
    n, kept = 101, None
    while kept is None:
        kept = watch.see(0, 0.5, 0, [n, 5])
        n += 1
    assert kept == [n - 100, 5]


# Recovery


def shuttle() -> Environment:
    """Return the task, or a made-up one that is as easy where the data are not at hand."""
    source, path = DATASETS["shuttle"], locate("shuttle")
    if path is not None:
        table: Any = read_table(path)
        return Classification(table, source.label, unused=source.unused, dropped=source.dropped)
    rng = np.random.default_rng(0)
    values = rng.integers(0, 100, (20_000, 3))
    label = np.select([values[:, 0] < 70, values[:, 1] < 50], ["a", "b"], "c")
    return Classification(pd.DataFrame(values, columns=list("xyz")).assign(label=label), "label")


@pytest.mark.slow
@pytest.mark.parametrize("environment", [SportsAds, shuttle])
def test_a_window_regains_nine_tenths_within_three_thousand_steps(environment: Any) -> None:
    """Of the reward rate over the last 2,000 steps before the arms swap; windows are not full."""
    shares = []
    for seed in range(4):
        episode = Drifting(environment(), at=10_000).episode(16_000, seed)
        policy = bt.TreeHeuristic(
            episode.arms, window=2000, categorical=episode.categorical, seed=seed
        )
        rewards = episode.rewards[np.arange(16_000), play(policy, episode)]
        assert all(change.n > 10_000 for change in policy.changes)
        shares.append(rewards[12_000:].mean() / rewards[8000:10_000].mean())
    # From the third thousand on: its rate alone has a standard error of 2 %.
    assert np.mean(shares) > 0.93, shares


@pytest.mark.slow
def test_low_click_rates_raise_no_alarm() -> None:
    """Clicks on a hundredth to a twentieth of the ads."""
    for seed in range(2):
        episode = SportsAds().episode(60_000, seed)
        seen = np.random.default_rng(seed).random((60_000, 1)) < 0.1
        policy = bt.TreeHeuristic(episode.arms, window=10**6, seed=seed)
        play(policy, replace(episode, rewards=episode.rewards * seen))
        assert policy.changes == ()
