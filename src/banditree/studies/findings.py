"""Findings: comparisons in the results of a study that speak for or against a claim."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from banditree.studies.comparisons import (
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
    "BEATS",
    "EQUALS",
    "Finding",
    "Verdict",
    "beats",
    "equal",
    "exploration",
    "find",
    "find_value",
    "higher",
    "left_behind",
    "levelling",
    "lower",
    "not_higher",
    "one_of",
    "rivals",
    "verdict_on",
]

Verdict = Literal["reproduced", "not reproduced", "in part", "not tested"]
Test = Callable[[Difference], bool]

BEATS = (
    "A difference counts if the 95 % interval of the paired difference excludes 0, and it is at "
    "least 5 % of the regret (beyond OfflineTree's, where that was run)."
)
EQUALS = (
    "Two are equal if the 95 % interval of the paired difference includes 0, or the difference is "
    "under 5 % of the regret (beyond OfflineTree's, where that was run)."
)
MIDDLE, LAST = (0.4, 0.6), (0.8, 1.0)  # shares of the steps
TENTHS = [(i / 10, (i + 1) / 10) for i in range(10)]


@dataclass(frozen=True)
class Finding:
    """Numbers behind a claim, and whether they are as claimed; None if that cannot be said."""

    text: str
    holds: bool | None


def verdict_on(findings: Sequence[Finding]) -> Verdict:
    """Return what findings, each of which was claimed, say together.

    Examples
    --------
    >>> verdict_on([Finding("a", True), Finding("b", None)])
    'in part'
    """
    held = [finding.holds for finding in findings]
    if all(holds is None for holds in held):
        return "not tested"
    if all(held):
        return "reproduced"
    return "in part" if True in held else "not reproduced"


def lower(found: Difference) -> bool:
    """Return whether the first is lower."""
    return found.lower


def higher(found: Difference) -> bool:
    """Return whether the first is higher."""
    return found.higher


def equal(found: Difference) -> bool:
    """Return whether the two are equal."""
    return found.equal


def not_lower(found: Difference) -> bool:
    """Return whether the first is equal, or higher."""
    return not found.lower


def not_higher(found: Difference) -> bool:
    """Return whether the first is equal, or lower."""
    return not found.higher


def find(
    results: Results, task: str, first: str, second: str, test: Test, span: Span = WHOLE
) -> Finding:
    """Compare the regret of two policies, each with its best constants."""
    cells = _best(results, task, (first, second))
    if isinstance(cells, Finding):
        return cells
    steps = "" if span == WHOLE else f", last {percent(span[1] - span[0])} of steps"
    words = f"{task}: {first} − {second}{steps}"
    return _tested(words, compare(results, cells[0], cells[1], span), test)


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
    return _tested(f"{task}: {words}", difference(value(*paired(cells[0], cells[1]))), test)


def one_of(task: str, findings: Sequence[Finding]) -> Finding:
    """Return findings on a task of which one is claimed to hold, as one."""
    held = [finding.holds for finding in findings]
    holds = True if True in held else None if None in held else False
    texts = [finding.text.removeprefix(f"{task}: ") for finding in findings]
    return Finding(f"{task}: {'; '.join(texts)}", holds)


def rivals(results: Results, task: str, label: str, rival: str) -> Finding:
    """Find out against how many constants of a rival a policy wins; half is claimed."""
    variants = results.variants(rival, task)
    own = results.best(label, task)
    if own is None or len(variants) < 2:
        return Finding(f"{task}: {label}, or {rival} with two constants, was not run", None)
    each = [
        _tested(variant.constants, compare(results, own, variant), lower) for variant in variants
    ]
    numbers = "; ".join(finding.text for finding in each)
    if any(finding.holds is None for finding in each):
        return Finding(f"{task}: {label} − {rival} ({numbers})", None)
    won = sum(finding.holds is True for finding in each)
    text = f"{task}: {label} beats {rival} with {won} of {len(each)} constants ({numbers})"
    return Finding(text, 2 * won >= len(each))


def exploration(results: Results, task: str) -> Finding:
    """Find out for how long BanditForest only explores; half of the steps is claimed."""
    forest = results.best("BanditForest", task)
    if forest is None:
        return Finding(f"{task}: BanditForest was not run", None)
    uniform = results.best("Uniform", task)
    for i, tenth in enumerate(TENTHS):
        if uniform is not None:
            found, other = compare(results, forest, uniform, tenth), "Uniform"
        else:
            found, other = compare(results, forest, forest, tenth, TENTHS[0]), "its first tenth"
        if found is None or not found.is_known:
            return Finding(f"{task}: BanditForest needs two seeds", None)
        if found.lower:
            words = f"{task}: explores for {10 * i} % of the steps"
            return Finding(f"{words}; in the next tenth, regret − {other}: {found}", i >= 5)
    return Finding(f"{task}: explores for all of the steps", True)


def levelling(results: Results, task: str, linear: str) -> Finding:
    """Find out whether a policy leads TreeBootstrap, by a lead that grows less and less."""
    cells = _best(results, task, ("TreeBootstrap", linear))
    if isinstance(cells, Finding):
        return cells
    tree, other = cells
    words = f"{task}: {linear}'s lead over TreeBootstrap"
    led = _tested(words, compare(results, tree, other), higher)
    if led.holds is None:
        return led
    lead = tree.relative_to(other)
    growth = difference(regret_between(lead, *LAST) - regret_between(lead, *MIDDLE))
    slower = _tested("; its growth, last 20 % − middle 20 % of steps", growth, lower)
    return Finding(led.text + slower.text, led.holds and slower.holds)


def left_behind(results: Results, task: str, label: str, others: Sequence[str]) -> Finding:
    """Find out whether a policy is the worst, or far behind the best."""
    own = results.best(label, task)
    found = [cell for other in others if (cell := results.best(other, task)) is not None]
    if own is None or not found:
        return Finding(f"{task}: {label}, or what to compare it with, was not run", None)
    best = min(found, key=lambda cell: cell.mean)
    each = [
        _tested(f"{label} − {cell.label}", compare(results, own, cell), higher)
        for cell in sorted(found, key=lambda cell: cell.mean)
    ]
    for finding in each:
        if finding.holds is None:
            return Finding(f"{task}: {finding.text}", None)
    numbers = f"{task}: {each[0].text}, the best of the others"
    if len(each) > 1:
        numbers += f"; {each[-1].text}, the worst of them"
    is_worst = all(finding.holds for finding in each)
    return Finding(numbers, is_worst or _is_far_behind(results, own, best))


def _is_far_behind(results: Results, own: Cell, best: Cell) -> bool:
    own, best = paired(own, best)
    baseline = results.baseline(own.environment)
    if baseline is not None:
        own, best = own.relative_to(baseline), best.relative_to(baseline)
    found = difference(own.regrets - 1.5 * best.regrets)
    return found is not None and found.is_known and found.higher


def _best(results: Results, task: str, labels: Sequence[str]) -> list[Cell] | Finding:
    """Return the cells of policies with their best constants, or what is not there."""
    cells = []
    for label in labels:
        cell = results.best(label, task)
        if cell is None:
            return Finding(f"{task}: {label} was not run", None)
        cells.append(cell)
    return cells


def _tested(words: str, found: Difference | None, test: Test) -> Finding:
    if found is None:
        return Finding(f"{words}: no seed in common", None)
    if not found.is_known:
        return Finding(f"{words}: {found}, a single seed", None)
    return Finding(f"{words}: {found}", test(found))
