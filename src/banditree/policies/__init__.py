"""Policies: each decides which arm to offer in a context, and learns from the reward."""

from banditree.policies.bandit import Bandit
from banditree.policies.bandit_forest import BanditForest
from banditree.policies.base import Policy
from banditree.policies.bootstrap import Bootstrap
from banditree.policies.custom import CustomPolicy
from banditree.policies.explanation import ArmExplanation, Explanation
from banditree.policies.greedy import Greedy
from banditree.policies.lin_ucb import LinUCB
from banditree.policies.logistic_ucb import LogisticUCB
from banditree.policies.online_tree_bootstrap import OnlineTreeBootstrap
from banditree.policies.saving.loading import load
from banditree.policies.snapshot import Snapshot
from banditree.policies.thompson_sampling import ThompsonSampling
from banditree.policies.tree_bootstrap import TreeBootstrap
from banditree.policies.tree_heuristic import TreeHeuristic
from banditree.policies.uniform import Uniform

__all__ = [
    "ArmExplanation",
    "Bandit",
    "BanditForest",
    "Bootstrap",
    "CustomPolicy",
    "Explanation",
    "Greedy",
    "LinUCB",
    "LogisticUCB",
    "OnlineTreeBootstrap",
    "Policy",
    "Snapshot",
    "ThompsonSampling",
    "TreeBootstrap",
    "TreeHeuristic",
    "Uniform",
    "load",
]
