"""Declared features, names that nobody knows, and features that are put right."""

import copy
import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import banditree as bt
from banditree.policies.base import subclasses

ARMS = ["golf", "tennis"]
DECLARED = {"age": "number", "city": "category", "member": "boolean", "plan": "string"}
FINE = {"age": 31, "city": 7, "member": True, "plan": "free"}
MAKERS = [
    bt.BanditForest,
    partial(bt.Bootstrap, learner=LogisticRegression()),
    bt.Greedy,
    bt.LinUCB,
    bt.LogisticUCB,
    bt.OnlineTreeBootstrap,
    bt.ThompsonSampling,
    bt.TreeBootstrap,
    bt.TreeHeuristic,
    bt.Uniform,
]


def name_of(maker):
    return getattr(maker, "func", maker).__name__


every_policy = pytest.mark.parametrize("maker", MAKERS, ids=name_of)


def test_all_policies_are_here():
    public = {cls.__name__ for cls in subclasses(bt.Policy) if hasattr(bt, cls.__name__)}
    assert {name_of(maker) for maker in MAKERS} == public


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
    policy.learn(*last)
    copy.deepcopy(policy).learn(*last)


def test_a_category_that_came_is_not_told():
    policy = bt.ThompsonSampling(ARMS, categorical=["zip"], seed=1)
    policy.learn_many([{"zip": 1}] * 200, ["golf"] * 200, [1] * 200)


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


# ---- putting right ----

KEEPS_CONTEXTS = [m for m in MAKERS if name_of(m) not in ("LinUCB", "BanditForest")]
keepers = pytest.mark.parametrize("maker", KEEPS_CONTEXTS, ids=name_of)


def play(policy, ages, seed=0):
    random = np.random.default_rng(seed)
    for i, age in enumerate(ages):
        context = {"city": ["Rome", "Oslo"][i % 2], "age": age}
        number = float(age) if str(age).isdigit() else 0
        policy.learn(context, ARMS[i % 2], int((number > 35) == (random.random() < 0.9)))


PROBES = [{"city": "Rome", "age": age} for age in (10, 30, 36, 50, None)]


@keepers
def test_strings_that_read_as_numbers_become_those_numbers(maker):
    ages = [[20, 50, 30, 42, 36][i % 5] for i in range(40)]
    wrong, right = (maker(arms=ARMS, seed=1) for _ in range(2))
    play(wrong, [str(age) for age in ages])
    play(right, ages)
    wrong.set_feature("age", "number")
    assert wrong.features == right.features
    assert wrong.counts == right.counts == {"golf": 20, "tennis": 20}
    # LogisticUCB and Bootstrap scale by the order of observations, which is by arm afterwards.
    exact = name_of(maker) not in ("LogisticUCB", "Bootstrap")
    seen, expected = (p.expected_rewards_many(PROBES) for p in (wrong, right))
    np.testing.assert_allclose(seen, expected, atol=1e-12 if exact else 0.02)
    if exact:
        play(wrong, ages, seed=1)
        play(right, ages, seed=1)
        assert wrong.decide_many(PROBES * 20) == right.decide_many(PROBES * 20)
        assert wrong._pack() == right._pack()
    wrong.learn({"age": 31}, "golf", 1)
    with pytest.raises(bt.InvalidContextError, match="feature 'age' is a number"):
        wrong.learn({"age": "31"}, "golf", 1)


@keepers
def test_numbers_become_a_category_each(maker):
    ages = [[20, 50, 30, 42.5, 36][i % 5] for i in range(40)]
    wrong, right = maker(arms=ARMS, seed=1), maker(arms=ARMS, categorical=["age"], seed=1)
    play(wrong, ages)
    play(right, ages)
    wrong.set_feature("age", "category")
    assert repr(wrong) == repr(right)
    if name_of(maker) not in ("ThompsonSampling", "Uniform"):  # which look at no context
        assert wrong.features == right.features
        assert wrong.features["age"] == bt.FeatureInfo("category", 5)
    tolerance = 0.02 if name_of(maker) in ("LogisticUCB", "Bootstrap") else 1e-12
    seen, expected = (p.expected_rewards_many(PROBES) for p in (wrong, right))
    np.testing.assert_allclose(seen, expected, atol=tolerance)
    wrong.learn({"age": "old"}, "golf", 1)


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["31", " 4.5 ", "old", "inf", "nan", None], "number", [31, 4.5, None, None, None, None]),
        ([1, "2", True, "x", None], "number", [1, 2, None, None, None]),
        ([1, "2", True, None], "string", [None, "2", None, None]),
        ([1, "2", True, False, None], "boolean", [None, None, True, False, None]),
        ([True, False, None], "number", [None, None, None]),
        ([False, True, None], "category", [False, True, None]),
        ([1.5, 2, None], "string", [None, None, None]),
        ([1.5, 2, None], "number", [1.5, 2, None]),
        ([None, None], "number", [None, None]),
        (["a", "b"], "category", ["a", "b"]),
        ([10**15, 2.5], "category", [10**15, 2.5]),
    ],
)
def test_what_does_not_fit_becomes_missing(values, kind, expected):
    mixed = len({type(value) for value in values} - {type(None), int, float}) > 1
    categorical = ["x"] if mixed or {type(v) for v in values} >= {int, str} else []
    policy = bt.TreeHeuristic(ARMS, categorical=categorical, seed=1)
    right = bt.TreeHeuristic(ARMS, features={"x": kind, "age": "number"}, seed=1)
    for i, (value, fitting) in enumerate(zip(values, expected, strict=True)):
        policy.learn({"x": value, "age": i}, "golf", i % 2)
        right.learn({"x": fitting, "age": i}, "golf", i % 2)
    policy.set_feature("x", kind)
    assert policy.features == right.features
    for name, array in policy._state().items():
        assert np.array_equal(array, right._state()[name], equal_nan=True), name


def test_a_declared_feature_is_declared_anew(tmp_path):
    policy = bt.TreeHeuristic(ARMS, features={"age": "string", "zip": "category"}, seed=1)
    policy.learn({"age": "31", "zip": 4}, "golf", 1)
    policy.set_feature("age", "number")
    policy.set_feature("zip", "number")
    policy.save(tmp_path / "policy.bt")
    for one in (policy, bt.load(tmp_path / "policy.bt")):
        assert "features={'age': 'number', 'zip': 'number'}" in repr(one)
        assert one.decide({"age": 31, "zip": 4}) in ARMS


@every_policy
def test_before_anything_is_learned_every_policy_can_be_put_right(maker):
    policy = maker(arms=ARMS, features={"age": "string"}, seed=1)
    policy.set_feature("age", "number")
    policy.learn({"age": 31}, "golf", 1)


@pytest.mark.parametrize("maker", [bt.LinUCB, bt.BanditForest])
def test_policies_without_contexts_say_so_and_stay_as_they_are(maker):
    policy = maker(ARMS, seed=1)
    play(policy, ["20", "50", "30"] * 10)
    before = policy._pack()
    with pytest.raises(bt.InvalidParameterError, match=r"does not keep the contexts.*features="):
        policy.set_feature("age", "number")
    assert policy._pack() == before
    policy.learn({"age": "31"}, "golf", 1)


@keepers
def test_a_failed_correction_changes_nothing(maker, monkeypatch):
    policy = maker(arms=ARMS, seed=1)
    play(policy, ["20", "50", "30"] * 4)
    policy.remove_arm("tennis")
    before = policy._pack()
    for wrong in (("aeg", "number"), ("age", "int"), ("age", None), ([], "number")):
        with pytest.raises((bt.InvalidParameterError, TypeError)):
            policy.set_feature(*wrong)
    assert policy._pack() == before

    def fail(self, arrays, recode):
        recode(np.zeros((2, 2)))
        raise MemoryError

    monkeypatch.setattr(type(policy), "_relearn", fail)
    with pytest.raises(MemoryError):
        policy.set_feature("age", "number")
    assert policy._pack() == before


def test_correcting_does_not_advance_the_random_stream():
    policy, twin = (bt.Uniform(ARMS, seed=1) for _ in range(2))
    for one in (policy, twin):
        one.decide({})
        one.learn({"age": "31"}, "golf", 1)
    policy.set_feature("age", "number")
    assert policy.decide_many([{}] * 50) == twin.decide_many([{}] * 50)
