"""Policies of this library and of others on the same steps: regret, time and memory.

    make bench-peers         a short version
    make bench-peers-full    all of it, and docs/benchmarks.md with it

Finished runs are kept, one line each, and not repeated while versions and code are the same: a
benchmark that was interrupted goes on where it stood.
"""

import argparse
from pathlib import Path

from peers.lineup import ENTRIES, OWN
from peers.page import Setting, page
from peers.picture import draw, points
from peers.player import Entry
from peers.registry import absent
from peers.running import Runner, plan
from peers.store import Store
from peers.summary import lines_of, pairs_of
from peers.worlds import TITLES

ROOT = Path(__file__).parents[2]
SHORT = ("shuttle", "adult", "sports")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--full", action="store_true", help="everything, written to docs/")
    add("--steps", type=int, help="of a run (default 2000, full 10000)")
    add("--seeds", type=int, help="how many (default 1, full 5)")
    add("--environments", nargs="+", choices=TITLES, metavar="NAME", help=", ".join(TITLES))
    add("--peers", nargs="+", metavar="TEXT", help="only those whose name has one of these")
    add("--grid", action="store_true", help="other constants too, as in full")
    add("--limit", type=float, help="seconds of processor time of a run (default 60, full 1200)")
    add("--out", type=Path, default=ROOT / "results" / "peers", help="where results are kept")
    given = parser.parse_args(arguments)
    for name, short, full in (("steps", 2000, 10_000), ("seeds", 1, 5), ("limit", 60.0, 1200.0)):
        if getattr(given, name) is None:
            setattr(given, name, full if given.full else short)
        if getattr(given, name) <= 0:
            parser.error(f"--{name} must be above 0")
    given.environments = given.environments or list(TITLES if given.full else SHORT)
    given.grid |= given.full
    given.out = given.out.resolve()
    return given


def chosen(texts: list[str] | None, missing: dict[str, str]) -> list[Entry]:
    """Return what can run and is asked for; Uniform always, as regret is measured by it."""
    here = [entry for entry in ENTRIES.values() if entry.library not in missing]
    if texts is None:
        return here
    wanted = [*texts, "Uniform"]
    return [entry for entry in here if any(text.lower() in entry.name.lower() for text in wanted)]


def command(given: argparse.Namespace) -> str:
    if given.full:
        return "make bench-peers-full"
    return f"python -m peers --steps {given.steps} --seeds {given.seeds}" + " --grid" * given.grid


def main(arguments: list[str] | None = None) -> int:
    given = parse(arguments)
    missing = absent()
    entries = chosen(given.peers, missing)
    for library, why in missing.items():
        print(f"- without {library}: {why}")
    if all(entry.library == OWN for entry in entries):
        print("- no other library takes part, so that there is nothing to compare with")
    runs = plan(entries, given.environments, given.seeds, given.steps, given.grid)
    runner = Runner(Store(given.out / "runs.jsonl"), given.out / "episodes", given.limit)
    pairs = pairs_of(lines_of(runner.run(runs)), given.steps)
    setting = Setting(
        command(given), given.steps, given.seeds, given.limit, given.grid, entries, missing
    )
    folder = ROOT / "docs" if given.full else given.out
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [folder / "benchmarks.svg", folder / "benchmarks.png"]
    draw(points(pairs, given.steps), pictures)
    file = folder / "benchmarks.md"
    file.write_text(page(pairs, setting, pictures[0].name), encoding="utf-8")
    print(f"written: {file}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
