"""The report: whole, self-contained, honest about what is missing, the same each time."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from banditree.environments import Description
from banditree.studies.reports import regret_table, summary, write_report
from banditree.studies.reports.claims import judge
from banditree.studies.reports.figure_style import OTHER_COLOURS, PAPER, SHADES, STYLES
from banditree.studies.reports.illustrations import illustrations
from banditree.studies.reports.inlined_svg import Colours, darkened, inlined
from banditree.studies.reports.markdown import plain
from banditree.studies.reports.tables import facts, regret_rows
from banditree.studies.reports.theorem import CASES
from studies.reports.made_up import cell, everywhere, full_paper, paper, results, small

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
ODD = 'shop <b> & "co" | _x_'


def parsed(page):
    """The page as XML: this fails unless each element is closed and each sign escaped."""
    return ElementTree.fromstring(page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The paper's report, written twice."""
    folders = [tmp_path_factory.mktemp("report") for _ in range(2)]
    shown = full_paper()
    return [write_report(shown, folder) for folder in folders]


@pytest.fixture(scope="module")
def report(reports):
    return reports[0]


@pytest.fixture(scope="module")
def root(report):
    return parsed(report)


def test_all_files_are_there(report):
    assert report.name == "report.html"
    figures = {path.name for path in (report.parent / "figures").iterdir()}
    names = [
        "regret",
        "figure-1-golf",
        "figure-1-all-ads",
        "figure-2-sports",
        "figure-3-data-sets",
        "figure-4-adult",
        "theorem-1",
    ]
    assert figures == {f"{name}.{kind}" for name in names for kind in ("svg", "png")}
    assert {path.name for path in report.parent.iterdir()} == {
        "figures",
        "report.html",
        "report.md",
    }


def test_the_same_results_give_the_same_bytes(reports):
    first, second = (
        {
            path.relative_to(page.parent): path.read_bytes()
            for path in page.parent.rglob("*")
            if path.is_file()
        }
        for page in reports
    )
    assert len(first) == 16
    assert first == second


def test_the_page_needs_nothing_else(root):
    for element in root.iter():
        for name, value in element.attrib.items():
            if name in {"src", "href", LINK}:
                assert value.startswith("#"), (element.tag, value)
    style = root.find("head/style").text
    assert "url(" not in style
    assert "@import" not in style
    assert {element.tag for element in root.iter()} & {"script", "link", "img", "iframe"} == set()


def test_ids_differ_and_links_find_them(root):
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    targets = {
        value[1:]
        for element in root.iter()
        for name, value in element.attrib.items()
        if name in {"href", LINK}
    }
    for element in root.iter():
        for value in element.attrib.values():
            targets |= set(re.findall(r"url\(#([^)]*)\)", value))
    assert len(targets) > 20
    assert targets <= set(ids)


def test_figures_have_words_for_those_who_do_not_see_them(root):
    figures = root.findall(".//figure")
    assert len(figures) == 7
    for figure in figures:
        svg = figure.find(f"{SVG}svg")
        assert svg.get("role") == "img"
        assert len(svg.get("aria-label")) > 40
        assert figure.find("figcaption").text
    assert "TreeBootstrap 20, TreeHeuristic 20" in figures[3].find(f"{SVG}svg").get("aria-label")


def test_colours_are_defined_for_light_and_dark(report, root):
    light, dark = root.find("head/style").text.split("@media (prefers-color-scheme: dark)")
    used = set(re.findall(r"var\((--[\w-]+)\)", report.read_text(encoding="utf-8")))
    assert len(used) > 15
    for name in used:
        assert f"{name}: #" in light
        assert f"{name}: #" in dark
    for svg in root.iter(f"{SVG}svg"):
        assert not re.search(r"(fill|stroke): #", ElementTree.tostring(svg, "unicode"))


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    "colour",
    [
        *(style.colour for style in STYLES.values()),
        *(style.colour for style in CASES.values()),
        *OTHER_COLOURS,
        *SHADES,
    ],
)
def test_lines_can_be_seen_on_a_dark_page(colour):
    contrast = (luminance(darkened(colour)) + 0.05) / (luminance(darkened(PAPER)) + 0.05)
    assert contrast >= 3


def test_dark_colours_differ_where_light_ones_do():
    colours = {style.colour for style in STYLES.values()} | set(OTHER_COLOURS) | set(SHADES)
    assert len({darkened(colour) for colour in colours}) == len(colours)


def test_the_page_has_the_numbers_and_the_claims(root):
    text = " ".join(root.find("body").itertext())
    assert "LinUCB (best alpha)" in text
    assert text.count("✓ reproduced") == 15
    assert "banditree reproduce --full --tasks adult census" in text
    best = root.findall(".//td[@class='best']")
    assert len(best) == 7  # of five environments; in two of them the tree policies are alike
    assert "Left out" not in text


def test_markdown(report):
    text = (report.parent / "report.md").read_text(encoding="utf-8")
    assert "| policy | sports | adult | shuttle | covertype | census |" in text
    assert "- Steps of a run: 1,000\n- Seeds: 5 (0 to 4)\n" in text
    assert "- Version: banditree 1.2.3" in text
    assert "| LinUCB | alpha=0.1\\* (of 3) | alpha=0.01 (of 6) |" in text
    assert "| BanditForest | depth=4 | depth=2 |" in text
    assert text.count("| ✓ reproduced |") == 15
    linked = re.findall(r"^!\[[^\]]{40,}\]\(([^)]*)\)$", text, flags=re.MULTILINE)
    assert len(linked) == 7
    assert all((report.parent / path).is_file() for path in linked)


def test_the_conditions_are_said(tmp_path):
    known = paper()
    cells = [
        replace(one, parameters={"cold_start": "until_success"})
        if one.label == "TreeBootstrap"
        else one
        for one in known.cells
    ]
    about = {"adult": Description(12, 14, 45_776), "census": Description(9, 67, 15_317)}
    write_report(replace(known, cells=cells, about=about), tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8").split("## Conditions")[1]
    assert "- **Cold start of TreeBootstrap**: offers an arm until its first success" in text
    assert "- **Constants**: those of LinUCB are chosen on the very seeds" in text
    assert "- **Rows of census**: the first 15,317 of 2,458,285\n" in text
    assert "- **Columns of census**: all are codes" in text
    assert "learned from**: 44,776 on adult, 14,317 on census\n" in text
    page = "".join(parsed(tmp_path / "report.html").find("body").itertext())
    assert "Rows of census: the first 15,317" in page


def test_horizons_and_seeds_of_their_own_are_said(tmp_path):
    known = paper()
    long = cell("TreeHeuristic", "covertype-long", 0.3, seeds=range(3))
    long = replace(long, steps=100 * long.steps)
    more = replace(
        known, cells=[*known.cells, long], environments=[*known.environments, "covertype-long"]
    )
    write_report(more, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "- Steps of a run: 1,000; 100,000 on covertype-long\n" in text
    assert "- Seeds: 5 (0 to 4); 3 on covertype-long\n" in text
    assert "on covertype-long after 100,000 steps: TreeHeuristic 300." in text
    assert "(figures/longer-runs.svg)" in text
    assert "| *At 1,000 steps.*<br>✓ sports: TreeBootstrap − ThompsonSampling" in text


@pytest.mark.parametrize(("best", "marked"), [(1, ""), (2, ""), (3, "\\*")])
def test_no_depth_is_below_one(tmp_path, best, marked):
    rates = {depth: 0.2 if depth == best else 0.4 for depth in (1, 2, 3)}
    cells = [cell("BanditForest", "shop", rate, {"depth": d}) for d, rate in rates.items()]
    write_report(results(cells), tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert f"| BanditForest | depth={best}{marked} (of 3) |" in text


def test_markdown_tables_are_whole(report):
    lines = (report.parent / "report.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("|")]
    columns = {len(re.findall(r"(?<!\\)\|", row)) - 1 for row in rows}
    assert columns == {6, 3}


def test_a_study_of_other_things_has_no_claims(tmp_path):
    page = write_report(small(), tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "Claims" not in text
    assert "Constants" not in text
    assert "Claims" not in (tmp_path / "report.md").read_text(encoding="utf-8")
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == ["regret.png", "regret.svg"]
    parsed(page)


def test_what_is_missing_is_said(tmp_path):
    page = write_report(small(skipped={"census": "no network & no file"}, missing=3), tmp_path)
    text = "".join(parsed(page).find("body").itertext())
    assert "census was skipped: no network & no file" in text
    assert "3 runs not done yet" in text
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "**census** was skipped: no network &amp; no file" in markdown
    assert "**3 runs** not done yet" in markdown
    assert "- Missing runs: 3" in markdown


def test_what_cannot_be_run_or_failed_is_said(tmp_path):
    shown = small(
        missing=3,
        left_out={"OfflineTree on shop": "needs rows"},
        failures={"LinUCB on shop, seed 0": "too bad"},
        others={"0.0.9": 1},
        outdated=2,
    )
    write_report(shown, tmp_path)
    _, left = (tmp_path / "report.md").read_text(encoding="utf-8").split("## Left out\n\n")
    assert left.splitlines() == [
        "- **OfflineTree on shop** was not run: it needs rows",
        "- **LinUCB on shop, seed 0** failed: too bad",
        "- **2 runs** not done yet; the same command again goes on",
        "- **1 run** of version 0.0.9, kept and not used",
        "- **2 runs** of earlier code of your own, kept and not used",
    ]
    assert "LinUCB on shop, seed 0 failed: too bad" in summary(shown)


def test_environments_are_described(tmp_path):
    about = {
        "shop": Description(3, 5, 1200, ("14 of 1,214 rows have no label and are left out",)),
        "sports": Description(4, 4, None),
    }
    page = write_report(small(about=about), tmp_path)
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| shop | 3 | 5 | 1,200 |\n| sports | 4 | 4 | drawn |\n" in markdown
    assert "- **shop**: 14 of 1,214 rows have no label and are left out" in markdown
    text = "".join(parsed(page).find("body").itertext())
    assert "shop: 14 of 1,214 rows have no label" in text
    assert "shop: 14 of 1,214 rows have no label" in summary(small(about=about))


def test_one_seed(tmp_path):
    shown = full_paper(seeds=[0])
    page = write_report(shown, tmp_path)
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", page.read_text(encoding="utf-8"), flags=re.S)
    assert "±" not in regret_table(shown)
    assert {claim.verdict for claim in judge(shown)} == {"undecided"}  # an interval needs two seeds
    assert page.read_text(encoding="utf-8").count("? undecided") == len(judge(shown))
    assert ("Seeds", "1 (0)") in facts(shown)


def test_odd_names_are_escaped(tmp_path):
    odd = results(
        [cell(ODD, ODD, 0.2, {"kind": "<a>"}), cell(ODD, ODD, 0.3, {"kind": "&b"})],
        name=ODD,
        skipped={"<i>": "a < b & c"},
        version="<1>",
    )
    page = write_report(odd, tmp_path)
    root = parsed(page)
    assert root.find("body/h1").text == ODD
    assert root.find(".//table//thead//th[2]").text == ODD
    assert root.find(".//table//tbody//th").text == f"{ODD} (best kind)"
    assert ODD in root.find(f".//{SVG}svg").get("aria-label")
    assert {element.tag for element in root.iter()} & {"b", "i"} == set()
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert '| policy | shop &lt;b&gt; &amp; "co" \\| \\_x\\_ |' in markdown
    assert "<b>" not in markdown


def test_an_environment_without_runs(tmp_path):
    shown = small(environments=["shop", "later"], missing=2)
    assert regret_rows(shown).rows[0][2] == "—"
    (first, *_) = illustrations(shown)
    assert len(first.draw().axes) == 1
    parsed(write_report(shown, tmp_path))


@pytest.mark.parametrize(
    ("changes", "left_out"),
    [
        (everywhere("LinUCB", None), {"figure-4-adult"}),
        (everywhere("TreeBootstrap", None), {"theorem-1"}),
        (everywhere("OfflineTree", None), set()),
    ],
)
def test_figures_that_make_no_sense_are_left_out(changes, left_out):
    names = {shown.name for shown in illustrations(paper())}
    assert names - {shown.name for shown in illustrations(paper(changes))} == left_out


def test_without_sports_or_data_sets():
    def names(environments):
        cells = [cell for cell in paper().cells if cell.environment in environments]
        return [shown.name for shown in illustrations(results(cells, command="banditree"))]

    assert names(["sports"]) == [
        "regret",
        "figure-1-golf",
        "figure-1-all-ads",
        "figure-2-sports",
        "theorem-1",
    ]
    assert names(["shuttle", "census"]) == ["regret", "figure-3-data-sets", "theorem-1"]


def test_figure_4_says_what_it_shows():
    def fourth(shown):
        return next(figure for figure in illustrations(shown) if figure.name == "figure-4-adult")

    assert fourth(paper()).caption.startswith("Figure 4 of the paper. Regret beyond that of")
    assert "LinUCB with alpha=0.01 140, " in fourth(paper()).alt
    without = paper(everywhere("OfflineTree", None))
    assert fourth(without).caption.startswith("Figure 4 of the paper. Cumulative regret,")
    assert "LinUCB with alpha=0.01 740, " in fourth(without).alt
    for shown, regret in ((paper(), "Regret beyond OfflineTree"), (without, "Cumulative regret")):
        (axes,) = fourth(shown).draw().axes
        assert axes.get_ylabel() == f"{regret} (errors)"


def test_markdown_shows_text_as_it_is():
    assert plain("a_b*c`d [e]\n<f> & g|h\\") == "a\\_b\\*c\\`d \\[e\\] &lt;f&gt; &amp; g\\|h\\\\"


def test_svg_inside_a_page():
    colours = Colours()
    svg = (
        '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg xmlns="http://www.w3.org/2000/svg">\n'
        " <metadata><a>http://x</a></metadata><!-- note -->\n"
        '<g id="a" style="fill: #0072b2"><use href="#a" clip-path="url(#b)"/></g></svg>\n'
    )
    assert inlined(svg, "one", 'a "b" <c>', colours) == (
        '<svg role="img" aria-label="a &quot;b&quot; &lt;c&gt;" '
        'xmlns="http://www.w3.org/2000/svg">\n'
        '<g id="one-a" style="fill: var(--figure-0072b2)">'
        '<use href="#one-a" clip-path="url(#one-b)"/></g></svg>'
    )
    assert colours.css(dark=False) == "--figure-0072b2: #0072b2;"
    assert colours.css(dark=True) == "--figure-0072b2: #3f8fe0;"
