"""What a policy costs after a long time: steps, decisions, and how both grow.

    python benchmarks/long_life.py [--quick] [--full]

20 random numbers and 5 arms for 100,000 steps, with trees grown anew per 5 % of growth and, for
the first 20,000 steps, at every observation; then Covertype for 200,000 steps, 1,000,000 with
`--full`, in blocks. The exit code is 1 if a limit is exceeded.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from report import aligned, verdict
from tasks import load, new_policy

import banditree as bt
from banditree.environments import Episode

STEP_LIMIT = 1.25e-3 / 8  # s: an eighth of what a step took with trees of every observation
DECIDE_LIMIT = 20e-6  # s, 99th percentile
LATE_STEP_LIMIT = 100e-6  # s, in the last block of 1,000,000 steps of Covertype

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    steps: int = 100_000
    eager_steps: int = 20_000
    blocks: int = 2
    block: int = 100_000


QUICK = Plan(300, 100, 2, 150)
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


def row(what: str, decide: Times, learn: Times) -> list[str]:
    step = float((decide + learn).mean())
    late = float((decide + learn)[-len(decide) // 10 :].mean())
    p99, longest = float(np.quantile(decide, 0.99)), float(decide.max())
    return [what, *map(microseconds, (step, late, p99, longest, float(learn.max())))]


HEADER = ["", "step", "last tenth", "decide, 99 %", "longest", "learn, longest"]


def noisy_part(plan: Plan) -> list[tuple[str, float, float]]:
    """Print the times of both kinds of trees; return what is limited."""
    episode, rows = noisy(plan.steps), [HEADER]
    decide, learn = play(bt.TreeHeuristic(list(range(5)), seed=1), episode)
    rows.append(row(f"refresh=0.05, {plan.steps:,} steps", decide, learn))
    early = slice(plan.eager_steps)
    rows.append(row(f"  the first {plan.eager_steps:,}", decide[early], learn[early]))
    eager = bt.TreeHeuristic(list(range(5)), refresh=0, seed=1)
    slow = play(eager, noisy(plan.eager_steps))
    rows.append(row(f"refresh=0, {plan.eager_steps:,} steps", *slow))
    print(f"20 random numbers, 5 arms\n{aligned(rows)}")
    ratio = float((slow[0] + slow[1]).sum() / (decide[early] + learn[early]).sum())
    print(f"- per 5 % of growth, the first steps are {ratio:.1f} times as fast as at every one\n")
    return [
        ("a step, 20 random numbers", float((decide + learn).mean()), STEP_LIMIT),
        ("a decision, 99th percentile", float(np.quantile(decide, 0.99)), DECIDE_LIMIT),
    ]


def covertype_part(plan: Plan, full: bool) -> list[tuple[str, float, float]]:
    """Print the times of each block; return what is limited."""
    task, blocks = load("covertype"), FULL_BLOCKS if full else plan.blocks
    episode = task.episode(0, blocks * plan.block)
    decide, learn = play(new_policy("TreeHeuristic", episode, seed=0), episode)
    rows = [HEADER]
    for i in range(blocks):
        part = slice(i * plan.block, (i + 1) * plan.block)
        rows.append(row(f"to step {part.stop:,}", decide[part], learn[part]))
    print(f"{task.title}{' (made-up data)' * task.made_up}\n{aligned(rows)}\n")
    last = decide[-plan.block :] + learn[-plan.block :]
    return [("a step of Covertype, last block", float(last.mean()), LATE_STEP_LIMIT)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few steps, nothing judged")
    parser.add_argument("--full", action="store_true", help="Covertype for 1,000,000 steps")
    given = parser.parse_args()
    plan = QUICK if given.quick else Plan()
    limited = noisy_part(plan) + covertype_part(plan, given.full)
    if given.quick:
        print("- too few steps to be judged")
        return 0
    shown = [
        [what, microseconds(found), microseconds(limit), verdict(found <= limit)]
        for what, found, limit in limited
    ]
    print(aligned([["", "found", "at most", ""], *shown]))
    return int(any(found > limit for _, found, limit in limited))


if __name__ == "__main__":
    raise SystemExit(main())
