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
from banditree.trees import CrossValidation, IncrementalTree, PruningPath, Tree

__all__ = [
    "BanditreeError",
    "CrossValidation",
    "IncrementalTree",
    "InvalidContextError",
    "InvalidParameterError",
    "InvalidRewardError",
    "NotFittedError",
    "PruningPath",
    "StateError",
    "Tree",
    "UnknownArmError",
    "__version__",
]

__version__ = "0.1.0"
