"""Findings: comparisons in the results of a study that speak for or against a claim."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from banditree.studies.reports.comparisons import (
    LAST,
    MIDDLE,
    WHOLE,
    Difference,
    Span,
    compare,
    difference,
    paired,
    percent,
    regret_between,
)
from banditree.studies.summary import Cell, Results
from banditree.types import FloatArray

__all__ = [
    "Finding",
    "Verdict",
    "beats",
    "differing",
    "equal",
    "exploration",
    "find",
    "find_value",
    "higher",
    "levelling",
    "lower",
    "not_higher",
    "not_lower",
    "one_of",
    "rivals",
    "strongest",
    "verdict_on",
]

Verdict = Literal["reproduced", "not reproduced", "in part", "undecided", "not tested"]
Holds = bool | None
Test = Callable[[Difference], Holds]

TENTHS = [(i / 10, (i + 1) / 10) for i in range(10)]
HALF = len(TENTHS) // 2


@dataclass(frozen=True)
class Finding:
    """Numbers behind a claim, and whether they are as claimed; None if that cannot be said.

    Attributes
    ----------
    steps
        Of the runs.
    """

    text: str
    holds: Holds
    was_run: bool = True
    steps: int = 0


def missing(what: str, steps: int = 0) -> Finding:
    """Return the finding that something was not run."""
    return Finding(f"{what} was not run", None, was_run=False, steps=steps)


def verdict_on(findings: Sequence[Finding]) -> Verdict:
    """Return what findings, each of which was claimed, say together.

    Examples
    --------
    >>> verdict_on([Finding("a", True), Finding("b", None)])
    'in part'
    """
    held = [finding.holds for finding in findings]
    if all(holds is None for holds in held):
        return "undecided" if any(finding.was_run for finding in findings) else "not tested"
    if all(held):
        return "reproduced"
    return "in part" if True in held else "not reproduced"


def lower(found: Difference) -> Holds:
    """Return whether the first is lower."""
    return found.lower


def higher(found: Difference) -> Holds:
    """Return whether the first is higher."""
    return found.higher


def equal(found: Difference) -> Holds:
    """Return whether the two are equal."""
    return found.equal


def not_lower(found: Difference) -> Holds:
    """Return whether the first is equal, or higher."""
    return negated(found.lower)


def not_higher(found: Difference) -> Holds:
    """Return whether the first is equal, or lower."""
    return negated(found.higher)


def negated(holds: Holds) -> Holds:
    """Return the opposite, where something can be said."""
    return None if holds is None else not holds


def any_of(held: Sequence[Holds]) -> Holds:
    """Return whether one holds at least.

    Examples
    --------
    >>> any_of([False, None]) is None, any_of([True, None])
    (True, True)
    """
    return True if True in held else None if None in held else False


def all_of(held: Sequence[Holds]) -> Holds:
    """Return whether all hold."""
    return negated(any_of([negated(holds) for holds in held]))


def find(
    results: Results, task: str, first: str, second: str, test: Test, span: Span = WHOLE
) -> Finding:
    """Compare the regret of two policies, each with its best constants."""
    cells = _best(results, task, (first, second))
    if isinstance(cells, Finding):
        return cells
    steps = "" if span == WHOLE else f", last {percent(span[1] - span[0])} of steps"
    words = f"{task}: {first} − {second}{steps}"
    tested = _tested(words, compare(results, cells[0], cells[1], span), test)
    return replace(tested, steps=results.horizon_of(task))


def beats(results: Results, task: str, first: str, second: str, *, wanted: bool = True) -> Finding:
    """Compare two policies of which the first is claimed to have less regret, or not to."""
    return find(results, task, first, second, lower if wanted else not_lower)


def find_value(
    results: Results,
    task: str,
    pair: tuple[str, str],
    words: str,
    value: Callable[[Cell, Cell], FloatArray],
    test: Test,
) -> Finding:
    """Test the mean of a value of two policies, which gets them with their common seeds."""
    cells = _best(results, task, pair)
    if isinstance(cells, Finding):
        return cells
    tested = _tested(f"{task}: {words}", difference(value(*paired(cells[0], cells[1]))), test)
    return replace(tested, steps=results.horizon_of(task))


def one_of(task: str, findings: Sequence[Finding]) -> Finding:
    """Return findings on a task of which one is claimed to hold, as one."""
    texts = [finding.text.removeprefix(f"{task}: ") for finding in findings]
    holds = any_of([finding.holds for finding in findings])
    was_run = any(finding.was_run for finding in findings)
    steps = max((finding.steps for finding in findings), default=0)
    return Finding(f"{task}: {'; '.join(texts)}", holds, was_run, steps)


def strongest(results: Results, task: str, labels: Sequence[str]) -> str:
    """Return which of some policies has the least regret on a task, else the first of them."""
    cells = [cell for label in labels if (cell := results.best(label, task)) is not None]
    return min(cells, key=lambda cell: cell.mean).label if cells else labels[0]


def rivals(results: Results, task: str, label: str, rival: str) -> Finding:
    """Find out against how many constants of a rival a policy wins; half is claimed."""
    variants = results.variants(rival, task)
    own = results.best(label, task)
    steps = results.horizon_of(task)
    if own is None or len(variants) < 2:
        return missing(f"{task}: {label}, or {rival} with two constants,", steps)
    each = [
        _tested(variant.constants, compare(results, own, variant), lower) for variant in variants
    ]
    numbers = "; ".join(finding.text for finding in each)
    won, lost = (sum(finding.holds is holds for finding in each) for holds in (True, False))
    text = f"{task}: {label} beats {rival} with {won} of {len(each)} constants ({numbers})"
    if 2 * won >= len(each):
        return Finding(text, True, steps=steps)
    return Finding(text, False if 2 * lost > len(each) else None, steps=steps)


def exploration(results: Results, task: str, label: str = "BanditForest") -> Finding:
    """Find out for how long a bandit forest only explores; half of the steps is claimed."""
    forest, steps = results.best(label, task), results.horizon_of(task)
    if forest is None:
        return missing(f"{task}: {label}", steps)
    uniform = results.best("Uniform", task)
    other = "its first tenth" if uniform is None else "Uniform"
    unclear = ended = len(TENTHS)
    who = ", ".join([label, *([forest.constants] if forest.parameters else [])])
    words = f"{task}: {who} explores for all of the steps"
    for i, tenth in enumerate(TENTHS):
        if uniform is None:
            found = compare(results, forest, forest, tenth, TENTHS[0])
        else:
            found = compare(results, forest, uniform, tenth)
        if found is None or not found.is_known:
            return Finding(f"{task}: {label} needs two seeds", None, steps=steps)
        if found.lower is None:
            unclear = min(unclear, i)
        if found.lower:
            ended = i
            words = f"{task}: {who} explores for {10 * i} % of the steps"
            words += f"; in the next tenth, regret − {other}: {found}"
            break
    holds = all_of([ended >= HALF, True if unclear >= HALF else None])
    return Finding(words, holds, steps=steps)


def levelling(results: Results, task: str, linear: str) -> Finding:
    """Find out whether a policy leads TreeBootstrap, by a lead that grows less and less."""
    cells = _best(results, task, ("TreeBootstrap", linear))
    if isinstance(cells, Finding):
        return cells
    tree, other = cells
    words = f"{task}: {linear}'s lead over TreeBootstrap"
    led = _tested(words, compare(results, tree, other), higher)
    lead = tree.relative_to(other)
    growth = difference(regret_between(lead, *LAST) - regret_between(lead, *MIDDLE))
    slower = _tested("; its growth, last 20 % − middle 20 % of steps", growth, lower)
    holds = all_of([led.holds, slower.holds])
    return Finding(led.text + slower.text, holds, steps=results.horizon_of(task))


def differing(results: Results, label: str, tasks: Sequence[str]) -> Finding:
    """Find out whether two tasks have different best constants, and that matters in both."""
    best = {task: cell for task in tasks if (cell := results.best(label, task)) is not None}
    if len(best) < 2 or not any(len(results.variants(label, task)) > 1 for task in best):
        return missing(f"{label} with two constants on two tasks", results.horizon)
    held: list[Holds] = []
    for one, other in itertools.combinations(best, 2):
        if best[one].parameters != best[other].parameters:
            held.append(
                all_of(
                    [
                        _matters(results, best[one], best[other]),
                        _matters(results, best[other], best[one]),
                    ]
                )
            )
    shown = "; ".join(f"{task} {cell.constants}" for task, cell in best.items())
    if not held and min(len(cell.seeds) for cell in best.values()) < 2:
        held = [None]
    return Finding(f"{label}: best are {shown}", any_of(held), steps=results.horizon)


def _matters(results: Results, here: Cell, there: Cell) -> Holds:
    """Return whether the best constants here beat those that are the best elsewhere."""
    for variant in results.variants(here.label, here.environment):
        if variant.parameters == there.parameters:
            found = compare(results, here, variant)
            return None if found is None else found.lower
    return None


def _best(results: Results, task: str, labels: Sequence[str]) -> list[Cell] | Finding:
    """Return the cells of policies with their best constants, or what is not there."""
    cells = []
    for label in labels:
        cell = results.best(label, task)
        if cell is None:
            return missing(f"{task}: {label}", results.horizon_of(task))
        cells.append(cell)
    return cells


def _tested(words: str, found: Difference | None, test: Test) -> Finding:
    if found is None:
        return Finding(f"{words}: no seed in common", None)
    if not found.is_known:
        return Finding(f"{words}: {found}, a single seed", None)
    holds = test(found)
    doubt = ", too uncertain to say" if holds is None else ""
    return Finding(f"{words}: {found}{doubt}", holds)
