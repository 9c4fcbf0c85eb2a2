"""Runs are done once, survive crashes, and do not depend on who does them."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import banditree as bt
from banditree.studies import (
    EnvironmentSpec,
    PolicySpec,
    Store,
    Study,
    read_results,
    run_study,
)
from banditree.studies import building as building_module
from banditree.studies import code as code_module
from banditree.studies import runner as runner_module
from banditree.studies import workers as workers_module
from banditree.studies.memory import PeakMemory
from banditree.studies.runs import Failure, Outcome, Run, checkpoints, key_of, perform
from banditree.studies.specs import Variant

STUDY = Study(
    [
        PolicySpec("TreeHeuristic"),
        PolicySpec("LinUCB", parameters={"alpha": [0.1, 1.0]}),
        PolicySpec("OfflineTree"),
    ],
    [EnvironmentSpec("sports"), EnvironmentSpec("digits")],
    horizon=60,
    seeds=2,
)


def rows(folder: Path) -> list[tuple[Any, ...]]:
    """Return everything that was stored, but time and memory."""
    columns = (
        "key, version, policy, label, parameters, environment, seed, horizon, regret, choices, "
        "hex(steps), hex(curve)"
    )
    with sqlite3.connect(folder / "results.sqlite") as connection:
        found = connection.execute(f"SELECT {columns} FROM runs ORDER BY key").fetchall()
    connection.close()
    return found


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("done")
    assert run_study(STUDY, folder, workers=1, progress=False) == []
    return folder


def test_every_run_is_stored(done: Path):
    assert len(rows(done)) == 2 * (3 + 4)
    results = read_results(done)
    assert results.environments == ["sports", "digits"]
    assert results.missing == 0
    assert len(results.variants("LinUCB", "digits")) == 2
    assert results.baseline("sports") is None
    cell = results.best("TreeHeuristic", "digits")
    assert cell is not None
    assert cell.seeds == (0, 1)
    assert cell.curves.shape == (2, 60)
    assert (np.diff(cell.curves, axis=1) >= 0).all()


def test_what_is_stored_is_what_playing_gives(done: Path):
    from banditree.environments import SportsAds, play

    episode = SportsAds().episode(60, 1)
    regret = episode.regret_of(play(bt.LinUCB(episode.arms, alpha=0.1, seed=1), episode))
    (cell,) = (
        cell
        for cell in read_results(done).variants("LinUCB", "sports")
        if cell.parameters == {"alpha": 0.1}
    )
    assert cell.curves[1] == pytest.approx(np.cumsum(regret), abs=1e-12)


def test_two_workers_give_the_same(done: Path, tmp_path: Path):
    assert run_study(STUDY, tmp_path, workers=2, progress=False) == []
    assert rows(tmp_path) == rows(done)


def test_finished_runs_are_not_repeated(done: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(run: Any) -> None:
        raise AssertionError(f"{run} was done already")

    monkeypatch.setattr(workers_module, "perform", refuse)
    assert run_study(STUDY, done, workers=1, progress=False) == []


def test_what_is_added_to_a_study_is_all_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    small = Study([PolicySpec("Uniform")], [EnvironmentSpec("sports")], horizon=30, seeds=2)
    larger = Study([PolicySpec("Uniform")], [EnvironmentSpec("sports")], horizon=30, seeds=3)
    run_study(small, tmp_path, workers=1, progress=False)
    begun = []
    perform = workers_module.perform

    def counted(run: Any) -> Any:
        begun.append(run.seed)
        return perform(run)

    monkeypatch.setattr(workers_module, "perform", counted)
    run_study(larger, tmp_path, workers=1, progress=False)
    assert begun == [2]


def test_a_run_is_known_by_all_that_defines_it():
    plain = Variant("LinUCB", "LinUCB", {"alpha": 1.0})
    renamed = Variant("LinUCB", "another name", {"alpha": 1.0})
    other = Variant("LinUCB", "LinUCB", {"alpha": 2.0})
    keys = [
        key_of(plain, "shop", 0, 100, "1.0"),
        key_of(other, "shop", 0, 100, "1.0"),
        key_of(plain, "bank", 0, 100, "1.0"),
        key_of(plain, "shop", 1, 100, "1.0"),
        key_of(plain, "shop", 0, 101, "1.0"),
        key_of(plain, "shop", 0, 100, "1.1"),
    ]
    assert len(set(keys)) == 6
    assert key_of(renamed, "shop", 0, 100, "1.0") == keys[0]


def test_results_are_those_of_the_last_study(tmp_path: Path):
    sports = [EnvironmentSpec("sports")]
    run_study(Study([PolicySpec("Uniform")], sports, 30, 1), tmp_path, workers=1, progress=False)
    longer = Study([PolicySpec("Uniform")], sports, 40, 1)
    run_study(longer, tmp_path, workers=1, progress=False)
    results = read_results(tmp_path)
    assert results.horizon == 40
    assert [cell.steps[-1] for cell in results.cells] == [40]
    assert results.cells[0].seeds == (0,)


def test_names_are_those_of_the_study(tmp_path: Path):
    def study(environment: str, *labels: str) -> Study:
        policies = [PolicySpec(label, "Uniform") for label in labels]
        return Study(policies, [EnvironmentSpec(environment, task="sports")], 30, 2)

    run_study(study("sports", "Uniform"), tmp_path, workers=1, progress=False)
    run_study(study("ads", "one", "two"), tmp_path, workers=1, progress=False)
    results = read_results(tmp_path)
    assert results.missing == 0
    assert [(c.label, c.environment, c.seeds) for c in results.cells] == [
        ("one", "ads", (0, 1)),
        ("two", "ads", (0, 1)),
    ]
    assert len(rows(tmp_path)) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failed_run_stops_no_other(tmp_path: Path, workers: int):
    study = Study(
        [PolicySpec("OfflineTree", parameters={"folds": [-1, 3]}), PolicySpec("Uniform")],
        [EnvironmentSpec("digits")],
        horizon=20,
        seeds=1,
    )
    (failure,) = run_study(study, tmp_path, workers=workers, progress=False)
    assert failure.run.variant.parameters == {"folds": -1}
    assert "folds" in failure.error
    assert "Traceback" in failure.details
    results = read_results(tmp_path)
    assert results.missing == 1
    assert results.failures == {"OfflineTree(folds=-1) on digits, seed 0": failure.error}
    assert {cell.label for cell in results.cells} == {"OfflineTree", "Uniform"}


def test_where_the_yardstick_cannot_be_run_it_is_left_out(tmp_path: Path):
    study = Study(
        [PolicySpec("OfflineTree"), PolicySpec("Uniform")],
        [
            EnvironmentSpec("sports"),
            EnvironmentSpec("digits"),
            EnvironmentSpec("late", task="digits", delay=3),
        ],
        horizon=1796,  # of 1,797 digits
        seeds=1,
    )
    assert run_study(study, tmp_path, workers=1, progress=False) == []
    left_out = read_results(tmp_path).left_out
    assert set(left_out) == {
        "OfflineTree on sports",
        "OfflineTree on digits",
        "OfflineTree on late",
    }
    assert "of 1,797 rows 1,796 steps leave none" in left_out["OfflineTree on digits"]


def test_nothing_to_run_is_said_with_the_reason(tmp_path: Path):
    study = Study([PolicySpec("OfflineTree")], [EnvironmentSpec("sports")], 10, 1)
    with pytest.raises(bt.DataError, match="nothing to run; OfflineTree on sports: needs rows"):
        run_study(study, tmp_path, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_runs_of_another_build_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    study = Study([PolicySpec("Uniform")], [EnvironmentSpec("sports")], 10, 2)
    with monkeypatch.context() as patched:
        patched.setattr(code_module, "build_name", lambda: "0.1.0+another")
        run_study(study, tmp_path, workers=1, progress=False)
    run_study(study, tmp_path, workers=1, progress=False)
    results = read_results(tmp_path)
    assert results.others == {"0.1.0+another": 2}
    assert results.version == code_module.build_name()
    assert results.cells[0].seeds == (0, 1)


def test_a_file_that_has_changed_is_read_again(tmp_path: Path):
    file = tmp_path / "visits.csv"
    study = Study(
        [PolicySpec("Uniform")], [EnvironmentSpec("shop", file=str(file), label="bought")], 4, 1
    )
    for n in (3, 4):
        file.write_text("age,bought\n" + "31,tea\n64,nut\n" * n)
        run_study(study, tmp_path, workers=1, progress=False)
        assert read_results(tmp_path).about["shop"].rows == 2 * n
        assert len(rows(tmp_path)) == n - 2


def test_remarks_are_made_before_the_first_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "visits.csv"
    file.write_text("age,bought\n" + "31,tea\n64,nut\n50,\n" * 9)
    spec = EnvironmentSpec("shop", file=str(file), label="bought")
    run_study(Study([PolicySpec("Uniform")], [spec], 4, 1), tmp_path, workers=1)
    assert "shop: 9 of 27 rows have no label" in capsys.readouterr().err


def test_failures_of_the_time_before_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: Any) -> Any:
        yield from ()
        raise KeyboardInterrupt

    policies = [PolicySpec("OfflineTree", parameters={"folds": [-1, 3]}), PolicySpec("Uniform")]
    study = Study(policies, [EnvironmentSpec("digits")], 20, 1)
    assert len(run_study(study, tmp_path, workers=1, progress=False)) == 1
    monkeypatch.setattr(runner_module, "outcomes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_study(study, tmp_path, workers=1, progress=False)
    assert read_results(tmp_path).failures == {}
    assert read_results(tmp_path).missing == 1


def test_what_an_earlier_version_has_noted_is_refused(tmp_path: Path):
    Store(tmp_path).note("study", {"study": {"name": "old"}, "runs": [], "skipped": {}})
    with pytest.raises(bt.StateError, match="earlier version; run the study once more"):
        read_results(tmp_path)


def test_the_peak_of_memory_is_measured():
    for _ in range(2):  # what the first has given back is counted again in the second
        with PeakMemory() as measured:
            np.ones(4_000_000).sum()
        assert 30e6 < measured.bytes < 60e6


@pytest.mark.parametrize(
    ("wanted", "steps"), [(1, [1]), (3, [1, 2, 3]), (1001, [*range(3, 1000, 3), 1001][:334])]
)
def test_curves_end_at_the_horizon(wanted: int, steps: list[int]):
    found = checkpoints(wanted).tolist()
    assert found == (steps if wanted < 500 else [*range(3, 1001, 3), 1001])


def test_environments_without_data_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(key: str) -> Any:
        raise bt.DataError(f"{key} is not here")

    monkeypatch.setattr(building_module, "fetch", missing)
    study = Study(
        [PolicySpec("Uniform")], [EnvironmentSpec("adult"), EnvironmentSpec("sports")], 10, 1
    )
    run_study(study, tmp_path, workers=1, progress=False)
    results = read_results(tmp_path)
    assert results.skipped == {"adult": "adult is not here"}
    assert results.environments == ["sports"]


@pytest.mark.parametrize("workers", [0, -1, True, 1.5])
def test_wrong_numbers_of_workers_are_refused(tmp_path: Path, workers: Any):
    with pytest.raises(bt.InvalidParameterError, match="workers must be"):
        run_study(STUDY, tmp_path, workers=workers, progress=False)


# The file


def test_a_foreign_file_is_refused(tmp_path: Path):
    (tmp_path / "results.sqlite").write_bytes(b"no database at all, but long enough" * 100)
    with pytest.raises(bt.StateError, match="is not a file of results, or is damaged"):
        Store(tmp_path)


def test_a_file_of_another_format_is_refused(tmp_path: Path):
    Store(tmp_path)
    with sqlite3.connect(tmp_path / "results.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(bt.StateError, match="in format 99"):
        Store(tmp_path)


def test_a_file_cut_short_is_refused(done: Path, tmp_path: Path):
    whole = (done / "results.sqlite").read_bytes()
    (tmp_path / "results.sqlite").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(bt.StateError, match="damaged"):
        Store(tmp_path).records()


def test_a_database_of_others_is_refused(tmp_path: Path):
    with sqlite3.connect(tmp_path / "results.sqlite") as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    with pytest.raises(bt.StateError, match="file of another program"):
        Store(tmp_path)


def test_several_may_begin_at_once(tmp_path: Path):
    """Nobody takes what another is just making for damaged, or for another program's."""
    together = Barrier(4)

    def begin_all(_: int) -> None:
        for i in range(60):
            together.wait(timeout=20)
            assert Store(tmp_path / str(i)).keys() == set()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(begin_all, range(4)))


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(bt.StateError, match=r"there can be no folder .*; choose another"):
        Store(tmp_path / "file")


def test_results_of_nothing_are_refused(tmp_path: Path):
    with pytest.raises(bt.StateError, match="has no results; run a study first"):
        read_results(tmp_path)
    assert list(tmp_path.iterdir()) == []
    Store(tmp_path)
    with pytest.raises(bt.StateError, match="no results yet"):
        read_results(tmp_path)


# Crashes


def begin(folder: Path) -> subprocess.Popen[bytes]:
    code = (
        "from studies.test_running import STUDY; from banditree.studies import run_study; "
        f"run_study(STUDY, {str(folder)!r}, workers=2, progress=False)"
    )
    return subprocess.Popen([sys.executable, "-c", code], env=with_tests(), start_new_session=True)


def with_tests() -> dict[str, str]:
    """Return an environment in which Python finds this file."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


def n_done(folder: Path) -> int:
    return len(Store(folder).keys()) if (folder / "results.sqlite").exists() else 0


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on(done: Path, tmp_path: Path):
    for wanted in (1, 5, 9):
        process = begin(tmp_path)
        try:
            while n_done(tmp_path) < wanted and process.poll() is None:
                time.sleep(0.01)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        finished = rows(tmp_path)
        assert set(finished) <= set(rows(done))
    assert begin(tmp_path).wait() == 0
    assert rows(tmp_path) == rows(done)


@pytest.mark.slow
def test_a_process_that_is_killed_stops_no_other(tmp_path: Path):
    """A file kills the processes that read it, once or always; others go on."""
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from banditree.studies import workers\n"
        "from studies.test_running import STUDY, deadly\n"
        "workers.perform = deadly\n"
        "from banditree.studies import run_study\n"
        f"failures = run_study(STUDY, {str(tmp_path)!r}, workers=2, progress=False)\n"
        "print([str(failure.run) for failure in failures], failures[0].error)"
    )
    environment = with_tests() | {"DEADLY": str(tmp_path / "killed")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "['LinUCB(alpha=0.1) on sports, seed 1'] its process was killed, maybe for want of memory\n"
    )
    assert (tmp_path / "killed").exists()
    assert len(rows(tmp_path)) == 13


def deadly(run: Run) -> Outcome | Failure:
    """Carry out a run; one kills its process at the first time, and one always."""
    marker = Path(os.environ["DEADLY"])
    once = str(run) == "LinUCB(alpha=1.0) on digits, seed 0" and not marker.exists()
    if once or str(run) == "LinUCB(alpha=0.1) on sports, seed 1":
        if once:
            marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return perform(run)


@pytest.mark.slow
def test_no_space_left_is_said_and_it_goes_on(done: Path, tmp_path: Path):
    size = (done / "results.sqlite").stat().st_size
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size // 2}, {size // 2}))\n"
        "from studies.test_running import STUDY; from banditree.studies import run_study\n"
        f"run_study(STUDY, {str(tmp_path)!r}, workers=2, progress=False)"
    )
    command = [sys.executable, "-c", code]
    failed = subprocess.run(command, env=with_tests(), capture_output=True, text=True, check=False)
    assert "StateError: no space left for" in failed.stderr
    assert "task iterator" not in failed.stderr  # joblib's advice; loky may speak of its own
    finished = rows(tmp_path)
    assert 0 < len(finished) < len(rows(done))
    assert begin(tmp_path).wait() == 0
    assert set(finished) <= set(rows(tmp_path))
    assert rows(tmp_path) == rows(done)


# A cluster


@pytest.fixture
def cluster() -> Iterator[str]:
    """Start Ray on this machine, on a port that is free."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    ray = str(Path(sys.executable).with_name("ray"))
    start = [ray, "start", "--head", f"--port={port}", "--num-cpus=2", "--disable-usage-stats"]
    # On a shared machine nobody else is to find it, and the dashboard is of no use here.
    start += ["--node-ip-address=127.0.0.1", "--include-dashboard=false"]
    subprocess.run(start, check=True, capture_output=True)
    yield f"127.0.0.1:{port}"
    subprocess.run([ray, "stop"], check=True, capture_output=True)


@pytest.mark.slow
def test_a_cluster_gives_the_same(done: Path, tmp_path: Path, cluster: str):
    # In a process of its own, for Ray warns of much that is not ours.
    code = (
        "from studies.test_running import STUDY; from banditree.studies import run_study; "
        f"run_study(STUDY, {str(tmp_path)!r}, ray={cluster!r}, progress=False)"
    )
    subprocess.run([sys.executable, "-c", code], env=with_tests(), check=True)
    assert rows(tmp_path) == rows(done)


def said_on_cluster(cluster: str, folder: Path, study: str) -> str:
    """Return what is printed of a study of ten steps and a seed that a cluster carries out."""
    (folder / "study.toml").write_text(f"horizon = 10\nseeds = 1\n{study}")
    command = [sys.executable, "-m", "banditree", "run", "study.toml", "--ray", cluster]
    ran = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_a_cluster_finds_files_and_data(tmp_path: Path, cluster: str):
    """The processes of a cluster work in another folder, and have other variables."""
    (tmp_path / "visits.csv").write_text("age,bought\n" + "31,tea\n64,nut\n" * 9)
    shop = "environments.shop = {file = 'visits.csv', label = 'bought'}\n"
    assert "Uniform" in said_on_cluster(cluster, tmp_path, f"policies = ['Uniform']\n{shop}")


@pytest.mark.slow
def test_a_cluster_finds_policies_of_ones_own(tmp_path: Path, cluster: str):
    """Their module lies beside the study, where the cluster's processes do not look."""
    example = Path(__file__).parents[2] / "examples" / "own_policy"
    (tmp_path / "epsilon_greedy.py").write_bytes((example / "epsilon_greedy.py").read_bytes())
    study = "environments = ['sports']\npolicies = ['epsilon_greedy:EpsilonGreedy']\n"
    assert "EpsilonGreedy" in said_on_cluster(cluster, tmp_path, study)


@pytest.mark.slow
def test_no_cluster_is_said_so(tmp_path: Path):
    command = [sys.executable, "-m", "banditree", "reproduce", "--tasks", "sports"]
    command += ["--policies", "Uniform", "--ray", "127.0.0.1:1", "--out", str(tmp_path)]
    failed = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert failed.returncode == 2
    assert "there is no Ray cluster at '127.0.0.1:1'" in failed.stderr
    assert "Traceback" not in failed.stderr
