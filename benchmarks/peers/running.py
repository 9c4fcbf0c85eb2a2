"""Carries out the runs of the benchmark, one after the other, each in a process of its own."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from peers.one_run import Order, write
from peers.store import Run, Store
from peers.worlds import environment

FOLDER = Path(__file__).parents[1]
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
)
# Times the limit on processor time, by the clock, until a process is ended: a machine may be busy,
# and a limit on processor time by the system would make the clock that measures steps coarse.
PATIENCE = 60.0

Result = dict[str, Any]
Found = list[tuple[Run, Result]]


class Runner:
    """Runs what is not in the store yet, of the peers that may be run."""

    def __init__(self, store: Store, folder: Path, limit: float, active: Collection[str]) -> None:
        self.store, self.folder, self.limit, self.active = store, folder, limit, active
        self.prints: dict[str, str] = {}
        self.used: dict[str, list[float]] = {}  # seconds of the runs of a line, in an environment

    def run(self, runs: Sequence[Run], share: float = 1.0) -> Found:
        """Play a line in an environment as long as its runs fit in a share of the limit."""
        from tqdm import tqdm

        found = []
        with tqdm(runs, unit="run", dynamic_ncols=True) as bar:
            for run in bar:
                bar.set_postfix_str(str(run))
                found.append((run, self.result(run, share * self.limit)))
        return found

    def result(self, run: Run, most: float) -> Result:
        key = run.key(self.fingerprint(run.environment))
        result = self.store.finished(key, self.limit)
        used = self.used.setdefault(run.line, [])
        known = used or self.used.get(run.default_line)
        if result is None:
            if run.entry.name not in self.active:
                return {"state": "not run"}
            if known and sum(used) + np.mean(known) > most:
                return {"state": "no time"}
            result = {**self.play(run), "limit": self.limit, "run": str(run)}
            self.store.add(key, result)
        used.append(result.get("seconds", 0.0))
        return result

    def fingerprint(self, key: str) -> str:
        if key not in self.prints:
            self.prints[key] = json.dumps(environment(key).fingerprint(), sort_keys=True)
        return self.prints[key]

    def play(self, run: Run) -> Result:
        order = Order(run.entry.name, run.constants, run.seed, self.episode(run), self.limit)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "peers.one_run"],
                input=write(order), cwd=FOLDER, env={**os.environ, **ONE_THREAD},
                capture_output=True, text=True, check=False, timeout=PATIENCE * (self.limit + 10),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"state": "failed", "error": "a step did not end"}
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return {"state": "failed", "error": f"exit code {done.returncode}: {last}"}
        result: Result = json.loads(done.stdout.splitlines()[-1])
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
