"""The command line: what it prints, its exit codes, and no stack trace for a user's mistake."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from banditree import __version__
from banditree.cli import main
from banditree.studies import paper_study
from banditree.studies.specs import TASKS

EXAMPLES = Path(__file__).parents[1] / "examples"
SMALL = ["--tasks", "sports", "--policies", "TreeHeuristic", "Uniform", "--horizon", "40"]


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "banditree", *arguments],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_reproduce_prints_the_table_and_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["reproduce", *SMALL, "--workers", "1", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "TreeHeuristic" in shown
    assert f"report: {tmp_path / 'report.html'}" in shown
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "report.md").exists()


def test_a_report_is_written_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    main(["reproduce", *SMALL, "--workers", "1", "--out", str(tmp_path)])
    before = (tmp_path / "report.html").read_bytes()
    (tmp_path / "report.html").unlink()
    assert main(["report", str(tmp_path)]) == 0
    assert (tmp_path / "report.html").read_bytes() == before


def test_the_example_of_own_data_runs(tmp_path: Path):
    for file in (EXAMPLES / "shop").iterdir():
        if file.suffix in (".py", ".toml"):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    assert len((tmp_path / "study.toml").read_text().splitlines()) == 5
    made = subprocess.run([sys.executable, str(tmp_path / "make_visits.py")], check=False)
    assert made.returncode == 0
    done = run("run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "shop" in done.stdout
    with sqlite3.connect(tmp_path / "out" / "results.sqlite") as connection:
        regrets = dict(connection.execute("SELECT label, avg(regret) FROM runs GROUP BY label"))
    connection.close()
    assert regrets["TreeHeuristic"] < 0.8 * regrets["Uniform"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce", "--tasks", "adlut"], "no task 'adlut'; did you mean 'adult'?"),
        (["reproduce", "--policies", "LinUBC"], "no policy 'LinUBC'; did you mean 'LinUCB'?"),
        (["reproduce", "--horizon", "0"], "horizon must be a whole number from 1 up, got 0"),
        (["reproduce", *SMALL, "--workers", "0"], "workers must be a whole number"),
        (["run", "none.toml"], "there is no file 'none.toml'"),
        (["data", "path", "adlut"], "did you mean 'adult'?"),
        (["data", "fetch", "adlut"], "did you mean 'adult'?"),
    ],
)
def test_mistakes_are_explained(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    shown = capsys.readouterr().err
    assert words in shown
    assert shown.startswith("banditree: ")
    assert "Traceback" not in shown


@pytest.mark.parametrize("arguments", [[], ["reproduse"], ["reproduce", "--horizon", "many"]])
def test_wrong_usage_shows_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: banditree" in capsys.readouterr().err


def test_a_failed_run_is_told_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    study = tmp_path / "study.toml"
    text = "horizon = 20\nseeds = 1\nenvironments = ['digits']\n[policies.OfflineTree]\n"
    study.write_text(f"{text}folds = [-1, 3]\n")
    out = tmp_path / "out"
    command = ["run", str(study), "--workers", "1", "--out", str(out)]
    assert main(command) == 1
    shown = capsys.readouterr()
    assert "1 run failed; details are in" in shown.err
    assert "OfflineTree(folds=-1) on digits, seed 0 failed: folds" in shown.out
    assert "Traceback" in (out / "failures.txt").read_text()
    assert "report: " in shown.out
    study.write_text(f"{text}folds = 3\n")
    assert main(command) == 0
    assert not (out / "failures.txt").exists()
    assert " failed: " not in capsys.readouterr().out


def test_there_is_no_report_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for folder in (tmp_path, tmp_path / "nowhere"):
        assert main(["report", str(folder)]) == 1
        assert "has no results; run a study first" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "folder"), [("../my: <b>", "my-b"), ("größe 1.5", "größe-1.5"), ("..", "study")]
)
def test_results_stay_in_their_folder(
    name: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    text = f"name = '{name}'\nhorizon = 9\nseeds = 1\npolicies = ['Uniform']\n"
    (tmp_path / "study.toml").write_text(f"{text}environments = ['sports']\n", encoding="utf-8")
    assert main(["run", "study.toml", "--workers", "1"]) == 0
    assert [path.name for path in (tmp_path / "results").iterdir()] == [folder]


def test_the_help_names_all_tasks_and_policies(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["reproduce", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    for name in (*TASKS, *(spec.label for spec in paper_study().policies)):
        assert re.search(rf"\b{name}\b", shown), name


def test_data_sets_are_listed_and_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["data", "list"]) == 0
    shown = capsys.readouterr().out
    for name in ("adult", "shuttle", "covertype", "census"):
        assert name in shown


def test_missing_data_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("BANDITREE_DATA", str(tmp_path))
    monkeypatch.setenv("BANDITREE_CACHE", str(tmp_path))
    assert main(["data", "path", "adult"]) == 1
    assert "adult is not here" in capsys.readouterr().err


def test_figure_1_needs_no_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["reproduce", "--figure", "1", "--out", str(tmp_path)]) == 0
    drawn = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [path.suffix for path in drawn] == [".svg", ".png"]
    assert all(path.stat().st_size > 10_000 for path in drawn)


def test_version(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"banditree {__version__}\n"


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path):
    command = [sys.executable, "-m", "banditree", "reproduce", "--tasks", "sports"]
    command += ["--policies", "TreeBootstrap", "--horizon", "300", "--repeats", "200"]
    process = subprocess.Popen(
        [*command, "--workers", "2", "--out", str(tmp_path)], stderr=subprocess.PIPE
    )
    results = tmp_path / "results.sqlite"
    finished = 0
    while finished < 3 and process.poll() is None:
        time.sleep(0.1)
        if results.exists():
            with sqlite3.connect(results) as connection:
                tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
                if ("runs",) in tables:
                    (finished,) = connection.execute("SELECT count(*) FROM runs").fetchone()
            connection.close()
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted; what was finished is kept" in shown
    assert b"Traceback" not in shown


def test_a_file_that_is_not_the_data_set_is_not_passed_off_as_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("BANDITREE_DATA", str(tmp_path))
    (tmp_path / "adult.parquet").write_bytes(b"PAR1 and no more")
    assert main(["data", "fetch", "adult"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "adult.parquet cannot be read" in shown.err
    assert "remove that file" in shown.err


# ---- terminals that are not UTF-8 ----


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_a_terminal_gets_the_letters_that_it_has(tmp_path: Path, encoding: str):
    study = tmp_path / "größe ≤ 國.toml"
    text = "horizon = 20\nseeds = 2\nenvironments = ['sports']\n[policies.'α ≤ 國']\n"
    study.write_text(f"{text}policy = 'Uniform'\n", encoding="utf-8")
    command = [sys.executable, "-m", "banditree", "run", str(study), "--workers", "1"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        encoding=encoding,
        check=False,
    )
    assert (done.returncode, "Error" in done.stderr) == (0, False), done.stderr
    expected = {
        "ascii": ["mean +- half of", r"alpha <= \u570b"],
        "latin-1": ["mean ± half of", r"alpha <= \u570b"],
        "cp437": ["mean ± half of", r"α ≤ \u570b"],
    }
    assert all(words in done.stdout for words in expected[encoding])


def test_help_and_errors_are_shown_in_ascii():
    shown = run("run", "--help", PYTHONIOENCODING="ascii")
    assert shown.returncode == 0
    assert "policies x environments x seeds" in shown.stdout
    wrong = run("run", "≤.toml", PYTHONIOENCODING="ascii")
    assert wrong.returncode == 2
    assert "there is no file '<=.toml'" in wrong.stderr


# ---- without the extra ----


BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocker())
from banditree.cli import main
sys.exit(main(sys.argv[1:]))
"""
EXTRA = [
    "joblib",
    "matplotlib",
    "psutil",
    "sklearn",
    "threadpoolctl",
    "pyarrow",
    "pooch",
    "tqdm",
    "unlzw3",
    "requests",
    "pandas",
    "polars",
    "scipy",
    "ray",
]


def run_without(blocked: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    script = BLOCKED.format(blocked=blocked)
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False
    )


def test_without_the_extra_a_study_says_what_to_install(tmp_path: Path):
    (tmp_path / "study.toml").write_text("policies = ['Uniform']\nenvironments = ['sports']\n")
    out = tmp_path / "out"
    for command in (["reproduce"], ["run", str(tmp_path / "study.toml")]):
        done = run_without(EXTRA, *command, "--out", str(out))
        assert done.returncode == 2
        assert done.stderr == (
            "banditree: a study needs joblib, psutil, threadpoolctl, tqdm, matplotlib: "
            "pip install 'banditree[study]'\n"
        )
    assert not out.exists()
    only = run_without(["matplotlib"], "reproduce", "--out", str(out))
    assert only.stderr == "banditree: a study needs matplotlib: pip install 'banditree[study]'\n"


def test_without_the_extra_other_commands_do_what_they_can(tmp_path: Path):
    command = ["reproduce", *SMALL, "--workers", "1", "--out", str(tmp_path)]
    assert main(command) == 0
    done = run_without(EXTRA, "report", str(tmp_path))
    assert done.returncode == 2
    assert "TreeHeuristic" in done.stdout
    assert done.stderr == (
        "banditree: figures are drawn by matplotlib: pip install 'banditree[study]'\n"
    )
    figure = run_without(EXTRA, "reproduce", "--figure", "1", "--out", str(tmp_path))
    assert (figure.returncode, figure.stderr) == (2, done.stderr)
    assert run_without(EXTRA, "data", "list").returncode == 0


def test_data_sets_without_the_extra_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("BANDITREE_DATA", str(tmp_path))
    monkeypatch.setenv("BANDITREE_CACHE", str(tmp_path))
    fetch = run_without(EXTRA, "data", "fetch", "adult")
    assert fetch.returncode == 1
    assert "pip install 'banditree[study]'" in fetch.stderr
    assert len(fetch.stderr.splitlines()) == 1


# ---- folders that cannot be ----


@pytest.mark.parametrize("arguments", [["--figure", "1"], SMALL])
def test_a_folder_that_cannot_be_made_is_named(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "file" / "out"
    (tmp_path / "file").touch()
    assert main(["reproduce", *arguments, "--out", str(out)]) == 1
    assert capsys.readouterr().err == (
        f"banditree: there can be no folder '{out}': Not a directory; choose another with --out\n"
    )


def test_a_report_that_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["reproduce", *SMALL, "--workers", "1", "--out", str(tmp_path)]) == 0
    (tmp_path / "report.md").unlink()
    (tmp_path / "report.md").mkdir()
    capsys.readouterr()
    assert main(["report", str(tmp_path)]) == 1
    report = tmp_path / "report.md"
    assert capsys.readouterr().err == f"banditree: Is a directory: '{report}'\n"
