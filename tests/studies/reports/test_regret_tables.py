"""Tables of results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from banditree.studies.reports import regret_table
from banditree.studies.reports.tables import constants_rows, facts, regret_rows, seeds_of
from studies.reports.made_up import cell, exact, paper, results, small


def test_regret_for_a_terminal():
    cells = [
        exact("TreeHeuristic", "sports", {0: 10, 1: 20, 2: 30}),
        exact("Uniform", "sports", {0: 1650.06}),
        exact("Uniform", "a longer name", {0: 5}),
    ]
    assert regret_table(results(cells)) == (
        "policy              sports  a longer name\n"
        "TreeHeuristic  20.0 ± 24.8              —\n"
        "Uniform            1,650.1            5.0"
    )


def test_a_terminal_needs_no_matplotlib():
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from banditree.errors import InvalidParameterError\n"
        "from banditree.studies.reports import regret_table, write_report\n"
        "from studies.reports.made_up import paper\n"
        "print(regret_table(paper()).splitlines()[1][:13])\n"
        "try:\n    write_report(paper(), '/nowhere')\n"
        "except InvalidParameterError as error:\n    print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert run.stdout.startswith("TreeBootstrap\nfigures are drawn by matplotlib: pip install")


def test_the_best_stands_out_the_baseline_aside():
    table = regret_rows(paper())
    first = [row[0] for row in table.rows]
    best: dict[str, set[str]] = {}
    for row, column in table.best:
        best.setdefault(table.header[column], set()).add(first[row].split(" (")[0])
    assert best["adult"] == best["census"] == {"LogisticUCB"}
    assert best["shuttle"] == {"TreeHeuristic"}
    assert best["sports"] == best["covertype"] == {"TreeBootstrap", "TreeHeuristic"}
    assert regret_rows(results([cell("Uniform", "shop", 0.5)])).best == set()


def test_constants_of_the_best():
    table = constants_rows(paper())
    assert [row[0] for row in table.rows] == ["BanditForest", "LinUCB"]
    assert table.rows[0][1:3] == ["depth=4", "depth=2"]
    assert table.rows[1][1] == "alpha=0.01 (of 6)"
    assert constants_rows(small()) is None
    missing = constants_rows(paper({("shuttle", "LinUCB"): None}))
    assert missing.rows[1][3] == "—"


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ([range(5), range(5)], "5 (0 to 4)"),
        ([[3], [3]], "1 (3)"),
        ([[0, 1], [0, 1]], "2 (0, 1)"),
        ([[0, 2, 5], [0, 2, 5]], "3 (0, 2, 5)"),
        ([range(10), range(4)], "10 (0 to 9); some policies have only 4"),
    ],
)
def test_seeds_in_words(seeds, text):
    cells = [cell(f"policy {i}", "shop", 0.5, seeds=list(s)) for i, s in enumerate(seeds)]
    assert seeds_of(results(cells)) == text


def test_facts():
    assert dict(facts(small(missing=2))) == {
        "Steps of a run": "1,000",
        "Seeds": "5 (0 to 4)",
        "Finished runs": "10",
        "Missing runs": "2",
        "Version": "banditree 1.2.3",
    }


def test_equally_good_ones_are_all_bold():
    cells = [
        exact(label, "shop", {0: regret}) for label, regret in zip("abc", (3, 2, 2), strict=True)
    ]
    assert regret_rows(results(cells)).best == {(1, 1), (2, 1)}


def test_all_whose_intervals_reach_that_of_the_best_are_bold():
    cells = [
        exact("a", "shop", {0: 100, 1: 102}),  # up to 113.7
        exact("b", "shop", {0: 119, 1: 121}),  # from 107.3
        exact("c", "shop", {0: 129, 1: 131}),  # from 117.3
        exact("d", "shop", {0: 113}),
        exact("e", "shop", {0: 114}),
    ]
    assert regret_rows(results(cells)).best == {(0, 1), (1, 1), (3, 1)}


def test_the_best_is_sought_among_those_with_all_seeds():
    half = exact("LinUCB", "shop", {0: 1.0})
    whole = exact("LinUCB", "shop", {0: 2.0, 1: 3.0})
    half.parameters["alpha"], whole.parameters["alpha"] = 1.0, 2.0
    assert results([half, whole]).best("LinUCB", "shop") is whole
