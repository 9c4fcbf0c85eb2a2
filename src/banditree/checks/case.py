"""One policy under test: how it is made, and what is said when it breaks a law."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from banditree.checks.saved import Saved, difference, saved
from banditree.checks.streams import ARMS, observations
from banditree.policies.base import Policy
from banditree.policies.rewards import RewardKind
from banditree.types import Arm, Context

# Beyond this many standard errors nothing happens by chance; seeds are fixed besides.
SIGMAS = 5.0
ROUNDING = 1e-9


class LawBrokenError(AssertionError):
    """A policy broke a law: which, what was expected, what was seen, how to see it again.

    Attributes
    ----------
    law
        The name of the law, a key of `LAWS`.
    expected, seen
        What the law demands, and what the policy did.
    """

    def __init__(self, law: str, expected: str, seen: str, again: str) -> None:
        self.law, self.expected, self.seen = law, expected, seen
        super().__init__(
            f"the policy breaks the law {law!r}\n"
            f"  expected: {expected}\n"
            f"  seen:     {seen}\n"
            f"  again:    {again}"
        )


@dataclass(frozen=True)
class Propensities:
    """What a policy said; `draws` is how many it estimated from, None if it is exact."""

    values: Mapping[Arm, float]
    draws: int | None

    def tolerance(self, arm: Arm, other: float, other_draws: int | None) -> float:
        """Return how far the other figure for an arm may lie from this one.

        The four events beyond the standard errors are for arms so rare that the normal law does
        not hold for their counts.
        """
        counts = [count for count in (self.draws, other_draws) if count is not None]
        if not counts:
            return ROUNDING
        # An estimate of 0 would have no error: the best guess of the truth takes in both figures.
        exact = [v for v, n in ((self.values[arm], self.draws), (other, other_draws)) if n is None]
        chance = exact[0] if exact else (self.values[arm] + other) / 2
        spread = max(chance * (1 - chance), 0.0) * sum(1 / n for n in counts)
        return SIGMAS * sqrt(spread) + 4 / min(counts)


@dataclass(frozen=True)
class Case:
    """A way to make policies, and the law that is being tested on them."""

    factory: Callable[..., Policy]
    reward: RewardKind
    decisions: int
    law: str

    def policy(self, arms: Sequence[Arm] = ARMS, seed: int = 1) -> Policy:
        """Return a new policy."""
        made = self.factory(arms=list(arms), seed=seed)
        self.require(
            isinstance(made, Policy),
            "policy_factory(arms=..., seed=...) returns an instance of banditree.Policy",
            f"an instance of {type(made).__name__}",
        )
        return made

    def taught(self, n: int = 60, arms: Sequence[Arm] = ARMS, seed: int = 1) -> Policy:
        """Return a policy that has learned from the first n observations of the stream."""
        policy = self.policy(arms, seed)
        for context, arm, reward in observations(n, self.reward):
            policy.learn(context, arm, reward)
        return policy

    @property
    def good(self) -> float:
        """A reward that is better than most in the stream."""
        return 1.0 if self.reward == "binary" else 9.0

    @property
    def bad(self) -> float:
        """A reward that is worse than most in the stream."""
        return 0.0 if self.reward == "binary" else -5.0

    def require(self, holds: bool, expected: str, seen: object) -> None:
        """Raise the error that says what was expected and seen, unless the law holds."""
        if not holds:
            raise LawBrokenError(self.law, expected, str(seen), self.again)

    @property
    def again(self) -> str:
        """The call that shows the same again."""
        return (
            f"check_policy(policy_factory, laws=[{self.law!r}], "
            f'reward="{self.reward}", decisions={self.decisions})'
        )

    def require_same_state(
        self, before: Saved, policy: Policy, when: str, but_random: bool = False
    ) -> None:
        """Require that what `save` would write is what it would have written before."""
        found = difference(before, saved(policy), but_random=but_random)
        self.require(found is None, f"{when}: the saved state is as before", found)

    def require_refusal(
        self, call: Callable[[], object], error: type[Exception], what: str, *shown: str
    ) -> None:
        """Require that a call raises an error whose message contains what is to be shown."""
        expected = f"{what} raises {error.__name__}"
        try:
            call()
        except Exception as seen:
            self.require(isinstance(seen, error), expected, f"{type(seen).__name__}: {seen}")
            for text in shown:
                self.require(text in str(seen), f"{expected} and mentions {text}", str(seen))
        else:
            self.require(False, expected, "no error")

    # Reading propensities.

    @property
    def few_draws(self) -> int:
        """How many draws an estimate takes where many estimates are made."""
        return max(self.decisions // 100, 20)

    def propensities(
        self,
        policy: Policy,
        context: Context,
        arms: Sequence[Arm] | None = None,
        draws: int | None = None,
    ) -> Propensities:
        """Read propensities; estimated ones from `draws`, if the policy lets one say how many."""
        options: dict[str, Any] = {}
        if "draws" in inspect.signature(policy.propensities).parameters:
            options["draws"] = self.few_draws if draws is None else draws
        values = policy.propensities(context, arms, **options)
        return Propensities(values, options.get("draws"))

    def require_same_propensities(
        self, first: Propensities, second: Propensities, what: str
    ) -> None:
        """Require that two readings agree; estimates only within their standard errors."""
        agree = first.values.keys() == second.values.keys() and all(
            abs(value - second.values[arm])
            <= first.tolerance(arm, second.values[arm], second.draws)
            for arm, value in first.values.items()
        )
        self.require(agree, f"{what}: propensities {first.values}", second.values)


Law = Callable[[Case], None]
