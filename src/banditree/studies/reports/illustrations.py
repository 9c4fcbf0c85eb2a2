"""Which figures the results of a study have, and what they say in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from banditree.environments.sports_ads import CLICKS
from banditree.studies.paper import DATA_SETS, LONG, SPORTS
from banditree.studies.reports.click_trees import click_trees_figure
from banditree.studies.reports.figure_style import Figure
from banditree.studies.reports.figures import constants_figure, regret_figure
from banditree.studies.reports.theorem import theorem_figure
from banditree.studies.specs import BASELINE
from banditree.studies.summary import Cell, Results

__all__ = ["Illustration", "illustrations"]

PAPER_POLICIES = (
    "TreeBootstrap",
    "TreeHeuristic",
    "ThompsonSampling",
    "BanditForest",
    "LinUCB",
    "LogisticUCB",
)
BANDS = (
    "Lines are means over seeds, bands their 95 % intervals (none for a single seed). With ↑: "
    "leaves the frame, at ten times the best and more."
)


@dataclass(frozen=True)
class Illustration:
    """A figure with its words.

    Attributes
    ----------
    name
        Of its files.
    caption
        Stands under it.
    alt
        Says what is to be seen, to those who do not see it.
    draw
        Makes it.
    """

    name: str
    caption: str
    alt: str
    draw: Callable[[], Figure]


def illustrations(results: Results) -> list[Illustration]:
    """Return the figures that make sense for these results; the first has all of them."""
    run = [e for e in results.environments if any(cell.environment == e for cell in results.cells)]
    found = [
        Illustration(
            "regret",
            f"Cumulative regret of all policies, with their best constants. {BANDS}",
            _in_words(results, run, results.labels),
            lambda: regret_figure(results, run),
        )
    ]
    if not results.command:
        return found
    labels = [label for label in PAPER_POLICIES if label in results.labels]
    if SPORTS in run:
        found += _trees()
        if labels:
            found.append(_figure_2(results, labels))
    data_sets = [name for name in DATA_SETS if name in run]
    if data_sets and labels:
        regret = "Figure 3 of the paper: cumulative regret on the data sets"
        found.append(_beyond_baseline(results, data_sets, labels, "figure-3-data-sets", regret))
    if len(results.variants("LinUCB", "adult")) > 1:
        found.append(_figure_4(results))
    long = [spec.name for spec in LONG if spec.name in run]
    if long and labels:
        regret = "Beyond the paper: data sets for longer. Cumulative regret"
        found.append(_beyond_baseline(results, long, labels, "longer-runs", regret))
    if "TreeBootstrap" in labels and (SPORTS in run or data_sets):
        found.append(_theorem())
    return found


def _trees() -> list[Illustration]:
    return [
        Illustration(
            "figure-1-golf",
            "After Figure 1 of the paper, with our own tree: how likely a click on the golf ad is.",
            f"Decision tree. {_rules('golf')}",
            lambda: click_trees_figure(["golf"]),
        ),
        Illustration(
            "figure-1-all-ads",
            "How likely a click on each of the four sports ads is; the shade is the probability.",
            f"Four decision trees. {' '.join(_rules(ad) for ad in CLICKS)}",
            lambda: click_trees_figure(list(CLICKS)),
        ),
    ]


def _figure_2(results: Results, labels: list[str]) -> Illustration:
    return Illustration(
        "figure-2-sports",
        f"Figure 2 of the paper: cumulative regret on the sports ads. {BANDS}",
        _in_words(results, [SPORTS], labels),
        lambda: regret_figure(results, [SPORTS], labels=labels),
    )


def _beyond_baseline(
    results: Results, environments: list[str], labels: list[str], name: str, regret: str
) -> Illustration:
    """Return the picture of a regret from which that of OfflineTree is taken off."""
    return Illustration(
        name,
        f"{regret}, beyond that of {BASELINE} where that was run. {BANDS}",
        _in_words(results, environments, labels, relative=True),
        lambda: regret_figure(results, environments, relative=True, labels=labels),
    )


def _figure_4(results: Results) -> Illustration:
    baseline = results.baseline("adult")
    regret = "Cumulative regret" if baseline is None else f"Regret beyond that of {BASELINE}"
    others = [cell for label in PAPER_POLICIES[:2] if (cell := results.best(label, "adult"))]
    ends = _ends(results.variants("LinUCB", "adult") + others, baseline, constants=True)
    return Illustration(
        "figure-4-adult",
        f"Figure 4 of the paper. {regret}, of LinUCB with each of its constants on Adult, with "
        "TreeBootstrap and TreeHeuristic. Lines are means over seeds, the bands of the two tree "
        "policies 95 % intervals.",
        f"Line chart. {regret} on adult after {results.horizon_of('adult'):,} steps: {ends}.",
        lambda: constants_figure(results, "adult", relative=baseline is not None),
    )


def _theorem() -> Illustration:
    return Illustration(
        "theorem-1",
        "Theorem 1 of the paper: how far the bootstrap and Thompson sampling, with draws from "
        "Beta(np, n(1 − p)), are apart in the probability of choosing an arm, for two arms without "
        "contexts that succeeded in the shares p of n, or 4n, observations. Exact, not simulated.",
        "Chart with logarithmic axes. Where the arms are equally good the difference falls with "
        "slope −1/2, from 0.042 at 10 observations to 0.0012 at 10,000; where they are not, it "
        "falls much faster.",
        theorem_figure,
    )


def _in_words(
    results: Results, environments: Sequence[str], labels: Sequence[str], *, relative: bool = False
) -> str:
    """Say what the panels of a figure show."""
    texts = []
    for environment in environments:
        baseline = results.baseline(environment) if relative else None
        cells = [cell for label in labels if (cell := results.best(label, environment))]
        what = "Cumulative regret" if baseline is None else f"Regret beyond that of {BASELINE}"
        where = f"{what} on {environment} after {results.horizon_of(environment):,} steps"
        texts.append(f"{where}: {_ends(cells, baseline)}.")
    return " ".join(["Line chart.", *texts])


def _ends(cells: Sequence[Cell], baseline: Cell | None, *, constants: bool = False) -> str:
    """Say where curves end, from the least regret to the most."""
    if baseline is not None:
        cells = [cell.relative_to(baseline) for cell in cells if cell.label != BASELINE]
    ends = []
    for cell in sorted((cell for cell in cells if cell.seeds), key=lambda cell: cell.mean):
        given = f" with {cell.constants}" if constants and cell.parameters else ""
        ends.append(f"{cell.label}{given} {cell.mean:,.0f}")
    return ", ".join(ends)


def _rules(ad: str) -> str:
    """Return the tree of an ad in words."""

    def leaves(node: object, path: tuple[str, ...]) -> list[str]:
        if isinstance(node, tuple):
            feature, then, otherwise = node
            name = feature.replace("_", " ")
            return leaves(then, (*path, name)) + leaves(otherwise, (*path, f"not {name}"))
        return [f"{' and '.join(path)} {node:.0%}"]

    return f"{ad.capitalize()}: {', '.join(leaves(CLICKS[ad], ()))}."
