"""The report of a study: figures, tables, and what became of the paper's claims."""

from pathlib import Path

from banditree.studies.reports import tables
from banditree.studies.reports.claims import judge
from banditree.studies.reports.markdown import markdown
from banditree.studies.reports.page import page
from banditree.studies.summary import Results

__all__ = ["regret_table", "summary", "write_report"]

FIGURES = "figures"


def regret_table(results: Results) -> str:
    """Return the regret of each policy in each environment, as text for a terminal.

    Means over seeds ± half of their 95 % intervals, each policy with its best constants.
    """
    return tables.as_text(tables.regret_rows(results))


def summary(results: Results) -> str:
    """Return what is most worth knowing, as text for a terminal."""
    parts = [
        f"cumulative regret over {tables.steps_of(results)} steps, mean ± half of its 95 % "
        f"interval; seeds: {tables.seeds_of(results)}",
        regret_table(results),
    ]
    constants = tables.constants_rows(results)
    if constants is not None:
        parts.append(f"constants\n{tables.as_text(constants)}")
    notes = [f"{name}: {text}" for name, text in tables.remarks(results)]
    notes += [f"{name} {text}" for name, text in tables.left_out(results)]
    return "\n\n".join([*parts, "\n".join(notes)] if notes else parts) + "\n"


def write_report(results: Results, folder: str | Path) -> Path:
    """Write report.html, report.md and the figures; return the path of report.html.

    The same results give the same files, byte for byte.

    Parameters
    ----------
    results
        What the runs came to.
    folder
        Where to; made if it does not exist.
    """
    # Here, since these load matplotlib, which a table does without.
    from banditree.studies.reports.figure_style import save_figure
    from banditree.studies.reports.illustrations import illustrations
    from banditree.studies.reports.inlined_svg import Colours, inlined

    folder = Path(folder)
    claims = judge(results) if results.command else []
    colours = Colours()
    linked, inside = [], []
    for shown in illustrations(results):
        svg, _ = save_figure(shown.draw(), folder / FIGURES, shown.name)
        linked.append((f"{FIGURES}/{svg.name}", shown.alt, shown.caption))
        drawn = svg.read_text(encoding="utf-8")
        inside.append((inlined(drawn, shown.name, shown.alt, colours), shown.caption))
    _write(folder / "report.md", markdown(results, claims, linked))
    css = colours.css(dark=False), colours.css(dark=True)
    return _write(folder / "report.html", page(results, claims, inside, css))


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
