"""Carries out the runs of the benchmark, one after the other, each in a process of its own."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from peers.one_run import Order, write
from peers.player import Entry
from peers.store import Run, Store
from peers.worlds import environment

FOLDER = Path(__file__).parents[1]
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
)
PATIENCE = 4.0  # times the limit on processor time, by the clock, until a process is ended
WARM_UP = 120.0  # seconds by the clock, on top


def plan(
    entries: Iterable[Entry], keys: Sequence[str], seeds: int, steps: int, grid: bool
) -> list[Run]:
    """Return all runs, those of one seed together, so that an interrupted run has all of some."""
    return [
        Run(entry, dict(constants), key, seed, steps)
        for seed in range(seeds)
        for key in keys
        for entry in entries
        for constants in ({}, *(entry.grid if grid else ()))
    ]


class Runner:
    """Runs what is not in the store yet."""

    def __init__(self, store: Store, folder: Path, limit: float) -> None:
        self.store, self.folder, self.limit = store, folder, limit
        self.prints: dict[str, str] = {}
        self.over: set[tuple[str, str, str]] = set()

    def run(self, runs: Sequence[Run]) -> list[tuple[Run, dict[str, Any]]]:
        from tqdm import tqdm

        found = []
        with tqdm(runs, unit="run", dynamic_ncols=True) as bar:
            for run in bar:
                bar.set_postfix_str(str(run))
                found.append((run, self.result(run)))
        return found

    def result(self, run: Run) -> dict[str, Any]:
        key = run.key(self.fingerprint(run.environment))
        result = self.store.finished(key, self.limit)
        what = run.entry.name, json.dumps(run.constants), run.environment
        if result is None:
            if what in self.over:
                return {"state": "skipped"}  # another seed took too long
            result = {**self.play(run), "limit": self.limit, "run": str(run)}
            self.store.add(key, result)
        if result["state"] == "over":
            self.over.add(what)
        return result

    def fingerprint(self, key: str) -> str:
        if key not in self.prints:
            self.prints[key] = json.dumps(environment(key).fingerprint(), sort_keys=True)
        return self.prints[key]

    def play(self, run: Run) -> dict[str, Any]:
        order = Order(run.entry.name, run.constants, run.seed, self.episode(run), self.limit)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "peers.one_run"],
                input=write(order), cwd=FOLDER, env={**os.environ, **ONE_THREAD},
                capture_output=True, text=True, check=False,
                timeout=PATIENCE * self.limit + WARM_UP,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"state": "failed", "error": f"one step took more than {self.limit:g} s"}
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return {"state": "failed", "error": f"exit code {done.returncode}: {last}"}
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return result

    def episode(self, run: Run) -> str:
        """Return the file of an episode, which is written once for all peers."""
        told = hashlib.sha256(self.fingerprint(run.environment).encode()).hexdigest()[:12]
        file = self.folder / f"{run.environment}-{told}-{run.seed}-{run.steps}.npz"
        if not file.exists():
            shown = environment(run.environment).episode(run.steps, run.seed)
            file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(
                file, contexts=shown.contexts, rewards=shown.rewards, regrets=shown.regrets,
                categorical=np.array(shown.categorical, dtype=int),
            )  # fmt: skip
        return str(file)
