"""What is common to the policies of linear models and upper confidence bounds."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Unpack

import numpy as np

from banditree._checking import check_share
from banditree.policies.arms import Indices
from banditree.policies.base import Policy
from banditree.policies.choosing import share_of_largest
from banditree.policies.explanation import ArmExplanation
from banditree.policies.linear.design import Design
from banditree.policies.linear.last_rows import LastRows
from banditree.policies.linear.penalty import Regularization, check_regularization, check_scale
from banditree.policies.parameters import PolicyParameters, check_window, with_parameters_of
from banditree.policies.rewards import RewardKind
from banditree.types import A, FloatArray


class LinearParameters(PolicyParameters, total=False):
    """What constructors of linear policies hand on to that of `ConfidencePolicy`."""

    alpha: float
    regularization: Regularization
    refresh: float
    window: int | None


class ConfidencePolicy(Policy[A]):
    """Takes the arm of the largest estimate plus width, ties at random; untried arms come first.

    Each arm has a linear model, on the rows of a design that all arms share.
    """

    _link: ClassVar[str]  # what the model is, in a word
    _design: Design
    _last: LastRows | None

    @with_parameters_of(Policy)
    def __init__(
        self,
        arms: Sequence[A],
        *,
        alpha: float = 1.0,
        regularization: Regularization = "cv",
        refresh: float = 0.25,
        window: int | None = None,
        reward: RewardKind = "binary",
        **of_all: Unpack[PolicyParameters],
    ) -> None:
        self.alpha = check_scale(alpha)
        self.regularization = check_regularization(regularization)
        self.refresh = check_share("refresh", refresh)
        self.window = check_window(window)
        super().__init__(arms, reward=reward, **of_all)

    @abstractmethod
    def _estimates(self, row: FloatArray, eligible: Indices) -> tuple[FloatArray, FloatArray]:
        """Return the mean reward expected of each eligible arm, and the width above and below."""

    @abstractmethod
    def _n_learned(self, arm: int) -> int:
        """Return how many observations an arm's model is of."""

    @abstractmethod
    def _learn_window(self, last: LastRows) -> None:
        """Become the policy that has learned what is in the window, and nothing else."""

    def _features_changed(self) -> None:
        self._design.set_features(self._encoder.is_categorical)

    def _keep_last(self, counts: Indices) -> None:
        if self._last is not None:
            self._last.keep_last(counts.tolist())
            self._learn_window(self._last)

    def _bounds(self, row: FloatArray, eligible: Indices) -> FloatArray:
        estimates, widths = self._estimates(row, eligible)
        return estimates + widths

    def _choose(self, row: FloatArray, eligible: Indices) -> int:
        return self._draw_largest(self._bounds(row, eligible), eligible)

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return share_of_largest(self._bounds(row, eligible))

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return self._possible(self._estimates(row, eligible)[0])

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        n, n_features = self._n_learned(arm), self._encoder.n_features
        rule = f"{self._link} in {n_features} feature{'' if n_features == 1 else 's'}"
        (estimate,), (width,) = self._estimates(row, np.array([arm]))
        reach = np.array([estimate - width, estimate, estimate + width])
        low, mean, high = self._possible(reach).tolist()
        return ArmExplanation(rule, n, mean if n else float("nan"), (low, high))

    def _possible(self, means: FloatArray) -> FloatArray:
        """Return means that rewards can have: probabilities are from 0 to 1."""
        return means.clip(0.0, 1.0) if self.reward == "binary" else means


def squared_norms(inverses: FloatArray, x: FloatArray, chosen: Indices) -> FloatArray:
    """Return x'Vx for those of the matrices V that are chosen."""
    width = len(x)
    places = np.flatnonzero(x)
    if 2 * len(places) < width:
        # Most columns are bits that are not set. The entries that count are few enough to pick.
        entries = (places[:, None] * width + places).ravel()
        picked = inverses.reshape(-1, width * width).take(entries, axis=1)
        values = x[places]
        sparse: FloatArray = np.maximum(picked @ np.multiply.outer(values, values).ravel(), 0.0)
        return sparse[chosen]
    if len(chosen) < len(inverses):
        inverses = inverses[chosen]
    # One product with all matrices on top of each other is twice as fast as one with each.
    images = (inverses.reshape(-1, width) @ x).reshape(-1, width)
    # Rounding must not make a norm negative.
    norms: FloatArray = np.maximum(images @ x, 0.0)
    return norms
