"""The benchmarks run, and say what they ran on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "BANDITREE_DATA"}
    environment["PYTHONIOENCODING"] = "utf-8"
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        cwd=BENCHMARKS,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def run(benchmark: str, *options: str) -> subprocess.CompletedProcess[str]:
    return python(str(BENCHMARKS / benchmark), *options)


def output(*arguments: str) -> str:
    done = python(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_quick_run_on_made_up_data():
    done = run("trees.py", "--quick")
    assert done.returncode == 0, done.stderr
    assert "made-up data" in done.stdout
    judged = [line for line in done.stdout.splitlines() if line.endswith((" ok", " missed"))]
    assert len(judged) == 8


@pytest.mark.parametrize("options", [["--rows", "10"], ["--rows", "many"]])
def test_wrong_rows_are_refused(options: list[str]):
    done = run("trees.py", *options)
    assert done.returncode == 2
    assert "--rows" in done.stderr


# Tasks


def test_made_up_tasks_have_the_shape_of_the_real():
    code = """
import numpy as np, tasks
for key in tasks.KEYS:
    task = tasks.load(key)
    one, two = task.episode(3, 50), task.episode(3, 50)
    assert (one.contexts == two.contexts).all() and (one.rewards == two.rewards).all()
    shape = {"sports": (4, 4), "shuttle": (4, 9), "adult": (12, 14), "covertype": (7, 54)}
    assert (len(one.arms), one.contexts.shape[1]) == shape.get(key, (9, 67))
    assert (one.regrets.min(axis=1) == 0).all()
adult = tasks.load("adult")
episode = adult.episode(0, 5)
(first, *_) = tasks.as_dicts(adult, episode)
assert list(first) == list(episode.features) and first["feature 13"] in ("value 0", "value 1")
"""
    output("-c", code)


def test_long_life_in_a_quick_version():
    done = run("long_life.py", "--quick")
    assert done.returncode == 0, done.stderr
    assert "Covertype (made-up data)" in done.stdout
    assert "too few steps to be judged" in done.stdout


# Regret


def test_regret_of_every_policy(tmp_path: Path):
    options = ("--tasks", "sports", "--horizon", "30", "--seeds", "2", "--out", str(tmp_path))
    done = run("regret.py", *options)
    assert done.returncode == 0, done.stderr
    assert "not judged" in done.stdout
    for policy in ("Uniform", "TreeHeuristic", "TreeBootstrap", "BanditForest", "LogisticUCB"):
        assert f"\n{policy} " in done.stdout


def test_limits_of_regret_are_judged():
    code = """
import numpy as np, regret
from banditree.studies.summary import Cell, Results
steps = np.array([8000, 10000])
cells = [
    Cell(label, {}, task, (0,), steps, np.array([[total - tail, total]]), 0.1)
    for label, task, total, tail in (
        ("Uniform", "shuttle", 7500.0, 1500.0),
        ("Uniform", "sports", 1640.0, 330.0),
        ("TreeHeuristic", "shuttle", 111.0, 9.0),
        ("TreeHeuristic", "sports", 250.0, 32.5),
    )
]
tasks, labels = ["shuttle", "sports"], ["Uniform", "TreeHeuristic"]
print(regret.show(Results("made", 10_000, tasks, labels, cells, {}, 0, "1")))
"""
    lines = output("-c", code).splitlines()
    (heading,) = (i for i, line in enumerate(lines) if "at most" in line)
    assert [line.split()[-3:] for line in lines[heading + 1 : -1]] == [
        ["111.0", "110.0", "OVER"],
        ["250.0", "300.0", "ok"],
        ["32.5", "33.0", "ok"],
    ]
    assert lines[-1] == "False"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--horizon", "0"], "horizon must be"),
        (["--policies", "Magic"], "there is no policy 'Magic'"),
    ],
)
def test_wrong_options_of_regret_are_refused(options: list[str], words: str):
    done = run("regret.py", *options)
    assert done.returncode == 2
    assert words in done.stderr


# Times


def test_quick_times_of_policies():
    done = run("policies.py", "--quick")
    assert done.returncode == 0, done.stderr
    assert "Made-up data" in done.stdout
    assert "not judged" in done.stdout
    assert done.stdout.count("\ntogether ") == 2
    assert "last / first" in done.stdout


# Noise


# Regret varies by a quarter from seed to seed, so that fewer seeds would leave much to luck.
@pytest.mark.slow
@pytest.mark.parametrize("feature", ["number", "category"])
@pytest.mark.parametrize(
    ("name", "steps", "seeds"),
    [("TreeHeuristic", 2000, 10), ("TreeBootstrap", 1500, 6), ("OnlineTreeBootstrap", 1500, 6)],
)
def test_random_strings_cost_little(
    monkeypatch: pytest.MonkeyPatch, name: str, steps: int, seeds: int, feature: str
):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import noise

    world = noise.World(feature, arms=3, numbers=0)
    found = noise.ratios(name, world, steps, seeds, columns=("200", "distinct"))
    assert max(found.values()) <= noise.WANTED
