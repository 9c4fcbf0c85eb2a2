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
    columns = {name: column.tolist() for name, column in core.nodes().items()}
    sides = core.sides()
    names = encoder.features
    nodes: list[dict[str, Any]] = []
    for i in range(len(columns["n"])):
        nodes.append({key: columns[key][i] for key in ("n", "weight", "mean", "cost")})
    for i, feature in enumerate(columns["feature"]):
        if feature < 0:
            continue
        node = nodes[i]
        node["gain"] = columns["gain"][i]
        node["feature"] = names[feature]
        node["missing"] = "left" if columns["missing_left"][i] else "right"
        if columns["sides"][i] >= 0:
            node["categories"] = _categories(sides[columns["sides"][i]], encoder, feature)
        else:
            threshold = columns["threshold"][i]
            node["threshold"] = threshold if threshold < float("inf") else None
        node["left"], node["right"] = nodes[i + 1], nodes[columns["right"][i]]
    return nodes[0]


def _categories(
    sides: tuple[list[int], list[int]], encoder: Encoder, feature: int
) -> dict[str, list[Any]]:
    values = encoder.categories(feature)
    left, right = sides
    return {"left": [values[i] for i in left], "right": [values[i] for i in right]}


def edges_by_name(
    edges: list[list[float]], encoder: Encoder
) -> dict[FeatureName, FloatArray]:
    """Return the bin edges of the number features."""
    names = zip(encoder.features, encoder.is_categorical, edges, strict=True)
    return {name: np.array(list_) for name, categorical, list_ in names if not categorical}
