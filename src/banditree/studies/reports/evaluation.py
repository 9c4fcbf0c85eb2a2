"""The report of an evaluation: the log's health, the values, and how far the log reaches."""

from html import escape
from pathlib import Path

from banditree.evaluation import Comparison, Log
from banditree.evaluation.results import LOGGED
from banditree.studies.reports.tables import Table

__all__ = ["write_evaluation"]

VALUES_NOTE = (
    "What each would have earned per decision, by the doubly robust estimate, and by how much that "
    "is beyond what who made the log has earned, on the same rows. Effective rows: as many rows of "
    "equal weight it rests on. The verdict says whether to trust the number."
)
ESTIMATES_NOTE = (
    "ips: inverse propensity; snips: self-normalised; dm: the model of rewards alone, whose "
    "interval is that of dr; dr: doubly robust; switch-dr: where weights are large, the model."
)
HEALTH_NOTE = (
    "With right propensities the mean weight of each arm is 1, but for chance. ± is a standard "
    "error. Only then can any estimate be right."
)


def write_evaluation(name: str, log: Log, found: Comparison, folder: str | Path) -> Path:
    """Write report.html with its figures; return its path.

    Parameters
    ----------
    name
        Of the log.
    log, found
        What to report.
    folder
        Where to; made if it does not exist.
    """
    # Here, since these load matplotlib, which a table does without.
    from banditree.studies.reports.evaluation_figures import pictures
    from banditree.studies.reports.figure_style import save_figure
    from banditree.studies.reports.inlined_svg import Colours, inlined
    from banditree.studies.reports.page import document, html_figures, html_items, html_table

    folder, colours, inside = Path(folder), Colours(), {}
    for picture in pictures(log, found):
        svg, _ = save_figure(picture.draw(), folder / "figures", picture.name)
        drawn = inlined(svg.read_text(encoding="utf-8"), picture.name, picture.alt, colours)
        inside[picture.name] = html_figures([(drawn, picture.caption)])
    said = [(name, reason) for name, reason in _reasons(found)]
    sections = {
        "Values": f"{_note(VALUES_NOTE)}{html_table(_table(found.table()))}{inside['values']}",
        "Against": html_items(said, ": ") if said else "<p>Nothing speaks against them.</p>",
        "All estimates": f"{_note(ESTIMATES_NOTE)}{html_table(_estimates(found))}",
        "Overlap": f"{inside['overlap']}{inside['effective-rows']}",
        "Health of the log": f"{_note(HEALTH_NOTE)}{_problems(log)}"
        f"{html_table(_health(log))}{inside['health']}",
    }
    css = colours.css(dark=False), colours.css(dark=True)
    path = folder / "report.html"
    text = document(f"Evaluation on {name}", _facts(log), sections, css)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def _note(text: str) -> str:
    return f"<p>{escape(text)}</p>\n"


def _facts(log: Log) -> list[tuple[str, str]]:
    health = log.health
    return [
        ("decisions", f"{len(log):,}"),
        ("arms", f"{len(log.arms)}"),
        ("mean reward", f"{log.rewards.mean():.4f}"),
        ("mean weight", f"{health.weight:.3f} ± {health.error:.3f} (should be 1)"),
        ("with a reward", f"{health.join_rate:.1%}"),
        ("of certain arms", f"{health.useless:.1%}"),
    ]


def _table(rows: list[list[str]]) -> Table:
    return Table(rows[0], rows[1:])


def _reasons(found: Comparison) -> list[tuple[str, str]]:
    return [
        (name, reason)
        for name, of in found.evaluations.items()
        for reason in of.estimates["dr"].reasons
    ]


def _estimates(found: Comparison) -> Table:
    rows = []
    for name, of in found.evaluations.items():
        if name == LOGGED:
            continue
        rows += [
            [
                f"{name}, {estimator}",
                f"{known.value:.4f}",
                f"{known.low:.4f} to {known.high:.4f}",
                f"{known.effective_n:,.0f}",
                f"{known.largest_weight:,.1f}",
                known.verdict,
            ]
            for estimator, known in of.estimates.items()
        ]
    header = ["", "value", "interval", "effective rows", "largest weight", "verdict"]
    return Table(header, rows)


def _health(log: Log) -> Table:
    rows = [
        [
            str(arm),
            f"{known.rows:,}",
            f"{known.weight:.3f} ± {known.error:.3f}",
            f"{known.least:.4g}",
            f"{known.join_rate:.1%}",
        ]
        for arm, known in log.health.arms.items()
    ]
    header = ["arm", "rows", "mean weight", "least propensity", "with a reward"]
    return Table(header, rows)


def _problems(log: Log) -> str:
    problems = log.health.problems
    if not problems:
        return "<p>Nothing is wrong that could be seen.</p>"
    return "<ul>" + "".join(f"<li>{escape(problem)}</li>" for problem in problems) + "</ul>"
