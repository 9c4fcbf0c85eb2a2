"""A report as one HTML page that needs nothing else."""

from html import escape

from banditree.studies.reports import tables
from banditree.studies.reports.claims import Claim
from banditree.studies.reports.conditions import conditions
from banditree.studies.summary import Results

__all__ = ["document", "html_figures", "html_items", "html_table", "page"]

BEST = '<td class="best">'
STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1a1a; --dim: #5c5f66;
  --line: #d9d9d9; --shade: #f5f6f8; --good: #00664a; --half: #7a4f00; --bad: #a33a00; FIGURES }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #e8e8e8; --dim: #a0a4ad;
  --line: #3a3d44; --shade: #1f2228; --good: #4fd1a5; --half: #f0b94d; --bad: #ff9a66; DARK } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 62rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.35rem; margin: 3rem 0 0.75rem; padding-top: 0.75rem;
  border-top: 1px solid var(--line); }
p, li { max-width: 44rem; }
a { color: inherit; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; padding: 0; list-style: none; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1.25rem; }
dt { color: var(--dim); } dd { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.92rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.4rem 0.8rem; border-bottom: 1px solid var(--line); vertical-align: top;
  text-align: left; }
thead th { border-bottom: 2px solid var(--ink); }
.numbers th + th, .numbers td { text-align: right; white-space: nowrap; }
.numbers tbody th { font-weight: normal; white-space: nowrap; }
.numbers.wrapped td { white-space: normal; } .best { font-weight: bold; }
figure { margin: 2rem 0; padding: 0; }
figure svg { display: block; max-width: 100%; height: auto; }
figcaption { color: var(--dim); font-size: 0.92rem; max-width: 44rem; margin-top: 0.5rem; }
.claims { table-layout: fixed; width: 100%; min-width: 44rem; } .claims th + th { width: 10.5rem; }
.claims th + th + th { width: 52%; } .claims ul { margin: 0; padding: 0; list-style: none; }
.claims tbody th { font-weight: normal; }
.claims li { padding-left: 1.3em; text-indent: -1.3em; }
.rule, .command { color: var(--dim); font-size: 0.86rem; }
.verdict { font-weight: bold; white-space: nowrap; }
.reproduced { color: var(--good); } .in-part { color: var(--half); }
.not-reproduced { color: var(--bad); } .undecided, .not-tested { color: var(--dim); }
code { font: 0.9em ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--shade);
  padding: 0.1em 0.3em; border-radius: 3px; overflow-wrap: anywhere; }
@media print { body { max-width: none; } figure, tr { break-inside: avoid; }
  nav { display: none; } }
"""


def page(
    results: Results,
    claims: list[Claim],
    figures: list[tuple[str, str]],
    colours: tuple[str, str],
) -> str:
    """Return the report as the text of an HTML file.

    Parameters
    ----------
    results, claims
        What to report. Without claims there is no section on them.
    figures
        Of each the SVG element and the caption.
    colours
        The definitions of the figures' colours, on a light and on a dark page.
    """
    sections = _sections(results, claims, figures)
    return document(results.name, tables.facts(results), sections, colours)


def document(
    name: str, facts: list[tuple[str, str]], sections: dict[str, str], colours: tuple[str, str]
) -> str:
    """Return the text of an HTML file: a title, facts, and sections of HTML with their headings."""
    style = STYLE.replace("FIGURES", colours[0]).replace("DARK", colours[1])
    title = escape(name)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{title}: report</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{_facts(facts)}
{_contents(list(sections))}
{"".join(_section(name, content) for name, content in sections.items())}</body>
</html>
"""


def _sections(
    results: Results, claims: list[Claim], figures: list[tuple[str, str]]
) -> dict[str, str]:
    sections = {"Regret": _regret(results), "Figures": html_figures(figures)}
    constants = tables.constants_rows(results)
    if constants is not None:
        sections["Constants"] = _constants(constants)
    if claims:
        sections["Claims of the paper"] = _claims(claims)
    if conditions(results):
        sections["Conditions"] = html_items(conditions(results), ": ")
    if results.about:
        sections["Environments"] = _environments(results)
    if tables.left_out(results):
        sections["Left out"] = html_items(tables.left_out(results), " ")
    return sections


def _facts(facts: list[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{escape(n)}</dt><dd>{escape(v)}</dd>" for n, v in facts)
    return f"<dl>{rows}</dl>"


def _contents(names: list[str]) -> str:
    items = "".join(f'<li><a href="#{_anchor(name)}">{escape(name)}</a></li>' for name in names)
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _section(name: str, content: str) -> str:
    return f'<section id="{_anchor(name)}">\n<h2>{escape(name)}</h2>\n{content}\n</section>\n'


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _regret(results: Results) -> str:
    return (
        f"<p>{escape(tables.regret_note(results))}</p>\n{html_table(tables.regret_rows(results))}"
    )


def _constants(table: tables.Table) -> str:
    return f"<p>{escape(tables.CONSTANTS_NOTE)}</p>\n{html_table(table, 'numbers wrapped')}"


def html_figures(figures: list[tuple[str, str]]) -> str:
    """Return figures, given the SVG element and the caption of each."""
    return "\n".join(
        f"<figure>\n{svg}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"
        for svg, caption in figures
    )


def html_table(table: tables.Table, kind: str = "numbers") -> str:
    """Return a table; the first column names the rows."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.header)
    rows = []
    for i, (first, *rest) in enumerate(table.rows):
        cells = "".join(
            f"{BEST if (i, j) in table.best else '<td>'}{escape(text)}</td>"
            for j, text in enumerate(rest, start=1)
        )
        rows.append(f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>')
    body = "\n".join(rows)
    return (
        f'<div class="scroll"><table class="{kind}">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _claims(claims: list[Claim]) -> str:
    head = "".join(f'<th scope="col">{text}</th>' for text in ("Claim", "Verdict", "Numbers"))
    rows = "\n".join(map(_claim, claims))
    return (
        f"<p>{escape(tables.CLAIMS_NOTE)}</p>\n"
        f'<div class="scroll"><table class="claims">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _claim(claim: Claim) -> str:
    kind = claim.verdict.replace(" ", "-")
    findings = "".join(
        f"<li>{tables.MARKS[finding.holds]} {escape(finding.text)}</li>"
        for finding in claim.findings
    )
    rule = f'<div class="rule">{escape(claim.rule)}</div>' if claim.rule else ""
    horizons = f'<div class="rule">{claim.by_horizon}.</div>' if claim.by_horizon else ""
    return (
        f'<tr><th scope="row"><strong>{escape(claim.name)}.</strong> {escape(claim.text)}'
        f"{rule}</th>"
        f'<td class="verdict {kind}">{tables.SIGNS[claim.verdict]} {claim.verdict}</td>'
        f"<td>{horizons}<ul>{findings}</ul>"
        f'<div class="command"><code>{escape(claim.command)}</code></div></td></tr>'
    )


def _environments(results: Results) -> str:
    remarks = tables.remarks(results)
    table = html_table(tables.environment_rows(results))
    return f"{table}\n{html_items(remarks, ': ')}" if remarks else table


def html_items(pairs: list[tuple[str, str]], between: str) -> str:
    """Return a list of names and what is said of them."""
    items = "".join(
        f"<li><strong>{escape(name)}</strong>{between}{escape(text)}</li>" for name, text in pairs
    )
    return f"<ul>{items}</ul>"
