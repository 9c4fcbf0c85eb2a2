"""Times of the tree policies, and of the same on scikit-learn, in one run on one thread."""

import os

# Before numpy and scikit-learn are loaded, which read it once.
os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from measuring import duration, in_new_process, multiple, progress, resident_bytes
from numpy.typing import NDArray
from peer_bootstrap import FOLDS, PeerBootstrap
from report import aligned, verdict
from tasks import CLASSIFIED, KEYS, as_dicts, load, new_policy, origin

import banditree as bt
from banditree.environments import Classification, Episode, play

HEURISTIC, BOOTSTRAP = "TreeHeuristic", "TreeBootstrap"
HEURISTIC_LIMIT = 1.5  # s of CPU time for 10,000 steps
BOOTSTRAP_LIMIT = 60.0  # s for those of the four data tasks together
PEER_LIMIT = 500  # times the speed of scikit-learn
ARRAY_LIMIT, ARM_LIMIT, DICT_LIMIT = 2e-6, 0.15e-6, 10e-6  # s per decision
GROWTH_LIMIT = 4  # times the first steps' time
QUARTER = 1.25  # an arm is cross-validated again when its rows have grown by so much


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    horizon: int = 10_000
    seeds: int = 3
    repeats: int = 3
    peer_step: int = 2_000
    peer_decisions: int = 3
    own_decisions: int = 20
    batch: int = 10_000
    batches: int = 9
    block: int = 100_000
    blocks: int = 2


QUICK = Plan(120, 1, 1, 40, 1, 2, 20, 2, 50, 2)
FULL_BLOCKS = 10


@dataclass(frozen=True)
class Line:
    """A row of a table; without a limit it is there for comparison."""

    what: str
    figures: tuple[str, ...]
    limit: str = ""
    met: bool | None = None


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time, which leaves out what else the machine runs, and the result."""
    begun = time.process_time()
    result = function()
    return time.process_time() - begun, result


# Steps


def steps_time(name: str, key: str, horizon: int, seed: int) -> float:
    task = load(key)
    episode = task.episode(seed, horizon)
    policy = new_policy(name, episode, seed)
    return timed(lambda: play(policy, episode))[0]


def heuristic_steps(plan: Plan) -> list[Line]:
    lines = []
    for key in KEYS:
        progress(f"{HEURISTIC}: {plan.horizon:,} steps of {load(key).title}")
        times = [
            [steps_time(HEURISTIC, key, plan.horizon, seed) for _ in range(plan.repeats)]
            for seed in range(plan.seeds)
        ]
        fastest = statistics.mean(map(min, times))
        every = statistics.mean(itertools.chain(*times))
        figures = (duration(fastest), duration(fastest / plan.horizon), duration(every))
        met = fastest <= HEURISTIC_LIMIT if key in CLASSIFIED else None
        limit = duration(HEURISTIC_LIMIT) if key in CLASSIFIED else ""
        lines.append(Line(load(key).title, figures, limit, met))
    return lines


def bootstrap_steps(plan: Plan) -> list[Line]:
    lines, total = [], 0.0
    for key in CLASSIFIED:
        progress(f"{BOOTSTRAP}: {plan.horizon:,} steps of {load(key).title}")
        taken = steps_time(BOOTSTRAP, key, plan.horizon, 0)
        total += taken
        figures = (duration(taken), duration(taken / plan.horizon))
        lines.append(Line(load(key).title, figures))
    met = total <= BOOTSTRAP_LIMIT
    per_step = duration(total / plan.horizon / len(CLASSIFIED))
    lines.append(Line("together", (duration(total), per_step), duration(BOOTSTRAP_LIMIT), met))
    return lines


# Against scikit-learn


@dataclass(frozen=True)
class Against:
    """Times of a decision."""

    default: float  # of a step: it includes its share of a cross-validation
    literal: float
    unpruned: float
    peer: float
    peer_unpruned: float


def against_peer(key: str, plan: Plan) -> Against:
    task = load(key)
    window = round(plan.peer_step / QUARTER**0.5), round(plan.peer_step * QUARTER**0.5)
    episode = task.episode(0, max(window[1], plan.peer_step + plan.own_decisions))
    policy = new_policy(BOOTSTRAP, episode, 0)
    first = play(policy, episode.part(0, window[0]))
    before, second = timed(lambda: play(policy, episode.part(window[0], plan.peer_step)))
    after, _ = timed(lambda: play(policy, episode.part(plan.peer_step, window[1])))
    seen, chosen = episode.part(0, plan.peer_step), np.concatenate([first, second])
    coming = episode.contexts[plan.peer_step :]
    own = coming[: plan.own_decisions]
    return Against(
        (before + after) / (window[1] - window[0]),
        own_time(key, seen, chosen, own, pruning="cv_every_fit", folds=FOLDS),
        own_time(key, seen, chosen, own, pruning=None),
        peer_time(seen, chosen, coming[: plan.peer_decisions], pruned=True),
        peer_time(seen, chosen, own, pruned=False),
    )


def own_time(
    key: str, seen: Episode, chosen: NDArray[np.intp], coming: Any, **settings: Any
) -> float:
    """Return the mean time of a decision, given what was observed."""
    policy = new_policy(BOOTSTRAP, seen, 0, **settings)
    arms = [seen.arms[i] for i in chosen]
    policy.learn_many(seen.contexts, arms, seen.rewards[np.arange(len(seen)), chosen])
    policy.decide(coming[0])  # not timed: whatever is made ready once
    return timed(lambda: [policy.decide(context) for context in coming])[0] / len(coming)


def peer_time(seen: Episode, chosen: NDArray[np.intp], coming: Any, pruned: bool) -> float:
    peer = PeerBootstrap(seen, chosen, pruned)
    tables = [peer.encode(context[None]) for context in coming]
    return timed(lambda: [peer.decide(table) for table in tables])[0] / len(tables)


def compared(what: str, times: Sequence[Against], judged: bool = False) -> Line:
    """Return the line of one task, or of several together."""
    default, literal, unpruned, peer, peer_unpruned = (
        sum(getattr(t, name) for t in times) for name in Against.__dataclass_fields__
    )
    figures = (
        duration(default), duration(peer), multiple(peer / default), multiple(peer / literal),
        multiple(peer_unpruned / unpruned),
    )  # fmt: skip
    if not judged:
        return Line(what, figures)
    return Line(what, figures, f"at least {PEER_LIMIT}x", peer / default >= PEER_LIMIT)


def peers(plan: Plan) -> list[Line]:
    import sklearn.tree  # noqa: F401  # so that loading it is not timed

    times = {}
    for key in CLASSIFIED:
        progress(f"{plan.peer_decisions} decisions of scikit-learn on {load(key).title}")
        times[key] = against_peer(key, plan)
    lines = [compared(load(key).title, [times[key]]) for key in CLASSIFIED]
    return [*lines, compared("together", list(times.values()), judged=True)]


# Decisions


def decision_time(policy: bt.Policy, contexts: Sequence[Any], plan: Plan) -> float:
    """Return the mean time of a decision in the fastest of several batches."""
    batch = list(itertools.islice(itertools.cycle(contexts), plan.batch))

    def decide_all() -> None:
        decide = policy.decide
        for context in batch:
            decide(context)

    return min(timed(decide_all)[0] for _ in range(plan.batches)) / plan.batch


def decisions(plan: Plan) -> list[Line]:
    lines = []
    for key in KEYS:
        progress(f"{HEURISTIC}: decisions on {load(key).title}")
        task = load(key)
        episode = task.episode(0, plan.horizon)
        policy = new_policy(HEURISTIC, episode, 0)
        play(policy, episode)
        taken = decision_time(policy, list(episode.contexts), plan)
        limit = ARRAY_LIMIT + ARM_LIMIT * len(episode.arms)
        what = f"{task.title}, array, {len(episode.arms)} arms"
        lines.append(Line(what, (duration(taken),), duration(limit), taken <= limit))
    return [*lines, dict_decisions(plan)]


def dict_decisions(plan: Plan) -> Line:
    task = load("adult")
    episode = task.episode(0, plan.horizon)
    contexts = as_dicts(task, episode)
    policy = bt.TreeHeuristic(episode.arms, seed=0)
    for context, rewards in zip(contexts, episode.rewards, strict=True):
        arm = policy.decide(context)
        policy.learn(context, arm, rewards[episode.arms.index(arm)])
    taken = decision_time(policy, contexts, plan)
    what = f"{task.title}, dict of {len(episode.features)} features, {len(episode.arms)} arms"
    return Line(what, (duration(taken),), duration(DICT_LIMIT), taken <= DICT_LIMIT)


# Many steps


def play_long(plan: Plan) -> list[tuple[float, float, float]]:
    """Return, for each block of steps, its time, its regret, and how the process has grown."""
    task = load("covertype")
    assert isinstance(task.environment, Classification)
    order = task.environment.order(plan.block * plan.blocks, 0)
    policy = new_policy(HEURISTIC, task.environment.show(order[:1]), 0)
    before, measured = resident_bytes(), []
    for i in range(plan.blocks):
        episode = task.environment.show(order[i * plan.block : (i + 1) * plan.block])
        taken, chosen = timed(lambda episode=episode: play(policy, episode))
        regret = episode.regret_of(chosen).sum()
        del episode, chosen
        measured.append((taken, regret, resident_bytes() - before))
        progress(f"{HEURISTIC}: {(i + 1) * plan.block:,} steps of {task.title}")
    return measured


def long_run(plan: Plan) -> list[Line]:
    blocks: Any = in_new_process(play_long, plan)
    lines = []
    for i, (taken, regret, memory) in enumerate(blocks):
        steps = (i + 1) * plan.block
        figures = (
            duration(taken / plan.block),
            f"{regret / plan.block:.3f}",
            f"{memory / 2**20:,.0f} MB",
            f"{memory / steps:,.0f} B",
        )
        lines.append(Line(f"up to {steps:,}", figures))
    ratio = blocks[-1][0] / blocks[0][0]
    figures = (multiple(ratio), "", "", "")
    return [*lines, Line("last / first", figures, f"{GROWTH_LIMIT}x", ratio <= GROWTH_LIMIT)]


# The tables

PARTS: dict[str, tuple[Callable[[Plan], list[Line]], str, tuple[str, ...]]] = {
    "heuristic": (
        heuristic_steps,
        "TreeHeuristic: CPU time of {horizon:,} steps, the mean of {seeds} seeds, of each the "
        "fastest of {repeats} runs (what else the machine does only adds to it)",
        ("in all", "per step", "mean of all runs"),
    ),
    "bootstrap": (
        bootstrap_steps,
        "TreeBootstrap: CPU time of {horizon:,} steps",
        ("in all", "per step"),
    ),
    "peer": (
        peers,
        "TreeBootstrap: CPU time of a decision at step {peer_step:,}, against the same algorithm\n"
        "on scikit-learn, the mean of {peer_decisions} decisions",
        ("banditree", "scikit-learn", "ratio", "every fit", "unpruned"),
    ),
    "decide": (
        decisions,
        "TreeHeuristic: CPU time of `decide` after {horizon:,} steps, the fastest of {batches} "
        "batches of {batch:,}",
        ("per decision",),
    ),
    "long": (
        long_run,
        "TreeHeuristic on Covertype: {blocks} blocks of {block:,} steps, CPU time, regret, and "
        "memory of the process",
        ("per step", "regret per step", "memory grown by", "per row"),
    ),
}
NOTES = {
    "peer": "banditree: a step of the default, the mean over the steps in which rows grow by a "
    "quarter, so that it\n  includes the share of a cross-validation; every fit: the ratio with "
    f'pruning="cv_every_fit", folds={FOLDS}, like for\n  like but for the bins; unpruned: the '
    "ratio of both without pruning; scikit-learn: DecisionTreeRegressor,\n  faster here than the "
    f"classifier, {FOLDS} folds over its pruning path, categories one-hot encoded beforehand",
    "long": "once all 581,012 rows of Covertype have come, they come again in another order",
}


def show(part: str, lines: list[Line], plan: Plan, judged: bool) -> None:
    _, title, columns = PARTS[part]
    print("\n" + title.format(**vars(plan)) + "\n")
    rows = [["", *columns, "limit", ""]]
    for line in lines:
        met = "" if line.met is None or not judged else verdict(line.met)
        rows.append([line.what, *line.figures, line.limit, met])
    print(aligned(rows))
    if part in NOTES:
        print(f"- {NOTES[part]}")


def parse(arguments: list[str] | None) -> tuple[Plan, argparse.Namespace]:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="Data sets are read from $BANDITREE_DATA; made-up data of the same shape is used "
        "instead of those it does not have. Exit code 1: a limit is exceeded.",
    )
    add = parser.add_argument
    add(
        "--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART",
        help="what to measure: " + ", ".join(PARTS) + " (default: all)",
    )  # fmt: skip
    add("--quick", action="store_true", help="few steps: only to see that it runs")
    add(
        "--full",
        action="store_true",
        help=f"{FULL_BLOCKS * Plan.block:,} steps in the part long instead of "
        f"{Plan.blocks * Plan.block:,}",
    )
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else Plan()
    if options.full:
        plan = Plan(**{**vars(plan), "blocks": FULL_BLOCKS})
    return plan, options


def main(arguments: list[str] | None = None) -> int:
    plan, options = parse(arguments)
    tasks = [load(key) for key in KEYS]
    judged = not options.quick and not any(task.made_up for task in tasks)
    print(f"One thread, CPU time. {origin(tasks)}")
    if not judged:
        print("The limits are for complete runs on the real data: not judged here.")
    kept = True
    for part in options.parts:
        lines = PARTS[part][0](plan)
        show(part, lines, plan, judged)
        kept &= not judged or all(line.met is not False for line in lines)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
