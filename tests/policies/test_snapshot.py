"""Snapshots: the policy's propensities bit for bit, keys, bytes, threads and processes."""

import copy
import os
import pickle
import subprocess
import sys
import threading
from functools import partial
from math import sqrt
from random import Random

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import banditree as bt
from banditree import _core
from banditree.policies.saving import files
from banditree.policies.snapshot import MAGIC, _generator_of

ARMS = ["golf", "tennis", "chess"]

# The laws of banditree.checks try each policy with its defaults; these are its other ways.
WAYS = {
    "plain": bt.TreeHeuristic,
    "bandit": bt.Bandit,
    "bandit, continuous window": partial(bt.Bandit, reward="continuous", window=40),
    "live": partial(bt.TreeHeuristic, refresh=0),
    "live, exact": partial(bt.TreeHeuristic, refresh=0, max_bins=None),
    "window": partial(bt.TreeHeuristic, window=40),
    "continuous": partial(bt.TreeHeuristic, reward="continuous"),
    "continuous window": partial(bt.TreeHeuristic, reward="continuous", window=40, floor=0.1),
    "greedy": partial(bt.Greedy, prior=(1, 3), floor=0.2),
    "online": partial(bt.OnlineTreeBootstrap, replicas=7),
    "online, continuous": partial(bt.OnlineTreeBootstrap, replicas=7, reward="continuous"),
    "bootstrap": bt.TreeBootstrap,
    "bootstrap, continuous": partial(bt.TreeBootstrap, reward="continuous"),
    "until success": partial(bt.TreeBootstrap, cold_start="until_success", patience=5),
    "every fit": partial(bt.TreeBootstrap, pruning="cv_every_fit", folds=2, max_depth=2),
    "online window": partial(bt.OnlineTreeBootstrap, replicas=7, window=20, refresh=0.3),
    "bootstrap window": partial(bt.TreeBootstrap, reward="continuous", window=20),
    "linear window": partial(bt.LinUCB, window=20),
    "logistic window": partial(bt.LogisticUCB, window=20),
    "sampling window": partial(bt.ThompsonSampling, window=9, floor=0.1),
}
every_way = pytest.mark.parametrize("make", WAYS.values(), ids=WAYS.keys())


def contexts(n, seed=0):
    random = Random(seed)
    cities = ["Berlin", "Rome", "Oslo", "Lima", None]
    return [
        {
            "age": random.choice([None, random.randint(18, 90), random.uniform(18, 90)]),
            "city": random.choice(cities),
            "member": random.random() < 0.4,
        }
        for _ in range(n)
    ]


def teach(policy, n, seed=0):
    random = Random(seed)
    for context in contexts(n, seed):
        arm = random.choice(ARMS)
        likes = context["city"] == "Rome" or (context["age"] or 0) > 50
        paid = random.random() < (0.7 if likes == (arm == "golf") else 0.2)
        policy.learn(
            context, arm, paid * (1.0 if policy.reward == "binary" else random.gauss(9, 2))
        )
    return policy


@every_way
def test_all_readings_are_those_of_the_policy(make):
    policy, probes = make(ARMS, seed=3), [*contexts(20, seed=9), {"city": "Paris"}, {}]
    for n in (0, 2, 9, 80, 150):
        teach(policy, n, seed=n)
        snapshot = policy.snapshot()
        for probe in probes:
            assert snapshot.propensities(probe) == policy.propensities(probe)
            expected = policy.expected_rewards(probe)
            assert snapshot.expected_rewards(probe) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        some = ["chess", "golf"]
        table = policy.propensities_many(probes, some)
        assert np.array_equal(snapshot.propensities_many(probes, some), table)
        means = policy.expected_rewards_many(probes, some)
        np.testing.assert_allclose(snapshot.expected_rewards_many(probes, some), means, rtol=1e-12)


@every_way
def test_explanations_are_those_of_the_leaves(make):
    policy = teach(make(ARMS, seed=3), 150)
    snapshot = policy.snapshot()
    for probe in contexts(15, seed=4):
        for arm, expected in policy.explain(probe).items():
            seen = snapshot.explain(probe)[arm]
            assert (seen.rule, seen.n) == (expected.rule, expected.n)
            assert seen.mean == pytest.approx(expected.mean)
            low, high = expected.interval
            assert low - 1e-9 <= seen.interval[0] <= seen.interval[1] <= high + 1e-9


def test_many_categories_and_features_that_come_late():
    policy = bt.TreeHeuristic(ARMS, seed=1)
    random = Random(5)
    for i in range(600):
        context = {"shop": random.randrange(40), "day": i % 7} | ({"new": i} if i > 300 else {})
        policy.learn({**context, "shop": f"s{context['shop']}"}, ARMS[i % 3], context["shop"] % 2)
    snapshot = bt.Snapshot.from_bytes(policy.snapshot().to_bytes())
    for i in range(60):
        probe = {"shop": f"s{i}", "day": i, "new": 10 * i}
        assert snapshot.propensities(probe) == policy.propensities(probe)
    assert dict(snapshot.features) == dict(policy.features)


@pytest.mark.parametrize("cls", [bt.LinUCB, bt.LogisticUCB, bt.TreeHeuristic])
def test_it_holds_no_rows(cls):
    few, many = (teach(cls(ARMS, seed=1), n).snapshot() for n in (300, 1500))
    arrays = [files.unpack(s.to_bytes()[len(MAGIC) :], "it")[1] for s in (few, many)]
    sizes = [sum(array.nbytes for array in each.values()) for each in arrays]
    assert sizes[1] < 3 * sizes[0]
    assert not {"rows", "contexts_0", "rewards", "moments"} & arrays[0].keys()


# Draws.


def test_keys_of_other_types_are_other_keys():
    same = {_generator_of(key).state for key in (17, np.int64(17), np.uint8(17))}
    other = {_generator_of(key).state for key in ("17", b"17", "int:11", 18, -17, 10**5000)}
    assert len(same) == 1
    assert len(other - same) == 6


@pytest.mark.parametrize("key", [True, 1.5, ("a",), np.float64(2), [], object()])
def test_what_is_no_key_is_refused(key):
    snapshot = bt.Uniform(ARMS, seed=1).snapshot()
    with pytest.raises(bt.InvalidParameterError, match="key must be a string, a whole number or"):
        snapshot.decide({}, key=key)


def test_a_key_draws_the_same_in_every_process():
    snapshot = teach(bt.TreeHeuristic(ARMS, seed=1), 100).snapshot()
    probes = [{"age": 20.0 + i, "city": "Rome"} for i in range(30)]
    here = [snapshot.decide(probe, key=f"order-{i}") for i, probe in enumerate(probes)]
    code = (
        "import sys, banditree as bt; s = bt.Snapshot.from_bytes(sys.stdin.buffer.read());"
        "print([s.decide({'age': 20.0 + i, 'city': 'Rome'}, key=f'order-{i}') for i in range(30)])"
    )
    run = [sys.executable, "-c", code]
    there = subprocess.run(run, input=snapshot.to_bytes(), capture_output=True, check=True)
    assert there.stdout.decode().strip() == str(here)
    assert len(set(here)) > 1


def test_keys_draw_what_they_always_drew():
    snapshot = bt.Uniform(list(range(1000))).snapshot()
    assert [snapshot.decide({}, key=key) for key in ("order-17", 17, b"17")] == [
        263,
        376,
        526,
    ]


@pytest.mark.parametrize("make", [bt.TreeHeuristic, bt.Greedy, bt.OnlineTreeBootstrap])
@pytest.mark.parametrize("floor", [0.0, 0.4])
def test_decisions_without_a_key_follow_the_propensities(make, floor):
    snapshot = teach(make(ARMS, seed=2, floor=floor), 60).snapshot()
    probe, n = {"age": 40, "city": "Oslo"}, 4000
    chances = snapshot.propensities(probe)
    many, single = snapshot.decide_many([probe] * n), [snapshot.decide(probe) for _ in range(n)]
    drawn = [snapshot.decision(probe).arm for _ in range(n)]
    for arm, chance in chances.items():
        for sample in (many, single, drawn):
            allowed = 5 * sqrt(chance * (1 - chance) / n)
            assert abs(sample.count(arm) / n - chance) <= allowed


def test_threads_draw_apart():
    snapshot = bt.Uniform(list(range(10))).snapshot()
    drawn = {}

    def draw(i):
        drawn[i] = tuple(snapshot.decide({}) for _ in range(40))

    threads = [threading.Thread(target=draw, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn.values())) == 8


@every_way
def test_threads_read_what_one_reads(make):
    snapshot = teach(make(ARMS, seed=2), 60).snapshot()
    probes, wrong = [*contexts(10, seed=8), {"unknown": 1}], []
    with pytest.warns(bt.BanditreeWarning):
        expected = [snapshot.propensities(probe) for probe in probes]
    again = bt.Snapshot.from_bytes(snapshot.to_bytes())
    again._policy._encoder.tells = False

    def read():
        for _ in range(5):
            if [again.propensities(probe) for probe in probes] != expected:
                wrong.append("propensities")
            if not set(again.decide_many(probes)) <= set(ARMS):
                wrong.append("arms")

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_draws_other_numbers():
    snapshot = bt.Uniform(list(range(10)), seed=4).snapshot()
    snapshot.decide({})
    reading, writing = os.pipe()
    child = os.fork()
    drawn = bytes(snapshot.decide({}) for _ in range(40))
    if child == 0:
        os.write(writing, drawn)
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 40) != drawn


# What it is.


def test_it_never_changes():
    snapshot = teach(bt.TreeHeuristic(ARMS, seed=1), 30).snapshot()
    for name in ("arms", "digest", "_data", "anything"):
        with pytest.raises(AttributeError, match="a snapshot never changes; take another one"):
            setattr(snapshot, name, 1)
    with pytest.raises(AttributeError, match="never changes"):
        del snapshot._data
    assert copy.copy(snapshot) is copy.deepcopy(snapshot) is snapshot
    twin = pickle.loads(pickle.dumps(snapshot))
    assert twin == snapshot
    assert {twin, snapshot} == {snapshot}
    assert snapshot != teach(bt.TreeHeuristic(ARMS, seed=1), 31).snapshot()
    assert snapshot != snapshot.to_bytes()


def test_seeds_matter_only_where_beliefs_depend_on_them():
    for make in (bt.TreeHeuristic, bt.LinUCB, bt.ThompsonSampling, bt.Uniform):
        one, two = (teach(make(ARMS, seed=seed), 50).snapshot() for seed in (1, None))
        assert one == two
        assert one.digest == two.digest
    one, two = (teach(bt.TreeBootstrap(ARMS, seed=seed), 50).snapshot() for seed in (1, 2))
    assert one != two


def test_it_says_what_it_is():
    snapshot = teach(bt.Greedy(ARMS, seed=1), 30).snapshot()
    assert repr(snapshot) == f"<Snapshot of Greedy: 3 arms, 3 features, {snapshot.digest[:12]}>"
    assert len(snapshot.digest) == 64
    assert snapshot.arms == tuple(ARMS)
    assert repr(bt.Uniform(["a"]).snapshot()).startswith("<Snapshot of Uniform: 1 arm, 0 features,")


def test_removed_arms_stay_out():
    policy = teach(bt.TreeBootstrap(ARMS, seed=1), 60)
    policy.remove_arm("tennis")
    snapshot, probe = policy.snapshot(), {"age": 30}
    assert snapshot.arms == ("golf", "chess")
    assert snapshot.propensities(probe) == policy.propensities(probe)
    assert "tennis" not in snapshot.decide_many([probe] * 200)
    with pytest.raises(bt.UnknownArmError):
        snapshot.decide(probe, arms=["tennis"])


class Learner:
    """Predicts a number that it was given."""

    def __init__(self, level=0.5):
        self.level = level

    def get_params(self, deep=True):
        return {"level": self.level}

    def fit(self, x, y):
        return self

    def predict(self, x):
        return np.full(len(x), self.level)


def test_learners_that_bytes_cannot_hold():
    snapshot = teach(bt.Bootstrap(ARMS, Learner(), seed=1), 30).snapshot()
    data, probe = snapshot.to_bytes(), {"age": 30}
    with pytest.raises(bt.StateError, match="does not hold the policy's learner"):
        bt.Snapshot.from_bytes(data)
    again = bt.Snapshot.from_bytes(data, learner=Learner())
    assert again.propensities(probe) == snapshot.propensities(probe)
    assert copy.deepcopy(snapshot).expected_rewards(probe) == snapshot.expected_rewards(probe)
    with pytest.raises(bt.InvalidParameterError, match="from_bytes has no argument 'teacher'"):
        bt.Snapshot.from_bytes(data, teacher=1)


def test_a_learner_of_scikit_learn_is_held():
    learner = LogisticRegression(C=0.5)
    snapshot = teach(bt.Bootstrap(ARMS, learner, seed=1), 30).snapshot()
    before = snapshot.expected_rewards({"age": 30})
    learner.set_params(C=1e-6)
    assert snapshot.expected_rewards({"age": 30}) == before
    again = bt.Snapshot.from_bytes(snapshot.to_bytes())
    assert again.expected_rewards({"age": 30}) == before


class MeanOfAll(bt.CustomPolicy):
    """Four methods of a user."""

    def start(self):
        self.seen = []

    def observe(self, context, arm, reward):
        self.seen.append((arm, reward))

    def estimate(self, context, arm):
        return sum(reward for name, reward in self.seen if name == arm) / 10

    def chances(self, context, arms):
        weights = [1 + self.estimate(context, arm) for arm in arms]
        return [weight / sum(weights) for weight in weights]


def test_a_policy_of_ones_own():
    policy = teach(MeanOfAll(ARMS, seed=1), 40)
    snapshot, probe = policy.snapshot(), {"age": 30}
    expected = policy.propensities(probe)
    teach(policy, 10)
    assert snapshot.propensities(probe) == expected != policy.propensities(probe)


# Bytes.


@every_way
def test_damage_is_noticed(make):
    data, random = teach(make(ARMS, seed=1), 20).snapshot().to_bytes(), Random(1)
    damaged = [data[:n] for n in (0, 5, 30, 60, len(data) // 2, len(data) - 1)] + [data + b"x"]
    for _ in range(40):
        place = random.randrange(len(data))
        damaged.append(
            data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]
        )
    for bad in damaged:
        with pytest.raises(bt.StateError):
            bt.Snapshot.from_bytes(bad)


def test_what_is_no_snapshot_is_refused(tmp_path):
    policy = teach(bt.TreeHeuristic(ARMS, seed=1), 20)
    policy.save(tmp_path / "policy.bt")
    with pytest.raises(bt.StateError, match="these bytes are no snapshot; pass what"):
        bt.Snapshot.from_bytes((tmp_path / "policy.bt").read_bytes())
    with pytest.raises(bt.InvalidParameterError, match="data must be bytes, got 'policy"):
        bt.Snapshot.from_bytes("policy.bt")
    header, arrays = files.unpack(policy.snapshot().to_bytes()[len(MAGIC) :], "it")
    for change, message in [
        ({"snapshot": 2}, "the snapshot is in format 2, but this version of banditree reads"),
        ({"policy": "Nobody"}, "holds a policy of the class 'Nobody'"),
        ({"policy": "Uniform", "module": "banditree.policies.uniform"}, "cannot be restored"),
        ({"arms": header["arms"][:1]}, "the snapshot is of other arms or features"),
        ({"parameters": {"nothing": 1}}, "cannot be restored"),
    ]:
        with pytest.raises(bt.StateError, match=message):
            bt.Snapshot.from_bytes(MAGIC + files.pack({**header, **change}, arrays))


@every_way
def test_forged_trees_are_refused_or_safe(make):
    """Whatever bytes the core takes for trees, it can walk."""
    policy = teach(make(ARMS, seed=1), 60)
    if "trees" not in policy._frozen_state():
        return
    trees, random = policy._frozen_state()["trees"], Random(3)
    row, eligible = np.array([30.0, 1.0, np.nan]), np.arange(3)
    taken = 0
    for _ in range(600):
        forged = trees[: random.randrange(1, len(trees) + 1)] if random.random() < 0.1 else trees
        forged = forged.copy()
        for _ in range(random.randint(1, 3)):
            forged[random.randrange(len(forged))] = random.choice(
                [0, 1, 255, random.randrange(256)]
            )
        try:
            frozen = _core.FrozenTrees.restore(forged)
        except ValueError:
            continue
        taken += 1
        frozen.decide(row, eligible, _core.Generator(1))
        frozen.decide_greedily(row, eligible, _core.Generator(1))
        for arm in range(3):
            frozen.predictions(arm, row)
            if not frozen.is_cold(arm) and frozen.n_rows(arm):
                frozen.evidence(row, eligible)
    assert taken > 0
