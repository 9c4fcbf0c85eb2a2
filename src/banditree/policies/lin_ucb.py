"""LinUCB: a ridge regression per arm, and optimism."""

from collections.abc import Sequence

import numpy as np

from banditree.policies.arms import Indices
from banditree.policies.base import Arrays
from banditree.policies.confidence import ConfidencePolicy, squared_norms
from banditree.policies.design import Design
from banditree.policies.penalty import Regularization, check_regularization, check_scale
from banditree.policies.rewards import RewardKind
from banditree.policies.ridge import Ridge
from banditree.types import A, DeclaredFeatures, FeatureName, FloatArray, Seed


class LinUCB(ConfidencePolicy[A]):
    """LinUCB with one model per arm (Li et al., 2010), its penalty by cross-validation.

    An arm's bound is x'θ + α √(x'A⁻¹x), with A = X'X + Λ, θ = A⁻¹X'r, X the arm's rows and r their
    rewards; the arm of the largest bound is taken. x is 1, then numbers, standardised, and one
    bit per common category, 0 or 1. Λ is λ on the diagonal, but at most 1 for the constant.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).
    alpha
        How much the width counts, in units of the reward. The best value differs between tasks.
    regularization
        λ; "cv" to choose one per arm, each time its observations have grown by a quarter, from 0.25
        to 1024 by their squared error in 5-fold cross-validation; 1 until there are 10.

    Notes
    -----
    - An arm without observations has an infinite bound: it is tried first.
    - Binary rewards: `expected_rewards` and `explain` cut estimates and intervals at 0 and 1;
      decisions compare the bounds as they are. Continuous rewards count from their mean
      over all arms, renewed with the scale, so that an arm of few observations is expected to be
      like the others, not to be worth 0.
    - The interval that `explain` returns is estimate ± width, not one of 95 %.
    - A missing number counts as its mean, before as after a change of the mean; a missing or rare
      category has no bit: one seen only once, or in less than 1 % of the contexts so far. A
      feature that appears late was missing before.
    - Means and scales are those of all contexts learned from, of all arms, at the last renewal:
      each time there were a quarter more, or when a column began to vary or left its range.
    - No rows are kept: memory grows with arms × columns², columns being numbers and bits.

    Examples
    --------
    >>> policy = LinUCB(["golf", "tennis"], seed=1)
    >>> ages = [20, 30, 40, 50] * 10
    >>> policy.learn_many([[age] for age in ages], ["golf", "tennis"] * 20, [0, 1, 1, 0] * 10)
    >>> policy.decide([22]), policy.decide([45])
    ('tennis', 'golf')
    """

    def __init__(
        self,
        arms: Sequence[A],
        *,
        alpha: float = 1.0,
        regularization: Regularization = "cv",
        reward: RewardKind = "binary",
        categorical: Sequence[FeatureName] = (),
        features: DeclaredFeatures | None = None,
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        self.alpha = check_scale(alpha)
        self.regularization = check_regularization(regularization)
        super().__init__(
            arms, reward=reward, categorical=categorical, features=features, floor=floor, seed=seed
        )

    def _start(self) -> None:
        self._design = Design()
        centred = self.reward == "continuous"
        self._ridge = Ridge(len(self._arms), self._design.width, self.regularization, centred)

    def _add_arm(self) -> None:
        self._ridge.add_arm()

    def _features_changed(self) -> None:
        self._design.set_features(self._encoder.is_categorical)

    def _learn(self, arm: int, row: FloatArray, reward: float) -> None:
        design, ridge = self._design, self._ridge
        renewed, copies = design.learn(row)
        ridge.widen(design.width, copies)
        due = ridge.add(arm, design.raw(row), reward)
        if renewed:
            ridge.rebuild(design.from_raw)
        elif not due:
            ridge.update(arm, design.standardise(row), reward)
        if due:
            ridge.choose_penalty(arm, design.from_raw)

    def _estimates(self, row: FloatArray, eligible: Indices) -> tuple[FloatArray, FloatArray]:
        x, ridge = self._design.standardise(row), self._ridge
        widths = self.alpha * np.sqrt(squared_norms(ridge.inverse, x, eligible))
        widths[ridge.n[eligible] == 0] = np.inf
        return ridge.centre + (ridge.theta @ x)[eligible], widths

    def _describe(self, arm: int) -> tuple[str, int]:
        count = self._encoder.n_features
        return f"linear in {count} feature{'' if count == 1 else 's'}", int(self._ridge.n[arm])

    def _state(self) -> Arrays:
        return {**self._design.state(), **self._ridge.state()}

    def _frozen_state(self) -> Arrays:
        return {**self._design.frozen_state(), **self._ridge.frozen_state()}

    def _restore_frozen(self, arrays: Arrays) -> None:
        self._design.restore(arrays)
        self._ridge.restore_frozen(arrays)

    def _restore(self, arrays: Arrays) -> None:
        self._design.restore(arrays)
        self._ridge.restore(arrays)
