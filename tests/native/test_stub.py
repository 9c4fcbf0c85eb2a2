"""The committed stub describes the compiled core."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STUB = ROOT / "src" / "banditree" / "_core.pyi"


def run(*arguments: str, text: str | None = None) -> str:
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


def formatted(stub: Path) -> str:
    return run("ruff", "format", f"--stdin-filename={STUB}", "-", text=stub.read_text())


def test_stub_equals_the_compiled_core(tmp_path):
    generated = tmp_path / "_core.pyi"
    run("nanobind.stubgen", "-q", "-m", "banditree._core", "-o", str(generated))
    assert formatted(STUB) == formatted(generated), "run `make stub` and commit the result"
