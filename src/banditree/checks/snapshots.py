"""Laws of snapshots: what they say is what the policy said at that moment, and stays so."""

import pickle
from dataclasses import replace
from functools import partial

from banditree.checks.case import Case, Propensities
from banditree.checks.deciding import PROBES, SOME
from banditree.checks.drawing import FLOOR
from banditree.checks.saved import saved
from banditree.checks.streams import named_contexts, observations
from banditree.policies.base import Policy
from banditree.policies.parameters import parameters_of
from banditree.policies.snapshot import Snapshot
from banditree.types import Arm

# Of the observations that a policy has learned from when it is asked for a snapshot.
MOMENTS = (0, 7, 60)


def snapshots_agree(case: Case) -> None:
    """Require that a snapshot has the policy's propensities of that moment, bit for bit."""
    cases = [case]
    if "floor" in parameters_of(type(case.policy())):
        cases.append(replace(case, factory=partial(case.factory, floor=FLOOR)))
    for each in cases:
        for n in MOMENTS:
            policy = each.taught(n)
            policy.remove_arm("tennis")
            before = saved(policy)
            snapshot = policy.snapshot()
            each.require_same_state(before, policy, "after a snapshot")
            _require_agreement(each, policy, snapshot)


def _require_agreement(case: Case, policy: Policy, snapshot: Snapshot) -> None:
    case.require(snapshot.arms == policy.arms, f"the arms {policy.arms}", snapshot.arms)
    features, seen = dict(policy.features), dict(snapshot.features)
    case.require(features == seen, f"the features {features}", seen)
    for context in PROBES:
        for arms in (None, SOME[:1]):
            where = f"a snapshot in {context} with arms={arms}"
            expected = policy.decision(context, arms).propensities
            stated = snapshot.propensities(context, arms)
            case.require(expected == stated, f"{where}: propensities {expected}", stated)
            values = policy.expected_rewards(context, arms)
            means = snapshot.expected_rewards(context, arms)
            near = values.keys() == means.keys() and all(
                abs(value - means[arm]) <= 1e-12 * max(abs(value), 1)
                for arm, value in values.items()
            )
            case.require(near, f"{where}: expected rewards {values}", means)
            explained = set(snapshot.explain(context, arms))
            case.require(explained == set(values), f"{where}: explains {set(values)}", explained)


def snapshots_follow_from_beliefs(case: Case) -> None:
    """Require that equal beliefs give snapshots of equal bytes, and bytes the snapshot again."""
    quiet, busy = case.taught(), case.policy()
    for context, arm, reward in observations(60, case.reward):
        busy.decide(context)
        busy.learn(context, arm, reward)
    busy.decide_many(PROBES)
    first, second = quiet.snapshot(), busy.snapshot()
    what = "a snapshot whose bytes do not depend on the decisions made before"
    case.require(first.to_bytes() == second.to_bytes(), what, second)
    same = first == second and hash(first) == hash(second) and first.digest == second.digest
    case.require(same, f"equal bytes, so equal to {first}", second)
    again = Snapshot.from_bytes(first.to_bytes(), **first._objects)
    for twin in (again, pickle.loads(pickle.dumps(first))):
        case.require(twin == first and twin.to_bytes() == first.to_bytes(), f"{first}", twin)
        for context in PROBES:
            expected, seen = first.propensities(context), twin.propensities(context)
            case.require(expected == seen, f"propensities {expected} from bytes", seen)


def snapshots_stay_as_they_are(case: Case) -> None:
    """Require that a snapshot does not change when the policy learns on."""
    policy = case.taught(30)
    snapshot = policy.snapshot()
    data, expected = snapshot.to_bytes(), [snapshot.propensities(probe) for probe in PROBES]
    for context in named_contexts(30, seed=3):
        policy.learn(context, "golf", case.good)
    policy.add_arm("chess")
    seen = [snapshot.propensities(probe) for probe in PROBES]
    case.require(seen == expected, f"a snapshot with the propensities {expected}", seen)
    case.require(snapshot.to_bytes() == data, "a snapshot with the same bytes", snapshot)
    later = policy.snapshot()
    case.require(later != snapshot, "another snapshot once the policy has learned on", later)


def keys_fix_decisions(case: Case) -> None:
    """Require that a key fixes a snapshot's decision, and that keys draw by the propensities."""
    snapshot, context, count = case.taught().snapshot(), PROBES[0], case.few_draws
    twin = Snapshot.from_bytes(snapshot.to_bytes(), **snapshot._objects)
    for arms in (None, SOME):
        drawn = [snapshot.decision(context, arms, key=i) for i in range(count)]
        for i, first in enumerate(drawn[:20]):
            second = twin.decision(context, None if arms is None else arms[::-1], key=i)
            case.require(first.arm == second.arm, f"key {i} draws {first.arm!r}", second.arm)
            alone = snapshot.decide(context, arms, key=i)
            case.require(first.arm == alone, f"decide(key={i}) draws {first.arm!r}", alone)
        stated = Propensities(drawn[0].propensities, None)
        _require_shares(case, stated, [decision.arm for decision in drawn], "keys")
        fresh = snapshot.decide_many([context] * case.few_draws, arms)
        _require_shares(case, stated, fresh, "fresh draws")


def _require_shares(case: Case, stated: Propensities, drawn: list[Arm], how: str) -> None:
    for arm, chance in stated.values.items():
        share = drawn.count(arm) / len(drawn)
        case.require(
            abs(share - chance) <= stated.tolerance(arm, share, len(drawn)),
            f"{how} that draw {arm!r} near its propensity of {chance:.4g}",
            f"{share:.4g} of {len(drawn)} decisions",
        )
