"""What Bandit says of an arm: what each feature adds to what it expects on average."""

from __future__ import annotations

import random
from typing import Any

import pytest

import banditree as bt

# Decisions here are for contexts with features that are not known.
pytestmark = pytest.mark.filterwarnings("ignore::banditree.BanditreeWarning")
every_reward = pytest.mark.parametrize("reward", ["binary", "continuous"])


def teach_five_features(policy: Any, n: int = 500) -> Any:
    """Only age and, half as much, the city decide; all other features are noise."""
    rng = random.Random(2)
    for i in range(n):
        context = {f"other {j}": rng.random() for j in range(4)}
        context |= {"age": rng.uniform(20, 60), "city": rng.choice(["Rome", "Oslo"])}
        chance = 0.1 + 0.6 * (context["age"] > 40) + 0.2 * (context["city"] == "Rome")
        rate = chance if i % 2 else 0.8 - chance / 2
        noise = rng.gauss(0, 1) if policy.reward == "continuous" else 0
        reward = 50 + 10 * rate + noise if noise else float(rng.random() < rate)
        policy.learn(context, "golf" if i % 2 else "tennis", reward)
    return policy


CONTEXT = {"age": 55.0, "city": "Oslo"} | {f"other {j}": 0.4 for j in range(4)}


@every_reward
def test_contributions_add_up_to_the_mean(reward: str) -> None:
    policy = bt.Bandit(["golf", "tennis"], reward=reward, seed=1)
    for n in (1, 2, 9, 300):
        teach_five_features(policy, n)
        for probe in (CONTEXT, CONTEXT | {"age": 21, "city": "Lima"}, {"city": None}, {}):
            expected = policy.expected_rewards(probe)
            for arm, known in policy.explain(probe).items():
                if policy.counts[arm]:
                    total = known.base + sum(known.contributions.values())
                    assert total == pytest.approx(known.mean, abs=1e-6)
                    assert known.mean == pytest.approx(expected[arm], abs=1e-9)


@every_reward
def test_the_feature_that_decides_contributes_most(reward: str) -> None:
    policy = teach_five_features(bt.Bandit(["golf", "tennis"], reward=reward, seed=1))
    for age in (25, 55):
        golf = policy.explain(CONTEXT | {"age": age})["golf"]
        sizes = {name: abs(part) for name, part in golf.contributions.items()}
        assert max(sizes, key=sizes.__getitem__) == next(iter(sizes)) == "age"
        assert (golf.contributions["age"] > 0) == (age > 40)


def test_an_explanation_as_a_dictionary() -> None:
    policy = teach_five_features(bt.Bandit(["golf", "tennis", "chess"], seed=1))
    given = policy.explain(CONTEXT).to_dict()
    assert set(given["golf"]) == {"rule", "n", "mean", "interval", "base", "contributions"}
    assert set(given["golf"]["contributions"]) <= set(CONTEXT)
    low, high = given["golf"]["interval"]
    assert 0 <= low < given["golf"]["mean"] < high <= 1
    assert given["chess"] == {
        "rule": "not tried yet",
        "n": 0,
        "mean": None,
        "interval": [0.0, 1.0],
    }


def test_the_text_names_three_features_and_the_others() -> None:
    policy = teach_five_features(bt.Bandit(["golf", "tennis"], seed=1))
    golf = policy.explain(CONTEXT)["golf"]
    base, *named, others = golf.rule.split(", ")
    assert base == f"base {golf.base:.3f}"
    first = list(golf.contributions.items())
    assert named == [f"{name} {part:+.3f}" for name, part in first[:3]]
    rest = sum(part for _, part in first[3:])
    assert others == f"{len(first) - 3} others {rest:+.3f}"
    assert golf.rule in str(policy.explain(CONTEXT))
    few = bt.Bandit(["golf"], seed=1)
    for i in range(90):
        few.learn({"age": i % 30, "size": i % 7}, "golf", i % 30 > 12)
    rule = few.explain({"age": 3, "size": 3})["golf"].rule
    assert "age -" in rule
    assert "others" not in rule


@every_reward
def test_snapshots_say_the_same(reward: str) -> None:
    policy = teach_five_features(bt.Bandit(["golf", "tennis", "chess"], reward=reward, seed=1))
    snapshot = bt.Snapshot.from_bytes(policy.snapshot().to_bytes())
    for probe in (CONTEXT, {"age": 21, "city": "Lima", "new": 3}, {}):
        assert snapshot.propensities(probe) == policy.propensities(probe)
        assert snapshot.expected_rewards(probe) == policy.expected_rewards(probe)
        assert snapshot.explain(probe).to_dict() == policy.explain(probe).to_dict()
