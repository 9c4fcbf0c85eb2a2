"""Policies that learn as they go, from a log of another: which rows they may learn from."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from banditree._checking import shorten
from banditree.errors import InvalidParameterError, UnknownArmError
from banditree.evaluation.log import Log
from banditree.policies import Policy
from banditree.types import Arm, FloatArray

__all__ = ["Learner", "Learning", "learning"]

# Rows of smaller propensities than this share of all has would be learned from too rarely; to wait
# for the rarest of all, hardly any row could be.
RAREST = 0.05
_DRAWS = 1  # of the policy, apart from those of which rows count


@dataclass(frozen=True, eq=False)
class Learning:
    """A policy that is to learn as it goes; `learning` makes one."""

    policy: Policy[Any]


def learning(policy: Policy[Any]) -> Learning:
    """Return what is evaluated as a policy that learns as it goes, by doubly robust replay.

    The policy itself is left as it is: a copy learns.

    Examples
    --------
    >>> import banditree as bt
    >>> learning(bt.Uniform(["golf", "tennis"])).policy
    Uniform(arms=['golf', 'tennis'])
    """
    if not isinstance(policy, Policy):
        raise InvalidParameterError(
            f"only a policy can learn, got {shorten(policy)}; pass what bt.Bandit(arms) returns, "
            "or evaluate this one as it is"
        )
    return Learning(policy)


class Learner:
    """A copy of a policy, as it goes through a log row by row.

    It learns from a row with a probability that makes up for that of the log, so that what it knows
    is what it would know had it made the decisions, though from fewer rows.
    """

    def __init__(self, policy: Policy[Any], log: Log, seed: int) -> None:
        known = set(policy.arms)
        unknown = [arm for arm in log.arms if arm not in known]
        more = [arm for arm in policy.arms if arm not in log.arms]
        if unknown or more:
            raise UnknownArmError(
                f"a policy that learns from a log must have its arms, no more and no less: "
                f"{_difference(unknown, more)}; make it with the arms {list(log.arms)}"
            )
        self.policy = deepcopy(policy)
        # With the draws of who made the log, should it have had the same seed, the two would agree.
        (own,) = np.random.SeedSequence([seed, _DRAWS]).generate_state(1, np.uint64).tolist()
        self.policy.reseed(own)
        self.rows: list[int] = []
        self._log = log
        self._rate = float(np.quantile(log.propensities, RAREST))
        self._rng = np.random.default_rng(seed)
        self._names = dict(enumerate(log.arms))
        self._contexts = log.contexts.one_by_one(0, len(log))

    def propose(self, row: int) -> FloatArray:
        """Return the probabilities of the log's arms in the next row, and learn from it, maybe."""
        log, context = self._log, next(self._contexts)
        asked = self.policy.propensities(context, self._eligible(row))
        chances = np.array([asked[arm] for arm in log.arms])
        mine = int(log.chosen[row])
        if self._rng.random() < self._rate * chances[mine] / log.propensities[row]:
            self._learn(context, row)
        return chances

    def try_out(self, row: int) -> bool:
        """Let the policy decide in the next row; return whether it counts, and is learned from."""
        log, context = self._log, next(self._contexts)
        arm = self.policy.decide(context, self._eligible(row))
        if arm != log.arms[log.chosen[row]]:
            return False
        counts = bool(self._rng.random() < self._rate / log.propensities[row])
        if counts:
            self._learn(context, row)
        return counts

    def _learn(self, context: Any, row: int) -> None:
        arm = self._log.arms[self._log.chosen[row]]
        self.policy.learn(context, arm, float(self._log.rewards[row]))
        self.rows.append(row)

    def _eligible(self, row: int) -> list[Arm] | None:
        sets = self._log.eligible
        if sets.of_row is None:
            return None
        return [self._names[i] for i in sets.sets[sets.of_row[row]]]


def _difference(unknown: list[Arm], more: list[Arm]) -> str:
    parts = [f"it has not {', '.join(map(repr, unknown[:5]))}"] if unknown else []
    parts += [f"the log has not {', '.join(map(repr, more[:5]))}"] if more else []
    return " and ".join(parts)
