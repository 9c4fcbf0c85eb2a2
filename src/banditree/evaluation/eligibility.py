"""Which arms could be drawn in each row of a log."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree._checking import shorten
from banditree.errors import InvalidParameterError, UnknownArmError
from banditree.evaluation.reading import Codes
from banditree.types import Arm

__all__ = ["Eligibility"]

# Between the arms in a cell of text, as of a CSV file.
BETWEEN = "|"


@dataclass(frozen=True, eq=False)
class Eligibility:
    """The distinct sets of eligible arms, and which of them each row has.

    Attributes
    ----------
    sets
        Positions of arms, ascending.
    of_row
        The position of each row's set; None if all arms are eligible in all rows.
    """

    sets: tuple[tuple[int, ...], ...]
    of_row: Codes | None = None

    @classmethod
    def all(cls, n_arms: int) -> "Eligibility":
        """Return that all arms are eligible everywhere."""
        return cls((tuple(range(n_arms)),))

    @classmethod
    def read(cls, cells: Sequence[Any], arms: tuple[Arm, ...], chosen: Codes) -> "Eligibility":
        """Return what a column says: lists of arms, or text with "|" between them."""
        known: dict[tuple[int, ...], int] = {}
        place = {str(arm): i for i, arm in enumerate(arms)}
        seen: dict[Any, int] = {}
        of_row = np.empty(len(cells), dtype=np.int32)
        for row, cell in enumerate(cells):
            key = cell if isinstance(cell, str) else tuple(_listed(cell, row))
            if key not in seen:
                members = _members(key, place, arms, row)
                seen[key] = known.setdefault(members, len(known))
            of_row[row] = seen[key]
        found = cls(tuple(known), of_row)
        wrong = np.flatnonzero(~found.matrix(len(arms))[of_row, chosen])
        if len(wrong):
            row = int(wrong[0])
            raise InvalidParameterError(
                f"row {row} offered {arms[chosen[row]]!r}, which is not among the arms that it "
                f"names as eligible, {shorten(cells[row])}; correct one of the two"
            )
        return found

    def matrix(self, n_arms: int) -> NDArray[np.bool_]:
        """Return a row per set, a column per arm: whether it is in it."""
        member = np.zeros((len(self.sets), n_arms), dtype=bool)
        for i, arms in enumerate(self.sets):
            member[i, list(arms)] = True
        return member

    def counts(self, n_rows: int) -> NDArray[np.int64]:
        """Return how many rows have each of the sets."""
        if self.of_row is None:
            return np.array([n_rows])
        return np.bincount(self.of_row, minlength=len(self.sets))

    def part(self, start: int, stop: int) -> list[tuple[tuple[int, ...], NDArray[np.intp]]]:
        """Return the sets in a part of the rows, and which rows of it have them."""
        if self.of_row is None:
            return [(self.sets[0], np.arange(stop - start))]
        of_row = self.of_row[start:stop]
        return [(self.sets[i], np.flatnonzero(of_row == i)) for i in np.unique(of_row).tolist()]

    def rows(self, rows: NDArray[np.intp]) -> "Eligibility":
        """Return the same for some of the rows."""
        return self if self.of_row is None else Eligibility(self.sets, self.of_row[rows])


def _listed(cell: Any, row: int) -> Iterable[Any]:
    if hasattr(cell, "tolist"):
        cell = cell.tolist()
    if not isinstance(cell, list | tuple):
        raise InvalidParameterError(
            f"the eligible arms of row {row} must be a list of arms, or text such as "
            f"'golf{BETWEEN}tennis', got {shorten(cell)}; name them all, or leave out eligible="
        )
    return cell


def _members(key: Any, place: dict[str, int], arms: tuple[Arm, ...], row: int) -> tuple[int, ...]:
    names = key.split(BETWEEN) if isinstance(key, str) else key
    for name in names:
        if str(name) not in place:
            raise UnknownArmError(
                f"row {row} names {shorten(name)} as eligible, which is none of the arms "
                f"{list(arms)[:10]}; name it in arms=, or correct the row"
            )
    return tuple(sorted({place[str(name)] for name in names}))
