"""The benchmarks run, and say what they ran on."""

import json
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
    assert "\nsave " in done.stdout
    assert "\nload " in done.stdout
    assert "window=100\n" in done.stdout
    assert "too few steps to be judged" in done.stdout


def test_bandit_cost_in_a_quick_version():
    done = run("bandit_cost.py", "--quick")
    assert done.returncode == 0, done.stderr
    assert "\n1,000 arms " in done.stdout
    assert "\nto step 300 " in done.stdout
    assert "too few steps to be judged" in done.stdout


def test_snapshots_in_a_quick_version():
    done = run("snapshots.py", "--quick")
    assert done.returncode == 0, done.stderr
    assert "2,000 rows; " in done.stdout
    assert "too few rows to be judged" in done.stdout


def test_figures_are_judged_by_their_limits():
    code = """
from report import Limited, judged
print(judged([
    Limited("a", 2.0, 1.0, str), Limited("b", 1.0, 1.0, str),
    Limited("c", 2.0, 1.0, str, at_least=True), Limited("d", 0.5, 1.0, str, at_least=True),
]))
"""
    assert [line.split() for line in output("-c", code).splitlines()] == [
        ["a", "2.0", "at", "most", "1.0", "OVER"],
        ["b", "1.0", "at", "most", "1.0", "ok"],
        ["c", "2.0", "at", "least", "1.0", "ok"],
        ["d", "0.5", "at", "least", "1.0", "OVER"],
    ]


# Peers

# Stands in for Vowpal Wabbit, which not every machine has: all arms are as likely.
STAND_IN = """
class Example:
    def __init__(self, text):
        self.text, self.label, self.test_only = text, None, True

    def set_label_string(self, label):
        self.label = label

    def set_test_only(self, test_only):
        self.test_only = test_only


class Workspace:
    def __init__(self, options):
        assert "--cb_explore 7 " in options or "--cb_explore_adf " in options
        self.adf = "_adf" in options

    def parse(self, text):
        return [Example(line) for line in text] if self.adf else Example(text)

    def predict(self, examples):
        return [1 / 7] * 7

    def learn(self, examples):
        if not self.adf:
            assert not examples.test_only and 1 <= int(examples.label.split(":")[0]) <= 7
            examples = [examples]
        (label,) = [example.label for example in examples if example.label]
        _, cost, chance = map(float, label.split(":"))
        assert cost in (0, 1) and abs(chance - 1 / 7) < 1e-9

    def finish_example(self, examples):
        pass
"""


def test_step_for_step_in_a_quick_version(tmp_path: Path):
    (tmp_path / "vowpalwabbit.py").write_text(STAND_IN)
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from peers import step_for_step
step_for_step.main()
"""
    lines = output("-c", code, "--quick").splitlines()
    assert lines[0].startswith("Covertype (made-up data)")
    assert [line.split("  ")[0] for line in lines[2:-1]] == [
        "TreeHeuristic",
        "--cb_explore --bag 10",
        "--cb_explore --squarecb -q ::",
        "--cb_explore_adf --squarecb -q ::",
    ]
    assert "too few steps to be judged" in lines[-1]


def test_step_for_step_without_vowpal_wabbit_says_how_to_install_it():
    code = """
import sys
sys.modules['vowpalwabbit'] = None
from peers import step_for_step
step_for_step.main()
"""
    lines = output("-c", code, "--quick").splitlines()
    assert [line for line in lines if line.startswith(("TreeHeuristic", "--cb"))] == [lines[2]]
    assert "'.[bench]'" in lines[3]


def test_slower_than_a_limited_peer_is_over():
    code = """
from peers import step_for_step as peers
totals = {name: peers.Total(seconds, 5.0) for name, seconds in zip(
    (peers.HEURISTIC, *peers.PEERS), (2.0, 1.0, 1.0, 3.0), strict=True)}
print(peers.show(totals, 1000, 1, judged=True))
"""
    *_, bag, one_line, line_per_arm, kept = output("-c", code).splitlines()
    assert "OVER" not in bag
    assert one_line.endswith("OVER")
    assert line_per_arm.endswith("ok")
    assert kept == "False"


def run_peers(out: Path, *options: str) -> str:
    return output(
        "-m", "peers", "--steps", "60", "--environments", "sports", "--out", str(out), *options
    )


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines()


def test_peers_that_are_installed_play_the_same_steps(tmp_path: Path):
    printed = run_peers(tmp_path)
    results = [json.loads(line) for line in lines(tmp_path / "runs.jsonl")]
    assert results
    assert {result["state"] for result in results} == {"done"}
    assert all(result["done"] == 60 and result["peak"] > 0 for result in results)
    page = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert page.count("\n| Bandit |") == 3  # regret, time, regret on the way
    libraries = ("vowpalwabbit", "contextualbandits", "mabwiser", "river", "xgboost", "lightgbm")
    for library in libraries:  # nothing is left out in silence
        assert (f"\n- {library}: not installed" in page) == (f"- without {library}: " in printed)
        assert f"{library} " in page.partition("## Versions")[2] or f"\n- {library}: " in page
    assert (tmp_path / "benchmarks.svg").exists()
    assert (tmp_path / "benchmarks.png").exists()


def test_finished_runs_of_peers_are_not_repeated(tmp_path: Path):
    run_peers(tmp_path, "--only", "TreeHeuristic", "Uniform")
    kept = lines(tmp_path / "runs.jsonl")
    run_peers(tmp_path, "--only", "TreeHeuristic", "Uniform")
    assert lines(tmp_path / "runs.jsonl") == kept
    with (tmp_path / "runs.jsonl").open("w") as file:
        file.write(kept[0] + "\n" + kept[1][:20])  # interrupted
    run_peers(tmp_path, "--only", "TreeHeuristic", "Uniform")
    assert len(lines(tmp_path / "runs.jsonl")) == 3


def test_peers_that_are_not_run_are_shown_as_they_are(tmp_path: Path):
    run_peers(tmp_path, "--only", "Uniform")
    assert "TreeHeuristic |" not in (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    run_peers(tmp_path, "--only", "TreeHeuristic")
    page = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    for name in ("TreeHeuristic", "Uniform"):
        assert page.count(f"\n| {name} |") == 3
    assert len(lines(tmp_path / "runs.jsonl")) == 2


def test_a_change_of_own_code_repeats_own_runs_only():
    code = """
from banditree.studies import code
from peers.lineup import ENTRIES
from peers.store import Run
def keys():
    names = "Uniform", "all labels, SGDClassifier"
    return [Run(ENTRIES[name], {}, "sports", 0, 60).key("a world") for name in names]
own, other = keys()
code.build_name = lambda: "another"
assert keys()[0] != own and keys()[1] == other
"""
    output("-c", code)


def test_a_run_over_its_limit_says_how_far_it_came(tmp_path: Path):
    run_peers(tmp_path, "--only", "TreeHeuristic", "--limit", "1e-9")
    page = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert "| TreeHeuristic | stopped at step 1 |" in page


def test_without_any_peer_there_is_a_clear_message(tmp_path: Path):
    printed = run_peers(tmp_path, "--only", "TreeHeuristic")
    assert "no other library takes part, so that there is nothing to compare with" in printed


PLANNING = """
from peers.lineup import ENTRIES
from peers.planning import Size, best_tried, confirmations, trials
from peers.store import Run
from peers.summary import pairs_of
entry = ENTRIES["LinUCB"]
def found(constants, *regrets):
    return [
        (Run(entry, constants, "sports", seed, 60), {"state": "done", "regret": {"60": regret}})
        for seed, regret in enumerate(regrets)
    ]
defaults = found({}, 5.0, 6.0, 1.0)
size = Size(60, 3, True)
"""


def test_constants_are_chosen_on_the_first_seeds_and_confirmed_on_the_others():
    code = f"""{PLANNING}
assert [(run.constants["alpha"], run.seed) for run in trials([entry], ["sports"], size, defaults)] \
    == [(0.3, 0), (0.3, 1), (0.1, 0), (0.1, 1)]
tried = defaults + found({{"alpha": 0.3}}, 4.0, 5.0) + found({{"alpha": 0.1}}, 4.5)
assert [(run.constants, run.seed) for run in confirmations(tried, size)] == [({{"alpha": 0.3}}, 2)]
tried = found({{}}, 5.0, 9.0) + found({{"alpha": 0.3}}, 4.0, 5.0) + found({{"alpha": 0.1}}, 4.2)
(best,) = best_tried(tried).values()
assert best.constants == {{"alpha": 0.3}}  # each is compared on the seeds that both have
pair = pairs_of(defaults + found({{"alpha": 0.3}}, 4.0, 5.0, 9.0))["sports"]["LinUCB"]
assert pair.best is pair.default  # less regret on all seeds
"""
    output("-c", code)


def test_constants_are_not_tried_where_defaults_were_stopped():
    code = f"""{PLANNING}
stopped = [(defaults[0][0], {{"state": "over"}})]
assert trials([entry], ["sports"], size, stopped) == []
assert trials([entry], ["digits"], size, defaults) == []  # nor in other worlds than the tasks
"""
    output("-c", code)


def test_seeds_of_a_line_are_played_as_long_as_they_fit(tmp_path: Path):
    code = f"""{PLANNING}
from pathlib import Path
from peers.running import Runner
from peers.store import Store
runner = Runner(Store(Path({str(tmp_path)!r}) / "runs.jsonl"), Path(), 10.0, ["LinUCB"])
runner.play = lambda run: {{"state": "done", "seconds": 4.0}}
runs = [Run(entry, {{}}, "sports", seed, 60) for seed in range(4)]
assert [result["state"] for _, result in runner.run(runs)] == ["done", "done", "no time", "no time"]
tried = [Run(entry, {{"alpha": 0.3}}, "sports", seed, 60) for seed in range(2)]
assert [result["state"] for _, result in runner.run(tried, 0.5)] == ["done", "no time"]
slow = [Run(entry, {{"alpha": 0.1}}, "sports", 0, 60)]  # as slow as the defaults, supposedly
assert [result["state"] for _, result in runner.run(slow, 0.3)] == ["no time"]
"""
    output("-c", code)


def test_vowpal_wabbit_is_told_names_that_are_no_numbers():
    code = """
import numpy as np
from peers.player import World
from peers.vowpal_wabbit import VowpalWabbit
import sys, types
fake = types.ModuleType("vowpalwabbit")
fake.Workspace = lambda options: None
sys.modules["vowpalwabbit"] = fake
contexts = np.array([[2.0, 1, 0, 1], [4.0, 0, 2, 0], [6.0, 1, np.nan, 0]] * 2 + [[4.0, 0, 0, 0]])
player = VowpalWabbit(World.of(3, contexts, [2]), 0, options="--cb_explore --bag 10")
assert player.features(contexts[3]) == "f0:-1.32288 f1=1 f2=0 f3=1", player.features(contexts[3])
assert player.features(contexts[1]) == "f0:0 f1=0 f2=2 f3=0", player.features(contexts[1])
assert player.features(contexts[5]) == "f0:1.32288 f1=1 f3=0"
"""
    output("-c", code)


def test_contexts_of_peers_are_one_hot_and_standardised():
    code = """
import numpy as np
from peers.player import OneHot, World
contexts = np.array([[1.0, 0.0], [3.0, 2.0], [np.nan, np.nan]])
world = World.of(2, contexts, [1])
assert world.categories == {1: 3}
assert OneHot(world)(contexts[1]).tolist() == [3.0, 0.0, 0.0, 1.0]
assert OneHot(world)(contexts[2]).tolist() == [0.0, 0.0, 0.0, 0.0]
rows = np.array([OneHot(world, standardised=True)(context) for context in contexts])
assert np.allclose(rows.mean(axis=0), 0)
assert np.allclose(rows.std(axis=0), [1, 1, 0, 1])
"""
    output("-c", code)


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


def test_drift_is_judged():
    judged = "TreeHeuristic, window"
    done = run("drift.py", "--seeds", "1", "--tasks", "sports", "--policies", judged)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-2].startswith(judged)
    assert done.stdout.splitlines()[-2].endswith(" ok")


def test_evaluation_in_a_quick_version():
    done = run("evaluation.py", "--quick")
    assert done.returncode == 0, done.stderr
    assert "switch-dr" in done.stdout
    assert done.stdout.splitlines()[-1] == "- too few rows to be judged"


def test_the_simulation_of_evaluations_is_judged():
    done = run("evaluation_truth.py", "--repeats", "3", "--rows", "300", "--tasks", "sports")
    assert "always-valid dr misses" in done.stdout, done.stderr
    assert "wrong propensities are seen" in done.stdout
