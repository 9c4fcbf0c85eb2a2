"""Random streams of policies in several processes, and reseeding."""

import gc
import json
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import banditree as bt
from banditree.policies import processes

ARMS = ["golf", "tennis"]
CONTEXT = {"age": 31}

FORK = """
import json, os, threading
import banditree as bt
policies = [bt.Uniform(["golf", "tennis"], seed=seed) for seed in (None, 5)]
policies.append(bt.Uniform(["golf", "tennis"], seed=5))
policies[-1].reseed(None)
held = threading.Thread(target=lambda: (policies[0]._lock.acquire(), held_by_other.set()))
held_by_other = threading.Event()
held.start()
held_by_other.wait()
children = []
for _ in range(2):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        drawn = [policy.decide_many([{}] * 64) for policy in policies]
        os.write(write, json.dumps(drawn).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        children.append(json.load(pipe))
    os.waitpid(child, 0)
print(json.dumps(children))
"""

ELSEWHERE = """
import json, pickle, sys
import banditree as bt
policy = bt.load(sys.argv[1]) if sys.argv[2] == "load" else pickle.load(open(sys.argv[1], "rb"))
print(json.dumps([policy.decide_many([{}] * 64), policy.expected_rewards({"age": 31})]))
"""


def run(program, *arguments):
    command = [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_forked_processes_draw_other_numbers_unless_there_is_a_seed():
    first, second = run(FORK)
    assert first[0] != second[0]
    assert first[1] == second[1]
    assert first[2] != second[2]


@pytest.mark.parametrize("how", ["load", "pickle"])
@pytest.mark.parametrize("cls", [bt.Uniform, bt.OnlineTreeBootstrap])
def test_another_process_draws_other_numbers_unless_there_is_a_seed(cls, how, tmp_path):
    for seed in (None, 5):
        policy = cls(ARMS, seed=seed)
        policy.learn_many([{"age": i % 7} for i in range(40)], ARMS * 20, [0, 1, 1, 0] * 10)
        path = tmp_path / f"{seed}"
        policy.save(path) if how == "load" else path.write_bytes(pickle.dumps(policy))
        (one, believed), (two, _) = (run(ELSEWHERE, path, how) for _ in range(2))
        assert (one == two) == (seed is not None)
        assert believed == policy.expected_rewards(CONTEXT)
        if seed is not None:
            assert one == policy.decide_many([{}] * 64)


@pytest.mark.parametrize("cls", [bt.OnlineTreeBootstrap, bt.BanditForest])
def test_reseeding_leaves_what_is_learned_later_as_it_would_be(cls):
    """What decides by chance what is learned, such as the halves of the data, has its own seed."""
    one, two = (cls(ARMS, seed=1) for _ in range(2))
    two.reseed(9)
    for policy in (one, two):
        policy.learn_many([{"age": i % 7} for i in range(40)], ARMS * 20, [0, 1, 1, 0] * 10)
    assert one.expected_rewards(CONTEXT) == two.expected_rewards(CONTEXT)
    states = [policy._state() for policy in (one, two)]
    assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])


def test_reseed_takes_all_forms_of_seeds():
    policy = bt.Uniform(ARMS, seed=1)

    def drawn(seed):
        assert policy.reseed(seed) is None
        return policy.decide_many([{}] * 64)

    assert drawn(5) == drawn(5) == bt.Uniform(ARMS, seed=5).decide_many([{}] * 64)
    assert "seed=5" in repr(policy)
    assert drawn(np.random.default_rng(1)) == drawn(np.random.default_rng(1))
    assert drawn(None) != drawn(None)
    assert policy.seed is None
    before = policy._pack()
    for wrong in (-1, 1.5, "5"):
        with pytest.raises(bt.InvalidParameterError, match="seed must be a whole number"):
            policy.reseed(wrong)
    assert policy._pack() == before


def test_load_takes_a_seed(tmp_path):
    path = tmp_path / "policy.bt"
    policy = bt.Uniform(ARMS, seed=1)
    policy.learn(CONTEXT, "golf", 1)
    policy.save(path)

    def drawn(**options):
        loaded = bt.load(path, **options)
        assert loaded.counts == {"golf": 1, "tennis": 0}
        return loaded.decide_many([{}] * 64)

    assert drawn() == drawn() != drawn(seed=5)
    assert drawn(seed=5) == drawn(seed=5) != drawn(seed=6)
    assert drawn(seed=None) != drawn(seed=None)


def test_a_policy_that_nobody_holds_is_not_kept():
    policy = bt.Uniform(ARMS)
    gone = weakref.ref(policy)
    del policy
    gc.collect()
    assert gone() is None


def test_policies_that_are_made_in_threads_are_all_renewed():
    made = []
    threads = [
        threading.Thread(target=lambda: made.extend(bt.Uniform(ARMS) for _ in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    known = set(map(id, processes._alive.values()))
    assert {id(policy) for policy in made} <= known
