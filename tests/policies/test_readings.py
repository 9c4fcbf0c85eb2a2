"""Read-only parameters, counts, tables of readings, feature importance, and types of arms."""

import copy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import banditree as bt
from policies.makers import MAKERS, name_of

ARMS = ["golf", "tennis"]
TREE_POLICIES = [bt.TreeHeuristic, bt.Greedy, bt.TreeBootstrap, bt.OnlineTreeBootstrap]


def taught(cls=bt.TreeHeuristic, n=200, **options):
    policy = cls(ARMS, seed=1, **options)
    for i in range(n):
        context = {"age": i % 50, "noise": 1, "city": ["Rome", "Oslo", "Lima"][i % 3]}
        policy.learn(context, ARMS[i % 2], int(i % 50 > 25))
    return policy


# ---- parameters ----


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("reward", "continuous", "make a new TreeHeuristic with reward="),
        ("min_leaf", 5, "make a new TreeHeuristic with min_leaf="),
        ("seed", 5, r"reseed\(\)"),
        ("arms", ["chess"], r"add_arm\(\) and remove_arm\(\)"),
        ("features", ["age"], r"set_feature\(\)"),
        ("categorical", ["age"], r"set_feature\(\)"),
    ],
)
def test_parameters_cannot_be_set(name, value, remedy):
    policy = taught(n=4)
    before = getattr(policy, name)
    with pytest.raises(AttributeError, match=f"{name} of a TreeHeuristic cannot.*{remedy}"):
        setattr(policy, name, value)
    assert getattr(policy, name) == before
    policy.note = "anything else can"


def test_parameters_of_ones_own_policy_cannot_be_set_either():
    class Patient(bt.Uniform):
        def __init__(self, arms, patience=3, seed=None):
            super().__init__(arms, seed=seed)
            self.patience = patience

    policy = Patient(ARMS)
    with pytest.raises(AttributeError, match="patience of a Patient"):
        policy.patience = 4
    assert copy.deepcopy(policy).patience == 3


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("reward", "continuous", r"constructor of Mine give reward=.* to super"),
        ("floor", 0.5, r"constructor of Mine give floor=.* to super"),
        ("categorical", ("x",), r"set_feature\(\)"),
        ("features", ["x"], r"set_feature\(\)"),
        ("arms", ["x"], r"add_arm\(\)"),
        ("seed", 5, "reseed"),
    ],
)
def test_parameters_that_a_constructor_leaves_out_cannot_be_set_either(name, value, remedy):
    class Mine(bt.Uniform):
        floor = 0.25  # of the class: the constructor may still set its own

        def __init__(self, arms):
            super().__init__(arms, floor=0.1)

    policy = Mine(ARMS)
    before = getattr(policy, name)
    with pytest.raises(AttributeError, match=f"{name} of a Mine cannot.*{remedy}"):
        setattr(policy, name, value)
    with pytest.raises(AttributeError, match=f"{name} of a Mine cannot"):
        delattr(policy, name)
    assert getattr(policy, name) == before


# ---- counts ----


def test_counts_survive(tmp_path):
    policy = taught(n=7)
    policy.remove_arm("golf")
    policy.add_arm("chess")
    policy.save(tmp_path / "policy.bt")
    for one in (policy, bt.load(tmp_path / "policy.bt"), copy.deepcopy(policy)):
        assert one.counts == {"golf": 4, "tennis": 3, "chess": 0}
    policy.counts["golf"] = 99
    assert policy.counts["golf"] == 4


def test_refused_observations_do_not_count():
    policy = taught(n=7)
    with pytest.raises(bt.InvalidRewardError):
        policy.learn_many([{}] * 2, ["golf"] * 2, [1, 5])
    assert sum(policy.counts.values()) == 7


# ---- tables ----


def test_tables_have_the_order_of_the_arms():
    policy = taught()
    policy.add_arm("chess")
    policy.remove_arm("golf")
    contexts = [{"age": 10}, {"age": 40}]
    assert policy.arms == ("tennis", "chess")
    chances = policy.propensities_many(contexts, ["chess"])
    assert chances.dtype == np.float64
    assert chances.tolist() == [[0.0, 1.0]] * 2
    rewards = policy.expected_rewards_many(contexts, ["chess"])
    assert np.isnan(rewards[:, 0]).all()
    assert rewards[:, 1].tolist() == [0.5, 0.5]
    both = policy.expected_rewards_many(contexts, ["chess", "tennis"])
    assert both[1, 0] == policy.expected_rewards(contexts[1])["tennis"] != 0.5


def test_tables_refuse_what_single_readings_refuse():
    policy = taught()
    with pytest.raises(bt.UnknownArmError, match="gofl"):
        policy.propensities_many([{}], ["gofl"])
    with pytest.raises(bt.InvalidContextError, match="feature 'age' of context 1"):
        policy.expected_rewards_many([{"age": 1}, {"age": np.inf}])


@pytest.mark.parametrize(
    "maker", [m for m in MAKERS if name_of(m) in ("Bootstrap", "TreeBootstrap")], ids=name_of
)
def test_tables_of_propensities_take_draws(maker):
    policy = taught(maker, n=40)
    contexts = [{"age": age, "city": "Rome"} for age in (20, 30)]
    table = policy.propensities_many(contexts, draws=3)
    single = [list(policy.propensities(context, draws=3).values()) for context in contexts]
    assert table.tolist() == single
    assert set((table * 18).round(9).ravel()) <= set(range(19))  # 3 x 3 combinations, with ties
    some = policy.propensities_many(contexts, ["tennis"], draws=3)
    assert some.tolist() == [[0, 1], [0, 1]]
    with pytest.raises(bt.InvalidParameterError, match="draws must be"):
        policy.propensities_many(contexts, draws=0)


# ---- importance ----


@pytest.mark.parametrize("cls", TREE_POLICIES)
def test_importance_of_features(cls):
    policy = taught(cls)
    shares = policy.feature_importance
    assert list(shares) == ["age", "noise", "city"]
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["age"] > 0.95
    assert shares["noise"] == 0
    policy.learn({"late": 1}, "golf", 1)
    assert policy.feature_importance["late"] >= 0


@pytest.mark.parametrize("cls", TREE_POLICIES)
def test_importance_without_a_split_is_zero(cls):
    policy = cls(ARMS, seed=1)
    assert policy.feature_importance == {}
    policy.learn({"age": 1}, "golf", 1)
    assert policy.feature_importance == {"age": 0.0}


def test_importance_is_the_share_of_the_cost():
    contexts = [{"a": i % 2, "b": i // 2 % 2, "c": i // 4} for i in range(8)]
    y = [4 * c["a"] + 2 * c["b"] for c in contexts]
    tree = bt.Tree().fit(contexts, y)
    # The root's cost is 8 × (4 + 1): of the first split 8 × 4, of the second two together 8 × 1.
    assert tree.feature_importance == pytest.approx({"a": 0.8, "b": 0.2, "c": 0.0})
    assert sum(tree.prune(9).feature_importance.values()) == 1
    assert tree.prune(100).feature_importance == {"a": 0.0, "b": 0.0, "c": 0.0}
    with pytest.raises(bt.NotFittedError):
        _ = bt.Tree().feature_importance


# ---- arms ----


@pytest.mark.parametrize("arms", [{"golf", "tennis"}, frozenset(["golf"])])
def test_a_set_of_arms_is_refused(arms):
    with pytest.raises(bt.InvalidParameterError, match=r"a set, .*order is not defined.*a list"):
        bt.Uniform(arms)
    with pytest.raises(bt.InvalidParameterError, match=r"a set, .*order is not defined"):
        taught(n=2).decide({}, arms=arms)
    bt.Uniform({"golf": 1, "tennis": 2}.keys())


TYPED = """
from typing import Any, assert_type

import banditree as bt

policy = bt.TreeHeuristic(["golf", "tennis"])
arm: str = policy.decide({"age": 31})
assert_type(policy, bt.TreeHeuristic[str])
assert_type(policy.arms, tuple[str, ...])
assert_type(policy.decide_many([{}]), list[str])
assert_type(policy.propensities({}), dict[str, float])
assert_type(policy.counts, dict[str, int])
assert_type(bt.LinUCB([1, 2]).decide({}), int)
mixed: list[str | int] = ["golf", 7]
assert_type(bt.Uniform(mixed).decide({}), str | int)
assert_type(bt.load("policy.bt"), bt.Policy[Any])
declared = bt.Bootstrap(["golf"], object(), features={"age": "number", "city": "category"})


class Mine(bt.Uniform):
    pass


def plays(policy: bt.Policy) -> None:
    policy.learn({}, "golf", 1)


plays(policy)
"""
WRONG = """
wrong: int = policy.decide({"age": 31})
policy.learn({}, 7, 1)
policy.decide({}, arms=[1])
policy.add_arm(7)
bt.Uniform([1.5])
bt.Uniform(["golf"], features={"age": "int"})
"""


def test_arms_are_typed(tmp_path):
    """Every wrong line is an error, and no other line is."""
    root = Path(__file__).parents[2]
    (tmp_path / "snippet.py").write_text(TYPED + WRONG)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(root / "pyproject.toml"),
    ]
    command += ["--cache-dir", str(root / ".mypy_cache"), str(tmp_path / "snippet.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    numbers = sorted({int(line.split(":")[1]) for line in lines})
    first = TYPED.count("\n") + 2
    assert numbers == list(range(first, first + 6)), done.stdout + done.stderr
