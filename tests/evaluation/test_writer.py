"""Logs of one's own: late rewards, crashes, and what is refused."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditree as bt
from banditree.errors import BanditreeError, InvalidParameterError, StateError
from banditree.evaluation import Log, LogWriter, evaluate

ARMS = ["golf", "tennis"]
POLICY = bt.Uniform(ARMS, seed=1)


def filled(path: Path, n: int = 20) -> list[Any]:
    with LogWriter(path) as log:
        return [log.add({"age": i, "city": "Bonn"}, POLICY.decision({}), i % 2) for i in range(n)]


def test_what_is_written_is_read(tmp_path: Path):
    path = tmp_path / "log.parquet"
    contexts = [{"age": 31, "member": True, "income": None}, {"age": 40.5, "city": "Bonn"}]
    decisions = [bt.Decision("golf", 0.25, {"golf": 0.25, "tennis": 0.75})] * 2
    decisions[1] = bt.Decision("tennis", 0.75, {"golf": 0.25, "tennis": 0.75})
    with LogWriter(path) as log:
        keys = [log.add(*pair) for pair in zip(contexts, decisions, strict=True)]
        for key, reward in zip(keys, (1, 0), strict=True):
            log.reward(key, reward)
    assert sorted(os.listdir(tmp_path)) == ["log.parquet"]
    found = Log.read(path)
    assert found.arms == ("golf", "tennis")
    assert found.chosen.tolist() == [0, 1]
    assert found.rewards.tolist() == [1, 0]
    assert found.propensities.tolist() == [0.25, 0.75]
    assert list(found.contexts.one_by_one(0, 2)) == [
        {"age": 31, "member": True, "income": None, "city": None},
        {"age": 40.5, "member": None, "income": None, "city": "Bonn"},
    ]


def test_rewards_may_come_late_and_after_another_start(tmp_path: Path):
    path = tmp_path / "log.parquet"
    with LogWriter(path) as log:
        key = log.add({"x": 1}, POLICY.decision({}), key="order-17")
        other = log.add({"x": 2}, bt.Decision("golf", 0.5, {"golf": 0.5, "tennis": 0.5}))
    with LogWriter(path) as log:
        log.reward(key, 1)
        log.reward(key, 1)  # again is no mistake
        third = log.add({"x": 3}, bt.Decision("tennis", 0.5, {"golf": 0.5, "tennis": 0.5}), 0)
        assert third not in (key, other)
        log.reward(other, 0)
    found = Log.read(path)
    assert found.rewards.tolist() == [1, 0, 0]
    assert found.health.join_rate == 1


def test_decisions_without_a_reward_are_left_out(tmp_path: Path):
    path = tmp_path / "log.parquet"
    filled(path)
    with LogWriter(path) as log:
        log.add({"age": 1}, POLICY.decision({}))
    found = Log.read(path)
    assert (len(found), found.health.join_rate) == (20, 20 / 21)
    assert len(Log.read(path, no_reward=0)) == 21


def test_an_open_log_can_be_read(tmp_path: Path):
    path = tmp_path / "log.parquet"
    log = LogWriter(path)
    for i in range(30):
        log.add({"age": i}, POLICY.decision({}), 1)
    assert len(Log.read(path)) == 30
    log.close()
    log.close()
    with pytest.raises(StateError, match="is closed; open it again"):
        log.add({"age": 1}, POLICY.decision({}))


def test_contexts_without_names(tmp_path: Path):
    path = tmp_path / "log.parquet"
    rows = np.random.default_rng(0).normal(size=(40, 3))
    with LogWriter(path) as log:
        for row in rows:
            log.add(row, POLICY.decision(row), 1)
    found = Log.read(path)
    assert list(found.contexts.one_by_one(0, 40)) == rows.tolist()
    policy = bt.TreeHeuristic(ARMS, seed=1)
    policy.learn(rows[0], "golf", 1)
    assert np.isfinite(evaluate(policy, found).estimates["dr"].value)


def test_eligible_arms_are_kept(tmp_path: Path):
    path = tmp_path / "log.parquet"
    policy = bt.Uniform(["golf", "tennis", "soccer"], seed=3)
    with LogWriter(path) as log:
        for i in range(20):
            able = ["golf", "tennis"] if i % 2 else ["tennis", "soccer"]
            log.add({"x": i}, policy.decision({}, able), 1, eligible=able)
    found = Log.read(path)
    assert found.arms == ("golf", "soccer", "tennis")
    assert set(found.eligible.sets) == {(0, 2), (1, 2)}


CRASH = """
import sys, os, signal
import banditree as bt
from banditree.evaluation import LogWriter
log = LogWriter(sys.argv[1])
policy = bt.Uniform(["golf", "tennis"], seed=1)
for i in range(1000):
    key = log.add({"age": i}, policy.decision({}), 1 if i % 3 else None)
    print(i, flush=True)
    if i == 500:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_loses_nothing(tmp_path: Path):
    path = tmp_path / "log.parquet"
    done = subprocess.run(
        [sys.executable, "-c", CRASH, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert done.stdout.split()[-1] == "500"
    assert len(Log.read(path, no_reward=0)) == 501
    with LogWriter(path) as log:
        log.reward(0, 1)
    found = Log.read(path, no_reward=0)
    assert len(found) == 501
    assert found.rewards[0] == 1


def test_a_line_cut_short_is_dropped_and_written_over(tmp_path: Path):
    path, journal = tmp_path / "log.parquet", tmp_path / "log.parquet.journal"
    log = LogWriter(path)
    for i in range(30):
        log.add({"age": i}, POLICY.decision({}), 1)
    whole = journal.read_bytes()
    log._journal.close()
    for cut in (1, 20, 60):
        journal.write_bytes(whole[:-cut])
        assert len(Log.read(path)) == 29
    with LogWriter(path) as log:
        log.add({"age": 99}, POLICY.decision({}), 1)
    assert [c["age"] for c in Log.read(path).contexts.one_by_one(28, 30)] == [28, 99]


def test_a_damaged_line_is_named(tmp_path: Path):
    path, journal = tmp_path / "log.parquet", tmp_path / "log.parquet.journal"
    log = LogWriter(path)
    for i in range(5):
        log.add({"age": i}, POLICY.decision({}), 1)
    log._journal.close()
    data = journal.read_bytes()
    journal.write_bytes(data.replace(b'"age":2', b'"age":7'))
    with pytest.raises(StateError, match=r"line 3 of .* is damaged"):
        Log.read(path)


def test_a_crash_between_file_and_journal_counts_nothing_twice(tmp_path: Path):
    path, journal = tmp_path / "log.parquet", tmp_path / "log.parquet.journal"
    log = LogWriter(path)
    for i in range(30):
        log.add({"age": i}, POLICY.decision({}), 1)
    before = journal.read_bytes()
    log.close()
    journal.write_bytes(before)
    assert len(Log.read(path)) == 30


def test_two_writers_are_refused(tmp_path: Path):
    path = tmp_path / "log.parquet"
    with LogWriter(path), pytest.raises(StateError, match="another LogWriter has"):
        LogWriter(path)


WRONG: list[tuple[Any, Any, dict[str, Any], str]] = [
    ({"age": float("inf")}, None, {}, "feature 'age' must be a finite number"),
    ({"age": [1]}, None, {}, "feature 'age' must be a finite number, a string"),
    ({"arm": 1}, None, {}, "a feature cannot be called 'arm'"),
    ({"age": "old"}, None, {}, "feature 'age' was float so far, got 'old'"),
    ([1, 2], None, {}, "contexts must all have names or none"),
    ({"age": 1}, "much", {}, "a reward must be a finite number, got 'much'"),
    ({"age": 1}, float("nan"), {}, "a reward must be a finite number, got nan"),
    ({"age": 1}, None, {"key": 0}, "a decision with the key 0 already"),
    ({"age": 1}, None, {"key": 1.5}, "key must be a string or a whole number"),
]


@pytest.mark.parametrize(("context", "reward", "options", "words"), WRONG)
def test_what_cannot_be_written_is_refused_and_changes_nothing(
    tmp_path: Path, context: Any, reward: Any, options: dict[str, Any], words: str
):
    path, journal = tmp_path / "log.parquet", tmp_path / "log.parquet.journal"
    with LogWriter(path) as log:
        log.add({"age": 31}, POLICY.decision({}))
        before = journal.read_bytes()
        with pytest.raises(BanditreeError) as raised:
            log.add(context, POLICY.decision({}), reward, **options)
        assert words in str(raised.value)
        assert journal.read_bytes() == before


def test_wrong_rewards_and_decisions(tmp_path: Path):
    with LogWriter(tmp_path / "log.parquet") as log:
        key = log.add({"age": 31}, POLICY.decision({}), 1)
        with pytest.raises(BanditreeError, match="has the reward 1 already, got 0"):
            log.reward(key, 0)
        with pytest.raises(InvalidParameterError, match="no decision with the key 'no'"):
            log.reward("no", 0)
        with pytest.raises(InvalidParameterError, match="an arm alone has no propensity"):
            log.add({"age": 31}, "golf")


def test_other_files_are_left_alone(tmp_path: Path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(StateError, match="cannot be read"):
        LogWriter(path)
    with pytest.raises(InvalidParameterError, match="there is no folder"):
        LogWriter(tmp_path / "none" / "log.parquet")
    with pytest.raises(InvalidParameterError, match="there is no file"):
        Log.read(tmp_path / "none.parquet")
    assert path.read_text() == "a,b\n1,2\n"
