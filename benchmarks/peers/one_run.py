"""One run in a process of its own: `python -m peers.one_run` reads it from its input.

The episode comes from a file, so that the peak of the memory is that of the run, with Python and
the library, and not that of a data set.
"""

import json
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from peers.lineup import ENTRIES
from peers.player import Informed, World

STATUS = Path("/proc/self/status")
MARKS = (1_000, 2_000, 5_000, 10_000)


@dataclass(frozen=True)
class Order:
    """What a process is to run."""

    name: str
    constants: dict[str, Any]
    seed: int
    episode: str  # the file
    limit: float  # seconds of processor time


def perform(order: Order) -> dict[str, Any]:
    """Play an episode, as far as the limit allows; return what was measured."""
    with np.load(order.episode) as kept:
        contexts, rewards, regrets = kept["contexts"], kept["rewards"], kept["regrets"]
        categorical = kept["categorical"].tolist()
    world = World.of(rewards.shape[1], contexts, categorical)
    player = ENTRIES[order.name].make(world, order.seed, order.constants)
    clock, limit = time.process_time_ns, int(order.limit * 1e9)
    times = np.zeros((len(contexts), 2), dtype=np.int64)
    regret = np.zeros(len(contexts))
    informed, used, done = isinstance(player, Informed), 0, 0
    for t, context in enumerate(contexts):
        begun = clock()
        arm = player.decide(context)
        decided = clock()
        if informed:
            player.learn_all(context, rewards[t])
        else:
            player.learn(context, arm, float(rewards[t, arm]))
        times[t] = decided - begun, clock() - decided
        regret[t] = regrets[t, arm]
        used, done = used + int(times[t].sum()), t + 1
        if used > limit:
            break
    return measured(np.cumsum(regret[:done]), times[:done], len(contexts))


def measured(regret: NDArray[Any], times: NDArray[np.int64], steps: int) -> dict[str, Any]:
    done = len(regret)
    marks = [*(mark for mark in MARKS if mark < steps), steps]
    micro = times / 1e3
    return {
        "state": "done" if done == steps else "over",
        "done": done,
        "regret": {str(mark): float(regret[mark - 1]) for mark in marks if mark <= done},
        "decide": figures(micro[:, 0]),
        "learn": figures(micro[:, 1]),
        "seconds": float(times.sum() / 1e9),
        "peak": peak(),
    }


def figures(micro: NDArray[np.float64]) -> list[float]:
    """Return median, 99th percentile and mean, in microseconds."""
    return [float(np.median(micro)), float(np.percentile(micro, 99)), float(micro.mean())]


def peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    if STATUS.exists():  # getrusage would count the process that started this one
        (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def write(order: Order) -> str:
    return json.dumps(asdict(order))


if __name__ == "__main__":
    # The result is the last line: libraries may print what they like before it.
    print(json.dumps(perform(Order(**json.loads(sys.stdin.read())))))
