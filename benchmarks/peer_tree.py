"""Trees of scikit-learn, and the alphas of their pruning paths."""

from typing import Any

import numpy as np
from data import FloatArray


def peer_tree(**settings: Any) -> Any:
    """Return a tree of scikit-learn, which the processes that learn row by row need not load."""
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(random_state=0, **settings)


def peer_classifier() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0)


def mid_points(alphas: FloatArray) -> FloatArray:
    """Return one alpha for each subtree of a path, without those that differ by rounding alone."""
    alphas = np.maximum(alphas, 0)
    alphas = alphas[np.diff(alphas, prepend=-1) > 1e-9 * alphas]
    return np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
