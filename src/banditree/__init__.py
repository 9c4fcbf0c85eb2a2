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
    Explanation,
    Policy,
    ThompsonSampling,
    Uniform,
    load,
)
from banditree.trees import CrossValidation, IncrementalTree, PruningPath, Tree

__all__ = [
    "ArmExplanation",
    "BanditreeError",
    "CrossValidation",
    "Explanation",
    "IncrementalTree",
    "InvalidContextError",
    "InvalidParameterError",
    "InvalidRewardError",
    "NotFittedError",
    "Policy",
    "PruningPath",
    "StateError",
    "ThompsonSampling",
    "Tree",
    "Uniform",
    "UnknownArmError",
    "__version__",
    "load",
]

__version__ = "0.1.0"
