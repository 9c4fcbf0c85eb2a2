"""Algorithm 2 of the paper, written to be obviously right, on the naive tree.

Only the random numbers are the product's, in the order in which it draws them: for each eligible
arm the weights of its resample, and one number for each tie.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from banditree._core import Generator, folds_of
from policies.tree_streams import grown_alpha, last_point
from reference import naive


@dataclass
class NaiveBootstrap:
    n_arms: int
    prior: bool = True
    pruning: str | None = "cv"
    weights: str = "multinomial"
    folds: int = 10
    tree: dict[str, Any] = field(default_factory=dict)  # settings of the naive tree

    def __post_init__(self) -> None:
        self.rows: list[list[Any]] = [[] for _ in range(self.n_arms)]
        self.rewards: list[list[float]] = [[] for _ in range(self.n_arms)]

    def learn(self, row: Any, arm: int, reward: float) -> None:
        if self.prior and not self.rows[arm]:
            self.rows[arm] += [row, row]
            self.rewards[arm] += [1, 0]
        self.rows[arm].append(row)
        self.rewards[arm].append(reward)

    def decide(self, row: Any, eligible: Sequence[int], random: Generator) -> int:
        best, chosen, tied = -math.inf, -1, 0
        for arm in eligible:
            value = self.draw(arm, row, random)
            tied = 1 if value > best else tied + (value == best)
            if value > best or (value == best and random.integers(tied, 1)[0] == 0):
                best, chosen = value, arm
        return chosen

    def draw(self, arm: int, row: Any, random: Generator) -> Any:
        """Return what the tree on one resample predicts."""
        n = len(self.rows[arm])
        multinomial = self.weights == "multinomial"
        weights = random.multinomial_weights(n) if multinomial else random.exponential_weights(n)
        tree = naive.grow(self.rows[arm], self.rewards[arm], weights, **self.tree)
        return naive.predict(naive.prune(tree, self.alpha(arm, weights)), row)

    def alpha(self, arm: int, weights: Any = None) -> float:
        """Return what the arm's trees are pruned at; on every fit, it depends on the resample."""
        if self.pruning is None:
            return 0.0
        n = len(self.rows[arm]) if self.pruning == "cv_every_fit" else last_point_of(self.rows[arm])
        if self.pruning == "cv":
            weights = [1] * n
        chosen = self.validated(self.rows[arm][:n], self.rewards[arm][:n], weights)
        return grown_alpha(chosen, n, len(self.rows[arm]))

    def validated(self, rows: list[Any], rewards: list[float], weights: Any) -> float:
        """Cross-validate; a tree with no second fold to be tested on is a leaf."""
        n_folds = min(self.folds, len(rows))
        if n_folds < 2:
            return math.inf
        kept = [i for i, weight in enumerate(weights) if weight > 0]
        folds = [int(fold) for fold in folds_of(len(rows), n_folds)[kept]]
        if len(set(folds)) < 2:
            return math.inf
        data = ([values[i] for i in kept] for values in (rows, rewards, weights))
        return lasting_alpha(*data, folds, self.tree)


def last_point_of(rows: list[Any]) -> int:
    return last_point(len(rows))


def lasting_alpha(rows: Any, rewards: Any, weights: Any, folds: Any, settings: Any) -> float:
    if len(set(rewards)) == 1:
        return math.inf  # one leaf, which is the whole path
    return naive.cross_validate(rows, rewards, weights, folds, **settings).lasting_alpha
