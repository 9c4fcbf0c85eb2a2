"""The log of a policy of linear models, and the penalties that it must choose."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditree.policies.linear.penalty import GRID
from policies.linear_streams import NaiveDesign, Row, naive_errors


class Referee:
    """Learns with a policy, whose models are solved from the whole log.

    Those of a policy say how: `solve`, `error`, `slack`, `penalty`.
    """

    def __init__(self, policy: Any) -> None:
        self.policy, self.design = policy, NaiveDesign()
        self.logs: dict[str, list[tuple[Row, float]]] = {arm: [] for arm in "abc"}
        self.due = dict.fromkeys("abc", 10)

    def solve(self, x: np.ndarray, r: np.ndarray, amount: float) -> np.ndarray:
        raise NotImplementedError

    def error(self, x: np.ndarray, r: np.ndarray, theta: np.ndarray) -> float:
        raise NotImplementedError

    def slack(self, x: np.ndarray, r: np.ndarray) -> float:
        """By how much the error of the penalty chosen may exceed the least."""
        raise NotImplementedError

    def penalty(self, arm: str) -> float:
        raise NotImplementedError

    def renewed(self) -> None:
        """Take note that the policy has made its scale anew."""

    def learn(self, context: Row, arm: str, reward: float) -> None:
        if arm not in self.policy.arms:
            self.policy.add_arm(arm)
        due = self.policy._design.due
        self.policy.learn(context, arm, reward)
        # Whenever the scale is renewed, so is the time of the next renewal.
        renewed = self.policy._design.due != due
        self.design.learn(context, renewed)
        self.logs[arm].append((self.design.known(context), reward))
        if renewed:
            self.renewed()
        if self.policy.regularization == "cv":
            self._check_penalty(arm)

    def rows(self, arm: str) -> tuple[np.ndarray, np.ndarray]:
        contexts, rewards = zip(*self.logs[arm], strict=True)
        return self.design.matrix(list(contexts)), np.array(rewards)

    def _check_penalty(self, arm: str) -> None:
        n = len(self.logs[arm])
        if n < 10:
            assert self.penalty(arm) == 1
        elif n >= self.due[arm]:
            self.due[arm] = math.ceil(1.25 * n)
            x, r = self.rows(arm)
            errors = naive_errors(self.solve, self.error, x, r)
            chosen = errors[GRID.tolist().index(self.penalty(arm))]
            assert chosen <= min(errors) + self.slack(x, r)
