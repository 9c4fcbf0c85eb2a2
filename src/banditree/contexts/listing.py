"""What is read by name, and is a table when printed."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, TypeVar

__all__ = ["Listing"]

K = TypeVar("K")
V = TypeVar("V")


class Listing(Mapping[K, V]):
    """A mapping that stays as it is, and is a table when printed."""

    # To which side the cells of each column go: "<", "^" or ">"; "" if nothing follows them.
    _sides: ClassVar[tuple[str, ...]]

    def __init__(self, known: Mapping[K, V]) -> None:
        self._known = dict(known)

    def __getitem__(self, name: K) -> V:
        return self._known[name]

    def __iter__(self) -> Iterator[K]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    @abstractmethod
    def _table(self) -> Iterable[tuple[str, ...]]:
        """Return the rows of the table, the names of the columns first."""

    def __repr__(self) -> str:
        rows = list(self._table())
        columns = zip(self._sides, zip(*rows, strict=True), strict=True)
        places = [f"{side}{max(map(len, cells))}" if side else "" for side, cells in columns]
        return "\n".join("  ".join(map(format, row, places)) for row in rows)
