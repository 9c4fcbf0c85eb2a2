"""Times and memory of the trees, as ratios against scikit-learn in the same run, on one thread."""

import os

# Before numpy and scikit-learn are loaded, which read it once.
os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import argparse
import itertools
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from data import GROWTH, N_FEATURES, QUICK, Data, FloatArray, Plan, covertype
from measuring import best_times, duration, in_new_process, multiple, progress
from peer_tree import mid_points, peer_classifier, peer_tree
from row_by_row import (
    MAX_BINS,
    Learning,
    learn_all_the_way,
    learn_rows,
    narrowest_bytes,
    slide_window,
)

import banditree as bt

FOLDS = 10
ENCODED = 8 * (N_FEATURES + 1)  # bytes of a row as the encoder hands it to the core, and its reward


@dataclass(frozen=True)
class Line:
    """A row of the table; without a target it is there for comparison."""

    what: str
    ours: str
    peer: str = ""
    figure: str = ""
    target: str = ""
    met: bool | None = None


# Fitting and pruning


def fits(data: Data, plan: Plan) -> tuple[list[Line], float]:
    """Return the lines, and the time of the faster of scikit-learn's two trees."""
    x, y = data.contexts[: plan.rows], data.rewards[: plan.rows]
    exact, binned, regressor, classifier = best_times(
        plan.repeats,
        lambda: bt.Tree().fit(x, y),
        lambda: bt.Tree(max_bins=MAX_BINS).fit(x, y),
        lambda: peer_tree().fit(x, y),
        lambda: peer_classifier().fit(x, y),
    )
    peer = min(regressor, classifier)
    name = "regressor" if regressor <= classifier else "classifier"
    slower = "classifier" if regressor <= classifier else "regressor"
    return [
        faster(f"fit, against the {name}", exact, peer, 3),
        faster(f"  against the {slower}", exact, max(regressor, classifier)),
        faster(f"fit, max_bins={MAX_BINS}, against the {name}", binned, peer, 10),
    ], peer


def pruning(data: Data, plan: Plan) -> tuple[list[Line], str]:
    """Return the lines, and how scikit-learn's time was extrapolated."""
    x, y = data.contexts[: plan.rows], data.rewards[: plan.rows]
    folds = np.random.default_rng(0).permutation(plan.rows) % FOLDS

    def ours() -> Any:
        tree = bt.Tree().fit(x, y)
        return tree.pruning_path(), tree.cross_validate(folds)

    def peer_path(rows: Any = slice(None)) -> Any:  # fits the tree, too
        return peer_tree().cost_complexity_pruning_path(x[rows], y[rows])

    path, validated, peer = best_times(
        plan.repeats, lambda: bt.Tree().fit(x, y).pruning_path(), ours, peer_path
    )
    alphas = mid_points(peer_path().ccp_alphas)
    progress(
        f"scikit-learn: {plan.timed_alphas} of {len(alphas)} alphas in {plan.timed_folds} folds"
    )
    refit = time_per_alpha(x, y, folds, alphas, plan)
    peer_validated = peer + FOLDS * len(alphas) * refit
    (peer_paths,) = best_times(1, lambda: [peer_path(folds != fold) for fold in range(FOLDS)])
    note = (
        f"scikit-learn's cross-validation is extrapolated: {len(alphas)} alphas x {FOLDS} folds x "
        f"{duration(refit)},\n  the mean of {plan.timed_alphas} evenly spaced alphas in "
        f"{plan.timed_folds} of the folds"
    )
    return [
        faster(f"fit, path and {FOLDS}-fold cross-validation", validated, peer_validated, 50),
        faster(f"  against {FOLDS + 1} fits and paths, no errors", validated, peer + peer_paths),
        faster("  fit and path only", path, peer),
    ], note


def time_per_alpha(
    x: FloatArray, y: FloatArray, folds: Any, alphas: FloatArray, plan: Plan
) -> float:
    """Return scikit-learn's mean time to fit, prune and score one alpha in one fold."""
    middles = (np.arange(plan.timed_alphas) + 0.5) / plan.timed_alphas
    chosen = alphas[(middles * len(alphas)).astype(int)]

    def held_out_error(alpha: float, fold: int) -> Any:
        rest = folds != fold
        tree = peer_tree(ccp_alpha=alpha).fit(x[rest], y[rest])
        return ((y[~rest] - tree.predict(x[~rest])) ** 2).sum()

    times = [
        best_times(1, lambda alpha=alpha, fold=fold: held_out_error(alpha, fold))[0]
        for alpha, fold in itertools.product(chosen, range(plan.timed_folds))
    ]
    return float(np.mean(times))


# Predicting


def predicting(data: Data, plan: Plan) -> list[Line]:
    x, y = data.contexts[: plan.rows], data.rewards[: plan.rows]
    tree = bt.Tree().fit(x, y)
    peer = peer_tree().fit(x, y)
    contexts = list(itertools.islice(itertools.cycle(x), plan.predictions))
    tables = [context.reshape(1, -1) for context in contexts[: plan.peer_predictions]]
    ours, theirs = best_times(
        plan.repeats,
        lambda: [tree.predict(context) for context in contexts],
        lambda: [peer.predict(table) for table in tables],
    )
    ours, theirs = ours / len(contexts), theirs / len(tables)
    line = faster("predict one context", ours, theirs)
    return [judged(line, f"at most {duration(2e-6)}", ours <= 2e-6)]


# Learning row by row


def learning(plan: Plan, refit: float, full: bool) -> list[Line]:
    """Return the lines, given the time of one fit of scikit-learn."""
    few, many = plan.rows, GROWTH * plan.rows
    at_few = in_new_process(learn_rows, few, plan)
    at_many = in_new_process(learn_rows, many, plan)
    window = slide_window(few, plan)
    lines = [
        faster(f"learn one row at {few:,}, against a refit", at_few.mean, refit, 300),
        spread(at_few),
        faster(f"learn and forget one in a window of {few:,}, against a refit", window, refit),
        grown(f"learn one row at {many:,}, against {few:,}", at_many.mean, at_few.mean),
        spread(at_many),
    ]
    memory = [remembered(f"memory per row at {few:,}", at_few)]
    memory += [remembered(f"memory per row at {many:,}", at_many)]
    if full:
        progress(f"learning from {few:,} to {many:,} rows one by one")
        way = in_new_process(learn_all_the_way, many, plan)
        lines.append(
            grown(f"mean from {few:,} to {many:,}, against {few:,}", way.mean, at_few.mean)
        )
        lines.append(
            grown(f"  its last {few:,} rows, against its first", way.means[-1], way.means[0])
        )
        lines.append(spread(way))
        memory.append(remembered(f"memory per row at {many:,}, one by one", way))
    return lines + memory


# The table


def size(n_bytes: float) -> str:
    return f"{n_bytes:.0f} B"


def judged(line: Line, target: str, met: bool) -> Line:
    return Line(line.what, line.ours, line.peer, line.figure, target, met)


def faster(what: str, ours: float, peer: float, least: float | None = None) -> Line:
    line = Line(what, duration(ours), duration(peer), multiple(peer / ours))
    return line if least is None else judged(line, f"at least {least}x", peer / ours >= least)


def grown(what: str, later: float, earlier: float) -> Line:
    ratio = later / earlier
    line = Line(what, duration(later), duration(earlier), multiple(ratio))
    return judged(line, "below 3x", ratio < 3)


def spread(learned: Learning) -> Line:
    low, high = duration(min(learned.means)), duration(max(learned.means))
    parts = [f"means {low} to {high}"] if len(learned.means) > 1 else []
    parts.append(f"median {duration(float(np.median(learned.medians)))}")
    parts.append(f"longest {duration(learned.longest)}")
    if learned.warm_up:
        parts.append(f"warm-up {duration(learned.warm_up)} in all")
    return Line("  " + ", ".join(parts), "")


def remembered(what: str, learned: Learning) -> Line:
    ratio = learned.held / ENCODED
    what += f" (rows {size(learned.rows)}, process grew by {size(learned.resident)})"
    line = Line(what, size(learned.held), size(ENCODED), multiple(ratio))
    return judged(line, "at most 2x", ratio <= 2)


def show(lines: list[Line]) -> None:
    verdicts = {None: "", True: "ok", False: "missed"}
    heading = Line("", "banditree", "against", "ratio", "target")
    width = max(len(line.what) for line in lines if line.ours)
    for line in [heading, *lines]:
        verdict = verdicts[line.met]
        cells = f"{line.ours:>10} {line.peer:>10} {line.figure:>9}  {line.target:<15} {verdict}"
        print(f"{line.what:<{width}} {cells}".rstrip())


def parse(arguments: list[str] | None) -> tuple[Plan, argparse.Namespace]:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="Covertype is read from covertype.parquet in $BANDITREE_DATA; without it, made-up "
        "data of the same shape is used. The targets are meant for 20,000 rows of Covertype.",
    )
    parser.add_argument(
        "--rows", type=int, help=f"rows to fit (default 20000); learning goes up to {GROWTH} times"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few rows and repetitions: only to see that it runs"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help=f"also learn one by one all the way to {GROWTH} times the rows, which may take long",
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else Plan()
    if options.rows is not None:
        if options.rows < 100:
            parser.error(f"--rows must be at least 100, got {options.rows}")
        plan = Plan(**{**vars(plan), "rows": options.rows})
    available = len(covertype(plan.most_rows).rewards)
    if available < plan.most_rows:
        parser.error(f"--rows {plan.rows} needs {plan.most_rows:,} rows, there are {available:,}")
    return plan, options


def main(arguments: list[str] | None = None) -> int:
    plan, options = parse(arguments)
    data = covertype(plan.rows)
    print(f"{data.name}: {plan.rows:,} rows, one thread, CPU time")
    progress("fitting")
    lines, refit = fits(data, plan)
    progress("pruning and cross-validation")
    pruned, note = pruning(data, plan)
    lines += pruned
    progress("predicting")
    lines += predicting(data, plan)
    lines += learning(plan, refit, options.full)
    show(lines)
    print(f"- fit, path and predict: the best of {plan.repeats} repetitions, taken in turns")
    print(f"- {note}")
    print(
        f"- learn: max_bins={MAX_BINS}; the mean of {plan.learns:,} rows after {plan.warm_up} to "
        f"warm up; shuffles of the data: {plan.shuffles};\n  the bins are renewed each time the "
        "rows have grown by a quarter, which only --full is sure to include"
    )
    print(
        "- memory: what the tree holds, against its rows as the encoder makes them, all float64;\n"
        f"  in the narrowest types that hold this data they would take {narrowest_bytes(data)} B;\n"
        "  in brackets, the part of it for the rows themselves, and how the process grew"
    )
    missed = [line for line in lines if line.met is False]
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
