"""TreeHeuristic beside Vowpal Wabbit, step for step in one run: time of a step, and regret.

    PYTHONPATH=benchmarks python -m peers.step_for_step [--quick] [--steps 100000] [--seeds 3]

A step is decide and learn on a row of Covertype, an array of 54 numbers, on one thread, in CPU
time. For Vowpal Wabbit, it is all that a user pays for: the text of the context, parsed once, the
prediction, the draw from its probabilities, the label, and learning. The exit code is 1 if
TreeHeuristic is slower than a `--squarecb -q ::`.
"""

import argparse
import itertools
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from report import aligned, verdict
from tasks import load, new_policy

from banditree.environments import Episode, play
from peers.player import World
from peers.vowpal_wabbit import VowpalWabbit

ABSENT = (
    "Vowpal Wabbit is not installed, so there is nothing to compare with. "
    "To install it: .venv/bin/pip install --no-build-isolation --editable '.[bench]'"
)
HEURISTIC = "TreeHeuristic"
PEERS = {
    "--cb_explore --bag 10": False,
    "--cb_explore --squarecb -q ::": True,
    "--cb_explore_adf --squarecb -q ::": True,
}  # and whether TreeHeuristic must be as fast
BLOCKS = 10  # the players take turns, so that what else the machine does meets all of them


class Ours:
    """A policy of this library."""

    def __init__(self, episode: Episode, seed: int) -> None:
        self.policy = new_policy(HEURISTIC, episode, seed)

    def play(self, episode: Episode) -> NDArray[np.intp]:
        return play(self.policy, episode)


class Peer:
    """Vowpal Wabbit."""

    def __init__(self, options: str, episode: Episode, seed: int) -> None:
        world = World.of(len(episode.arms), episode.contexts, list(episode.categorical))
        self.player = VowpalWabbit(world, seed, options=options)

    def play(self, episode: Episode) -> NDArray[np.intp]:
        chosen = np.empty(len(episode), dtype=np.intp)
        rewards = episode.rewards.tolist()
        for t, context in enumerate(episode.contexts):
            chosen[t] = arm = self.player.decide(context)
            self.player.learn(context, arm, rewards[t][arm])
        return chosen


@dataclass
class Total:
    """What a player has used up."""

    seconds: float = 0.0
    regret: float = 0.0


def compare(names: list[str], steps: int, seeds: int) -> dict[str, Total]:
    """Return the CPU time and the regret of each player, of all seeds together."""
    totals = {name: Total() for name in names}
    for seed in range(seeds):
        episode = load("covertype").episode(seed, steps)
        players: dict[str, Any] = {
            name: Ours(episode, seed) if name == HEURISTIC else Peer(name, episode, seed)
            for name in names
        }
        edges = np.linspace(0, steps, BLOCKS + 1, dtype=int).tolist()
        for begin, end in itertools.pairwise(edges):
            part = episode.part(begin, end)
            for name, player in players.items():
                begun = time.process_time()
                chosen = player.play(part)
                totals[name].seconds += time.process_time() - begun
                totals[name].regret += float(part.regret_of(chosen).sum())
    return totals


def show(totals: dict[str, Total], steps: int, seeds: int, judged: bool) -> bool:
    """Print a row of each player; return whether TreeHeuristic is fast enough."""
    own, kept = totals[HEURISTIC].seconds, True
    rows = [["", "a step", "TreeHeuristic's", "regret", "at least", ""]]
    for name, total in totals.items():
        limited, met = PEERS.get(name, False), total.seconds >= own
        kept &= met or not limited
        rows.append(
            [
                name,
                f"{1e6 * total.seconds / (steps * seeds):.1f} µs",
                f"{total.seconds / own:.2f} times",
                f"{total.regret / seeds:,.0f}",
                "1 time" if limited else "",
                verdict(met) if limited and judged else "",
            ]
        )
    print(aligned(rows))
    return kept


def is_installed() -> bool:
    try:
        import vowpalwabbit  # noqa: F401
    except ImportError:
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few steps, nothing judged")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    steps, seeds = (200, 1) if given.quick else (given.steps, given.seeds)
    installed = is_installed()
    names = [HEURISTIC, *PEERS] if installed else [HEURISTIC]
    task = load("covertype")
    title = f"{task.title}{' (made-up data)' * task.made_up}"
    print(f"{title}, {steps:,} steps, seeds: {seeds}; one thread, CPU time")
    kept = show(compare(names, steps, seeds), steps, seeds, judged=not given.quick)
    if not installed:
        print(f"- {ABSENT}")
    if given.quick:
        print("- too few steps to be judged")
    return int(not kept and not given.quick)


if __name__ == "__main__":
    raise SystemExit(main())
