"""Results made by hand, for tests of what is done with results."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from banditree.studies.summary import Cell, Results

HORIZON = 1000
STEPS = np.arange(10, HORIZON + 1, 10)
Rates = float | Sequence[float]  # regret per step, always or in each tenth of the steps


def cell(
    label: str,
    environment: str,
    rates: Rates,
    parameters: dict[str, Any] | None = None,
    *,
    seeds: Sequence[int] = range(5),
    noise: float = 0.01,
) -> Cell:
    """A cell of runs with about these rates. The noise of a run depends on what it is."""
    tenths = np.broadcast_to(rates, 10)
    parameters = parameters or {}
    curves = []
    for seed in seeds:
        name = f"{label} {parameters} {environment} {seed}"
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        per_step = np.repeat(tenths, len(STEPS) // 10)
        curves.append(np.cumsum(10 * per_step * (1 + noise * rng.standard_normal(len(STEPS)))))
    return Cell(label, parameters, environment, tuple(seeds), STEPS, np.array(curves), 0.5)


def exact(label: str, environment: str, regrets: dict[int, float]) -> Cell:
    """A cell with these regrets by seed, made at an even pace."""
    curves = np.outer(list(regrets.values()), STEPS / HORIZON)
    return Cell(label, {}, environment, tuple(regrets), STEPS, curves, 0.5)


def results(cells: Sequence[Cell], **changes: Any) -> Results:
    about: dict[str, Any] = {
        "name": "made up",
        "horizon": HORIZON,
        "environments": list(dict.fromkeys(cell.environment for cell in cells)),
        "labels": list(dict.fromkeys(cell.label for cell in cells)),
        "skipped": {},
        "missing": 0,
        "version": "1.2.3",
    }
    return Results(cells=list(cells), **(about | changes))


def small(**changes: Any) -> Results:
    """Results of two policies in a shop."""
    return results([cell("TreeHeuristic", "shop", 0.2), cell("Uniform", "shop", 0.5)], **changes)


LEARNT = [0.1, 0.05, 0.02, 0.01, 0.005, 0.005, 0.005, 0.002, 0.002, 0.002]
CAUGHT_UP = [0.9, 0.88, 0.86, 0.84, 0.84, 0.82, 0.80, 0.78, 0.76, 0.76]
ALPHAS = {0.0001: 1.2, 0.001: 1.1, 0.01: 1.0, 0.1: 1.05, 1.0: 1.4, 10.0: 1.6}


def forest(uniform: float, settled: float, tenths: int = 8) -> list[float]:
    """The rates of a policy that explores for so many tenths, then has settled."""
    return [uniform] * tenths + [settled] * (10 - tenths)


# Results on which each of the paper's claims holds.
PAPER: dict[str, dict[str, Rates]] = {
    "sports": {
        "TreeBootstrap": LEARNT,
        "TreeHeuristic": LEARNT,
        "ThompsonSampling": 0.15,
        "BanditForest": forest(0.2, 0.03),
        "LinUCB": 0.05,
        "LogisticUCB": 0.045,
        "Uniform": 0.2,
    },
    "adult": {
        "TreeBootstrap": CAUGHT_UP,
        "TreeHeuristic": [rate - 0.01 for rate in CAUGHT_UP],
        "ThompsonSampling": 0.88,
        "BanditForest": forest(0.92, 0.85),
        "LinUCB": 0.74,
        "LogisticUCB": 0.72,
        "Uniform": 0.92,
        "OfflineTree": 0.6,
    },
    "shuttle": {
        "TreeBootstrap": 0.05,
        "TreeHeuristic": 0.04,
        "ThompsonSampling": 0.25,
        "BanditForest": forest(0.75, 0.1),
        "LinUCB": 0.12,
        "LogisticUCB": 0.1,
        "Uniform": 0.75,
        "OfflineTree": 0.01,
    },
    "covertype": {
        "TreeBootstrap": 0.4,
        "TreeHeuristic": 0.4,
        "ThompsonSampling": 0.6,
        "BanditForest": forest(0.86, 0.5),
        "LinUCB": 0.5,
        "LogisticUCB": 0.55,
        "Uniform": 0.86,
        "OfflineTree": 0.3,
    },
    "census": {
        "TreeBootstrap": CAUGHT_UP,
        "TreeHeuristic": CAUGHT_UP,
        "ThompsonSampling": 0.88,
        "BanditForest": forest(0.92, 0.85),
        "LinUCB": 0.72,
        "LogisticUCB": 0.7,
        "Uniform": 0.92,
        "OfflineTree": 0.6,
    },
}


def paper(
    changes: dict[tuple[str, str], Rates | None] | None = None,
    *,
    alphas: dict[float, float] = ALPHAS,
    seeds: Sequence[int] = range(5),
) -> Results:
    """The results of PAPER with other rates for some (task, policy), or without those of None.

    LinUCB has the rate with its best alpha, and with others so many times that.
    """
    cells = []
    for task, policies in PAPER.items():
        for label, usual in policies.items():
            rates = (changes or {}).get((task, label), usual)
            if rates is None:
                continue
            if label == "LinUCB":
                cells += [
                    cell(label, task, np.multiply(rates, times), {"alpha": alpha}, seeds=seeds)
                    for alpha, times in alphas.items()
                ]
            elif label == "BanditForest":
                depth = {"trees": 3, "depth": 4 if task == "sports" else 2}
                cells.append(cell(label, task, rates, depth, seeds=seeds))
            else:
                cells.append(cell(label, task, rates, seeds=seeds))
    return results(cells, command="banditree reproduce --full")


def everywhere(label: str, rates: Rates | None) -> dict[tuple[str, str], Rates | None]:
    """Changes for `paper`: a policy on all tasks."""
    return {(task, label): rates for task in PAPER}


# With the paper's other constants, and with alphas of which another is the best on the sports ads.
TIMES = {"sports": {0.001: 1.4, 0.01: 1.4, 0.1: 1.0}}
USUAL_TIMES = {0.001: 1.0, 0.1: 1.3}
ORIGINAL_TIMES = 1.1


def full_paper(
    changes: dict[tuple[str, str], Rates | None] | None = None, *, seeds: Sequence[int] = range(5)
) -> Results:
    """The results of `paper`, with those of which only the full version has."""
    known = paper(changes, seeds=seeds)
    cells = [c for c in known.cells if c.label != "LogisticUCB" and not _is_tuned_on_sports(c)]
    for task, policies in PAPER.items():
        for label in ("LinUCB", "LogisticUCB"):
            rates = (changes or {}).get((task, label), policies[label])
            tuned = label == "LogisticUCB" or task == "sports"
            for alpha, times in TIMES.get(task, USUAL_TIMES).items() if tuned else ():
                if rates is not None:
                    scaled = np.multiply(rates, times)
                    cells.append(cell(label, task, scaled, {"alpha": alpha}, seeds=seeds))
            original = f"{label}, λ=1"
            usual = np.multiply(policies[label], ORIGINAL_TIMES)
            given = (changes or {}).get((task, original), usual)
            if given is not None:
                cells.append(cell(original, task, given, seeds=seeds))
    return results(cells, command="banditree reproduce --full")


def _is_tuned_on_sports(known: Cell) -> bool:
    return known.label == "LinUCB" and known.environment == "sports"
