"""Columns of design rows: what each holds, and when work on all rows is due again."""

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from banditree.types import FloatArray

# What a column holds. An absence column says where a number was missing. It is never part of a
# standardised row; sums of raw rows need it, since a missing value follows the mean as that moves.
CONSTANT, NUMBER, BIT, ABSENCE = range(4)

# Numbers beyond this size count as this size, so that no product of a few of them overflows.
LARGEST = 1e50
# A category gets a bit when at least one context in so many had it: so a feature has few more bits
# than this, however many values it takes.
MOST_COMMON = 100


class Column(NamedTuple):
    """What a column holds, of which feature, and the id of its category if it is a bit.

    `born` is how many contexts had come before the one that brought it.
    """

    kind: int
    feature: int
    code: float
    born: int = 0


class Change(NamedTuple):
    """What an observation changed in a design.

    Attributes
    ----------
    renewed
        Whether the scale is a new one, so that all standardised rows are other ones.
    copies
        New columns that were 1 in every earlier raw row; other new columns were 0 there.
    """

    renewed: bool
    copies: list[int]


class Scale(NamedTuple):
    """What each column is standardised with; an inverse of 0 where it has been constant."""

    mean: FloatArray
    inverse: FloatArray

    def carry_over(self, coefficients: FloatArray, former: "Scale") -> FloatArray:
        """Return the coefficients that predict the same as these do with rows of a former scale.

        Where numbers are missing they predict about the same.
        """
        more = (0, len(self.mean) - len(former.mean))
        mean, inverse = np.pad(former.mean, more), np.pad(former.inverse, more)
        moves = self.inverse > 0
        carried = np.zeros(len(self.mean))
        carried[moves] = coefficients[moves] * inverse[moves] / self.inverse[moves]
        carried[0] += ((self.mean - mean) * inverse) @ coefficients
        return carried


class Places(NamedTuple):
    """Where rows and features have what: looked up once, as every row needs it.

    Attributes
    ----------
    of_feature
        Of each feature: of a number, its columns by their kind; of a category, by the id of each.
    tables
        The features that have bits, with their columns.
    category_features, number_features
        Those that have columns.
    bits, numbers
        The columns of bits, and of numbers.
    absences
        Of each number, the column of its absence; `unused` if it has none.
    unused
        A column that nobody has.
    """

    of_feature: list[dict[float, int]]
    tables: list[tuple[int, dict[float, int]]]
    category_features: NDArray[np.int64]
    number_features: NDArray[np.int64]
    bits: NDArray[np.int64]
    numbers: NDArray[np.int64]
    absences: NDArray[np.int64]
    unused: int


def places_of(columns: list[Column], is_category: list[bool], width: int) -> Places:
    """Return where rows of some columns have what."""
    of_feature: list[dict[float, int]] = [{} for _ in is_category]
    for place, column in enumerate(columns):
        if column.kind != CONSTANT:
            key = column.code if column.kind == BIT else column.kind
            of_feature[column.feature][key] = place
    pairs = list(zip(of_feature, is_category, strict=True))
    numbers = [i for i, (table, is_bits) in enumerate(pairs) if table and not is_bits]
    tables = [(i, table) for i, (table, is_bits) in enumerate(pairs) if table and is_bits]
    unused = width - 1
    return Places(
        of_feature,
        tables,
        category_features=np.array([i for i, _ in tables], dtype=np.int64),
        number_features=np.array(numbers, dtype=np.int64),
        bits=np.array([i for i, c in enumerate(columns) if c.kind == BIT], dtype=np.int64),
        numbers=np.array([of_feature[i][NUMBER] for i in numbers], dtype=np.int64),
        absences=np.array([of_feature[i].get(ABSENCE, unused) for i in numbers], dtype=np.int64),
        unused=unused,
    )


def clipped(values: FloatArray) -> FloatArray:
    """Return numbers of a size that does not overflow."""
    return np.minimum(np.maximum(values, -LARGEST), LARGEST)


def is_common(count: int, n: int) -> bool:
    """Say whether a category has a bit: one seen so often in n contexts, the last among them."""
    return 1 < count < n and MOST_COMMON * count >= n


def first_common(codes: FloatArray) -> list[int]:
    """Return where `is_common` first holds of each category, of all contexts from the first on."""
    present = np.flatnonzero(~np.isnan(codes))
    order = present[np.argsort(codes[present], kind="stable")]
    if len(order) == 0:
        return []
    places = np.arange(len(order))
    starts = np.flatnonzero(np.diff(codes[order], prepend=np.nan) != 0)
    count = places - np.repeat(starts, np.diff(starts, append=len(order))) + 1
    n = order + 1
    common = (count > 1) & (count < n) & (MOST_COMMON * count >= n)
    firsts = np.minimum.reduceat(np.where(common, places, len(order)), starts)
    found: list[int] = order[firsts[firsts < len(order)]].tolist()
    return found


def bits_of(rows: FloatArray, tables: list[tuple[int, dict[float, int]]]) -> NDArray[np.int64]:
    """Return rows and columns of the bits that are set; a table has the column of each category."""
    found = [np.empty((2, 0), dtype=np.int64)]
    for feature, table in tables:
        known = np.array(sorted(table))
        values = rows[:, feature]
        at = np.searchsorted(known, values).clip(max=len(known) - 1)
        set_in = np.flatnonzero(known[at] == values)
        columns = np.array([table[code] for code in known.tolist()])
        found.append(np.stack([set_in, columns[at[set_in]]]))
    return np.concatenate(found, axis=1)


def capacity(n_columns: int) -> int:
    """Return the length of rows with room for this many columns: at most about 1/8 more.

    Examples
    --------
    >>> capacity(1), capacity(9), capacity(106), capacity(130)
    (8, 16, 112, 144)
    """
    step = 1 << max(3, n_columns.bit_length() - 4)
    return -(-n_columns // step) * step


def grown(n: int, share: float) -> int:
    """Return the least number that is more than n by this share, and by 1."""
    return max(n + 1, ceil((1 + share) * n))
