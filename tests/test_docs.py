"""What the documentation of studies shows can be run as shown."""

import re
from pathlib import Path

import pytest

from banditree.studies import Study, read_study

TEXT = (Path(__file__).parents[1] / "docs" / "studies.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)


def test_study_files_can_be_read(tmp_path: Path):
    assert len(blocks("toml")) == 2
    for text in blocks("toml"):
        path = tmp_path / "study.toml"
        path.write_text(text, encoding="utf-8")
        assert list(read_study(path).cells())


def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    names: dict[str, object] = {}
    exec(code.replace("horizon=1000", "horizon=20"), names)
    assert isinstance(names["study"], Study)
    assert names["failures"] == []
    assert (tmp_path / "results" / "mine" / "results.sqlite").exists()
