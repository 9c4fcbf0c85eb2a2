"""A report as Markdown."""

import re

from banditree.studies.reports import tables
from banditree.studies.reports.claims import Claim
from banditree.studies.reports.conditions import conditions
from banditree.studies.summary import Results

__all__ = ["markdown"]


def markdown(results: Results, claims: list[Claim], figures: list[tuple[str, str, str]]) -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    results, claims
        What to report. Without claims there is no section on them.
    figures
        Of each the path, the text for those who do not see it, and the caption.
    """
    parts = [f"# {plain(results.name)}"]
    parts.append("\n".join(f"- {name}: {plain(value)}" for name, value in tables.facts(results)))
    parts += ["## Regret", tables.regret_note(results), _table(tables.regret_rows(results))]
    parts.append("## Figures")
    for path, alt, caption in figures:
        parts += [f"![{plain(alt)}]({path})", f"*{plain(caption)}*"]
    constants = tables.constants_rows(results)
    if constants is not None:
        parts += ["## Constants", tables.CONSTANTS_NOTE, _table(constants)]
    if claims:
        parts += ["## Claims of the paper", tables.CLAIMS_NOTE, _claims(claims)]
    if conditions(results):
        parts += ["## Conditions", _items(conditions(results), ": ")]
    if results.about:
        parts += ["## Environments", _table(tables.environment_rows(results))]
        parts += [_items(tables.remarks(results), ": ")] if tables.remarks(results) else []
    if tables.left_out(results):
        parts += ["## Left out", _items(tables.left_out(results), " ")]
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    r"""Return text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> print(plain("a_b <i> | c"))
    a\_b &lt;i&gt; \| c
    """
    text = " ".join(text.split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~])", r"\\\1", text)


def _table(table: tables.Table) -> str:
    def row(texts: list[str]) -> str:
        return f"| {' | '.join(texts)} |"

    lines = [row([plain(text) for text in table.header])]
    lines.append(row(["---", *["---:"] * (len(table.header) - 1)]))
    for i, texts in enumerate(table.rows):
        shown = [plain(text) for text in texts]
        lines.append(row([f"**{s}**" if (i, j) in table.best else s for j, s in enumerate(shown)]))
    return "\n".join(lines)


def _claims(claims: list[Claim]) -> str:
    lines = ["| Claim | Verdict | Numbers |", "| --- | --- | --- |"]
    for claim in claims:
        findings = [
            f"{tables.MARKS[finding.holds]} {plain(finding.text)}" for finding in claim.findings
        ]
        rule = f"<br>*{plain(claim.rule)}*" if claim.rule else ""
        words = f"**{plain(claim.name)}.** {plain(claim.text)}{rule}"
        verdict = f"{tables.SIGNS[claim.verdict]} {claim.verdict}"
        horizons = [f"*{claim.by_horizon}.*"] if claim.by_horizon else []
        numbers = "<br>".join([*horizons, *findings, f"`{claim.command}`"])
        lines.append(f"| {words} | {verdict} | {numbers} |")
    return "\n".join(lines)


def _items(pairs: list[tuple[str, str]], between: str) -> str:
    return "\n".join(f"- **{plain(name)}**{between}{plain(text)}" for name, text in pairs)
