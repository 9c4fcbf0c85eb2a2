"""Under which conditions the paper's experiments were run: what numbers alone do not say."""

from collections.abc import Iterator

from banditree.environments.catalogue import DATASETS
from banditree.studies.paper import LONG
from banditree.studies.reports.tables import searched
from banditree.studies.specs import BASELINE
from banditree.studies.summary import Results

__all__ = ["conditions"]

STARTS = {
    "until_success": "offers an arm until its first success, as in the paper",
    "prior": "gives each arm a made-up success and failure, as the class does by default",
}


def conditions(results: Results) -> list[tuple[str, str]]:
    """Return what a reader should know about the paper's experiments: names and sentences."""
    if not results.command:
        return []
    return [*_cold_starts(results), *_constants(results), *_data(results), *_baseline(results)]


def _cold_starts(results: Results) -> Iterator[tuple[str, str]]:
    for label in results.labels:
        starts = {c.parameters.get("cold_start") for c in results.cells if c.label == label}
        for start in STARTS.keys() & starts:
            yield f"Cold start of {label}", STARTS[start]


def _constants(results: Results) -> Iterator[tuple[str, str]]:
    tuned = [label for label in results.labels if searched(results, label)]
    if tuned:
        yield (
            "Constants",
            f"those of {'; '.join(tuned)} are chosen on the very seeds they are judged on, so "
            "that these rows flatter them; TreeBootstrap and TreeHeuristic have none to choose",
        )
    long = [spec.name for spec in LONG if spec.name in results.environments]
    if long and tuned:
        yield (
            f"Constants on {', '.join(long)}",
            "only those that were about the best in the shorter runs are tried",
        )


def _data(results: Results) -> Iterator[tuple[str, str]]:
    for name, about in results.about.items():
        dataset = DATASETS.get(name)
        if dataset is None or about.rows is None:
            continue
        if about.rows <= dataset.digest_rows < dataset.rows:
            yield f"Rows of {name}", f"the first {about.rows:,} of {dataset.rows:,}"
        if dataset.categorical:
            yield f"Columns of {name}", "all are codes, and categories for every policy"


def _baseline(results: Results) -> Iterator[tuple[str, str]]:
    rows = {name: about.rows for name, about in results.about.items()}
    learned = [
        f"{count - results.horizon_of(name):,} on {name}"
        for name, count in rows.items()
        if count is not None and results.baseline(name) is not None
    ]
    if learned:
        yield f"Rows that {BASELINE} learned from", ", ".join(learned)
