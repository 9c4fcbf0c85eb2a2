"""Laws of learning: no trace of what is refused, no change to what was passed, no hold on it."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from banditree.checks.case import Case
from banditree.checks.saved import saved
from banditree.checks.streams import columns, number_rows, observations
from banditree.errors import (
    BanditreeError,
    InvalidContextError,
    InvalidParameterError,
    InvalidRewardError,
    UnknownArmError,
)
from banditree.policies.base import Policy

Lesson = tuple[Any, Any, Any, type[BanditreeError]]

# Features and categories that no other context has: they must leave no trace.
NEW = {"age": 33, "city": "Quito", "brand_new": "yes"}
INFINITE = {**NEW, "age": float("inf")}
RETYPED = {**NEW, "age": "old"}


def refused_learning_leaves_no_trace(case: Case) -> None:
    """Require that a `learn` or `learn_many` that raises has changed nothing."""
    good = case.good
    refused: list[Lesson] = [
        (NEW, "gold", good, UnknownArmError),
        (NEW, None, good, UnknownArmError),
        (NEW, "golf", float("nan"), InvalidRewardError),
        (NEW, "golf", float("-inf"), InvalidRewardError),
        (NEW, "golf", None, InvalidRewardError),
        (NEW, "golf", "high", InvalidRewardError),
        (INFINITE, "golf", good, InvalidContextError),
        ({**NEW, "age": [33]}, "golf", good, InvalidContextError),
        (33, "golf", good, InvalidContextError),
    ]
    if case.reward == "binary":
        refused += [(NEW, "golf", value, InvalidRewardError) for value in (1.5, -0.01)]
    later: list[Lesson] = [
        (RETYPED, "golf", good, InvalidContextError),
        ([33, "Quito"], "golf", good, InvalidContextError),
    ]
    _require_no_trace(case, case.policy(), refused)
    _require_no_trace(case, case.taught(), refused + later)
    _require_no_trace_of_lengths(case)


def _require_no_trace(case: Case, policy: Policy, refused: list[Lesson]) -> None:
    before = saved(policy)
    fine = ({"age": 40, "first_seen": True}, "hockey", case.good)
    for context, arm, reward, error in refused:
        what = f"learn({context}, {arm!r}, {reward!r})"
        case.require_refusal(partial(policy.learn, context, arm, reward), error, what)
        case.require_same_state(before, policy, f"after {what} was refused")
        rows = [[fine[i]] * 3 + [bad] for i, bad in enumerate((context, arm, reward))]
        what = f"learn_many of three good rows and a last one with {context}, {arm!r}, {reward!r}"
        case.require_refusal(partial(policy.learn_many, *rows), error, what)
        case.require_same_state(before, policy, f"after {what} was refused")


def _require_no_trace_of_lengths(case: Case) -> None:
    rows, good = number_rows(20), case.good
    policy = case.policy()
    policy.learn_many(rows, ["golf", "tennis"] * 10, [case.bad, good] * 10)
    before = saved(policy)
    infinite = rows[:2].copy()
    infinite[1, 2] = np.inf
    calls: dict[str, tuple[Callable[[], object], type[BanditreeError]]] = {
        "learn with two features of three": (
            lambda: policy.learn(rows[0, :2], "golf", good),
            InvalidContextError,
        ),
        "learn_many with four features of three": (
            lambda: policy.learn_many(np.ones((2, 4)), ["golf"] * 2, [good] * 2),
            InvalidContextError,
        ),
        "learn with an infinite feature": (
            lambda: policy.learn(infinite[1], "golf", good),
            InvalidContextError,
        ),
        "learn_many with an infinite feature in the last row": (
            lambda: policy.learn_many(infinite, ["golf"] * 2, [good] * 2),
            InvalidContextError,
        ),
        "learn_many with one arm too few": (
            lambda: policy.learn_many(rows[:3], ["golf"] * 2, [good] * 3),
            InvalidParameterError,
        ),
        "learn_many with one reward too many": (
            lambda: policy.learn_many(rows[:3], ["golf"] * 3, [good] * 4),
            InvalidRewardError,
        ),
    }
    for what, (call, error) in calls.items():
        case.require_refusal(call, error, what)
        case.require_same_state(before, policy, f"after {what} was refused")


def inputs_stay_as_they_are(case: Case) -> None:
    """Require that no call changes what it was given, and read-only arrays will do."""
    log = observations(20, case.reward)
    contexts, arms, rewards = columns(log)
    eligible, initial = ["golf", "hockey"], ["golf", "tennis", "hockey"]
    given = (contexts, arms, rewards, eligible, initial)
    before = copy.deepcopy(given)
    policy = case.policy(initial)
    policy.learn_many(contexts, arms, rewards)
    for context, arm, reward in log:
        policy.learn(context, arm, reward)
        _read(policy, context, eligible)
    policy.explain(contexts[0], eligible)
    policy.decide_many(contexts, eligible)
    case.require(given == before, "contexts, arms and rewards as they were passed", given)

    rows, values = number_rows(20), np.array(rewards)
    named: Any = np.array(arms)
    frozen = [array.copy() for array in (rows, named, values)]
    for array in (rows, named, values):
        array.flags.writeable = False
    policy = case.policy()
    policy.learn_many(rows, named, values)
    for row, arm, reward in zip(rows, arms, rewards, strict=True):
        policy.learn(row, arm, reward)
        _read(policy, row, eligible)
    policy.explain(rows[0], eligible)
    policy.decide_many(rows, eligible)
    same = all(
        a.tobytes() == b.tobytes() for a, b in zip((rows, named, values), frozen, strict=True)
    )
    case.require(same, "arrays as they were passed", "changed arrays")


def _read(policy: Policy, context: Any, eligible: list[Any]) -> None:
    policy.decide(context, eligible)
    policy.expected_rewards(context, eligible)


def inputs_are_not_kept(case: Case) -> None:
    """Require that changes to an input, or to an answer, after the call do not reach the policy."""
    log = observations(30, case.reward)
    expected, policy, names = case.policy(), case.policy(), ["golf", "tennis", "hockey"]
    for context, arm, reward in log:
        expected.learn(context, arm, reward)
        passed = dict(context)
        policy.learn(passed, arm, reward)
        passed.update(age=-1, city="gone", surprise=1)
        policy.expected_rewards(context).clear()
    case.require_same_state(saved(expected), policy, "after contexts changed that were learned")

    rows, arms, rewards = number_rows(30), [o.arm for o in log], [o.reward for o in log]
    expected = case.policy()
    expected.learn_many(rows, arms, rewards)
    expected.learn(rows[0], "golf", case.good)
    kept: list[Any] = [rows.copy(), list(arms), np.array(rewards)]
    policy = case.policy(names)
    names.append("chess")
    policy.learn_many(*kept)
    row = rows[0].copy()
    policy.learn(row, "golf", case.good)
    kept[0][:], kept[1][:], kept[2][:], row[:] = 99.0, ["golf"] * 30, case.bad, -99.0
    case.require_same_state(saved(expected), policy, "after arrays changed that were learned")
    # Once more, since a kept array may only show in what is learned from it later.
    for probe in rows[:10]:
        for taught in (expected, policy):
            taught.learn(probe, "tennis", case.bad)
    decisions = [taught.decide_many(rows) for taught in (expected, policy)]
    case.require(decisions[0] == decisions[1], f"the decisions {decisions[0]}", decisions[1])
    case.require_same_state(saved(expected), policy, "after arrays changed that were learned")
