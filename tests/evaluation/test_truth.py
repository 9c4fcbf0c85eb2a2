"""Estimates and intervals where the truth is known; the whole simulation is in benchmarks/."""

from pathlib import Path

import numpy as np
import pytest

import banditree as bt
from banditree.environments import Classification, play
from banditree.evaluation import Log, replay

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TASKS = ("sports", "covertype")
REPEATS = 200
# Of a share of 0.95 of so many intervals, beyond which chance takes it once in 10,000 times.
LOWEST, HIGHEST = 0.925, 0.975


@pytest.mark.slow
def test_estimates_and_intervals_are_right(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import evaluation_truth as truth

    found = [
        truth.simulated(task, logger, 3_000, REPEATS) for task in TASKS for logger in truth.LOGGERS
    ]
    biases = np.array([[each.bias(name) for name in truth.UNBIASED] for each in found])
    assert np.abs(biases).max() < 4
    assert (np.abs(biases) <= 2).mean() >= 0.75
    for name in truth.COVERED:
        covered = np.mean([each.covered[name] for each in found])
        assert LOWEST <= covered <= HIGHEST, name
    for name in truth.WATCHED:
        assert np.mean([each.missed[name] for each in found]) <= 0.05, name
    gains = [each.gain for each in found]
    assert np.exp(np.mean(np.log(gains))) <= 0.7


@pytest.mark.slow
def test_wrong_propensities_are_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import evaluation_truth as truth

    for task in TASKS:
        assert truth.flagged(task, 2_000, REPEATS) >= 0.95


def covertype(monkeypatch: pytest.MonkeyPatch) -> Classification:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import tasks

    environment = tasks.load("covertype").environment
    assert isinstance(environment, Classification)
    return environment


@pytest.mark.slow
def test_replay_ranks_policies_as_playing_does(monkeypatch: pytest.MonkeyPatch):
    environment = covertype(monkeypatch)
    episode = environment.episode(100_000, 0)
    arms, kinds = list(episode.arms), list(episode.categorical)
    log = Log.record(bt.Uniform(arms, seed=1), environment, 100_000)
    n = len(log) // len(arms)
    fresh = environment.episode(n, 1)
    replayed, played = {}, {}
    for make in (bt.TreeHeuristic, bt.Bandit, bt.LinUCB, bt.Uniform):
        policy = make(arms, categorical=kinds, seed=1)
        found = replay(policy, log)
        assert abs(len(found.rows) - n) < 6 * np.sqrt(n)
        replayed[make.__name__] = found.estimate.value
        chosen = play(make(arms, categorical=kinds, seed=1), fresh)
        played[make.__name__] = fresh.rewards[np.arange(n), chosen].mean()
    assert sorted(replayed, key=replayed.__getitem__) == sorted(played, key=played.__getitem__)
    for name, value in replayed.items():
        assert value == pytest.approx(played[name], abs=0.03), name
