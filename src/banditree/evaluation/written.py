"""What a `LogWriter` has written: a Parquet file, and the lines that came since."""

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from banditree.errors import InvalidParameterError, StateError
from banditree.evaluation.journal import journal_of, lines_in
from banditree.evaluation.reading import Codes, arms_in_order
from banditree.types import Arm, FloatArray

__all__ = [
    "RESERVED",
    "Rows",
    "Written",
    "arrow",
    "is_written",
    "load_rows",
    "read_written",
    "save_rows",
]

RESERVED = ("arm", "reward", "propensity", "eligible", "time", "key")
"""Columns of the file that are no features."""

NAMED = b"banditree.named"


def arrow() -> Any:
    """Return pyarrow, or say how to get it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise InvalidParameterError(
            "a log is written by pyarrow: pip install 'banditree[study]'"
        ) from None
    return pyarrow


@dataclass
class Rows:
    """Decisions by their keys, in order, as plain values.

    Attributes
    ----------
    named
        Whether contexts are mappings; None while there is no decision.
    """

    by_key: dict[str, dict[str, Any]]
    named: bool | None = None

    def apply(self, entry: dict[str, Any]) -> None:
        """Take in a line of the journal; one that was taken in before changes nothing."""
        key = json.dumps(entry["key"])
        if "arm" not in entry:
            self.by_key[key]["reward"] = entry["reward"]
        elif key not in self.by_key:
            context = entry["context"]
            self.named = isinstance(context, dict)
            values = context if self.named else {str(i): v for i, v in enumerate(context)}
            self.by_key[key] = {**values, **{name: entry[name] for name in RESERVED[:-1]}}


def is_written(path: Path) -> bool:
    """Return whether a file is that of a `LogWriter`."""
    if journal_of(path).exists():
        return True
    if not path.is_file() or path.suffix != ".parquet":
        return False
    pa = arrow()
    try:
        return NAMED in (pa.parquet.read_schema(path).metadata or {})
    except (OSError, ValueError):  # whoever reads it will say what is wrong
        return False


def load_rows(path: Path) -> tuple[Rows, int]:
    """Return all decisions of a log, and where the lines of its journal end."""
    rows = Rows({})
    if path.exists():
        table = _table_in(path)
        rows.named = (table.schema.metadata or {}).get(NAMED) != b"no"
        columns = {name: table.column(name).to_pylist() for name in table.column_names}
        keys = columns.pop("key")
        for key, *values in zip(keys, *columns.values(), strict=True):
            rows.by_key[key] = dict(zip(columns, values, strict=True))
    entries, end = lines_in(journal_of(path))
    for entry in entries:
        rows.apply(entry)
    return rows, end


def _table_in(path: Path) -> Any:
    pa = arrow()
    try:
        table = pa.parquet.read_table(path, use_threads=False)
    except (OSError, ValueError) as error:
        raise StateError(f"{str(path)!r} cannot be read: {error}") from None
    if NAMED not in (table.schema.metadata or {}):
        raise StateError(
            f"{str(path)!r} was not written by LogWriter; read it with Log.from_table, and give "
            "the writer a file of its own"
        )
    return table


def save_rows(path: Path, rows: Rows) -> None:
    """Write all decisions to the Parquet file: at every moment the old or the new one is there."""
    table = _as_table(rows)
    pa = arrow()
    temporary = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "xb") as file:
            pa.parquet.write_table(table, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _as_table(rows: Rows) -> Any:
    pa = arrow()
    features = dict.fromkeys(
        name for row in rows.by_key.values() for name in row if name not in RESERVED
    )
    found = list(rows.by_key.values())
    columns = {
        name: pa.array([row.get(name) for row in found], from_pandas=True)
        for name in (*features, *RESERVED[:-1])
    }
    columns["reward"] = columns["reward"].cast(pa.float64())
    columns["key"] = pa.array(list(rows.by_key), pa.string())
    return pa.table(columns, metadata={NAMED: b"no" if rows.named is False else b"yes"})


@dataclass(frozen=True, eq=False)
class Written:
    """A log as it was written, in columns."""

    arms: tuple[Arm, ...]
    contexts: Any
    chosen: Codes
    rewards: FloatArray
    propensities: FloatArray
    eligible: list[Any]


def read_written(path: Path) -> Written:
    """Return what a writer has written, closed or not."""
    if not path.exists() and not journal_of(path).exists():
        raise InvalidParameterError(f"there is no file {str(path)!r}")
    rows, _ = load_rows(path)
    if not rows.by_key:
        raise InvalidParameterError(f"the log {str(path)!r} has no decision")
    table = _as_table(rows)
    features = [name for name in table.column_names if name not in RESERVED]
    eligible = table.column("eligible").to_pylist()
    arms = arms_in_order({arm for members in eligible for arm in members})
    place = {arm: i for i, arm in enumerate(arms)}
    chosen = np.array([place[arm] for arm in table.column("arm").to_pylist()], dtype=np.int32)
    contexts: Any = table.select(features)
    if rows.named is False:
        contexts = [list(row) for row in zip(*contexts.to_pydict().values(), strict=True)]
    elif not features:
        contexts = np.empty((len(chosen), 0))
    return Written(
        arms,
        contexts,
        chosen,
        np.array(table.column("reward").to_numpy(), dtype=np.float64),
        np.array(table.column("propensity").to_numpy(), dtype=np.float64),
        eligible,
    )
