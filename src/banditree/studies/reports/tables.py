"""The numbers of a study, laid out in rows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from banditree.studies.reports.constants import at_edge, best_constants, tuned_labels, varying
from banditree.studies.specs import BASELINE
from banditree.studies.summary import Cell, Results

__all__ = [
    "Table",
    "as_text",
    "constants_rows",
    "environment_rows",
    "facts",
    "left_out",
    "regret_note",
    "regret_rows",
    "remarks",
]

NOTHING = "—"
DRAWN = "drawn"
SIGNS = {
    "reproduced": "✓",
    "in part": "◐",
    "not reproduced": "✗",
    "undecided": "?",
    "not tested": "–",
}
MARKS = {True: "✓", False: "✗", None: "–"}

REGRET_NOTE = (
    "Cumulative regret over all steps: the mean over seeds ± half of its 95 % interval. Where "
    "several constants were tried, the row is that of the best, which cannot be known in "
    "advance, by these very seeds. Bold is every policy whose interval reaches that of the least "
    "regret of its column"
)
CONSTANTS_NOTE = (
    "The constants with the least mean regret, and of how many; where there was one choice only, "
    "that. * is at the edge of what was tried: one beyond might be better."
)
CLAIMS_NOTE = (
    "Differences are in cumulative regret, paired seed by seed, ± half of their 95 % intervals; in "
    "brackets, as a share of the larger regret (beyond OfflineTree's, where that was run). A "
    "difference counts if its interval excludes 0 and its share is at least 5 %; if none counts, "
    "two are equal. But if none counts and the interval reaches beyond a share of 20 %, on the "
    "side claimed, nothing can be said. ✓ is as claimed, ✗ is not, – cannot be said or was not "
    "run. A claim is reproduced if all its numbers are as claimed, in part if some are, and not "
    "reproduced if none is and one is not. It is undecided if nothing can be said of any, where "
    "more seeds would help."
)


@dataclass(frozen=True)
class Table:
    """A table of text. `best` are the rows and columns that stand out."""

    header: list[str]
    rows: list[list[str]]
    best: frozenset[tuple[int, int]] = frozenset()


def regret_rows(results: Results) -> Table:
    """Return the regret of each policy, with its best constants, in each environment."""
    labels = [label for label in results.labels if any(c.label == label for c in results.cells)]
    cells = [[results.best(label, name) for name in results.environments] for label in labels]
    rows = [
        [_named(results, label), *map(regret_of, row)]
        for label, row in zip(labels, cells, strict=True)
    ]
    best = set()
    for column in range(len(results.environments)):
        rivals = {
            row: cell
            for row, label in enumerate(labels)
            if label != BASELINE and (cell := cells[row][column]) is not None
        }
        if len(rivals) > 1:
            best |= {(row, column + 1) for row in as_good_as_best(rivals)}
    return Table(["policy", *results.environments], rows, frozenset(best))


def as_good_as_best(cells: Mapping[int, Cell]) -> set[int]:
    """Return whose 95 % intervals reach that of the least mean; a single seed has none."""

    def half(cell: Cell) -> float:
        return 0.0 if math.isnan(cell.half_width) else cell.half_width

    best = min(cells.values(), key=lambda cell: cell.mean)
    return {i for i, c in cells.items() if c.mean - half(c) <= best.mean + half(best)}


def regret_note(results: Results) -> str:
    """Return how the table of regrets is to be read."""
    aside = f"; {BASELINE}, which sees all labels, aside" if BASELINE in results.labels else ""
    return f"{REGRET_NOTE}{aside}."


def regret_of(cell: Cell | None) -> str:
    """Return the mean regret with half of its 95 % interval."""
    if cell is None:
        return NOTHING
    if math.isnan(cell.half_width):
        return f"{cell.mean:,.1f}"
    return f"{cell.mean:,.1f} ± {cell.half_width:,.1f}"


def _named(results: Results, label: str) -> str:
    tried = searched(results, label)
    return f"{label} (best {', '.join(tried)})" if tried else label


def searched(results: Results, label: str) -> list[str]:
    """Return the parameters of which several values were tried in one environment."""
    found = []
    for name in varying(results, label):
        for environment in results.environments:
            cells = results.variants(label, environment)
            if len({repr(cell.parameters.get(name)) for cell in cells}) > 1:
                found.append(name)
                break
    return found


def constants_rows(results: Results) -> Table | None:
    """Return which constants each policy has, or did best with; None if there are no such."""
    rows = []
    for label in tuned_labels(results):
        row = [label]
        for environment in results.environments:
            constants = best_constants(results, label, environment) or NOTHING
            tried = len(results.variants(label, environment))
            edge = "*" if at_edge(results, label, environment) else ""
            row.append(f"{constants}{edge} (of {tried})" if tried > 1 else constants)
        rows.append(row)
    return Table(["policy", *results.environments], rows) if rows else None


def facts(results: Results) -> list[tuple[str, str]]:
    """Return what a reader should know about a study, by name."""
    return [
        ("Steps of a run", steps_of(results)),
        ("Seeds", seeds_of(results)),
        ("Finished runs", f"{sum(len(cell.seeds) for cell in results.cells):,}"),
        ("Missing runs", f"{results.missing:,}"),
        ("Version", f"banditree {results.version}"),
    ]


def steps_of(results: Results) -> str:
    """Return how many steps a run has, and where it has others."""
    others = [
        f"{results.horizon_of(name):,} on {name}"
        for name in results.environments
        if results.horizon_of(name) != results.horizon
    ]
    return "; ".join([f"{results.horizon:,}", *others])


def environment_rows(results: Results) -> Table:
    """Return what each environment is."""
    rows = [
        [
            name,
            f"{about.arms:,}",
            f"{about.features:,}",
            DRAWN if about.rows is None else f"{about.rows:,}",
        ]
        for name, about in results.about.items()
    ]
    return Table(["environment", "arms", "features", "rows"], rows)


def remarks(results: Results) -> list[tuple[str, str]]:
    """Return the remarks about environments: the name of each, and the remark."""
    return [(name, text) for name, about in results.about.items() for text in about.remarks]


def left_out(results: Results) -> list[tuple[str, str]]:
    """Return what is not in the results: its name, and why."""
    found = [(name, f"was skipped: {reason}") for name, reason in results.skipped.items()]
    found += [(what, f"was not run: it {reason}") for what, reason in results.left_out.items()]
    found += [(run, f"failed: {error}") for run, error in results.failures.items()]
    waiting = results.missing - len(results.failures)
    if waiting > 0:
        found.append((_runs(waiting), "not done yet; the same command again goes on"))
    for version, count in results.others.items():
        found.append((_runs(count), f"of version {version}, kept and not used"))
    if results.outdated:
        found.append((_runs(results.outdated), "of earlier code of your own, kept and not used"))
    return found


def _runs(count: int) -> str:
    return f"{count:,} run{'' if count == 1 else 's'}"


def seeds_of(results: Results) -> str:
    """Return how many seeds there are, and which."""
    seeds = sorted({seed for cell in results.cells for seed in cell.seeds})
    if not seeds:
        return "none"
    is_run = seeds == list(range(seeds[0], seeds[-1] + 1)) and len(seeds) > 2
    names = f"{seeds[0]} to {seeds[-1]}" if is_run else ", ".join(map(str, seeds))
    counts: dict[int, list[str]] = {}
    for name in results.environments:
        most = max((len(c.seeds) for c in results.cells if c.environment == name), default=0)
        counts.setdefault(most, []).append(name)
    texts = [f"{len(seeds)} ({names})"]
    texts += [f"{n} on {', '.join(on)}" for n, on in counts.items() if 0 < n < len(seeds)]
    ends = {name: n for n, on in counts.items() for name in on}
    if any(len(cell.seeds) < ends[cell.environment] for cell in results.cells):
        texts.append(f"some policies have only {min(len(c.seeds) for c in results.cells)}")
    return "; ".join(texts)


def as_text(table: Table) -> str:
    """Return a table for a terminal, its columns aligned.

    Examples
    --------
    >>> print(as_text(Table(["policy", "sports"], [["Uniform", "1,650.1 ± 2.0"]])))
    policy          sports
    Uniform  1,650.1 ± 2.0
    """
    lines = [table.header, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
