"""Whether estimates and intervals of `banditree.evaluation` are right, where the truth is known.

    python benchmarks/evaluation_truth.py [--repeats 200] [--rows 1000 10000 30000] [--tasks ...]

Logs are drawn from the five tasks by three loggers: one that draws uniformly, a TreeHeuristic that
has learned a little, and the same with a floor. Another TreeHeuristic, which has learned more, is
evaluated; of the tree without a floor, among the arms that it draws at all often. What it truly
earns is known. The exit code is 1 if a limit is exceeded.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray
from report import aligned, verdict
from tasks import KEYS, load, new_policy, origin

import banditree as bt
from banditree.environments.sports_ads import click_probabilities
from banditree.evaluation import Log, bounds_over_time
from banditree.evaluation.estimators import ESTIMATORS, Estimated
from banditree.evaluation.evaluating import Settings, compared
from banditree.evaluation.evidence import gather
from banditree.evaluation.reward_model import RewardModel
from banditree.evaluation.targets import bind

FloatArray = NDArray[np.float64]
POOL = 4_000  # contexts, from which all logs of a task are drawn
TAUGHT, TAUGHT_LITTLE = 3_000, 300
FLOOR = 0.2
LOGGERS = ("uniform", "tree", "floor")
UNBIASED, COVERED, WATCHED = ("ips", "snips", "dr"), ("snips", "dr"), ("ips", "dr")
ROWS_OF_COVERAGE = 10_000
# What the tree without a floor draws less often than this, whom it evaluates never offers: no log
# can tell what would come of that.
REACHED = 0.02


@dataclass(frozen=True, eq=False)
class World:
    """Contexts with what each arm pays in them on average, a logger, and whom to evaluate."""

    contexts: FloatArray
    means: FloatArray
    logger: FloatArray
    target: FloatArray

    @property
    def truth(self) -> float:
        return float((self.target * self.means).sum(axis=1).mean())

    def draw(self, n: int, seed: int, *, propensities: FloatArray | None = None) -> "Drawn":
        """Return a log of n decisions; by default with the propensities that are true."""
        rng = np.random.default_rng(seed)
        rows = rng.integers(len(self.contexts), size=n)
        ends = np.cumsum(self.logger[rows], axis=1)
        chosen = (rng.random((n, 1)) * ends[:, -1:] > ends).sum(axis=1)
        rewards = (rng.random(n) < self.means[rows, chosen]) * 1.0
        stated = self.logger if propensities is None else propensities
        features = {f"x{i}": column for i, column in enumerate(self.contexts[rows].T)}
        columns = {"arm": chosen, "reward": rewards, "propensity": stated[rows, chosen]}
        arms = list(range(self.means.shape[1]))
        log = Log.from_table(pl.DataFrame({**features, **columns}), arms=arms)
        return Drawn(log, self.target[rows], self.truth)


@dataclass(frozen=True, eq=False)
class Drawn:
    log: Log
    target: FloatArray
    truth: float


@cache
def worlds(task: str, seed: int = 0) -> dict[str, World]:
    """Return the world of each logger."""
    loaded = load(task)
    pool = loaded.episode(seed, POOL)
    sports = task == "sports"
    means = click_probabilities(pool.contexts.astype(int)) if sports else pool.rewards
    taught = [_taught(task, seed + 1, TAUGHT_LITTLE), _taught(task, seed + 2, TAUGHT)]
    little, much = (policy.propensities_many(pool.contexts) for policy in taught)
    even = np.full_like(means, 1 / means.shape[1])
    loggers = {"uniform": even, "tree": little, "floor": (1 - FLOOR) * little + FLOOR * even}
    kept = np.where(little >= REACHED, np.maximum(much, 1e-9), 0)
    targets = {"uniform": much, "tree": kept / kept.sum(axis=1, keepdims=True), "floor": much}
    return {
        name: World(pool.contexts, means, logger, targets[name]) for name, logger in loggers.items()
    }


def _taught(task: str, seed: int, rows: int) -> bt.Policy:
    episode = load(task).episode(seed, rows)
    policy = new_policy("TreeHeuristic", episode, seed=seed)
    chosen = np.random.default_rng(seed).integers(len(episode.arms), size=rows)
    arms = [episode.arms[i] for i in chosen.tolist()]
    policy.learn_many(episode.contexts, arms, episode.rewards[np.arange(rows), chosen])
    return policy


# What is found, over all repeats


@dataclass
class Found:
    """Estimates of one world and number of rows: of each estimator, one per repeat."""

    truth: float
    values: dict[str, list[float]] = field(default_factory=dict)
    covered: dict[str, list[bool]] = field(default_factory=dict)
    missed: dict[str, list[bool]] = field(default_factory=dict)

    def errors(self, name: str) -> FloatArray:
        return np.array(self.values[name]) - self.truth

    def bias(self, name: str) -> float:
        """Return the mean error in its own standard errors."""
        errors = self.errors(name)
        return float(errors.mean() / (errors.std(ddof=1) / np.sqrt(len(errors))))

    @property
    def gain(self) -> float:
        """The squared error of DR over that of IPS."""
        return float((self.errors("dr") ** 2).mean() / (self.errors("ips") ** 2).mean())


def simulated(task: str, logger: str, rows: int, repeats: int) -> Found:
    world = worlds(task)[logger]
    found = Found(world.truth)
    for repeat in range(repeats):
        drawn = world.draw(rows, seed=1_000 + repeat)
        bound = bind(drawn.target, drawn.log)
        (evidence,) = gather([bound], drawn.log, RewardModel(drawn.log))
        result = compared({"it": evidence}, drawn.log, Settings()).evaluations["it"]
        for name, estimate in result.estimates.items():
            found.values.setdefault(name, []).append(estimate.value)
            inside = estimate.low <= world.truth <= estimate.high
            found.covered.setdefault(name, []).append(inside)
        for name in WATCHED:
            missed = ever_missed(ESTIMATORS[name](evidence), drawn.log, world.truth)
            found.missed.setdefault(name, []).append(missed)
    return found


def ever_missed(estimated: Estimated, log: Log, truth: float) -> bool:
    """Return whether the interval, looked at after every row, ever leaves out the truth."""
    terms, bounds = estimated.terms(), estimated.bounds
    low, high = bounds_over_time(terms, bounds, log.reward_range, 0.95, always=True)
    return bool((low > truth).any() or (high < truth).any())


def flagged(task: str, rows: int, repeats: int) -> float:
    """Return in which share of logs of the tree it is seen that 1 / K is no propensity of it."""
    world = worlds(task)["tree"]
    even = np.full_like(world.logger, 1 / world.logger.shape[1])
    drawn = (world.draw(rows, seed, propensities=even) for seed in range(repeats))
    return float(np.mean([bool(each.log.health.wrong) for each in drawn]))


# What is printed


def row_of(name: Sequence[str], found: Found) -> list[str]:
    biases = [f"{found.bias(each):+.1f}" for each in UNBIASED]
    covered = [f"{np.mean(found.covered[each]):.1%}" for each in COVERED]
    missed = [f"{np.mean(found.missed[each]):.1%}" for each in WATCHED]
    return [" ".join(name), *biases, *covered, f"{found.gain:.2f}", *missed]


def judged(cells: dict[tuple[str, str, int], Found], wrong: dict[str, float]) -> list[list[str]]:
    """Return a verdict on each of what is promised."""
    biases = [abs(found.bias(name)) for found in cells.values() for name in UNBIASED]
    within = float(np.mean(np.array(biases) <= 2))
    rows = [
        [
            "mean errors within two standard errors",
            f"{within:.1%} of {len(biases)}",
            "95 %",
            within > 0.95 - 2 * np.sqrt(0.05 * 0.95 / len(biases)),
        ],
    ]
    at = [found for (_, _, n), found in cells.items() if n == ROWS_OF_COVERAGE]
    for name in COVERED if at else ():
        share = float(np.mean([found.covered[name] for found in at]))
        rows.append(
            [
                f"{name} at {ROWS_OF_COVERAGE:,} rows covers",
                f"{share:.1%}",
                "93 to 97 %",
                0.93 <= share <= 0.97,
            ]
        )
    gain = float(np.exp(np.mean([np.log(found.gain) for found in cells.values()])))
    rows.append(["squared error of DR over that of IPS", f"{gain:.2f}", "0.7", gain <= 0.7])
    for name in WATCHED:
        share = float(np.mean([found.missed[name] for found in cells.values()]))
        rows.append([f"always-valid {name} misses", f"{share:.1%}", "5 %", share <= 0.05])
    least = min(wrong.values())
    rows.append(["wrong propensities are seen, at least", f"{least:.1%}", "95 %", least >= 0.95])
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 30_000])
    parser.add_argument("--tasks", nargs="+", choices=KEYS, default=list(KEYS))
    given = parser.parse_args()
    print(origin([load(task) for task in given.tasks]))
    biases = [f"{name} bias" for name in UNBIASED]
    header = ["task, logger, rows", *biases, *(f"{name} covers" for name in COVERED), "gain"]
    print("bias in standard errors; gain: squared error of DR over that of IPS")
    print("; ".join([*header, *(f"always-valid {name} misses" for name in WATCHED)]))
    cells = {}
    for task in given.tasks:
        for logger in LOGGERS:
            for rows in given.rows:
                found = cells[task, logger, rows] = simulated(task, logger, rows, given.repeats)
                print("  ".join(row_of([task, logger, f"{rows:,}"], found)), flush=True)
    wrong = {task: flagged(task, max(given.rows), given.repeats) for task in given.tasks}
    print(f"wrong propensities seen: {wrong}")
    found = judged(cells, wrong)
    print(aligned([[*map(str, row[:-1]), verdict(bool(row[-1]))] for row in found]))
    return int(not all(row[-1] for row in found))


if __name__ == "__main__":
    raise SystemExit(main())
