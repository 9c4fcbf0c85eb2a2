"""Laws of arms: those that come and go, and those that are not there."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from banditree.checks.case import Case
from banditree.checks.saved import saved
from banditree.checks.streams import ARMS, named_contexts, observations
from banditree.errors import InvalidParameterError, InvalidRewardError, UnknownArmError

# After so many decisions an arm that was never tried is one that never will be.
PATIENCE = 200


def arms_come_and_go(case: Case) -> None:
    """Require that new arms are tried; removed ones are not, but still learn and may return."""
    policy, contexts = case.taught(), named_contexts(PATIENCE, seed=9)
    policy.add_arm("chess")
    case.require(policy.arms == (*ARMS, "chess"), "the new arm among the arms", policy.arms)
    tried = 0
    for context in contexts:
        arm = policy.decide(context)
        tried += arm == "chess"
        policy.learn(context, arm, case.bad)
        if tried:
            break
    case.require(
        tried > 0, f"a new arm is decided within {PATIENCE} decisions that all went badly", "never"
    )
    policy.remove_arm("golf")
    case.require("golf" not in policy.arms, "a removed arm is not among the arms", policy.arms)
    decided = policy.decide_many(contexts[:60]) + [policy.decide(c) for c in contexts[:20]]
    case.require("golf" not in decided, "a removed arm is never decided", decided)
    for read in (policy.propensities, policy.expected_rewards, policy.explain):
        seen = dict(read(contexts[0]))
        case.require("golf" not in seen, f"no removed arm in {read.__name__}", seen)
    _require_return(case)


def _require_return(case: Case) -> None:
    """Require that an arm that was away while rewards came in knows what one that stayed knows."""
    stayed, away = case.taught(40), case.taught(40)
    late = observations(60, case.reward)[40:]
    away.remove_arm("golf")
    for policy in (stayed, away):
        # The order of decisions is not the order of rewards.
        for context, arm, reward in reversed(late):
            policy.learn(context, arm, reward)
    away.add_arm("golf")
    case.require(set(away.arms) == set(stayed.arms), f"the arms {stayed.arms}", away.arms)
    case.require_same_state(saved(stayed), away, "after an arm was removed, taught and added again")
    contexts = named_contexts(30, seed=10)
    expected, seen = stayed.decide_many(contexts), away.decide_many(contexts)
    case.require(seen == expected, f"the decisions as if it had stayed: {expected}", seen)


Refusal = tuple[str, Callable[[], object], type[Exception], str]


def mistakes_are_explained(case: Case) -> None:
    """Require that mistakes raise the right error, which shows the value, and change nothing."""
    for n in (0, 20):
        policy = case.taught(n)
        policy.remove_arm("tennis")
        before = saved(policy)
        for what, call, error, shown in _arm_mistakes(case, policy) + _reward_mistakes(
            case, policy
        ):
            case.require_refusal(call, error, what, shown)
            case.require_same_state(before, policy, f"after the mistake of {what}")
    for wrong, shown in (
        ([], "empty"),
        (["golf", "golf"], "'golf' twice"),
        (["golf", True], "True"),
        (["golf", None], "None"),
        (["golf", 1.5], "1.5"),
    ):
        case.require_refusal(
            partial(case.factory, arms=wrong, seed=1),
            InvalidParameterError,
            f"making arms={wrong}",
            shown,
        )
    alone = case.policy(["golf", "tennis"])
    alone.remove_arm("golf")
    case.require_refusal(
        partial(alone.remove_arm, "tennis"), InvalidParameterError, "removing the last", "'tennis'"
    )


def _arm_mistakes(case: Case, policy: Any) -> list[Refusal]:
    context, unknown, invalid = {"age": 40}, UnknownArmError, InvalidParameterError
    decide, learn = partial(policy.decide, context), partial(policy.learn, context)
    return [
        ("learning for 'gofl'", partial(learn, "gofl", case.good), unknown, "'gofl'"),
        ("learning for 'gofl'", partial(learn, "gofl", case.good), unknown, "did you mean 'golf'"),
        ("learning for None", partial(learn, None, case.good), unknown, "None"),
        ("learning for True", partial(learn, True, case.good), unknown, "True"),
        ("learning for a list", partial(learn, ["golf"], case.good), unknown, "['golf']"),
        ("deciding among 'gofl'", partial(decide, ["gofl"]), unknown, "did you mean 'golf'"),
        ("deciding among a removed arm", partial(decide, ["tennis"]), unknown, "'tennis'"),
        ("deciding among none", partial(decide, []), invalid, "empty"),
        ("deciding among an arm twice", partial(decide, ["golf"] * 2), invalid, "'golf' twice"),
        ("deciding among a string", partial(decide, "golf"), invalid, "'golf'"),
        ("removing 'gofl'", partial(policy.remove_arm, "gofl"), unknown, "did you mean 'golf'"),
        ("removing twice", partial(policy.remove_arm, "tennis"), unknown, "'tennis'"),
        ("adding twice", partial(policy.add_arm, "golf"), invalid, "'golf'"),
        ("adding None", partial(policy.add_arm, None), invalid, "None"),
        ("adding True", partial(policy.add_arm, True), invalid, "True"),
    ]


def _reward_mistakes(case: Case, policy: Any) -> list[Refusal]:
    wrong: dict[str, Any] = {"nan": float("nan"), "inf": np.inf, "None": None, "'good'": "good"}
    if case.reward == "binary":
        wrong |= {"1.5": 1.5, "-2": -2}
    learn = partial(policy.learn, {"age": 40}, "golf")
    learn_many = partial(policy.learn_many, [{"age": 40}] * 2, ["golf"] * 2)
    single: list[Refusal] = [
        (f"a reward of {shown}", partial(learn, value), InvalidRewardError, shown)
        for shown, value in wrong.items()
    ]
    many: list[Refusal] = [
        (
            f"a second reward of {shown}",
            partial(learn_many, [case.good, value]),
            InvalidRewardError,
            "good" if shown == "'good'" else "row 1",
        )
        for shown, value in wrong.items()
    ]
    return single + many
