"""The law of threads."""

import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from banditree.checks.case import Case
from banditree.checks.streams import NamedContext, named_contexts
from banditree.policies.base import Policy

Reading = tuple[list[float], list[float]]


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
    expected = _read(_taught(case, context, lessons, 1), context)
    # Where the seed and the order of lessons matter, so do the turns that threads happen to take.
    other = _read(_taught(case, context, lessons[::-1], 2), context)
    seen = _read(shared, context)
    for what, i in (("numbers of observations", 0), ("expected rewards", 1)):
        if _near(expected[i], other[i]):
            case.require(
                _near(expected[i], seen[i]),
                f"after four threads the same {what} as after one: {expected[i]}",
                seen[i],
            )


def _near(one: list[float], two: list[float]) -> bool:
    return bool(np.allclose(one, two, rtol=1e-9, atol=1e-9))


def _work(policy: Policy, context: NamedContext, lessons: list[tuple[str, float]]) -> None:
    for arm, reward in lessons:
        policy.decide(context)
        policy.learn(context, arm, reward)
        policy.explain(context)


def _taught(
    case: Case, context: NamedContext, lessons: list[tuple[str, float]], seed: int
) -> Policy:
    policy = case.policy(seed=seed)
    for arm, reward in lessons:
        policy.learn(context, arm, reward)
    return policy


def _read(policy: Policy, context: NamedContext) -> Reading:
    explanation, rewards = policy.explain(context), policy.expected_rewards(context)
    return [float(explanation[arm].n) for arm in policy.arms], [rewards[a] for a in policy.arms]


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
