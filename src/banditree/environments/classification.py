"""Bandit problems from classified data: the classes are the arms, and the right one pays 1."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree._checking import check_whole, did_you_mean
from banditree.contexts.batches import Batch
from banditree.environments.environment import Description, Environment, random_order
from banditree.environments.episode import Episode
from banditree.environments.tables import (
    Column,
    content_hash,
    open_table,
    read_column,
    read_dates,
    read_table,
    time_columns,
)
from banditree.errors import InvalidParameterError
from banditree.types import Arm, FloatArray

__all__ = ["Classification"]

# More classes than this, and the label is rather a number or a name of the row.
MOST_CLASSES = 1000

# With fewer rows, many different values say nothing.
FEWEST_ROWS = 20


class Classification(Environment):
    """A table as a bandit problem: offer a class for each row; the right one pays 1, others 0.

    Rows come in random order; once all have come, they come again in another order. Rows without a
    label are left out.

    Parameters
    ----------
    table
        A pandas, polars or Arrow table. Strings, booleans and missing values are welcome.
    label
        The column of the class.
    name
        What the environment is called in results.
    unused
        Columns that are no features.
    dropped
        Classes that are no arms: their rows are left out.
    categorical
        Number columns that are really categories.
    dates
        Columns of dates or times: the parts of each (see `date_parts`) are features, such as
        "signup_weekday".

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame(
    ...     {"age": [31, 64, None], "city": ["Lima", None, "Bonn"], "bought": ["tea", "nut", "tea"]}
    ... )
    >>> episode = Classification(table, label="bought").episode(horizon=5, seed=0)
    >>> episode.arms
    ('nut', 'tea')
    >>> episode.rewards.sum(axis=1).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        table: Any,
        label: str,
        *,
        name: str = "table",
        unused: Sequence[str] = (),
        dropped: Sequence[Arm] = (),
        categorical: Sequence[str] = (),
        dates: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.label = label
        batch = open_table(table)
        known = [str(column) for column in batch.names]  # pandas has columns named by numbers too
        given = {"label": [label], "unused": unused, "categorical": categorical, "dates": dates}
        for what, names in given.items():
            _check_names(what, names, known)
        labels = _read_labels(batch, label)
        _check_dropped(dropped, labels.arms, label)
        self.arms = tuple(arm for arm in labels.arms if arm not in dropped)
        place = np.array([self.arms.index(a) if a in self.arms else -1 for a in labels.arms] + [-1])
        self._rows = np.flatnonzero(place[labels.ids] >= 0)
        self._classes = place[labels.ids[self._rows]]
        self._n_all, self._n_unlabelled = batch.length, int((labels.ids < 0).sum())
        features = [f for f in known if f != label and f not in unused]
        if not features:
            raise InvalidParameterError(f"the table has no feature beside the label {label!r}")
        _check_dates(dates, features)
        times = [name for name in map(str, time_columns(batch)) if name in features]
        _check_times([name for name in times if name not in dates])
        self._columns: dict[str, Column] = {}
        for feature in features:
            if feature in dates:
                self._columns |= _new(read_dates(batch, feature), known)
            else:
                self._columns[feature] = read_column(
                    batch, feature, categorical=feature in categorical
                )

    @classmethod
    def from_file(cls, path: str | Path, label: str, **settings: Any) -> "Classification":
        """Return the environment of a Parquet or CSV file, named after the file."""
        path = Path(path)
        return cls(read_table(path), label, **{"name": path.stem, **settings})

    @property
    def n_rows(self) -> int:
        """How many rows can come before one is repeated."""
        return len(self._rows)

    @property
    def features(self) -> tuple[str, ...]:
        """What the features are called."""
        return tuple(self._columns)

    @property
    def categories(self) -> dict[int, list[Hashable]]:
        """The values of each feature that is a category, by its position, in order of their ids."""
        columns = enumerate(self._columns.values())
        return {i: column.categories for i, column in columns if column.categories is not None}

    @property
    def categorical(self) -> tuple[int, ...]:
        """The positions of the features that are categories."""
        return tuple(self.categories)

    def episode(self, horizon: int, seed: int) -> Episode:
        """Return the steps of a run."""
        return self.show(self.order(horizon, seed))

    def order(self, horizon: int, seed: int) -> NDArray[np.intp]:
        """Return the numbers of the rows that the steps of a run show."""
        check_whole("horizon", horizon, 1)
        return random_order(self.n_rows, horizon, np.random.default_rng(seed))

    def show(self, rows: NDArray[np.intp]) -> Episode:
        """Return the steps that show these rows."""
        rewards = np.eye(len(self.arms))[self._classes[rows]]
        contexts = self.contexts(rows)
        return Episode(self.arms, contexts, self.categorical, self.features, rewards, 1.0 - rewards)

    def held_out(self, horizon: int, seed: int) -> tuple[FloatArray, NDArray[np.intp]]:
        """Return contexts and classes of the rows that the steps of a run do not show."""
        rest = np.setdiff1d(np.arange(self.n_rows), self.order(horizon, seed))
        return self.contexts(rest), self._classes[rest]

    def contexts(self, rows: NDArray[np.intp]) -> FloatArray:
        """Return the features of some rows; categories as ids, missing values as NaN."""
        contexts = np.empty((len(rows), len(self._columns)))
        for i, column in enumerate(self._columns.values()):
            contexts[:, i] = column.numbers(self._rows[rows])
        return contexts

    def fingerprint(self) -> dict[str, Any]:
        """Return what distinguishes this environment from others: mainly a hash of its content."""
        content = content_hash(list(self._columns.items()), self._rows, self._classes)
        return {"environment": "classification", "arms": list(self.arms), "content": content}

    def describe(self) -> Description:
        """Return what there is to know: rows left out, and features that only name the rows."""
        remarks = self._left_out()
        if self.n_rows >= FEWEST_ROWS and len(self.arms) > self.n_rows / 2:
            remarks.append(
                f"the label {self.label!r} has {len(self.arms):,} different values in "
                f"{self.n_rows:,} rows, and each is an arm; is it a class at all?"
            )
        for name, column in self._columns.items():
            different = _count_values(column, self._rows)
            if self.n_rows >= FEWEST_ROWS and different > self.n_rows / 2:
                remarks.append(
                    f"feature {name!r} has {different:,} different values in {self.n_rows:,} rows; "
                    "if it only names the rows, put it into unused"
                )
        return Description(len(self.arms), len(self._columns), self.n_rows, tuple(remarks))

    def _left_out(self) -> list[str]:
        remarks = []
        if n := self._n_unlabelled:
            what = "has no label and is left out" if n == 1 else "have no label and are left out"
            remarks.append(f"{n:,} of {self._n_all:,} rows {what}")
        if n := self._n_all - self._n_unlabelled - self.n_rows:
            rows, verb = ("row", "is") if n == 1 else ("rows", "are")
            remarks.append(f"{n:,} {rows} of the dropped classes {verb} left out")
        return remarks


@dataclass(frozen=True, eq=False)
class _Labels:
    """The classes as arms in order, and the position among them of each row's; -1 for none."""

    arms: list[Arm]
    ids: NDArray[np.intp]


def _read_labels(batch: Batch, name: str) -> _Labels:
    column = read_column(batch, name, categorical=True)
    arms = [_as_arm(key) for key in column.categories or []]
    if not 2 <= len(arms) <= MOST_CLASSES:
        raise InvalidParameterError(
            f"the label column {name!r} has {len(arms):,} different "
            f"value{'' if len(arms) == 1 else 's'}; each becomes an arm, so there must be 2 to "
            f"{MOST_CLASSES:,}"
        )
    order = sorted(range(len(arms)), key=lambda i: (isinstance(arms[i], str), arms[i]))
    rank = np.full(len(arms) + 1, -1)  # the last is read for a missing label
    rank[order] = np.arange(len(arms))
    return _Labels([arms[i] for i in order], rank[column.cells])


def _as_arm(key: Hashable) -> Arm:
    """Return a class as an arm: a string, or a whole number."""
    if isinstance(key, tuple):  # a boolean (see Column of the contexts)
        return str(key[0])
    if isinstance(key, float) and key.is_integer():
        return int(key)
    return key if isinstance(key, str | int) else str(key)


def _count_values(column: Column, rows: NDArray[np.intp]) -> int:
    """Return how many different categories some rows have; 0 if they have numbers."""
    if column.categories is None:
        return 0
    seen = np.zeros(len(column.categories) + 1, dtype=bool)
    seen[column.cells[rows]] = True
    return int(seen[:-1].sum())  # a missing value has id -1, the last


def _check_times(names: Sequence[str]) -> None:
    if names:
        raise InvalidParameterError(
            "dates and times are no features, and these columns hold them: "
            f"{', '.join(map(repr, names))}; name them in dates to have year, month, day, weekday "
            "and hour as features, or in unused; turn durations into numbers first"
        )


def _check_dates(dates: Sequence[str], features: Sequence[str]) -> None:
    for name in dates:
        if name not in features:
            raise InvalidParameterError(
                f"dates: {name!r} is no feature, as it is the label or in unused; name it once"
            )


def _new(parts: dict[str, Column], known: Sequence[str]) -> dict[str, Column]:
    """Return the parts of a date if no column is called like one of them."""
    for name in parts:
        if name in known:
            raise InvalidParameterError(
                f"dates: there is a column {name!r} already, which a part of a date would be "
                "called too; rename it"
            )
    return parts


def _check_dropped(dropped: Sequence[Arm], arms: list[Arm], label: str) -> None:
    for arm in dropped:
        if arm not in arms:
            raise InvalidParameterError(
                f"dropped: {arm!r} is not a class of {label!r}; these are "
                + ", ".join(map(repr, arms))
            )
    left = len(arms) - len(set(dropped))
    if left < 2:
        raise InvalidParameterError(f"dropped leaves {left} of the classes of {label!r}, not 2")


def _check_names(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    if isinstance(names, str):
        raise InvalidParameterError(f"{what} must be a list of column names, got {names!r}")
    for name in names:
        if name in known:
            continue
        hint = did_you_mean(str(name), known, f"its columns are {', '.join(known)}")
        raise InvalidParameterError(f"{what}: the table has no column {name!r}; {hint}")
