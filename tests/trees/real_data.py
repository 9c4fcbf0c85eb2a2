"""Rows of real data sets with a 0/1 reward; made-up rows of the same shape where there are none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20170811
NAMES = ("adult", "shuttle", "covertype", "census")
CODES = np.array(["ab", "c", "defg", "?", *(f"code {i}" for i in range(40))])


@dataclass(frozen=True)
class Stream:
    contexts: Any  # a list of mappings, or a 2-D array
    y: np.ndarray


@dataclass(frozen=True)
class Source:
    file: str
    target: str
    chosen: Any  # the class whose rows have reward 1
    left_out: tuple[str, ...] = ()
    unknown: Any = None  # rows whose class is this are left out
    mapped: bool = False  # contexts are mappings
    ranges: tuple[int, ...] = ()  # made-up data: distinct values of each number feature
    categories: tuple[int, ...] = ()  # and of each string feature


SOURCES = {
    "adult": Source(
        "adult.parquet",
        target="occupation",
        chosen="Prof-specialty",
        left_out=("split",),
        unknown="?",
        mapped=True,
        ranges=(74, 28000, 16, 120, 90, 96),
        categories=(9, 16, 7, 6, 5, 2, 42, 2),
    ),
    "shuttle": Source(
        "shuttle.parquet",
        target="class",
        chosen=4,
        left_out=("split",),
        ranges=(77, 200, 50, 100, 80, 300, 70, 100, 60),
    ),
    "covertype": Source(
        "covertype.parquet",
        target="Cover_Type",
        chosen=2,
        ranges=(1900, 361, 60, 550, 700, 5700, 200, 180, 250, 5800, *(2,) * 44),
    ),
    "census": Source(
        "us_census_1990_first15317.parquet",
        target="dOccup",
        chosen=2,
        left_out=("caseid",),
        ranges=(8, 12, 3, 5, 17) * 13 + (6, 4),
    ),
}


def stream(name: str, n_rows: int) -> Stream:
    """Return the first rows of a data set in a fixed random order."""
    source = SOURCES[name]
    path = Path(os.environ.get("BANDITREE_DATA", "")) / source.file
    rng = np.random.default_rng(SEED)
    return _read(path, source, n_rows, rng) if path.is_file() else made_up(source, n_rows, rng)


def _read(path: Path, source: Source, n_rows: int, rng: np.random.Generator) -> Stream:
    import pyarrow.parquet as parquet

    table = parquet.read_table(path)
    target = np.array(table[source.target].to_pylist())
    known = np.flatnonzero(target != source.unknown)
    rows = rng.permutation(known)[:n_rows]
    features = table.drop_columns([source.target, *source.left_out]).take(rows)
    y = (target[rows] == source.chosen).astype(np.float64)
    if source.mapped:
        return Stream(features.to_pylist(), y)
    columns = [column.to_numpy().astype(np.float64) for column in features.columns]
    return Stream(np.ascontiguousarray(np.column_stack(columns)), y)


def made_up(source: Source, n_rows: int, rng: np.random.Generator) -> Stream:
    """Return rows with as many features of each kind, the first of which matter."""
    numbers = [np.floor(k * rng.beta(1, 2, n_rows)) for k in source.ranges]
    codes = [np.floor(k * rng.beta(1, 2, n_rows)).astype(int) for k in source.categories]
    score = numbers[0] / source.ranges[0] + (numbers[-1] > 0) + (codes[0] % 2 if codes else 0)
    y = (score + rng.normal(0, 0.5, n_rows) > np.median(score) + 0.3).astype(np.float64)
    if not source.mapped:
        return Stream(np.column_stack(numbers), y)
    columns = {f"number {i}": column.tolist() for i, column in enumerate(numbers)}
    columns |= {f"string {i}": CODES[column].tolist() for i, column in enumerate(codes)}
    rows = zip(*columns.values(), strict=True)
    return Stream([dict(zip(columns, row, strict=True)) for row in rows], y)
