"""The paper's bootstrap around any learner."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Unpack

import numpy as np

from banditree import _core
from banditree._checking import check_choice, check_whole
from banditree.errors import InvalidParameterError, StateError
from banditree.policies.arms import Indices
from banditree.policies.base import Arrays, Policy
from banditree.policies.beliefs import Reading, RecodeRows
from banditree.policies.choosing import share_of_largest
from banditree.policies.estimates import stream_for
from banditree.policies.explanation import ArmExplanation
from banditree.policies.learners import (
    build,
    check_learner,
    describe,
    fit_and_predict,
    is_classifier,
)
from banditree.policies.linear.design import Design
from banditree.policies.parameters import PolicyParameters, with_parameters_of
from banditree.policies.rewards import RewardKind
from banditree.policies.tally import Tally
from banditree.policies.tree_bootstrap import ColdStart
from banditree.types import A, Context, Contexts, FloatArray

# How many resamples tell `explain` how sure the learner is.
_EXPLAINED_BY = 40


@dataclass
class _Log:
    """The observations of one arm, made-up ones first."""

    rows: list[FloatArray] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    failures: int = 0  # in a row, from the start
    is_settled: bool = False  # had its success, or was given up
    design: FloatArray | None = None  # all rows as the learner sees them, if they are up to date

    def add(self, row: FloatArray, reward: float) -> None:
        self.rows.append(row)
        self.rewards.append(reward)
        self.design = None


class Bootstrap(Policy[A]):
    """Every decision fits a learner of your choice to resampled data (Algorithm 2).

    For every eligible arm: draw as many of its observations as it has, with replacement; fit a
    fresh copy of the learner to them; predict for the context. The arm with the highest prediction
    is taken; ties are broken at random. A decision costs one fit per arm, so this is for small
    logs, quick learners and comparisons; for trees use `TreeBootstrap`, which is some thousand
    times faster.

    The learner sees numbers standardised, missing ones as the mean, and a column of 0 and 1 for
    each common category (see `LinUCB`). Parts of it without a `random_state` of their own get one
    from the policy's seed.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`).
    learner
        An estimator of scikit-learn's kind, not fitted: with `predict_proba`, a classifier, for
        rewards of 0 and 1; otherwise a regressor. Logistic regression, random forests, neural
        networks, pipelines.
    cold_start, patience
        As for `TreeBootstrap`.

    Notes
    -----
    `save` can hold learners of scikit-learn; with another one, `load(path, learner=...)`. Pickles
    hold any learner that can be pickled.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> policy = Bootstrap(["golf", "tennis"], LogisticRegression(), seed=7)
    >>> for age in range(20, 60):
    ...     policy.learn({"age": age}, "golf", reward=age > 40)
    ...     policy.learn({"age": age}, "tennis", reward=age <= 40)
    >>> policy.decide({"age": 25})
    'tennis'
    """

    _frozen_needs_entropy: ClassVar[bool] = True

    @with_parameters_of(Policy)
    def __init__(
        self,
        arms: Sequence[A],
        learner: Any,
        *,
        reward: RewardKind = "binary",
        cold_start: ColdStart = "prior",
        patience: int = 100,
        **of_all: Unpack[PolicyParameters],
    ) -> None:
        self.learner = check_learner(learner)
        self.cold_start = check_choice("cold_start", cold_start, ColdStart)
        self.patience = check_whole("patience", patience, 1)
        super().__init__(arms, reward=reward, **of_all)
        if self.reward == "continuous" and is_classifier(learner):
            raise InvalidParameterError(
                f"{type(learner).__name__} is a classifier and learns from 0 and 1 only; "
                'for reward="continuous" pass a regressor'
            )

    def propensities(
        self, context: Context, arms: Sequence[A] | None = None, *, draws: int = 64
    ) -> dict[A, float]:
        """Return an estimate of the probability with which `decide` draws each arm.

        The learner is fitted to `draws` resamples of each arm. The estimate is how often the arm
        wins among all combinations of one resample per arm. The standard error is about
        0.4 / √draws where two arms are alike, 0.5 √(K / draws) at most for K arms, and smaller
        where one arm leads. Equal beliefs give equal estimates, and the random stream stays where
        it is.
        """
        return self._propensities_by(self._chances_by(draws), context, arms)

    def propensities_many(
        self, contexts: Contexts, arms: Sequence[A] | None = None, *, draws: int = 64
    ) -> FloatArray:
        """Return `propensities` of each context, each estimated from this many `draws`.

        A row for each context, a column for each arm of `policy.arms`.
        """
        return self._table(contexts, arms, self._chances_by(draws), 0.0)

    def _chances_by(self, draws: int) -> Reading:
        check_whole("draws", draws, 1)
        return lambda row, eligible: self._above_floor(self._propensities(row, eligible, draws))

    def _start(self) -> None:
        self._design = Design()
        self._tally = Tally(len(self._arms))
        self._logs = [_Log() for _ in range(len(self._arms))]

    def _add_arm(self) -> None:
        self._tally.add_arm()
        self._logs.append(_Log())

    def _features_changed(self) -> None:
        self._design.set_features(self._encoder.is_categorical)

    def _learn(self, arm: int, row: FloatArray, reward: float) -> None:
        log = self._logs[arm]
        own = row.copy()  # the caller may change an array that was taken as it is
        self._judge(log, reward)
        self._tally.add(arm, reward)
        if self.cold_start == "prior":
            if not log.rows:
                log.rows, log.rewards = [own, own], [1.0, 0.0]
            self._follow_range()
        log.add(own, reward)
        if self._design.learn(own).renewed:
            for other in self._logs:
                other.design = None

    def _follow_range(self) -> None:
        """Let made-up continuous rewards be the highest and the lowest of all arms so far."""
        if self.reward == "continuous":
            for log in self._logs:
                log.rewards[:2] = [self._tally.highest, self._tally.lowest][: len(log.rewards)]

    def _judge(self, log: _Log, reward: float) -> None:
        if log.is_settled:
            return
        # The first of all continuous rewards beats nothing.
        first = self.reward == "continuous" and not self._tally.n.any()
        mark = 0 if self.reward == "binary" else self._tally.overall().mean
        success = not first and reward > mark
        log.failures = 0 if success else log.failures + 1
        log.is_settled = success or log.failures >= self.patience

    def _is_cold(self, arm: int) -> bool:
        log = self._logs[arm]
        return not log.rows or (self.cold_start == "until_success" and not log.is_settled)

    def _choose(self, row: FloatArray, eligible: Indices) -> int:
        cold = [arm for arm in eligible.tolist() if self._is_cold(arm)]
        if cold:
            return self._draw_uniformly(np.array(cold))
        draws = [self._draw(arm, row, self._random) for arm in eligible.tolist()]
        return self._draw_largest(np.array(draws), eligible)

    def _draw(self, arm: int, row: FloatArray, random: _core.Generator) -> float:
        """Return what the learner predicts after one resample."""
        n = len(self._logs[arm].rows)
        return self._fit(arm, row, random.integers(n, n), random)

    def _fit(self, arm: int, row: FloatArray, resample: Indices, random: _core.Generator) -> float:
        log = self._logs[arm]
        columns = slice(1, len(self._design.columns))
        if log.design is None or log.design.shape[1] != columns.stop - 1:
            width = self._encoder.n_features
            rows = np.array([_padded(given, width) for given in log.rows])
            log.design = self._design.standardise_many(rows)[:, columns]
        rewards = np.array(log.rewards)[resample]
        if is_classifier(self.learner):
            # A classifier needs successes and failures: a reward between 0 and 1 is drawn as one.
            rewards = (random.uniform(len(rewards)) < rewards).astype(np.float64)
        asked = self._design.standardise(row)[columns]
        return fit_and_predict(self.learner, log.design[resample], rewards, asked, random)

    def _propensities(self, row: FloatArray, eligible: Indices, draws: int = 64) -> FloatArray:
        cold = np.array([self._is_cold(arm) for arm in eligible.tolist()], dtype=np.float64)
        if cold.any():
            return share_of_largest(cold)
        return _core.win_shares([self._draws(arm, row, draws) for arm in eligible.tolist()])

    def _draws(self, arm: int, row: FloatArray, n: int) -> FloatArray:
        seen = int(self._tally.n.sum())
        random = stream_for(self._estimating(), seen, row).child(arm)
        return np.array([self._draw(arm, row, random) for _ in range(n)])

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return np.array([self._prediction(row, arm) for arm in eligible.tolist()])

    def _prediction(self, row: FloatArray, arm: int) -> float:
        """Return what the learner says without resampling; for an untried arm, the mean of all."""
        n = len(self._logs[arm].rows)
        if n == 0:
            return 0.5 if self.reward == "binary" else self._tally.overall().mean
        return self._fit(arm, row, np.arange(n), self._estimating().child(arm))

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        n = int(self._tally.n[arm])
        if n == 0:
            return self._tally.explain(arm, self.reward)
        low, high = np.quantile(self._draws(arm, row, _EXPLAINED_BY), [0.025, 0.975]).tolist()
        rule = f"{type(self.learner).__name__} on all observations"
        return ArmExplanation(rule, n, self._prediction(row, arm), (low, high))

    # State.

    def _objects(self) -> dict[str, Any]:
        return {"learner": self.learner}

    def _described_objects(self) -> dict[str, Any]:
        try:
            return {"learner": describe(self.learner)}
        except TypeError:
            return {}

    @classmethod
    def _built_objects(cls, described: dict[str, Any]) -> dict[str, Any]:
        if "learner" not in described:
            raise StateError(
                "the file does not hold the policy's learner, which is not one of scikit-learn's; "
                "load it with load(path, learner=...)"
            )
        return {"learner": build(described["learner"])}

    def _state(self) -> Arrays:
        counts = [(log.failures, log.is_settled) for log in self._logs]
        arrays: Arrays = {"counts": np.array(counts, dtype=np.int64)}
        width = self._encoder.n_features
        for arm, log in enumerate(self._logs):
            rows = [_padded(row, width) for row in log.rows]
            arrays[f"contexts_{arm}"] = np.array(rows).reshape(len(rows), width)
            arrays[f"rewards_{arm}"] = np.array(log.rewards)
        return arrays | self._tally.state() | self._design.state()

    def _restore(self, arrays: Arrays) -> None:
        self._tally.restore(arrays)
        self._design.restore(arrays)
        for arm, (failures, is_settled) in enumerate(arrays["counts"].tolist()):
            rows, rewards = arrays[f"contexts_{arm}"], arrays[f"rewards_{arm}"]
            log = _Log(list(rows), rewards.tolist(), failures, bool(is_settled))
            self._logs[arm] = log

    def _relearn(self, arrays: Arrays, recode: RecodeRows) -> None:
        fresh = self._design.state()
        contexts = {name: recode(arrays[name]) for name in arrays if name.startswith("contexts_")}
        self._restore(arrays | contexts | fresh)
        for log, n in zip(self._logs, self._tally.n.astype(int).tolist(), strict=True):
            for row in log.rows[len(log.rows) - n :]:  # made-up observations have no part in it
                self._design.learn(row)


def _padded(row: FloatArray, width: int) -> FloatArray:
    """Return a row with missing values for the features that have appeared since."""
    return np.pad(row, (0, width - len(row)), constant_values=np.nan)
