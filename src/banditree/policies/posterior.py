"""What is believed of mean rewards, given the rewards of a leaf or of an arm.

Binary rewards: a Beta law, from a prior number of successes and failures. Continuous rewards: a
Student law, so wide that an arm that pays rarely is not given up for its zeros. docs/policies.md
has the formulas; posterior.hpp in the core is the same for decisions.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from banditree import _core
from banditree._checking import as_floats, shorten
from banditree.errors import InvalidParameterError
from banditree.policies.rewards import RewardKind, check_kind
from banditree.types import FloatArray

# A leaf mean so near the lowest reward, relative to the range, is the lowest reward.
_ROUNDING = 1e-12
# The scale, in standard deviations of the noise, and the freedom of a leaf that never paid; and how
# much wider a leaf of few payoffs is. Measured: docs/policies.md.
_FIRST_PAYOFF, _FIRST_PAYOFF_FREEDOM = 60.0, 0.5
_WIDENING = 2.0


@dataclass(frozen=True)
class Overall:
    """Mean, variance and range of all rewards of a policy; zeros without any."""

    mean: float = 0.0
    variance: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0


@dataclass(frozen=True)
class Evidence:
    """Number, sum and squared error of rewards, one entry per arm; what is known of all."""

    n: FloatArray
    total: FloatArray
    squared_error: FloatArray
    overall: Overall


def check_prior(prior: Any, kind: Any) -> tuple[float, float]:
    """Return a prior number of successes and of failures, which only binary rewards have."""
    values = as_floats(prior)
    if values is None or values.shape != (2,) or not ((values >= 1e-6) & (values <= 1e9)).all():
        raise InvalidParameterError(
            "prior must be two numbers from 1e-6 to 1e9, of successes and of failures, got "
            f"{shorten(prior)}; (1, 1) is the uniform law"
        )
    if check_kind(kind) == "continuous" and (values != 1).any():
        raise InvalidParameterError(
            "prior counts successes and failures, which continuous rewards do not have, got "
            f'{shorten(prior)} with reward="continuous"; leave prior out'
        )
    return float(values[0]), float(values[1])


def beta_law(evidence: Evidence, prior: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Return the two shapes of each arm's law."""
    return evidence.total + prior[0], evidence.n - evidence.total + prior[1]


def student_law(evidence: Evidence) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return location, scale and degrees of freedom of each arm's law."""
    n, errors, overall = evidence.n, evidence.squared_error, evidence.overall
    mean = evidence.total / np.maximum(n, 1)
    location = (overall.mean + evidence.total) / (1 + n)
    payoffs = effective_payoffs(evidence)
    widening = 1 + _WIDENING * np.where(n > 0, 1 / np.maximum(payoffs, 1) - 1 / np.maximum(n, 1), 0)
    rate = overall.variance + errors / 2 + n * (mean - overall.mean) ** 2 / (2 * (1 + n))
    scale = np.sqrt(widening * rate / ((1 + n / 2) * (1 + n)))
    freedom = 2 + payoffs
    noise = errors.sum() / max(n.sum(), 1)
    if noise > 0:
        never_paid = (n >= 2) & (errors == 0) & (_heights(evidence) <= _ROUNDING)
        scale = np.where(never_paid, _FIRST_PAYOFF * np.sqrt(noise) / (n + 1), scale)
        freedom = np.where(never_paid, _FIRST_PAYOFF_FREEDOM, freedom)
    return location, scale, freedom


def effective_payoffs(evidence: Evidence) -> FloatArray:
    """Return how many equal payoffs, among rewards of the lowest height, would vary as much."""
    n, overall = evidence.n, evidence.overall
    span = (overall.highest - overall.lowest) or 1.0
    squares = n * _heights(evidence) ** 2
    deviation = np.sqrt(evidence.squared_error / np.maximum(n, 1))
    errors = n * (np.minimum(deviation, span) / span) ** 2
    varies = (evidence.squared_error > 0) & (squares + errors > 0)
    return np.where(varies, np.minimum(n * squares / np.where(varies, squares + errors, 1), n), n)


def _heights(evidence: Evidence) -> FloatArray:
    """Return the mean reward of each arm, on the range of all rewards from 0 to 1.

    The mean of large rewards that differ by little leaves the range by rounding; it is put back.
    """
    overall = evidence.overall
    span = (overall.highest - overall.lowest) or 1.0
    mean = evidence.total / np.maximum(evidence.n, 1)
    inside = np.clip(mean, overall.lowest, overall.highest)
    return np.where(evidence.n > 0, (inside - overall.lowest) / span, 0.0)


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
