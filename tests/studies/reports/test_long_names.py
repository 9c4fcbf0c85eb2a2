"""Figures of users' studies: names of any length, constants of any number, any horizon."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from banditree.studies.reports.figure_style import LABEL_FONT, broken, shortened
from banditree.studies.reports.figures import constants_figure, regret_figure
from studies.reports.drawn import assert_readable, box_of, labels_of, texts_of
from studies.reports.made_up import cell, paper, results

SHOP = "customers of the web shop in the first half of 2024, those who returned left out"
FILE = "a_file_with_a_long_name_that_has_no_space_2024_03_17"
OURS = "LinUCB which our department has in production"
POLICIES = [
    ("LinUCB", 0.8, {"alpha": 0.1, "regularization": 1.0}),
    ("LinUCB", 0.9, {"alpha": 0.01, "regularization": 10.0}),
    (OURS, 0.6, {"alpha": 0.1}),
    (OURS, 0.7, {"alpha": 0.01}),
    ("TreeBootstrap of " + "many " * 20 + "trees", 0.5, {}),
    ("tree_heuristic_of_last_year_with_better_features", 0.5, {}),
    ("Uniform", 1.0, {}),
]
LONG = results(
    [
        cell(label, task, rate, parameters)
        for task in (SHOP, FILE, "short")
        for label, rate, parameters in POLICIES
    ]
)


def stretched(known, times):
    """Results with so many times the steps."""
    cells = [
        replace(one, steps=np.ceil(one.steps * times).astype(int), curves=one.curves * times)
        for one in known.cells
    ]
    return replace(known, cells=cells)


FIGURES = {
    "three panels": lambda: regret_figure(LONG, LONG.environments),
    "a panel": lambda: regret_figure(LONG, [SHOP]),
    "constants": lambda: constants_figure(LONG, SHOP, label=OURS, others=LONG.labels[2:]),
    "many steps": lambda: regret_figure(stretched(paper(), 1000), ["sports", "adult"]),
    "few steps": lambda: regret_figure(stretched(LONG, 0.003), ["short", SHOP]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_there_is_room_for_curves_and_numbers(name):
    figure = FIGURES[name]()
    renderer = assert_readable(figure)
    panel = figure.bbox.width / min(2, len(figure.axes))
    for axes in figure.axes:
        assert axes.bbox.width > 0.42 * panel
        numbers = [text for text in texts_of(axes) if text in axes.get_xticklabels()]
        assert len(numbers) == len({text.get_text() for text in numbers}) > 1
        boxes = [box_of(text, renderer) for text in numbers]
        for box, next_to in itertools.pairwise(boxes):
            assert box.x1 + 3 < next_to.x0  # pixels, 100 of them an inch


def test_labels_are_wrapped_then_shortened():
    first, *_ = regret_figure(LONG, LONG.environments).axes
    assert labels_of(first) == [
        "LinUCB, alpha=0.1,\nregularization=1.0",
        "LinUCB which our\ndepartmen…roduction",  # without its constant
        "TreeBootstrap of many\nmany many…ny trees",
        "tree_heuristic_of_last_\nyear_with_…r_features",
        "Uniform",
    ]


def test_labels_have_more_room_in_a_single_panel():
    (axes,) = regret_figure(LONG, [SHOP]).axes
    assert "LinUCB, alpha=0.1, regularization=1.0" in labels_of(axes)
    assert f"{OURS}, alpha=0.1" in [text.replace("\n", " ") for text in labels_of(axes)]


def test_constants_that_are_compared_are_never_left_out():
    (axes,) = constants_figure(LONG, SHOP, label=OURS, others=[]).axes
    found = [text.replace("\n", " ") for text in labels_of(axes)]
    assert found == [f"{OURS}, alpha=0.01", f"{OURS}, alpha=0.1"]


def test_constants_that_are_the_same_everywhere_are_not_compared():
    cells = [cell("LinUCB", "adult", 0.5, {"alpha": a, "regularization": 1.0}) for a in (1, 2)]
    (axes,) = constants_figure(results(cells), others=[]).axes
    assert labels_of(axes) == ["LinUCB, alpha=1", "LinUCB, alpha=2"]


def test_titles_are_wrapped():
    titles = [axes.get_title(loc="left") for axes in regret_figure(LONG, LONG.environments).axes]
    assert titles == [
        "customers of the web shop in the first half\nof 2024, those who returned left out",
        "a_file_with_a_long_name_that_has_no_space_\n2024_03_17",
        "short",
    ]


@pytest.mark.parametrize("width", [0.01, 0.5, 1.0, 2.0])
def test_broken_and_shortened_texts_are_no_wider(width):
    text = "word " * 10 + "a_name-with/parts.of_it" * 3 + "x" * 50
    lines = broken(text, width, LABEL_FONT)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    three = broken(text, width, LABEL_FONT, most=3)
    assert three[:2] == lines[:2]
    assert len(three) == 3
    for line in (*lines, *three, shortened(text, width, LABEL_FONT)):
        assert LABEL_FONT.width(line) <= width or len(line) <= 2


def test_short_texts_stay_as_they_are():
    assert shortened("alpha=0.1", 1.0, LABEL_FONT) == "alpha=0.1"
    assert broken("alpha=0.1", 1.0, LABEL_FONT) == ["alpha=0.1"]
