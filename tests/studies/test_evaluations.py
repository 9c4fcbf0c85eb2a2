"""`banditree evaluate`: what it prints, the report, what is kept, and what is wrong."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import banditree as bt
from banditree.cli import main
from banditree.evaluation import LogWriter, always, compare, learning
from banditree.studies import evaluations
from evaluation.made_up import ARMS, as_log, drawn

COLUMNS = ["--arm", "item", "--reward", "click", "--propensity", "p", "--workers", "1"]


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    path = tmp_path / "visits.parquet"
    drawn(1_500).write_parquet(path)
    return path


def test_a_change_of_code_is_another_evaluation(
    log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    source = evaluations.LogSource(str(log_file), "item", "click", "p")
    keys = set()
    for code in ("one", "two", "two"):
        monkeypatch.setattr(evaluations, "_code", lambda code=code: code)
        keys.add(evaluations._candidate("Uniform", source, "", 0, tmp_path).key)
    assert len(keys) == 2


def test_the_table_and_the_report(
    log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    policy = bt.TreeHeuristic(list(ARMS), seed=1)
    taught = drawn(500, seed=9)
    policy.learn_many(taught.select("age", "city"), taught["item"].to_list(), taught["click"])
    saved = str(tmp_path / "policy.bt")
    policy.save(saved)
    out = tmp_path / "out"
    names = ["TreeHeuristic", "Uniform", "always:golf", saved]
    assert main(["evaluate", str(log_file), "--policies", *names, *COLUMNS, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    wanted = {
        "TreeHeuristic": learning(bt.TreeHeuristic(list(ARMS), seed=0)),
        "Uniform": learning(bt.Uniform(list(ARMS), seed=0)),
        "always:golf": always("golf"),
        saved: policy,
    }
    assert str(compare(wanted, as_log(log_file))) in shown
    assert f"report: {out / 'report.html'}" in shown
    text = (out / "report.html").read_text(encoding="utf-8")
    HTMLParser().feed(text)
    for heading in ("Values", "Against", "All estimates", "Overlap", "Health of the log"):
        assert f">{heading}</h2>" in text
    assert text.count("<svg") == 4
    assert not re.search(r'(?:src|href)="(?!#)', text)
    assert len(list((out / "figures").glob("*.png"))) == 4


def test_what_is_finished_is_not_done_again(
    log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    command = ["evaluate", str(log_file), "--policies", "Uniform", *COLUMNS]
    command += ["--out", str(tmp_path / "out")]
    assert main(command) == 0
    before = (tmp_path / "out" / "report.html").read_bytes()

    def refuse(*arguments: object) -> None:
        raise AssertionError("done again")

    monkeypatch.setattr(evaluations, "gather", refuse)
    assert main(command) == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == before
    assert main([*command, "--seed", "3"]) == 1  # that is another evaluation


def test_another_log_is_evaluated_anew(log_file: Path, tmp_path: Path):
    source = evaluations.LogSource(str(log_file), "item", "click", "p")
    found = []
    for n in (1_500, 800):
        drawn(n).write_parquet(log_file)
        log, comparison, _ = evaluations.evaluate_all(
            ["always:golf"], source, tmp_path / "out", workers=1, progress=False
        )
        assert comparison is not None
        found.append(comparison.evaluations["always:golf"].estimates["dr"].value)
        assert len(log) == n
    assert found[0] != found[1]


def test_workers_find_the_same(log_file: Path, tmp_path: Path):
    source = evaluations.LogSource(str(log_file), "item", "click", "p")
    names = ["TreeHeuristic", "always:golf", "always:tennis"]
    found = [
        evaluations.evaluate_all(names, source, tmp_path / str(n), workers=n, progress=False)[1]
        for n in (1, 2)
    ]
    assert found[0] == found[1]


def test_a_failure_is_told_and_the_others_are_evaluated(
    log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    names = ["always:chess", "always:golf"]
    out = ["--out", str(tmp_path / "out")]
    assert main(["evaluate", str(log_file), "--policies", *names, *COLUMNS, *out]) == 1
    shown = capsys.readouterr()
    assert "always:chess failed: always: the log has no arm 'chess'" in shown.err
    assert "always:golf" in shown.out


def test_rewards_of_any_size_and_those_that_are_missing(tmp_path: Path):
    path = tmp_path / "log.csv"
    spent = pl.when(pl.col("age") < 25).then(None).otherwise(pl.col("click") * 12.5)
    drawn(800).with_columns(click=spent).write_csv(path)
    command = ["evaluate", str(path), "--policies", "TreeHeuristic", *COLUMNS]
    command += ["--context", "city", "--out", str(tmp_path / "out")]
    assert main(command) == 2
    assert main([*command, "--no-reward", "0"]) == 0
    assert main([*command, "--no-reward", "leave out"]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--policies", "TreeHeuristc"], "did you mean 'TreeHeuristic'?"),
        (["--policies", "Uniform", "--reward", "clik"], "did you mean 'click'?"),
        (["--policies", "Uniform", "--workers", "0"], "workers must be a whole number"),
    ],
)
def test_mistakes_are_explained(
    log_file: Path,
    tmp_path: Path,
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
):
    command = ["evaluate", str(log_file), *COLUMNS, *arguments, "--out", str(tmp_path / "out")]
    assert main(command) == 2
    assert words in capsys.readouterr().err


def test_evidence_is_kept_in_plain_arrays(log_file: Path, tmp_path: Path):
    source = evaluations.LogSource(str(log_file), "item", "click", "p")
    evaluations.evaluate_all(["Uniform"], source, tmp_path / "out", workers=1, progress=False)
    (kept,) = (tmp_path / "out" / evaluations.KEPT).iterdir()
    assert kept.suffix == ".npz"
    assert json.loads(source.fingerprint())[0]["arm"] == "item"


@pytest.mark.parametrize("closed", [True, False])
def test_a_log_of_ones_own_needs_no_columns_named(
    tmp_path: Path,
    closed: bool,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
):
    path, policy = tmp_path / "log.parquet", bt.Uniform(list(ARMS), seed=1)
    writer = LogWriter(path)
    for age in range(200):
        writer.add({"age": age}, policy.decision({}), age % 2)
    if closed:
        writer.close()
    request.addfinalizer(writer.close)
    command = ["evaluate", str(path), "--policies", "always:golf", "--workers", "1"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    assert "200 rows" in capsys.readouterr().out
    source = evaluations.LogSource(str(path))
    assert next(source.load().contexts.one_by_one(0, 1)) == {"age": 0}
