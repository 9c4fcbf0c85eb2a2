"""Predicting with a native tree, and turning its nodes into dictionaries."""

from typing import Any, Protocol

import numpy as np

from banditree import _core
from banditree.contexts import Encoder
from banditree.types import FeatureName, FloatArray


class Predictor(Protocol):
    """A native tree of either kind."""

    def predict_one(self, context: Any) -> float:
        """Return the prediction for one row."""
        ...

    def predict(self, contexts: Any) -> FloatArray:
        """Return the prediction for each row."""
        ...


def predict(core: Predictor, encoder: Encoder, contexts: Any) -> Any:
    """Return a float for one context, an array for many."""
    one = contexts.ndim == 1 if type(contexts) is np.ndarray else encoder.is_one(contexts)
    if not one:
        return core.predict(encoder.encode_many(contexts))
    row = encoder.encode_one(contexts)
    try:
        return core.predict_one(row)
    except ValueError:
        encoder.check_finite(row)
        raise


def nodes_to_dict(core: _core.Tree, encoder: Encoder) -> dict[str, Any]:
    """Return the nodes as nested dictionaries, children under "left" and "right"."""
    table, sides, names = core.nodes().tolist(), core.sides(), encoder.features
    nodes: list[dict[str, Any]] = [
        {"n": int(n), "weight": weight, "mean": mean, "cost": cost}
        for n, weight, mean, cost, *_ in table
    ]
    for i, (*_, gain, threshold, feature, right, side, missing_left, _) in enumerate(table):
        if feature < 0:
            continue
        node = nodes[i]
        node["gain"] = gain
        node["feature"] = names[int(feature)]
        node["missing"] = "left" if missing_left else "right"
        if side >= 0:
            node["categories"] = _categories(sides[int(side)], encoder, int(feature))
        else:
            node["threshold"] = threshold if threshold < float("inf") else None
        node["left"], node["right"] = nodes[i + 1], nodes[int(right)]
    return nodes[0]


def _categories(
    sides: tuple[list[int], list[int]], encoder: Encoder, feature: int
) -> dict[str, list[Any]]:
    values = encoder.categories(feature)
    # The key "missing" says where missing values, which have the id -1, go.
    left, right = ([values[i] for i in ids if i >= 0] for ids in sides)
    return {"left": left, "right": right}


def edges_by_name(edges: list[list[float]], encoder: Encoder) -> dict[FeatureName, FloatArray]:
    """Return the bin edges of the number features."""
    names = zip(encoder.features, encoder.is_categorical, edges, strict=True)
    return {name: np.array(list_) for name, categorical, list_ in names if not categorical}
