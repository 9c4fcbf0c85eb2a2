"""What policies share, beyond the laws of tests/checks."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import banditree as bt
from banditree.policies.base import Policy
from banditree.policies.choosing import share_of_largest
from banditree.policies.saving import loading

ARMS = ["golf", "tennis"]
CONTEXTS = [{"age": 20 + i, "city": ["Rome", "Oslo"][i % 2]} for i in range(12)]


def taught(cls=bt.ThompsonSampling, **parameters):
    policy = cls(ARMS, **{"seed": 1, **parameters})
    policy.learn_many(CONTEXTS, ARMS * 6, [1, 0, 0] * 4)
    return policy


def test_a_policy_must_be_complete():
    class Half(Policy):
        def _start(self):
            pass

    with pytest.raises(TypeError, match="abstract"):
        Half(ARMS)


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (bt.Uniform(ARMS), "Uniform(arms=['golf', 'tennis'])"),
        (bt.Uniform([1, 2], seed=3), "Uniform(arms=[1, 2], seed=3)"),
        (
            bt.ThompsonSampling(ARMS, reward="continuous", categorical=["zip"], seed=0),
            "ThompsonSampling(arms=['golf', 'tennis'], reward='continuous', "
            "categorical=('zip',), seed=0)",
        ),
        (
            bt.ThompsonSampling(ARMS, prior=[2, 3]),
            "ThompsonSampling(arms=['golf', 'tennis'], prior=(2.0, 3.0))",
        ),
    ],
)
def test_repr_is_the_call_that_makes_the_policy(policy, text):
    assert repr(policy) == text
    assert repr(eval(text, vars(bt).copy())) == text


def test_repr_shows_the_arms_of_now():
    policy = bt.Uniform(ARMS)
    policy.add_arm("chess")
    policy.remove_arm("golf")
    assert repr(policy) == "Uniform(arms=['tennis', 'chess'])"


@pytest.mark.parametrize("cls", [bt.Uniform, bt.ThompsonSampling])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seed": -1}, "seed must be a whole number from 0 up to"),
        ({"seed": 1.5}, "got 1.5"),
        ({"seed": 2**64}, "got 18446744073709551616"),
        ({"seed": True}, "got True"),
        ({"reward": "stars"}, 'reward must be one of "binary", "continuous"; got \'stars\''),
        ({"reward": ["binary"]}, "got \\['binary'\\]"),
        ({"categorical": "zip"}, "categorical"),
    ],
)
def test_wrong_parameters(cls, wrong, message):
    with pytest.raises(bt.InvalidParameterError, match=message):
        cls(ARMS, **wrong)


@pytest.mark.parametrize("prior", [(0, 1), (1,), "ab", None, (1, np.inf), (np.nan, 1), 1])
def test_wrong_priors(prior):
    with pytest.raises(bt.InvalidParameterError, match="prior must be two numbers"):
        bt.ThompsonSampling(ARMS, prior=prior)


def test_seeds():
    def decisions(seed):
        return bt.Uniform(ARMS, seed=seed).decide_many([{}] * 64)

    assert decisions(5) == decisions(np.int64(5)) == decisions(np.uint64(5))
    assert decisions(np.random.default_rng(1)) == decisions(np.random.default_rng(1))
    asked = np.random.default_rng(1)
    assert decisions(asked) != decisions(asked)
    assert decisions(None) != decisions(None)
    assert bt.Uniform(ARMS, seed=None).seed is None
    decisions(2**64 - 1)


def test_a_policy_without_a_seed_goes_on_after_loading(tmp_path):
    policy = bt.Uniform(ARMS)
    policy.decide_many([{}] * 5)
    policy.save(tmp_path / "policy.bt")
    again = bt.load(tmp_path / "policy.bt")
    assert again.seed is None
    assert again.decide_many([{}] * 64) == policy.decide_many([{}] * 64)


@pytest.mark.parametrize(
    "many", [pd.DataFrame, pl.DataFrame, iter, tuple, lambda rows: (dict(row) for row in rows)]
)
def test_batches_in_every_form(many):
    policy, expected = bt.TreeHeuristic(ARMS, seed=1), bt.TreeHeuristic(ARMS, seed=1)
    expected.learn_many(CONTEXTS, ARMS * 6, [1, 0, 0] * 4)
    policy.learn_many(many(CONTEXTS), pd.Series(ARMS * 6), pl.Series([1, 0, 0] * 4))
    assert policy._pack() == expected._pack()
    assert policy.decide_many(many(CONTEXTS)) == expected.decide_many(CONTEXTS)


def test_empty_batches():
    policy = taught()
    before = policy._pack()
    policy.learn_many([], [], [])
    policy.learn_many(np.empty((0, 2)), np.array([]), np.array([]))
    assert policy.decide_many([]) == []
    assert policy._pack() == before


def test_one_context_is_not_many():
    for call in (
        bt.Uniform(ARMS).decide_many,
        lambda c: bt.Uniform(ARMS).learn_many(c, ["golf"], [1]),
    ):
        with pytest.raises(bt.InvalidContextError, match="one context"):
            call({"age": 31})


def test_declared_categories_survive_saving(tmp_path):
    policy = bt.TreeHeuristic(ARMS, categorical=["zip"], seed=1)
    policy.learn({"zip": 10115, "age": 31}, "golf", 1)
    policy.save(tmp_path / "policy.bt")
    again = bt.load(tmp_path / "policy.bt")
    assert again.categorical == ("zip",)
    again.learn({"zip": "SW1A", "age": 31}, "golf", 1)  # only a category may change its type


def test_infinite_features_are_named():
    for make in (bt.Uniform, bt.TreeHeuristic):
        policy = make(ARMS, seed=1)
        policy.learn(np.array([1.0, 2.0]), "golf", 1)
        wrong = np.array([1.0, np.inf])
        for read in (policy.decide, policy.propensities, policy.expected_rewards, policy.explain):
            with pytest.raises(bt.InvalidContextError, match="feature 1 is inf"):
                read(wrong)
        with pytest.raises(bt.InvalidContextError, match="feature 1 of context 1 is inf"):
            policy.decide_many(np.array([[1.0, 2.0], wrong]))


def test_answers_come_in_the_order_of_the_arms():
    policy = taught()
    assert list(policy.propensities({}, ["tennis", "golf"])) == ARMS
    assert list(policy.propensities({}, ["tennis"])) == ARMS
    assert policy.propensities({}, ["tennis"]) == {"golf": 0.0, "tennis": 1.0}
    assert list(policy.expected_rewards({}, ["tennis", "golf"])) == ["tennis", "golf"]


def test_explanations_come_in_the_order_of_their_means():
    policy = bt.Uniform(["a", "b", "c", "d"])
    policy.learn_many([{}] * 3, ["b", "d", "d"], [0, 1, 0])
    explanation = policy.explain({})
    assert list(explanation) == ["d", "b", "a", "c"]  # the unknown last
    assert explanation["d"].n == 2
    assert explanation["d"].mean == 0.5
    assert "  -  " in str(explanation)


def test_share_of_largest():
    assert share_of_largest(np.array([1.0, 3.0, 3.0])).tolist() == [0, 0.5, 0.5]
    assert share_of_largest(np.array([-np.inf])).tolist() == [1]


class Patient(bt.Uniform):
    """Draws when it starts, and keeps what it drew as a parameter of its beliefs."""

    def _start(self):
        super()._start()
        self.patience = self._random.integers(1000, 1)[0]


def test_a_policy_may_draw_when_it_starts(tmp_path):
    policy = Patient(ARMS)
    policy.save(tmp_path / "policy.bt")
    again = bt.load(tmp_path / "policy.bt")
    assert again.patience == policy.patience
    assert again.decide_many([{}] * 64) == policy.decide_many([{}] * 64)


def test_load_needs_the_class(tmp_path):
    path = tmp_path / "policy.bt"
    Patient(ARMS).save(path)
    script = (
        f"import banditree as bt\ntry: bt.load({str(path)!r})\nexcept bt.StateError as e: print(e)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "holds a policy of the class 'Patient', which is not known here; import" in run.stdout


def test_load_knows_classes_of_one_name_apart(tmp_path):
    class Uniform(bt.Uniform):
        pass

    bt.Uniform(ARMS).save(tmp_path / "ours.bt")
    Uniform(ARMS).save(tmp_path / "theirs.bt")
    assert type(bt.load(tmp_path / "ours.bt")) is bt.Uniform
    assert type(bt.load(tmp_path / "theirs.bt")) is Uniform


def test_load_of_what_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        bt.load(tmp_path / "policy.bt")
    with pytest.raises(IsADirectoryError):
        bt.load(tmp_path)


def test_load_names_the_file(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("buy milk")
    with pytest.raises(bt.StateError, match=r"notes.txt is not a saved policy"):
        bt.load(path)


@pytest.mark.parametrize("wrong", ["sead", "learner", "reward", "arms"])
def test_load_names_an_argument_that_there_is_not(wrong, tmp_path):
    path = tmp_path / "policy.bt"
    taught().save(path)
    message = rf"no argument '{wrong}' for a saved ThompsonSampling; it takes seed;"
    with pytest.raises(bt.InvalidParameterError, match=message):
        bt.load(path, **{wrong: 3})


def test_load_names_the_arguments_of_a_bootstrap(tmp_path):
    path = tmp_path / "policy.bt"
    taught(bt.Bootstrap, learner=LogisticRegression()).save(path)
    with pytest.raises(bt.InvalidParameterError, match=r"'lerner'.*it takes seed and learner;"):
        bt.load(path, lerner=LogisticRegression())
    assert bt.load(path, learner=LogisticRegression(C=2)).learner.C == 2


def test_a_state_that_does_not_fit_its_class(tmp_path):
    from banditree.policies.saving import files

    header, arrays = files.unpack(taught()._pack(), "")
    for damaged in (
        (header, {}),
        ({**header, "parameters": {"prior": [0, 0]}}, arrays),
        ({**header, "parameters": {"patience": 3}}, arrays),
        ({**header, "contexts": {}}, arrays),
        ({**header, "random": [1, 2]}, arrays),
        ({**header, "arms": []}, arrays),
        ({**header, "arms": 5}, arrays),
    ):
        (tmp_path / "policy.bt").write_bytes(files.pack(*damaged))
        with pytest.raises(bt.StateError, match=r"policy.bt cannot be restored|state"):
            bt.load(tmp_path / "policy.bt")


def test_a_damaged_pickle_says_so():
    reduced = taught().__reduce__()
    function, (data, objects) = reduced
    with pytest.raises(bt.StateError, match="the pickle is truncated or damaged"):
        function(data[:-1], objects)
    assert pickle.loads(pickle.dumps(taught()))._pack() == taught()._pack()


def test_subclasses_are_all_found():
    found = list(loading.subclasses(Policy))
    assert {bt.Uniform, bt.ThompsonSampling, bt.TreeHeuristic, Patient} <= set(found)


def test_equal_seeds_are_equal_on_every_machine():
    """Written down once: a change here changes the decisions of everybody's saved policies."""
    policy = taught()
    decided = "".join(arm[0] for arm in policy.decide_many([{}] * 24))
    assert decided == "tggggggtgtttggggttgtgggg"


@pytest.mark.parametrize(
    ("contexts", "arms", "rewards", "message"),
    [
        ([{"age": 1}] * 3, ["golf", "golf", "gofl"], [1, 0, 1], "unknown arm 'gofl' in row 2"),
        ([{"age": 1}] * 3, ["golf", None, "golf"], [1, 0, 1], "unknown arm None in row 1"),
        ([{"age": 1}] * 3, ["golf"] * 3, [1, "high", 1], "got 'high' in row 1"),
        ([{"age": 1}] * 3, ["golf"] * 3, np.array(["1", "0", "1"]), "got '1' in row 0"),
        ([{"age": 1}] * 3, ["golf"] * 3, pd.Series([1, 0, "1"]), "got '1' in row 2"),
        ([{"age": 1}] * 3, ["golf"] * 3, [1, 0, None], "got nan in row 2; leave out rows"),
        ([{"age": 1}] * 3, ["golf"] * 3, [1, 0, 2], "got 2 in row 2"),
        ([{"age": 1}, {"age": "x"}], ["golf"] * 2, [1, 0], "feature 'age' of context 1"),
        ([{"age": 1}, 5], ["golf"] * 2, [1, 0], "context 1 cannot be"),
    ],
)
def test_errors_of_many_name_the_row(contexts, arms, rewards, message):
    with pytest.raises(bt.BanditreeError, match=message):
        bt.Uniform(ARMS).learn_many(contexts, arms, rewards)


@pytest.mark.parametrize(
    ("reward", "advice"),
    [
        ("high", "send a number, such as 1 for a success"),
        (None, "leave out observations without a reward"),
        (float("nan"), "leave out observations without a reward"),
        (pd.NA, "leave out observations without a reward"),
        (float("inf"), "send a finite number"),
        ([1], "send a finite number"),
        (np.array([1, 2]), "send a finite number"),
    ],
)
def test_only_missing_rewards_can_be_left_out(reward, advice):
    with pytest.raises(bt.InvalidRewardError, match=f"; {advice}"):
        bt.Uniform(ARMS).learn({}, "golf", reward)


@pytest.mark.parametrize("one", [[[1, 1]], [{"age": 1}], np.ones((1, 2)), [np.ones(2)]])
def test_a_list_of_one_context_is_hinted_at(one):
    policy = bt.Uniform(ARMS)
    for call in (policy.decide, lambda context: policy.learn(context, "golf", 1)):
        with pytest.raises(
            bt.InvalidContextError,
            match=r"of one context, .*pass the context inside it, or .*_many",
        ):
            call(one)
