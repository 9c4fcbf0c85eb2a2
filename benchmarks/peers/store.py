"""Results of single runs on disk: a line of JSON each, so that what is done is not done again."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from peers.player import Entry
from peers.registry import version_of

HERE = Path(__file__).parent
SHARED = ("player.py", "one_run.py")  # what can change any run, beside an adapter


@dataclass(frozen=True)
class Run:
    """What defines a run, but for the code."""

    entry: Entry
    constants: dict[str, Any]
    environment: str
    seed: int
    steps: int

    def __str__(self) -> str:
        return f"{self.line}, seed {self.seed}"

    @property
    def line(self) -> str:
        """What the runs of all seeds have in common."""
        words = "".join(f" {k}={v}" for k, v in self.constants.items())
        return f"{self.entry.name}{words} on {self.environment}"

    @property
    def default_line(self) -> str:
        return replace(self, constants={}).line

    def key(self, fingerprint: str) -> str:
        """Return what tells this run from all others: what defines it, versions and code."""
        defining = [
            self.entry.name, dict(self.entry.fixed), self.constants, fingerprint, self.seed,
            self.steps, version_of(self.entry), code_of(self.entry.player.__module__),
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(defining, sort_keys=True).encode()).hexdigest()[:32]


@cache
def code_of(module: str) -> str:
    adapter = f"{module.rpartition('.')[2]}.py"
    texts = [(HERE / name).read_bytes() for name in (*SHARED, adapter)]
    return hashlib.sha256(b"".join(texts)).hexdigest()


class Store:
    """A file of results, to which finished runs are added."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.text = file.read_text() if file.exists() else ""
        self.results = {result["key"]: result for result in self.read()}

    def read(self) -> Iterator[dict[str, Any]]:
        for line in self.text.splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:  # the last, where the benchmark was interrupted
                continue

    def add(self, key: str, result: dict[str, Any]) -> None:
        self.results[key] = {"key": key, **result}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as file:
            if self.text and not self.text.endswith("\n"):
                file.write("\n")
            self.text = "\n"
            file.write(json.dumps(self.results[key]) + "\n")

    def finished(self, key: str, limit: float) -> dict[str, Any] | None:
        """Return a result that need not be found again; a failure, or less time, is tried again."""
        result = self.results.get(key)
        if result is None or result["state"] == "failed":
            return None
        return None if result["state"] == "over" and result["limit"] < limit else result
