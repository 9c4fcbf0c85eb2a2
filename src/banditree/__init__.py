"""Contextual bandits with decision trees and the bootstrap."""

from banditree.contexts import FeatureInfo, date_parts
from banditree.errors import (
    BanditreeError,
    BanditreeWarning,
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
    Snapshot,
    ThompsonSampling,
    TreeBootstrap,
    TreeHeuristic,
    Uniform,
    load,
)
from banditree.trees import CrossValidation, IncrementalTree, PruningPath, Tree
from banditree.types import Change, Decision

__all__ = [
    "ArmExplanation",
    "BanditForest",
    "BanditreeError",
    "BanditreeWarning",
    "Bootstrap",
    "Change",
    "CrossValidation",
    "CustomPolicy",
    "DataError",
    "Decision",
    "Explanation",
    "FeatureInfo",
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
    "Snapshot",
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
