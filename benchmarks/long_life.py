"""What a policy costs after a long time: steps, decisions, memory, files, and how they grow.

    python benchmarks/long_life.py [--quick] [--full]

20 random numbers and 5 arms for 100,000 steps, with trees grown anew per 5 % of growth, the same in
the background, alone and beside a thread that only decides, and, for the first 20,000 steps, at
every observation; then Covertype for 200,000 steps, 1,000,000 with
`--full`, in blocks; files of 100,000 observations; with `--full`, memory with a window. The exit
code is 1 if a limit is exceeded.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
from measuring import in_new_process, resident_bytes
from numpy.typing import NDArray
from report import Limited, aligned, exit_code
from tasks import load, new_policy

import banditree as bt
from banditree.environments import Episode

STEP_LIMIT = 1.25e-3 / 8  # s: an eighth of what a step took with trees of every observation
DECIDE_LIMIT = 20e-6  # s, 99th percentile
LONGEST_LIMIT = 1e-3  # s, the longest decision of a policy that grows trees in the background
LATE_STEP_LIMIT = 100e-6  # s, in the last block of 1,000,000 steps of Covertype
LOAD_LIMIT = 0.1  # s
WAIT_LIMIT = 0.01  # s: how long a decision may wait for a policy that is being saved
GROWTH_LIMIT = 0.02  # of memory, once the windows are full

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    steps: int = 100_000
    eager_steps: int = 20_000
    blocks: int = 2
    block: int = 100_000
    saves: int = 5
    window: int = 100_000
    window_blocks: int = 10


QUICK = Plan(300, 100, 2, 150, 2, 100, 3)
FULL_BLOCKS = 10


def noisy(steps: int) -> Episode:
    """Return steps of which two of 20 numbers matter to each arm."""
    random = np.random.default_rng(0)
    contexts = random.random((steps, 20))
    chances = 0.2 + 0.3 * (contexts[:, :5] > 0.5) + 0.2 * (contexts[:, 5:10] > 0.8)
    rewards = (random.random((steps, 5)) < chances).astype(np.float64)
    regrets = chances.max(axis=1, keepdims=True) - chances
    return Episode(tuple(range(5)), contexts, (), tuple(range(20)), rewards, regrets)


def play(policy: bt.Policy[int], episode: Episode) -> tuple[Times, Times]:
    """Return the seconds of each decision, and of each observation."""
    decide, learn = np.empty((2, len(episode)))
    clock, rewards = time.perf_counter, episode.rewards.tolist()
    places = {arm: i for i, arm in enumerate(episode.arms)}
    for i, context in enumerate(episode.contexts):
        begun = clock()
        arm = policy.decide(context)
        decided = clock()
        policy.learn(context, arm, rewards[i][places[arm]])
        decide[i], learn[i] = decided - begun, clock() - decided
    return decide, learn


def microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:,.1f} µs"


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:,.1f} ms"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def row(what: str, decide: Times, learn: Times) -> list[str]:
    step = float((decide + learn).mean())
    late = float((decide + learn)[-len(decide) // 10 :].mean())
    p99, p9999 = np.quantile(decide, [0.99, 0.9999]).tolist()
    longest = float(decide.max()), float(learn.max())
    return [what, *map(microseconds, (step, late, p99, p9999, *longest))]


def limited_time(what: str, seconds: Any, limit: float) -> Limited:
    return Limited(what, float(seconds), limit, microseconds)


HEADER = ["", "step", "last tenth", "decide, 99 %", "99.99 %", "longest", "learn, longest"]


def noisy_part(plan: Plan) -> list[Limited]:
    """Print the times of both kinds of trees; return what is limited."""
    episode, rows = noisy(plan.steps), [HEADER]
    decide, learn = play(bt.TreeHeuristic(list(range(5)), seed=1), episode)
    rows.append(row(f"refresh=0.05, {plan.steps:,} steps", decide, learn))
    early = slice(plan.eager_steps)
    rows.append(row(f"  the first {plan.eager_steps:,}", decide[early], learn[early]))
    background = play(bt.TreeHeuristic(list(range(5)), background=True, seed=1), episode)
    rows.append(row("  in the background", *background))
    eager = bt.TreeHeuristic(list(range(5)), refresh=0, seed=1)
    slow = play(eager, noisy(plan.eager_steps))
    rows.append(row(f"refresh=0, {plan.eager_steps:,} steps", *slow))
    print(f"20 random numbers, 5 arms\n{aligned(rows)}")
    ratio = float((slow[0] + slow[1]).sum() / (decide[early] + learn[early]).sum())
    print(f"- per 5 % of growth, the first steps are {ratio:.1f} times as fast as at every one\n")
    return [
        limited_time("a step, 20 random numbers", (decide + learn).mean(), STEP_LIMIT),
        limited_time("a decision, 99th percentile", np.quantile(decide, 0.99), DECIDE_LIMIT),
        limited_time(
            "the same, trees in the background", np.quantile(background[0], 0.99), DECIDE_LIMIT
        ),
        limited_time(
            "a decision, longest, trees in the background", background[0].max(), LONGEST_LIMIT
        ),
    ]


def two_threads_part(plan: Plan) -> None:
    """Print how long a thread that only decides waits for one that only learns."""
    episode = noisy(plan.steps)
    rows = [["", "learning", "a decision beside it, mean", "99.99 %", "longest"]]
    for background in (False, True):
        policy = bt.TreeHeuristic(list(range(5)), background=background, seed=1)
        seconds, waits = decide_beside(partial(teach, policy, episode), policy, episode, 1)
        figures = float(waits.mean()), float(np.quantile(waits, 0.9999)), float(waits.max())
        rows.append([f"background={background}", f"{seconds:.1f} s", *map(milliseconds, figures)])
    print(f"Two threads, 20 random numbers, 5 arms in turn\n{aligned(rows)}\n")


def teach(policy: bt.Policy[int], episode: Episode) -> None:
    for i, context in enumerate(episode.contexts):
        policy.learn(context, i % 5, float(episode.rewards[i, i % 5]))


def covertype_part(plan: Plan, full: bool) -> list[Limited]:
    """Print the times of each block; return what is limited."""
    task, blocks = load("covertype"), FULL_BLOCKS if full else plan.blocks
    episode = task.episode(0, blocks * plan.block)
    decide, learn = play(new_policy("TreeHeuristic", episode, seed=0), episode)
    in_background = new_policy("TreeHeuristic", episode, seed=0, background=True)
    rows = [HEADER, *by_block(plan, decide, learn)]
    rows += [["in the background", *[""] * 6], *by_block(plan, *play(in_background, episode))]
    print(f"{task.title}{' (made-up data)' * task.made_up}\n{aligned(rows)}\n")
    last = decide[-plan.block :] + learn[-plan.block :]
    return [limited_time("a step of Covertype, last block", last.mean(), LATE_STEP_LIMIT)]


def by_block(plan: Plan, decide: Times, learn: Times) -> Iterator[list[str]]:
    for stop in range(plan.block, len(decide) + 1, plan.block):
        part = slice(stop - plan.block, stop)
        yield row(f"to step {stop:,}", decide[part], learn[part])


# Files


def files_part(plan: Plan) -> list[Limited]:
    """Print how long files take, and how long decisions wait; return what is limited."""
    episode, policy = noisy(plan.steps), bt.TreeHeuristic(list(range(5)), seed=1)
    arms = np.arange(plan.steps) % 5
    policy.learn_many(episode.contexts, arms.tolist(), episode.rewards[np.arange(plan.steps), arms])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.bt"
        saves, waits = decide_beside(partial(policy.save, path), policy, episode, plan.saves)
        loads = [seconds_of(partial(bt.load, path)) for _ in range(plan.saves)]
        size, wait = path.stat().st_size, float(waits.max())
    rows = [["", "time", "a decision beside it, longest"]]
    rows.append(["save", milliseconds(saves), milliseconds(wait)])
    rows.append(["load", milliseconds(min(loads)), ""])
    print(f"{plan.steps:,} observations in a file of {size / 1e6:.1f} MB\n{aligned(rows)}\n")
    return [
        Limited("load of a file", min(loads), LOAD_LIMIT, milliseconds),
        Limited("a decision while the policy is saved, longest", wait, WAIT_LIMIT, milliseconds),
    ]


def seconds_of(function: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


def decide_beside(
    work: Callable[[], Any], policy: bt.Policy[int], episode: Episode, repeats: int
) -> tuple[float, Times]:
    """Return the mean time of the work, and those of another thread's decisions meanwhile."""
    ended, waits = Event(), [0.0]

    def decide() -> None:
        for context in forever(episode):
            if ended.is_set():
                return
            waits.append(seconds_of(partial(policy.decide, context)))

    thread = Thread(target=decide)
    thread.start()
    try:
        taken = [seconds_of(work) for _ in range(repeats)]
    finally:
        ended.set()
        thread.join()
    return float(np.mean(taken)), np.array(waits)


def forever(episode: Episode) -> Iterator[NDArray[np.float64]]:
    while True:
        yield from episode.contexts


# Windows


def windowed_memory(plan: Plan) -> list[float]:
    """Return the memory of this process after each block of as many steps as the window has."""
    policy, sizes = bt.TreeHeuristic([0, 1], window=plan.window, seed=1), []
    random = np.random.default_rng(0)
    for _ in range(plan.window_blocks):
        for arm in (step % 2 for step in range(plan.window)):
            context = random.random(20)
            policy.decide(context)
            policy.learn(context, arm, float(random.random() < 0.2 + 0.3 * (context[arm] > 0.5)))
        sizes.append(resident_bytes())
    return sizes


def window_part(plan: Plan) -> list[Limited]:
    """Print the memory after each block of steps; return what is limited."""
    sizes = in_new_process(windowed_memory, plan)
    rows = [["steps", "memory"]]
    for i, size in enumerate(sizes):
        rows.append([f"{(i + 1) * plan.window:,}", f"{size / 2**20:,.1f} MB"])
    print(f"Two arms in turn, 20 random numbers, window={plan.window:,}\n{aligned(rows)}\n")
    growth = max(sizes[1:]) / sizes[1] - 1  # both windows are full after two blocks
    return [Limited("growth of memory once windows are full", growth, GROWTH_LIMIT, percent)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few steps, nothing judged")
    parser.add_argument("--full", action="store_true", help="1,000,000 steps")
    given = parser.parse_args()
    plan = QUICK if given.quick else Plan()
    limited = noisy_part(plan)
    two_threads_part(plan)
    limited += covertype_part(plan, given.full) + files_part(plan)
    if given.full or given.quick:
        limited += window_part(plan)
    else:
        print("- memory with a window: with --full only\n")
    return exit_code(limited, given.quick, "steps")


if __name__ == "__main__":
    raise SystemExit(main())
