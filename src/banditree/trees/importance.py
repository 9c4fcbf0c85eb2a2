"""How much of the cost each feature's splits take away."""

from collections.abc import Sequence

import numpy as np

from banditree import _core
from banditree.types import FeatureName, FloatArray

# Columns of the table of nodes.
_COST, _FEATURE, _RIGHT = 3, 6, 7


def explained_costs(tree: _core.Tree) -> FloatArray:
    """Return, per feature, by how much its splits lower the cost: parents minus children."""
    table = tree.nodes()
    splits = np.flatnonzero(table[:, _FEATURE] >= 0)
    cost, right = table[:, _COST], table[splits, _RIGHT].astype(np.intp)
    gains = np.maximum(cost[splits] - cost[splits + 1] - cost[right], 0.0)
    features = table[splits, _FEATURE].astype(np.intp)
    costs: FloatArray = np.zeros(tree.n_features)
    np.add.at(costs, features, gains)
    return costs


def as_shares(names: Sequence[FeatureName], costs: FloatArray) -> dict[FeatureName, float]:
    """Return each feature's share; all 0 if there is nothing to share."""
    total = float(costs.sum())
    shares = costs / total if total > 0 else np.zeros(len(names))
    return dict(zip(names, shares.tolist(), strict=True))
