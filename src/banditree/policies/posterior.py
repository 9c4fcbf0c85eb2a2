"""What is believed of mean rewards, given the rewards of a leaf or of an arm.

Binary rewards: a Beta law, from a prior number of successes and failures. Continuous rewards: a
Student law, the marginal of a normal-inverse-gamma law whose prior is worth one observation at the
mean and the variance of all rewards so far, so that it needs no scale to be set.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from banditree import _core
from banditree.contexts.values import shorten
from banditree.errors import InvalidParameterError
from banditree.policies.rewards import RewardKind
from banditree.trees.inputs import as_floats
from banditree.types import FloatArray


@dataclass(frozen=True)
class Evidence:
    """Number, sum and squared error of rewards, one entry per arm; mean and variance of all."""

    n: FloatArray
    total: FloatArray
    squared_error: FloatArray
    overall: tuple[float, float]


def check_prior(prior: Any) -> tuple[float, float]:
    """Return a prior number of successes and of failures."""
    values = as_floats(prior)
    if values is None or values.shape != (2,) or not ((values >= 1e-6) & (values <= 1e9)).all():
        raise InvalidParameterError(
            "prior must be two numbers from 1e-6 to 1e9, of successes and of failures, got "
            f"{shorten(prior)}; (1, 1) is the uniform law"
        )
    return float(values[0]), float(values[1])


def beta_law(evidence: Evidence, prior: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Return the two shapes of each arm's law."""
    return evidence.total + prior[0], evidence.n - evidence.total + prior[1]


def student_law(evidence: Evidence) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return location, scale and degrees of freedom of each arm's law."""
    n, (centre, variance) = evidence.n, evidence.overall
    mean = evidence.total / np.maximum(n, 1)
    location = (centre + evidence.total) / (1 + n)
    rate = variance + evidence.squared_error / 2 + n * (mean - centre) ** 2 / (2 * (1 + n))
    shape = 1 + n / 2
    return location, np.sqrt(rate / (shape * (1 + n))), 2 * shape


def expected(kind: RewardKind, evidence: Evidence, prior: tuple[float, float]) -> FloatArray:
    """Return the mean of each arm's law."""
    if kind == "binary":
        successes, failures = beta_law(evidence, prior)
        return successes / (successes + failures)
    return student_law(evidence)[0]


def win_probabilities(
    kind: RewardKind, evidence: Evidence, prior: tuple[float, float]
) -> FloatArray:
    """Return the probability that the arm's draw is the largest, for each arm."""
    if kind == "binary":
        return _core.beta_win_probabilities(*beta_law(evidence, prior))
    return _core.student_win_probabilities(*student_law(evidence))
