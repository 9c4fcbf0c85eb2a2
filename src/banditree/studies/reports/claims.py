"""What the paper says about its experiments, and whether the results of a study say so too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from banditree.studies.paper import DATA_SETS, LONG, PAPER_TASKS, SPORTS
from banditree.studies.reports.comparisons import END, FIRST, LAST, regret_between
from banditree.studies.reports.findings import (
    Finding,
    Verdict,
    beats,
    differing,
    equal,
    exploration,
    find,
    find_value,
    higher,
    levelling,
    lower,
    not_higher,
    not_lower,
    one_of,
    rivals,
    strongest,
    verdict_on,
)
from banditree.studies.specs import BASELINE
from banditree.studies.summary import Cell, Results
from banditree.types import FloatArray

__all__ = ["CLAIMS", "Claim", "judge"]

TREES = ("TreeBootstrap", "TreeHeuristic")
LINEAR = ("LinUCB", "LogisticUCB")
LINEAR_ROWS = (*LINEAR, *(f"{label}, λ=1" for label in LINEAR))
FORESTS = ("BanditForest", "BanditForest, radius/4")
WON_BY_LINEAR, LOST_BY_LINEAR = ("adult", "census"), ("shuttle", "covertype")
CONTEXT_FREE = "ThompsonSampling"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, judged.

    Attributes
    ----------
    name
        In few words.
    text
        What is claimed.
    rule
        When it counts as reproduced, if not simply by the differences that count.
    verdict
        "in part" if some findings are as claimed and others are not, or were not made.
    findings
        The numbers behind it.
    command
        What makes them.
    """

    name: str
    text: str
    rule: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    command: str

    @property
    def by_horizon(self) -> str:
        """After how many steps the findings were made, and what they say then."""
        horizons = sorted({finding.steps for finding in self.findings if finding.steps})
        texts = []
        for steps in horizons:
            verdict = verdict_on([f for f in self.findings if f.steps == steps])
            said = f": {verdict}" if len(horizons) > 1 else ""
            texts.append(f"at {steps:,} steps{said}")
        return "; ".join(texts).capitalize()


def judge(results: Results) -> list[Claim]:
    """Return all claims of the paper's experiments, judged by the results of a study."""
    return [claim(results) for claim in CLAIMS]


def sports_trees_beat_others(results: Results) -> Claim:
    """Judge whether tree policies beat those without trees on the sports ads."""
    others = (CONTEXT_FREE, strongest(results, SPORTS, LINEAR_ROWS))
    findings = [beats(results, SPORTS, tree, other) for tree in TREES for other in others]
    return _claim(
        results,
        "Trees win on sports ads",
        "TreeBootstrap and TreeHeuristic have less regret than each policy without trees: "
        "context-free Thompson sampling, and the strongest of LinUCB and LogisticUCB with their "
        "best constants, λ tuned or 1.",
        findings,
        [SPORTS],
    )


def sports_trees_are_alike(results: Results) -> Claim:
    """Judge whether the two tree policies are alike on the sports ads."""
    return _claim(
        results,
        "TreeHeuristic is as good on sports ads",
        "TreeBootstrap and TreeHeuristic have about the same regret.",
        [find(results, SPORTS, *TREES, equal)],
        [SPORTS],
    )


def sports_regret_vanishes(results: Results) -> Claim:
    """Judge whether the regret per step of the tree policies goes to zero on the sports ads."""
    findings = []
    for tree in TREES:
        words = f"{tree}, last 20 % of steps − half of the first 20 %"
        findings.append(find_value(results, SPORTS, (tree, tree), words, _last_and_first, lower))
        if results.best("Uniform", SPORTS) is not None:
            words = f"{tree} − a tenth of Uniform, last 20 % of steps"
            pair = (tree, "Uniform")
            findings.append(find_value(results, SPORTS, pair, words, _last_and_tenth, lower))
    return _claim(
        results,
        "Regret vanishes on sports ads",
        "The regret per step of TreeBootstrap and TreeHeuristic goes to zero.",
        findings,
        [SPORTS],
        rule=(
            "In the last 20 % of the steps, regret is under half of that in the first 20 %, "
            "and under a tenth of Uniform's where that was run, with 95 % intervals that "
            "exclude 0."
        ),
    )


def sports_forest_comes_late(results: Results) -> Claim:
    """Judge whether BanditForest ends well on the sports ads, after a lot of regret."""
    findings, others = [], (*TREES, *LINEAR)
    for forest in _forests(results):
        findings += [
            find_value(
                results,
                SPORTS,
                (forest, tree),
                f"{forest} − twice {tree}",
                lambda forest, other: forest.regrets - 2 * other.regrets,
                higher,
            )
            for tree in TREES
        ]
        at_end = [find(results, SPORTS, forest, other, not_higher, END) for other in others]
        findings.append(one_of(SPORTS, at_end))
    return _claim(
        results,
        "BanditForest comes late on sports ads",
        "BanditForest's regret is much higher in total, but comparable to that of the others at "
        "the end.",
        findings,
        [SPORTS],
        rule=(
            "Its total is more than twice that of each tree policy, with 95 % intervals that "
            "exclude 0. In the last 10 % of the steps its regret is equal to that of one of "
            f"{', '.join(others)}, or lower."
        ),
    )


def forest_explores_long(results: Results) -> Claim:
    """Judge whether BanditForest explores for most of the steps."""
    return _claim(
        results,
        "BanditForest explores for most of the time",
        "BanditForest takes most of the horizon to leave pure exploration, on all tasks: with the "
        "best of the depths tried, and the proven radius or a quarter of it.",
        [
            exploration(results, task, forest)
            for forest in _forests(results)
            for task in PAPER_TASKS
        ],
        PAPER_TASKS,
        rule=(
            "Exploration lasts until the first tenth of the steps in which its regret is "
            "lower than Uniform's (where that was not run: than its own in the first tenth) "
            "and not equal to it; that must be half of the steps at least."
        ),
    )


def heuristic_is_as_good(results: Results) -> Claim:
    """Judge whether TreeHeuristic is at least as good as TreeBootstrap on the data sets."""
    tasks = _with_long(results, DATA_SETS)
    return _claim(
        results,
        "TreeHeuristic is as good on data sets",
        "On all four data sets TreeHeuristic's regret equals TreeBootstrap's or is lower.",
        [find(results, task, "TreeHeuristic", "TreeBootstrap", not_higher) for task in tasks],
        tasks,
    )


def logistic_beats_linear(results: Results) -> Claim:
    """Judge whether LogisticUCB beats LinUCB on all data sets but Covertype."""
    tasks = _with_long(results, DATA_SETS)
    return _claim(
        results,
        "LogisticUCB beats LinUCB",
        "With their best constants, LogisticUCB has less regret than LinUCB on Adult, Shuttle "
        "and Census, and not on Covertype.",
        [
            beats(results, task, "LogisticUCB", "LinUCB", wanted=not task.startswith("covertype"))
            for task in tasks
        ],
        tasks,
    )


def linear_wins_on_two(results: Results) -> Claim:
    """Judge whether linear models beat TreeBootstrap on Adult and Census only."""
    won, lost = (_with_long(results, pair) for pair in (WON_BY_LINEAR, LOST_BY_LINEAR))
    findings = [beats(results, task, linear, "TreeBootstrap") for task in won for linear in LINEAR]
    for task in lost:
        linear = strongest(results, task, LINEAR_ROWS)
        findings.append(beats(results, task, linear, "TreeBootstrap", wanted=False))
    return _claim(
        results,
        "Linear models win on two data sets",
        "With their best constants, LinUCB and LogisticUCB have less regret than TreeBootstrap "
        "on Adult and Census, and the strongest of them, λ tuned or 1, has not on Shuttle and "
        "Covertype.",
        findings,
        [*won, *lost],
    )


def trees_beat_half_of_alphas(results: Results) -> Claim:
    """Judge whether tree policies beat LinUCB with at least half of its constants on Adult."""
    return _claim(
        results,
        "LinUCB needs the right alpha",
        "On Adult, TreeBootstrap and TreeHeuristic have less regret than LinUCB with at least "
        "half of the alphas tried.",
        [rivals(results, "adult", tree, "LinUCB") for tree in TREES],
        ["adult"],
    )


def lead_of_linear_levels_off(results: Results) -> Claim:
    """Judge whether the lead of linear models approaches a constant where they lead."""
    tasks = _with_long(results, WON_BY_LINEAR)
    return _claim(
        results,
        "Linear models' lead levels off",
        "Where LinUCB and LogisticUCB lead (Adult and Census), their lead over TreeBootstrap "
        "approaches a constant.",
        [levelling(results, task, linear) for task in tasks for linear in LINEAR],
        tasks,
        rule=(
            "They lead, and the lead grows less in the last 20 % of the steps than in the "
            "middle 20 %, with a 95 % interval that excludes 0."
        ),
    )


def lead_of_trees_grows(results: Results) -> Claim:
    """Judge whether the lead of TreeBootstrap goes on growing where it leads."""
    tasks = (SPORTS, *_with_long(results, ("covertype", "shuttle")))
    return _claim(
        results,
        "Trees' lead goes on growing",
        "On sports ads, Covertype and Shuttle, TreeBootstrap's lead over the strongest of LinUCB "
        "and LogisticUCB, λ tuned or 1, goes on growing.",
        [
            find(results, task, rival, "TreeBootstrap", higher, LAST)
            for task in tasks
            for rival in [strongest(results, task, LINEAR_ROWS)]
        ],
        tasks,
        rule="In the last 20 % of the steps its regret is higher than TreeBootstrap's.",
    )


def contexts_pay(results: Results) -> Claim:
    """Judge whether a policy that ignores contexts is left behind."""
    return _claim(
        results,
        "Contexts have value",
        "Context-free Thompson sampling, there to show the value of contexts, has more regret "
        "than TreeBootstrap and TreeHeuristic on every task.",
        [beats(results, task, tree, CONTEXT_FREE) for task in PAPER_TASKS for tree in TREES],
        PAPER_TASKS,
    )


def constants_depend_on_the_task(results: Results) -> Claim:
    """Judge whether the best constants are not the same everywhere."""
    return _claim(
        results,
        "The best alpha depends on the data",
        "The best constant of LinUCB, and that of LogisticUCB, depends on the data set.",
        [differing(results, linear, PAPER_TASKS) for linear in LINEAR],
        PAPER_TASKS,
        rule="Two tasks have different best constants, each of which beats the other there.",
    )


def tuning_regularization_pays(results: Results) -> Claim:
    """Judge whether cross-validating the regularization is better than leaving it at 1."""
    return _claim(
        results,
        "Tuned regularization is better",
        "With regularization chosen by cross-validation, LinUCB and LogisticUCB improve upon the "
        "original with λ = 1, each with its best alpha.",
        [beats(results, task, one, f"{one}, λ=1") for task in DATA_SETS for one in LINEAR],
        DATA_SETS,
    )


def offline_tree_is_a_bound(results: Results) -> Claim:
    """Judge whether no tree policy has less regret than OfflineTree."""
    tasks = [
        task
        for task in _with_long(results, DATA_SETS)
        if task in DATA_SETS or results.baseline(task) is not None
    ]
    return _claim(
        results,
        "OfflineTree is a lower bound",
        "On the data sets, TreeBootstrap and TreeHeuristic have no less regret than OfflineTree, "
        "which learns from the right classes of other rows.",
        [find(results, task, tree, BASELINE, not_lower) for task in tasks for tree in TREES],
        tasks,
    )


def _with_long(results: Results, tasks: Sequence[str]) -> list[str]:
    """Return tasks, and those of them that were run for longer too."""
    long = [spec.name for spec in LONG if spec.task in tasks]
    return [*tasks, *(name for name in long if name in results.environments)]


def _forests(results: Results) -> list[str]:
    """Return BanditForest, and what of its kind was run besides."""
    return [label for label in FORESTS if label == FORESTS[0] or label in results.labels]


def _last_and_first(own: Cell, same: Cell) -> FloatArray:
    return regret_between(own, *LAST) - 0.5 * regret_between(same, *FIRST)


def _last_and_tenth(own: Cell, uniform: Cell) -> FloatArray:
    return regret_between(own, *LAST) - 0.1 * regret_between(uniform, *LAST)


def _claim(
    results: Results,
    name: str,
    text: str,
    findings: Sequence[Finding],
    tasks: Sequence[str],
    *,
    rule: str = "",
) -> Claim:
    command = f"{results.command} --tasks {' '.join(tasks)}"
    return Claim(name, text, rule, verdict_on(findings), tuple(findings), command)


CLAIMS: tuple[Callable[[Results], Claim], ...] = (
    sports_trees_beat_others,
    sports_trees_are_alike,
    sports_regret_vanishes,
    sports_forest_comes_late,
    forest_explores_long,
    heuristic_is_as_good,
    logistic_beats_linear,
    linear_wins_on_two,
    trees_beat_half_of_alphas,
    lead_of_linear_levels_off,
    lead_of_trees_grows,
    contexts_pay,
    constants_depend_on_the_task,
    tuning_regularization_pays,
    offline_tree_is_a_bound,
)
