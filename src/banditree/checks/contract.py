"""Laws of what a policy offers besides deciding and learning."""

from functools import partial

import numpy as np

from banditree.checks.case import Case
from banditree.checks.deciding import PROBES, SOME
from banditree.checks.saved import Saved, difference, saved
from banditree.checks.streams import ARMS, columns, named_contexts, observations
from banditree.policies.base import Policy
from banditree.policies.parameters import COMMON, parameters_of


def parameters_are_read_only(case: Case) -> None:
    """Require that no parameter can be set on a policy that exists."""
    policy = case.taught(10)
    before = saved(policy)
    for name in sorted(COMMON.union(parameters_of(type(policy)))):
        what = f"setting {name}"
        value = getattr(policy, name, None)
        case.require_refusal(partial(setattr, policy, name, value), AttributeError, what, name)
    case.require_same_state(before, policy, "after parameters were set in vain")


def reseeding_changes_draws_only(case: Case) -> None:
    """Require that `reseed` changes what is drawn, by the seed, and nothing that was learned."""
    one, two, other = case.taught(), case.taught(), case.taught()
    one.decide_many(PROBES)
    before, chances = saved(one), [case.propensities(one, probe) for probe in PROBES]
    for policy, seed in ((one, 7), (two, 7), (other, 8)):
        policy.reseed(seed)
    found = difference(before, _but_seed(saved(one), before), but_random=True)
    case.require(found is None, "after reseed: what was learned is as before", found)
    for probe, chance in zip(PROBES, chances, strict=True):
        now = case.propensities(one, probe)
        case.require_same_propensities(chance, now, f"in {probe}, before reseed")
        first, second, third = (p.decide_many([probe] * 60) for p in (one, two, other))
        case.require(first == second, f"the same decisions after reseed(7): {first}", second)
        # At 0.9, 60 decisions of two seeds are the same with probability 1e-5.
        if max(chance.values.values()) < 0.9:
            case.require(first != third, "other decisions after reseed(8)", set(third))


def _but_seed(state: Saved, before: Saved) -> Saved:
    same = {part: before.header[part] for part in ("parameters", "process")}
    return Saved(state.header | same, state.arrays)


def tables_are_single_readings(case: Case) -> None:
    """Require that `propensities_many` and `expected_rewards_many` are one call for each."""
    policy, contexts = case.taught(), [*PROBES, *named_contexts(3, seed=5)]
    policy.remove_arm("tennis")
    for arms in (None, SOME[:1]):
        for name, otherwise in (("propensities", 0.0), ("expected_rewards", np.nan)):
            one, many = getattr(policy, name), getattr(policy, f"{name}_many")
            single = [one(context, arms) for context in contexts]
            expected = [[known.get(arm, otherwise) for arm in policy.arms] for known in single]
            seen = many(contexts, arms)
            same = np.array_equal(np.array(expected), seen, equal_nan=True)
            case.require(same, f"{name}_many with arms={arms}: {expected}", seen)
            case.require(many([]).shape == (0, len(policy.arms)), "a table of no rows", many([]))


def observations_are_counted(case: Case) -> None:
    """Require that `counts` has the number of observations of each arm, removed ones included."""
    log = observations(40, case.reward)
    policy: Policy = case.policy()
    policy.learn_many(*columns(log[:20]))
    policy.remove_arm("golf")
    for context, arm, reward in log[20:]:
        policy.learn(context, arm, reward)
    policy.add_arm("chess")
    expected = {arm: sum(o.arm == arm for o in log) for arm in (*ARMS, "chess")}
    case.require(policy.counts == expected, f"the counts {expected}", policy.counts)
