"""The example that fools itself runs, and shows what docs/evaluation.md says."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "evaluation" / "fooled.py"


def test_the_example_shows_what_it_says(capsys: pytest.CaptureFixture[str]):
    example = runpy.run_path(str(EXAMPLE))
    example["main"](repeats=8)
    right, even, overridden, usual, always = capsys.readouterr().out.splitlines()
    assert "'do not trust'   0%" in right
    assert "'do not trust' 100%" in even
    assert "'do not trust' 100%" in overridden
    assert usual.startswith("looking 100 times at a usual interval: fooled in")
    assert always.endswith("fooled in 0% of the logs")
