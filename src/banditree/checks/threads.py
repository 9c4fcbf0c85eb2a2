"""The law of threads."""

import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from banditree.checks.case import Case
from banditree.checks.streams import NamedContext, named_contexts
from banditree.policies.base import Policy


def threads_lose_nothing(case: Case) -> None:
    """Require that four threads may decide and learn at once: nothing fails or is lost."""
    rewards = [case.good, case.bad, case.good, case.good, case.bad]
    lessons = [(arm, reward) for reward in rewards for arm in ("golf", "tennis", "hockey")] * 8
    # One context, so that all observations of an arm stand in one place, whatever the policy.
    context = named_contexts(1)[0]
    shared = case.policy()
    parts = [partial(_work, shared, context, lessons[i::4]) for i in range(4)]
    errors = _run_together(parts)
    case.require(not errors, "no error in four threads", errors)
    # Threads take turns in any order, so only what does not depend on the order can be required.
    orders = [lessons, lessons[::-1], sorted(lessons, key=str), sorted(lessons, key=_by_reward)]
    taught = [_taught(case, context, order, seed) for seed, order in enumerate(orders)]
    sent = [float(len(lessons) // 3)] * 3
    if all(_counts(policy, context) == sent for policy in taught):
        what, read = "numbers of observations", _counts
    else:
        what, read = "expected rewards", _means
    expected, *others = [read(policy, context) for policy in taught]
    if all(_near(expected, other) for other in others):
        case.require(
            _near(expected, read(shared, context)),
            f"after four threads the same {what} as after one: {expected}",
            read(shared, context),
        )


def _near(one: list[float], two: list[float]) -> bool:
    return bool(np.allclose(one, two, rtol=1e-9, atol=1e-9))


def _work(policy: Policy, context: NamedContext, lessons: list[tuple[str, float]]) -> None:
    for i, (arm, reward) in enumerate(lessons):
        policy.decide(context)
        policy.learn(context, arm, reward)
        if i % 10 == 0:
            policy.explain(context)


def _taught(
    case: Case, context: NamedContext, lessons: list[tuple[str, float]], seed: int
) -> Policy:
    policy = case.policy(seed=seed)
    for arm, reward in lessons:
        policy.learn(context, arm, reward)
    return policy


def _by_reward(lesson: tuple[str, float]) -> float:
    return lesson[1]


def _counts(policy: Policy, context: NamedContext) -> list[float]:
    explanation = policy.explain(context)
    return [float(explanation[arm].n) for arm in policy.arms]


def _means(policy: Policy, context: NamedContext) -> list[float]:
    rewards = policy.expected_rewards(context)
    return [rewards[arm] for arm in policy.arms]


def _run_together(tasks: Sequence[Callable[[], None]]) -> list[str]:
    """Run each task in a thread of its own; return the errors they raised."""
    errors: list[str] = []
    start = threading.Barrier(len(tasks))

    def run(task: Callable[[], None]) -> None:
        try:
            start.wait()
            task()
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # so that threads meet in the middle of things
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return errors
