"""What `Bandit` costs: decisions, observations and memory, with few arms and many, early and late.

    python benchmarks/bandit_cost.py [--quick] [--full] [--processor]

10,000 steps of Adult (12 arms) and of Covertype, the latter also in the background; 20,000 steps
with 200 and 1,000 arms in ten hidden groups; 200,000 steps of Covertype in blocks, 1,000,000 with
`--full`. `--processor` counts the time of the processor in place of that which passes, where others
use the machine too. The exit code is 1 if a limit is exceeded.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from long_life import Times, microseconds, milliseconds
from measuring import in_new_process, resident_bytes
from report import Limited, aligned, exit_code
from tasks import load, new_policy

import banditree as bt

DECIDE_LIMIT = 25e-6  # s, from an array, 12 arms
DECIDE_LATE_LIMIT = 60e-6  # s, the same, 99th percentile
COVERTYPE_LIMIT = 8.0  # s, 10,000 steps
ARMS_LIMITS = {200: 100e-6, 1_000: 300e-6}  # s, a decision
LONG_LIMIT = 15 * 60.0  # s, 1,000,000 steps
GROWTH_LIMIT = 2.0  # times a step at 100,000
LONGEST_LIMIT = 10e-3  # s, a decision or an observation while another thread fits
_ALONE = 150  # steps at the beginning, with fits of fewer than 100 observations in `learn`


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    steps: int = 10_000
    arms_steps: int = 20_000
    block: int = 100_000
    blocks: int = 2
    processor: bool = False

    @property
    def clock(self) -> Callable[[], float]:
        return time.thread_time if self.processor else time.perf_counter


@dataclass(frozen=True)
class Played:
    """Seconds of each decision and observation, and the bytes that this process then has more."""

    decide: Times
    learn: Times
    memory: float

    @property
    def steps(self) -> Times:
        return self.decide + self.learn

    def row(self, what: str, part: slice = slice(None)) -> list[str]:
        decide, learn = self.decide[part], self.learn[part]
        figures = [float((decide + learn).mean()), float(np.median(decide)), float(decide.mean())]
        figures += [float(np.quantile(decide, 0.99)), float(np.median(learn))]
        longest = milliseconds(float(decide.max())), milliseconds(float(learn.max()))
        total = f"{(decide + learn).sum():,.1f} s"
        return [
            what,
            total,
            *map(microseconds, figures),
            *longest,
            f"{self.memory / 2**20:,.0f} MB",
        ]


HEADER = ["", "all", "step", "decide, median", "mean", "99 %", "learn, median"]
HEADER += ["decide, longest", "learn, longest", "memory"]


def played(
    plan: Plan, policy: bt.Policy[int], contexts: Any, pay: Callable[[int, int], float]
) -> Played:
    """Let a policy decide and learn; pay(step, arm) is the reward."""
    decide, learn = np.empty((2, len(contexts)))
    before, clock = resident_bytes(), plan.clock
    for i, context in enumerate(contexts):
        begun = clock()
        arm = policy.decide(context)
        decided = clock()
        reward = pay(i, arm)
        paid = clock()
        policy.learn(context, arm, reward)
        decide[i], learn[i] = decided - begun, clock() - paid
    return Played(decide, learn, resident_bytes() - before)


def of_task(plan: Plan, key: str, steps: int, **options: Any) -> Played:
    episode = load(key).episode(0, steps)
    places = {arm: i for i, arm in enumerate(episode.arms)}
    policy = new_policy("Bandit", episode, seed=0, **options)
    return played(
        plan, policy, episode.contexts, lambda i, arm: float(episode.rewards[i, places[arm]])
    )


def of_groups(plan: Plan, n_arms: int) -> Played:
    """Arms in ten groups; one pays more where its group is the user's segment."""
    random = np.random.default_rng(0)
    group, base = random.integers(0, 10, n_arms), random.uniform(0.02, 0.08, n_arms)
    fives, twos = random.integers(0, [[5], [2]], (2, plan.arms_steps))
    luck = random.random(plan.arms_steps)
    contexts = [
        {"five": "abcde"[five], "two": bool(two)}
        for five, two in zip(fives.tolist(), twos.tolist(), strict=True)
    ]

    def pay(i: int, arm: int) -> float:
        return float(luck[i] < base[arm] + 0.4 * (group[arm] == 2 * fives[i] + twos[i]))

    return played(plan, bt.Bandit(range(n_arms), seed=0), contexts, pay)


def short_part(plan: Plan) -> list[Limited]:
    adult = in_new_process(of_task, plan, "adult", plan.steps)
    covertype = in_new_process(of_task, plan, "covertype", plan.steps)
    beside = in_new_process(of_task_beside, plan)
    rows = [HEADER, adult.row("Adult, 12 arms"), covertype.row("Covertype, 7 arms")]
    print(f"{plan.steps:,} steps\n{aligned([*rows, beside.row('  in the background')])}\n")
    longest = float(max(beside.decide[_ALONE:].max(), beside.learn[_ALONE:].max()))
    return [
        Limited("a decision, 12 arms", float(adult.decide.mean()), DECIDE_LIMIT, microseconds),
        Limited(
            "the same, 99th percentile",
            float(np.quantile(adult.decide, 0.99)),
            DECIDE_LATE_LIMIT,
            microseconds,
        ),
        Limited("Covertype, all steps", float(covertype.steps.sum()), COVERTYPE_LIMIT, seconds),
        Limited("in the background, the longest call", longest, LONGEST_LIMIT, milliseconds),
    ]


def of_task_beside(plan: Plan) -> Played:
    return of_task(plan, "covertype", plan.steps, background=True)


def seconds(value: float) -> str:
    return f"{value:,.1f} s"


def arms_part(plan: Plan) -> list[Limited]:
    rows, limited = [HEADER], []
    for n_arms, limit in ARMS_LIMITS.items():
        found = in_new_process(of_groups, plan, n_arms)
        rows.append(found.row(f"{n_arms:,} arms"))
        mean = float(found.decide.mean())
        limited.append(Limited(f"a decision, {n_arms:,} arms", mean, limit, microseconds))
    print(f"Ten hidden groups, {plan.arms_steps:,} steps\n{aligned(rows)}\n")
    return limited


def long_part(plan: Plan) -> list[Limited]:
    """Print what steps cost block by block; return what is limited."""
    found = in_new_process(of_task, plan, "covertype", plan.block * plan.blocks)
    rows = [HEADER]
    for stop in range(plan.block, len(found.steps) + 1, plan.block):
        rows.append(found.row(f"to step {stop:,}", slice(stop - plan.block, stop)))
    print(f"Covertype\n{aligned(rows)}\n")
    if plan.blocks <= Plan.blocks:
        print("- the cost of a step after 1,000,000: with --full only\n")
        return []
    # Fits are part of a step: blocks have some of them each.
    at = float(found.steps[plan.block : 2 * plan.block].mean())
    end = float(found.steps[-plan.block :].mean())
    medians = [float(np.median(found.steps[i * plan.block :][: plan.block])) for i in (1, -1)]
    return [
        Limited("all steps", float(found.steps.sum()), LONG_LIMIT, seconds),
        Limited("a step at the end, times one at 100,000", end / at, GROWTH_LIMIT, times),
        Limited("the same, without fits", medians[1] / medians[0], GROWTH_LIMIT, times),
    ]


def times(value: float) -> str:
    return f"{value:.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few steps, nothing judged")
    parser.add_argument("--full", action="store_true", help="1,000,000 steps")
    parser.add_argument("--processor", action="store_true", help="time of the processor")
    given = parser.parse_args()
    plan = Plan(blocks=10 if given.full else Plan.blocks, processor=given.processor)
    if given.quick:
        plan = Plan(300, 60, 150, 2, given.processor)
    limited = short_part(plan) + arms_part(plan) + long_part(plan)
    return exit_code(limited, given.quick, "steps")


if __name__ == "__main__":
    raise SystemExit(main())
