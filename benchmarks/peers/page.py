"""The results as a page of Markdown."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from peers.lineup import OWN
from peers.one_run import MARKS
from peers.player import Entry
from peers.registry import version_of
from peers.summary import Line, Pair
from peers.worlds import TITLES, made_up

Pairs = Mapping[str, Mapping[str, Pair]]


@dataclass(frozen=True)
class Setting:
    """How the runs were made, for the reader."""

    command: str
    steps: int
    seeds: int
    limit: float
    grid: bool
    entries: Sequence[Entry]
    absent: Mapping[str, str]


def page(pairs: Pairs, setting: Setting, picture: str) -> str:
    sections = [
        "# Benchmark of policies", introduction(setting), machine(), overview(pairs, setting),
        f"![Regret against time per step]({picture})", READING_PICTURE,
        *(detail(key, found, setting) for key, found in pairs.items()),
        setups(setting), versions(setting), absentees(setting),
    ]  # fmt: skip
    return "\n\n".join(filter(None, sections)) + "\n"


READING_PICTURE = (
    "Regret after all steps as a share of that of `Uniform`, and time of a step, both as geometric "
    "means over the environments, at the best of the constants tried. Filled: this library. "
    "Hollow: others, and bounds that are told all labels (scikit-learn). Only what finished "
    "everywhere is shown."
)


def introduction(setting: Setting) -> str:
    tried = (
        "Each peer ran with its defaults, and with each of a few other values of its constants; of "
        "all these, the best in each environment is chosen **in hindsight**, which no application "
        "can do."
        if setting.grid
        else "Each peer ran with its defaults."
    )
    return (
        f"Policies of this library and of others on the same steps, {setting.steps:,} of them, "
        f"{setting.seeds} seed{'s' * (setting.seeds > 1)}, one thread, each run in a process of "
        f"its own, made by `{setting.command}`. Less regret is better. {tried} A run may take "
        f"{setting.limit:g} s of processor time. How each peer was set up is [below](#set-up)."
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
        rows.append([entry.name, *(cell(pair, setting) for pair in found)])
    which = ", at defaults / at the best of the constants tried" if setting.grid else ""
    title = f"## Regret after {setting.steps:,} steps{which}"
    return title + "\n\n" + table(["", *(TITLES[key] for key in pairs)], rows)


def cell(pair: Pair, setting: Setting) -> str:
    shown = [
        whole(line.regret(setting.steps)[0]) if line.complete else "–"
        for line in (pair.default, pair.best)
    ]
    return " / ".join(shown) if setting.grid and pair.default.entry.grid else shown[0]


def detail(key: str, found: Mapping[str, Pair], setting: Setting) -> str:
    marks = [*(mark for mark in MARKS if mark < setting.steps and mark != 2_000), setting.steps]
    head = [
        "", *(f"{mark:,} steps" for mark in marks),
        "decide, µs", "99 %", "learn, µs", "99 %", "peak, MiB",
    ]  # fmt: skip
    lines = [line for pair in found.values() for line in distinct(pair)]
    lines.sort(key=lambda line: line.regret(setting.steps)[0] if line.complete else np.inf)
    title = TITLES[key] + " (made-up rows)" * made_up(key)
    return f"## {title}\n\n" + table(head, [row(line, marks) for line in lines])


def distinct(pair: Pair) -> list[Line]:
    return [pair.default] if pair.best is pair.default else [pair.default, pair.best]


def row(line: Line, marks: Sequence[int]) -> list[str]:
    name = line.entry.name + (f", best: {told(line.constants)}" if line.constants else "")
    if not line.complete:
        return [name, line.trouble, *[""] * (len(marks) + 4)]
    regrets = []
    for mark in marks:
        mean, error = line.regret(mark)
        regrets.append(whole(mean) + (f" ± {whole(error)}" if error == error else ""))
    times = [line.time(what, which) for what in ("decide", "learn") for which in (0, 1)]
    return [name, *regrets, *map(whole, times), f"{line.peak:,.0f}"]


def setups(setting: Setting) -> str:
    alike: dict[str, list[Entry]] = {}
    for entry in setting.entries:
        alike.setdefault(entry.about, []).append(entry)
    items = []
    for about, entries in alike.items():
        grids = {", ".join(map(told, entry.grid)) for entry in entries if entry.grid}
        tried = f". Tried beside the defaults: {'; '.join(sorted(grids))}" if grids else ""
        items.append(f"- {', '.join(entry.name for entry in entries)}: {about}{tried}.")
    return SET_UP + "\n".join(items)


SET_UP = """## Set-up

± is the standard error over seeds. Times are of the processor, median and 99th percentile of all
steps of a run, mean over seeds; peak is the most memory of a process, with Python and the library
(`Uniform` shows what these take). Rows come in random order, those of the small tables again once
all have come. Peers whose learners take no categories get a column for each value, and linear ones
standardised columns; all values, means and deviations are told to them before the first step.

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
