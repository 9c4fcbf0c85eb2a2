"""The results as a page of Markdown."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.lineup import OWN
from peers.one_run import MARKS
from peers.planning import TRIAL_SHARE, TRIALS, Size
from peers.player import Entry
from peers.registry import version_of
from peers.running import Result
from peers.summary import Line, Pair
from peers.worlds import TITLES, made_up

Pairs = Mapping[str, Mapping[str, Pair]]
Times = Mapping[str, Result]  # by peer: what a run of the timing pass has measured


@dataclass(frozen=True)
class Setting:
    """How the runs were made, for the reader."""

    command: str
    size: Size
    limit: float
    timed: str  # the environment of the timing pass
    entries: Sequence[Entry]
    absent: Mapping[str, str]
    n_runs: int
    n_missing: int


def page(pairs: Pairs, times: Times, setting: Setting, picture: str) -> str:
    sections = [
        "# Beside other libraries", introduction(setting), unfinished(setting), machine(),
        overview(pairs, setting),
        f"![Regret against time per step]({picture})", reading_picture(setting),
        clocks(times, setting), "## Regret on the way", READING_DETAILS,
        *(detail(key, found, setting) for key, found in pairs.items()),
        setups(setting), versions(setting), absentees(setting),
    ]  # fmt: skip
    return "\n\n".join(filter(None, sections)) + "\n"


def reading_picture(setting: Setting) -> str:
    return (
        "Regret as a share of that of `Uniform`, the geometric mean over the tasks of the paper, "
        "at the best of the constants tried; time of a step of the table below; both scales are "
        "logarithmic. Filled: this library. Hollow: others, named where they have the least regret "
        "of their library; those told all labels are bounds. Only what finished everywhere is "
        "shown."
    )


def introduction(setting: Setting) -> str:
    size = setting.size
    return (
        f"Policies of this library and of others on the same steps, {size.steps:,} of them, "
        f"{size.seeds} seed{'s' * (size.seeds > 1)}, one thread, each run in a process of its own, "
        f"made by `{setting.command}`. Less regret is better. {tried(size)} In each environment a "
        f"line may take {setting.limit:g} s of processor time: a run that has used them is "
        "stopped, which the tables say, and further seeds are played as long as they are expected "
        "to fit. How each peer was set up is [below](#set-up)."
    )


def unfinished(setting: Setting) -> str:
    if not setting.n_missing:
        return ""
    return (
        f"**Not finished**: {setting.n_missing:,} of {setting.n_runs:,} runs have not been made "
        "yet, so that some figures are of few seeds, or missing, and constants are still to be "
        "tried."
    )


def tried(size: Size) -> str:
    if not size.grid:
        return "Each peer ran with its defaults."
    return (
        "Each peer ran with its defaults, and, on the five tasks of the paper, with a few other "
        f"values of its constants on the first {TRIALS} of the seeds, or as many as fit in "
        f"{TRIAL_SHARE:.0%} of the time below. Those that did best on these were run on all "
        'seeds; this is "the best" of the tables, or the defaults, if they have less regret on '
        "all seeds. The choice is made in each environment, and **in hindsight**, as the seeds it "
        "is made on count too: no application can do so well."
    )


def machine() -> str:
    """Return what the runs were made on, in general words."""
    kind = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        named = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        kind = named[0].partition(":")[2].strip() if named else kind
    return (
        f"Machine: {os.cpu_count()} cores, {kind}, {platform.system()}, "
        f"Python {platform.python_version()}."
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def whole(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def overview(pairs: Pairs, setting: Setting) -> str:
    rows = []
    for entry in setting.entries:
        found = [pairs[key][entry.name] for key in pairs]
        if any(pair.default.played for pair in found):
            rows.append([entry.name, *(cell(pair, setting) for pair in found)])
    which = ", at defaults / at the best of the constants tried" if setting.size.grid else ""
    title = f"## Regret after {setting.size.steps:,} steps{which}"
    legend = (
        "–: stopped before, or not run. *Italic*: fewer seeds than others. One figure: that of the "
        "defaults, where no constants that were tried did better."
    )
    return "\n\n".join([title, table(["", *(TITLES[key] for key in pairs)], rows), legend])


def cell(pair: Pair, setting: Setting) -> str:
    shown = [total(line, setting) for line in (pair.default, pair.best)]
    return shown[0] if pair.best is pair.default else " / ".join(shown)


def total(line: Line, setting: Setting) -> str:
    if not line.complete:
        return "–"
    few = len(line.results) < setting.size.seeds
    return f"*{whole(line.total)}*" if few else whole(line.total)


def clocks(times: Times, setting: Setting) -> str:
    if not times:
        return ""
    rows = [clock(name, result) for name, result in times.items()]
    rows.sort(key=lambda row: float(row[1].replace(",", "")))
    head = ["", "a step", "decide", "99 %", "learn", "99 %", "peak, MiB", "steps"]
    return "\n\n".join(
        [f"## Time and memory, on {TITLES[setting.timed]}", READING_CLOCKS, table(head, rows)]
    )


READING_CLOCKS = (
    "µs of processor time at defaults: mean of a step, median and 99th percentile of a decision "
    "and of an observation, all measured one after the other. Peak is the most memory of the "
    "process, with Python and the library (`Uniform` shows what Python and this library take)."
)


def clock(name: str, result: Result) -> list[str]:
    decide, learn = result["decide"], result["learn"]
    figures = [decide[2] + learn[2], *decide[:2], *learn[:2]]
    peak = f"{result['peak'] / 2**20:,.0f}"
    return [name, *map(whole, figures), peak, f"{result['done']:,}"]


READING_DETAILS = (
    "Mean regret after so many steps ± standard error over seeds, the least first. Where a run was "
    "stopped, the regret is that of the stopped run."
)


def detail(key: str, found: Mapping[str, Pair], setting: Setting) -> str:
    steps = setting.size.steps
    marks = [*(mark for mark in MARKS if mark < steps and mark != 2_000), steps]
    head = ["", *(f"{mark:,} steps" for mark in marks), "seeds"]
    lines = [line for pair in found.values() for line in distinct(pair) if line.played]
    lines.sort(key=lambda line: line.total)
    title = TITLES[key] + " (made-up rows)" * made_up(key)
    return f"### {title}\n\n" + table(head, [row(line, marks) for line in lines])


def distinct(pair: Pair) -> list[Line]:
    return [pair.default] if pair.best is pair.default else [pair.default, pair.best]


def row(line: Line, marks: Sequence[int]) -> list[str]:
    name = line.entry.name + (f", best: {told(line.constants)}" if line.constants else "")
    regrets = [regret(line, mark) for mark in marks]
    if line.stopped:
        regrets[-1] = f"stopped at step {line.stopped['done']:,}"
    elif line.failure:
        regrets[-1] = f"failed: {line.failure}"
    return [name, *regrets, str(len(line.results) or 1)]


def regret(line: Line, mark: int) -> str:
    found = line.regret(mark)
    if found is None:
        return ""
    mean, error = found
    return whole(mean) + (f" ± {whole(error)}" if error == error else "")


def setups(setting: Setting) -> str:
    alike: dict[str, list[Entry]] = {}
    for entry in setting.entries:
        alike.setdefault(entry.about, []).append(entry)
    items = []
    for about, entries in alike.items():
        grids = {", ".join(map(told, entry.grid)) for entry in entries if entry.grid}
        beside = f". Tried beside the defaults: {'; '.join(sorted(grids))}" if grids else ""
        items.append(f"- {', '.join(entry.name for entry in entries)}: {about}{beside}.")
    return SET_UP + "\n".join(items)


SET_UP = """## Set-up

Rows come in random order, those of the small tables again once all have come. Peers whose learners
take no categories get a column for each value, and linear ones standardised columns; all values,
means and deviations are told to them before the first step.

"""


def told(constants: Mapping[str, Any]) -> str:
    return " ".join(
        f"`{value}`" if name == "extra" else f"`{name}={value}`"
        for name, value in constants.items()
    )


def versions(setting: Setting) -> str:
    found = {version_of(entry) for entry in setting.entries}
    return "## Versions\n\n" + ", ".join(sorted(found, key=lambda v: (OWN not in v, v))) + "."


def absentees(setting: Setting) -> str:
    if not setting.absent:
        return ""
    items = [f"- {library}: {why}" for library, why in setting.absent.items()]
    return "## Not run\n\n" + "\n".join(items)
