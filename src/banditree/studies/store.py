"""Results of studies on disk: rows that are added and never changed."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.errors import StateError
from banditree.studies.runs import Outcome
from banditree.studies.specs import as_json
from banditree.types import FloatArray

__all__ = ["Record", "Store", "make_folder"]

FILE = "results.sqlite"
FORMAT = 1
# Several processes may begin at once with an empty file: whoever comes second changes nothing.
CREATION = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY, version TEXT NOT NULL, policy TEXT NOT NULL, label TEXT NOT NULL,
    parameters TEXT NOT NULL, environment TEXT NOT NULL, seed INTEGER NOT NULL,
    horizon INTEGER NOT NULL, regret REAL NOT NULL, choices TEXT NOT NULL,
    steps BLOB NOT NULL, curve BLOB NOT NULL, seconds REAL NOT NULL, memory INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS notes (name TEXT NOT NULL, value TEXT NOT NULL) STRICT;
PRAGMA user_version = {FORMAT};
COMMIT;
"""
# In one statement, hence of one moment.
CONTENT = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
COLUMNS = (
    "key, version, policy, label, parameters, environment, seed, horizon, regret, choices, "
    "steps, curve, seconds, memory"
)


@dataclass(frozen=True, eq=False)
class Record:
    """A finished run as it was stored."""

    key: str
    version: str  # of the package; after a space, hashes of code of one's own
    policy: str
    label: str
    parameters: dict[str, Any]
    environment: str
    seed: int
    horizon: int
    regret: float
    choices: str
    steps: NDArray[np.int64]
    curve: FloatArray
    seconds: float
    memory: int

    @property
    def build(self) -> str:
        """The version of the package."""
        return self.version.partition(" ")[0]


def make_folder(folder: Path) -> Path:
    """Return a folder that is there, made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(
            f"there can be no folder {str(folder)!r}: {error.strerror}; choose another with --out"
        ) from None
    return folder


class Store:
    """The results in a folder. A crash at any moment loses no finished run.

    Parameters
    ----------
    folder
        Made if it does not exist.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / FILE
        make_folder(self.path.parent)
        with self._connection() as connection:
            found, n_tables = connection.execute(CONTENT).fetchone()
            if found == 0 and n_tables == 0:
                connection.executescript(CREATION)
            elif found == 0:
                raise StateError(
                    f"{self.path} is a file of another program; choose another folder with --out"
                )
            elif found != FORMAT:
                raise StateError(
                    f"{self.path} has results in format {found}, and this version of banditree "
                    f"reads format {FORMAT}; choose another folder with --out"
                )

    def keys(self) -> set[str]:
        """Return the keys of all finished runs."""
        with self._connection() as connection:
            return {key for (key,) in connection.execute("SELECT key FROM runs")}

    def add(self, outcome: Outcome) -> None:
        """Add a finished run."""
        run = outcome.run
        row = (
            run.key,
            run.code,
            run.variant.policy,
            run.variant.label,
            as_json(run.variant.parameters),
            run.environment.name,
            run.seed,
            run.horizon,
            float(outcome.curve[-1]),
            outcome.choices,
            outcome.steps.astype("<i8").tobytes(),
            outcome.curve.astype("<f8").tobytes(),
            outcome.seconds,
            outcome.memory,
        )
        marks = ", ".join("?" * len(row))
        with self._connection() as connection:
            connection.execute(f"INSERT OR IGNORE INTO runs ({COLUMNS}) VALUES ({marks})", row)

    def records(self) -> list[Record]:
        """Return all finished runs, in an order that does not depend on who finished first."""
        query = f"SELECT {COLUMNS} FROM runs ORDER BY environment, label, parameters, seed, key"
        with self._connection() as connection:
            return [_record(row) for row in connection.execute(query)]

    def note(self, name: str, value: Any) -> None:
        """Write down something about the study, beside what was written before."""
        with self._connection() as connection:
            connection.execute("INSERT INTO notes VALUES (?, ?)", (name, as_json(value)))

    def last_note(self, name: str) -> Any:
        """Return what was written last under a name; None if nothing was."""
        query = "SELECT value FROM notes WHERE name = ? ORDER BY rowid DESC LIMIT 1"
        with self._connection() as connection:
            found = connection.execute(query, (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction, and say in words what may be wrong with it."""
        connection = sqlite3.connect(self.path, timeout=60)
        try:
            with connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise StateError(_explained(error, self.path)) from None
        finally:
            connection.close()


def _record(row: tuple[Any, ...]) -> Record:
    values = dict(zip(COLUMNS.split(", "), row, strict=True))
    values["parameters"] = json.loads(values["parameters"])
    values["steps"] = np.frombuffer(values["steps"], dtype="<i8")
    values["curve"] = np.frombuffer(values["curve"], dtype="<f8")
    return Record(**values)


def _explained(error: sqlite3.DatabaseError, path: Path) -> str:
    text = str(error)
    if "full" in text or "disk I/O" in text:
        return f"no space left for {path}; finished runs are kept: make room and start again"
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be written ({text}); choose another folder with --out"
    return (
        f"{path} is not a file of results, or is damaged ({text}); move it away, or choose "
        "another folder with --out"
    )
