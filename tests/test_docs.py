"""What the documentation shows can be run as shown, and what it names is there."""

import dataclasses
import re
import sys
from pathlib import Path

import pytest

from banditree.environments import Episode
from banditree.studies import Study, read_study

TEXT = (Path(__file__).parents[1] / "docs" / "studies.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)


OWN = Path(__file__).parents[1] / "examples" / "own_environment"


def test_study_files_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "worlds.py").write_bytes((OWN / "worlds.py").read_bytes())
    assert len(blocks("toml")) == 3
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


def test_the_example_of_an_environment_is_shown_as_it_is():
    assert (OWN / "study.toml").read_text(encoding="utf-8") in blocks("toml")


def test_all_fields_of_an_episode_are_listed():
    listed = re.findall(r"^\| `(\w+)` \| .*(?:tuple|array)", TEXT, flags=re.MULTILINE)
    assert listed == [field.name for field in dataclasses.fields(Episode)]


PAPER = Path(__file__).parents[1] / "docs" / "paper"


def test_what_is_said_of_the_claims_is_in_the_report():
    report = (PAPER / "report.md").read_text(encoding="utf-8")
    verdicts = ("✓ reproduced", "◐ in part", "✗ not reproduced", "? undecided")
    counts = [report.count(f"| {verdict} |") for verdict in verdicts]
    text = (PAPER.parent / "studies.md").read_text(encoding="utf-8")
    words = ("are reproduced,", "are in part:", "are not:", "is undecided:")
    said = re.search(".*?".join(rf"(\d+) {word}" for word in words), text, re.S)
    assert [int(number) for number in said.groups()] == counts
    assert f"paper's {sum(counts)} claims" in text


# What docs/policies.md calls the rows of the report, where it calls them otherwise.
LABELS = {
    "TreeBootstrap": "TreeBootstrap, prior",
    "TreeBootstrap, started as in the paper": "TreeBootstrap",
    "LinUCB, best α": "LinUCB",
    "LinUCB, λ = 1, best α": "LinUCB, λ=1",
    "LogisticUCB, best α": "LogisticUCB",
    "LogisticUCB, λ = 1, best α": "LogisticUCB, λ=1",
    "BanditForest, best depth": "BanditForest",
    "BanditForest, radius=0.25, best depth": "BanditForest, radius/4",
}


def regrets(text: str) -> dict[str, list[list[float]]]:
    """Return means and half intervals by policy, of the table rows in a text."""
    found = {}
    for line in text.splitlines():
        if line.startswith("|") and "±" in line:
            name, *cells = line.replace("**", "").replace("`", "").strip("| ").split(" | ")
            numbers = [[float(n.replace(",", "")) for n in c.split("±")] for c in cells if c != "—"]
            found[name.split(" (")[0]] = numbers
    return found


def test_the_table_of_regrets_is_that_of_the_report():
    report = (PAPER / "report.md").read_text(encoding="utf-8").split("## Figures")[0]
    shown = (PAPER.parent / "policies.md").read_text(encoding="utf-8").split("## Regret")[1]
    found = regrets(report)
    assert len(regrets(shown)) == 13
    for label, cells in regrets(shown).items():
        sports, adult, shuttle, covertype, census = found[LABELS.get(label, label)][:5]
        for cell, exact in zip(cells, (shuttle, adult, covertype, census, sports), strict=True):
            assert cell == pytest.approx(exact, abs=0.56), label  # whole numbers of tenths


ROOT = Path(__file__).parents[1]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def found(name: str) -> list[Path]:
    """Return the files of the repository that a page means by a name."""
    places = [ROOT / place for place in ("native", "src", "tests", "docs")]
    paths = [ROOT / name, *(path for place in places for path in place.rglob(Path(name).name))]
    return [path for path in paths if path.is_file() and path.as_posix().endswith(f"/{name}")]


def test_files_that_the_architecture_names_are_there():
    names = re.findall(r"`([\w/.]+\.(?:[ch]pp|py|md))`", ARCHITECTURE)
    assert len(names) > 40
    assert [name for name in names if not found(name)] == []


def test_words_of_the_core_are_where_the_architecture_says():
    words = re.findall(
        r"^\| `(\w+)` \| .* \| `([\w/.]+\.hpp)` \|$", ARCHITECTURE, flags=re.MULTILINE
    )
    assert len(words) > 20
    for word, name in words:
        (path,) = found(name)
        text = path.read_text(encoding="utf-8")
        assert re.search(rf"^(?:class|struct|concept|\w+) {word}\b", text, re.MULTILINE), word
