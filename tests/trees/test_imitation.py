"""Imitation: the small tree that imitates what a policy expects of an arm."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest

import banditree as bt
from banditree.trees.imitation import Imitation


def policy_where_a_number_decides(n: int = 900, reward: str = "binary") -> bt.Bandit[str]:
    policy, rng = bt.Bandit(["golf", "tennis", "chess"], reward=reward, seed=1), random.Random(1)
    for i in range(n):
        context = {"age": rng.uniform(20, 60), "city": rng.choice(["Rome", "Oslo", None])}
        chance = 0.8 if (context["age"] > 40) == (i % 2 == 0) else 0.1
        paid = float(rng.random() < chance)
        policy.learn(context, ["golf", "tennis"][i % 2], paid if reward == "binary" else 90 * paid)
    return policy


@pytest.fixture(scope="module")
def policy() -> bt.Bandit[str]:
    return policy_where_a_number_decides()


@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_where_a_number_decides_a_small_tree_says_so(reward: str) -> None:
    policy = policy_where_a_number_decides(reward=reward)
    for arm in ("golf", "tennis"):
        tree = policy.tree(arm)
        assert type(tree) is Imitation
        assert 0.9 < tree.fidelity <= 1
        assert 2 <= tree.n_leaves <= 12
        root = tree.to_dict()
        assert root["feature"] == "age"
        assert root["threshold"] == pytest.approx(40, abs=2)


def test_it_has_as_many_leaves_as_it_takes() -> None:
    policy, rng = bt.Bandit(["golf"], seed=1), random.Random(3)
    for _ in range(1_500):
        step = rng.randrange(4)
        policy.learn({"age": 10 * step + rng.uniform(20, 30)}, "golf", rng.random() < step / 3)
    tree = policy.tree("golf")
    assert 4 <= tree.n_leaves <= 12
    assert tree.fidelity > 0.95


def test_it_predicts_what_the_policy_expects(policy: bt.Bandit[str]) -> None:
    rng = random.Random(2)
    probes = [{"age": rng.uniform(20, 60), "city": "Rome"} for _ in range(300)]
    expected = policy.expected_rewards_many(probes)[:, policy.arms.index("golf")]
    errors = np.array(policy.tree("golf").predict(probes)) - expected
    assert 1 - (errors**2).mean() / expected.var() > 0.9


def test_the_fidelity_is_that_of_rows_held_out(policy: bt.Bandit[str]) -> None:
    tree, rows = policy.tree("golf"), policy._core.rows()[0]
    means = np.array([policy._expected(row, np.array([0]))[0] for row in rows])
    unseen, true = rows[1::2], means[1::2]
    errors = tree._core.predict(np.ascontiguousarray(unseen)) - true
    assert tree.fidelity == pytest.approx(1 - (errors**2).sum() / (true.size * true.var()))
    assert tree.to_dict()["n"] == len(rows[::2])


def test_it_says_how_well_it_imitates(policy: bt.Bandit[str]) -> None:
    tree = policy.tree("golf")
    first, root, *_ = str(tree).splitlines()
    assert first == f"imitates the policy with R² = {tree.fidelity:.2f} on contexts held out"
    assert root.startswith("mean ")


def test_pickles_and_copies_are_the_same_tree(policy: bt.Bandit[str]) -> None:
    tree = policy.tree("golf")
    for other in (pickle.loads(pickle.dumps(tree)), copy.copy(tree), copy.deepcopy(tree)):
        assert type(other) is Imitation
        assert other.fidelity == tree.fidelity
        assert other.to_dict() == tree.to_dict()
        assert str(other) == str(tree)
        assert other.predict([{"age": 50}]) == tree.predict([{"age": 50}])


def test_asking_for_it_changes_nothing(policy: bt.Bandit[str]) -> None:
    before = pickle.dumps(policy)
    tree = policy.tree("golf")
    assert pickle.dumps(policy) == before
    shown = str(tree)
    other = pickle.loads(before)
    old = other.tree("golf")
    for i in range(200):
        other.learn({"age": 20 + i % 40, "new": "x"}, "golf", i % 2)
    assert str(old) == shown


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_observations(n: int) -> None:
    policy = policy_where_a_number_decides(n)
    with pytest.raises(bt.NotFittedError, match=r"too few observations.*learn\(context, arm"):
        policy.tree("golf")


@pytest.mark.parametrize("n", range(2, 12))
def test_of_few_observations(n: int) -> None:
    tree = policy_where_a_number_decides(n).tree("golf")
    assert tree.fidelity <= 1
    assert 1 <= tree.n_leaves <= n


def test_an_arm_that_is_not_there(policy: bt.Bandit[str]) -> None:
    with pytest.raises(bt.UnknownArmError):
        policy.tree("curling")


def test_of_an_arm_that_was_not_tried_it_is_a_leaf(policy: bt.Bandit[str]) -> None:
    tree: Any = policy.tree("chess")
    assert isinstance(tree, Imitation)
    assert tree.fidelity <= 1


def test_where_nothing_decides_its_fidelity_is_not_below_0() -> None:
    for seed in range(5):
        policy, rng = bt.Bandit(["golf"], seed=seed), random.Random(seed)
        for _ in range(60):
            policy.learn([rng.random() for _ in range(5)], "golf", rng.random() < 0.5)
        assert 0 <= policy.tree("golf").fidelity <= 1
