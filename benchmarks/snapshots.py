"""Snapshots of a policy that has learned a lot: size, loading, and two threads on one.

    python benchmarks/snapshots.py [--quick] [--rows 1000000]

TreeHeuristic has learned rows of Covertype. One thread and then two ask one snapshot for as many
decisions each. The exit code is 1 if a limit is exceeded.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from threading import Thread

import numpy as np
from long_life import milliseconds, seconds_of
from numpy.typing import NDArray
from report import Limited, exit_code
from tasks import load, new_policy

import banditree as bt

SIZE_LIMIT = 2e6  # bytes
LOAD_LIMIT = 0.02  # s
SPEED_LIMIT = 1.7  # decisions a second of two threads, over those of one
REPEATS = 7  # the fastest counts, for other work on the machine only ever slows down


def megabytes(size: float) -> str:
    return f"{size / 1e6:.2f} MB"


def times(ratio: float) -> str:
    return f"{ratio:.2f} times"


def taught(rows: int) -> tuple[bt.Policy[int], NDArray[np.float64]]:
    """Return a policy that has learned so many rows, and contexts to decide for."""
    episode = load("covertype").episode(0, rows)
    policy = new_policy("TreeHeuristic", episode, seed=0)
    chosen = np.random.default_rng(0).integers(len(episode.arms), size=rows)
    arms = [episode.arms[i] for i in chosen.tolist()]
    policy.learn_many(episode.contexts, arms, episode.rewards[np.arange(rows), chosen])
    return policy, episode.contexts[:100_000]


def fastest(work: Callable[[], object]) -> float:
    return min(seconds_of(work) for _ in range(REPEATS))


def side_by_side(work: Callable[[], object]) -> None:
    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measured(rows: int) -> list[Limited]:
    policy, contexts = taught(rows)
    snapshot = policy.snapshot()
    data = snapshot.to_bytes()
    loading = fastest(partial(bt.Snapshot.from_bytes, data))
    decide = partial(snapshot.decide_many, contexts)
    alone = fastest(decide)
    # Two threads have done twice the work.
    gain = 2 * alone / fastest(partial(side_by_side, decide))
    print(f"{rows:,} rows; {1e6 * alone / len(contexts):.2f} µs a decision in a batch")
    return [
        Limited("size of the snapshot", len(data), SIZE_LIMIT, megabytes),
        Limited("loading it", loading, LOAD_LIMIT, milliseconds),
        Limited("two threads as fast as one", gain, SPEED_LIMIT, times, at_least=True),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few rows, nothing judged")
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    begun = time.perf_counter()
    limited = measured(2_000 if given.quick else given.rows)
    print(f"{time.perf_counter() - begun:.0f} s")
    return exit_code(limited, given.quick, "rows")


if __name__ == "__main__":
    raise SystemExit(main())
