"""Design rows: numbers standardised, categories as bits, for policies that fit linear models."""

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree.policies.linear.columns import (
    ABSENCE,
    BIT,
    CONSTANT,
    LARGEST,
    NUMBER,
    Change,
    Column,
    Scale,
    bits_of,
    capacity,
    clipped,
    grown,
    is_common,
    places_of,
)
from banditree.types import FloatArray

# A column that varies less is constant, so that no product of a few numbers overflows.
SMALLEST_VARIANCE = 1e-100
# What is known of each column, in the order of the state.
NUMBERS = ("shift", "_sums", "_squares", "mean", "inverse_scale", "_bound")


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

    The scale is renewed each time the number of observations has grown by the share `refresh`, and
    stays fixed in between, unless a constant column ceases to be constant, or a value comes that is
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

    def __init__(self, refresh: float = 0.25) -> None:
        self._refresh = refresh
        self.n = 0
        self.due = 1
        self.is_category: list[bool] = []
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
        return [0, *self._at.numbers.tolist()]

    @property
    def n_features(self) -> int:
        """Number of features that encoded rows have."""
        return len(self.is_category)

    @property
    def scale(self) -> Scale:
        """The scale in force."""
        return Scale(self.mean, self.inverse_scale)

    def set_features(self, is_category: Any) -> None:
        """Take note of the features that there are now."""
        self.is_category = [bool(flag) for flag in is_category]
        self._counts += [{} for _ in self.is_category[len(self._counts) :]]
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
        renewed = far or self.n >= self.due or self._constant_column_moved()
        if renewed:
            self._renew()
        return Change(renewed, copies)

    def learn_quietly(self, rows: FloatArray) -> None:
        """Take in contexts none of which brings a column or a new scale."""
        raw = self.raw_many(rows)
        self.n += len(rows)
        self._sums += raw.sum(axis=0)
        self._squares += (raw * raw).sum(axis=0)
        for feature, is_category in enumerate(self.is_category):
            if is_category:
                self._count(feature, rows[:, feature])

    def changes_scale(self, rows: FloatArray) -> NDArray[np.bool_]:
        """Return whether each row, learned after those before it, would make a new scale.

        None of them brings a column, and the scale is not due.
        """
        values = clipped(rows[:, self._at.number_features]) - self._number_shift
        distance = np.abs((values - self._number_mean) * self._number_inverse)
        far = np.asarray((distance > self._bound[self._at.numbers]).any(axis=1))
        still = np.isin(self._at.numbers, self._constant_columns)
        if not still.any():
            return far
        columns, values = self._at.numbers[still], values[:, still]
        present = ~np.isnan(values)
        values[~present] = 0.0
        n = self.n - self._sums[self._at.absences[still]] + present.cumsum(axis=0)
        mean = (self._sums[columns] + values.cumsum(axis=0)) / n
        squares = (self._squares[columns] + (values * values).cumsum(axis=0)) / n
        far |= (squares - mean * mean > SMALLEST_VARIANCE).any(axis=1)
        return far

    def raw(self, row: FloatArray) -> FloatArray:
        """Return a learned row before standardising, counted from `shift`, 0 where it is missing.

        Its products can be summed up over rows: `from_raw` gives those of standardised rows.
        """
        raw = np.zeros(self.width)
        raw[0] = 1.0
        values = clipped(row[self._at.number_features]) - self._number_shift
        missing = np.isnan(values)
        values[missing] = 0.0
        raw[self._at.numbers] = values
        raw[self._at.absences[missing]] = 1.0
        raw[self._bits(row)] = 1.0
        return raw

    def raw_many(self, rows: FloatArray) -> FloatArray:
        """Return `raw` of each row, to the last bit."""
        raw = np.zeros((len(rows), self.width))
        raw[:, 0] = 1.0
        values = clipped(rows[:, self._at.number_features]) - self._number_shift
        missing = np.isnan(values)
        values[missing] = 0.0
        raw[:, self._at.numbers] = values
        known = self._at.absences != self._at.unused
        raw[:, self._at.absences[known]] = missing[:, known]
        places, columns = bits_of(rows, self._at.tables)
        raw[places, columns] = 1.0
        return raw

    def standardise(self, row: FloatArray) -> FloatArray:
        """Return the row that models see."""
        standard = self._off.copy()
        values = clipped(row[self._at.number_features]) - self._number_shift
        values = (values - self._number_mean) * self._number_inverse
        values[np.isnan(values)] = 0.0
        standard[self._at.numbers] = values
        bits = self._bits(row)
        standard[bits] = self._on[bits]
        return standard

    def standardise_many(self, rows: FloatArray) -> FloatArray:
        """Return `standardise` of each row, to the last bit."""
        standard = np.tile(self._off, (len(rows), 1))
        values = clipped(rows[:, self._at.number_features]) - self._number_shift
        values = (values - self._number_mean) * self._number_inverse
        values[np.isnan(values)] = 0.0
        standard[:, self._at.numbers] = values
        places, columns = bits_of(rows, self._at.tables)
        standard[places, columns] = self._on[columns]
        return standard

    def from_raw(self, sums: FloatArray) -> FloatArray:
        """Return what sums over raw rows are over standardised ones, along the last axis."""
        offset = self.mean * self.inverse_scale
        result: FloatArray = sums * self.inverse_scale
        columns = self._at.numbers
        result[..., columns] -= offset[columns] * sums[..., :1]
        known = self._at.absences != self._at.unused
        columns, absences = columns[known], self._at.absences[known]
        result[..., columns] += offset[columns] * sums[..., absences]
        return result

    def known(self, row: FloatArray) -> FloatArray:
        """Return a row without the categories that have no bit yet: a bit is of later rows only."""
        known: FloatArray = self.known_many(row[None], np.array([self.n]))[0]
        return known

    def known_many(self, rows: FloatArray, places: NDArray[np.int64]) -> FloatArray:
        """Return rows without the categories that had no bit when so many rows had come."""
        known = rows.copy()
        known[:, np.array(self.is_category, dtype=bool)[: rows.shape[1]]] = np.nan
        at, columns = bits_of(rows, self._at.tables)
        born = np.array([column.born for column in self.columns])
        at, columns = (part[born[columns] <= places[at]] for part in (at, columns))
        features = np.array([column.feature for column in self.columns])[columns]
        known[at, features] = rows[at, features]
        return known

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all there is to know, the features apart."""
        seen = [(i, *pair) for i, counts in enumerate(self._counts) for pair in counts.items()]
        return {
            "design_columns": np.array(self.columns),
            "design_counts": np.array([self.n, self.due]),
            "design_categories": np.array(seen, dtype=np.float64).reshape(-1, 3),
            "design_numbers": np.stack([getattr(self, name) for name in NUMBERS]),
        }

    def frozen_state(self) -> dict[str, NDArray[Any]]:
        """Return what `standardise` needs, for a design that will not learn on."""
        return {**self.state(), "design_categories": np.empty((0, 3))}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Become the design that `state` was taken from; features are in place already."""
        self.columns = [
            Column(int(kind), int(feature), float(code), *map(int, born))
            for kind, feature, code, *born in arrays["design_columns"]
        ]
        self.n, self.due = (int(count) for count in arrays["design_counts"])
        self._counts = [{} for _ in self.is_category]
        for feature, code, count in arrays["design_categories"].tolist():
            self._counts[int(feature)][code] = int(count)
        for name, numbers in zip(NUMBERS, arrays["design_numbers"].copy(), strict=True):
            setattr(self, name, numbers)
        self._index_columns()

    # Columns.

    def _admit(self, row: FloatArray) -> list[int]:
        """Give columns to what a row has for the first time; return the copies (see `Change`)."""
        fresh: list[tuple[Column, float, bool]] = []
        for feature, value in enumerate(row.tolist()):
            table, missing = self._at.of_feature[feature], value != value
            if self.is_category[feature]:
                if not missing and value not in table and self._is_common(feature, value):
                    fresh.append((Column(BIT, feature, value, self.n), 0.0, False))
            elif NUMBER in table:
                if missing and ABSENCE not in table:
                    fresh.append((Column(ABSENCE, feature, 0.0, self.n), 0.0, False))
            elif not missing:
                shift = min(max(value, -LARGEST), LARGEST)
                fresh.append((Column(NUMBER, feature, 0.0, self.n), shift, False))
                if self.n > 0:
                    fresh.append((Column(ABSENCE, feature, 0.0, self.n), 0.0, True))
        return self._append(fresh) if fresh else []

    def _is_common(self, feature: int, code: float) -> bool:
        """Count a category, and say whether it has been seen often enough for a bit of its own."""
        counts = self._counts[feature]
        counts[code] = count = counts.get(code, 0) + 1
        return is_common(count, self.n + 1)

    def _count(self, feature: int, values: FloatArray) -> None:
        """Count categories that have no bit."""
        counts = self._counts[feature]
        codes, times = np.unique(values[~np.isnan(values)], return_counts=True)
        for code, count in zip(codes.tolist(), times.tolist(), strict=True):
            if code not in self._at.of_feature[feature]:
                counts[code] = counts.get(code, 0) + count

    def _append(self, fresh: list[tuple[Column, float, bool]]) -> list[int]:
        # One more than there are columns: `unused` must point to one that nobody has.
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
        self._at = places_of(self.columns, self.is_category, self.width)
        self._prepare_rows()

    def _prepare_rows(self) -> None:
        """Compute the parts of rows that depend on the scale only."""
        numbers = self._at.numbers
        self._number_shift = self.shift[numbers]
        self._number_mean = self.mean[numbers]
        self._number_inverse = self.inverse_scale[numbers]
        self._off = 0.0 - self.mean * self.inverse_scale
        self._on = (1.0 - self.mean) * self.inverse_scale
        self._off[numbers] = 0.0
        self._off[0] = 1.0
        still = self.inverse_scale == 0
        still[self._at.absences] = still[len(self.columns) :] = False
        still[self._at.bits] = False
        self._constant_columns = np.flatnonzero(still)

    def _bits(self, row: FloatArray) -> list[int]:
        """Return the columns of the categories that a row has."""
        codes = row[self._at.category_features].tolist()
        pairs = zip(codes, self._at.tables, strict=True)
        # A missing value is NaN, which is no key.
        return [table[code] for code, (_, table) in pairs if code in table]

    # Scale.

    def _moments(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return number, mean and variance of the values of each column that are present."""
        n = np.full(self.width, float(self.n))
        n[self._at.numbers] -= self._sums[self._at.absences]
        mean = self._sums / n
        return n, mean, self._squares / n - mean * mean

    def _constant_column_moved(self) -> bool:
        if len(self._constant_columns) == 0:
            return False
        return bool((self._moments()[2][self._constant_columns] > SMALLEST_VARIANCE).any())

    def _renew(self) -> None:
        n, mean, variance = self._moments()
        moves = variance > SMALLEST_VARIANCE
        moves[self._at.absences] = moves[self._at.bits] = False
        self.inverse_scale = np.zeros(self.width)
        self.inverse_scale[moves] = 1 / np.sqrt(variance[moves])
        self.mean = np.where(moves, mean, 0.0)
        # No value of n is farther than √(n − 1) standard deviations from their mean.
        self._bound = np.where(moves, np.sqrt(n), inf)
        self.inverse_scale[0] = 1.0
        for place in self._at.bits.tolist():
            self.inverse_scale[place] = self._bit_height(self.columns[place])
        self.due = grown(self.n, self._refresh)
        self._prepare_rows()
