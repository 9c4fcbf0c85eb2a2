"""`save(path, append=True)`: the file grows by what came since, and loads as the policy that is."""

import subprocess
import sys
import threading
import time
import warnings
from random import Random

import numpy as np
import pytest

import banditree as bt
from banditree import BanditreeWarning, StateError
from banditree.checks.saved import difference, saved
from banditree.policies.saving import appended, files, journal
from golden import make
from policies.makers import every_policy

CITIES = ["Berlin", "Rome", "Oslo"]


def context(i, random):
    """New features and categories keep coming."""
    given = {"age": round(random.uniform(18, 80), 1), "city": random.choice(CITIES[: 1 + i // 9])}
    if i > 12:
        given["member"] = random.random() < 0.5
    if i > 20:
        given["visits"] = random.choice([None, 1, 2, 3])
    return given


def same(policy, other):
    return difference(saved(policy), saved(other)) is None


def learn(policy, begin, end, random):
    for i in range(begin, end):
        policy.learn(context(i, random), policy.arms[i % len(policy.arms)], float(i % 3 == 0))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "policy.bt"


@every_policy
def test_the_file_holds_the_policy_after_every_call(maker, path):
    policy, random = maker(arms=["golf", "tennis", 3], seed=1), Random(1)
    policy.save(path, append=True)
    sizes = [path.stat().st_size]
    for i in range(0, 36, 4):
        learn(policy, i, i + 3, random)
        if i == 8:
            policy.add_arm("hockey")
        if i == 16:
            policy.remove_arm(3)
        if i == 24:
            policy.add_arm(3)
        many = [context(i, random) for _ in range(2)]
        policy.learn_many(many, policy.arms[:2], [1, 0])
        policy.decide(many[0])
        policy.save(path, append=True)
        sizes.append(path.stat().st_size)
        assert same(bt.load(path), policy)
    assert sizes == sorted(set(sizes))
    learn(policy, 40, 60, Random(2))
    loaded = bt.load(path)
    learn(loaded, 40, 60, Random(2))
    assert same(loaded, policy)


@pytest.mark.parametrize("name", make.POLICIES)
def test_policies_of_all_settings(name, path):
    policy, random = make.POLICIES[name](), Random(7)
    make.teach(policy, 60, random)
    policy.save(path, append=True)
    for _ in range(3):
        make.teach(policy, 20, random)
        policy.save(path, append=True)
    assert same(bt.load(path), policy)


def test_contexts_without_names_and_rows_that_are_used_again(path):
    policy = bt.TreeHeuristic([1, 2], categorical=[1], seed=1)
    policy.save(path, append=True)
    row = np.zeros(3)
    for i in range(30):
        row[:] = i, i % 4, -i  # the caller's array must not be kept
        policy.learn(row, 1 + i % 2, i % 3 == 0)
    policy.save(path, append=True)
    assert same(bt.load(path), policy)


def test_categories_of_any_type(path):
    policy = bt.TreeHeuristic(["golf"], categorical=["x"], seed=1)
    policy.save(path, append=True)
    for value in [1, True, "1", 0.5, False, 2**60, None]:
        policy.learn({"x": value, "flag": value is None}, "golf", 1)
    policy.save(path, append=True)
    assert same(bt.load(path), policy)


def count_whole(monkeypatch):
    """Return a list that grows by one whenever a whole file is written."""
    written, write = [], files.write
    monkeypatch.setattr(files, "write", lambda *given: (written.append(1), write(*given)))
    return written


def taught(path):
    policy = bt.TreeHeuristic(["golf", "tennis"], seed=1)
    learn(policy, 0, 30, Random(1))
    policy.save(path, append=True)
    return policy


@pytest.mark.parametrize(
    "change",
    [
        lambda policy, path: policy.reseed(5),
        lambda policy, path: policy.set_feature("age", "string"),
        lambda policy, path: policy.save(path),
        lambda policy, path: path.unlink(),
        lambda policy, path: path.write_bytes(path.read_bytes() + b"0"),
        lambda policy, path: path.write_bytes(path.read_bytes()[:-1]),
        lambda policy, path: path.write_bytes(bytes(path.stat().st_size)),
        lambda policy, path: policy._counts.__setitem__(0, policy._counts[0] + 1),
    ],
    ids=["reseed", "set_feature", "save", "gone", "longer", "shorter", "other", "interrupted"],
)
def test_when_the_whole_file_is_written(change, path, monkeypatch):
    policy = taught(path)
    policy.learn({"city": "Rome"}, "golf", 1)
    change(policy, path)
    written = count_whole(monkeypatch)
    policy.save(path, append=True)
    assert written == [1]
    assert same(bt.load(path), policy)
    policy.learn({"city": "Rome"}, "golf", 1)
    policy.save(path, append=True)
    assert written == [1]
    assert same(bt.load(path), policy)


def test_a_file_that_has_grown_by_much_is_written_anew(path, monkeypatch):
    monkeypatch.setattr(journal, "_LEAST", 1000)
    policy, written, sizes = taught(path), count_whole(monkeypatch), []
    for i in range(40):
        learn(policy, i, i + 1, Random(i))
        policy.save(path, append=True)
        sizes.append(path.stat().st_size)
    assert 2 <= len(written) <= 20
    assert max(sizes) < 2 * len(policy._pack())
    assert same(bt.load(path), policy)


def test_a_copy_and_a_loaded_policy_begin_files_of_their_own(path, tmp_path, monkeypatch):
    policy = taught(path)
    written = count_whole(monkeypatch)
    loaded = bt.load(path)
    loaded.learn({"age": 3}, "golf", 1)
    loaded.save(path, append=True)
    assert written == [1]
    policy.learn({"age": 4}, "golf", 0)
    policy.save(path, append=True)  # the file is another one now
    policy.save(tmp_path / "other.bt", append=True)
    assert written == [1] * 3
    assert same(bt.load(path), policy)


def frames(path):
    """Return the bytes of a file with three appended frames, and where each ends."""
    policy, ends, states = taught(path), [path.stat().st_size], []
    states.append(saved(policy))
    for i in range(3):
        learn(policy, 30 + i, 31 + i, Random(i))
        policy.save(path, append=True)
        ends.append(path.stat().st_size)
        states.append(saved(policy))
    return path.read_bytes(), ends, states


def test_a_file_cut_off_anywhere_is_that_of_the_save_before(path):
    data, ends, states = frames(path)
    for size in range(ends[0], len(data)):
        path.write_bytes(data[:size])
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            policy = bt.load(path)
        last = max(i for i, end in enumerate(ends) if end <= size)
        assert difference(saved(policy), states[last]) is None
        rest = size - ends[last]
        assert len(told) == (rest > 0)
        if rest:
            assert told[0].category is BanditreeWarning
            assert f"the last {rest} bytes of {path} are of a save that" in str(told[0].message)
            assert told[0].filename == __file__
    path.write_bytes(data[: ends[0] - 1])
    with pytest.raises(StateError, match="truncated or damaged"):
        bt.load(path)


def test_zeros_at_the_end_are_no_frame(path):
    data, _, states = frames(path)
    path.write_bytes(data + bytes(1000))
    with pytest.warns(BanditreeWarning, match="the last 1000 bytes"):
        assert difference(saved(bt.load(path)), states[-1]) is None


def test_damage_before_the_last_frame_is_an_error(path):
    data, ends, _ = frames(path)
    for place in range(ends[0], ends[2]):
        damaged = bytearray(data)
        damaged[place] ^= 16
        path.write_bytes(damaged)
        with pytest.raises(StateError, match="is damaged; load an intact copy"):
            bt.load(path)


def test_a_frame_fits_one_place_only(path):
    data, ends, _ = frames(path)
    first, second = data[ends[0] : ends[1]], data[ends[1] : ends[2]]
    for order in (second, first + first, second + first):
        path.write_bytes(data[: ends[0]] + order + data[ends[2] :])
        with pytest.raises(StateError, match="is damaged"):
            bt.load(path)


def signed(data, size, header, arrays):
    """Return a file with a frame that has the right checksums."""
    parts = files.frame(header, arrays)
    end = appended.End(size, data[len(files.MAGIC) :][: files.DIGEST])
    content = b"".join(parts)
    return data[:size] + end.head(len(content)) + files.digest_of(end.digest, content) + content


def forgeries(header, arrays):
    changes = header["steps"][0][1]
    yield {**header, "counts": [1, 1]}, arrays
    yield {k: v for k, v in header.items() if k != "steps"}, arrays
    yield {**header, "steps": [["explode"]]}, arrays
    yield {**header, "steps": header["steps"][:1]}, arrays
    yield {**header, "steps": [*header["steps"], ["learn", 1, 3]]}, arrays
    yield {**header, "steps": [*header["steps"], ["add_arm", "golf"]]}, arrays
    for n, width in ((-1, 3), (1, 2), (1, -1), (2, 3), ("1", 3), (10**9, 3)):
        yield {**header, "steps": [header["steps"][0], ["learn", n, width]]}, arrays
    for name, value in (("arms", 2), ("arms", -1), ("rewards", 5), ("rows", np.inf)):
        yield header, {**arrays, name: np.full_like(arrays[name], value)}
    yield header, {**arrays, "arms": arrays["arms"].astype(float)}
    yield header, {**arrays, "rows": arrays["rows"].reshape(1, -1)}
    for wrong in (
        {"named": 5},
        {"new": [["zip", "number"], ["zip", "number"]]},
        {"new": [["city", "string"]]},
        {"new": [[None, "string"]]},
        {"new": [["zip", "thing"]]},
        {"drafts": [["city", "number", []]]},
        {"drafts": [["city", "string", ["Berlin"]]]},
        {"drafts": [["city", "string", [None]]]},
        {"drafts": [["nobody", "string", ["Rome"]]]},
        {"drafts": 5},
    ):
        step = ["contexts", {**changes, **wrong}]
        yield {**header, "steps": [step, *header["steps"][1:]]}, arrays


def test_forged_frames_are_refused(path):
    """With the right checksums, so that whoever reads them sees what is wrong."""
    policy = taught(path)
    size = path.stat().st_size
    policy.learn({"city": "Paris", "age": 40, "zip": 5}, "golf", 1)
    policy.save(path, append=True)
    data = path.read_bytes()
    header, arrays = appended.read(data, "here")[1]
    path.write_bytes(signed(data, size, header, arrays))
    assert same(bt.load(path), policy)
    for forged in forgeries(header, arrays):
        path.write_bytes(signed(data, size, *forged))
        with pytest.raises(StateError):
            bt.load(path)


def test_an_append_that_fails_loses_nothing(path, monkeypatch):
    policy = taught(path)
    policy.learn({"age": 3}, "golf", 1)

    def fail(*given):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(appended.os, "fsync", fail)
        with pytest.raises(OSError, match="No space left"):
            policy.save(path, append=True)
    policy.learn({"age": 4}, "golf", 1)
    policy.save(path, append=True)
    assert same(bt.load(path), policy)


def test_a_policy_may_learn_while_it_is_saved(path):
    policy, ended = taught(path), threading.Event()

    def save():
        while not ended.is_set():
            policy.save(path, append=True)

    threads = [threading.Thread(target=save) for _ in range(2)]
    for thread in threads:
        thread.start()
    learn(policy, 0, 300, Random(3))
    ended.set()
    for thread in threads:
        thread.join()
    policy.save(path, append=True)
    assert same(bt.load(path), policy)


def test_what_was_saved_survives_a_kill(path):
    script = (
        "import sys, banditree as bt\n"
        "policy = bt.TreeHeuristic(['golf'], seed=1)\n"
        "for n in range(1, 10**9):\n"
        "    policy.learn({'age': n % 50, 'user': str(n)}, 'golf', n % 3 == 0)\n"
        "    policy.save(sys.argv[1], append=True)\n"
        "    print(n, flush=True)\n"
    )
    for delay in np.geomspace(1e-3, 0.3, 8):
        path.unlink(missing_ok=True)
        command = [sys.executable, "-c", script, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            time.sleep(delay)
            process.kill()
            told = process.stdout.read().split()
        acknowledged = int(told[-1]) if told else 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BanditreeWarning)
            assert bt.load(path).counts["golf"] in (acknowledged, acknowledged + 1)
