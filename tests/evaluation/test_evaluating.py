"""Estimates against formulas written out, whom one can evaluate, and what is refused."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import banditree as bt
from banditree.errors import BanditreeError, InvalidParameterError, UnknownArmError
from banditree.evaluation import Log, always, bounds_over_time, compare, evaluate, learning
from banditree.evaluation.reward_model import RewardModel
from evaluation.made_up import ARMS, BEST, LOGGER, MEANS, a_log, as_log, best, drawn

LOG = a_log(3_000)


def chances_of_best(log: Log) -> np.ndarray:
    found = np.zeros((len(log), 3))
    for row, context in enumerate(log.contexts.one_by_one(0, len(log))):
        found[row, ARMS.index(best(context))] = 1
    return found


def test_estimates_are_those_of_their_formulas():
    pi, model = chances_of_best(LOG), RewardModel(LOG).predict(0, len(LOG))
    rows = np.arange(len(LOG))
    w = pi[rows, LOG.chosen] / LOG.propensities
    q, m, r = model[rows, LOG.chosen], (pi * model).sum(axis=1), LOG.rewards
    expected = {
        "ips": (w * r).mean(),
        "snips": (w * r).sum() / w.sum(),
        "dm": m.mean(),
        "dr": (m + w * (r - q)).mean(),
    }
    found = evaluate(best, LOG).estimates
    assert list(found) == ["ips", "snips", "dm", "dr", "switch-dr"]
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, abs=1e-12), name
    assert found["ips"].effective_n == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert found["ips"].largest_weight == w.max()


def test_switch_leaves_large_weights_to_the_model():
    table = drawn(3_000)
    lucky = table["p"].to_numpy().copy()
    row = int(
        np.argmax((table["city"] == "Bonn").to_numpy() & (table["item"] == "soccer").to_numpy())
    )
    lucky[row] = 1e-4
    log = as_log(table.with_columns(p=lucky))
    found = evaluate(best, log).estimates
    assert found["dr"].largest_weight == 1e4
    assert found["switch-dr"].largest_weight < 100
    # What was left out may have paid anything: the interval says so.
    assert found["switch-dr"].high - found["switch-dr"].low > 1
    assert found["dr"].verdict == "do not trust"


def test_the_model_never_sees_the_row_that_it_corrects():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"id": np.arange(400.0), "arm": rng.integers(0, 2, 400)})
    noise = table.with_columns(reward=rng.integers(0, 2, 400), propensity=pl.lit(0.5))
    log = Log.from_table(noise)
    fitted = RewardModel(log).predict(0, 400)[np.arange(400), log.chosen]
    assert np.corrcoef(fitted, log.rewards)[0, 1] < 0.1
    changed = noise.with_columns(
        reward=pl.when(pl.int_range(pl.len()) == 7).then(1 - pl.col("reward")).otherwise("reward")
    )
    again = RewardModel(Log.from_table(changed)).predict(7, 8)
    assert again.tolist() == RewardModel(log).predict(7, 8).tolist()


# Whom


def test_all_ways_to_say_the_same_agree():
    policies = {
        "arm": best,
        "mapping": lambda context: {best(context): 1.0},
        "vector": lambda context: [float(arm == best(context)) for arm in ARMS],
        "array": chances_of_best(LOG),
    }
    found = [evaluate(target, LOG).estimates["dr"] for target in policies.values()]
    assert all(other == found[0] for other in found)
    golf = evaluate(always("golf"), LOG)
    assert golf.estimates == evaluate(lambda context: "golf", LOG).estimates
    assert (
        golf.estimates["snips"].value
        == LOG.rewards[LOG.chosen == 0].dot(1 / LOG.propensities[LOG.chosen == 0])
        / (1 / LOG.propensities[LOG.chosen == 0]).sum()
    )


def test_a_policy_and_its_snapshot_and_its_file_agree(tmp_path):
    policy = bt.TreeHeuristic(["tennis", "golf", "soccer"], seed=1)
    taught = drawn(500, seed=9)
    contexts = taught.select("age", "city")
    policy.learn_many(contexts, taught["item"].to_list(), taught["click"].to_numpy())
    policy.save(tmp_path / "policy.bt")
    found = [
        evaluate(target, LOG).estimates
        for target in (policy, policy.snapshot(), bt.load(tmp_path / "policy.bt"))
    ]
    assert found[0] == found[1] == found[2]
    places = [policy.arms.index(arm) for arm in LOG.arms]
    array = policy.propensities_many(LOG.contexts.part(0, len(LOG)))[:, places]
    assert evaluate(array, LOG).estimates == found[0]


def test_eligible_arms_are_kept_to():
    rng = np.random.default_rng(0)
    able = [["golf", "tennis"], ["golf", "soccer", "tennis"]]
    which = rng.integers(2, size=500)
    items = [able[i][rng.integers(len(able[i]))] for i in which]
    table = pd.DataFrame(
        {
            "x": rng.normal(size=500),
            "item": items,
            "click": rng.integers(0, 2, 500),
            "p": [1 / len(able[i]) for i in which],
            "can": ["|".join(able[i]) for i in which],
        }
    )
    log = as_log(table, eligible="can")
    found = evaluate(bt.Uniform(list(ARMS), seed=1), log)
    assert found.estimates["ips"].value == pytest.approx(log.rewards.mean())
    assert not found.health.wrong
    with pytest.raises(InvalidParameterError, match="'soccer' has a probability of 1 in row"):
        evaluate(always("soccer"), log)
    lone = bt.Uniform(list(ARMS), seed=1)
    for arm in ("golf", "tennis"):
        lone.remove_arm(arm)
    with pytest.raises(UnknownArmError, match="the policy can draw none, since they were removed"):
        evaluate(lone, log)


def test_differences_are_paired():
    found = compare({"best": best, "golf": always("golf")}, LOG)
    estimates = {name: of.estimates["dr"] for name, of in found.evaluations.items()}
    more = found.difference("best", "golf")
    assert more.value == pytest.approx(estimates["best"].value - estimates["golf"].value)
    back = found.difference("golf", "best")
    assert (back.low, back.high) == pytest.approx((-more.high, -more.low))
    assert found.difference("best").value == pytest.approx(
        estimates["best"].value - LOG.rewards.mean()
    )
    assert found.difference("best").low > 0
    same = compare({"a": best, "b": best}, LOG).difference("a", "b")
    assert (same.value, same.low, same.high) == (0, 0, 0)
    assert "beyond logged" in str(found)


def test_who_made_the_log_earned_what_it_earned():
    found = compare({"golf": always("golf")}, LOG).evaluations["logged"]
    assert {e.value for e in found.estimates.values()} == {LOG.rewards.mean()}


@pytest.mark.parametrize("interval", ["bootstrap", "bernstein", "always"])
def test_the_truth_is_in_the_interval(interval: Any):
    found = evaluate(best, LOG, interval=interval).estimates
    assert all(e.low <= BEST <= e.high for e in found.values())
    assert all(e.low <= e.value <= e.high for e in found.values())


def test_wider_promises_make_wider_intervals():
    widths = [
        (e := evaluate(best, LOG, interval=interval).estimates["dr"]).high - e.low
        for interval in ("bootstrap", "bernstein", "always")
    ]
    assert widths == sorted(widths)
    narrow = evaluate(best, LOG, level=0.5).estimates["dr"]
    assert narrow.high - narrow.low < 0.5 * widths[0]


def test_bounds_over_time_are_of_what_came_so_far():
    terms = np.random.default_rng(0).random(500)
    low, high = bounds_over_time(terms, (0, 1), (0, 1), 0.95, always=True)
    early = bounds_over_time(terms[:200], (0, 1), (0, 1), 0.95, always=True)
    assert (low[199], high[199]) == (early[0][-1], early[1][-1])
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) <= 0).all()


def test_bounds_hold_however_often_one_looks():
    missed = 0
    for seed in range(300):
        terms = (np.random.default_rng(seed).random(1_000) < 0.05) * 1.0
        low, high = bounds_over_time(terms, (0, 1), (0, 1), 0.9, always=True)
        missed += bool((low > 0.05).any() or (high < 0.05).any())
    assert missed <= 30  # a tenth


# Verdicts


def test_a_log_that_never_offers_an_arm_says_nothing_of_it():
    policy = bt.Uniform([*ARMS, "hockey"], seed=1)
    found = evaluate(policy, LOG)
    assert found.overlap["hockey"].wanted == pytest.approx(0.25)
    assert {e.verdict for e in found.estimates.values()} == {"do not trust"}
    reason = found.estimates["dr"].reasons[0]
    assert reason == "the log never offers what it would: 'hockey' in 25.0% of the decisions"


def test_contexts_that_the_log_does_not_reach_are_told():
    certain = np.array([[0.0, 0.0, 1.0], [0.2, 0.2, 0.6]])
    found = evaluate(best, as_log(drawn(4_000, 0, certain)))
    assert found.overlap["soccer"].missing == pytest.approx(0.5, abs=0.05)
    assert found.estimates["ips"].verdict == "do not trust"
    assert found.estimates["dr"].verdict == "with care"
    assert "could not have offered what it would, in part: 'soccer'" in str(found)


def test_few_rows_are_not_to_be_trusted():
    assert evaluate(best, a_log(150)).estimates["snips"].verdict == "do not trust"
    assert evaluate(best, a_log(1_200)).estimates["snips"].verdict == "with care"
    assert evaluate(best, a_log(8_000)).estimates["snips"].verdict == "trust"
    assert evaluate(best, a_log(8_000)).estimates["dm"].verdict == "with care"


def test_wrong_propensities_are_not_to_be_trusted():
    found = evaluate(best, as_log(drawn(4_000).with_columns(p=pl.lit(1 / 3))))
    assert found.estimates["ips"].verdict == "do not trust"
    assert "the propensities are wrong" in found.estimates["ips"].reasons[0]


def test_a_policy_that_never_offers_what_the_log_does():
    log = as_log(drawn(300).with_columns(item=pl.col("item")), arms=[*ARMS, "hockey"])
    found = evaluate(always("hockey"), log).estimates
    assert np.isnan(found["snips"].value)
    assert {e.verdict for e in found.values()} == {"do not trust"}


# What is refused


def vector_of(*numbers: float) -> Any:
    return lambda context: list(numbers)


WRONG: list[tuple[Any, type[BanditreeError], str]] = [
    (always("chess"), UnknownArmError, "always: the log has no arm 'chess'; its arms are 'golf'"),
    (always("gofl"), UnknownArmError, "did you mean 'golf'?"),
    (
        lambda context: "chess",
        UnknownArmError,
        "the function, in row 0: the log has no arm 'chess'",
    ),
    (lambda context: {"chess": 1.0}, UnknownArmError, "the log has no arm 'chess'"),
    (vector_of(0.5, 0.5), InvalidParameterError, "the function, in row 0, must return an arm"),
    (lambda context: None, InvalidParameterError, "must return an arm, the probabilities"),
    (vector_of(0.5, 0.2, 0.2), InvalidParameterError, "must sum to 1, got 0.9 in row 0"),
    (vector_of(1.5, -0.5, 0), InvalidParameterError, "must be 0 or more, got -0.5 for 'soccer'"),
    (vector_of(np.nan, 0.5, 0.5), InvalidParameterError, "must be 0 or more, got nan for 'golf'"),
    (np.ones((3, 3)) / 3, InvalidParameterError, "a row for each of the log and a column for each"),
    ("golf", InvalidParameterError, "what is evaluated must be a policy, a snapshot, always(arm)"),
    (
        bt.Uniform(["golf", "tennis"]),
        UnknownArmError,
        "the log offers 'soccer', which Uniform does",
    ),
    (bt.Uniform([1, 2, 3]), UnknownArmError, "the log offers 'golf', which Uniform does not have"),
    (learning(bt.Uniform([*ARMS, "chess"])), UnknownArmError, "the log has not 'chess'"),
    (learning(bt.Uniform(["golf"])), UnknownArmError, "it has not 'soccer', 'tennis'"),
]


@pytest.mark.parametrize(("target", "error", "words"), WRONG)
def test_whom_one_cannot_evaluate(target: Any, error: type[BanditreeError], words: str):
    with pytest.raises(error) as raised:
        evaluate(target, LOG)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"interval": "wide"}, 'interval must be one of "bootstrap", "bernstein", "always"'),
        ({"level": 95}, "level must lie between 0 and 1, got 95"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str):
    with pytest.raises(InvalidParameterError) as raised:
        evaluate(best, LOG, **options)
    assert words in str(raised.value)


def test_names_of_a_comparison():
    with pytest.raises(InvalidParameterError, match="'logged' is that of who made the log"):
        compare({"logged": best}, LOG)
    for wrong in ({}, [best]):
        with pytest.raises(InvalidParameterError, match="targets must map names"):
            compare(wrong, LOG)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="only a policy can learn"):
        learning(best)  # type: ignore[arg-type]


def test_the_truth_of_the_made_up_logs():
    assert (MEANS * LOGGER).sum(axis=1).mean() == pytest.approx(
        a_log(20_000).rewards.mean(), abs=0.01
    )
