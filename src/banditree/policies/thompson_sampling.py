"""Thompson sampling without contexts."""

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from banditree.policies.arms import Indices
from banditree.policies.base import Arrays, Policy
from banditree.policies.parameters import PolicyParameters, check_window, with_parameters_of
from banditree.policies.posterior import (
    Evidence,
    beta_law,
    check_prior,
    expected,
    student_law,
    win_probabilities,
)
from banditree.policies.rewards import RewardKind
from banditree.policies.tally import Tally
from banditree.policies.tally_policy import TallyPolicy
from banditree.types import A, FloatArray


class ThompsonSampling(TallyPolicy[A]):
    """Thompson sampling that ignores the context: a baseline that shows what contexts are worth.

    A decision draws each arm's mean reward from what is believed of it, and takes the largest.
    Binary rewards: from Beta(successes + S0, failures + F0). Continuous rewards: from a
    Student law whose prior is worth one observation at the mean and variance of all rewards so far,
    and that is wide where an arm paid rarely or never.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).
    prior
        S0 and F0, what each arm starts with; as for `TreeHeuristic`.
    window
        How many rewards of each arm count: the latest ones, and those since a change of what
        arms pay (see `changes`). None: all count.

    Examples
    --------
    >>> policy = ThompsonSampling(["golf", "tennis"], seed=1)
    >>> policy.learn_many([{}] * 4, ["golf", "golf", "golf", "tennis"], [1, 0, 0, 1])
    >>> policy.expected_rewards({})
    {'golf': 0.4, 'tennis': 0.6666666666666666}
    >>> policy.decide({"age": 31})
    'tennis'
    """

    @with_parameters_of(Policy)
    def __init__(
        self,
        arms: Sequence[A],
        *,
        reward: RewardKind = "binary",
        prior: tuple[float, float] = (1.0, 1.0),
        window: int | None = None,
        **of_all: Unpack[PolicyParameters],
    ) -> None:
        self.prior = check_prior(prior, reward)
        self.window = check_window(window)
        super().__init__(arms, reward=reward, **of_all)

    def _start(self) -> None:
        self._tally = Tally(len(self._arms), self.window)

    def _evidence(self, eligible: Indices) -> Evidence:
        tally = self._tally
        n, total, squared_error = (
            tally.n[eligible],
            tally.total[eligible],
            tally.squared_error[eligible],
        )
        return Evidence(n, total, squared_error, tally.overall())

    def _choose(self, row: FloatArray, eligible: Indices) -> int:
        return self._draw_largest(self._draw(self._evidence(eligible)), eligible)

    def _draw(self, evidence: Evidence) -> FloatArray:
        random = self._random
        if self.reward == "binary":
            laws = zip(*beta_law(evidence, self.prior), strict=True)
            return np.array([random.beta(a, b, 1)[0] for a, b in laws])
        location, scale, freedom = student_law(evidence)
        normals = random.normal(len(location))
        gammas = np.array([random.gamma(half, 1)[0] for half in freedom / 2])
        return location + scale * normals / np.sqrt(gammas / (freedom / 2))

    def _keep_last(self, counts: Indices) -> None:
        self._tally.keep_last(counts.tolist())

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return win_probabilities(self.reward, self._evidence(eligible), self.prior)

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return expected(self.reward, self._evidence(eligible), self.prior)

    def _frozen_state(self) -> Arrays:
        return self._tally.frozen_state()
