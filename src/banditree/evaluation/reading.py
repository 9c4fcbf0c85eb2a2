"""The columns of a log, read from a table."""

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from banditree._checking import did_you_mean, shorten
from banditree.contexts.batches import frame_form
from banditree.environments.tables import open_table, read_table
from banditree.errors import InvalidContextError, InvalidParameterError, UnknownArmError
from banditree.policies.arms import Arms
from banditree.types import Arm, FeatureName, FloatArray

if TYPE_CHECKING:  # they load narwhals, which only those need who send tables
    from banditree.contexts.tables import Frame

__all__ = [
    "Codes",
    "arms_in_order",
    "as_frame",
    "check_columns",
    "codes_of_arms",
    "numbers_of",
    "values_of",
]

Codes = NDArray[np.int32]


def as_frame(table: Any) -> "Frame":
    """Return the view of a table, or of one in a Parquet or CSV file."""
    if isinstance(table, str | Path):
        table = read_table(Path(table))
    elif frame_form(table) != "table":
        raise InvalidParameterError(
            f"table must be a pandas, polars or Arrow table, or the path of a Parquet or CSV file, "
            f"got {shorten(table)}; pass one of these"
        )
    return open_table(table)


def check_columns(frame: "Frame", wanted: dict[str, Sequence[FeatureName]]) -> None:
    """Refuse names of columns that are not there, or that are named for two things."""
    taken: dict[FeatureName, str] = {}
    for role, names in wanted.items():
        for name in names:
            if name not in frame.names:
                listed = ", ".join(map(repr, frame.names[:20])) + ", …" * (len(frame.names) > 20)
                hint = did_you_mean(str(name), frame.names, "name one of these")
                raise InvalidParameterError(
                    f"{role}={shorten(name)} names no column of the table; its columns are "
                    f"{listed}; {hint}"
                )
            if name in taken:
                raise InvalidParameterError(
                    f"the column {name!r} is named for both {taken[name]} and {role}; what is not "
                    "known when the decision is made cannot be context: name it once"
                )
            taken[name] = role


def numbers_of(frame: "Frame", name: FeatureName, role: str) -> FloatArray:
    """Return a column of numbers, without a copy where it is one of float64; NaN is missing."""
    import narwhals as nw

    series = frame.frame[:, _at(frame, name)]
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        first = next((v for v in series.head(1000).to_list() if v is not None), None)
        raise InvalidParameterError(
            f"the column {name!r} of {role} must hold numbers, got {shorten(first)} "
            f"({series.dtype}); convert it to numbers"
        )
    if series.dtype != nw.Float64 or series.null_count():
        series = series.cast(nw.Float64)
    return np.ascontiguousarray(series.to_numpy(), dtype=np.float64)


def _at(frame: "Frame", name: FeatureName) -> int:
    return frame.names.index(name)


def values_of(frame: "Frame", name: FeatureName) -> list[Any]:
    """Return a column as Python's own values."""
    series = frame.frame[:, _at(frame, name)]
    return series.to_list()  # type: ignore[no-any-return]


def codes_of_arms(
    frame: "Frame", name: FeatureName, arms: Sequence[Arm] | None
) -> tuple[tuple[Arm, ...], Codes]:
    """Return the arms, and of each row the position of its arm among them."""
    try:
        column = frame.column(_at(frame, name), "category")
    except InvalidContextError as error:
        raise InvalidParameterError(f"the column {name!r} of the arms: {error}") from None
    missing = np.flatnonzero(column.codes < 0)
    if len(missing):
        raise InvalidParameterError(
            f"the column {name!r} has no arm in {len(missing):,} rows, first in row {missing[0]}; "
            "every row needs the arm that was offered: leave out rows of no decision"
        )
    seen = [_as_arm(key, name) for key in column.keys]
    known = arms_in_order(seen) if arms is None else tuple(Arms(arms).names)
    place = {arm: i for i, arm in enumerate(known)}
    for code, arm in enumerate(seen):
        if arm not in place:
            row = int(np.argmax(column.codes == code))
            raise UnknownArmError(
                f"row {row} has the arm {arm!r}, which is not among arms={list(known)[:10]}; "
                f"{did_you_mean(str(arm), known, 'name it there, or leave out its rows')}"
            )
    spots = np.array([place[arm] for arm in seen], dtype=np.int32)
    return known, spots[column.codes]


def _as_arm(key: Hashable, name: FeatureName) -> Arm:
    """Return an arm of the key of a category; a whole number that pandas made a float is whole."""
    if isinstance(key, float) and key.is_integer():
        return int(key)
    if isinstance(key, str | int):
        return key
    shown = key[0] if isinstance(key, tuple) else key
    raise InvalidParameterError(
        f"the column {name!r} of the arms must hold strings or whole numbers, got "
        f"{shorten(shown)}; give each arm a name"
    )


def arms_in_order(arms: Iterable[Arm]) -> tuple[Arm, ...]:
    """Return arms in an order that does not depend on that of the rows."""
    return tuple(sorted(arms, key=lambda arm: (isinstance(arm, str), arm)))
