"""The command `banditree`."""

import argparse
import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from banditree.errors import BanditreeError, DataError, StateError
from banditree.signs import make_streams_plain

if TYPE_CHECKING:
    from banditree.studies import Study

# What a shell expects: 1 for a failure, 2 for a wrong use, 130 for Ctrl-C.
FAILED, MISUSED, INTERRUPTED = 1, 2, 130

REPRODUCE = """\
Run the experiments of "A Practical Method for Solving Contextual Bandit Problems Using
Decision Trees" and write a report with its figures and claims.

Finished runs are kept: the same command again goes on where it stopped, or only writes the
report. Data sets are looked for in $BANDITREE_DATA, then in the cache, then downloaded; one that
cannot be had is skipped, and the report says so."""
REPRODUCE_EXAMPLES = """\
examples:
  banditree reproduce                               all of it in a quick version, minutes
  banditree reproduce --full                        10,000 steps and more, 10 seeds and more,
                                                    all constants: 90 minutes on two processors
  banditree reproduce --figure 2                    only what Figure 2 needs
  banditree reproduce --tasks adult --policies TreeHeuristic LinUCB --horizon 5000"""
RUN = """\
Run a study of your own: policies × environments × seeds, described in a TOML file.

The report goes beside the results. Finished runs are kept, so a study that was interrupted, or
has got another policy, goes on where it stood."""
RUN_EXAMPLES = """\
a study file:
  horizon = 2000
  policies = ["TreeHeuristic", "LinUCB", "Uniform"]
  [environments.shop]
  file = "visits.parquet"
  label = "bought"

Instead of the list of policies, a table for each can set parameters; a list of values is a grid,
of which the report names the best:
  [policies.TreeHeuristic]
  [policies.LinUCB]
  alpha = [0.1, 1.0, 10.0]

docs/studies.md has all keys."""
REPORT = """\
Write report.html, report.md and the figures of finished runs once more, for instance while a
study is under way, or after an update."""
EVALUATE = """\
Say what others would have earned per decision, had they decided in the contexts of a log.

A policy named by its class learns as it goes (doubly robust replay); one named by its file is
evaluated as it is. What is finished is kept, so that an evaluation that was interrupted goes on
where it stood."""
EVALUATE_EXAMPLES = """\
examples:
  banditree evaluate log.parquet --policies TreeHeuristic Bandit LinUCB
  banditree evaluate visits.csv --policies policy.bt always:golf --arm item --reward click \\
      --propensity p --context age city --no-reward 0

docs/evaluation.md says how to read what it prints, and when not to trust it."""
DATA = """\
The data sets of the paper: adult, shuttle, covertype and census. They are looked for in
$BANDITREE_DATA, then in the cache ($BANDITREE_CACHE, or the system's own)."""
TASKS = "sports, adult, shuttle, covertype, census, digits; full: covertype-long, adult-long"
POLICIES = (
    "TreeBootstrap, TreeHeuristic, ThompsonSampling, BanditForest, LinUCB, LogisticUCB, "
    'OfflineTree, "TreeBootstrap, prior", "BanditForest, radius/4", OnlineTreeBootstrap, Greedy, '
    'Uniform; full: "LinUCB, λ=1", "LogisticUCB, λ=1"'
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    make_streams_plain()
    options = _parser().parse_args(arguments)
    try:
        code: int = options.do(options)
        return code
    except (DataError, StateError) as error:
        print(f"banditree: {error}", file=sys.stderr)
        return FAILED
    except BanditreeError as error:
        print(f"banditree: {error}", file=sys.stderr)
        return MISUSED
    except KeyboardInterrupt:
        print("\nbanditree: interrupted; what was finished is kept", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe had enough
        sys.stderr.close()
        return FAILED
    except OSError as error:
        # Without "[Errno 13]", which says nothing to most.
        reason = f"{error.strerror}: {error.filename!r}" if error.filename else error
        print(f"banditree: {reason}", file=sys.stderr)
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="banditree", description="Contextual bandits with decision trees and the bootstrap."
    )
    parser.add_argument("--version", action="version", version=f"banditree {version('banditree')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_reproduce(commands)
    _add_run(commands)
    _add_evaluate(commands)
    report = commands.add_parser(
        "report", help="write the report of results once more", description=REPORT
    )
    report.add_argument("folder", type=Path, metavar="DIR", help="the folder with the results")
    report.set_defaults(do=_report)
    _add_data(commands)
    return parser


def _add_study_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    description: str,
    examples: str,
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_reproduce(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = _add_study_command(
        commands, "reproduce", "re-run the paper's experiments", REPRODUCE, REPRODUCE_EXAMPLES
    )
    parser.add_argument("--full", action="store_true", help="the real thing instead of a quick one")
    parser.add_argument(
        "--figure", type=int, choices=(1, 2, 3, 4), help="only what this figure of the paper needs"
    )
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help=f"only these: {TASKS}")
    parser.add_argument("--policies", nargs="+", metavar="POLICY", help=f"only these: {POLICIES}")
    parser.add_argument(
        "--horizon",
        type=int,
        metavar="STEPS",
        help="of each run (default: 1,000; full: 10,000 or more)",
    )
    parser.add_argument(
        "--repeats", type=int, metavar="N", help="how many seeds (default: 3; full: 10, sports 20)"
    )
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    _add_running(parser, "results/paper")
    parser.set_defaults(do=_reproduce)


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = _add_study_command(commands, "run", "run a study of your own", RUN, RUN_EXAMPLES)
    parser.add_argument("study", type=Path, metavar="STUDY.toml", help="the study")
    _add_running(parser, "results/NAME")
    parser.set_defaults(do=_run)


def _add_evaluate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = _add_study_command(
        commands, "evaluate", "what others would have earned", EVALUATE, EVALUATE_EXAMPLES
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="a Parquet or CSV file")
    parser.add_argument(
        "--policies", nargs="+", required=True, metavar="POLICY", help="names, files, always:ARM"
    )
    parser.add_argument("--arm", default="arm", metavar="COLUMN", help="what was offered")
    parser.add_argument("--reward", default="reward", metavar="COLUMN", help="what it paid")
    parser.add_argument(
        "--propensity",
        default="propensity",
        metavar="COLUMN",
        help="with which probability it was drawn; 'estimate' if that is not known",
    )
    parser.add_argument(
        "--context", nargs="+", metavar="COLUMN", help="what was known (default: all others)"
    )
    parser.add_argument("--eligible", metavar="COLUMN", help="which arms could be drawn: a|b|c")
    parser.add_argument("--time", metavar="COLUMN", help="by which rows are sorted")
    parser.add_argument(
        "--no-reward",
        default="refuse",
        metavar="WHAT",
        help="of rows without one: 'refuse', 'leave out', or the reward that they have",
    )
    parser.add_argument("--seed", type=int, default=0, help="of all that is random (default: 0)")
    _add_running(parser, "results/evaluation-LOG")
    parser.set_defaults(do=_evaluate)


def _add_running(parser: argparse.ArgumentParser, out: str) -> None:
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes (default: one per processor)"
    )
    parser.add_argument("--ray", metavar="ADDRESS", help='run on a Ray cluster, such as "auto"')
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help=f"where results go (default: {out})"
    )


def _add_data(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("data", help="list, fetch and find data sets", description=DATA)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    actions.add_parser("list", help="what there is, and where").set_defaults(do=_data_list)
    fetch = actions.add_parser("fetch", help="download a data set, unless it is here already")
    fetch.add_argument("name", nargs="+", metavar="NAME", help="as in `banditree data list`")
    fetch.set_defaults(do=_data_fetch)
    path = actions.add_parser("path", help="print where a data set is")
    path.add_argument("name", metavar="NAME", help="as in `banditree data list`")
    path.set_defaults(do=_data_path)


def _reproduce(options: argparse.Namespace) -> int:
    from banditree.studies.paper import FIGURES, paper_study

    folder = options.out or Path("results/paper")
    if options.figure == 1:
        return _draw_figure_1(folder)
    wanted = FIGURES[options.figure] if options.figure else {}
    study = paper_study(
        full=options.full,
        tasks=options.tasks or wanted.get("tasks"),
        policies=options.policies or wanted.get("policies"),
        horizon=options.horizon,
        seeds=options.repeats,
        first_seed=options.seed,
    )
    return _carry_out(study, folder, options)


def _draw_figure_1(folder: Path) -> int:
    from banditree.studies.reports.click_trees import click_trees_figure
    from banditree.studies.reports.figure_style import save_figure
    from banditree.studies.store import make_folder

    figures = make_folder(folder) / "figures"
    for path in save_figure(click_trees_figure(), figures, "figure-1-golf"):
        print(path)
    return 0


def _run(options: argparse.Namespace) -> int:
    from banditree.studies import read_study

    study = read_study(options.study)
    # A name may have anything in it, also what no folder may be called.
    folder = re.sub(r"[^\w.-]+", "-", study.name).strip("-.") or "study"
    return _carry_out(study, options.out or Path("results") / folder, options)


def _carry_out(study: "Study", folder: Path, options: argparse.Namespace) -> int:
    from banditree.studies import run_study
    from banditree.studies.extra import TO_REPORT, TO_RUN, check_extra

    check_extra(*TO_RUN, *TO_REPORT)
    failures = run_study(study, folder, workers=options.workers, ray=options.ray)
    details = folder / "failures.txt"
    if failures:
        details.write_text("\n".join(f"{f.run}\n{f.details}" for f in failures), encoding="utf-8")
        count = "1 run" if len(failures) == 1 else f"{len(failures)} runs"
        print(f"{count} failed; details are in {details}", file=sys.stderr)
    else:
        details.unlink(missing_ok=True)
    _write_report(folder)
    return FAILED if failures else 0


def _evaluate(options: argparse.Namespace) -> int:
    from banditree.studies.evaluations import LogSource, evaluate_all
    from banditree.studies.extra import TO_REPORT, check_extra
    from banditree.studies.reports.evaluation import write_evaluation

    check_extra(*TO_REPORT)
    source = LogSource(
        path=str(options.log.resolve()),
        arm=options.arm,
        reward=options.reward,
        propensity=None if options.propensity == "estimate" else options.propensity,
        context=None if options.context is None else tuple(options.context),
        eligible=options.eligible,
        time=options.time,
        no_reward=_number_or_word(options.no_reward),
    )
    folder = options.out or Path("results") / f"evaluation-{options.log.name.partition('.')[0]}"
    log, found, failures = evaluate_all(
        options.policies,
        source,
        folder,
        seed=options.seed,
        workers=options.workers,
        ray=options.ray,
    )
    print(log)
    for failure in failures:
        print(f"banditree: {failure.run} failed: {failure.error}", file=sys.stderr)
    if found is not None:
        print(f"\n{found}\n")
        print(f"report: {write_evaluation(options.log.name, log, found, folder)}")
    return FAILED if failures else 0


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _report(options: argparse.Namespace) -> int:
    _write_report(options.folder)
    return 0


def _write_report(folder: Path) -> None:
    from banditree.studies import read_results
    from banditree.studies.reports import summary, write_report

    results = read_results(folder)
    print(summary(results))
    print(f"report: {write_report(results, folder)}")


def _data_list(options: argparse.Namespace) -> int:
    from banditree.environments.datasets import describe

    listings = describe()
    wide = max(len(listing.key) for listing in listings)
    for listing in listings:
        rows = "" if listing.rows is None else f"{listing.rows:,} rows"
        print(f"{listing.key:<{wide}}  {rows:>14}  {listing.where}  ({listing.licence})")
    return 0


def _data_fetch(options: argparse.Namespace) -> int:
    from banditree.environments.datasets import verify
    from banditree.environments.download import fetch

    for name in options.name:
        path = fetch(name)
        verify(name, path)  # a file that was here already may be another
        print(path)
    return 0


def _data_path(options: argparse.Namespace) -> int:
    from banditree.environments.datasets import how_to_get, locate

    path = locate(options.name)
    if path is None:
        print(f"banditree: {options.name} is not here; {how_to_get(options.name)}", file=sys.stderr)
        return FAILED
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
