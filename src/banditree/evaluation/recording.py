"""A policy in an environment, with the propensities of its decisions."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from banditree.environments import Episode, play
from banditree.policies import Policy, Snapshot
from banditree.types import Context, FloatArray

__all__ = ["recorded"]


class _Recorder:
    """Passes on what `play` asks of a policy, and keeps the propensities."""

    def __init__(self, policy: Policy[Any] | Snapshot[Any]) -> None:
        self.policy = policy
        self.propensities: list[float] = []

    def decide(self, context: Context) -> Any:
        decision = self.policy.decision(context)
        self.propensities.append(decision.propensity)
        return decision.arm

    def learn(self, context: Context, arm: Any, reward: float) -> None:
        if isinstance(self.policy, Policy):
            self.policy.learn(context, arm, reward)


def recorded(
    policy: Policy[Any] | Snapshot[Any], episode: Episode
) -> tuple[NDArray[np.int32], FloatArray]:
    """Return the positions of the arms that a policy chose, and their propensities."""
    recorder = _Recorder(policy)
    chosen = play(cast(Policy[Any], recorder), episode)
    return chosen.astype(np.int32), np.array(recorder.propensities)
