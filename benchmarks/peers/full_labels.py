"""Bounds: learners of scikit-learn that are told, after each step, what every arm would pay."""

from typing import Any

import numpy as np

from peers.player import GROWTH, STARTS, Informed, OneHot, Row, World


class OnlineLabels(Informed):
    """A logistic model of each arm, by stochastic gradients."""

    def __init__(self, world: World, seed: int, **settings: Any) -> None:
        from sklearn.linear_model import SGDClassifier

        self.encode = OneHot(world, standardised=True)
        self.models = [
            SGDClassifier(loss="log_loss", random_state=seed, **settings)
            for _ in range(world.n_arms)
        ]
        self.fitted = False

    def decide(self, context: Row) -> int:
        if not self.fitted:
            return 0
        row = self.encode(context)[None]
        return int(np.argmax([model.decision_function(row)[0] for model in self.models]))

    def learn_all(self, context: Row, rewards: Row) -> None:
        row = self.encode(context)[None]
        for model, reward in zip(self.models, rewards, strict=True):
            model.partial_fit(row, [int(reward)], classes=[0, 1])
        self.fitted = True


class ForestLabels(Informed):
    """A random forest of what all arms pay, fitted again at each growth."""

    def __init__(self, world: World, seed: int, **settings: Any) -> None:
        from sklearn.ensemble import RandomForestRegressor

        self.encode = OneHot(world)
        self.forest = RandomForestRegressor(random_state=seed, n_jobs=1, **settings)
        self.due = STARTS
        self.rows: list[Row] = []
        self.rewards: list[Row] = []

    def decide(self, context: Row) -> int:
        if len(self.rows) < STARTS:
            return 0
        return int(self.forest.predict(self.encode(context)[None])[0].argmax())

    def learn_all(self, context: Row, rewards: Row) -> None:
        self.rows.append(self.encode(context))
        self.rewards.append(rewards)
        if len(self.rows) >= self.due:
            self.due = int(np.ceil(self.due * (1 + GROWTH)))
            self.forest.fit(np.array(self.rows), np.array(self.rewards))
