"""The law of contexts: every form will do at any time."""

from typing import Any

import numpy as np

from banditree.checks.case import Case
from banditree.checks.streams import named_contexts, number_rows
from banditree.policies.base import Policy

NAN = float("nan")


def contexts_of_every_form(case: Case) -> None:
    """Require decisions in any form of context, with unknown, missing and absent all the same."""
    rows = number_rows(4)
    positional: list[Any] = [[], [1, "a", True, None], (1, 2.5), rows[0], np.array([1, 2])]
    for context in [*named_contexts(3), {}, *positional]:
        _answers(case, case.policy(), context)
        late = case.policy()
        late.learn(context, "golf", case.good)
        _answers(case, late, context)
        late.explain(context)
    _require_same_for_named(case)
    _require_same_for_lists(case)
    _require_same_for_arrays(case)


def _answers(case: Case, policy: Policy, context: Any) -> None:
    """Require an arm from every way to ask for one."""
    decided = [policy.decide(context), *policy.decide_many([context] * 2)]
    case.require(set(decided) <= set(policy.arms), f"in {context}: one of {policy.arms}", decided)
    policy.expected_rewards(context)


def _require_same(case: Case, policy: Policy, *contexts: Any) -> None:
    """Require that a policy sees no difference between contexts."""
    expected, first = policy.expected_rewards(contexts[0]), case.propensities(policy, contexts[0])
    for context in contexts:
        _answers(case, policy, context)
        seen = policy.expected_rewards(context)
        case.require(
            seen == expected, f"in {context} the rewards of {contexts[0]}: {expected}", seen
        )
        second = case.propensities(policy, context)
        case.require_same_propensities(first, second, f"in {context} as in {contexts[0]}")


def _require_same_for_named(case: Case) -> None:
    policy = case.taught()
    known = {"age": 50, "member": True}
    _require_same(
        case,
        policy,
        known,
        {**known, "city": "Atlantis"},
        {**known, "city": None, "income": NAN, "visits": None},
        {**known, "height": 180, "name": "Ada", "tags": None},
        {"member": np.bool_(True), "age": np.int64(50)},
        {"age": np.float32(50.0), "member": True, "income": np.nan},
    )
    _require_same(case, policy, {}, {"unheard_of": 1}, dict.fromkeys(("age", "city", "member")))


def _require_same_for_lists(case: Case) -> None:
    policy = case.policy()
    names = ("age", "city", "member", "income")
    for i, context in enumerate(named_contexts(40)):
        values = [context.get(name) for name in names]
        policy.learn(values, ("golf", "tennis", "hockey")[i % 3], (case.good, case.bad)[i % 2])
    row: list[Any] = [50, "Rome", True, None]
    _require_same(
        case, policy, row, tuple(row), np.array(row, dtype=object), [50, "Rome", True, NAN]
    )
    _require_same(case, policy, [50, "Atlantis", True, 40], [50, None, True, 40.0])


def _require_same_for_arrays(case: Case) -> None:
    policy, rows = case.policy(), number_rows(40)
    for i, row in enumerate(rows):
        policy.learn(row, ("golf", "tennis", "hockey")[i % 3], (case.good, case.bad)[i % 2])
    row = np.array([0.5, np.nan, -2.0])
    strided = np.array([0.5, 9.0, np.nan, 9.0, -2.0, 9.0])[::2]
    _require_same(case, policy, row, row.astype(np.float32), strided, row.tolist(), [0.5, None, -2])
    decided = policy.decide_many(rows)
    case.require(len(decided) == len(rows), f"{len(rows)} decisions", len(decided))
