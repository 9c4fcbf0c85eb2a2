"""Every policy of the package, each made as ``maker(arms=..., ...)``."""

from functools import partial

import pytest
from sklearn.linear_model import LogisticRegression

import banditree as bt

MAKERS = [
    bt.Bandit,
    bt.BanditForest,
    partial(bt.Bootstrap, learner=LogisticRegression()),
    bt.Greedy,
    bt.LinUCB,
    bt.LogisticUCB,
    bt.OnlineTreeBootstrap,
    bt.ThompsonSampling,
    bt.TreeBootstrap,
    bt.TreeHeuristic,
    bt.Uniform,
]


def name_of(maker):
    return getattr(maker, "func", maker).__name__


every_policy = pytest.mark.parametrize("maker", MAKERS, ids=name_of)
