"""What a column of random strings costs: regret with it over regret without it.

    python benchmarks/noise.py [--steps 6000] [--seeds 5] [--policies TreeHeuristic ...]
                               [--arms 3] [--numbers 0]

Two worlds whose best arm pays with probability 0.7 and whose other arms pay with 0.1. A number
decides which arm is best, or a category of 60 values does; `--numbers` adds random numbers beside
it. At most 1.25 is wanted; the exit code is 1 if a policy is over it.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import banditree as bt

COLUMNS = ("40", "200", "1000", "distinct")
POLICIES = ("TreeHeuristic", "TreeBootstrap", "OnlineTreeBootstrap")
WANTED = 1.25

Context = dict[str, Any]


@dataclass(frozen=True)
class World:
    """What decides, the number of arms, and how many random numbers stand beside it."""

    feature: str
    arms: int
    numbers: int

    def draw(self, random: random.Random) -> tuple[Context, int]:
        """Return a context and its best arm."""
        if self.feature == "number":
            number = random.random()
            context, best = {"number": number}, int(number * self.arms)
        else:
            value = random.randrange(60)
            context, best = {"category": f"value {value}"}, value % self.arms
        return context | {f"other {i}": random.random() for i in range(self.numbers)}, best


def random_string(column: str, step: int, noise: random.Random) -> str:
    return f"id {step}" if column == "distinct" else f"string {noise.randrange(int(column))}"


def regret(
    policy: bt.Policy[int], world: World, column: str | None, steps: int, seed: int
) -> float:
    """Return the expected regret; the worlds with and without the column are the same."""
    contexts, rewards, noise = (random.Random(f"{seed} {part}") for part in ("w", "r", "n"))
    total = 0.0
    for step in range(steps):
        context, best = world.draw(contexts)
        if column is not None:
            context["noise"] = random_string(column, step, noise)
        arm = policy.decide(context)
        total += 0.6 * (arm != best)
        policy.learn(context, arm, rewards.random() < (0.7 if arm == best else 0.1))
    return total


def mean_regret(name: str, world: World, column: str | None, steps: int, seeds: int) -> float:
    make = getattr(bt, name)
    total = 0.0
    for seed in range(seeds):
        total += regret(make(range(world.arms), seed=seed), world, column, steps, seed)
    return total / seeds


def ratios(
    name: str, world: World, steps: int, seeds: int, columns: Sequence[str] = COLUMNS
) -> dict[str, float]:
    """Return regret with each column over regret without one; print them."""
    without = mean_regret(name, world, None, steps, seeds)
    cells, found = [f"without {without:6.0f}"], {}
    for column in columns:
        with_column = mean_regret(name, world, column, steps, seeds)
        found[column] = with_column / without
        mark = "ok" if found[column] <= WANTED else "OVER"
        cells.append(f"{column} {with_column:6.0f} ({found[column]:.2f} {mark})")
    print(f"  {name:20} " + "   ".join(cells), flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--policies", nargs="+", default=POLICIES)
    parser.add_argument("--arms", type=int, default=3)
    parser.add_argument("--numbers", type=int, default=0)
    given = parser.parse_args()
    worst = 0.0
    for feature in ("number", "category"):
        world = World(feature, given.arms, given.numbers)
        print(f"{world}; {given.steps:,} steps, {given.seeds} seeds")
        for name in given.policies:
            worst = max(worst, *ratios(name, world, given.steps, given.seeds).values())
    return int(worst > WANTED)


if __name__ == "__main__":
    raise SystemExit(main())
