"""Trees that are grown in the background: what the policy knows meanwhile, and in the end."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditree as bt
from banditree.checks import LAWS, check_policy
from banditree.policies import background
from policies.tree_streams import ARMS, Stream, mixed_stream, streams

pytestmark = pytest.mark.filterwarnings("ignore::banditree.BanditreeWarning")

ONLINE = partial(bt.OnlineTreeBootstrap, replicas=4)
MAKERS: list[Any] = [bt.TreeHeuristic, bt.Greedy, ONLINE, bt.Bandit]
every_maker = pytest.mark.parametrize(
    "make", MAKERS, ids=["heuristic", "greedy", "online", "bandit"]
)


@pytest.fixture
def from_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the smallest trees grow beside, so that few observations are enough."""
    monkeypatch.setattr(background, "_FROM", 1)


def both(make: Any, **options: Any) -> tuple[Any, Any]:
    return make(ARMS, background=True, **options), make(ARMS, **options)


def assert_same_beliefs(policy: Any, other: Any, stream: Stream, exact: bool = True) -> None:
    for context in stream.others:
        found, expected = policy.propensities(context), other.propensities(context)
        assert found == (expected if exact else pytest.approx(expected, rel=1e-6, abs=1e-9))
        found, expected = policy.expected_rewards(context), other.expected_rewards(context)
        assert found == (expected if exact else pytest.approx(expected))


@every_maker
@pytest.mark.parametrize("window", [None, 150])
@pytest.mark.parametrize("reward", ["binary", "continuous"])
@pytest.mark.usefixtures("from_the_first")
def test_in_the_end_it_is_the_policy_without(make: Any, window: int | None, reward: Any) -> None:
    stream = mixed_stream(1500, reward)
    policy, plain = both(make, window=window, reward=reward, seed=3)
    for n, observation in enumerate(stream, 1):
        policy.learn(*observation)
        plain.learn(*observation)
        if n % 250 == 0:
            policy.wait()
            assert_same_beliefs(policy, plain, stream, exact=reward == "binary")
    if reward == "binary":
        assert np.array_equal(policy._core.dump(), plain._core.dump())
    assert policy.tree("golf").n_leaves == plain.tree("golf").n_leaves


@settings(max_examples=30)
@given(streams(reward="coin", max_rows=40), st.integers(1, 12), st.none() | st.integers(1, 9))
def test_so_it_is_after_any_observations(stream: Stream, chunk: int, window: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "_FROM", 1)
        options: dict[str, Any] = {"categorical": stream.categorical, "seed": 1}
        for make in MAKERS:
            grown = {} if make is bt.Bandit else {"max_bins": 5}
            policy, plain = both(make, window=window, refresh=0.3, **options, **grown)
            for start in range(0, len(stream.arms), chunk):
                policy.learn_many(*stream.part(start, start + chunk))
                for observation in list(stream)[start : start + chunk]:
                    plain.learn(*observation)
            policy.wait()
            assert_same_beliefs(policy, plain, stream)


@pytest.mark.parametrize("make", MAKERS[:3])
@pytest.mark.usefixtures("from_the_first")
def test_counts_are_current_while_trees_grow(make: Any) -> None:
    stream = mixed_stream(900, "continuous")
    policy = make(ARMS, background=True, reward="continuous", window=200, seed=1)
    for n, (context, arm, reward) in enumerate(stream, 1):
        policy.learn(context, arm, reward)
        _, rewards = stream.of(arm, n)
        if make is ONLINE:
            assert policy.explain(context)[arm].n == len(rewards[-200:])
            continue
        root = policy.tree(arm).to_dict()
        assert (root["n"], root["mean"]) == (
            len(rewards[-200:]),
            pytest.approx(np.mean(rewards[-200:])),
        )


@pytest.mark.usefixtures("from_the_first")
def test_members_learn_on_while_others_are_fitted() -> None:
    stream = mixed_stream(900)
    policy = bt.Bandit(ARMS, background=True, window=200, seed=1)
    for n, (context, arm, reward) in enumerate(stream, 1):
        before = policy._core.expectations(policy._encoder.encode_one(context), np.arange(3))[0]
        policy.learn(context, arm, reward)
        after = policy._core.expectations(policy._encoder.encode_one(context), np.arange(3))[0]
        assert sum(policy._core.n_learned(i) for i in range(3)) == n
        assert n < 20 or not np.array_equal(before, after)


class Late:
    """A policy whose trees are late: of many observations that came at once."""

    def __init__(self, make: Any, n: int = 6000, **options: Any) -> None:
        self.stream = mixed_stream(n)
        self.plain = make(ARMS, seed=3, **options)
        self.policy = make(ARMS, background=True, seed=3, **options)
        for start, stop in ((0, 400), (400, n)):
            self.plain.learn_many(*self.stream.part(start, stop))
            self.policy.learn_many(*self.stream.part(start, stop))
            if stop == 400:
                self.policy.wait()

    @property
    def is_late(self) -> bool:
        return not np.array_equal(self.policy._core.dump(), self.plain._core.dump())


@every_maker
def test_learning_does_not_wait_and_decisions_use_the_old_tree(make: Any) -> None:
    late = Late(make)
    assert late.is_late
    assert late.policy.counts == late.plain.counts
    late.policy.decide(late.stream.others[0])
    late.policy.wait()
    assert not late.is_late
    assert_same_beliefs(late.policy, late.plain, late.stream)


@every_maker
@pytest.mark.parametrize("how", ["pickle", "deepcopy", "load", "append"])
def test_copies_and_files_have_all_but_the_job(make: Any, how: str, tmp_path: Any) -> None:
    late = Late(make)
    path = tmp_path / "policy.bt"
    if how == "pickle":
        other = pickle.loads(pickle.dumps(late.policy))
    elif how == "deepcopy":
        other = copy.deepcopy(late.policy)
    else:
        late.policy.save(path, append=how == "append")
        other = bt.load(path)
    assert other.background
    assert other.counts == late.policy.counts
    for each in (other, late.policy):
        each.wait()
        assert_same_beliefs(each, late.plain, late.stream)


@every_maker
def test_what_is_changed_while_trees_grow(make: Any) -> None:
    late = Late(make)
    for each in (late.policy, late.plain):
        each.add_arm("hockey")
        each.learn({"age": 3, "new": "a"}, "hockey", 1)
        each.remove_arm("golf")
        each.learn({"age": 30, "city": "a new one", "other": 7}, "golf", 1)
        each.learn_many(*late.stream.part(0, 50))
    late.policy.wait()
    assert late.policy.arms == ("tennis", "chess", "hockey")
    assert_same_beliefs(late.policy, late.plain, late.stream)


@every_maker
def test_a_feature_put_right_while_trees_grow(make: Any) -> None:
    late = Late(make)
    for each in (late.policy, late.plain):
        each.set_feature("age", "category")
        each.learn_many(*late.stream.part(0, 50))
    late.policy.wait()
    assert_same_beliefs(late.policy, late.plain, late.stream)


def test_a_policy_that_is_gone_waits_for_nobody() -> None:
    late = Late(bt.TreeHeuristic, n=20_000)
    policy = late.policy
    del late
    begun = time.perf_counter()
    del policy
    gc.collect()
    assert time.perf_counter() - begun < 5


FORK = """
import json, os
from functools import partial
import numpy as np
import banditree as bt

random = np.random.default_rng(1)
contexts = random.random((6000, 5))
arms = ["golf", "tennis"] * 3000
rewards = (random.random(6000) < contexts[:, 0]).astype(float)
policies = []
for background in (True, False):
    for make in (bt.TreeHeuristic, bt.OnlineTreeBootstrap, partial(bt.Bandit, refresh=0.6)):
        policy = make(["golf", "tennis"], seed=1, **({"background": True} if background else {}))
        policy.learn_many(contexts[:400], arms[:400], rewards[:400])
        policies.append(policy)
for policy in policies:
    policy.learn_many(contexts, arms, rewards)
read, write = os.pipe()
child = os.fork()
for policy in policies:
    policy.learn_many(contexts[:50], arms[:50], rewards[:50])
    getattr(policy, "wait")()
said = [[policy.propensities(context) for context in contexts[:20]] for policy in policies]
if child == 0:
    os.write(write, json.dumps(said).encode())
    os._exit(0)
os.close(write)
with os.fdopen(read) as pipe:
    print(json.dumps([said, json.load(pipe)]))
os.waitpid(child, 0)
"""

LEFT_ALONE = """
import numpy as np
import banditree as bt

contexts = np.random.default_rng(1).random((40_000, 20))
policy = bt.TreeHeuristic(["golf"], background=True, seed=1)
policy.learn_many(contexts[:200], ["golf"] * 200, np.arange(200) % 2)
policy.learn_many(contexts, ["golf"] * 40_000, np.arange(40_000) % 2)
print("learned")
"""


def run(program: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_process_grows_its_own_trees() -> None:
    parent, child = json.loads(run(FORK))
    assert parent == child
    assert parent[:3] == parent[3:]


def test_the_interpreter_ends_while_trees_grow() -> None:
    assert run(LEFT_ALONE) == "learned\n"


def test_other_threads_decide_while_one_waits() -> None:
    late = Late(bt.TreeHeuristic, n=20_000)
    waiting = threading.Thread(target=late.policy.wait)
    waiting.start()
    decided = 0
    while waiting.is_alive():
        late.policy.decide(late.stream.others[0])
        decided += 1
    waiting.join()
    assert decided > 100


class Waiting(bt.TreeHeuristic):
    """Deterministic: an observation is taken in once its trees are."""

    def _learn(self, *observation: Any) -> None:
        super()._learn(*observation)
        self.wait()

    def _learn_many(self, *observations: Any) -> None:
        super()._learn_many(*observations)
        self.wait()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("reward", ["binary", "continuous"])
@pytest.mark.usefixtures("from_the_first")
def test_laws(law: str, reward: Any) -> None:
    make = partial(Waiting, background=True, reward=reward)
    check_policy(make, reward=reward, decisions=2_000, laws=[law])


@every_maker
@pytest.mark.parametrize("law", LAWS)
def test_laws_of_the_policies_themselves(make: Any, law: str) -> None:
    check_policy(partial(make, background=True), decisions=2_000, laws=[law])


@every_maker
@pytest.mark.parametrize("seed", range(12))
def test_the_first_rewards_may_come_in_any_order(make: Any, seed: int) -> None:
    policy, plain = both(make, seed=seed)
    for reward in (1, 0, 1, 0, 0):
        for each in (policy, plain):
            each.learn({"age": 31 + reward}, "golf", reward)
        assert np.array_equal(policy._core.dump(), plain._core.dump())
        assert pickle.loads(pickle.dumps(policy)).expected_rewards({"age": 31})


@every_maker
def test_background_is_a_yes_or_no_and_needs_a_refresh(make: Any) -> None:
    with pytest.raises(bt.InvalidParameterError, match="background must be True or False, got 1"):
        make(ARMS, background=1)
    with pytest.raises(bt.InvalidParameterError, match="needs refresh above 0, got refresh=0"):
        make(ARMS, background=True, refresh=0)
    assert "background=True" in repr(make(ARMS, background=True))
    make(ARMS, refresh=0).wait()
