"""Contextual bandits with decision trees and the bootstrap."""

from banditree.contexts import date_parts
from banditree.errors import (
    BanditreeError,
    DataError,
    InvalidContextError,
    InvalidParameterError,
    InvalidRewardError,
    NotFittedError,
    StateError,
    UnknownArmError,
)
from banditree.policies import (
    ArmExplanation,
    BanditForest,
    Bootstrap,
    CustomPolicy,
    Explanation,
    Greedy,
    LinUCB,
    LogisticUCB,
    OnlineTreeBootstrap,
    Policy,
    ThompsonSampling,
    TreeBootstrap,
    TreeHeuristic,
    Uniform,
    load,
)
from banditree.trees import CrossValidation, IncrementalTree, PruningPath, Tree

__all__ = [
    "ArmExplanation",
    "BanditForest",
    "BanditreeError",
    "Bootstrap",
    "CrossValidation",
    "CustomPolicy",
    "DataError",
    "Explanation",
    "Greedy",
    "IncrementalTree",
    "InvalidContextError",
    "InvalidParameterError",
    "InvalidRewardError",
    "LinUCB",
    "LogisticUCB",
    "NotFittedError",
    "OnlineTreeBootstrap",
    "Policy",
    "PruningPath",
    "StateError",
    "ThompsonSampling",
    "Tree",
    "TreeBootstrap",
    "TreeHeuristic",
    "Uniform",
    "UnknownArmError",
    "__version__",
    "date_parts",
    "load",
]

__version__ = "0.1.0"
