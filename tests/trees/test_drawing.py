import os
import subprocess
import sys
import time
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditree as bt
from banditree.errors import InvalidParameterError
from banditree.trees.drawing import tree_to_svg, tree_to_text
from banditree.trees.drawing.style import colour, contrast, ink_on
from banditree.trees.drawing.wording import (
    Wording,
    columns,
    number,
    text_within,
    threshold_labels,
)

SVG = "{http://www.w3.org/2000/svg}"
CITIES = ["Berlin", "Paris", *(f"Town {i}" for i in range(40))]


def leaf(n: int = 10, mean: float = 0.5) -> dict[str, Any]:
    return {"n": n, "weight": float(n), "mean": mean, "cost": n * mean * (1 - mean)}


def split(feature: str | int, left: Any, right: Any, missing: str = "left", **how: Any) -> Any:
    n = left["n"] + right["n"]
    mean = (left["n"] * left["mean"] + right["n"] * right["mean"]) / n
    where = {"gain": 1.25, "feature": feature, "missing": missing, "left": left, "right": right}
    return leaf(n, mean) | where | how


def boolean(feature: str | int, no: Any, yes: Any, missing: str = "left") -> Any:
    return split(feature, no, yes, missing, categories={"left": [False], "right": [True]})


def cities(left: list[Any], right: list[Any], missing: str = "left") -> Any:
    return split("city", leaf(), leaf(), missing, categories={"left": left, "right": right})


def golf() -> Any:
    rich = boolean(
        "over_40", leaf(500, 0.12), boolean("male", leaf(250, 0.3), leaf(250, 0.45)), "right"
    )
    return boolean("high_income", boolean("over_40", leaf(500, 0.03), leaf(500, 0.09)), rich)


def chain(depth: int) -> Any:
    root = leaf()
    for level in range(depth):
        pair = (root, leaf(7)) if level % 3 else (leaf(7), root)
        root = split(f"x{level}", *pair, threshold=level + 0.5)
    return root


def slope(depth: int) -> Any:
    """A chain that goes to the right only: the widest of all."""
    root = leaf()
    for level in range(depth):
        root = split(f"x{level}", leaf(7), root, threshold=level + 0.5)
    return root


def balanced(depth: int) -> Any:
    row = [leaf(5, i / 2**depth) for i in range(2**depth)]
    while len(row) > 1:
        row = [
            split("age", a, b, threshold=a["mean"])
            for a, b in zip(row[::2], row[1::2], strict=True)
        ]
    return row[0]


def branches(root: Any) -> list[str]:
    """The rules of the two branches of a tree with one split."""
    return [line[3:].rpartition(": ")[0] for line in tree_to_text(root).splitlines()[1:]]


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in parse(svg).iter(f"{SVG}text")]


def titles(svg: str) -> list[str]:
    return [title.text or "" for title in parse(svg).iter(f"{SVG}title")]


def rectangles(svg: str, kind: str = "box") -> list[tuple[float, float, float, float]]:
    found = [rect for rect in parse(svg).iter(f"{SVG}rect") if rect.get("class") == kind]
    return [
        tuple(float(rect.get(k, "nan")) for k in ("x", "y", "width", "height")) for rect in found
    ]


def assert_apart(rects: list[tuple[float, float, float, float]]) -> None:
    """Rectangles with the same top do not touch, and none reaches down to the next top."""
    tops = sorted({y for _, y, _, _ in rects})
    for top, below in pairwise([*tops, float("inf")]):
        level = sorted(rect for rect in rects if rect[1] == top)
        assert all(a[0] + a[2] <= b[0] for a, b in pairwise(level))
        assert all(y + height < below for _, y, _, height in level)


def assert_inside(svg: str) -> None:
    root = parse(svg)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    for x, y, w, h in rectangles(svg):
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height


def test_text_of_a_small_tree():
    assert tree_to_text(golf()) == "\n".join(
        [
            "mean 0.1537, n 2000",
            "├─ not high_income (or missing): mean 0.06, n 1000",
            "│  ├─ not over_40 (or missing): mean 0.03, n 500",
            "│  └─ over_40: mean 0.09, n 500",
            "└─ high_income: mean 0.2475, n 1000",
            "   ├─ not over_40: mean 0.12, n 500",
            "   └─ over_40 (or missing): mean 0.375, n 500",
            "      ├─ not male (or missing): mean 0.3, n 250",
            "      └─ male: mean 0.45, n 250",
        ]
    )


def test_text_of_a_leaf():
    assert tree_to_text(leaf(12, -1.25)) == "mean -1.25, n 12"


@pytest.mark.parametrize(
    ("root", "left", "right"),
    [
        (split("age", leaf(), leaf(), threshold=31.5), "age ≤ 31.5 (or missing)", "age > 31.5"),
        (
            split(3, leaf(), leaf(), "right", threshold=2.0),
            "feature 3 ≤ 2",
            "feature 3 > 2 (or missing)",
        ),
        (split("age", leaf(), leaf(), "right", threshold=None), "age is present", "age is missing"),
        (boolean(3, leaf(), leaf()), "feature 3 is false (or missing)", "feature 3 is true"),
        (
            cities(["Berlin", "Paris"], ["Rome"]),
            "city in Berlin, Paris (or missing)",
            "city is Rome",
        ),
        (cities([], ["Rome", "Oslo"]), "city is missing", "city in Rome, Oslo"),
        (cities([True], [], "right"), "city is true", "city is missing"),
        (cities([False, True], [], "right"), "city in false, true", "city is missing"),
        (cities([1, 2], [2.5], "right"), "city in 1, 2", "city is 2.5 (or missing)"),
        (cities(["", "a, b"], [" c"]), 'city in "", "a, b" (or missing)', 'city is " c"'),
        (cities(["a\nb\x00"], ["\ud800"]), "city is a b (or missing)", 'city is ""'),
    ],
)
def test_rules_in_words(root, left, right):
    assert branches(root) == [left, right]


def test_long_lists_are_shortened_in_text():
    assert branches(cities(CITIES, ["Rome"]))[0] == (
        "city in Berlin, Paris, Town 0, Town 1, Town 2, Town 3, +36 more (or missing)"
    )


def test_thresholds_that_differ_are_told_apart():
    close = split("x", leaf(), leaf(), threshold=0.1 + 0.2)
    root = split("x", close, leaf(), threshold=0.3)
    assert "x ≤ 0.30000000000000004" in tree_to_text(root)
    assert "x ≤ 0.3 " in tree_to_text(root)
    assert "x ≤ 0.3 " in tree_to_text(close)


@given(st.sets(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
def test_threshold_labels_keep_the_order(thresholds):
    labels = threshold_labels(thresholds)
    read = [float(labels[threshold]) for threshold in sorted(thresholds)]
    assert all(low < high for low, high in pairwise(read))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.30004, "0.3"),
        (0.000123, "0.000123"),
        (1234567.5, "1234568"),
        (99999.7, "100000"),
        (1.5e-9, "1.5e-9"),
        (-2e300, "-2e300"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


@given(st.text(), st.integers(5, 40))
def test_shortened_text_fits(text, room):
    assert columns(text_within(text, room)) <= room
    assert columns(text) > room or text_within(text, room) == text


def test_every_node_has_a_box_and_a_tooltip():
    svg = tree_to_svg(golf())
    assert len(rectangles(svg)) == 9
    assert len(titles(svg)) == 9
    assert_apart(rectangles(svg))
    assert_inside(svg)


def test_svg_texts_of_a_small_tree():
    shown = texts(tree_to_svg(golf()))
    assert shown.count("over_40") == 2
    assert shown.count("n = 500") == 3
    assert shown[:4] == ["yes", "yes or missing", "yes", "no or missing"]
    assert {"high_income", "mean 0.1537 · n = 2000", "0.45", "n = 250"} <= set(shown)


def test_tooltips_have_everything():
    root = split("age", leaf(5, 0.1), leaf(15, 0.2), threshold=1 / 3) | {"weight": 21.5}
    root_title, left, _ = titles(tree_to_svg(root))
    assert root_title == (
        "age ≤ 0.3333333333333333?\nn 20, mean 0.175, cost 2.8875, weight 21.5, gain 1.25"
    )
    assert left == "age ≤ 0.3333333333333333 (or missing)\nn 5, mean 0.1, cost 0.45"


def test_the_shorter_list_is_asked_for():
    svg = tree_to_svg(cities(CITIES, ["Rome"], "right"))
    assert texts(svg)[:3] == ["yes or missing", "no", "city is Rome"]


def test_long_lists_are_shortened_in_svg_but_not_in_the_tooltip():
    svg = tree_to_svg(cities(CITIES, [*"abcdefghijklmnopqrstuvwxyz"] * 2))
    assert {"city in", "Berlin, Paris, +40 more"} <= set(texts(svg))
    assert all(city in titles(svg)[0] for city in CITIES)


def test_long_names_are_shortened_in_svg_but_not_in_the_tooltip():
    name = "household_income_before_tax_in_the_year_2020"
    svg = tree_to_svg(split(name, leaf(), leaf(), threshold=1234567.5))
    assert {"household_inco…the_year_2020", "≤ 1234567.5"} <= set(texts(svg))
    assert name in titles(svg)[0]


def test_names_are_escaped_and_control_characters_dropped():
    svg = tree_to_svg(split('<b>&"\x00\x1b\ufffe', leaf(), leaf(), threshold=1.0))
    assert '<b>&" ≤ 1' in texts(svg)


def test_unicode_names_get_wide_boxes():
    narrow = tree_to_svg(split("x" * 10, leaf(), leaf(), threshold=1.0))
    wide = tree_to_svg(split("国" * 10, leaf(), leaf(), threshold=1.0))
    assert "国" * 10 + " ≤ 1" in texts(wide)
    assert rectangles(wide)[0][2] > rectangles(narrow)[0][2]


def test_a_leaf_alone():
    svg = tree_to_svg(leaf(12, -0.25))
    assert texts(svg) == ["-0.25", "n = 12"]
    assert_inside(svg)


@pytest.mark.parametrize("mean", [float("nan"), float("inf"), -1.7e308, 1.7e308])
def test_extreme_means_are_drawn(mean):
    svg = tree_to_svg(
        split("x", leaf() | {"mean": mean}, leaf() | {"mean": 1.7e308}, threshold=0.0)
    )
    assert number(mean) in texts(svg)


def test_max_depth_collapses_subtrees():
    svg = tree_to_svg(balanced(6), max_depth=2)
    assert len(rectangles(svg)) == 7
    assert texts(svg).count("… 16 leaves") == 4
    assert number(balanced(6)["left"]["left"]["mean"]) in texts(svg)


def test_max_depth_zero_draws_one_box_and_a_deep_one_everything():
    assert texts(tree_to_svg(golf(), max_depth=0)) == ["0.1537", "n = 2000", "… 5 leaves"]
    assert tree_to_svg(golf(), max_depth=3) == tree_to_svg(golf())


@pytest.mark.parametrize("draw", [tree_to_svg, tree_to_text])
@pytest.mark.parametrize(
    ("limit", "message"), [({"max_depth": -1}, "from 0 up"), ({"max_leaves": 0}, "from 1 up")]
)
def test_wrong_limits_are_refused(draw, limit, message):
    with pytest.raises(InvalidParameterError, match=message):
        draw(golf(), **limit)


def test_a_large_tree_is_folded_to_a_readable_size():
    root = balanced(8)  # 256 leaves
    svg = tree_to_svg(root, max_leaves=16)
    assert len(rectangles(svg)) == 2 * 16 - 1
    assert texts(svg).count("… 16 leaves") == 16
    assert texts(svg).count("n = 80") == 16
    assert 20 < len(rectangles(tree_to_svg(root))) <= 2 * 16 - 1
    lines = tree_to_text(root).splitlines()
    assert len(lines) == 2 * 32 - 1
    assert sum(line.endswith(", n 40 … 8 leaves") for line in lines) == 32
    assert len(rectangles(tree_to_svg(root, max_leaves=None))) == 511
    assert len(tree_to_text(root, max_leaves=None).splitlines()) == 511


def renamed(node: Any, rng: np.random.Generator, name: str) -> Any:
    """Return a tree with long names, long lists and large counts in all its nodes."""
    node = node | {"n": 1_234_567, "mean": 0.00012345}
    if "left" not in node:
        return node
    node |= {side: renamed(node[side], rng, name) for side in ("left", "right")}
    node["feature"] = f"{name * 20} {rng.integers(100)}"
    if rng.random() < 0.5:
        del node["threshold"]
        values = [f"{name * 10} {i}" for i in range(20)]
        node["categories"] = {"left": values[:10], "right": values[10:]}
    return node


@pytest.mark.parametrize("name", ["city ", "市区町村", "x"])
@pytest.mark.parametrize("root", [chain(80), slope(23), balanced(6)], ids=["80", "slope", "full"])
def test_drawings_fit_on_a_screen(root, name):
    root = renamed(root, np.random.default_rng(1), name)
    svg, text = tree_to_svg(root), tree_to_text(root)
    assert float(parse(svg).get("width", "nan")) <= 1400
    assert max(map(columns, text.splitlines())) <= 120
    folded = [line for line in text.splitlines() if line.endswith(" leaves")]
    assert folded
    assert all(": mean 0.0001234, n 1234567 … " in line for line in folded)
    assert any(shown.startswith("… ") for shown in texts(svg))
    assert len(rectangles(svg)) >= 2 * 5 - 1
    wide = tree_to_svg(root, max_leaves=16)
    assert len(rectangles(wide)) == 2 * 16 - 1


def test_a_chain_that_fits_is_drawn_in_full():
    assert len(rectangles(tree_to_svg(chain(8)))) == 2 * 8 + 1
    assert len(tree_to_text(chain(12)).splitlines()) == 2 * 12 + 1


def test_max_depth_folds_text():
    assert tree_to_text(golf(), max_depth=1).splitlines() == [
        "mean 0.1537, n 2000",
        "├─ not high_income (or missing): mean 0.06, n 1000 … 2 leaves",
        "└─ high_income: mean 0.2475, n 1000 … 3 leaves",
    ]


def test_what_explains_most_is_shown():
    weak = split("weak", leaf(), split("weaker", leaf(), leaf(), threshold=1.0), threshold=1.0)
    # Its own gain is small, but not that of the split below it.
    hidden = split("strong", leaf(), leaf(), threshold=1.0, gain=9.0)
    xor = split("xor", leaf(), hidden, threshold=1.0, gain=0.1)
    text = tree_to_text(split("top", weak, xor, threshold=1.0), max_leaves=4)
    assert "strong ≤ 1" in text
    assert "xor ≤ 1" in text
    assert "weak" not in text
    assert "n 30 … 3 leaves" in text


def test_as_many_leaves_are_shown_as_wanted():
    for most in range(1, 8):
        svg = tree_to_svg(golf(), max_leaves=most)
        assert len(rectangles(svg)) == 2 * min(most, 5) - 1
    assert tree_to_text(golf(), max_leaves=1) == "mean 0.1537, n 2000 … 5 leaves"


@pytest.mark.parametrize("depth", [12, 5000])
def test_lopsided_trees(depth):
    root = chain(depth)
    svg = tree_to_svg(root, max_leaves=None)
    assert len(rectangles(svg)) == 2 * depth + 1
    assert_apart(rectangles(svg)[:500])
    lines = tree_to_text(root, max_leaves=None).splitlines()
    assert len(lines) == 2 * depth + 1
    assert max(map(len, lines)) < 250


def test_lines_far_down_state_their_depth():
    lines = tree_to_text(chain(60), max_leaves=None).splitlines()
    assert sum("(depth 60)" in line for line in lines) == 2
    assert sum("(depth " in line for line in lines) == 2 * 20


def test_large_trees_are_quick():
    root = balanced(11)
    start = time.process_time()
    svg, text = tree_to_svg(root, max_leaves=None), tree_to_text(root, max_leaves=None)
    assert time.process_time() - start < 2
    assert len(rectangles(svg)) == len(text.splitlines()) == 4095


def test_texts_are_legible_on_every_colour():
    fills = [colour(i / 100) for i in range(101)]
    assert all(contrast(ink_on(fill), fill) >= 4.5 for fill in fills)
    lightness = [contrast(fill, "#000000") for fill in fills]
    assert lightness == sorted(lightness, reverse=True)


def test_svg_is_self_contained():
    svg = tree_to_svg(golf())
    assert svg.count("http") == 1  # the name space
    assert "<script" not in svg
    assert "<style" not in svg
    assert 'class="paper"' in svg


NAMES = st.text(max_size=40) | st.integers(0, 99)
NUMBERS = st.floats(-1e6, 1e6)
CATEGORIES = st.lists(st.text(max_size=30), max_size=8) | st.lists(st.booleans(), max_size=1)
LEAVES = st.builds(leaf, st.integers(1, 10**6), NUMBERS)
MISSING = st.sampled_from(["left", "right"])


def inner_nodes(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    numeric = st.builds(split, NAMES, children, children, MISSING, threshold=st.none() | NUMBERS)
    lists = st.fixed_dictionaries({"left": CATEGORIES, "right": CATEGORIES})
    return numeric | st.builds(split, NAMES, children, children, MISSING, categories=lists)


TREES = st.recursive(LEAVES, inner_nodes, max_leaves=30)


def count(root: Any, *, leaves_only: bool) -> int:
    if "left" not in root:
        return 1
    below = sum(count(root[side], leaves_only=leaves_only) for side in ("left", "right"))
    return below + (not leaves_only)


@settings(deadline=None)
@given(TREES)
def test_random_trees_are_drawn_completely_and_without_overlap(root):
    svg = tree_to_svg(root, max_leaves=None)
    assert len(rectangles(svg)) == count(root, leaves_only=False)
    assert len(parse(svg).findall(f"{SVG}g[@class='leaf']")) == count(root, leaves_only=True)
    assert_apart(rectangles(svg))
    assert_apart(rectangles(svg, "gap"))
    assert_inside(svg)


@settings(deadline=None)
@given(TREES)
def test_yes_is_always_on_the_left(root):
    svg = parse(tree_to_svg(root, max_leaves=None))
    answers = svg.find(f"{SVG}g[@class='answers']")
    words = ["".join(text.itertext()).split()[0] for text in answers.iter(f"{SVG}text")]
    places = [float(text.get("x", "nan")) for text in answers.iter(f"{SVG}text")]
    tops = [float(text.get("y", "nan")) for text in answers.iter(f"{SVG}text")]
    for top in set(tops):  # the children of a level stand in pairs
        level = sorted(
            (x, word) for x, y, word in zip(places, tops, words, strict=True) if y == top
        )
        assert [word for _, word in level] == ["yes", "no"] * (len(level) // 2)


@settings(deadline=None)
@given(TREES)
def test_random_trees_have_a_line_per_node(root):
    lines = tree_to_text(root, max_leaves=None).splitlines()
    assert len(lines) == count(root, leaves_only=False)
    tree_to_text(root).encode()


@settings(deadline=None)
@given(TREES)
def test_parents_are_centred_over_their_children(root):
    if "left" not in root:
        return
    boxes = rectangles(tree_to_svg(root, max_leaves=None))
    centres = [x + width / 2 for x, _, width, _ in boxes]
    yes = Wording.of(root).question(root).yes
    right = 1 + count(root[yes], leaves_only=False)  # boxes are drawn parents first, yes before no
    assert 2 * centres[0] == pytest.approx(centres[1] + centres[right], abs=0.5)


# ---- how trees show themselves ----


ROWS = [{"age": 20}, {"age": 30}, {"age": 50}, {"age": None}]


def grown() -> list[Any]:
    step_by_step = bt.IncrementalTree()
    step_by_step.learn_many(ROWS, [0, 0, 1, 1])
    return [bt.Tree().fit(ROWS, [0, 0, 1, 1]), step_by_step]


@pytest.mark.parametrize("tree", grown(), ids=repr)
def test_a_tree_prints_as_a_drawing(tree):
    assert str(tree) == "\n".join(
        ["mean 0.5, n 4", "├─ age ≤ 40: mean 0, n 2", "└─ age > 40 (or missing): mean 1, n 2"]
    )
    assert repr(tree).endswith("Tree()")


@pytest.mark.parametrize("tree", grown(), ids=repr)
def test_a_tree_is_a_picture_in_a_notebook(tree):
    root = bt.Tree().fit(ROWS, [0, 0, 1, 1]).to_dict()
    assert tree._repr_svg_() == tree_to_svg(root)
    html = parse(tree._repr_html_())
    assert html.tag == "div"
    assert [child.tag for child in html] == [f"{SVG}svg"]


@pytest.mark.parametrize("tree", [bt.Tree(), bt.IncrementalTree()], ids=repr)
def test_a_tree_that_has_not_grown_shows_what_it_is(tree):
    assert str(tree) == repr(tree)
    assert tree._repr_svg_() is None
    assert tree._repr_html_() is None


def test_methods_pass_the_limits_on():
    tree = bt.Tree().fit([[i] for i in range(100)], [i % 7 for i in range(100)])
    root = tree.to_dict()
    assert tree.to_text() == tree_to_text(root) == str(tree)
    assert tree.to_text(max_leaves=None) == tree_to_text(root, max_leaves=None) != str(tree)
    assert tree.to_text(max_depth=2) == tree_to_text(root, max_depth=2)
    assert tree.to_svg() == tree_to_svg(root)
    assert tree.to_svg(max_leaves=3) == tree_to_svg(root, max_leaves=3) != tree.to_svg()


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("ascii", ["|- größe <= 40: ", "`- größe > 40 ("]),
        ("latin-1", ["|- größe <= 40: ", "`- größe > 40 ("]),
        ("cp437", ["├─ größe ≤ 40: ", "└─ größe > 40 ("]),
        ("utf-8", ["├─ größe ≤ 40: ", "└─ größe > 40 ("]),
        (None, ["├─ größe ≤ 40: ", "└─ größe > 40 ("]),
        ("no such encoding", ["├─ größe ≤ 40: ", "└─ größe > 40 ("]),
    ],
)
def test_a_terminal_gets_the_letters_that_it_has(monkeypatch, encoding, shown):
    tree = bt.Tree().fit([{"größe": row["age"]} for row in ROWS], [0, 0, 1, 1])
    monkeypatch.setattr("sys.stdout", SimpleNamespace(encoding=encoding))
    lines = str(tree).splitlines()[1:]
    if encoding == "ascii":
        shown = [line.replace("größe", r"gr\xf6\xdfe") for line in shown]
    assert all(line.startswith(start) for line, start in zip(lines, shown, strict=True))
    assert tree.to_text().isascii() is False  # what is written to a file does not depend on it


def test_printing_a_tree_never_raises():
    script = "import banditree as bt; print(bt.Tree().fit([['國'], ['a'], ['b']], [0, 1, 1]))"
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, check=False)
    assert run.stderr == b""
    assert run.stdout.splitlines()[1] == rb"|- feature 0 is \u570b: mean 0, n 1"


def test_whole_numbers_too_long_to_be_spelt_are_drawn():
    contexts = [{"id": value} for value in (10**5000, 1, 2, 10**5000, 1, 2)]
    tree = bt.Tree(categorical=["id"]).fit(contexts, [1, 0, 0, 1, 0, 0])
    assert "a number of 16,610 bits" in str(tree)
    assert "a number of 16,610 bits" in tree.to_svg()
    assert "a number of 16,610 bits" in tree.rule(contexts[0])
