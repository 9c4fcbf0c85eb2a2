"""Features that are put right."""

import numpy as np
import pytest

import banditree as bt
from policies.makers import MAKERS, every_policy, name_of

ARMS = ["golf", "tennis"]
KEEPS_CONTEXTS = [m for m in MAKERS if name_of(m) not in ("LinUCB", "LogisticUCB", "BanditForest")]
keepers = pytest.mark.parametrize("maker", KEEPS_CONTEXTS, ids=name_of)


def play(policy, ages, seed=0):
    random = np.random.default_rng(seed)
    for i, age in enumerate(ages):
        context = {"city": ["Rome", "Oslo"][i // 2 % 2], "age": age}
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
    # Bootstrap scales by the order of observations, which is by arm afterwards.
    exact = name_of(maker) != "Bootstrap"
    seen, expected = (p.expected_rewards_many(PROBES) for p in (wrong, right))
    np.testing.assert_allclose(seen, expected, atol=1e-12 if exact else 0.1)
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
    tolerance = 0.1 if name_of(maker) == "Bootstrap" else 1e-12
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


@every_policy
def test_the_error_for_another_type_advises_what_the_policy_can_do(maker):
    policy = maker(arms=ARMS, seed=1)
    play(policy, ["20", "50"] * 2)
    if maker not in KEEPS_CONTEXTS:
        advice = rf"one that keeps no contexts \(.*{name_of(maker)}.*made anew.*features="
    else:
        advice = r"set_feature\(\) of a policy corrects"
    with pytest.raises(bt.InvalidContextError, match=advice):
        policy.learn({"age": 31}, "golf", 1)


WITHOUT_CONTEXTS = [maker for maker in MAKERS if maker not in KEEPS_CONTEXTS]


@pytest.mark.parametrize("maker", WITHOUT_CONTEXTS, ids=name_of)
def test_policies_without_contexts_say_so_and_stay_as_they_are(maker):
    policy = maker(arms=ARMS, seed=1)
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
    for wrong in (("aeg", "number"), ("age", "int"), ("age", None), (["age"], "number")):
        with pytest.raises(bt.InvalidParameterError):
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


def test_a_policy_of_ones_own_learns_again():
    class Remembers(bt.CustomPolicy):
        def start(self):
            self.ages = []

        def observe(self, context, arm, reward):
            self.ages.append(context.get("age"))

        def estimate(self, context, arm):
            return 0.5

        def chances(self, context, arms):
            return [1 / len(arms)] * len(arms)

    policy = Remembers(ARMS, seed=1)
    policy.learn_many([{"age": "31"}, {"age": "old"}], ["golf", "tennis"], [1, 0])
    policy.set_feature("age", "number")
    assert policy.ages == [31, None]


@pytest.mark.parametrize("maker", [m for m in MAKERS if m not in KEEPS_CONTEXTS], ids=name_of)
def test_policies_that_do_not_keep_contexts_say_so(maker):
    policy = maker(arms=ARMS, seed=1)
    play(policy, ["31", "40"])
    before = policy._pack()
    with pytest.raises(bt.InvalidParameterError, match="does not keep the contexts"):
        policy.set_feature("age", "number")
    assert policy._pack() == before


def test_the_error_says_what_features_there_are():
    policy = bt.TreeHeuristic(ARMS, seed=1)
    with pytest.raises(bt.InvalidParameterError, match="no feature 'age'; there are no features"):
        policy.set_feature("age", "number")
    policy.learn({"age": "31"}, "golf", 1)
    with pytest.raises(bt.InvalidParameterError, match=r"no feature \['age'\]; did you mean 'age'"):
        policy.set_feature(["age"], "number")
