"""The schema of the contexts seen so far, and the rows that the core reads."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import NDArray

from banditree import _core
from banditree._checking import shorten
from banditree.contexts import batches
from banditree.contexts.batches import Single, feature_name, read_many, read_one
from banditree.contexts.changes import restore_changes
from banditree.contexts.features import NAN, Draft, Feature, Pending, encode_value, ids_by_number
from banditree.contexts.filling import fill
from banditree.contexts.recoding import RecodeRows, Recoding
from banditree.contexts.schema import Schema
from banditree.contexts.state import dump, restore
from banditree.contexts.unknown import hint
from banditree.contexts.values import infinite, plain
from banditree.errors import InvalidParameterError
from banditree.types import Context, Contexts, FeatureName, FloatArray, Kind

FLOAT64 = np.dtype(np.float64)
# The Python type whose values a feature takes without a closer look.
USUAL: dict[Kind, type | None] = {
    "number": float,
    "string": str,
    "boolean": bool,
    "category": None,
    "unknown": None,
}


class Encoder(Schema):
    """Turns contexts into float64 rows: one column per feature, ids for categories, NaN if missing.

    Contexts to learn from are staged, then committed once the rows are used, so that a refused
    context leaves no trace. Contexts to predict for are encoded and never change the schema.

    Parameters
    ----------
    categorical
        Names of features (positions, for contexts without names) whose numbers are categories.
    features
        All features that contexts may have: a mapping of names to kinds, or the names alone. Other
        names are then refused, and contexts without names are read in this order. None: features
        are taken as they come.

    Attributes
    ----------
    tells
        Whether a warning names, once, each feature that was never learned from.

    Examples
    --------
    >>> encoder = Encoder()
    >>> rows, pending = encoder.stage_many([{"age": 31, "city": "Berlin"}, {"city": "Rome"}])
    >>> rows
    array([[31.,  0.],
           [nan,  1.]])
    >>> encoder.commit(pending)
    >>> encoder.encode_one({"age": 27, "city": "Oslo"})
    array([27., nan])
    >>> encoder.features, encoder.categories(1)
    (['age', 'city'], ['Berlin', 'Rome'])
    """

    def __init__(self, categorical: Sequence[FeatureName] = (), features: Any = None) -> None:
        super().__init__(categorical, features)
        self._version = 0  # counts commits
        self._category_codes: _core.CategoryCodes | None = None
        self._refresh()

    def __repr__(self) -> str:
        return f"Encoder(categorical={list(self.categorical)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoder.from_state, (self.state(),)

    @staticmethod
    def is_one(contexts: Context | Contexts) -> bool:
        """Return whether the argument is one context rather than many.

        Raises
        ------
        InvalidContextError
            If it is neither.

        Examples
        --------
        >>> Encoder.is_one({"age": 31}), Encoder.is_one([31, "Berlin"]), Encoder.is_one([[31]])
        (True, True, False)
        """
        return batches.is_one(contexts)

    def encode_one(self, context: Context) -> FloatArray:
        """Return the row of one context, to predict from.

        Unknown features are left out, unknown categories count as missing. A float64 array that
        fits is returned as it is, unchecked: `check_finite` tells whether it holds infinities.
        """
        if type(context) is ndarray:
            if self._fits(context):
                return context
            if self._is_coded(context):
                return self._coded(context)[0]
        elif type(context) is dict and self._named:
            if not self._known.issuperset(context):
                self._report(context)
            return self._row(list(map(context.get, self._names)), None)
        single = self._single(context)
        if self._named is None:
            return np.empty(0)
        values = self._values(single)
        if single.named and not self._known.issuperset(single.values):
            self._report(single.values)
        return self._row(values, None)

    def encode_many(self, contexts: Contexts) -> FloatArray:
        """Return one row per context, to predict from; see `encode_one`."""
        batch = read_many(contexts)
        if batch is None or self._named is None:
            return np.empty((0 if batch is None else batch.length, self.n_features))
        self._check_batch(batch)
        if not self._known.issuperset(batch.names):
            self._report(batch.names, batch)
        return fill(batch, self._features, None)

    def stage_one(self, context: Context) -> tuple[FloatArray, Pending | None]:
        """Return the row of one context to learn from, and what to commit (None: nothing new)."""
        if type(context) is ndarray and self._fits(context):
            # A sum is finite only if all its terms are. For 14 features 0.4 µs, by isinf 1.7.
            if not isfinite(sum(context.tolist())):
                self.check_finite(context)
            return context, None
        if type(context) is ndarray and self._is_coded(context):
            row, all_known = self._coded(context)
            if all_known:
                return row, None
        single = self._single(context)
        drafts: list[Draft] = []
        if self._named is None:
            return self._stage_fresh(single, single.values, drafts, [])
        values = self._values(single)
        if not single.named or single.values.keys() <= self._index.keys():
            row = self._row(values, drafts)
            return row, self._pending([], drafts, single.named) if drafts else None
        fresh = {key: value for key, value in single.values.items() if key not in self._index}
        self._check_declared(list(fresh))
        return self._stage_fresh(single, fresh, drafts, self._row(values, drafts).tolist())

    def stage_many(self, contexts: Contexts) -> tuple[FloatArray, Pending | None]:
        """Return one row per context to learn from, and what to commit (None: nothing new)."""
        batch = read_many(contexts)
        if batch is None:
            return np.empty((0, self.n_features)), None
        self._check_batch(batch)
        names = [n for n in batch.names if n not in self._index]
        self._check_declared(names, batch)
        fresh = [self._new(feature_name(name)) for name in names]
        drafts: list[Draft] = []
        rows = fill(batch, [*self._features, *fresh], drafts)
        if not fresh and not drafts and self._named is not None:
            return rows, None
        return rows, self._pending(fresh, drafts, batch.named)

    def commit(self, pending: Pending | None) -> None:
        """Take over what the last `stage_one` or `stage_many` found new."""
        if pending is None:
            return
        assert pending.version == self._version, "staged before another commit"
        self._version += 1
        reshaped = self._named is None or bool(pending.features)
        self._category_codes = None  # knows nothing of new categories
        for draft in pending.drafts:
            reshaped |= draft.kind != draft.feature.kind
            draft.commit()
        if reshaped:
            self._named = pending.named or self._declared is not None
            self._features = [*self._features, *pending.features]
            self._refresh()

    def commit_again(self, changes: dict[str, Any]) -> None:
        """Take over what another encoder with the same past took over, from `dump_changes`.

        Raises
        ------
        StateError
            If this encoder could not have come to these changes.
        """
        known = {feature.name: feature for feature in self._features}
        self.commit(restore_changes(changes, known, self._version))

    def check_finite(self, rows: FloatArray) -> None:
        """Raise the error that names the feature if a row, or one of many, holds an infinity."""
        wrong = np.argwhere(np.isinf(rows))
        if len(wrong):
            row = None if rows.ndim == 1 else int(wrong[0][0])
            value = rows[tuple(wrong[0])]
            raise infinite(self._names[wrong[0][-1]], float(value), row)

    def state(self) -> dict[str, Any]:
        """Return all that is known, in plain values that JSON can hold."""
        kinds = self._declared if self._has_kinds else dict.fromkeys(self._declared or ())
        declared = None if self._declared is None else kinds
        return dump(self.categorical, self._named, self._features, declared)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Encoder":
        """Return the encoder that `state` was taken from.

        Raises
        ------
        StateError
            If the state is not one of an encoder.
        """
        categorical, named, features, declared = restore(state)
        encoder = cls(categorical, declared)
        encoder._named, encoder._features = named, features
        encoder._refresh()
        return encoder

    def _refresh(self) -> None:
        """Recompute what the fast paths look up."""
        self._index_names()
        features = self._features
        self._plan = [(feature, USUAL[feature.kind], feature.ids) for feature in features]
        kinds = {feature.kind for feature in features}
        shape = (len(features),) if self._named is False or self._by_position else None
        self._shape = shape if kinds <= {"number"} else None
        self._coded_shape = shape if kinds == {"number", "category"} else None
        self._category_codes = None

    def _pending(self, fresh: list[Feature], drafts: list[Draft], named: bool) -> Pending:
        return Pending(fresh, drafts, named, self._version)

    def _new(self, name: FeatureName) -> Feature:
        return Feature(name, "category" if name in self.categorical else "unknown")

    def _fits(self, array: NDArray[Any]) -> bool:
        """Return whether the core can read a 1-D array as it is.

        False also for a read-only array, which it could: a look at one flag takes as long as all
        the rest, and this one stands for several.
        """
        return array.shape == self._shape and array.dtype == FLOAT64 and array.flags.carray

    def _is_coded(self, array: NDArray[Any]) -> bool:
        """Return whether the core can read a copy of a 1-D array, but for the ids of categories."""
        return array.shape == self._coded_shape and array.dtype == FLOAT64

    def _coded(self, array: FloatArray) -> tuple[FloatArray, bool]:
        """Return the row of an array, and whether all of its categories are known."""
        if self._category_codes is None:
            categories = [
                (i, ids_by_number(feature))
                for i, feature in enumerate(self._features)
                if feature.is_categorical
            ]
            self._category_codes = _core.CategoryCodes(len(self._features), categories)
        row = array.copy()
        try:
            return row, self._category_codes.encode(row)
        except ValueError:
            self.check_finite(array)
            raise

    def recoded(self, given: Any, kind: Kind) -> tuple["Encoder", RecodeRows]:
        """Return an encoder with another kind of a feature, and what makes rows fit it."""
        try:
            index = self._index.get(given)
        except TypeError:  # it cannot be hashed
            index = None
        if index is None:
            raise InvalidParameterError(
                f"there is no feature {shorten(given)}; {hint(given, self._names)}"
            )
        encoder, name = Encoder.from_state(self.state()), self._names[index]
        recoding = Recoding(self._features[index], index, kind)
        encoder._features[index] = recoding.feature
        if encoder._declared is not None:
            encoder._declared[name] = kind
        others = tuple(other for other in self.categorical if other != name)
        tagged = kind == "category" and not encoder._has_kinds
        encoder.categorical = (*others, name) if tagged else others
        encoder.tells, encoder._told = self.tells, self._told
        encoder._refresh()
        return encoder, recoding.rows

    @staticmethod
    def _single(context: Context) -> Single:
        """Read one context; the two usual forms without a closer look."""
        if type(context) is dict:
            return Single(True, context)
        if type(context) is ndarray and context.dtype == FLOAT64 and context.ndim == 1:
            return Single(False, context.tolist())
        return read_one(context)

    def _values(self, single: Single) -> Sequence[Any]:
        """Return one value per known feature."""
        self._check_form(single.named, len(single.values))
        if single.named:
            return list(map(single.values.get, self._names))
        return single.values  # type: ignore[no-any-return]

    def _row(self, values: Sequence[Any], drafts: list[Draft] | None) -> FloatArray:
        codes = self._codes(values, drafts)
        try:
            return np.array(codes, dtype=FLOAT64)
        except OverflowError:
            for feature, value in zip(self._features, values, strict=True):
                plain(value, feature.name)
            raise

    def _codes(self, values: Sequence[Any], drafts: list[Draft] | None) -> list[float]:
        """Return one float per known feature; what is new goes to `drafts`, if given.

        This is the hot loop of every decision: about 160 ns per feature.
        """
        row: list[float] = []
        add = row.append
        for value, (feature, usual, ids) in zip(values, self._plan, strict=True):
            if value is None:
                add(NAN)
                continue
            kind = type(value)
            if usual is float:
                # Neither NaN nor an infinity minus itself is 0.
                if (kind is float or kind is int) and value - value == 0:
                    add(value)
                    continue
            elif usual is kind or (usual is None and (kind is float or kind is str or kind is int)):
                code = ids.get(value)
                if code is not None:
                    add(code)
                    continue
            add(encode_value(feature, value, drafts))
        return row

    def _stage_fresh(
        self, single: Single, values: Any, drafts: list[Draft], row: list[float]
    ) -> tuple[FloatArray, Pending]:
        """Add features never seen before to the row of the known ones."""
        fresh = []
        for key, value in values.items() if single.named else enumerate(values):
            feature = self._new(feature_name(key))
            fresh.append(feature)
            row.append(encode_value(feature, value, drafts))
        pending = self._pending(fresh, drafts, single.named)
        return np.array(row, dtype=FLOAT64), pending
