"""How long an evaluation takes, and how much memory: all estimators on a log of many rows.

    python benchmarks/evaluation.py [--quick] [--rows 1000000]

10 arms, 10 features; whom is evaluated gives probabilities for many contexts at once. Time is that
of the processor, so that others on the machine do not count. Memory is that of the columns with
what the process needs besides, over that of the columns. The exit code is 1 if a limit is exceeded.
"""

import argparse
import time

import numpy as np
import polars as pl
from numpy.typing import NDArray
from report import Limited, exit_code

from banditree.evaluation import Log, compare
from banditree.studies.memory import PeakMemory

ARMS, FEATURES = 10, 10
TIME_LIMIT = 30.0  # s
MEMORY_LIMIT = 2.0  # times the columns


class Softmax:
    """Somebody whose probabilities follow from sums of the features."""

    arms = tuple(range(ARMS))

    def __init__(self, seed: int, sharpness: float) -> None:
        self._weights = sharpness * np.random.default_rng(seed).normal(size=(FEATURES, ARMS))

    def propensities_many(self, contexts: object) -> NDArray[np.float64]:
        scores = np.exp(np.asarray(contexts) @ self._weights)
        return scores / scores.sum(axis=1, keepdims=True)


def made_up(rows: int) -> pl.DataFrame:
    """Return the log of somebody whose decisions depend on the context."""
    rng = np.random.default_rng(0)
    contexts = rng.random((rows, FEATURES))
    chances = Softmax(seed=1, sharpness=1.0).propensities_many(contexts)
    chosen = (rng.random((rows, 1)) > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    pays = 0.1 + 0.3 * (contexts[np.arange(rows), chosen] > 0.5)
    columns = {f"x{i}": contexts[:, i] for i in range(FEATURES)}
    return pl.DataFrame(
        {
            **columns,
            "arm": chosen,
            "reward": (rng.random(rows) < pays) * 1.0,
            "propensity": chances[np.arange(rows), chosen],
        }
    )


def seconds(value: float) -> str:
    return f"{value:.1f} s"


def times(value: float) -> str:
    return f"{value:.2f} times"


def measured(rows: int) -> list[Limited]:
    table = made_up(rows)
    size = table.estimated_size()
    with PeakMemory() as memory:
        begun, work = time.perf_counter(), time.process_time()
        log = Log.from_table(table)
        found = compare({"other": Softmax(seed=2, sharpness=2.0)}, log)
        wall, work = time.perf_counter() - begun, time.process_time() - work
    print(found.evaluations["other"])
    print(f"{rows:,} rows of {size / 1e6:.0f} MB; {wall:.1f} s, of which at work {work:.1f} s")
    return [
        Limited("all estimators, at work", work, TIME_LIMIT, seconds),
        Limited("memory with the columns", 1 + memory.bytes / size, MEMORY_LIMIT, times),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few rows, nothing judged")
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    limited = measured(5_000 if given.quick else given.rows)
    return exit_code(limited, given.quick, "rows")


if __name__ == "__main__":
    raise SystemExit(main())
