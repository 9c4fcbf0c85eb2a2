"""The paper's claims on results where they hold, where they fail, and where data are missing."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from banditree.studies.reports import claims, findings
from banditree.studies.reports.comparisons import Difference, compare, regret_between
from banditree.studies.reports.findings import Finding, differing, exploration, verdict_on
from studies.reports.made_up import (
    LEARNT,
    PAPER,
    cell,
    everywhere,
    exact,
    forest,
    full_paper,
    results,
)

TWO = ("TreeBootstrap", "TreeHeuristic")
DATA_SETS = ("adult", "shuttle", "covertype", "census")


def on(tasks, label, rates):
    return {(task, label): rates for task in tasks}


def without_linear(task):
    return {(task, label): None for label in claims.LINEAR_ROWS}


# Each claim, with changes to results on which it holds, and what it must come to.
CASES = [
    (claims.sports_trees_beat_others, on(["sports"], "TreeHeuristic", 0.2), "in part"),
    (
        claims.sports_trees_beat_others,
        on(["sports"], "TreeHeuristic", 0.2) | on(["sports"], "TreeBootstrap", 0.2),
        "not reproduced",
    ),
    (claims.sports_trees_beat_others, without_linear("sports"), "in part"),
    # One linear row that is stronger than the trees is enough.
    (claims.sports_trees_beat_others, on(["sports"], "LogisticUCB, λ=1", 0.01), "in part"),
    (claims.linear_wins_on_two, on(["covertype"], "LinUCB, λ=1", 0.35), "in part"),
    (claims.lead_of_trees_grows, on(["shuttle"], "LogisticUCB, λ=1", 0.02), "in part"),
    (claims.sports_trees_are_alike, on(["sports"], "TreeHeuristic", 0.05), "not reproduced"),
    (claims.sports_trees_are_alike, on(["sports"], "TreeHeuristic", 0.001), "not reproduced"),
    (claims.sports_trees_are_alike, on(["sports"], "TreeHeuristic", None), "not tested"),
    (claims.sports_regret_vanishes, on(["sports"], "TreeHeuristic", 0.05), "in part"),
    (
        claims.sports_regret_vanishes,
        {("sports", label): 0.05 for label in TWO},
        "not reproduced",
    ),
    # Half of what it was, but that was a lot.
    (
        claims.sports_regret_vanishes,
        {("sports", label): [0.2] * 5 + [0.05] * 5 for label in TWO},
        "in part",
    ),
    (claims.sports_forest_comes_late, on(["sports"], "BanditForest", 0.2), "in part"),
    (claims.sports_forest_comes_late, on(["sports"], "BanditForest", 0.02), "in part"),
    (
        claims.sports_forest_comes_late,
        on(["sports"], "BanditForest", [0.01] * 9 + [0.1]),
        "not reproduced",
    ),
    (claims.sports_forest_comes_late, on(["sports"], "BanditForest", None), "not tested"),
    (claims.forest_explores_long, on(["adult"], "BanditForest", forest(0.92, 0.8, 4)), "in part"),
    (claims.forest_explores_long, everywhere("BanditForest", 0.001), "not reproduced"),
    (claims.forest_explores_long, everywhere("BanditForest", None), "not tested"),
    (claims.heuristic_is_as_good, on(["shuttle"], "TreeHeuristic", 0.06), "in part"),
    (claims.heuristic_is_as_good, on(DATA_SETS, "TreeHeuristic", 0.95), "not reproduced"),
    (claims.heuristic_is_as_good, on(["census"], "TreeHeuristic", None), "in part"),
    (claims.heuristic_is_as_good, on(DATA_SETS, "TreeBootstrap", None), "not tested"),
    (claims.logistic_beats_linear, on(["covertype"], "LogisticUCB", 0.45), "in part"),
    (claims.logistic_beats_linear, on(["census"], "LogisticUCB", 0.75), "in part"),
    (
        claims.logistic_beats_linear,
        on(DATA_SETS, "LogisticUCB", 0.9) | on(["covertype"], "LogisticUCB", 0.4),
        "not reproduced",
    ),
    (claims.linear_wins_on_two, on(["shuttle"], "LinUCB", 0.03), "in part"),
    (claims.linear_wins_on_two, on(["adult"], "LogisticUCB", 0.9), "in part"),
    (
        claims.linear_wins_on_two,
        on(["adult", "census"], "TreeBootstrap", 0.65)
        | on(["shuttle", "covertype"], "TreeBootstrap", 0.95),
        "not reproduced",
    ),
    (claims.trees_beat_half_of_alphas, on(["adult"], "TreeHeuristic", 0.9), "in part"),
    (claims.trees_beat_half_of_alphas, on(["adult"], "LinUCB", 0.45), "not reproduced"),
    (claims.trees_beat_half_of_alphas, on(["adult"], "LinUCB", None), "not tested"),
    (claims.lead_of_linear_levels_off, on(["adult"], "TreeBootstrap", 0.85), "in part"),
    # A lead that grows less, of the other side.
    (
        claims.lead_of_linear_levels_off,
        on(["adult", "census"], "TreeBootstrap", [0.65] * 6 + [0.6] * 4),
        "not reproduced",
    ),
    (claims.lead_of_linear_levels_off, on(["census"], "LinUCB", None), "in part"),
    (claims.lead_of_trees_grows, on(["sports"], "LinUCB", LEARNT), "in part"),
    (
        claims.lead_of_trees_grows,
        on(["sports", "covertype", "shuttle"], "TreeBootstrap", [0.0] * 8 + [0.6] * 2),
        "not reproduced",
    ),
    (claims.contexts_pay, on(["adult"], "ThompsonSampling", 0.76), "in part"),
    (claims.constants_depend_on_the_task, everywhere("LogisticUCB", None), "in part"),
    (claims.constants_depend_on_the_task, on(["sports"], "LogisticUCB", None), "in part"),
    (
        claims.constants_depend_on_the_task,
        on(["sports"], "LogisticUCB", None) | on(["sports"], "LinUCB", None),
        "not reproduced",
    ),
    (claims.tuning_regularization_pays, on(["adult"], "LinUCB, λ=1", 0.7), "in part"),
    (
        claims.tuning_regularization_pays,
        everywhere("LinUCB, λ=1", 0.01) | everywhere("LogisticUCB, λ=1", 0.01),
        "not reproduced",
    ),
    (
        claims.tuning_regularization_pays,
        everywhere("LinUCB, λ=1", None) | everywhere("LogisticUCB, λ=1", None),
        "not tested",
    ),
    (claims.offline_tree_is_a_bound, on(["shuttle"], "OfflineTree", 0.08), "in part"),
    (claims.offline_tree_is_a_bound, everywhere("OfflineTree", 0.99), "not reproduced"),
    (claims.offline_tree_is_a_bound, everywhere("OfflineTree", None), "not tested"),
    (claims.contexts_pay, everywhere("ThompsonSampling", 0.0), "not reproduced"),
    (claims.contexts_pay, everywhere("ThompsonSampling", None), "not tested"),
]


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.__name__)
def test_holds(claim):
    judged = claim(full_paper())
    assert judged.verdict == "reproduced", judged.findings
    assert all(finding.holds for finding in judged.findings)


@pytest.mark.parametrize(
    ("claim", "changes", "verdict"),
    CASES,
    ids=lambda value: getattr(value, "__name__", str(value)[:60]),
)
def test_fails_or_is_missing(claim, changes, verdict):
    judged = claim(full_paper(changes))
    assert judged.verdict == verdict, judged.findings


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.__name__)
def test_each_claim_has_failed_in_a_case(claim):
    verdicts = {verdict for judged, _, verdict in CASES if judged is claim}
    assert "not reproduced" in verdicts


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.__name__)
def test_other_results_say_nothing(claim):
    judged = claim(results([cell("Uniform", "shop", 0.5), cell("Greedy", "shop", 0.2)]))
    assert judged.verdict == "not tested"
    assert judged.findings
    assert all("not run" in finding.text for finding in judged.findings)


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.__name__)
def test_one_seed_is_no_test(claim):
    judged = claim(full_paper(seeds=[7]))
    assert judged.verdict == "undecided"
    assert "nan" not in " ".join(finding.text for finding in judged.findings)


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.__name__)
def test_few_seeds_that_differ_widely_say_nothing(claim):
    """The means are as claimed, but every second policy has its regret with the other seed."""
    few = full_paper(seeds=[0, 1])
    for i, label in enumerate(few.labels):
        shares = np.array([[0.1], [1.9]][:: (-1) ** i])
        for known in few.cells:
            if known.label == label:
                known.curves[:] *= shares
    judged = claim(few)
    assert judged.verdict == "undecided", judged.findings
    assert all(finding.was_run and finding.holds is None for finding in judged.findings)


def test_all_are_judged_and_named_once():
    judged = claims.judge(full_paper())
    assert len(judged) == len(claims.CLAIMS) == 15
    assert len({claim.name for claim in judged}) == 15
    assert all(claim.text for claim in judged)


def test_the_commands_name_the_tasks():
    commands = [claim.command for claim in claims.judge(full_paper())]
    assert commands[0] == "banditree reproduce --full --tasks sports"
    assert "banditree reproduce --full --tasks adult census" in commands
    assert "banditree reproduce --full --tasks adult" in commands


def test_the_commands_are_understood():
    from banditree.cli import _parser

    for claim in claims.judge(full_paper()):
        assert _parser().parse_args(claim.command.split()[1:]).full


def test_differences_are_paired_by_seed():
    first = exact("TreeHeuristic", "adult", {0: 10, 1: 20, 2: 30, 9: 1000})
    second = exact("TreeBootstrap", "adult", {8: 0, 2: 34, 1: 23, 0: 12})
    (finding, *_) = claims.heuristic_is_as_good(results([first, second])).findings
    # The differences are −2, −3 and −4, and Student's factor for three is 4.303.
    assert finding.text == "adult: TreeHeuristic − TreeBootstrap: −3.00 ± 2.48 (13 %)"
    assert finding.holds


def test_no_seed_in_common():
    cells = [exact("TreeHeuristic", "adult", {0: 1}), exact("TreeBootstrap", "adult", {1: 1})]
    (finding, *_) = claims.heuristic_is_as_good(results(cells)).findings
    text = "adult: TreeHeuristic − TreeBootstrap: no seed in common"
    assert finding == Finding(text, None, steps=1000)


def test_shares_are_beyond_the_baseline():
    cells = [
        exact("TreeHeuristic", "adult", {0: 100, 1: 102}),
        exact("TreeBootstrap", "adult", {0: 110, 1: 112}),
    ]
    assert compare(results(cells), *cells).share == pytest.approx(10 / 111)
    baseline = exact("OfflineTree", "adult", {0: 90, 1: 92})
    assert compare(results([*cells, baseline]), *cells).share == pytest.approx(10 / 20)


@pytest.mark.parametrize(
    ("difference", "outcome"),
    [
        (Difference(-3.0, 2.0, 6), "lower"),
        (Difference(3.0, 2.0, 6), "higher"),
        (Difference(-3.0, 2.0), "lower"),  # without a scale any difference is large
        (Difference(3.0, 2.0), "higher"),
        (Difference(-3.0, 2.0, 60), "lower"),  # just 5 %
        (Difference(-3.0, 2.0, 61), "equal"),
        (Difference(3.0, 2.0, 61), "equal"),
        (Difference(-3.0, 4.0, 35), "equal"),  # the interval reaches to just 20 %
        (Difference(3.0, 4.0, 35), "equal"),
        (Difference(-3.0, 3.0, 30), "equal"),
        (Difference(-3.0, 4.0, 34), None),
        (Difference(3.0, 4.0, 34), None),
        (Difference(3.0, 4.0), None),
        (Difference(0.0, 0.0, 0.0), "equal"),
        (Difference(-3.0, math.nan, 60), None),
    ],
)
def test_what_counts_as_a_difference(difference, outcome):
    said = [name for name in ("lower", "equal", "higher") if getattr(difference, name)]
    assert said == ([] if outcome is None else [outcome])
    assert (difference.equal is None) == (outcome is None)
    assert difference.is_known == (not math.isnan(difference.half))


@pytest.mark.parametrize(
    ("difference", "lower", "higher"),
    [
        (Difference(-3.0, 4.0, 34), None, False),  # surely not higher by 20 %
        (Difference(3.0, 4.0, 34), False, None),
        (Difference(-3.0, 4.0, 4), None, None),
        (Difference(-3.0, 2.0, 60), True, False),
        (Difference(-3.0, 2.0, 61), False, False),
    ],
)
def test_one_side_may_be_clear(difference, lower, higher):
    assert (difference.lower, difference.higher) == (lower, higher)
    assert findings.not_lower(difference) == (None if lower is None else not lower)
    assert findings.not_higher(difference) == (None if higher is None else not higher)


def test_regret_of_a_part_of_the_steps():
    some = cell("a", "e", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], noise=0.0)
    assert regret_between(some, 0.8, 1.0) == pytest.approx([1900] * 5)
    assert regret_between(some, 0.0, 1.0) == pytest.approx(some.regrets)


@pytest.mark.parametrize(
    ("held", "verdict"),
    [
        ([True, True], "reproduced"),
        ([True, False], "in part"),
        ([True, None], "in part"),
        ([False, None], "not reproduced"),
        ([False], "not reproduced"),
        ([None, None], "undecided"),
    ],
)
def test_verdicts(held, verdict):
    assert verdict_on([Finding("", holds) for holds in held]) == verdict


def test_what_was_not_run_is_not_undecided():
    assert verdict_on([findings.missing("a"), findings.missing("b")]) == "not tested"
    assert verdict_on([findings.missing("a"), Finding("b", None)]) == "undecided"


@pytest.mark.parametrize("held", list(itertools.product([True, False, None], repeat=2)))
def test_findings_together(held):
    """What cannot be said could be either: only what is so both ways is said."""
    ways = list(itertools.product(*[(True, False) if h is None else (h,) for h in held]))
    for together, whole in ((findings.any_of, any), (findings.all_of, all)):
        outcomes = {whole(way) for way in ways}
        assert together(list(held)) is (outcomes.pop() if len(outcomes) == 1 else None)


@pytest.mark.parametrize("tenths", [1, 4, 5, 9])
@pytest.mark.parametrize("with_uniform", [True, False])
def test_when_the_forest_has_settled(tenths, with_uniform):
    cells = [cell("BanditForest", "sports", forest(0.2, 0.1, tenths))]
    if with_uniform:
        cells.append(cell("Uniform", "sports", 0.2))
    finding = exploration(results(cells), "sports")
    assert f"explores for {10 * tenths} % of the steps" in finding.text
    assert finding.holds == (tenths >= 5)


@pytest.mark.parametrize(
    ("here", "there", "holds"),
    [
        ({0.1: 0.2, 1.0: 0.4}, {0.1: 0.4, 1.0: 0.2}, True),
        ({0.1: 0.2, 1.0: 0.4}, {0.1: 0.2, 1.0: 0.4}, False),  # the same is best
        ({0.1: 0.2, 1.0: 0.4}, {0.1: 0.201, 1.0: 0.2}, False),  # it makes no difference there
        ({0.1: 0.2}, {1.0: 0.2}, None),  # not tried where the other was
    ],
)
def test_whether_constants_depend_on_the_task(here, there, holds):
    cells = [
        cell("LinUCB", task, rate, {"alpha": alpha})
        for task, rates in (("adult", here), ("census", there))
        for alpha, rate in rates.items()
    ]
    assert differing(results(cells), "LinUCB", ["adult", "census"]).holds is holds


def test_constants_beaten_are_counted():
    (finding, _) = claims.trees_beat_half_of_alphas(full_paper()).findings
    # The best alpha's rate is 0.74 and TreeBootstrap's mean 0.824: 1.2, 1.4 and 1.6 times are more.
    assert "beats LinUCB with 3 of 6 constants" in finding.text
    assert all(f"alpha={alpha}" in finding.text for alpha in (0.0001, 10.0))


def longer(known, task, rates):
    """Results with those of some policies on a task for a hundred times as long."""
    name = f"{task}-long"
    cells = [cell(label, name, rate) for label, rate in rates.items()]
    more = [replace(one, steps=100 * one.steps, curves=100 * one.curves) for one in cells]
    return replace(known, cells=[*known.cells, *more], environments=[*known.environments, name])


def test_each_horizon_has_a_verdict_of_its_own():
    trees_lose = full_paper(on(["covertype"], "TreeBootstrap", 0.58))
    short = claims.lead_of_trees_grows(trees_lose)
    assert short.by_horizon == "At 1,000 steps"
    assert short.verdict == "in part"
    rates = {"TreeBootstrap": 0.4, "LinUCB": 0.5, "LogisticUCB": 0.6}
    long = claims.lead_of_trees_grows(longer(trees_lose, "covertype", rates))
    assert long.by_horizon == "At 1,000 steps: in part; at 100,000 steps: reproduced"
    assert long.findings[-1].text.startswith("covertype-long: LinUCB − TreeBootstrap, last 20 %")
    assert long.command.endswith("--tasks sports covertype shuttle covertype-long")


@pytest.mark.parametrize(
    ("claim", "task"),
    [
        (claims.linear_wins_on_two, "adult"),
        (claims.lead_of_linear_levels_off, "adult"),
        (claims.heuristic_is_as_good, "covertype"),
        (claims.logistic_beats_linear, "covertype"),
    ],
)
def test_longer_runs_count(claim, task):
    rates = {"TreeBootstrap": 0.5, "TreeHeuristic": 0.7, "LinUCB": 0.9, "LogisticUCB": 0.6}
    judged = claim(longer(full_paper(), task, rates))
    assert judged.verdict == "in part"
    assert judged.by_horizon.endswith("at 100,000 steps: not reproduced")


def test_the_forest_with_a_smaller_radius_is_judged_too():
    known = full_paper()
    narrow = "BanditForest, radius/4"
    cells = [cell(narrow, task, forest(0.9, 0.1, 2), {"depth": 1}) for task in PAPER]
    both = replace(known, cells=[*known.cells, *cells], labels=[*known.labels, narrow])
    judged = claims.forest_explores_long(both)
    assert len(judged.findings) == 2 * len(PAPER)
    assert judged.verdict == "in part"
    assert f"sports: {narrow}, depth=1 explores for " in judged.findings[len(PAPER)].text
    late = claims.sports_forest_comes_late(both)
    assert [finding.text.startswith(f"sports: {narrow}") for finding in late.findings].count(True)


def test_uniform_is_not_needed():
    without = full_paper(everywhere("Uniform", None))
    assert claims.sports_regret_vanishes(without).verdict == "reproduced"
    assert claims.forest_explores_long(without).verdict == "reproduced"
    assert len(PAPER) == len(claims.forest_explores_long(without).findings)
