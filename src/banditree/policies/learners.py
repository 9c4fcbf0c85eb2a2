"""Learners of scikit-learn's kind: copies with a seed, and a description that a file can hold."""

import importlib
from copy import deepcopy
from typing import Any

import numpy as np

from banditree import _core
from banditree._checking import shorten
from banditree.errors import InvalidParameterError, StateError
from banditree.types import FloatArray

# Only classes of this package are imported because a file says so.
_TRUSTED = "sklearn"

# Many learners work in float32 and refuse what overflows there. How far beyond all that was seen a
# value lies does not matter there.
_FARTHEST = 1e30


def check_learner(learner: Any) -> Any:
    """Return the learner if it can be fitted and can predict."""
    asks = hasattr(learner, "predict_proba") or hasattr(learner, "predict")
    if isinstance(learner, type) or not hasattr(learner, "fit") or not asks:
        raise InvalidParameterError(
            "learner must be a scikit-learn estimator with fit and predict_proba or predict, got "
            f"{shorten(learner)}; for instance learner=LogisticRegression()"
        )
    return learner


def fit_and_predict(
    learner: Any, rows: FloatArray, rewards: FloatArray, row: FloatArray, random: _core.Generator
) -> float:
    """Fit a copy of the learner, and return the mean reward that it predicts for one row."""
    # Most learners refuse to learn from no column, many classifiers from one class.
    if rows.shape[1] == 0 or (rewards == rewards[0]).all():
        return float(rewards.mean())
    rows, row = (np.clip(given, -_FARTHEST, _FARTHEST) for given in (rows, row))
    fresh = deepcopy(learner)
    _seed(fresh, random)
    if not hasattr(fresh, "predict_proba"):
        return float(np.asarray(fresh.fit(rows, rewards).predict(row[None]))[0])
    fresh.fit(rows, rewards > 0)
    shares = np.asarray(fresh.predict_proba(row[None]))[0]
    return float(shares[list(fresh.classes_).index(True)])


def is_classifier(learner: Any) -> bool:
    """Return whether a learner predicts the probability of a success."""
    return hasattr(learner, "predict_proba")


def _seed(learner: Any, random: _core.Generator) -> None:
    """Give every part of a learner that would draw by itself a seed from the policy's stream."""
    if not hasattr(learner, "get_params"):
        return
    parameters = learner.get_params()
    names = [name for name in sorted(parameters) if name.endswith("random_state")]
    unseeded = [name for name in names if parameters[name] is None]
    if unseeded:
        seeds = random.integers(2**31, len(unseeded)).tolist()
        learner.set_params(**dict(zip(unseeded, seeds, strict=True)))


def describe(value: Any) -> Any:
    """Return a value of a parameter, estimators included, as JSON can hold it.

    Raises
    ------
    TypeError
        If it cannot.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return {type(value).__name__: [describe(item) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: describe(item) for key, item in value.items()}}
    module = type(value).__module__
    if module.partition(".")[0] == _TRUSTED and hasattr(value, "get_params"):
        parameters = value.get_params(deep=False)
        described = {name: describe(item) for name, item in parameters.items()}
        return {"estimator": [module, type(value).__qualname__, described]}
    raise TypeError(f"{shorten(value)} cannot be saved")


def build(described: Any) -> Any:
    """Return the value that `describe` was given."""
    if not isinstance(described, dict):
        return described
    ((form, content),) = described.items()
    if form in ("list", "tuple"):
        items = [build(item) for item in content]
        return items if form == "list" else tuple(items)
    if form == "dict":
        return {key: build(item) for key, item in content.items()}
    module, name, parameters = content
    if form != "estimator" or module.partition(".")[0] != _TRUSTED:
        raise StateError(f"the file asks for {module}.{name}, which is not trusted")
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise StateError(
            f"the learner of the policy is {module}.{name}, which cannot be imported ({error}): "
            "pip install scikit-learn, or pass learner=... to load"
        ) from None
    estimator = importlib.import_module("sklearn.base").BaseEstimator
    if not (isinstance(found, type) and issubclass(found, estimator)):
        raise StateError(f"the file asks for {module}.{name}, which is no estimator")
    return found(**{key: build(item) for key, item in parameters.items()})
