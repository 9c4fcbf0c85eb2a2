"""A run: one policy in one environment with one seed."""

import hashlib
import time
import traceback
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from banditree.environments import Classification, Environment, OfflineTree, play
from banditree.environments.episode import Episode
from banditree.errors import BanditreeError, StateError
from banditree.studies.building import build, episode_of
from banditree.studies.code import code_of_run
from banditree.studies.memory import PeakMemory
from banditree.studies.specs import BASELINE, EnvironmentSpec, Variant, as_json
from banditree.types import FloatArray

__all__ = ["Failure", "Job", "Outcome", "Run", "perform"]

# So many points of a regret curve are kept: enough for any figure.
CURVE_POINTS = 500


@dataclass(frozen=True)
class Run:
    """What defines a run. Runs of equal key have equal results."""

    variant: Variant
    environment: EnvironmentSpec
    seed: int
    horizon: int
    key: str
    code: str  # that of the process that has planned it

    def __str__(self) -> str:
        return f"{self.variant} on {self.environment.name}, seed {self.seed}"

    def carry_out(self) -> "Outcome":
        """Let the policy play."""
        return _perform(self)


class Job(Protocol):
    """What any process can do: a run, or whatever else knows how to carry itself out."""

    @property
    def key(self) -> str:
        """What tells it from any other."""
        ...

    def carry_out(self) -> Any:
        """Return what comes of it, which has the job as `run`."""
        ...


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a run."""

    run: Run
    steps: NDArray[np.intp]  # after how many steps the curve was read
    curve: FloatArray  # the cumulative regret then
    choices: str  # a hash of all arms chosen
    seconds: float
    memory: int  # bytes by which the process had grown at most


@dataclass(frozen=True)
class Failure:
    """A job that raised."""

    run: Any
    error: str
    details: str


def key_of(variant: Variant, fingerprint: str, seed: int, horizon: int, code: str) -> str:
    """Return what tells a run from all others: a hash of all that defines it."""
    defining = [variant.policy, variant.parameters, fingerprint, seed, horizon, code]
    return hashlib.sha256(as_json(defining).encode()).hexdigest()[:32]


def perform(run: Job) -> Any:
    """Carry out a run. What it raises is returned, so that other runs go on."""
    from threadpoolctl import threadpool_limits

    try:
        # With one thread, sums are added up in one order, however many processors there are.
        with threadpool_limits(limits=1):
            return run.carry_out()
    except BanditreeError as error:
        return Failure(run, str(error), traceback.format_exc())
    except Exception as error:
        return Failure(run, f"{type(error).__name__}: {error}", traceback.format_exc())


def _perform(run: Run) -> Outcome:
    if code_of_run(run.variant.policy, run.environment.task) != run.code:
        raise StateError(
            "the code of this process is not that of the one that began the study: it has changed "
            "since, or another machine has another; start the study again, with one code everywhere"
        )
    environment = build(run.environment)
    episode = episode_of(run.environment, environment, run.horizon, run.seed)
    with PeakMemory() as memory:
        begun = time.perf_counter()
        chosen = _choose(run, environment, episode)
        seconds = time.perf_counter() - begun
    cumulative = np.cumsum(episode.regret_of(chosen))
    steps = checkpoints(run.horizon)
    choices = hashlib.sha256(chosen.astype(np.int64).tobytes()).hexdigest()[:32]
    return Outcome(run, steps, cumulative[steps - 1], choices, seconds, memory.bytes)


def _choose(run: Run, environment: Environment, episode: Episode) -> NDArray[np.intp]:
    if run.variant.policy == BASELINE:
        assert isinstance(environment, Classification)  # by why_not
        return OfflineTree(environment, **run.variant.parameters).choose(episode, run.seed)
    policy = run.variant.make(episode.arms, categorical=list(episode.categorical), seed=run.seed)
    return play(policy, episode)


def checkpoints(horizon: int) -> NDArray[np.intp]:
    """Return after how many steps the regret is read; the last is the horizon.

    Examples
    --------
    >>> checkpoints(1200)[:3].tolist(), len(checkpoints(1200))
    ([3, 6, 9], 400)
    """
    stride = -(-horizon // CURVE_POINTS)
    steps = np.arange(stride, horizon + 1, stride, dtype=np.intp)
    return steps if steps[-1] == horizon else np.append(steps, horizon)
