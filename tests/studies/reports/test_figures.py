"""Figures: what is in them, that they can be read, and that they are the same each time."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from scipy import integrate, stats

from banditree.environments.sports_ads import CLICKS
from banditree.studies.reports.click_trees import click_trees_figure
from banditree.studies.reports.figure_style import STYLES, style_of
from banditree.studies.reports.figures import (
    constants_figure,
    regret_figure,
    regret_lines,
    save_figure,
)
from banditree.studies.reports.placing import spread
from banditree.studies.reports.theorem import CASES, TwoArms, choice_difference, theorem_figure
from studies.reports.drawn import assert_readable, bands_of, labels_of, lines_of, texts_of
from studies.reports.made_up import PAPER, cell, everywhere, exact, paper, results

DATA_SETS = ["adult", "shuttle", "covertype", "census"]
# All policies of a full study end close to each other: the labels must make room.
CROWDED = results(
    [
        cell(label, task, 0.5 + 0.001 * i, {"alpha": 0.1 * i}, noise=0.1)
        for task in PAPER
        for i, label in enumerate([*STYLES, "another policy", "one more"])
    ]
)
FIGURES = {
    "all": lambda: regret_figure(paper(), list(PAPER)),
    "sports": lambda: regret_figure(paper(), ["sports"]),
    "data sets": lambda: regret_figure(paper(), DATA_SETS, relative=True),
    "crowded": lambda: regret_figure(CROWDED, ["sports", "adult", "shuttle"]),
    "crowded panel": lambda: regret_figure(CROWDED, ["sports"]),
    "constants": lambda: constants_figure(paper(), relative=True),
    "golf": click_trees_figure,
    "ads": lambda: click_trees_figure(list(CLICKS)),
    "theorem": theorem_figure,
}


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_overlaps_or_is_cut_off(name):
    assert_readable(FIGURES[name]())


@pytest.mark.parametrize("name", FIGURES)
def test_axes_are_named_and_text_is_large_enough(name):
    figure = FIGURES[name]()
    for axes in figure.axes:
        assert not axes.axison or (axes.get_xlabel() and axes.get_ylabel())
        assert min(text.get_fontsize() for text in texts_of(axes)) >= 8


@pytest.mark.parametrize("name", ["data sets", "ads"])
def test_saved_twice_is_the_same(name, tmp_path, monkeypatch):
    first = save_figure(FIGURES[name](), tmp_path / "first", "figure")
    monkeypatch.setitem(matplotlib.rcParams, "xtick.direction", "in")
    monkeypatch.setitem(matplotlib.rcParams, "svg.hashsalt", None)
    second = save_figure(FIGURES[name](), tmp_path / "second", "figure")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    svg, png = first
    assert ElementTree.parse(svg).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert b"<dc:date>" not in svg.read_bytes()
    assert png.read_bytes().startswith(b"\x89PNG")


def test_settings_and_figures_of_others_stay_as_they_are(monkeypatch):
    monkeypatch.setitem(matplotlib.rcParams, "axes.grid.axis", "x")
    before = dict(matplotlib.rcParams)
    regret_figure(paper(), ["sports"])
    assert dict(matplotlib.rcParams) == before
    script = (
        "import sys, banditree.studies.reports.illustrations\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_without_matplotlib():
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from banditree.errors import InvalidParameterError\n"
        "try:\n    import banditree.studies.reports.{0}\n"
        "except InvalidParameterError as error:\n    print(error)"
    )
    for module in ("figures", "click_trees", "theorem", "illustrations"):
        run = subprocess.run(
            [sys.executable, "-c", script.format(module)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "pip install 'banditree[study]'" in run.stdout


class TestRegret:
    def test_lines_are_means_and_bands_intervals(self):
        figure = regret_figure(results([cell("LinUCB", "shop", 0.5, noise=0.3)]), ["shop"])
        (axes,) = figure.axes
        (line,), (band,) = lines_of(axes), bands_of(axes)
        one = cell("LinUCB", "shop", 0.5, noise=0.3)
        assert line.get_xydata()[0].tolist() == [0, 0]
        assert line.get_xydata()[-1] == pytest.approx([1000, one.mean])
        edges = band.get_paths()[0].vertices
        ends = edges[edges[:, 0] == 1000, 1]
        assert [ends.min(), ends.max()] == pytest.approx(
            [one.mean - one.half_width, one.mean + one.half_width]
        )

    def test_one_seed_has_no_band(self):
        figure = regret_figure(results([cell("LinUCB", "shop", 0.5, seeds=[3])]), ["shop"])
        (axes,) = figure.axes
        assert len(lines_of(axes)) == 1
        assert bands_of(axes) == []

    def test_the_best_constants_are_drawn_and_named(self):
        (axes,) = regret_figure(paper(), ["adult"]).axes
        assert "LinUCB, alpha=0.01" in labels_of(axes)
        assert "BanditForest, depth=2" in labels_of(axes)  # trees=3 is the same everywhere
        assert "TreeBootstrap" in labels_of(axes)
        assert sum("LinUCB" in label for label in labels_of(axes)) == 1

    def test_relative_to_offline_tree(self):
        sports, adult = regret_figure(paper(), ["sports", "adult"], relative=True).axes
        assert adult.get_ylabel() == "Regret beyond OfflineTree (errors)"
        assert sports.get_ylabel() == "Cumulative regret (clicks)"
        assert "OfflineTree" not in labels_of(adult)
        (line, *_) = regret_lines(paper(), "adult", ["TreeBootstrap"], relative=True)
        own, baseline = (paper().best(x, "adult") for x in ("TreeBootstrap", "OfflineTree"))
        assert line.cell.mean == pytest.approx(own.mean - baseline.mean)
        assert lines_of(adult)[0].get_ydata()[-1] == pytest.approx(line.cell.mean)

    def test_absolute_regret_has_offline_tree(self):
        (axes,) = regret_figure(paper(), ["adult"]).axes
        assert "OfflineTree" in labels_of(axes)
        assert axes.get_ylabel() == "Cumulative regret (errors)"

    def test_seeds_without_baseline_are_left_out(self):
        cells = [cell("LinUCB", "adult", 0.5), cell("OfflineTree", "adult", 0.2, seeds=[8, 9])]
        (axes,) = regret_figure(results(cells), ["adult"], relative=True).axes
        assert labels_of(axes) == []

    def test_only_some_policies(self):
        (axes,) = regret_figure(paper(), ["sports"], labels=["LinUCB", "Uniform"]).axes
        assert labels_of(axes) == ["LinUCB, alpha=0.01", "Uniform"]

    def test_labels_are_in_the_order_of_the_curves(self):
        (axes,) = regret_figure(paper(), ["shuttle"]).axes
        places = {
            re.split(",| ↑", text.get_text())[0]: text.get_position()[1] for text in axes.texts
        }
        found = sorted(places, key=places.get)
        assert found == sorted(places, key=lambda label: paper().best(label, "shuttle").mean)

    def test_what_is_ten_times_worse_leaves_the_frame(self):
        cells = [
            exact("LinUCB", "shop", {0: 20, 1: 22}),
            exact("Greedy", "shop", {0: 200, 1: 202}),
            exact("OfflineTree", "shop", {0: 1, 1: 1}),
            exact("Uniform", "shop", {0: 900, 1: 904}),
        ]
        (axes,) = regret_figure(results(cells), ["shop"]).axes
        assert 201 < axes.get_ylim()[1] < 300
        assert labels_of(axes) == ["LinUCB", "Greedy", "OfflineTree", "Uniform ↑ 902"]
        assert [line.get_clip_on() for line in lines_of(axes)] == [False, False, False, True]
        assert axes.texts[-1].get_position()[1] >= 1

    def test_what_is_beyond_offline_tree_by_little_keeps_all_in_the_frame(self):
        cells = [
            exact("LinUCB", "shop", {0: 101, 1: 101}),
            exact("Greedy", "shop", {0: 150, 1: 150}),
            exact("Uniform", "shop", {0: 300, 1: 300}),
            exact("OfflineTree", "shop", {0: 100, 1: 100}),
        ]
        (axes,) = regret_figure(results(cells), ["shop"], relative=True).axes
        assert labels_of(axes) == ["LinUCB", "Greedy", "Uniform ↑ 200"]

    def test_a_policy_that_was_not_run_in_an_environment(self):
        (axes,) = regret_figure(paper(everywhere("LinUCB", None)), ["sports"]).axes
        assert not any("LinUCB" in label for label in labels_of(axes))

    def test_names_are_shown_as_they_are(self, tmp_path):
        odd = results([cell("a $x^$ & <b>", "my_$shop$ <&>", 0.5)])
        figure = regret_figure(odd, ["my_$shop$ <&>"])
        (axes,) = figure.axes
        assert labels_of(axes) == ["a $x^$ & <b>"]
        svg, _ = save_figure(figure, tmp_path, "odd")
        ElementTree.parse(svg)

    def test_what_falls_below_zero_is_seen(self):
        cells = [cell("LinUCB", "adult", 0.5), cell("OfflineTree", "adult", 0.6)]
        (axes,) = regret_figure(results(cells), ["adult"], relative=True).axes
        assert axes.get_ylim()[0] < -100
        (axes,) = regret_figure(results(cells), ["adult"]).axes
        assert axes.get_ylim()[0] == 0


class TestLimits:
    """Of the axis of regret, if two seeds make bands that are far wider than all else."""

    CELLS = (
        exact("LinUCB", "adult", {0: 150, 1: 250}),
        exact("Uniform", "adult", {0: 190, 1: 200}),
        exact("OfflineTree", "adult", {0: 95, 1: 105}),
    )

    def test_are_those_of_the_lines(self):
        (axes,) = regret_figure(results(self.CELLS), ["adult"]).axes
        low, high = axes.get_ylim()
        assert low == 0
        assert 200 * 1.5 <= high < 200 * 1.6
        assert min(path.vertices[:, 1].min() for b in bands_of(axes) for path in b.get_paths()) == 0
        assert all(band.get_clip_on() for band in bands_of(axes))

    def test_of_relative_regret(self):
        (axes,) = regret_figure(results(self.CELLS), ["adult"], relative=True).axes
        low, high = axes.get_ylim()
        assert low < -10
        assert 100 * 1.5 <= high - low < 100 * 1.7
        assert min(band.get_paths()[0].vertices[:, 1].min() for band in bands_of(axes)) < -400

    def test_show_bands_that_are_not_wide(self):
        one = exact("LinUCB", "shop", dict(enumerate([90, 100, 110, 100, 100])))
        (axes,) = regret_figure(results([one]), ["shop"]).axes
        assert axes.get_ylim() == pytest.approx((0, 1.05 * (one.mean + one.half_width)))

    def test_without_regret(self):
        (axes,) = regret_figure(results([exact("LinUCB", "shop", {0: 0, 1: 0})]), ["shop"]).axes
        assert axes.get_ylim() == (0, 1)


class TestStyles:
    def test_all_differ_in_colour_and_in_marker(self):
        for part in ("colour", "marker"):
            assert len({getattr(style, part) for style in STYLES.values()}) == len(STYLES)

    def test_of_other_labels_differ_too(self):
        labels = ["LinUCB", *(f"policy {i}" for i in range(30))]
        styles = {style_of(label, labels) for label in labels}
        assert len(styles) == len(labels)

    def test_is_the_same_in_all_figures(self):
        colours = set()
        for figure in (FIGURES["sports"](), FIGURES["data sets"](), FIGURES["constants"]()):
            for axes in figure.axes:
                keys = [line for line in axes.lines if len(line.get_xdata()) == 1]
                named = dict(zip(labels_of(axes), keys, strict=True))
                colours.add(named["TreeHeuristic"].get_color())
        assert colours == {STYLES["TreeHeuristic"].colour}


class TestConstants:
    def test_every_constant_has_its_shade(self):
        (axes,) = constants_figure(paper()).axes
        found = labels_of(axes)
        alphas = [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]
        assert found[:6] == [f"LinUCB, alpha={alpha}" for alpha in alphas]
        assert found[6:] == ["TreeBootstrap", "TreeHeuristic"]
        shades = [matplotlib.colors.to_rgb(line.get_color()) for line in lines_of(axes)[:6]]
        brightness = [sum(shade) for shade in shades]
        assert brightness == sorted(brightness, reverse=True)
        assert len(set(brightness)) == 6
        assert len(bands_of(axes)) == 2

    def test_relative(self):
        (axes,) = constants_figure(paper(), relative=True).axes
        assert axes.get_ylabel() == "Regret beyond OfflineTree (errors)"
        assert lines_of(axes)[2].get_ydata()[-1] == pytest.approx(140, abs=5)

    def test_two_constants(self):
        (axes,) = constants_figure(paper(alphas={0.1: 1.0, 10.0: 2.0})).axes
        assert labels_of(axes)[:2] == ["LinUCB, alpha=0.1", "LinUCB, alpha=10.0"]


class TestSpread:
    @pytest.mark.parametrize(
        ("wanted", "places"),
        [
            ([], []),
            ([0.3], [0.3]),
            ([0.2, 0.8], [0.2, 0.8]),
            ([0.5, 0.5], [0.45, 0.55]),
            ([1.0, 1.0, 1.0], [0.8, 0.9, 1.0]),
            ([0.0, 0.0], [0.0, 0.1]),
            ([0.9, 0.1, 0.9], [0.85, 0.1, 0.95]),
            ([0.5, 0.42], [0.51, 0.41]),
        ],
    )
    def test_places(self, wanted, places):
        assert spread(wanted, 0.1) == pytest.approx(places)

    def test_any(self):
        rng = np.random.default_rng(0)
        for _ in range(200):
            wanted = rng.random(rng.integers(1, 10)) ** 3
            places = np.array(spread(wanted.tolist(), 0.1))
            assert (np.diff(np.sort(places)) > 0.1 - 1e-9).all()
            assert (np.diff(places[np.argsort(wanted)]) > 0).all()
            assert places.min() > -1e-9
            assert places.max() < 1 + 1e-9


class TestTrees:
    @pytest.mark.parametrize("ad", CLICKS)
    def test_all_probabilities_and_answers_are_written(self, ad):
        (axes,) = click_trees_figure([ad]).axes

        def leaves(node):
            return [node] if isinstance(node, float) else leaves(node[1]) + leaves(node[2])

        found = labels_of(axes)
        written = [label for label in found if label.endswith("%")]
        assert written == [f"{p:.0%}" for p in leaves(CLICKS[ad])]
        assert found.count("yes") == found.count("no") == len(written) - 1

    def test_yes_goes_left(self):
        (axes,) = click_trees_figure(["golf"]).axes
        x = {text.get_text(): text.get_position()[0] for text in axes.texts}
        assert x["45%"] < x["30%"] < x["12%"] < x["9%"] < x["3%"]


class TestTheorem:
    @pytest.mark.parametrize("arms", CASES, ids=str)
    def test_difference_by_brute_force(self, arms):
        for n in (10, 30):
            n_second = n * arms.ratio
            first = stats.binom.pmf(np.arange(n + 1), n, arms.shares[0])
            second = stats.binom.pmf(np.arange(n_second + 1), n_second, arms.shares[1])
            bootstrap = 0.0
            for i, j in itertools.product(range(n + 1), range(n_second + 1)):
                weight = (i * arms.ratio > j) + 0.5 * (i * arms.ratio == j)
                bootstrap += weight * first[i] * second[j]
            one, other = (
                stats.beta(round(p * m), m - round(p * m))
                for p, m in zip(arms.shares, (n, n_second), strict=True)
            )
            thompson, _ = integrate.quad(lambda x, a, b: a.pdf(x) * b.cdf(x), 0, 1, (one, other))
            found = choice_difference(arms, n)
            assert found == pytest.approx(abs(bootstrap - thompson), abs=1e-7)

    def test_equal_arms_differ_by_the_root(self):
        arms = TwoArms((0.1, 0.1), 4)
        ratio = choice_difference(arms, 2500) / choice_difference(arms, 10_000)
        assert ratio == pytest.approx(2, rel=0.02)

    def test_different_arms_differ_by_far_less(self):
        assert choice_difference(TwoArms((0.1, 0.2), 1), 1000) < 1e-8

    def test_axes_are_logarithmic(self):
        (axes,) = theorem_figure().axes
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        named = [text.get_text() for text in axes.get_legend().get_texts()]
        assert named == [str(arms) for arms in CASES]
