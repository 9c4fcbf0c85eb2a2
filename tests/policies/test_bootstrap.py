"""Bootstrap around any learner: Algorithm 2 with an estimator of scikit-learn's kind."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import banditree as bt
from banditree._core import Generator
from banditree.policies.saving import files

ARMS = ["golf", "tennis"]
CITIES = ["Berlin", "Paris", "Rome"]
N = 30  # a point of the schedule, at which the scale is that of all contexts


def contexts(n: int = N, seed: int = 1) -> list[dict[str, Any]]:
    """Return contexts of which none makes a new scale: no late city, no number far out."""
    rng = np.random.default_rng(seed)
    ages, sizes, codes = rng.integers(18, 70, n), rng.uniform(-2, 2, n), rng.integers(0, 3, n)
    codes[:3] = np.arange(min(n, 3))
    return [
        {"age": float(ages[i]), "size": float(sizes[i]), "city": CITIES[codes[i]]} for i in range(n)
    ]


def rewards_of(given: list[dict[str, Any]], kind: str, seed: int = 2) -> list[float]:
    rng = np.random.default_rng(seed)
    score = np.array([c["age"] / 30 - c["size"] for c in given]) + rng.normal(size=len(given))
    return [float(s > 1.5) if kind == "binary" else round(float(s), 2) for s in score]


def learned(learner: Any, kind: str = "binary", n: int = N, **options: Any) -> bt.Bootstrap:
    policy = bt.Bootstrap(ARMS, learner, reward=kind, seed=4, **options)
    given = contexts(n)
    pairs = zip(given, rewards_of(given, kind), strict=True)
    for i, (context, reward) in enumerate(pairs):
        policy.learn(context, ARMS[i % 2], reward)
    return policy


class Majority:
    """A learner that scikit-learn does not know."""

    classes_ = (False, True)

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def fit(self, rows: Any, rewards: Any) -> Majority:
        self.share = float(np.mean(rewards)) * self.weight
        return self

    def predict_proba(self, rows: Any) -> Any:
        return np.array([[1 - self.share, self.share]] * len(rows))


# ---- the same as a loop in plain Python ----


class Loop:
    """Algorithm 2 around a learner; only the random numbers are the product's, in its order."""

    def __init__(self, learner: Any, kind: str, seed: int = 4) -> None:
        self.learner, self.kind, self.random = learner, kind, Generator(seed)
        self.contexts = contexts()
        self.rewards = rewards_of(self.contexts, kind)
        self.columns: list[tuple[str, Any]] = [("age", None), ("size", None)]
        once = set()
        for context in self.contexts:
            column = ("city", context["city"])
            # A category has a column from the second time on that it comes.
            self.columns += [column] if column in once and column not in self.columns else []
            once.add(column)
        raw = np.array([self.raw(context) for context in self.contexts])
        self.mean, self.deviation = raw.mean(axis=0), raw.std(axis=0)
        self.mean[2:], self.deviation[2:] = 0, (len(self.columns) - 2) ** 0.25  # the bits

    def raw(self, context: dict[str, Any]) -> list[float]:
        return [context[k] if v is None else float(context[k] == v) for k, v in self.columns]

    def standardised(self, given: list[dict[str, Any]]) -> np.ndarray:
        return (np.array([self.raw(context) for context in given]) - self.mean) / self.deviation

    def log(self, arm: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and rewards of an arm; binary ones begin with the made-up observations."""
        own, rewards = self.contexts[arm::2], self.rewards[arm::2]
        if self.kind == "binary":
            own, rewards = [own[0], own[0], *own], [1.0, 0.0, *rewards]
        return self.standardised(own), np.array(rewards)

    def draw(self, arm: int, context: dict[str, Any]) -> float:
        rows, rewards = self.log(arm)
        chosen = self.random.integers(len(rows), len(rows))
        rows, rewards = rows[chosen], rewards[chosen]
        asked = self.standardised([context])
        if self.kind == "binary":
            rewards = self.random.uniform(len(rewards)) < rewards
        if len(set(rewards.tolist())) == 1:
            return float(rewards[0])
        fresh = clone(self.learner)
        if fresh.get_params().get("random_state", 0) is None:
            fresh.set_params(random_state=int(self.random.integers(2**31, 1)[0]))
        fresh.fit(rows, rewards)
        predict = fresh.predict_proba if self.kind == "binary" else fresh.predict
        return float(np.ravel(predict(asked))[-1])

    def decide(self, context: dict[str, Any]) -> str:
        values = [self.draw(arm, context) for arm in range(2)]
        if values[0] == values[1]:
            return ARMS[self.random.integers(2, 1)[0]]
        return ARMS[int(np.argmax(values))]


LEARNERS = [
    LogisticRegression(),
    DecisionTreeClassifier(max_depth=3),
    DecisionTreeClassifier(random_state=5),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_same_decisions_as_a_naive_loop(learner: Any) -> None:
    policy, loop = learned(learner), Loop(learner, "binary")
    for context in contexts(12, seed=9):
        assert policy.decide(context) == loop.decide(context)
    assert policy._random.state == loop.random.state


def test_same_decisions_as_a_naive_loop_with_continuous_rewards() -> None:
    loop = Loop(LinearRegression(), "continuous")
    policy = learned(LinearRegression(), "continuous", cold_start="until_success", patience=1)
    for context in contexts(12, seed=9):
        assert policy.decide(context) == loop.decide(context)
    assert policy._random.state == loop.random.state


def test_missing_numbers_count_as_the_mean_and_unknown_categories_as_none() -> None:
    seen: list[np.ndarray] = []

    class Spy(LinearRegression):
        def predict(self, rows: Any) -> Any:
            seen.append(np.array(rows))
            return super().predict(rows)

    policy = learned(Spy())
    policy.decide({"city": "never seen"})
    asked = seen[-1][0]
    assert asked[:2].tolist() == [0.0, 0.0]
    assert asked[2:5].tolist() == [0, 0, 0]


# ---- what learners cannot do by themselves ----


def test_one_class_in_the_resample_is_no_error() -> None:
    policy = bt.Bootstrap(
        ARMS, LogisticRegression(), cold_start="until_success", patience=1, seed=3
    )
    policy.learn_many([[1], [2], [3]], ["golf"] * 3, [1, 1, 1])
    policy.learn_many([[1], [2]], ["tennis"] * 2, [0, 0])
    assert policy.expected_rewards([2]) == {"golf": 1.0, "tennis": 0.0}
    assert set(policy.decide_many([[2]] * 20)) == {"golf"}
    policy.learn([3], "tennis", 1)  # resamples have one class or two
    assert 0 < policy.propensities([2], draws=200)["tennis"] < 1


def test_a_share_of_a_success_is_drawn_as_one() -> None:
    policy = bt.Bootstrap(["golf"], Majority(1.0), cold_start="until_success", seed=3)
    policy.learn_many([[1]] * 4, ["golf"] * 4, [0.3, 0.8, 0.0, 0.5])
    draws = policy._draws(0, np.array([1.0]), 4000)
    assert set(draws * 4) <= {0, 1, 2, 3, 4}
    # Each of four coins is a success with probability 0.4, whatever was resampled.
    error = np.sqrt(0.4 * 0.6 / 4 / 4000)
    assert draws.mean() == pytest.approx(0.4, abs=5 * error)


def test_regressors_learn_continuous_rewards() -> None:
    policy = bt.Bootstrap(ARMS, DecisionTreeRegressor(), reward="continuous", seed=3)
    for age in range(20, 50):
        policy.learn({"age": age}, "golf", 100.0 if age > 35 else -100.0)
        policy.learn({"age": age}, "tennis", -5.5)
    assert (
        policy.decide_many([{"age": 22}] * 9 + [{"age": 48}] * 9) == ["tennis"] * 9 + ["golf"] * 9
    )
    assert policy.expected_rewards({"age": 48})["golf"] == 100.0


def test_a_regressor_may_learn_binary_rewards() -> None:
    """And what is expected is its prediction from all observations, without resampling."""
    learner = DecisionTreeRegressor(max_depth=2, random_state=1)
    policy, loop = learned(learner), Loop(learner, "binary")
    for context in contexts(9, seed=9):
        expected = [
            clone(learner).fit(*loop.log(arm)).predict(loop.standardised([context]))[0]
            for arm in range(2)
        ]
        assert list(policy.expected_rewards(context).values()) == pytest.approx(expected)


# ---- what is refused ----


@pytest.mark.parametrize(
    "learner",
    [LogisticRegression, None, "LogisticRegression", object(), StandardScaler()],
    ids=lambda learner: type(learner).__name__,
)
def test_what_is_no_learner_is_refused(learner: Any) -> None:
    message = "learner must be a scikit-learn estimator with fit and predict_proba or predict, got"
    with pytest.raises(bt.InvalidParameterError, match=message):
        bt.Bootstrap(ARMS, learner)


def test_a_classifier_for_continuous_rewards_is_refused() -> None:
    message = 'LogisticRegression is a classifier .*; for reward="continuous" pass a regressor'
    with pytest.raises(bt.InvalidParameterError, match=message):
        bt.Bootstrap(ARMS, LogisticRegression(), reward="continuous")


# ---- randomness and state ----

FOREST = RandomForestClassifier(n_estimators=3, max_depth=3)
PIPELINE = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2, splitter="random"))


@pytest.mark.parametrize("learner", [FOREST, PIPELINE], ids=["forest", "pipeline"])
def test_learners_without_a_seed_get_one(learner: Any) -> None:
    asked = contexts(8, seed=9)
    one, other = learned(learner), learned(learner)
    assert one.decide_many(asked) == other.decide_many(asked)
    assert one._random.state == other._random.state
    row = one._encoder.encode_one(asked[0])
    assert one._draws(0, row, 12).tolist() == other._draws(0, row, 12).tolist()
    assert [n for n in learner.get_params() if n.endswith("random_state")]
    assert all(v is None for k, v in learner.get_params().items() if k.endswith("random_state"))
    assert not hasattr(learner, "classes_")  # the one that was given is never fitted


def carried_on(policy: bt.Bootstrap, other: bt.Bootstrap) -> None:
    asked = contexts(4, seed=9)
    assert other.decide_many(asked) == policy.decide_many(asked)
    for each in (policy, other):
        each.learn(asked[0], "tennis", 1)
    assert other.propensities(asked[1], draws=3) == policy.propensities(asked[1], draws=3)


def test_a_pipeline_is_saved(tmp_path: Path) -> None:
    learner = Pipeline(
        [("scale", StandardScaler(with_mean=False)), ("fit", LogisticRegression(C=0.3))]
    )
    policy = learned(learner)
    policy.save(tmp_path / "policy.bt")
    again = bt.load(tmp_path / "policy.bt")
    assert repr(again.learner) == repr(learner)
    carried_on(policy, again)


def test_another_learner_is_passed_to_load(tmp_path: Path) -> None:
    policy = learned(Majority(0.9))
    policy.save(tmp_path / "policy.bt")
    with pytest.raises(bt.StateError, match=r"load it with load\(path, learner=...\)"):
        bt.load(tmp_path / "policy.bt")
    carried_on(policy, bt.load(tmp_path / "policy.bt", learner=Majority(0.9)))


def test_pickles_and_copies_hold_any_learner() -> None:
    for again in (lambda p: pickle.loads(pickle.dumps(p)), copy.deepcopy):
        policy = learned(Majority(0.9))
        carried_on(policy, again(policy))


@pytest.mark.parametrize(
    ("module", "name", "message"),
    [
        ("os", "system", "os.system, which is not trusted"),
        ("builtins", "eval", "not trusted"),
        ("sklearnlike.tree", "Tree", "not trusted"),
        ("pathlib", "Path", "not trusted"),
        ("sklearn.utils", "shuffle", "which is no estimator"),
        ("sklearn.base", "clone", "which is no estimator"),
        ("sklearn.tree", "NoSuchTree", "cannot be restored"),
        ("sklearn.no_such_module", "Tree", "cannot be imported"),
    ],
)
def test_a_file_cannot_name_what_it_likes(
    tmp_path: Path, module: str, name: str, message: str
) -> None:
    path = tmp_path / "policy.bt"
    learned(LogisticRegression(), n=4).save(path)
    header, arrays = files.unpack(path.read_bytes(), "here")
    assert header["objects"]["learner"]["estimator"][1] == "LogisticRegression"
    named = {"estimator": [module, name, {}]}
    steps = {"steps": {"list": [{"tuple": ["inner", named]}]}}
    for forged in (named, {"estimator": ["sklearn.pipeline", "Pipeline", steps]}):
        header["objects"]["learner"] = forged
        path.write_bytes(files.pack(header, arrays))
        with pytest.raises(bt.StateError, match=message):
            bt.load(path)


def test_without_scikit_learn_loading_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "policy.bt"
    bt.Bootstrap(learner=LogisticRegression(), arms=["golf", "tennis"]).save(path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        bt.StateError, match=r"LogisticRegression, which .* pip install scikit-learn"
    ):
        bt.load(path)
