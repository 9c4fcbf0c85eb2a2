"""What it takes a tree to learn row by row, or to forget: time, and memory."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from data import Data, FloatArray, Plan, covertype
from measuring import duration, progress, resident_bytes

import banditree as bt

MAX_BINS = 255


@dataclass(frozen=True)
class Learning:
    """What it took to learn row by row; times in seconds, memory in bytes per row."""

    means: list[float]  # of each shuffle of the data, or of each stretch of the way
    medians: list[float]
    longest: float
    warm_up: float  # in all, the mean of the shuffles
    held: float
    rows: float  # the part of it that is the rows themselves
    narrowest: float  # their size in the narrowest types that hold them
    resident: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.means))


def learn_rows(n_rows: int, plan: Plan) -> Learning:
    """Load rows at once, then learn further ones singly; anew for each shuffle of the data."""
    means, medians, warm_ups, longest = [], [], [], 0.0
    memory = (0.0, 0.0, 0.0, 0.0)
    for shuffle in range(plan.shuffles):
        progress(f"learning at {n_rows:,} rows, shuffle {shuffle + 1} of {plan.shuffles}")
        data = covertype(n_rows + plan.warm_up + plan.learns, shuffle)
        before = resident_before(data)
        tree = bt.IncrementalTree(max_bins=MAX_BINS)
        tree.learn_many(data.contexts[:n_rows], data.rewards[:n_rows])
        first, times = np.split(learn_singly(tree, data), [plan.warm_up])
        warm_ups.append(float(first.sum()))
        means.append(float(times.mean()))
        medians.append(float(np.median(times)))
        longest = max(longest, float(times.max()))
        if shuffle == 0:
            memory = bytes_per_row(tree, data, before)
    return Learning(means, medians, longest, float(np.mean(warm_ups)), *memory)


def learn_all_the_way(n_rows: int, plan: Plan) -> Learning:
    """Learn singly from the smaller number of rows to the larger."""
    data = covertype(n_rows)
    before = resident_before(data)
    tree = bt.IncrementalTree(max_bins=MAX_BINS)
    tree.learn_many(data.contexts[: plan.rows], data.rewards[: plan.rows])
    times = learn_singly(tree, data, report_every=plan.rows)
    memory = bytes_per_row(tree, data, before)
    stretches = times.reshape(-1, plan.rows)
    means, medians = stretches.mean(axis=1).tolist(), np.median(stretches, axis=1).tolist()
    return Learning(means, medians, float(times.max()), 0.0, *memory)


def learn_singly(tree: bt.IncrementalTree, data: Data, report_every: int = 0) -> FloatArray:
    """Learn the rows that the tree has not learned yet, and return the time of each."""
    start = len(tree)
    times = np.empty(len(data.rewards) - start)
    for i, reward in enumerate(data.rewards[start:].tolist()):
        context = data.contexts[start + i]
        begun = time.process_time()
        tree.learn(context, reward)
        times[i] = time.process_time() - begun
        if report_every and (i + 1) % report_every == 0:
            mean = times[i + 1 - report_every : i + 1].mean()
            progress(f"{start + i + 1:,} rows learned; mean of the last {duration(mean)}")
    return times


def slide_window(n_rows: int, plan: Plan) -> float:
    """Return the mean time to learn a row and forget the oldest, in a window of so many rows."""
    progress(f"learning and forgetting in a window of {n_rows:,} rows")
    data = covertype(n_rows + plan.learns)
    tree = bt.IncrementalTree(max_bins=MAX_BINS)
    tree.learn_many(data.contexts[:n_rows], data.rewards[:n_rows])
    begun = time.process_time()
    for context, reward in zip(data.contexts[n_rows:], data.rewards[n_rows:].tolist(), strict=True):
        tree.learn(context, reward)
        tree.forget()
    return (time.process_time() - begun) / plan.learns


def resident_before(data: Data) -> float:
    """Return the memory of this process once the code for learning has been loaded."""
    tree = bt.IncrementalTree(max_bins=MAX_BINS)
    tree.learn_many(data.contexts[:100], data.rewards[:100])
    tree.learn(data.contexts[100], data.rewards[100])
    del tree
    return resident_bytes()


def bytes_per_row(
    tree: bt.IncrementalTree, data: Data, before: float
) -> tuple[float, float, float, float]:
    """Return what the tree holds, its rows, their narrowest size, and how the process has grown."""
    resident = resident_bytes()
    core = tree._core
    in_all = (core.bytes, core.encoded_bytes, resident - before)
    held, rows, grown_by = (n_bytes / len(tree) for n_bytes in in_all)
    return held, rows, narrowest_bytes(data), grown_by


def narrowest_bytes(data: Data) -> int:
    """Return the size of a row and its reward, each whole-numbered column in its narrowest type."""
    return sum(narrowest(column).itemsize for column in [*data.contexts.T, data.rewards])


def narrowest(column: FloatArray) -> np.dtype[Any]:
    for name in ("u1", "i1", "u2", "i2", "u4", "i4"):
        limits = np.iinfo(name)
        if limits.min <= column.min() and column.max() <= limits.max:
            return np.dtype(name)
    return column.dtype
