"""The report of a study: figures, tables, and what became of the paper's claims."""

from pathlib import Path

from banditree.studies.reports.claims import Claim, judge
from banditree.studies.reports.markdown import markdown
from banditree.studies.reports.page import page
from banditree.studies.reports.tables import as_text, regret_rows
from banditree.studies.summary import Results

__all__ = ["regret_table", "write_report"]

FIGURES = "figures"


def regret_table(results: Results) -> str:
    """Return the regret of each policy in each environment, as text for a terminal.

    Means over seeds ± half of their 95 % intervals, each policy with its best constants.
    """
    return as_text(regret_rows(results))


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
    from banditree.studies.reports.illustrations import illustrations
    from banditree.studies.reports.style import save_figure
    from banditree.studies.reports.svg import Colours, inlined

    folder = Path(folder)
    claims, colours = _claims(results), Colours()
    linked, inside = [], []
    for shown in illustrations(results):
        svg, _ = save_figure(shown.draw(), folder / FIGURES, shown.name)
        linked.append((f"{FIGURES}/{svg.name}", shown.alt, shown.caption))
        drawn = svg.read_text(encoding="utf-8")
        inside.append((inlined(drawn, shown.name, shown.alt, colours), shown.caption))
    _write(folder / "report.md", markdown(results, claims, linked))
    css = colours.css(dark=False), colours.css(dark=True)
    return _write(folder / "report.html", page(results, claims, inside, css))


def _claims(results: Results) -> list[Claim]:
    """Return the paper's claims if the study can say something on any of them."""
    claims = judge(results)
    return claims if any(claim.verdict != "not tested" for claim in claims) else []


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
