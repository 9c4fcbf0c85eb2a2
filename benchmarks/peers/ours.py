"""Policies of this library, as they come."""

from typing import Any

import banditree as bt
from peers.player import Player, Row, World


class Ours(Player):
    def __init__(self, world: World, seed: int, *, policy: str, **settings: Any) -> None:
        arms, categorical = list(range(world.n_arms)), list(world.categories)
        self.policy = getattr(bt, policy)(arms, categorical=categorical, seed=seed, **settings)

    def decide(self, context: Row) -> int:
        arm: int = self.policy.decide(context)
        return arm

    def learn(self, context: Row, arm: int, reward: float) -> None:
        self.policy.learn(context, arm, reward)
