"""Cumulative regret of every policy on five tasks, the mean of several seeds."""

import os

# Before numpy is loaded, which reads it once: runs share the cores already.
os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import argparse
import itertools
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np
from report import Progress, aligned, markdown, verdict
from tasks import KEYS, load, new_policy, origin

from banditree.environments import play

HORIZON = 10_000
POLICIES = (
    "Uniform",
    "ThompsonSampling",
    "Greedy",
    "TreeHeuristic",
    "TreeBootstrap",
    "OnlineTreeBootstrap",
    "BanditForest",
    "LinUCB",
    "LogisticUCB",
)
ALPHAS = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0)
FOREST_DEPTHS = {"sports": 4, "adult": 2, "shuttle": 4, "covertype": 5, "census": 2}  # the paper's
LIMITS = {
    "TreeHeuristic": {
        "shuttle": 110, "adult": 7480, "covertype": 3350, "census": 3400, "sports": 300
    },
    "TreeBootstrap": {
        "shuttle": 215, "adult": 7600, "covertype": 3600, "census": 3650, "sports": 300
    },
}  # fmt: skip
TAIL_LIMIT = 0.1  # of Uniform's regret, over the last steps of sports ads


@dataclass(frozen=True)
class Contestant:
    """A row of the table: a policy, and per task the settings of which the best one counts."""

    label: str
    policy: str
    choices: dict[str, dict[str, dict[str, Any]]]  # by task, then by the name of the choice


@dataclass(frozen=True)
class Run:
    contestant: str
    policy: str
    choice: str
    settings: dict[str, Any] = field(hash=False)
    task: str
    seed: int
    horizon: int


@dataclass(frozen=True)
class Outcome:
    total: float
    tail: float  # over the last fifth of the steps
    seconds: float


@dataclass(frozen=True)
class Score:
    """The best of a contestant's choices on a task."""

    choice: str
    totals: list[float]
    tails: list[float]

    @property
    def mean(self) -> float:
        return float(np.mean(self.totals))

    @property
    def tail(self) -> float:
        return float(np.mean(self.tails))


Scores = dict[tuple[str, str], Score]


# Who takes part


def choices(policy: str, task: str, alphas: list[float]) -> dict[str, dict[str, Any]]:
    if policy in ("LinUCB", "LogisticUCB"):
        return {f"alpha {alpha:g}": {"alpha": alpha} for alpha in alphas}
    if policy == "BanditForest":
        depth = FOREST_DEPTHS[task]
        return {f"depth {depth}": {"trees": 3, "depth": depth}}
    return {"": {}}


def contestants(options: argparse.Namespace) -> list[Contestant]:
    if options.variants:
        return list(variants())
    # Uniform is what others are measured by.
    chosen = [name for name in POLICIES if name in {"Uniform", *options.policies}]
    return [
        Contestant(name, name, {key: choices(name, key, options.constants) for key in KEYS})
        for name in chosen
    ]


def variants() -> Iterator[Contestant]:
    """Yield TreeBootstrap in all the ways it can start, resample and prune."""
    starts, weights, prunings = (
        ("until_success", "prior"),
        ("multinomial", "exponential"),
        ("cv", None),
    )
    for start, weight, pruning in itertools.product(starts, weights, prunings):
        settings = {"cold_start": start, "weights": weight, "pruning": pruning}
        label = ", ".join(f"`{value!r}`".replace("'", '"') for value in settings.values())
        yield Contestant(label, "TreeBootstrap", {key: {"": settings} for key in KEYS})


# Running


def planned(entries: list[Contestant], options: argparse.Namespace) -> list[Run]:
    return [
        Run(entry.label, entry.policy, choice, settings, task, seed, options.horizon)
        for seed in range(options.seeds)
        for task in options.tasks
        for entry in entries
        for choice, settings in entry.choices[task].items()
    ]


def execute(run: Run) -> Outcome:
    task = load(run.task)
    episode = task.episode(run.seed, run.horizon)
    policy = new_policy(run.policy, episode, run.seed, **run.settings)
    begun = time.process_time()
    regret = episode.regret_of(play(policy, episode))
    seconds = time.process_time() - begun
    return Outcome(float(regret.sum()), float(regret[-tail_of(run.horizon) :].sum()), seconds)


def tail_of(horizon: int) -> int:
    return max(1, horizon // 5)


def execute_all(runs: list[Run], jobs: int) -> dict[Run, Outcome]:
    progress = Progress(len(runs))
    outcomes = {}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as executor:
        waiting = {executor.submit(execute, run): run for run in runs}
        for future in as_completed(waiting):
            if future.exception():
                executor.shutdown(cancel_futures=True)  # the others would run to their end
            run, outcome = waiting[future], future.result()
            outcomes[run] = outcome
            name = f"{run.policy} {run.choice}".strip()
            progress.advance(
                f"{name} on {run.task}, seed {run.seed}: {outcome.total:,.0f} "
                f"in {outcome.seconds:.1f} s"
            )
    return outcomes


def scored(outcomes: dict[Run, Outcome]) -> Scores:
    """Return the score of every contestant on every task."""
    grouped: dict[tuple[str, str, str], list[tuple[int, Outcome]]] = {}
    for run, outcome in outcomes.items():
        grouped.setdefault((run.contestant, run.task, run.choice), []).append((run.seed, outcome))
    best: Scores = {}
    for (contestant, task, choice), found in grouped.items():
        in_order = [outcome for _, outcome in sorted(found, key=lambda pair: pair[0])]
        score = Score(choice, [o.total for o in in_order], [o.tail for o in in_order])
        if (contestant, task) not in best or score.mean < best[contestant, task].mean:
            best[contestant, task] = score
    return best


# The table


def shown(values: list[float]) -> str:
    mean = f"{np.mean(values):,.0f}"
    if len(values) == 1:
        return mean
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{mean} ± {error:,.0f}"


def heading(options: argparse.Namespace) -> list[str]:
    titles = [load(key).title for key in options.tasks]
    return [*titles, f"its last {tail_of(options.horizon):,}"] if with_tail(options) else titles


def with_tail(options: argparse.Namespace) -> bool:
    return "sports" in options.tasks


def cells(label: str, scores: Scores, options: argparse.Namespace) -> list[str]:
    row = [shown(scores[label, key].totals) for key in options.tasks]
    return [*row, shown(scores[label, "sports"].tails)] if with_tail(options) else row


def constants_row(label: str, scores: Scores, options: argparse.Namespace) -> list[str]:
    """Return which choice was the best, or was made."""
    row = [scores[label, key].choice for key in options.tasks]
    return [*row, ""] if with_tail(options) else row


def limits_row(label: str, scores: Scores, options: argparse.Namespace) -> list[str]:
    row = []
    for key in options.tasks:
        limit = LIMITS[label][key]
        row.append(f"{limit:,} {verdict(scores[label, key].mean <= limit)}")
    if with_tail(options):
        limit = TAIL_LIMIT * scores["Uniform", "sports"].tail
        row.append(f"{limit:,.1f} {verdict(scores[label, 'sports'].tail <= limit)}")
    return row


def table(
    entries: list[Contestant], scores: Scores, options: argparse.Namespace, judged: bool
) -> list[list[str]]:
    rows = [["", *heading(options)]]
    for entry in entries:
        label = entry.label
        rows.append([label, *cells(label, scores, options)])
        constants = constants_row(label, scores, options)
        if any(constants):
            rows.append(["  best" if label != "BanditForest" else "  the paper's", *constants])
        if judged and label in LIMITS:
            rows.append(["  at most", *limits_row(label, scores, options)])
    return rows


def show(
    entries: list[Contestant], scores: Scores, options: argparse.Namespace, judged: bool
) -> bool:
    """Print the table; return whether every limit is kept."""
    print(
        f"Cumulative regret over {options.horizon:,} steps: mean ± standard error of "
        f"{options.seeds} seeds.\n{origin([load(key) for key in options.tasks])}\n"
    )
    rows = table(entries, scores, options, judged)
    if options.variants:
        rows[0][0] = "`cold_start`, `weights`, `pruning`"
        print(markdown(rows))
        return True
    print(aligned(rows))
    if with_tail(options):
        note = "sports ads: expected regret"
        if judged:
            note += f"; its last steps: at most {TAIL_LIMIT:g} of Uniform's"
        print(f"\n- {note}")
    if not judged and not LIMITS.keys().isdisjoint(options.policies):
        print(f"- the limits are for {HORIZON:,} steps on the real data: not judged here")
    return not any(cell.endswith(" OVER") for row in rows for cell in row)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="Data sets are read from $BANDITREE_DATA; made-up data of the same shape is used "
        "instead of those it does not have. Exit code 1: a limit is exceeded.",
    )
    add = parser.add_argument
    add(
        "--tasks", nargs="+", choices=KEYS, default=list(KEYS), metavar="TASK", help=", ".join(KEYS)
    )
    add(
        "--policies", nargs="+", choices=POLICIES, default=list(POLICIES), metavar="POLICY",
        help=", ".join(POLICIES) + "; Uniform always takes part",
    )  # fmt: skip
    add("--seeds", type=int, default=5, help="how many (default %(default)s)")
    add("--horizon", type=int, default=HORIZON, help="steps of a run (default %(default)s)")
    add("--jobs", type=int, default=2, help="processes (default %(default)s)")
    add(
        "--constants", nargs="+", type=float, default=list(ALPHAS), metavar="ALPHA",
        help="of LinUCB and LogisticUCB, of which the best counts (default: 0.0001 to 10)",
    )  # fmt: skip
    add("--variants", action="store_true", help="TreeBootstrap in all its ways, as Markdown")
    options = parser.parse_args(arguments)
    for name in ("seeds", "horizon", "jobs"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1, got {getattr(options, name)}")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    made_up = any(load(key).made_up for key in options.tasks)
    judged = options.horizon == HORIZON and not made_up and not options.variants
    entries = contestants(options)
    scores = scored(execute_all(planned(entries, options), options.jobs))
    return 0 if show(entries, scores, options, judged) else 1


if __name__ == "__main__":
    sys.exit(main())
