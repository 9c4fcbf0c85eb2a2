"""Policies that learn as they go, from the log of another."""

import numpy as np
import pytest

import banditree as bt
from banditree.environments import SportsAds, play
from banditree.errors import InvalidParameterError, UnknownArmError
from banditree.evaluation import Log, compare, learning, replay
from banditree.evaluation.learning import Learner
from evaluation.made_up import ARMS, MEANS, a_log, as_log, best, drawn

ADS = ["golf", "basketball", "tennis", "soccer"]
UNIFORM = Log.record(bt.Uniform(ADS, seed=1), SportsAds(), 6_000)


def test_rows_that_count_are_those_where_the_policy_offers_what_the_log_has():
    found = replay(bt.Greedy(ADS, seed=3), UNIFORM)
    policy = bt.Greedy(ADS, seed=3)
    policy.reseed(Learner(policy, UNIFORM, 0).policy.seed)
    expected = []
    for row, context in enumerate(UNIFORM.contexts.one_by_one(0, len(UNIFORM))):
        if policy.decide(context) == ADS[UNIFORM.chosen[row]]:
            policy.learn(context, ADS[UNIFORM.chosen[row]], UNIFORM.rewards[row])
            expected.append(row)
    assert found.rows.tolist() == expected
    assert found.estimate.value == UNIFORM.rewards[expected].mean()
    assert sum(found.policy.counts.values()) == len(expected)


def test_a_policy_of_the_loggers_seed_does_not_draw_what_it_drew():
    log = Log.record(bt.Uniform(ADS, seed=1), SportsAds(), 2_000)
    assert 400 < len(replay(bt.Uniform(ADS, seed=1), log).rows) < 600


def test_the_policy_itself_learns_nothing():
    policy = bt.TreeHeuristic(ADS, seed=3)
    replay(policy, UNIFORM.rows(np.arange(500)))
    compare({"it": learning(policy)}, UNIFORM.rows(np.arange(500)))
    assert sum(policy.counts.values()) == 0


def test_replay_earns_what_playing_earns():
    """Of a uniform log, rejection plays the policy on a quarter of the steps."""
    replayed, played = [], []
    for seed in range(8):
        log = Log.record(bt.Uniform(ADS, seed=seed), SportsAds(), 4_000, seed=seed)
        replayed.append(replay(bt.TreeHeuristic(ADS, seed=seed), log).estimate.value)
        episode = SportsAds().episode(1_000, 100 + seed)
        chosen = play(bt.TreeHeuristic(ADS, seed=seed), episode)
        played.append(episode.rewards[np.arange(1_000), chosen].mean())
    error = np.sqrt((np.var(replayed) + np.var(played)) / 8)
    assert abs(np.mean(replayed) - np.mean(played)) < 3.5 * error


def test_rejection_makes_up_for_a_logger_that_is_not_uniform():
    """Without learning, both ways estimate what the policy earns."""
    values = {"rejection": [], "doubly robust": []}
    for seed in range(8):
        log = a_log(800, seed)
        for method, found in values.items():
            found.append(replay(bt.Uniform(list(ARMS), seed=seed), log, method).estimate.value)
    for method, found in values.items():
        error = np.std(found, ddof=1) / np.sqrt(len(found))
        assert abs(np.mean(found) - MEANS.mean()) < 3.5 * error, method


def test_doubly_robust_replay_has_all_estimates():
    log = UNIFORM.rows(np.arange(2_000))
    found = replay(bt.TreeHeuristic(ADS, seed=1), log, "doubly robust")
    assert found.evaluation is not None
    assert found.estimate == found.evaluation.estimates["dr"]
    both = compare({"it": learning(bt.TreeHeuristic(ADS, seed=1))}, log)
    assert both.evaluations["it"].estimates["dr"] == found.estimate
    assert 350 < len(found.rows) < 650


def test_intervals_have_the_estimate():
    found = replay(bt.Greedy(ADS, seed=3), UNIFORM).estimate
    assert found.low < found.value < found.high


def test_verdicts():
    assert replay(bt.Greedy(ADS, seed=3), UNIFORM).estimate.verdict == "trust"
    few = replay(bt.Greedy(ADS, seed=3), UNIFORM.rows(np.arange(300))).estimate
    assert few.verdict == "do not trust"
    wrong = as_log(drawn(4_000).with_columns(p=1 / 3))
    assert replay(bt.Uniform(list(ARMS)), wrong).estimate.verdict == "do not trust"


def test_what_is_refused():
    with pytest.raises(UnknownArmError, match="it has not 'soccer'"):
        replay(bt.Uniform(["golf", "tennis"]), a_log(100))
    with pytest.raises(InvalidParameterError, match="method must be one of"):
        replay(bt.Uniform(ADS), UNIFORM, "guess")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match='interval must be "bootstrap" for a policy'):
        compare({"it": learning(bt.Uniform(ADS))}, UNIFORM, interval="always")
    with pytest.raises(InvalidParameterError, match="only a policy can learn"):
        replay(best, a_log(100))  # type: ignore[arg-type]
