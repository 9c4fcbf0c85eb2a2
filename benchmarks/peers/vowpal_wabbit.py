"""Vowpal Wabbit on the fastest way from Python: examples parsed once, then labelled."""

import random
from typing import Any

import numpy as np

from peers.player import Player, Row, World

ZERO_ONE, MINUS_ONE_ZERO = 1.0, 0.0  # the cost of no reward
RARE_BIT = 0.25  # of a bit that is 1 less often, such as one of a one-hot column, 0 is not told


class VowpalWabbit(Player):
    """One line for all arms (`--cb_explore`), or a shared line and one for each (`_adf`)."""

    def __init__(
        self,
        world: World,
        seed: int,
        *,
        options: str,
        cost_of_none: float = ZERO_ONE,
        extra: str = "",
    ) -> None:
        from vowpalwabbit import Workspace

        self.cost_of_none = cost_of_none
        numbers = [i for i in range(world.n_features) if i not in world.categories]
        self.means = dict(zip(numbers, world.means.tolist(), strict=False))
        self.deviations = dict(zip(numbers, world.deviations.tolist(), strict=False))
        self.named = world.bits | world.categories.keys()
        self.ones_only = {i for i in world.bits if self.means[i] < RARE_BIT}
        self.line_per_arm = "_adf" in options
        if not self.line_per_arm:
            options = options.replace("--cb_explore", f"--cb_explore {world.n_arms}")
        self.workspace = Workspace(f"{options} {extra} --random_seed {seed} --quiet")
        self.arm_lines = [f"|arm {i}" for i in range(world.n_arms)]
        self.random = random.Random(seed)
        self.example: Any = None
        self.chances: list[float] = []

    def decide(self, context: Row) -> int:
        told = self.features(context)
        text: Any = f"|row {told}"
        if self.line_per_arm:
            text = [f"shared |row {told}", *self.arm_lines]
        self.example = self.workspace.parse(text)
        self.chances = self.workspace.predict(self.example)
        return self.draw()

    def learn(self, context: Row, arm: int, reward: float) -> None:
        """Learn of the decision just made."""
        cost, chance = self.cost_of_none - reward, self.chances[arm] / sum(self.chances)
        if self.line_per_arm:
            self.example[arm + 1].set_label_string(f"0:{cost}:{chance}")
        else:
            self.example.set_label_string(f"{arm + 1}:{cost}:{chance}")
            self.example.set_test_only(False)  # as it was parsed without a label
        self.workspace.learn(self.example)
        self.workspace.finish_example(self.example)

    def draw(self) -> int:
        left = self.random.random() * sum(self.chances)
        for arm, chance in enumerate(self.chances):
            left -= chance
            if left < 0:
                return arm
        return int(np.argmax(self.chances))  # after rounding

    def features(self, context: Row) -> str:
        """Return the text of a row: categories and bits as `name=value`, numbers standardised.

        Names must not be numbers: these are not hashed but taken as positions, which would put
        features of one arm on those of another.
        """
        told = []
        for i, value in enumerate(context.tolist()):
            if i in self.named:
                if value == value and (value or i not in self.ones_only):
                    told.append(f"f{i}={value:g}")
            elif value == value:
                told.append(f"f{i}:{(value - self.means[i]) / self.deviations[i]:.6g}")
        return " ".join(told)
