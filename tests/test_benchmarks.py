"""The benchmarks run, and say what they ran on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "trees.py"


def run(*options: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "BANDITREE_DATA"}
    environment["PYTHONIOENCODING"] = "utf-8"
    command = [sys.executable, str(BENCHMARK), *options]
    return subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", timeout=300, check=False
    )


def test_quick_run_on_made_up_data():
    done = run("--quick")
    assert done.returncode == 0, done.stderr
    assert "made-up data" in done.stdout
    judged = [line for line in done.stdout.splitlines() if line.endswith((" ok", " missed"))]
    assert len(judged) == 8


@pytest.mark.parametrize("options", [["--rows", "10"], ["--rows", "many"]])
def test_wrong_rows_are_refused(options: list[str]):
    done = run(*options)
    assert done.returncode == 2
    assert "--rows" in done.stderr
