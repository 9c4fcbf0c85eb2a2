"""A log of one's own decisions, written as they are made."""

import json
import math
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from banditree._checking import as_real, shorten
from banditree.contexts.batches import feature_name, read_one
from banditree.errors import (
    InvalidContextError,
    InvalidParameterError,
    InvalidRewardError,
    StateError,
)
from banditree.evaluation.journal import Journal, journal_of
from banditree.evaluation.written import RESERVED, Rows, arrow, load_rows, save_rows
from banditree.policies.saving.files import as_path
from banditree.types import Arm, Context, Decision, Key

__all__ = ["LogWriter"]


class LogWriter:
    """Writes decisions and their rewards to a file, to evaluate other policies with.

    What was added survives the end of this process, however it comes; a power failure takes the
    last second at most. While the log is open its lines are in ``log.parquet.journal``; `close`
    turns them into the Parquet file, which `Log.read` and any other program reads. Whoever opens
    the log again goes on where it stood, after a crash too. One process writes, from any number of
    threads; keys and rewards of all decisions are kept in memory.

    Parameters
    ----------
    path
        Of the Parquet file; one that is there must be from a `LogWriter`, and is added to.

    Examples
    --------
    >>> import tempfile
    >>> import banditree as bt
    >>> from banditree.evaluation import Log
    >>> policy = bt.Uniform(["golf", "tennis"], seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with LogWriter(f"{folder}/log.parquet") as log:
    ...         for age in range(20, 60):
    ...             decision = policy.decision({"age": age})
    ...             key = log.add({"age": age}, decision)
    ...             log.reward(key, decision.arm == "golf")  # whenever it is known
    ...     print(Log.read(f"{folder}/log.parquet").health.n_rows)
    40
    """

    def __init__(self, path: str | Path) -> None:
        arrow()
        self._path = as_path(path)
        self._lock = threading.Lock()
        if not self._path.parent.is_dir():
            raise InvalidParameterError(
                f"there is no folder {str(self._path.parent)!r} to write the log into; make it"
            )
        rows, end = load_rows(self._path)
        self._journal: Journal | None = Journal(journal_of(self._path), end)
        self._rewards = {key: row["reward"] for key, row in rows.by_key.items()}
        self._named = rows.named
        self._kinds: dict[str, type] = {}
        self._learn_kinds(rows)

    def add(
        self,
        context: Context,
        decision: Decision[Any],
        reward: float | None = None,
        *,
        key: Key | None = None,
        eligible: Sequence[Arm] | None = None,
    ) -> Any:
        """Write down a decision; return its key, for the reward.

        Parameters
        ----------
        context
            What was known.
        decision
            What `policy.decision` returned.
        reward
            What it paid, if that is known already.
        key
            A name for the decision, a string or a whole number, such as that of an order. None:
            a number.
        eligible
            The arms that `policy.decision` was given, if it was given some.
        """
        if not isinstance(decision, Decision):
            raise InvalidParameterError(
                f"decision must be what policy.decision(context) returned, got "
                f"{shorten(decision)}; an arm alone has no propensity"
            )
        value = None if reward is None else _checked_reward(reward)
        arms = list(decision.propensities if eligible is None else eligible)
        with self._lock:
            journal = self._opened()
            values = self._checked_context(context)
            key = len(self._rewards) if key is None else _checked_key(key)
            name = json.dumps(key)
            if name in self._rewards:
                raise InvalidParameterError(
                    f"the log has a decision with the key {shorten(key)} already; use each once"
                )
            entry = {"key": key, "time": time.time(), "context": values, "arm": decision.arm}
            entry |= {"propensity": decision.propensity, "eligible": arms, "reward": value}
            journal.add(entry)
            self._note(values)
            self._rewards[name] = value
        return key

    def reward(self, key: Key, reward: float) -> None:
        """Write down what a decision paid; once more is no mistake, another value is.

        Parameters
        ----------
        key
            What `add` returned.
        reward
            A finite number.
        """
        value, name = _checked_reward(reward), json.dumps(_checked_key(key))
        with self._lock:
            journal = self._opened()
            if name not in self._rewards:
                raise InvalidParameterError(
                    f"the log has no decision with the key {shorten(key)}; pass what add() returned"
                )
            known = self._rewards[name]
            if known is not None and known != value:
                raise InvalidRewardError(
                    f"the decision {shorten(key)} has the reward {known:g} already, got {value:g}; "
                    "a decision has one reward"
                )
            if known is None:
                journal.add({"key": key, "reward": value})
                self._rewards[name] = value

    def close(self) -> None:
        """Write the Parquet file, and take away the journal."""
        with self._lock:
            if self._journal is None:
                return
            self._journal.sync()
            rows, _ = load_rows(self._path)
            save_rows(self._path, rows)
            journal_of(self._path).unlink()
            self._journal.close()
            self._journal = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _opened(self) -> Journal:
        if self._journal is None:
            raise StateError(f"the log {str(self._path)!r} is closed; open it again to add more")
        return self._journal

    def _learn_kinds(self, rows: Rows) -> None:
        for row in rows.by_key.values():
            self._note({name: value for name, value in row.items() if name not in RESERVED})

    def _note(self, values: Any) -> None:
        """Remember what the features hold, so that each is one column."""
        if not isinstance(values, Mapping):
            self._named, values = False, {str(i): value for i, value in enumerate(values)}
        elif self._named is None:
            self._named = True
        for name, value in values.items():
            if value is not None:
                self._kinds.setdefault(name, _kind(value))

    def _checked_context(self, context: Context) -> dict[str, Any] | list[Any]:
        """Return the values of a context as JSON can hold them."""
        single = read_one(context)
        if self._named not in (None, single.named):
            raise InvalidContextError(
                "contexts must all have names or none, as the first of the log; got "
                f"{shorten(context)}; send mappings if the others are"
            )
        pairs = single.values.items() if single.named else enumerate(single.values)
        values = {str(feature_name(name)): _plain(value, name) for name, value in pairs}
        for name, value in values.items():
            if single.named and name in RESERVED:
                raise InvalidContextError(
                    f"a feature cannot be called {name!r}, which is a column of the log; rename it"
                )
            kind = self._kinds.get(name)
            if value is not None and kind is not None and _kind(value) is not kind:
                raise InvalidContextError(
                    f"feature {name!r} was {kind.__name__} so far, got {shorten(value)}; a column "
                    "of the log holds one type: convert the value"
                )
        return values if single.named else list(values.values())


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def _plain(value: Any, name: Any) -> Any:
    """Return a value of a context as a plain one of Python; NaN is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    if value is None or type(value) in (bool, str):
        return value
    if type(value) in (int, float) and abs(value) < math.inf:
        return float(value) if abs(value) >= 2**63 else value
    raise InvalidContextError(
        f"feature {name!r} must be a finite number, a string, a boolean or missing, got "
        f"{shorten(value)}; convert it"
    )


def _checked_key(key: Any) -> str | int:
    if isinstance(key, np.integer):
        key = int(key)
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise InvalidParameterError(
            f"key must be a string or a whole number, got {shorten(key)}; such as that of an order"
        )
    return key


def _checked_reward(reward: Any) -> float:
    value = as_real(reward)
    if value is None or not math.isfinite(value):
        raise InvalidRewardError(
            f"a reward must be a finite number, got {shorten(reward)}; add it once it is known"
        )
    return value
