"""Whether estimates and intervals of `banditree.evaluation` are right, where the truth is known.

    python benchmarks/evaluation_truth.py [--repeats 200] [--rows 1000 10000 30000] [--tasks ...]

Logs are drawn from the five tasks by three loggers: one that draws uniformly, a TreeHeuristic that
has learned a little, and the same with a floor. Another TreeHeuristic, which has learned more, is
evaluated; of the tree without a floor, among the arms that it draws at all often. What it truly
earns is known. The exit code is 1 if a limit is exceeded.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray
from tasks import load, new_policy

from banditree.environments.sports_ads import click_probabilities
from banditree.evaluation import Evaluation, Log, evaluate

FloatArray = NDArray[np.float64]
POOL = 4_000  # contexts, from which all logs of a task are drawn
TAUGHT, TAUGHT_LITTLE = 3_000, 300
FLOOR = 0.2
LOGGERS = ("uniform", "tree", "floor")
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

    def evaluated(self) -> Evaluation:
        return evaluate(self.target, self.log)


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


def _taught(task: str, seed: int, rows: int):
    episode = load(task).episode(seed, rows)
    policy = new_policy("TreeHeuristic", episode, seed=seed)
    chosen = np.random.default_rng(seed).integers(len(episode.arms), size=rows)
    arms = [episode.arms[i] for i in chosen.tolist()]
    policy.learn_many(episode.contexts, arms, episode.rewards[np.arange(rows), chosen])
    return policy


# What is found, over all repeats


@dataclass
class Found:
    """Estimates of one world and number of rows: of each estimator, a row per repeat."""

    truth: float
    values: dict[str, list[float]]
    covered: dict[str, list[bool]]
    trusted: list[bool]

    def errors(self, name: str) -> FloatArray:
        return np.array(self.values[name]) - self.truth


def simulated(task: str, logger: str, rows: int, repeats: int) -> Found:
    world = worlds(task)[logger]
    found = Found(world.truth, {}, {}, [])
    for repeat in range(repeats):
        result = world.draw(rows, seed=1_000 + repeat).evaluated()
        for name, estimate in result.estimates.items():
            found.values.setdefault(name, []).append(estimate.value)
            inside = estimate.low <= world.truth <= estimate.high
            found.covered.setdefault(name, []).append(inside)
        found.trusted.append(result.estimates["dr"].verdict == "trust")
    return found


def bias_in_errors(found: Found, name: str) -> float:
    """Return the mean error in its own standard errors."""
    errors = found.errors(name)
    return float(errors.mean() / (errors.std(ddof=1) / np.sqrt(len(errors))))


def gain(found: Found) -> float:
    """Return the squared error of DR over that of IPS."""
    return float((found.errors("dr") ** 2).mean() / (found.errors("ips") ** 2).mean())
