"""BanditForest: what `banditree.checks` and the tests of the core leave open."""

import pickle

import numpy as np
import pytest

from banditree.errors import InvalidParameterError, StateError
from banditree.policies.bandit_forest import BanditForest

ARMS = ["golf", "tennis"]


def taught(contexts, right, **parameters):
    """Return a forest that met each context with each arm, of which one was right."""
    policy = BanditForest(ARMS, seed=1, **parameters)
    for context in contexts:
        for arm in ARMS:
            policy.learn(context, arm, float(right(context) == arm))
    return policy


def by_age(context):
    return "golf" if context["age"] > 40 else "tennis"


AGES = [{"age": 21 + i % 40} for i in range(3000)]


def test_explores_then_commits():
    policy = BanditForest(ARMS, depth=1, trees=3, seed=1)
    rng = np.random.default_rng(1)
    right = []
    for age in rng.integers(21, 61, 3000).tolist():
        context = {"age": age}
        arm = policy.decide(context)
        right.append(arm == by_age(context))
        policy.learn(context, arm, float(right[-1]))
    assert 0.4 < np.mean(right[:300]) < 0.6
    # One fifth of the ages is all that a single variable can tell from the others.
    assert np.mean(right[-1000:]) > 0.6
    assert sorted(policy.propensities({"age": 60}).values()) == [0, 1]


def test_a_smaller_radius_settles_earlier():
    some = AGES[:300]
    assert taught(some, by_age, depth=1).propensities({"age": 60}) == {"golf": 0.5, "tennis": 0.5}
    narrow = taught(some, by_age, depth=1, radius=0.25)
    assert sorted(narrow.propensities({"age": 60}).values()) == [0, 1]
    assert pickle.loads(pickle.dumps(narrow)).radius == 0.25


@pytest.mark.parametrize("radius", [0, -1, float("nan"), float("inf"), "wide", None, [1, 2]])
def test_wrong_radius(radius):
    with pytest.raises(InvalidParameterError, match="radius must be a positive number"):
        BanditForest(ARMS, radius=radius)


def test_deeper_trees_tell_more():
    policy = taught(AGES * 2, by_age, depth=2, trees=1)
    shares = [policy.propensities({"age": age})["golf"] for age in range(21, 61)]
    right = [share == (age > 40) for age, share in zip(range(21, 61), shares, strict=True)]
    assert np.mean(right) >= 0.7


def test_rules_name_cuts():
    policy = taught(AGES, by_age, depth=1, trees=1)
    rules = {policy.explain({"age": age})["golf"].rule for age in (21, 30, 41, 50, 60)}
    assert len(rules) == 2
    inside, outside = sorted(rules, key=lambda rule: " or " in rule)
    assert "age" in inside
    assert "age" in outside
    missing = policy.explain({"age": None})["golf"].rule
    assert missing in {f"{rule} (or missing)" for rule in rules}


def test_rules_name_categories():
    contexts = [{"city": ["Rome", "Oslo", "Lima"][i % 3]} for i in range(3000)]
    policy = taught(contexts, lambda c: "golf" if c["city"] == "Oslo" else "tennis", depth=2)
    explained = policy.explain({"city": "Oslo"})["golf"]
    assert "city is Oslo" in explained.rule
    assert explained.mean == 1
    assert policy.decide({"city": "Oslo"}) == "golf"
    assert policy.decide({"city": "Lima"}) == policy.decide({"city": "Paris"}) == "tennis"


def test_rules_name_each_tree_that_differs():
    """Four bits, of which each root sees three."""
    rng = np.random.default_rng(3)
    contexts = rng.integers(0, 2, (4000, 4)).astype(float)
    policy = taught(contexts, lambda c: "golf" if c[0] == c[1] else "tennis", depth=2, trees=4)
    rule = policy.explain(contexts[0])["golf"].rule
    assert rule.startswith("tree 1: feature ")
    assert "; tree 4: feature " in rule
    many = taught(contexts[:60], lambda c: "golf", trees=6)
    assert many.explain(contexts[0])["golf"].rule == "mean of 6 trees"


def test_untried_arm_is_unknown():
    policy = taught(AGES[:100], by_age)
    policy.add_arm("chess")
    explained = policy.explain({"age": 30})["chess"]
    assert explained.n == 0
    assert np.isnan(explained.mean)
    assert policy.expected_rewards({"age": 30})["chess"] == 0.5
    assert policy.propensities({"age": 30})["chess"] == pytest.approx(1 / 3)


def test_removed_arm_leaves_the_vote():
    policy = taught(AGES, lambda context: "golf", depth=1)
    assert policy.propensities({"age": 30}) == {"golf": 1, "tennis": 0}
    assert policy.propensities({"age": 30}, ["tennis"]) == {"golf": 0, "tennis": 1}
    policy.remove_arm("golf")
    assert policy.propensities({"age": 30}) == {"tennis": 1}
    policy.add_arm("golf")
    assert policy.propensities({"age": 30}) == {"golf": 0.5, "tennis": 0.5}


@pytest.mark.parametrize("n", [30, 2000])
def test_pickle_carries_on(n):
    policy = taught(AGES[:n], by_age)
    copy = pickle.loads(pickle.dumps(policy))
    for forest in (policy, copy):
        forest.learn_many(AGES, ["golf"] * len(AGES), [0.25] * len(AGES))
    assert copy._state()["forest"].tobytes() == policy._state()["forest"].tobytes()


def test_state_of_other_arms_is_refused():
    policy, other = BanditForest(ARMS, seed=1), BanditForest([*ARMS, "chess"], seed=1)
    with pytest.raises(StateError, match="other arms"):
        policy._restore(other._state())


@pytest.mark.parametrize(
    "wrong",
    [
        {"depth": 0},
        {"depth": 1.5},
        {"trees": 0},
        {"delta": 0},
        {"delta": 1},
        {"delta": "low"},
        {"delta": [0.1, 0.2]},
        {"epsilon": 0.4},
        {"epsilon": (0.8, 0.4)},
        {"epsilon": (0.4, 1.2)},
        {"epsilon": (0.4, float("nan"))},
        {"reward": "continuous"},
    ],
    ids=str,
)
def test_wrong_parameters(wrong):
    (name,) = wrong
    with pytest.raises(InvalidParameterError, match=rf"^{name} must be .*;"):
        BanditForest(ARMS, **wrong)
