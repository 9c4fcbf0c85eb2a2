"""LogisticUCB: a logistic regression per arm, and optimism."""

from collections.abc import Sequence
from math import log
from typing import Any, ClassVar, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from banditree._checking import check_whole, shorten
from banditree.errors import InvalidParameterError
from banditree.policies.arms import Indices
from banditree.policies.base import Arrays
from banditree.policies.linear.columns import Scale, grown
from banditree.policies.linear.confidence import (
    ConfidencePolicy,
    LinearParameters,
    squared_norms,
)
from banditree.policies.linear.design import Design
from banditree.policies.linear.last_rows import LastRows
from banditree.policies.linear.logistic import Logistic, deviances, sigmoid
from banditree.policies.linear.logistic_arm import LogisticArm
from banditree.policies.linear.penalty import (
    DEFAULT,
    GRID,
    LEAST_ROWS,
    add_outer,
    remove_outer,
    symmetric_inverse,
)
from banditree.policies.linear.relearning import Relearning
from banditree.policies.parameters import with_parameters_of
from banditree.policies.rewards import check_kind
from banditree.types import A, FloatArray


class LogisticUCB(ConfidencePolicy[A]):
    """LogisticUCB (Elmachtoub et al., 2017, after Filippi et al., 2010), for binary rewards.

    An arm's bound is L(x'θ) + α ρ(s) √(x'X⁻¹x), with L(y) = 1 / (1 + exp(−y)), X = I + Σ x x' over
    its s rows, and ρ(s) = √(M log s log(s T / δ)), M being 1 and the number of features; the arm of
    the largest bound is taken. x is 1, then numbers, standardised, and one bit per common category,
    for which X begins with λ if that is more than 1. θ maximises the
    likelihood minus λ|θ|²/2 (at most 1 instead of λ for the constant), after each observation.

    Parameters
    ----------
    arms, categorical, features, floor, seed
        As for every policy (see `Policy`).
    alpha
        How much the width counts. The best value differs between tasks, and is well below 1.
    regularization
        λ; "cv" to choose one per arm, each time its observations have grown by `refresh`, from 0.25
        to 1024 by their likelihood in 5-fold cross-validation; 1 until there are 10.
    refresh, window
        As for `LinUCB`.
    horizon, delta
        T, the number of decisions to come, and δ, the probability that the bounds may fail.
    reward
        "binary": this policy has no other.

    Notes
    -----
    - An arm without observations has an infinite bound: it is tried first. With one, s counts as 2,
      since ρ(1) = 0.
    - The interval that `explain` returns is estimate ± width, cut at 0 and 1, not one of 95 %.
    - Missing values, new features and the scale are treated as by `LinUCB`.
    - The rows of all arms, or of the window, are kept, and an observation takes time that grows
      with those of its arm.

    Examples
    --------
    >>> policy = LogisticUCB(["golf", "tennis"], alpha=0.01, seed=1)
    >>> ages = [20, 30, 40, 50] * 10
    >>> policy.learn_many([[age] for age in ages], ["golf", "tennis"] * 20, [0, 1, 1, 0] * 10)
    >>> policy.decide([22]), policy.decide([45])
    ('tennis', 'golf')
    """

    _link: ClassVar[str] = "logistic"

    @with_parameters_of(ConfidencePolicy)
    def __init__(
        self,
        arms: Sequence[A],
        *,
        horizon: int = 10_000,
        delta: float = 0.05,
        reward: Literal["binary"] = "binary",
        **of_linear: Unpack[LinearParameters],
    ) -> None:
        self.horizon = check_whole("horizon", horizon, 1)
        self.delta = _check_delta(delta)
        _check_binary(reward)
        super().__init__(arms, **of_linear)

    def _start(self) -> None:
        self._design = Design(self.refresh)
        self._last = None if self.window is None else LastRows(0, self.window)
        self._models: list[LogisticArm] = []
        width = self._design.width
        # Of all arms on top of each other, since a decision needs them all: θ and X⁻¹.
        self._theta = np.empty((0, width))
        self._inverse = np.empty((0, width, width))
        for _ in range(len(self._arms)):
            self._add_arm()

    def _add_arm(self) -> None:
        width = self._design.width
        model = self._new_model()
        penalty = model.fit.penalty
        self._models.append(model)
        if self._last is not None:
            self._last.add_arm()
        self._theta = np.concatenate([self._theta, np.zeros((1, width))])
        self._inverse = np.concatenate([self._inverse, np.diag(1 / self._starts(penalty))[None]])

    def _new_model(self) -> LogisticArm:
        chooses = self.regularization == "cv"
        penalty = DEFAULT if self.regularization == "cv" else self.regularization
        return LogisticArm(self._design, penalty, chooses, self.refresh)

    def _learn(self, arm: int, row: FloatArray, reward: float) -> None:
        design, model, last = self._design, self._models[arm], self._last
        former, place = design.scale, design.n
        renewed = design.learn(row).renewed
        left = None if last is None else last.push(arm, row, reward, place)
        if last is not None and last.overflowed and renewed:
            self._learn_window(last)
            return
        self._widen()
        if left is not None:
            self._forget_first(arm)
        model.add(row, reward)
        if renewed:
            self._rescale(former)
        else:
            add_outer(self._inverse[arm], model.standard[-1])
            model.take_in_last()
        if model.choose_penalty():
            self._invert(arm)
        self._theta[arm] = model.fit.theta

    def _forget_first(self, arm: int) -> None:
        """Take out what has fallen out of the window."""
        x = self._models[arm].forget_first()
        if remove_outer(self._inverse[arm], x) is None:
            self._invert(arm)

    def _learn_window(self, last: LastRows) -> None:
        kept, n_arms = last.kept(), len(self._models)
        self._design = design = Design(self.refresh)
        self._features_changed()
        lesson, chosen = Relearning(design, kept), {}
        for arm, n in lesson.learn_all(self.regularization == "cv", self.refresh):
            rows, rewards = lesson.of_arm(arm)
            errors = deviances(design.standardise_many(rows), rewards)
            chosen[arm] = float(GRID[errors.argmin()]), grown(n, self.refresh)
        self._models = [self._new_model() for _ in range(n_arms)]
        for arm, model in enumerate(self._models):
            penalty, due = chosen.get(arm, (model.fit.penalty, LEAST_ROWS))
            model.relearn(*lesson.of_arm(arm), penalty, due)
        self._theta = np.stack([model.fit.theta for model in self._models])
        self._inverse = np.empty((n_arms, design.width, design.width))
        for arm in range(n_arms):
            self._invert(arm)
        design.due = grown(len(kept.rows), self.refresh)
        last.begin_again(kept)

    def _widen(self) -> None:
        old, width = self._theta.shape[1], self._design.width
        if width > old:
            for model in self._models:
                model.widen()
            self._theta = np.pad(self._theta, ((0, 0), (0, width - old)))
            self._inverse = np.pad(self._inverse, ((0, 0), (0, width - old), (0, width - old)))
            last = np.arange(old, width)
            amounts = np.array([model.fit.penalty for model in self._models])
            self._inverse[:, last, last] = 1 / np.maximum(amounts, 1.0)[:, None]

    def _rescale(self, former: Scale) -> None:
        for arm, model in enumerate(self._models):
            if model.n > 0:
                model.rescale(former)
                self._theta[arm] = model.fit.theta
            # An arm without rows too: what its X begins with depends on which columns are bits.
            self._invert(arm)

    def _invert(self, arm: int) -> None:
        rows, amount = self._models[arm].standard, self._models[arm].fit.penalty
        gram = rows.T @ rows + np.diag(self._starts(amount))
        self._inverse[arm] = symmetric_inverse(gram, np.array(1.0))

    def _starts(self, penalty: float) -> FloatArray:
        """Return the diagonal of X before the first row: 1, but λ for a bit if that is more."""
        starts = np.full(self._design.width, max(penalty, 1.0))
        starts[self._design.unit_columns] = 1.0
        return starts

    def _estimates(self, row: FloatArray, eligible: Indices) -> tuple[FloatArray, FloatArray]:
        x = self._design.standardise(row)
        n = np.array([self._models[arm].n for arm in eligible.tolist()])
        widths = self._radii(n) * np.sqrt(squared_norms(self._inverse, x, eligible))
        widths[n == 0] = np.inf
        return sigmoid((self._theta @ x)[eligible]), widths

    def _radii(self, n: NDArray[np.int64]) -> FloatArray:
        """Return αρ for arms of n observations."""
        logs = np.log(np.maximum(n, 2))
        radii: FloatArray = np.sqrt(
            (self._design.n_features + 1) * logs * (logs + log(self.horizon / self.delta))
        )
        return self.alpha * radii

    def _n_learned(self, arm: int) -> int:
        return self._models[arm].n

    def _state(self) -> Arrays:
        models, width = self._models, self._encoder.n_features
        fits = zip(*(model.fit.state() for model in models), strict=True)
        last = {} if self._last is None else self._last.state()
        return {
            **self._design.state(),
            "n": np.array([model.n for model in models]),
            "due": np.array([model.due for model in models]),
            "rows": np.concatenate([_wide(model.rows, width) for model in models]),
            "rewards": np.concatenate([model.rewards for model in models]),
            "inverse": self._inverse,
            **dict(zip(Logistic.STATE, map(np.stack, fits), strict=True)),
            **last,
        }

    def _frozen_state(self) -> Arrays:
        return {
            **self._design.frozen_state(),
            "n": np.array([model.n for model in self._models]),
            "theta": self._theta,
            "inverse": self._inverse,
        }

    def _restore_frozen(self, arrays: Arrays) -> None:
        self._design.restore(arrays)
        self._theta, self._inverse = arrays["theta"], arrays["inverse"]
        for model, n in zip(self._models, arrays["n"].tolist(), strict=True):
            model.take_count(n)

    def _restore(self, arrays: Arrays) -> None:
        self._design.restore(arrays)
        if self._last is not None:
            self._last.restore(arrays)
        self._inverse = arrays["inverse"].copy()
        ends = arrays["n"].cumsum()[:-1]
        rows, rewards = np.split(arrays["rows"], ends), np.split(arrays["rewards"], ends)
        for arm, model in enumerate(self._models):
            numbers = [arrays[name][arm] for name in Logistic.STATE]
            model.restore(rows[arm], rewards[arm], int(arrays["due"][arm]), numbers)
        self._theta = np.stack([model.fit.theta for model in self._models])


def _wide(rows: FloatArray, n_features: int) -> FloatArray:
    """Return rows with features that came later as missing."""
    more = n_features - rows.shape[1]
    return np.pad(rows, ((0, 0), (0, more)), constant_values=np.nan)


def _check_delta(delta: Any) -> float:
    real = isinstance(delta, int | float | np.integer | np.floating)
    if not real or not 0 < delta < 1:
        raise InvalidParameterError(
            f"delta must be a number between 0 and 1, got {shorten(delta)}; "
            "it is the probability that the bounds may fail, for instance 0.05"
        )
    return float(delta)


def _check_binary(reward: Any) -> None:
    if check_kind(reward) != "binary":
        raise InvalidParameterError(
            'reward must be "binary" for LogisticUCB, whose model is of rewards between 0 and 1, '
            f"got {shorten(reward)}; LinUCB takes continuous rewards"
        )
