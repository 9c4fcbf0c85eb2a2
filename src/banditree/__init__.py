"""Contextual bandits with decision trees and the bootstrap."""

from banditree.errors import (
    BanditreeError,
    InvalidContextError,
    InvalidParameterError,
    InvalidRewardError,
    NotFittedError,
    StateError,
    UnknownArmError,
)
from banditree.policies import (
    ArmExplanation,
    Bootstrap,
    Explanation,
    Greedy,
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
    "BanditreeError",
    "Bootstrap",
    "CrossValidation",
    "Explanation",
    "Greedy",
    "IncrementalTree",
    "InvalidContextError",
    "InvalidParameterError",
    "InvalidRewardError",
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
    "load",
]

__version__ = "0.1.0"
