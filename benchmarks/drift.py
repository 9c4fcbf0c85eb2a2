"""How soon policies earn again what they did before the arms swap their payoffs.

    python benchmarks/drift.py [--seeds 10] [--tasks sports shuttle] [--policies ...]

Of 20,000 steps, the arms swap after 10,000. For each 1,000 steps after that: the reward over that
of the last 2,000 steps before. At least 0.9 is wanted of `TreeHeuristic(window=2000)` in the third
thousand; the exit code is 1 if it is not reached.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from report import aligned
from tasks import KEYS, Task, load

import banditree as bt
from banditree.environments import Drifting, Episode, play

SWAP, BEFORE, BLOCK, SHOWN = 10_000, 2_000, 1_000, (0, 1, 2, 4, 9)
WANTED, JUDGED = 0.9, "TreeHeuristic, window"

POLICIES: dict[str, Callable[..., bt.Policy[Any]]] = {
    "TreeHeuristic": bt.TreeHeuristic,
    JUDGED: partial(bt.TreeHeuristic, window=2000),
    "OnlineTreeBootstrap, window": partial(bt.OnlineTreeBootstrap, window=2000),
    "ThompsonSampling, window": partial(bt.ThompsonSampling, window=2000),
    "LinUCB, window": partial(bt.LinUCB, window=2000),
}


def shares(make: Callable[..., bt.Policy[Any]], episode: Episode, seed: int) -> Any:
    """Return the reward of each block after the swap, over the rate before."""
    policy = make(episode.arms, categorical=episode.categorical, seed=seed)
    rewards = episode.rewards[np.arange(len(episode)), play(policy, episode)]
    return rewards[SWAP:].reshape(-1, BLOCK).mean(axis=1) / rewards[SWAP - BEFORE : SWAP].mean()


def run(task: Task, policies: Sequence[str], seeds: int) -> bool:
    """Print what was found of a task; return whether what is wanted was reached."""
    episodes = [Drifting(task.environment, SWAP).episode(2 * SWAP, seed) for seed in range(seeds)]
    rows, reached = [["", *(f"{block + 1:,},000" for block in SHOWN), ""]], True
    for name in policies:
        each = [shares(POLICIES[name], episode, seed) for seed, episode in enumerate(episodes)]
        found = np.mean(each, axis=0)
        verdict = ""
        if name == JUDGED:
            reached = bool(found[2] >= WANTED)
            verdict = "ok" if reached else "missed"
        rows.append([name, *(f"{found[block]:.2f}" for block in SHOWN), verdict])
    made_up = " (made-up data)" if task.made_up else ""
    print(f"{task.title}{made_up}, {seeds} seeds\n{aligned(rows)}\n", flush=True)
    return reached


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tasks", nargs="+", choices=KEYS, default=["sports", "shuttle"])
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=list(POLICIES))
    given = parser.parse_args()
    reached = [run(load(key), given.policies, given.seeds) for key in given.tasks]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    raise SystemExit(main())
