"""What a column of random strings costs: regret with it over regret without it.

    python benchmarks/noise.py [--steps 6000] [--seeds 5] [--policies TreeHeuristic ...]

Two worlds of three arms, of which one pays with probability 0.7 and the others with 0.1: which
one, follows from a number, or from a category of 60 values. At most 1.25 is wanted.
"""

import argparse
import random
from collections.abc import Callable
from typing import Any

import banditree as bt

ARMS = (0, 1, 2)
COLUMNS = ("40", "200", "1000", "distinct")
POLICIES = ("TreeHeuristic", "TreeBootstrap", "OnlineTreeBootstrap")
WANTED = 1.25

Context = dict[str, Any]


def number_decides(world: random.Random) -> tuple[Context, int]:
    number = world.random()
    return {"number": number}, int(number * len(ARMS))


def category_decides(world: random.Random) -> tuple[Context, int]:
    value = world.randrange(60)
    return {"category": f"value {value}"}, value % len(ARMS)


def random_string(column: str, step: int, noise: random.Random) -> str:
    return f"id {step}" if column == "distinct" else f"string {noise.randrange(int(column))}"


def regret(
    policy: bt.Policy[int],
    decides: Callable[[random.Random], tuple[Context, int]],
    column: str | None,
    steps: int,
    seed: int,
) -> float:
    """Return the expected regret; the worlds with and without the column are the same."""
    world, rewards, noise = (random.Random(f"{seed} {part}") for part in ("w", "r", "n"))
    total = 0.0
    for step in range(steps):
        context, best = decides(world)
        if column is not None:
            context["noise"] = random_string(column, step, noise)
        arm = policy.decide(context)
        total += 0.6 * (arm != best)
        policy.learn(context, arm, rewards.random() < (0.7 if arm == best else 0.1))
    return total


def mean_regret(
    name: str,
    decides: Callable[[random.Random], tuple[Context, int]],
    column: str | None,
    steps: int,
    seeds: int,
) -> float:
    features = ["number" if decides is number_decides else "category", "noise"][: 1 + bool(column)]
    make = getattr(bt, name)
    return (
        sum(
            regret(make(ARMS, features=features, seed=seed), decides, column, steps, seed)
            for seed in range(seeds)
        )
        / seeds
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--policies", nargs="+", default=POLICIES)
    given = parser.parse_args()
    for decides in (number_decides, category_decides):
        print(f"{decides.__name__.replace('_', ' ')}; {given.steps:,} steps, {given.seeds} seeds")
        for name in given.policies:
            without = mean_regret(name, decides, None, given.steps, given.seeds)
            cells = [f"without {without:6.0f}"]
            for column in COLUMNS:
                found = mean_regret(name, decides, column, given.steps, given.seeds)
                mark = "ok" if found <= WANTED * without else "OVER"
                cells.append(f"{column} {found:6.0f} ({found / without:.2f} {mark})")
            print(f"  {name:20} " + "   ".join(cells), flush=True)


if __name__ == "__main__":
    main()
