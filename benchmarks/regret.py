"""Cumulative regret of every policy on the five tasks of the paper, beside the limits set to it."""

import argparse
import sys
from pathlib import Path

from report import aligned, verdict

from banditree.errors import BanditreeError
from banditree.studies import Results, paper_study, read_results, run_study
from banditree.studies.reports import summary
from banditree.studies.reports.comparisons import regret_between

HORIZON = 10_000
LIMITS = {
    "TreeHeuristic": {
        "shuttle": 110, "adult": 7480, "covertype": 3350, "census": 3400, "sports": 300
    },
    "TreeBootstrap": {
        "shuttle": 215, "adult": 7600, "covertype": 3600, "census": 3650, "sports": 300
    },
}  # fmt: skip
TAIL = (0.8, 1.0)  # of the steps
TAIL_LIMIT = 0.1  # of Uniform's regret in them, on the sports ads


def judged(results: Results) -> list[tuple[str, float, float]]:
    """Return what is limited: its name, the mean regret, and the most it may be."""
    rows = []
    for label, limits in LIMITS.items():
        for task, limit in limits.items():
            cell = results.best(label, task)
            if cell is not None:
                rows.append((f"{label} on {task}", cell.mean, float(limit)))
        cell, uniform = (results.best(name, "sports") for name in (label, "Uniform"))
        if cell is not None and uniform is not None:
            least, most = (float(regret_between(c, *TAIL).mean()) for c in (cell, uniform))
            rows.append((f"{label} on sports, last fifth", least, TAIL_LIMIT * most))
    return rows


def show(results: Results) -> bool:
    """Print the regrets; return whether every limit is kept."""
    print(summary(results))
    if results.horizon != HORIZON:
        print(f"\n- the limits are for {HORIZON:,} steps: not judged here")
        return True
    rows = judged(results)
    words = [
        [name, f"{regret:,.1f}", f"{limit:,.1f}", verdict(regret <= limit)]
        for name, regret, limit in rows
    ]
    print(f"\n{aligned([['', 'regret', 'at most', ''], *words])}")
    return all(regret <= limit for _, regret, limit in rows)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="Data sets are read from $BANDITREE_DATA or the cache, or are downloaded. Finished "
        "runs are kept and not repeated. Exit code 1: a limit is exceeded, or a run has failed.",
    )
    add = parser.add_argument
    add("--tasks", nargs="+", metavar="TASK", help="only these tasks")
    add("--policies", nargs="+", metavar="POLICY", help="only these, and Uniform")
    add("--seeds", type=int, default=5, help="how many (default %(default)s)")
    add("--horizon", type=int, default=HORIZON, help="steps of a run (default %(default)s)")
    add("--workers", type=int, help="processes (default: one per processor)")
    add(
        "--out", type=Path, default=Path("results/regret"),
        help="where results are kept (default %(default)s)",
    )  # fmt: skip
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    policies = options.policies and list(dict.fromkeys(["Uniform", *options.policies]))
    try:
        study = paper_study(
            full=True,
            tasks=options.tasks,
            policies=policies,
            horizon=options.horizon,
            seeds=options.seeds,
        )
        failures = run_study(study, options.out, workers=options.workers)
        results = read_results(options.out)
    except BanditreeError as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if show(results) and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
