"""Small streams of observations and events, always the same."""

from collections.abc import Sequence
from random import Random
from typing import Any, Literal, NamedTuple

import numpy as np

from banditree.policies.base import Policy
from banditree.policies.rewards import RewardKind
from banditree.types import Arm, FloatArray

ARMS: tuple[Arm, ...] = ("golf", "tennis", "hockey")
CITIES = ("Berlin", "Rome", "Oslo", "Lima")
# In this many first contexts, one of the features has not appeared yet.
BEFORE_VISITS = 12

NamedContext = dict[str, Any]


class Observation(NamedTuple):
    """What was known, what was offered, what came of it."""

    context: NamedContext
    arm: Arm
    reward: float


def named_contexts(n: int, seed: int = 0) -> list[NamedContext]:
    """Return contexts with numbers, strings, booleans, missing values; features come and go."""
    random = Random(seed)
    contexts: list[NamedContext] = []
    for i in range(n):
        context: NamedContext = {
            "age": random.randint(18, 80),
            "city": random.choice(CITIES),
            "member": random.random() < 0.5,
            "income": None if random.random() < 0.3 else round(random.gauss(40, 10), 1),
            "visits": random.randint(0, 9),
        }
        if i < BEFORE_VISITS:
            del context["visits"]
        if random.random() < 0.1:
            del context["city"]
        contexts.append(context)
    return contexts


def observations(n: int, reward: RewardKind, seed: int = 0) -> list[Observation]:
    """Return contexts with an arm offered at random, and rewards that depend on both."""
    random = Random(seed + 1)
    made = []
    for context in named_contexts(n, seed):
        arm = random.choice(ARMS)
        made.append(Observation(context, arm, _reward(_chance(context, arm), reward, random)))
    return made


def columns(log: Sequence[Observation]) -> tuple[list[NamedContext], list[Arm], list[float]]:
    """Return the contexts, the arms and the rewards, as `learn_many` takes them."""
    return [o.context for o in log], [o.arm for o in log], [o.reward for o in log]


def _chance(context: NamedContext, arm: Arm) -> float:
    if arm == "golf":
        return 0.8 if context["age"] > 45 else 0.2
    if arm == "tennis":
        return 0.7 if context.get("city") == "Rome" else 0.3
    return 0.7 if context["member"] else 0.1


def _reward(chance: float, kind: RewardKind, random: Random) -> float:
    if kind == "binary":
        return float(random.random() < chance)
    return 10 * chance - 3 + random.gauss(0, 1)


def number_rows(n: int) -> FloatArray:
    """Return contexts without names, as a matrix of numbers, some of them missing."""
    random = Random(7)
    rows = np.array([[random.gauss(0, 1) for _ in range(3)] for _ in range(n)])
    rows[::5, 1] = np.nan
    return rows


class Event(NamedTuple):
    """One call of a policy's life."""

    call: Literal["decide", "learn", "add", "remove"]
    context: NamedContext
    arm: Arm
    reward: float


def life(reward: RewardKind, n: int = 60) -> list[Event]:
    """Return n observations, each with a decision before it; two arms leave, one of them returns.

    Rewards of arms that have left keep coming in.
    """
    events: list[Event] = []
    arms: dict[int, tuple[Literal["add", "remove"], Arm]] = {
        n // 4: ("remove", "golf"),
        n // 3: ("add", 7),
        n // 2: ("add", "golf"),
        2 * n // 3: ("remove", "tennis"),
    }
    for i, (context, arm, value) in enumerate(observations(n, reward)):
        if i in arms:
            events.append(Event(arms[i][0], {}, arms[i][1], 0.0))
        events.append(Event("decide", context, arm, 0.0))
        known_seven = i > n // 3 and i % 5 == 0
        events.append(Event("learn", context, 7 if known_seven else arm, value))
    return events


def play(policy: Policy, events: Sequence[Event]) -> list[Arm]:
    """Let a policy live through the events; return its decisions."""
    decisions = []
    for event in events:
        if event.call == "decide":
            decisions.append(policy.decide(event.context))
        elif event.call == "learn":
            policy.learn(event.context, event.arm, event.reward)
        elif event.call == "add":
            policy.add_arm(event.arm)
        else:
            policy.remove_arm(event.arm)
    return decisions
