"""Laws of decisions, and of what a policy says about them."""

import inspect
import tempfile
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

from banditree.checks.case import ROUNDING, SIGMAS, Case
from banditree.checks.saved import saved
from banditree.checks.streams import ARMS, NamedContext, columns, named_contexts, observations
from banditree.policies.base import Policy
from banditree.types import Arm, Context

PROBES: list[NamedContext] = [
    {"age": 30, "city": "Rome", "member": True, "income": 41.5, "visits": 2},
    {"age": 70, "city": "Atlantis", "member": False, "income": None, "height": 180},
    {},
]
SOME: list[Arm] = ["hockey", "golf"]


def decide_keeps_beliefs(case: Case) -> None:
    """Require that `decide` and `decide_many` change nothing but the random stream."""
    for policy in (case.policy(), case.taught()):
        before, believed = saved(policy), [_beliefs(policy, context) for context in PROBES]
        chances = [case.propensities(policy, context) for context in PROBES]
        for context in [*PROBES, *named_contexts(15, seed=3)]:
            policy.decide(context)
            policy.decide(context, arms=SOME)
        policy.decide_many(named_contexts(15, seed=4))
        case.require_same_state(before, policy, "after decisions", but_random=True)
        for context, was, chance in zip(PROBES, believed, chances, strict=True):
            now = _beliefs(policy, context)
            case.require(now == was, f"the same of {context} after decisions as before: {was}", now)
            case.require_same_propensities(
                chance, case.propensities(policy, context), f"in {context}, before decisions"
            )


def reading_keeps_everything(case: Case) -> None:
    """Require that reading a policy changes nothing, and what is read is complete and sound.

    Neither propensities, expected_rewards and explain nor repr and save advance even the random
    stream.
    """
    for n in (0, 1, 60):
        policy, twin = case.taught(n), case.taught(n)
        for context in PROBES:
            before = saved(policy)
            for arms in (None, SOME):
                _require_sound(case, policy, context, arms)
            case.require_same_state(before, policy, f"after reading {context}")
        before = saved(policy)
        case.require(
            repr(policy).startswith(f"{type(policy).__name__}("), "repr is a call", repr(policy)
        )
        with tempfile.TemporaryDirectory() as folder:
            policy.save(Path(folder, "policy.bt"))
        case.require_same_state(before, policy, "after repr and save")
        contexts = named_contexts(20, seed=5)
        expected, seen = twin.decide_many(contexts), policy.decide_many(contexts)
        case.require(seen == expected, f"decisions as without reading: {expected}", seen)


def _require_sound(case: Case, policy: Policy, context: Context, arms: list[Arm] | None) -> None:
    eligible = set(policy.arms if arms is None else arms)
    where = f"in {context} with arms={arms}"
    values = case.propensities(policy, context, arms).values
    case.require(
        set(values) == set(policy.arms),
        f"{where}: a propensity of each of {policy.arms}",
        values,
    )
    case.require(
        all(0 <= value <= 1 for value in values.values())
        and abs(sum(values.values()) - 1) <= ROUNDING,
        f"{where}: propensities from 0 to 1 that sum to 1",
        f"{values}, sum {sum(values.values())!r}",
    )
    case.require(
        all(values[arm] == 0 for arm in set(values) - eligible),
        f"{where}: propensity 0 of arms that are not eligible",
        values,
    )
    rewards = policy.expected_rewards(context, arms)
    case.require(
        set(rewards) == eligible and all(map(isfinite, rewards.values())),
        f"{where}: a finite expected reward of each of {eligible}",
        rewards,
    )
    explanation = policy.explain(context, arms)
    sound = set(explanation) == eligible and all(
        known.n >= 0 and known.interval[0] <= known.interval[1] for known in explanation.values()
    )
    case.require(
        sound and str(explanation) != "",
        f"{where}: explain has a number and an interval for each of {eligible}",
        explanation,
    )


def _beliefs(policy: Policy, context: Context) -> list[Any]:
    """Return what can be compared before and after decisions; estimates cannot."""
    methods = (policy.expected_rewards, policy.explain)
    exact = [m for m in methods if "draws" not in inspect.signature(m).parameters]
    return [repr(sorted(dict(read(context)).items(), key=repr)) for read in exact]


def seed_fixes_decisions(case: Case) -> None:
    """Require the same decisions of the same seed and calls, others of another seed."""
    contexts = named_contexts(60, seed=6)
    for n in (0, 60):
        first, second = case.taught(n), case.taught(n)
        expected = first.decide_many(contexts)
        case.require_same_state(saved(first), _after(second, contexts), "same seed, same calls")
        again = case.taught(n).decide_many(contexts)
        case.require(again == expected, f"decisions of the same seed: {expected}", again)
        probe = next((c for c in PROBES if _draws(case, first, c)), None)
        if probe is not None:
            one, two = (case.taught(n, seed=seed).decide_many([probe] * 60) for seed in (1, 2))
            case.require(
                one != two, f"60 decisions in {probe} that differ between two seeds", set(one)
            )


def _after(policy: Policy, contexts: list[NamedContext]) -> Policy:
    policy.decide_many(contexts)
    return policy


def _draws(case: Case, policy: Policy, context: Context) -> bool:
    # At 0.9, 60 decisions of two seeds are the same with probability 1e-5.
    return max(case.propensities(policy, context).values.values()) < 0.9


def propensities_are_frequencies(case: Case) -> None:
    """Require that propensities are the frequencies of decisions, among all arms and among some."""
    # Without observations a quarter of the decisions will do: what is wrong there is all wrong.
    for n, count in ((0, max(case.decisions // 4, 50)), (60, case.decisions)):
        policy = case.taught(n)
        for arms in (None, SOME):
            require_frequencies(case, policy, arms, count)


def require_frequencies(case: Case, policy: Policy, arms: list[Arm] | None, count: int) -> None:
    """Require that `decide_many` takes each arm as often as its propensity says."""
    context, eligible = PROBES[0], arms or policy.arms
    stated = case.propensities(policy, context, arms, draws=count)
    decided = policy.decide_many([context] * count, arms)
    case.require(set(decided) <= set(eligible), f"decisions among {eligible}", set(decided))
    for arm, chance in stated.values.items():
        frequency = decided.count(arm) / count
        allowed = stated.tolerance(arm, frequency, count)
        case.require(
            abs(frequency - chance) <= allowed,
            f"with arms={arms}, a frequency of {arm!r} near its propensity of {chance:.4g} "
            f"(within {allowed:.2g})",
            f"{frequency:.4g} in {count} decisions in {context}",
        )


def order_of_arms_is_nothing(case: Case) -> None:
    """Require that the order in which arms are named does not matter to their propensities.

    It may decide which random draws an arm gets: the mean over several seeds must agree.
    """
    seeds = range(1, 9)
    for n in (0, 60):
        for context in PROBES[:2]:
            gaps: dict[Arm, list[float]] = {arm: [] for arm in ARMS}
            for seed in seeds:
                one = case.propensities(case.taught(n, ARMS, seed), context).values
                two = case.propensities(case.taught(n, ARMS[::-1], seed), context).values
                for arm in ARMS:
                    gaps[arm].append(one[arm] - two[arm])
            for arm, values in gaps.items():
                mean = sum(values) / len(values)
                variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
                allowed = SIGMAS * sqrt(variance / len(values)) + ROUNDING
                case.require(
                    abs(mean) <= allowed,
                    f"after {n} observations, the propensity of {arm!r} in {context} does not "
                    f"depend on the order of the arms (mean gap over seeds within {allowed:.2g})",
                    f"a mean gap of {mean:.4g}",
                )


def batches_are_single_calls(case: Case) -> None:
    """Require that `learn_many` is `learn` for each, `decide_many` is `decide` for each."""
    log = observations(60, case.reward)
    single = case.taught(60)
    for sizes in ([60], [1, 0, 9, 50]):
        policy, start = case.policy(), 0
        for size in sizes:
            part = log[start : start + size]
            policy.learn_many(*columns(part))
            start += size
        case.require_same_state(
            saved(single), policy, f"after learn_many in parts of {sizes} rather than learn"
        )
        for chosen in (None, SOME):
            contexts = named_contexts(25, seed=8)
            one_by_one = case.taught(60)
            expected = [one_by_one.decide(context, chosen) for context in contexts]
            batched = case.taught(60)
            seen = batched.decide_many(contexts, chosen)
            case.require(seen == expected, f"decide_many as decide for each: {expected}", seen)
            case.require_same_state(saved(one_by_one), batched, "after decide_many, not decide")
