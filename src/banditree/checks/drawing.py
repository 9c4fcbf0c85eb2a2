"""Laws of decisions that carry the probability they were drawn with, and of the floor."""

from dataclasses import replace
from functools import partial

from banditree.checks.case import ROUNDING, Case, Propensities
from banditree.checks.deciding import PROBES, SOME, require_frequencies
from banditree.checks.saved import saved
from banditree.policies.base import Policy
from banditree.policies.parameters import parameters_of
from banditree.types import Arm, Context

FLOOR = 0.3


def decisions_carry_their_propensity(case: Case) -> None:
    """Require that `decision` draws from the probabilities that it returns, those of the policy."""
    for n in (0, 60):
        policy, twin = case.taught(n), case.taught(n)
        for context in PROBES:
            for arms in (None, SOME):
                _require_own_propensities(case, policy, context, arms)
                twin.decision(context, arms)
        case.require_same_state(saved(twin), policy, "after the same decisions of a twin")
        for arms in (None, SOME):
            _require_drawn(case, policy, arms)


def _require_own_propensities(
    case: Case, policy: Policy, context: Context, arms: list[Arm] | None
) -> None:
    believed = saved(policy)
    stated = case.propensities(policy, context, arms)
    drawn = policy.decision(context, arms)
    where = f"in {context} with arms={arms}"
    case.require_same_propensities(stated, Propensities(drawn.propensities, None), where)
    case.require(
        drawn.propensity == drawn.propensities[drawn.arm] > 0,
        f"{where}: the propensity of the arm that was drawn, above 0",
        drawn,
    )
    case.require_same_state(believed, policy, "after a decision", but_random=True)


def _require_drawn(case: Case, policy: Policy, arms: list[Arm] | None) -> None:
    context, count = PROBES[0], case.few_draws
    drawn = [policy.decision(context, arms) for _ in range(count)]
    stated = Propensities(drawn[0].propensities, None)
    for arm, chance in stated.values.items():
        frequency = sum(decision.arm == arm for decision in drawn) / count
        allowed = stated.tolerance(arm, frequency, count)
        case.require(
            abs(frequency - chance) <= allowed,
            f"with arms={arms}, decisions for {arm!r} near its propensity of {chance:.4g}",
            f"{frequency:.4g} of {count} decisions",
        )


def floors_hold(case: Case) -> None:
    """Require that every eligible arm has at least its share of `floor`, where a policy has one."""
    if "floor" not in parameters_of(type(case.policy())):
        return
    floored = replace(case, factory=partial(case.factory, floor=FLOOR))
    for n in (0, 60):
        policy = floored.taught(n)
        for context in PROBES:
            for arms in (None, SOME):
                eligible = policy.arms if arms is None else arms
                values = floored.propensities(policy, context, arms).values
                least = min(values[arm] for arm in eligible)
                share = FLOOR / len(eligible)
                case.require(least >= share - ROUNDING, f"propensities of {share} or more", values)
        # A quarter will do: what the floor does to decisions is the same for every policy.
        require_frequencies(floored, policy, SOME, max(case.decisions // 4, 50))
