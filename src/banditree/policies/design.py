"""Design rows: numbers standardised, categories as bits, for policies that fit linear models."""

from collections.abc import Mapping
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from banditree.types import FloatArray

# What a column holds. An absence column says where a number was missing. It is never part of a
# standardised row; sums of raw rows need it, since a missing value follows the mean as that moves.
CONSTANT, NUMBER, BIT, ABSENCE = range(4)

# Numbers beyond this size count as this size, so that no product of a few of them overflows.
LARGEST = 1e50
# A column that varies less is constant, for the same reason.
SMALLEST_VARIANCE = 1e-100
# A category gets a bit when at least one context in so many had it: so a feature has few more bits
# than this, however many values it takes.
MOST_COMMON = 100


class Column(NamedTuple):
    """What a column holds, of which feature, and the id of its category if it is a bit."""

    kind: int
    feature: int
    code: float


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


class Design:
    """Turns encoded rows into design rows: a constant 1, numbers, one bit per common category.

    Numbers have mean 0 and variance 1 over the contexts learned from where they were present. A
    missing number becomes 0, its mean, whatever the mean is by then. A number that has been
    constant is 0.

    Bits are not scaled to variance 1: one that is set once would count as much as a number that
    all rows have. Where it is set, a bit of a feature that has c bits is c^(-1/4), so that a
    penalty on it counts √c times. A penalty thus holds a category back the more, the less often it
    was seen and the more others there are. A category is common, and has a bit in the rows from
    then on, when it was seen twice, in 1 % of all contexts, and not in all of them. A missing or
    another category has no bit.

    Columns appear at the end, so that rows only grow; some zeros stand behind them, so that they
    grow seldom.

    The scale is renewed each time the number of observations has grown by a quarter, and stays
    fixed in between, unless a constant column ceases to be constant, or a value comes that is
    farther out than any of those that made the scale can have been.

    Examples
    --------
    >>> design = Design()
    >>> design.set_features([0, 1])
    >>> for row in ([1.0, 0.0], [3.0, 1.0], [2.0, 0.0], [2.0, 1.0]):
    ...     change = design.learn(np.array(row))
    >>> design.standardise(np.array([3.0, 1.0]))[:4].round(3)
    array([1.   , 1.414, 0.   , 0.841])
    >>> design.standardise(np.array([np.nan, np.nan]))[:4].round(3)
    array([1., 0., 0., 0.])
    """

    def __init__(self) -> None:
        self.n = 0
        self._due = 1
        self._is_category: list[bool] = []
        # Per feature, how often each category was seen.
        self._counts: list[dict[float, int]] = []
        self.columns = [Column(CONSTANT, -1, 0.0)]
        # Raw values are counted from `shift`: the first value of a number. As that one is among the
        # values, its squared distance from the mean is at most n times the variance, so that
        # subtracting the squared mean from the mean square loses no more than n rounding errors.
        self.shift, self._sums, self._squares, self.mean, self.inverse_scale = np.zeros(
            (5, capacity(1))
        )
        self.inverse_scale[0] = 1.0
        self._bound = np.full(self.width, inf)
        self._index_columns()

    @property
    def width(self) -> int:
        """Length of the rows, with the zeros at their end."""
        return len(self.shift)

    @property
    def size(self) -> int:
        """Number of columns that take part in a model, the constant among them."""
        return sum(column.kind != ABSENCE for column in self.columns)

    @property
    def unit_columns(self) -> list[int]:
        """The columns whose mean square is 1: the constant, and the numbers."""
        return [0, *self._number_columns.tolist()]

    @property
    def n_features(self) -> int:
        """Number of features that encoded rows have."""
        return len(self._is_category)

    @property
    def scale(self) -> Scale:
        """The scale in force."""
        return Scale(self.mean, self.inverse_scale)

    def set_features(self, is_category: Any) -> None:
        """Take note of the features that there are now."""
        self._is_category = [bool(flag) for flag in is_category]
        self._counts += [{} for _ in self._is_category[len(self._counts) :]]
        self._index_columns()

    def learn(self, row: FloatArray) -> Change:
        """Take in one context; say what it changed."""
        copies = self._admit(row)
        # Before the sums change: a value is compared with those that made the scale.
        far = bool((np.abs(self.standardise(row)) > self._bound).any())
        raw = self.raw(row)
        self.n += 1
        self._sums += raw
        self._squares += raw * raw
        renewed = far or self.n >= self._due or self._constant_column_moved()
        if renewed:
            self._renew()
        return Change(renewed, copies)

    def raw(self, row: FloatArray) -> FloatArray:
        """Return a learned row before standardising, counted from `shift`, 0 where it is missing.

        Its products can be summed up over rows: `from_raw` gives those of standardised rows.
        """
        raw = np.zeros(self.width)
        raw[0] = 1.0
        values = _clipped(row[self._number_features]) - self._number_shift
        missing = np.isnan(values)
        values[missing] = 0.0
        raw[self._number_columns] = values
        raw[self._absences[missing]] = 1.0
        raw[self._bits(row)] = 1.0
        return raw

    def standardise(self, row: FloatArray) -> FloatArray:
        """Return the row that models see."""
        standard = self._off.copy()
        values = _clipped(row[self._number_features]) - self._number_shift
        values = (values - self._number_mean) * self._number_inverse
        values[np.isnan(values)] = 0.0
        standard[self._number_columns] = values
        bits = self._bits(row)
        standard[bits] = self._on[bits]
        return standard

    def standardise_many(self, rows: FloatArray) -> FloatArray:
        """Return `standardise` of each row, to the last bit."""
        standard = np.tile(self._off, (len(rows), 1))
        values = _clipped(rows[:, self._number_features]) - self._number_shift
        values = (values - self._number_mean) * self._number_inverse
        values[np.isnan(values)] = 0.0
        standard[:, self._number_columns] = values
        for feature, table in self._tables:
            for code, column in table.items():
                standard[rows[:, feature] == code, column] = self._on[column]
        return standard

    def from_raw(self, sums: FloatArray) -> FloatArray:
        """Return what sums over raw rows are over standardised ones, along the last axis."""
        offset = self.mean * self.inverse_scale
        result: FloatArray = sums * self.inverse_scale
        columns = self._number_columns
        result[..., columns] -= offset[columns] * sums[..., :1]
        known = self._absences != self._unused
        columns, absences = columns[known], self._absences[known]
        result[..., columns] += offset[columns] * sums[..., absences]
        return result

    def known(self, row: FloatArray) -> FloatArray:
        """Return a row without the categories that have no bit yet: a bit is of later rows only."""
        row = row.copy()
        for feature, is_category in enumerate(self._is_category[: len(row)]):
            if is_category and float(row[feature]) not in self._columns_of[feature]:
                row[feature] = np.nan
        return row

    def carry_over(self, coefficients: FloatArray, former: Scale) -> FloatArray:
        """Return the coefficients that predict the same as these do with rows of a former scale.

        Where numbers are missing they predict about the same.
        """
        more = (0, self.width - len(former.mean))
        mean, inverse = np.pad(former.mean, more), np.pad(former.inverse, more)
        moves = self.inverse_scale > 0
        carried = np.zeros(self.width)
        carried[moves] = coefficients[moves] * inverse[moves] / self.inverse_scale[moves]
        carried[0] += ((self.mean - mean) * inverse) @ coefficients
        return carried

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all there is to know, the features apart."""
        seen = [(i, *pair) for i, counts in enumerate(self._counts) for pair in counts.items()]
        return {
            "design_columns": np.array(self.columns),
            "design_counts": np.array([self.n, self._due]),
            "design_categories": np.array(seen, dtype=np.float64).reshape(-1, 3),
            "design_numbers": np.stack(
                [
                    self.shift,
                    self._sums,
                    self._squares,
                    self.mean,
                    self.inverse_scale,
                    self._bound,
                ]
            ),
        }

    def frozen_state(self) -> dict[str, NDArray[Any]]:
        """Return what `standardise` needs, for a design that will not learn on."""
        return {**self.state(), "design_categories": np.empty((0, 3))}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Become the design that `state` was taken from; features are in place already."""
        self.columns = [
            Column(int(kind), int(feature), float(code))
            for kind, feature, code in arrays["design_columns"]
        ]
        self.n, self._due = (int(count) for count in arrays["design_counts"])
        self._counts = [{} for _ in self._is_category]
        for feature, code, count in arrays["design_categories"].tolist():
            self._counts[int(feature)][code] = int(count)
        self.shift, self._sums, self._squares, self.mean, self.inverse_scale, self._bound = arrays[
            "design_numbers"
        ].copy()
        self._index_columns()

    # Columns.

    def _admit(self, row: FloatArray) -> list[int]:
        """Give columns to what a row has for the first time; return the copies (see `Change`)."""
        fresh: list[tuple[Column, float, bool]] = []
        for feature, value in enumerate(row.tolist()):
            table, missing = self._columns_of[feature], value != value
            if self._is_category[feature]:
                if not missing and value not in table and self._is_common(feature, value):
                    fresh.append((Column(BIT, feature, value), 0.0, False))
            elif NUMBER in table:
                if missing and ABSENCE not in table:
                    fresh.append((Column(ABSENCE, feature, 0.0), 0.0, False))
            elif not missing:
                shift = min(max(value, -LARGEST), LARGEST)
                fresh.append((Column(NUMBER, feature, 0.0), shift, False))
                if self.n > 0:
                    fresh.append((Column(ABSENCE, feature, 0.0), 0.0, True))
        return self._append(fresh) if fresh else []

    def _is_common(self, feature: int, code: float) -> bool:
        """Count a category, and say whether it has been seen often enough for a bit of its own."""
        counts = self._counts[feature]
        counts[code] = count = counts.get(code, 0) + 1
        n = self.n + 1
        return 1 < count < n and MOST_COMMON * count >= n

    def _append(self, fresh: list[tuple[Column, float, bool]]) -> list[int]:
        # One more than there are columns: `_unused` must point to one that nobody has.
        self._widen(capacity(len(self.columns) + len(fresh) + 1))
        copies = []
        self.inverse_scale = self.inverse_scale.copy()  # which a former `scale` may share
        for column, shift, is_copy in fresh:
            place = len(self.columns)
            self.columns.append(column)
            self.shift[place] = shift
            self.inverse_scale[place] = self._bit_height(column)
            if is_copy:
                copies.append(place)
                self._sums[place] = self._squares[place] = self.n
        self._index_columns()
        return copies

    def _bit_height(self, column: Column) -> float:
        """Return what a bit is where it is set; 0 for a column that is none."""
        if column.kind != BIT:
            return 0.0
        bits = sum(other.kind == BIT and other.feature == column.feature for other in self.columns)
        return float(bits**-0.25)

    def _widen(self, width: int) -> None:
        more = width - self.width
        if more > 0:
            self.shift, self._sums, self._squares, self.mean, self.inverse_scale = (
                np.pad(array, (0, more))
                for array in (self.shift, self._sums, self._squares, self.mean, self.inverse_scale)
            )
            self._bound = np.pad(self._bound, (0, more), constant_values=inf)

    def _index_columns(self) -> None:
        """Look up once what every row needs."""
        # Per feature: of a number, its columns by their kind; of a category, by the id of each.
        self._columns_of: list[dict[float, int]] = [{} for _ in self._is_category]
        for place, column in enumerate(self.columns):
            if column.kind != CONSTANT:
                key = column.code if column.kind == BIT else column.kind
                self._columns_of[column.feature][key] = place
        self._bit_columns = np.array(
            [i for i, column in enumerate(self.columns) if column.kind == BIT], dtype=np.int64
        )
        pairs = list(zip(self._columns_of, self._is_category, strict=True))
        numbers = [i for i, (table, is_bits) in enumerate(pairs) if table and not is_bits]
        self._tables = [(i, table) for i, (table, is_bits) in enumerate(pairs) if table and is_bits]
        self._category_features = np.array([i for i, _ in self._tables], dtype=np.int64)
        self._number_features = np.array(numbers, dtype=np.int64)
        columns = [self._columns_of[i] for i in numbers]
        self._unused = self.width - 1
        self._number_columns = np.array([table[NUMBER] for table in columns], dtype=np.int64)
        self._absences = np.array(
            [table.get(ABSENCE, self._unused) for table in columns], dtype=np.int64
        )
        self._prepare_rows()

    def _prepare_rows(self) -> None:
        """Compute the parts of rows that depend on the scale only."""
        numbers = self._number_columns
        self._number_shift = self.shift[numbers]
        self._number_mean = self.mean[numbers]
        self._number_inverse = self.inverse_scale[numbers]
        self._off = 0.0 - self.mean * self.inverse_scale
        self._on = (1.0 - self.mean) * self.inverse_scale
        self._off[numbers] = 0.0
        self._off[0] = 1.0
        still = self.inverse_scale == 0
        still[self._absences] = still[len(self.columns) :] = False
        still[self._bit_columns] = False
        self._constant_columns = np.flatnonzero(still)

    def _bits(self, row: FloatArray) -> list[int]:
        """Return the columns of the categories that a row has."""
        codes = row[self._category_features].tolist()
        pairs = zip(codes, self._tables, strict=True)
        # A missing value is NaN, which is no key.
        return [table[code] for code, (_, table) in pairs if code in table]

    # Scale.

    def _moments(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return number, mean and variance of the values of each column that are present."""
        n = np.full(self.width, float(self.n))
        n[self._number_columns] -= self._sums[self._absences]
        mean = self._sums / n
        return n, mean, self._squares / n - mean * mean

    def _constant_column_moved(self) -> bool:
        if len(self._constant_columns) == 0:
            return False
        return bool((self._moments()[2][self._constant_columns] > SMALLEST_VARIANCE).any())

    def _renew(self) -> None:
        n, mean, variance = self._moments()
        moves = variance > SMALLEST_VARIANCE
        moves[self._absences] = moves[self._bit_columns] = False
        self.inverse_scale = np.zeros(self.width)
        self.inverse_scale[moves] = 1 / np.sqrt(variance[moves])
        self.mean = np.where(moves, mean, 0.0)
        # No value of n is farther than √(n − 1) standard deviations from their mean.
        self._bound = np.where(moves, np.sqrt(n), inf)
        self.inverse_scale[0] = 1.0
        for place in self._bit_columns.tolist():
            self.inverse_scale[place] = self._bit_height(self.columns[place])
        self._due = grown_by_a_quarter(self.n)
        self._prepare_rows()


def capacity(n_columns: int) -> int:
    """Return the length of rows with room for this many columns: at most about 1/8 more.

    Examples
    --------
    >>> capacity(1), capacity(9), capacity(106), capacity(130)
    (8, 16, 112, 144)
    """
    step = 1 << max(3, n_columns.bit_length() - 4)
    return -(-n_columns // step) * step


def grown_by_a_quarter(n: int) -> int:
    """Return the least number that is at least a quarter more than n, and one more."""
    return max(n + 1, ceil(1.25 * n))


def _clipped(values: FloatArray) -> FloatArray:
    return np.minimum(np.maximum(values, -LARGEST), LARGEST)
