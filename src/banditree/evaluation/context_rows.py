"""The contexts of a log: a table, an array or a list, of which any part can be had."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.contexts.batches import frame_form
from banditree.types import Context, Contexts, FeatureName

__all__ = ["ContextRows"]


class ContextRows:
    """Contexts as they were given: nothing is copied before a part is asked for.

    Parameters
    ----------
    contexts
        A pandas, polars or Arrow table, a 2-D array, or a list of contexts.
    names
        What the columns of an array are called, to those who ask for one context after the other;
        None if they have no names.
    """

    def __init__(self, contexts: Any, names: tuple[FeatureName, ...] | None = None) -> None:
        self.names = names
        self._rows: Any = contexts
        self._is_table = frame_form(contexts) == "table"
        if self._is_table:
            # Here, so that narwhals is only needed by those who send tables.
            from banditree.contexts.tables import Frame

            self._rows = Frame(contexts).frame

    def __len__(self) -> int:
        return len(self._rows)

    def part(self, start: int, stop: int) -> Contexts:
        """Return the contexts from start to before stop, in the form that they have."""
        cut = self._rows[start:stop]
        return cut.to_native() if self._is_table else cut  # type: ignore[no-any-return]

    def taken(self, rows: NDArray[np.intp]) -> Contexts:
        """Return some contexts, in the form that they have."""
        if isinstance(self._rows, list):
            return [self._rows[i] for i in rows.tolist()]
        some = self._rows[rows]
        return some.to_native() if self._is_table else some  # type: ignore[no-any-return]

    def rows(self, rows: NDArray[np.intp]) -> "ContextRows":
        """Return these contexts as context rows again."""
        return ContextRows(self.taken(rows), self.names)

    def one_by_one(self, start: int, stop: int) -> Iterator[Context]:
        """Yield single contexts: mappings if they have names."""
        cut = self._rows[start:stop]
        if self._is_table:
            yield from cut.iter_rows(named=True)
        elif self.names is not None:
            for row in cut:
                yield dict(zip(self.names, row.tolist(), strict=True))
        else:
            yield from cut
