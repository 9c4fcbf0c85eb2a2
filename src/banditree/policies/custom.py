"""A base class for policies of one's own."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from banditree._checking import shorten
from banditree.errors import InvalidParameterError
from banditree.policies.arms import Indices
from banditree.policies.base import Arrays, Policy
from banditree.policies.beliefs import RecodeRows
from banditree.policies.explanation import ArmExplanation
from banditree.policies.tally import Tally
from banditree.types import A, FeatureName, FloatArray

# Chances that are computed add up to 1 as far as rounding goes.
ROUNDING = 1e-9


class CustomPolicy(Policy[A]):
    """A policy of your own: say what is believed, and with which chance each arm is drawn.

    Four methods are yours: `start`, `observe`, `estimate` and `chances`. All else comes from here:
    draws from the seed, propensities, arms that come and go, saving and loading, threads. Arms
    reach you by their names. A context reaches you as a dict of the values that are not missing,
    by the names of the features, or by their positions where contexts have no names; `Tree` takes
    it as it is, together with `self.categorical`.

    All observations are kept. A saved policy is restored by `start` and `observe` for each of
    them in order, which must lead to the same beliefs.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`). A constructor of your own checks its parameters, keeps
        each in an attribute of the same name, and calls this one last.

    Examples
    --------
    >>> class HighestMean(CustomPolicy):
    ...     def start(self):
    ...         self.rewards = {}
    ...
    ...     def observe(self, context, arm, reward):
    ...         self.rewards.setdefault(arm, []).append(reward)
    ...
    ...     def estimate(self, context, arm):
    ...         return float(np.mean(self.rewards.get(arm, [0.5])))
    ...
    ...     def chances(self, context, arms):
    ...         means = [self.estimate(context, arm) for arm in arms]
    ...         best = [mean == max(means) for mean in means]
    ...         return [is_best / sum(best) for is_best in best]
    >>> policy = HighestMean(["golf", "tennis"], seed=1)
    >>> policy.propensities({"age": 31})
    {'golf': 0.5, 'tennis': 0.5}
    >>> policy.learn({"age": 31}, "golf", 1)
    >>> policy.decide({"age": 40})
    'golf'
    """

    @abstractmethod
    def start(self) -> None:
        """Set up the beliefs of a policy that has observed nothing. Arms may be added later."""

    @abstractmethod
    def observe(self, context: dict[FeatureName, Any], arm: A, reward: float) -> None:
        """Take in one observation. All was checked before; draw nothing at random here."""

    @abstractmethod
    def estimate(self, context: dict[FeatureName, Any], arm: A) -> float:
        """Return the mean reward that is expected of an arm, also of one never tried."""

    @abstractmethod
    def chances(self, context: dict[FeatureName, Any], arms: Sequence[A]) -> Sequence[float]:
        """Return the probability with which each of the eligible arms is drawn. Change nothing."""

    # The rest is for `Policy`.

    def _start(self) -> None:
        self._tally = Tally(len(self._arms))
        self._observations: list[tuple[FloatArray, int, float]] = []
        self._features_changed()
        self.start()

    def _add_arm(self) -> None:
        self._tally.add_arm()

    def _features_changed(self) -> None:
        encoder, categorical = self._encoder, self._encoder.is_categorical
        # Per feature its name, and its categories by id if it has such.
        self._meanings = [
            (name, encoder.categories(i) if categorical[i] else None)
            for i, name in enumerate(encoder.features)
        ]

    def _context(self, row: FloatArray) -> dict[FeatureName, Any]:
        """Return the context of a row, without what is missing."""
        return {
            name: value if categories is None else categories[int(value)]
            for (name, categories), value in zip(self._meanings, row.tolist(), strict=True)
            if value == value  # unlike NaN
        }

    def _names(self, eligible: Indices) -> list[A]:
        return [self._arms.names[i] for i in eligible.tolist()]

    def _learn(self, arm: int, row: FloatArray, reward: float) -> None:
        self.observe(self._context(row), self._arms.names[arm], reward)
        self._tally.add(arm, reward)
        self._observations.append((row.copy(), arm, reward))

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        given = self.chances(self._context(row), self._names(eligible))
        try:
            chances = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):  # a mapping, words
            chances = np.empty(0)
        fits = chances.shape == eligible.shape and (chances >= 0).all()
        if not fits or abs(chances.sum() - 1) > ROUNDING:
            raise InvalidParameterError(
                f"chances must return one probability for each of the {len(eligible)} eligible "
                "arms, in their order, with a sum of 1; "
                f"got {shorten(given)}; correct chances of {type(self).__name__}"
            )
        normalised: FloatArray = chances / chances.sum()
        return normalised

    def _choose(self, row: FloatArray, eligible: Indices) -> int:
        return self._draw_by(self._propensities(row, eligible), eligible)

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        context = self._context(row)
        return np.array([self.estimate(context, arm) for arm in self._names(eligible)], np.float64)

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        return self._tally.explain(arm, self.reward)

    def _state(self) -> Arrays:
        rows = np.full((len(self._observations), len(self._meanings)), np.nan)
        for i, (row, _, _) in enumerate(self._observations):
            rows[i, : len(row)] = row
        return {
            "rows": rows,
            "arms": np.array([arm for _, arm, _ in self._observations], dtype=np.int64),
            "rewards": np.array([reward for _, _, reward in self._observations], dtype=np.float64),
        }

    def _relearn(self, arrays: Arrays, recode: RecodeRows) -> None:
        self._restore(arrays | {"rows": recode(arrays["rows"])})

    def _restore(self, arrays: Arrays) -> None:
        arms, rewards = arrays["arms"].tolist(), arrays["rewards"].tolist()
        for row, arm, reward in zip(arrays["rows"], arms, rewards, strict=True):
            self._learn(arm, row, reward)
