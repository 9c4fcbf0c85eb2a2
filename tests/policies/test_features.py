"""Declared features, and names that nobody knows."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

import banditree as bt
from banditree.policies.saving.loading import subclasses
from policies.makers import MAKERS, every_policy, name_of

ARMS = ["golf", "tennis"]
DECLARED = {"age": "number", "city": "category", "member": "boolean", "plan": "string"}
FINE = {"age": 31, "city": 7, "member": True, "plan": "free"}


def test_all_policies_are_here():
    public = {cls.__name__ for cls in subclasses(bt.Policy) if hasattr(bt, cls.__name__)}
    assert {name_of(maker) for maker in MAKERS} == public - {"CustomPolicy"}  # which is abstract


def calls(policy):
    return [
        policy.decide,
        policy.propensities,
        policy.expected_rewards,
        policy.explain,
        lambda context: policy.decide_many([context]),
        lambda context: policy.propensities_many([context]),
        lambda context: policy.expected_rewards_many([context]),
        lambda context: policy.learn(context, "golf", 1),
        lambda context: policy.learn_many([FINE, context], ["golf"] * 2, [1, 0]),
    ]


# ---- declared features ----


@every_policy
@pytest.mark.parametrize("n", [0, 4])
def test_an_undeclared_name_is_refused(maker, n):
    policy = maker(arms=ARMS, features=DECLARED, seed=1)
    for _ in range(n):
        policy.learn(FINE, "golf", 1)
    before = policy._pack()
    for call in calls(policy):
        with pytest.raises(bt.InvalidContextError, match=r"unknown feature 'aeg'.*mean 'age'"):
            call({"aeg": 31})
    assert policy._pack() == before


@every_policy
@pytest.mark.parametrize(
    ("name", "wrong"),
    [("age", "old"), ("age", True), ("member", 1), ("plan", 3), ("plan", False), ("age", [1])],
)
def test_a_value_that_does_not_fit_is_refused_at_once(maker, name, wrong):
    policy = maker(arms=ARMS, features=DECLARED, seed=1)
    for call in calls(policy):
        with pytest.raises(bt.InvalidContextError, match=f"feature '{name}'"):
            call({name: wrong})
    assert policy.counts == {"golf": 0, "tennis": 0}


@every_policy
def test_declared_features_are_kept(maker, tmp_path):
    policy = maker(arms=ARMS, features=DECLARED, seed=1)
    policy.learn({"city": "Rome"}, "golf", 1)
    policy.save(tmp_path / "policy.bt")
    loaded = bt.load(tmp_path / "policy.bt")
    for again in (loaded, copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert repr(again) == repr(policy)
        assert again.features == policy.features
        with pytest.raises(bt.InvalidContextError, match="unknown feature"):
            again.decide({"aeg": 3})
    assert f"features={DECLARED}" in repr(policy)


def test_names_alone_may_be_declared():
    policy = bt.TreeHeuristic(ARMS, features=["age", "city"], categorical=["city"], seed=1)
    assert "features=['age', 'city']" in repr(policy)
    assert policy.features["age"].kind == "unknown"
    policy.learn({"age": 31, "city": 10115}, "golf", 1)
    assert dict(policy.features) == {
        "age": bt.FeatureInfo("number", 0),
        "city": bt.FeatureInfo("category", 1),
    }
    again = copy.deepcopy(policy)
    for one in (policy, again):
        with pytest.raises(bt.InvalidContextError, match="unknown feature 'cit'"):
            one.decide({"cit": 1})
        with pytest.raises(bt.InvalidContextError, match="feature 'age'"):
            one.decide({"age": "old"})


def test_numbers_may_be_declared_as_names():
    policy = bt.TreeHeuristic(ARMS, features={0: "number", 1: "category"}, seed=1)
    policy.learn([31, "Rome"], "golf", 1)
    assert repr(copy.deepcopy(policy)) == repr(policy)
    assert policy.decide({0: 31, 1: "Rome"}) in ARMS
    odd = bt.TreeHeuristic(ARMS, features=[1, 0], seed=1)
    with pytest.raises(bt.InvalidContextError, match="positional"):
        odd.decide([31, 2])


@pytest.mark.parametrize(
    "form", [list, tuple, np.array, partial(pd.Series, index=["age", "income"])], ids=repr
)
def test_contexts_without_names_are_read_in_the_declared_order(form):
    features = {"age": "number", "income": "number"}
    named, unnamed = (bt.TreeHeuristic(ARMS, features=features, seed=1) for _ in range(2))
    for age in range(20, 60):
        named.learn({"income": 5.0, "age": age}, "golf", age > 40)
        unnamed.learn(form([float(age), 5.0]), "golf", age > 40)
    unnamed.learn_many([form([1.0, 2.0])] * 2, ARMS, [0, 1])
    named.learn_many([{"age": 1.0, "income": 2.0}] * 2, ARMS, [0, 1])
    assert named._pack() == unnamed._pack()
    assert unnamed.tree("golf").to_dict()["feature"] == "age"
    assert unnamed.decide(form([50.0, 1.0])) == named.decide({"age": 50})


def test_contexts_without_names_keep_to_the_declared_features():
    policy = bt.TreeHeuristic(ARMS, features={"age": "number", "city": "category"}, seed=1)
    for call in (policy.decide, lambda c: policy.learn(c, "golf", 1)):
        with pytest.raises(bt.InvalidContextError, match="has 1 features, expected 2"):
            call([31])
        with pytest.raises(bt.InvalidContextError, match="feature 'age'"):
            call(["old", "Rome"])
    with pytest.raises(bt.InvalidContextError, match="feature 'age' of context 1 is inf"):
        policy.decide_many(np.array([[1.0, 2.0], [np.inf, 2.0]]))
    with pytest.raises(bt.InvalidContextError, match="feature 'age' of context 1"):
        policy.learn_many([[1, "Rome"], ["old", "Rome"]], ARMS, [0, 1])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("age", "must be a list of feature names, got 'age'"),
        ([], "features is empty"),
        ({}, "features is empty"),
        (["age", "age"], "names 'age' twice"),
        ({"age": "int"}, "kind of feature 'age' must be one of \"number\".*got 'int'"),
        ({"age": "unknown"}, "got 'unknown'"),
        ({"age": None}, "got None"),
        ([1.5], "features: a feature's name"),
        ({"age", "city"}, "got a set"),
        (5, "got 5"),
    ],
)
def test_wrong_declarations(features, message):
    with pytest.raises(bt.InvalidParameterError, match=message):
        bt.TreeHeuristic(ARMS, features=features)


def test_declarations_must_agree():
    with pytest.raises(bt.InvalidParameterError, match=r"'zpi'.*did you mean 'zip'"):
        bt.Uniform(ARMS, features=["zip"], categorical=["zpi"])
    with pytest.raises(bt.InvalidParameterError, match="'zip', which features declares as"):
        bt.Uniform(ARMS, features={"zip": "number"}, categorical=["zip"])
    bt.Uniform(ARMS, features={"zip": "category"}, categorical=["zip"])


# ---- names that nobody knows ----


@every_policy
def test_a_name_never_learned_is_told_once(maker):
    policy = maker(arms=ARMS, seed=1)
    policy.decide({"aeg": 30})  # nothing is known yet
    policy.learn({"age": 30, "city": "Rome"}, "golf", 1)
    with pytest.warns(bt.BanditreeWarning, match=r"'aeg'.*did you mean 'age'.*features=") as told:
        policy.decide({"aeg": 30, "city": "Rome"})
    assert len(told) == 1
    assert told[0].filename == __file__
    for call in calls(policy)[:-2]:
        call({"aeg": 31})
    policy.decide({"age": 31})
    policy.decide({})


@pytest.mark.parametrize("index", range(7))
def test_every_reading_tells(index):
    policy = bt.TreeHeuristic(ARMS, seed=1)
    policy.learn({"age": 30}, "golf", 1)
    with pytest.warns(bt.BanditreeWarning, match="none of the context's features is known") as told:
        calls(policy)[index]({"height": 180, "shoes": 43})
    assert len(told) == 1
    assert told[0].filename == __file__
    for call in calls(policy)[:-2]:
        call({"shoes": 44})


def test_tables_tell():
    policy = bt.TreeHeuristic(ARMS, seed=1)
    policy.learn({"age": 30}, "golf", 1)
    with pytest.warns(bt.BanditreeWarning, match="'height'"):
        policy.decide_many(pd.DataFrame({"age": [1, 2], "height": [3, 4]}))


def test_learning_new_names_is_silent_and_makes_them_known():
    policy = bt.TreeHeuristic(ARMS, seed=1)
    policy.learn({}, "golf", 1)
    policy.decide({"age": 31})  # no name was ever learned
    policy.learn({"age": 31}, "golf", 1)
    policy.learn({"height": 180}, "golf", 1)
    policy.learn_many([{"shoes": 43}], ["golf"], [1])
    policy.decide({"age": 1, "height": 2, "shoes": 3})


def test_names_that_are_data_are_not_told_for_ever():
    policy = bt.TreeHeuristic(ARMS, seed=1)
    policy.learn({"age": 31}, "golf", 1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for i in range(300):
            policy.decide({f"id-{i}": 1})
    assert len(told) == 100


def test_trees_say_nothing_of_new_names():
    tree = bt.Tree().fit([{"age": 1}, {"age": 2}], [0, 1])
    assert tree.predict({"age": 2, "height": 3}) == 1


@pytest.mark.parametrize("many", [False, True])
def test_a_category_that_never_comes_is_told_once(many):
    policy = bt.ThompsonSampling(ARMS, categorical=["zip", "zpi"], seed=1)
    batch = [{"zip": 1, "age": 2}] * 99, ["golf"] * 99, [1] * 99
    last = {"zip": 1}, "golf", 1
    policy.learn_many(*batch)
    again = copy.deepcopy(policy)
    for one in (policy, again):
        with pytest.warns(
            bt.BanditreeWarning, match=r"'zpi'.*first 100 obs.*did you mean 'zip'"
        ) as told:
            one.learn_many(*([x] for x in last)) if many else one.learn(*last)
        assert told[0].filename == __file__
        assert one.counts["golf"] == 100
        one.learn(*last)
        one.decide({"zip": 1})


def zpi_taught(n):
    """Return a policy with a mistaken category, taught by one call."""
    policy = bt.ThompsonSampling(ARMS, categorical=["zpi"], seed=1)
    policy.learn_many([{"zip": 1}] * n, ["golf"] * n, [1] * n)
    return policy


def test_one_batch_tells_of_a_category_that_never_comes():
    with pytest.warns(bt.BanditreeWarning, match=r"'zpi'.*first 500 obs"):
        policy = zpi_taught(500)
    policy.decide({"zip": 1})


def test_a_batch_that_is_refused_by_a_warning_is_not_learned():
    policy = zpi_taught(60)
    before = policy._pack()
    batch = [{"zip": 1, "age": 3}] * 50, ["golf"] * 50, [1] * 50
    with pytest.raises(bt.BanditreeWarning, match="'zpi'"):  # warnings are errors in these tests
        policy.learn_many(*batch)
    assert policy._pack() == before
    policy.learn_many(*batch)
    assert policy.counts["golf"] == 110


@pytest.mark.parametrize("call", ["decide", "decide_many", "decision", "learn"])
def test_a_loaded_policy_tells_of_a_category_that_never_came(call, tmp_path):
    with pytest.warns(bt.BanditreeWarning):
        zpi_taught(500).save(tmp_path / "policy.bt")
    policy = bt.load(tmp_path / "policy.bt")
    n = 501 if call == "learn" else 500
    context = [{"zip": 1}] if call == "decide_many" else {"zip": 1}
    with pytest.warns(bt.BanditreeWarning, match=rf"'zpi'.*first {n} obs"):
        getattr(policy, call)(context, *(["golf", 1] if call == "learn" else []))
    policy.decide({"zip": 1})


def test_a_category_that_came_is_not_told():
    policy = bt.ThompsonSampling(ARMS, categorical=["zip"], seed=1)
    policy.learn_many([{"zip": 1}] * 200, ["golf"] * 200, [1] * 200)


@pytest.mark.parametrize("many", [False, True])
def test_a_category_that_comes_with_the_hundredth_observation_is_not_told(many):
    policy = bt.ThompsonSampling(ARMS, categorical=["zip"], seed=1)
    policy.learn_many([{"age": 1}] * 99, ["golf"] * 99, [1] * 99)
    last = {"zip": 1}, "golf", 1
    policy.learn_many(*([x] for x in last)) if many else policy.learn(*last)
    copy.deepcopy(policy).decide({"zip": 1})


# ---- what features are ----


def test_features_show_names_kinds_and_categories():
    policy = bt.TreeHeuristic(ARMS, categorical=["zip"], seed=1)
    assert len(policy.features) == 0
    contexts = [
        {"age": 1, "city": "Rome", "member": True, "zip": 7, "income": None},
        {"city": "Oslo"},
    ]
    policy.learn_many(contexts, ARMS, [0, 1])
    shown = {name: (known.kind, known.n_categories) for name, known in policy.features.items()}
    assert shown == {
        "age": ("number", 0),
        "city": ("string", 2),
        "member": ("boolean", 2),
        "zip": ("category", 1),
        "income": ("unknown", 0),
    }
    assert str(policy.features).splitlines()[:3] == [
        "feature  kind      categories",
        "age      number             -",
        "city     string             2",
    ]
    with pytest.raises(AttributeError):
        policy.features["age"].kind = "string"


def test_printing_never_raises():
    script = """
import banditree as bt
policy = bt.Uniform(["國", "golf"], seed=1)
policy.learn({"größe": 1, "age": 2}, "國", 1)
for shown in (policy.features, policy, policy.explain({}), bt.Tree(categorical=["größe"])):
    print(shown)
"""
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, check=False)
    assert run.stderr == b""
    assert run.stdout.decode().splitlines() == [
        "feature      kind    categories",
        r"gr\xf6\xdfe  number           -",
        "age          number           -",
        r"Uniform(arms=['\u570b', 'golf'], seed=1)",
        "arm     mean   interval        n  rule",
        r"\u570b  1.000  0.207 to 1.000  1  always",
        "golf      -    0.000 to 1.000  0  always",
        r"Tree(categorical=('gr\xf6\xdfe',))",
    ]


@pytest.mark.parametrize("call", ["learn_many", "decide_many"])
def test_the_error_names_the_context_with_an_undeclared_feature(call):
    policy = bt.TreeHeuristic(ARMS, features=["age"], seed=1)
    contexts = [{"age": 1}, {"age": 2}, {"agee": 3}]
    rest = (["golf"] * 3, [1] * 3) if call == "learn_many" else ()
    with pytest.raises(bt.InvalidContextError, match=r"'agee' of context 2.*did you mean 'age'"):
        getattr(policy, call)(contexts, *rest)


@every_policy
def test_parameters_cannot_be_deleted(maker):
    policy = maker(arms=ARMS, seed=1)
    with pytest.raises(AttributeError, match="seed"):
        del policy.seed
