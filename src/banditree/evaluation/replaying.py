"""A policy that learns as it goes, played on the log of another."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from banditree._checking import check_choice
from banditree.evaluation.estimators import Estimated
from banditree.evaluation.evaluating import Making, Settings, compared
from banditree.evaluation.evidence import Advance, gather
from banditree.evaluation.learning import Learner, learning
from banditree.evaluation.log import Log
from banditree.evaluation.results import Estimate, Evaluation
from banditree.evaluation.reward_model import RewardModel
from banditree.evaluation.targets import bind_learner
from banditree.evaluation.verdicts import judge_rows
from banditree.policies import Policy

__all__ = ["Method", "Replay", "replay"]

Method: TypeAlias = Literal["rejection", "doubly robust"]


@dataclass(frozen=True, eq=False)
class Replay:
    """What came of a policy that learned as it went.

    Attributes
    ----------
    estimate
        What it would have earned per decision, on its way from knowing nothing.
    rows
        The rows of the log that it learned from.
    policy
        The copy that has learned.
    evaluation
        All estimates of doubly robust replay; None of replay by rejection.
    """

    estimate: Estimate
    rows: NDArray[np.intp]
    policy: Policy[Any]
    evaluation: Evaluation | None = None


def replay(
    policy: Policy[Any],
    log: Log,
    method: Method = "rejection",
    *,
    level: float = 0.95,
    seed: int = 0,
    advance: Advance | None = None,
) -> Replay:
    """Return what a policy would have earned that learns as it goes.

    By "rejection" the policy decides in each row; where it offers what the log has, the row counts
    and is learned from, all others are passed over. Rows of large propensities count less often, so
    that a log of any policy will do, and a uniform one is best. By "doubly robust" all rows count,
    weighed as `evaluate` does it, and the policy learns from about as many as by rejection; it must
    compute its propensities in each row, which takes longer.

    Either way a policy learns from fewer rows than the log has: of a uniform log, from one in as
    many as there are arms. The policy that is passed stays as it is; a copy learns.

    Parameters
    ----------
    policy
        With the arms of the log.
    log
        Decisions with what came of them, in order.
    method
        As above.
    level
        As for `evaluate`.
    seed
        Of which rows count, of the bootstrap and of the folds.
    advance
        Called with how many rows were read, as they are.

    References
    ----------
    Li, Chu, Langford and Wang, Unbiased offline evaluation of contextual-bandit-based news article
    recommendation algorithms (2011); Dudík, Erhan, Langford and Li, Doubly robust policy
    evaluation and optimization (2014).

    Examples
    --------
    >>> import banditree as bt
    >>> from banditree.environments import SportsAds
    >>> ads = ["golf", "basketball", "tennis", "soccer"]
    >>> log = Log.record(bt.Uniform(ads, seed=1), SportsAds(), 8_000)
    >>> found = replay(bt.TreeHeuristic(ads, seed=1), log)
    >>> len(found.rows), round(found.estimate.value, 2), found.estimate.verdict
    (1993, 0.29, 'trust')
    """
    check_choice("method", method, Method)
    settings = Settings(level=level, seed=seed)
    learner = Learner(learning(policy).policy, log, seed)
    if method == "doubly robust":
        bound = bind_learner(learner, log)
        (found,) = gather([bound], log, RewardModel(log, seed), advance)
        evaluation = compared({"it": found}, log, settings).evaluations["it"]
        rows = np.array(learner.rows, dtype=np.intp)
        return Replay(evaluation.estimates["dr"], rows, learner.policy, evaluation)
    for row in range(len(log)):
        learner.try_out(row)
        if advance is not None:
            advance(1)
    rows = np.array(learner.rows, dtype=np.intp)
    return Replay(_estimate(log, rows, settings), rows, learner.policy)


def _estimate(log: Log, rows: NDArray[np.intp], settings: Settings) -> Estimate:
    """Return the mean reward of rows that count."""
    rewards = log.rewards[rows]
    verdict, reasons = judge_rows(rewards, log.health)
    if not len(rows):
        nan = float("nan")
        return Estimate(nan, nan, nan, 0.0, 0.0, verdict, reasons)
    found = Estimated(rewards, None, lambda: rewards, log.reward_range, None)
    making = Making(log.reward_range, len(rows), settings)
    interval = making.interval(making.prepared(found))
    return Estimate(found.value, *interval, float(len(rows)), 1.0, verdict, reasons)
