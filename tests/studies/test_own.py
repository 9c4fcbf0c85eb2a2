"""Policies and environments of one's own in studies, and the code that results are made by."""

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditree as bt
from banditree.checks import LAWS, check_policy
from banditree.environments import Environment, Episode
from banditree.studies import (
    EnvironmentSpec,
    PolicySpec,
    Study,
    code,
    own,
    read_results,
    read_study,
    run_study,
)
from banditree.studies.runner import plan
from banditree.studies.runs import Failure, perform
from banditree.studies.sources import files_of

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = EXAMPLES / "own_policy"
SOURCE = """
import banditree as bt
from banditree.environments import SportsAds

class Mine(bt.Uniform):
    pass

class Ads(SportsAds):
    def __init__(self, shift=0):
        super().__init__()
        self.shift = shift

    def fingerprint(self):
        return super().fingerprint() | {"shift": self.shift}

def nothing(arms, categorical, seed):
    return None

def broken(arms, categorical, seed):
    raise ZeroDivisionError("no arms")

number = 5
"""


class Coin(Environment):
    """An arm that pays, and one that does not."""

    name = "coin"

    def __init__(self, arms: int = 2) -> None:
        self.arms = arms

    def episode(self, horizon: int, seed: int) -> Episode:
        contexts = np.random.default_rng(seed).normal(size=(horizon, 1))
        rewards = np.zeros((horizon, self.arms))
        rewards[:, 0] = 1.0
        return Episode(tuple(range(self.arms)), contexts, (), ("x",), rewards, 1 - rewards)

    def fingerprint(self) -> dict[str, Any]:
        return {"coin": self.arms}


def thompson(arms: Any, categorical: Any, seed: int, **parameters: Any) -> bt.Policy:
    """Make a policy."""
    return bt.ThompsonSampling(arms, categorical=categorical, seed=seed, **parameters)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module beside a study, under a name that no other test has used."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    path = tmp_path / f"mine_{abs(hash(str(tmp_path)))}.py"
    path.write_text(SOURCE)
    yield path
    for name in set(sys.modules) - before:
        if name == path.stem:
            del sys.modules[name]


def write(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def run_command(study: Path, workers: int = 1) -> subprocess.CompletedProcess[str]:
    """Run a study as a user would; results go into a folder beside it."""
    command = [sys.executable, "-m", "banditree", "run", str(study), "--workers", str(workers)]
    command += ["--out", str(study.with_name("results"))]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


# The example


@pytest.fixture
def epsilon_greedy(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(EXAMPLE)
    import epsilon_greedy

    return epsilon_greedy.EpsilonGreedy


@pytest.mark.parametrize("reward", ["binary", "continuous"])
@pytest.mark.parametrize("law", LAWS)
def test_the_example_keeps_all_laws(epsilon_greedy: Any, law: str, reward: str):
    check_policy(partial(epsilon_greedy, reward=reward), laws=[law], decisions=500)


def test_the_example_is_short_and_needs_no_private_name():
    text = (EXAMPLE / "epsilon_greedy.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    assert re.findall(r"\b_[a-z]\w*", text) == []
    assert text.strip() in (EXAMPLE.parents[1] / "docs" / "policies.md").read_text(encoding="utf-8")


def test_the_example_learns(epsilon_greedy: Any):
    from banditree.environments import SportsAds, play

    episode = SportsAds().episode(2000, 0)
    own, uniform = (
        episode.regret_of(play(cls(episode.arms, seed=0), episode)).sum()
        for cls in (epsilon_greedy, bt.Uniform)
    )
    assert own < 0.5 * uniform


def test_the_example_runs_on_workers(tmp_path: Path):
    text = (EXAMPLE / "study.toml").read_text(encoding="utf-8")
    study = write(tmp_path, text.replace("2000", "50"))
    (tmp_path / "epsilon_greedy.py").write_bytes((EXAMPLE / "epsilon_greedy.py").read_bytes())
    ran = run_command(study, workers=2)
    assert ran.returncode == 0, ran.stderr
    assert "EpsilonGreedy" in ran.stdout
    results = read_results(tmp_path / "results")
    assert results.missing == 0
    assert results.labels == ["EpsilonGreedy", "TreeHeuristic", "Uniform"]


def test_the_example_of_an_environment_runs(tmp_path: Path):
    text = (EXAMPLES / "own_environment" / "study.toml").read_text(encoding="utf-8")
    study = write(tmp_path, text.replace("2000", "600\nseeds = 2"))
    (tmp_path / "worlds.py").write_bytes((EXAMPLES / "own_environment" / "worlds.py").read_bytes())
    ran = run_command(study)
    assert ran.returncode == 0, ran.stderr
    results = read_results(tmp_path / "results")
    assert (results.missing, results.about["ring"].arms) == (0, 5)
    best = {label: results.best(label, "ring").mean for label in results.labels}
    assert best["TreeHeuristic"] < 0.8 * best["Uniform"]


# Custom policies


class Shares(bt.CustomPolicy):
    """Draws arms in given shares, and remembers what it was told."""

    def __init__(self, arms: Any, *, shares: Any = (0.25, 0.75), categorical: Any = ()) -> None:
        self.shares = shares
        super().__init__(arms, categorical=categorical, seed=1)

    def start(self) -> None:
        self.told: list[Any] = []

    def observe(self, context: Any, arm: Any, reward: float) -> None:
        self.told.append((context, arm, reward))

    def estimate(self, context: Any, arm: Any) -> float:
        return float(len(self.told))

    def chances(self, context: Any, arms: Any) -> Any:
        return self.shares


def test_contexts_come_as_they_were():
    policy = Shares(["golf", "tennis"], categorical=["zone"])
    policy.learn({"age": 31, "city": "Rome", "member": True, "zone": 7}, "golf", 1)
    policy.learn({"city": "Oslo", "age": None, "new": 2.5}, "tennis", 0)
    assert policy.told == [
        ({"age": 31, "city": "Rome", "member": True, "zone": 7}, "golf", 1),
        ({"city": "Oslo", "new": 2.5}, "tennis", 0),
    ]
    positions = Shares(["golf", "tennis"], categorical=[1])
    positions.learn(np.array([0.5, 3.0, np.nan]), "golf", 1)
    assert positions.told == [({0: 0.5, 1: 3.0}, "golf", 1)]


@pytest.mark.parametrize(
    "shares",
    [
        (0.5, 0.6),
        (1.0,),
        (-0.5, 1.5),
        (np.nan, 1.0),
        {"golf": 0.5, "tennis": 0.5},
        ("a", "b"),
        None,
    ],
)
def test_wrong_chances_are_refused(shares: Any):
    policy = Shares(["golf", "tennis"], shares=shares)
    with pytest.raises(bt.InvalidParameterError, match=r"chances must return .* got [({N]"):
        policy.decide({"age": 31})


def test_chances_are_kept():
    drawn = Shares(["golf", "tennis"]).decide_many([{"age": 1}] * 2000)
    assert 0.7 < drawn.count("tennis") / 2000 < 0.8
    assert set(Shares(["golf", "tennis"], shares=[0, 1]).decide_many([{}] * 50)) == {"tennis"}


# In studies


def test_policies_and_environments_beside_the_study(module: Path, tmp_path: Path):
    name = module.stem
    study = read_study(
        write(
            tmp_path,
            f"horizon = 20\nseeds = 2\n[policies]\nmine = {{policy = '{name}:Mine'}}\n"
            f"Uniform = {{}}\n[environments.ads]\ntask = '{name}:Ads'\n"
            "parameters = {shift = 3}\n",
        )
    )
    assert run_study(study, tmp_path, workers=2, progress=False) == []
    results = read_results(tmp_path)
    assert (results.labels, results.environments) == (["mine", "Uniform"], ["ads"])
    mine, uniform = (results.best(label, "ads") for label in results.labels)
    assert mine is not None
    assert uniform is not None
    assert mine.regrets.tolist() == uniform.regrets.tolist()


def test_names_in_lists(module: Path, tmp_path: Path):
    name = module.stem
    text = f"policies = ['{name}:Mine']\nenvironments = ['{name}:Ads']\n"
    study = read_study(write(tmp_path, text))
    assert [policy.label for policy in study.policies] == ["Mine"]
    assert [environment.name for environment in study.environments] == ["Ads"]


def test_classes_and_functions_from_python(tmp_path: Path):
    study = Study(
        [
            PolicySpec("own", thompson, {"prior": [[1.0, 1.0], [2.0, 2.0]]}),
            PolicySpec("class", bt.ThompsonSampling),
        ],
        [EnvironmentSpec("coin", task=Coin, parameters={"arms": 3})],
        horizon=30,
        seeds=1,
    )
    assert study.environments[0].task == f"{__name__}:Coin"
    assert run_study(study, tmp_path, workers=1, progress=False) == []
    results = read_results(tmp_path)
    assert results.about["coin"].arms == 3
    assert [len(results.variants(label, "coin")) for label in results.labels] == [2, 1]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("no_such_module:Mine", "there is no module 'no_such_module'.*beside the study"),
        ("MODULE:Yours", "has no 'Yours'"),
        (":Mine", "':Mine' must be a module and what it defines, .*; write it like 'eps"),
        ("MODULE:", "must be a module and what it defines"),
        ("MODULE:Mine:Mine", "must be a module and what it defines"),
        (".MODULE:Mine", "must be a module and what it defines"),
        ("MODULE:number", "must be a class or a function, got 5"),
        ("MODULE:nothing", "must make a policy, with decide and learn; got None"),
        ("MODULE:broken", "cannot be made: ZeroDivisionError: no arms"),
        ("MODULE:Ads", "cannot be made: TypeError"),
    ],
)
def test_wrong_policies_are_explained(module: Path, tmp_path: Path, policy: str, message: str):
    path = policy.replace("MODULE", module.stem)
    text = f"environments = ['sports']\n[policies.x]\npolicy = '{path}'\n"
    with pytest.raises(bt.InvalidParameterError, match=f"line [23].*{message}"):
        read_study(write(tmp_path, text))


def test_wrong_environments_are_explained(module: Path, tmp_path: Path):
    own.look_in(tmp_path)
    spec = EnvironmentSpec("x", task=f"{module.stem}:Mine", parameters={"arms": [0, 1]})
    with pytest.raises(bt.InvalidParameterError, match=r"must make an instance of .*Environment"):
        plan(Study([PolicySpec("Uniform")], [spec]))
    with pytest.raises(bt.InvalidParameterError, match="parameters are for environments of your"):
        EnvironmentSpec("sports", parameters={"arms": 3})
    with pytest.raises(bt.InvalidParameterError, match="label is for files"):
        EnvironmentSpec("x", task=Coin, label="bought")
    with pytest.raises(bt.InvalidParameterError, match="got a Coin; pass the class itself"):
        EnvironmentSpec("x", task=Coin())


BROKEN = """
from banditree.environments import Environment

class Broken(Environment):
    name = "broken"

    def __init__(self, returned=0, fingerprint=0):
        self.returned, self.print = returned, fingerprint

    def episode(self, horizon, seed):
        return None if self.returned else 1 / 0

    def fingerprint(self):
        return {"print": object() if self.print else 0}
"""


def test_an_environment_that_fails_stops_no_other(module: Path, tmp_path: Path):
    module.write_text(BROKEN)
    text = (
        "horizon = 20\nseeds = 2\npolicies = ['Uniform', 'Greedy']\n[environments.sports]\n"
        f"[environments.ring]\ntask = '{module.stem}:Broken'\n"
    )
    ran = run_command(write(tmp_path, text))
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    assert "4 runs failed; details are in" in ran.stderr
    assert (
        "Greedy on ring, seed 1 failed: episode(horizon=20, seed=1) of the environment 'ring' "
        f"raised ZeroDivisionError: division by zero; correct {module.stem}:Broken"
    ) in ran.stdout
    results = read_results(tmp_path / "results")
    assert {cell.environment for cell in results.cells} == {"sports"}
    assert "1 / 0" in (tmp_path / "results" / "failures.txt").read_text()


def test_if_all_runs_fail_one_error_is_told(module: Path, tmp_path: Path):
    module.write_text(BROKEN)
    own.look_in(tmp_path)
    spec = EnvironmentSpec("ring", task=f"{module.stem}:Broken", parameters={"returned": 1})
    study = Study([PolicySpec("Uniform")], [spec], horizon=5, seeds=3)
    assert len(run_study(study, tmp_path, workers=1, progress=False)) == 3
    message = (
        r"is finished; Uniform on ring, seed 0 failed \(and 2 more\): .*must return .*got None"
    )
    with pytest.raises(bt.StateError, match=message):
        read_results(tmp_path)


def test_a_fingerprint_that_json_cannot_hold_is_explained(module: Path, tmp_path: Path):
    module.write_text(BROKEN)
    own.look_in(tmp_path)
    spec = EnvironmentSpec("ring", task=f"{module.stem}:Broken", parameters={"fingerprint": 1})
    with pytest.raises(
        bt.InvalidParameterError, match=r"fingerprint\(\) of the environment 'ring'"
    ):
        plan(Study([PolicySpec("Uniform")], [spec], horizon=5, seeds=3))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda arms: None, "no name by which another process"),
        (partial(bt.LinUCB, alpha=1.0), "no name by which another process"),
        (type("Lost", (bt.Uniform,), {"__module__": "__main__"}), "defined in the program itself"),
    ],
)
def test_what_others_cannot_import_is_refused(made: Any, message: str):
    with pytest.raises(bt.InvalidParameterError, match=message):
        PolicySpec("x", made)


# The code


def keys(study: Study) -> list[str]:
    return [run.key for run in plan(study).runs]


def test_another_source_is_another_run(module: Path, tmp_path: Path):
    own.look_in(tmp_path)
    study = Study(
        [PolicySpec("x", f"{module.stem}:Mine"), PolicySpec("Uniform")],
        [EnvironmentSpec("sports")],
        horizon=10,
        seeds=1,
    )
    mine, uniform = keys(study)
    module.write_text(SOURCE + "\n# changed\n")
    with pytest.raises(bt.InvalidParameterError, match="has changed since it was imported; start"):
        keys(study)
    own._imported.clear()  # as a new process would
    again, same = keys(study)
    assert again != mine
    assert same == uniform


def imported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a module that Python has imported and kept as bytecode."""
    file = folder / "edited_in_a_notebook.py"
    file.write_text(SOURCE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.delitem(sys.modules, file.stem, raising=False)
    importlib.import_module(file.stem)
    return file


def test_an_edit_between_import_and_first_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = imported(tmp_path, monkeypatch)
    path = f"{file.stem}:Mine"
    file.write_text(SOURCE + "\nMORE = 1\n")
    for _ in range(2):  # a refusal is not forgotten
        with pytest.raises(bt.InvalidParameterError, match="has changed since it was imported"):
            own.code_of(path)
    file.write_text(SOURCE)
    os.utime(file, (1e9, 1e9))
    assert own.code_of(path)  # as it was imported, though at another time
    monkeypatch.delitem(sys.modules, file.stem)


@pytest.mark.parametrize("kept", [b"", b"short", b"from another Python: " * 4])
def test_without_bytecode_nothing_is_known(
    kept: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = imported(tmp_path, monkeypatch)
    Path(cache_from_source(file)).write_bytes(kept)
    file.write_text(SOURCE + "\nMORE = 1\n")
    assert own.code_of(f"{file.stem}:Mine")
    monkeypatch.delitem(sys.modules, file.stem)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package beside a study; its policy imports other modules, at once and later."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    before = set(sys.modules)
    folder = tmp_path / f"package_{abs(hash(str(tmp_path)))}"
    (folder / "inner").mkdir(parents=True)
    for name, text in {
        "__init__.py": "",
        "mine.py": "import banditree as bt\nfrom . import near\nclass Mine(bt.Uniform): pass\n",
        "near.py": "import json, numpy.linalg\nfrom .inner.far import x\n",
        "inner/__init__.py": "",
        "inner/far.py": "x = 1\ndef f():\n    import beside_the_package\n    from .. import late\n",
        "late.py": "",
        "unrelated.py": "",
        "../beside_the_package.py": "import no_such_module",
    }.items():
        (folder / name).write_text(text)
    yield folder
    for name in set(sys.modules) - before:
        if name.startswith(folder.name):
            del sys.modules[name]


def test_the_code_is_that_of_all_it_imports(package: Path, monkeypatch: pytest.MonkeyPatch):
    path = f"{package.name}.mine:Mine"
    before = own.code_of(path)
    assert {file.name for file in own._imported if package.parent in file.parents} == {
        "__init__.py",
        "mine.py",
        "near.py",
        "far.py",
        "late.py",
        "beside_the_package.py",
    }
    assert "beside_the_package" not in sys.modules  # found without being imported
    found = {before}
    for name in ("near.py", "inner/far.py", "inner/__init__.py", "../beside_the_package.py"):
        with (package / name).open("a") as file:
            file.write("\n# changed\n")
        with pytest.raises(bt.InvalidParameterError, match="has changed since it was imported"):
            own.code_of(path)
        monkeypatch.setattr(own, "_imported", {})  # as in a new process
        found.add(own.code_of(path))
    assert len(found) == 5
    (package / "unrelated.py").write_text("# changed")
    assert own.code_of(path) in found


def test_installed_packages_are_not_code_of_ones_own(package: Path, monkeypatch: Any):
    site = package.parent / "site-packages"
    site.mkdir()
    (site / "installed_for_a_test.py").write_text("import installed_beside")
    (site / "installed_beside.py").write_text("")
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    (package / "near.py").write_text("import installed_for_a_test")
    own.code_of(f"{package.name}.mine:Mine")
    assert not [file for file in own._imported if site in file.parents]
    # But a policy that is installed brings its own package.
    files = files_of("installed_for_a_test", package="installed_beside")
    assert set(files) == {"installed_for_a_test", "installed_beside"}


def test_the_report_counts_runs_of_earlier_code(package: Path, tmp_path: Path):
    study = Study(
        [PolicySpec("mine", f"{package.name}.mine:Mine"), PolicySpec("Uniform")],
        [EnvironmentSpec("sports")],
        horizon=10,
        seeds=2,
    )
    assert run_study(study, tmp_path, workers=1, progress=False) == []
    assert read_results(tmp_path).outdated == 0
    (package / "late.py").write_text("# changed")
    own._imported.clear()
    assert run_study(study, tmp_path, workers=1, progress=False) == []
    results = read_results(tmp_path)
    assert (results.outdated, results.others, results.missing) == (2, {}, 0)
    assert results.version == code.build_name()
    fewer = replace(study, seeds=1)  # what a study does not ask for is not outdated
    run_study(fewer, tmp_path, workers=1, progress=False)
    assert read_results(tmp_path).outdated == 2


def test_the_name_of_a_build_tells_all_that_matters(tmp_path: Path, monkeypatch: Any):
    def built() -> str:
        return code.build_name.__wrapped__()

    for file in code._files():
        if file.suffix in code.SOURCES:
            copy = tmp_path / file.relative_to(code.PACKAGE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    core = tmp_path / "core.so"
    core.write_bytes(Path(code._core.__file__).read_bytes())
    before = code.build_name()
    assert re.fullmatch(r"[\d.]+\+[0-9a-f]{12}", before)
    monkeypatch.setattr(code, "PACKAGE", tmp_path)
    monkeypatch.setattr(code, "DRAWING", tmp_path / "trees" / "drawing")
    monkeypatch.setattr(code._core, "__file__", str(core))
    assert built() == before
    (tmp_path / "studies" / "summary.py").write_text("")
    assert built() == before
    names = {before}
    counted = ("policies/uniform.py", "studies/runs.py", "environments/catalogue.toml")
    for file in (core, *(tmp_path / name for name in counted)):
        with file.open("ab") as opened:
            opened.write(b"\n")
        names.add(built())
    assert len(names) == 5


def test_a_process_with_other_code_runs_nothing():
    run = plan(Study([PolicySpec("Uniform")], [EnvironmentSpec("sports")], 10, 1)).runs[0]
    assert not isinstance(perform(run), Failure)
    failure = perform(replace(run, code="0.1.0+another"))
    assert isinstance(failure, Failure)
    assert "the code of this process is not that of the one that began" in failure.error
