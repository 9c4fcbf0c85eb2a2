"""Policies of this library and of others on the same steps: regret, time and memory.

    make bench-peers         a short version
    make bench-peers-full    all of it, and docs/benchmarks.md with it

Finished runs are kept, one line each, and not repeated while versions and code are the same: a
benchmark that was interrupted goes on where it stood. A change of this library's code repeats its
own runs only. Times are measured last, each time anew, so that all are of one hour.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from peers.lineup import ENTRIES, OWN
from peers.page import Setting, Times, page
from peers.picture import draw, points
from peers.planning import Size, play
from peers.player import Entry
from peers.registry import absent
from peers.running import Runner
from peers.store import Run, Store
from peers.summary import Pair, pairs_of
from peers.worlds import TITLES

ROOT = Path(__file__).parents[2]
SHORT = ("shuttle", "adult", "sports")
TIMED = "covertype"
TIMED_FOR = 20.0  # seconds of processor time


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--full", action="store_true", help="everything, written to docs/")
    add("--steps", type=int, help="of a run (default 2000, full 10000)")
    add("--seeds", type=int, help="how many (default 1, full 5)")
    add("--environments", nargs="+", choices=TITLES, metavar="NAME", help=", ".join(TITLES))
    add("--only", nargs="*", metavar="TEXT", help="run, and time, only peers with such a name or "
        "library; results of others are shown as they are")  # fmt: skip
    add("--grid", action="store_true", help="other constants too, as in full")
    add("--limit", type=float, help="seconds of processor time of a run (default 20, full 60)")
    add("--out", type=Path, default=ROOT / "results" / "peers", help="where results are kept")
    given = parser.parse_args(arguments)
    for name, short, full in (("steps", 2000, 10_000), ("seeds", 1, 5), ("limit", 20.0, 60.0)):
        if getattr(given, name) is None:
            setattr(given, name, full if given.full else short)
        if getattr(given, name) <= 0:
            parser.error(f"--{name} must be above 0")
    given.environments = given.environments or list(TITLES if given.full else SHORT)
    given.grid |= given.full
    given.out = given.out.resolve()
    return given


def chosen(texts: list[str] | None, entries: Sequence[Entry]) -> set[str]:
    """Return the names of those that are run."""
    return {
        entry.name
        for entry in entries
        if texts is None
        or any(text.lower() in f"{entry.library} {entry.name}".lower() for text in texts)
    }


def measure(given: argparse.Namespace, entries: Sequence[Entry]) -> tuple[str, Times]:
    """Return what times and memory are measured in, and those of each peer, at its defaults."""
    key = TIMED if TIMED in given.environments else given.environments[0]
    file = given.out / f"times-{given.steps}.jsonl"
    if given.only is None:
        file.unlink(missing_ok=True)
    active = chosen(given.only, entries)
    runner = Runner(Store(file), given.out / "episodes", TIMED_FOR, active)
    found = runner.run([Run(entry, {}, key, 0, given.steps) for entry in entries])
    return key, {run.entry.name: result for run, result in found if "decide" in result}


def any_played(peers: Mapping[str, Pair]) -> bool:
    return any(pair.default.played for pair in peers.values())


def command(given: argparse.Namespace) -> str:
    if given.full:
        return "make bench-peers-full"
    return f"python -m peers --steps {given.steps} --seeds {given.seeds}" + " --grid" * given.grid


def main(arguments: list[str] | None = None) -> int:
    given = parse(arguments)
    missing = absent()
    for library, why in missing.items():
        print(f"- without {library}: {why}")
    entries = [entry for entry in ENTRIES.values() if entry.library not in missing]
    size = Size(given.steps, given.seeds, given.grid)
    store = Store(given.out / "runs.jsonl")
    runner = Runner(store, given.out / "episodes", given.limit, chosen(given.only, entries))
    found = play(runner, entries, given.environments, size)
    pairs = {key: peers for key, peers in pairs_of(found).items() if any_played(peers)}
    timed, times = measure(given, entries)
    if all(ENTRIES[name].library == OWN for name in times):
        print("- no other library takes part, so that there is nothing to compare with")
    n_missing = sum(result["state"] == "not run" for _, result in found)
    setting = Setting(
        command(given), size, given.limit, timed, entries, missing, len(found), n_missing
    )
    folder = ROOT / "docs" if given.full else given.out
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [folder / "benchmarks.svg", folder / "benchmarks.png"]
    draw(points(pairs, times), pictures)
    file = folder / "benchmarks.md"
    file.write_text(page(pairs, times, setting, pictures[0].name), encoding="utf-8")
    print(f"written: {file}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
