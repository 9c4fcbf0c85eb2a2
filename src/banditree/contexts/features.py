"""What is known of a feature, and what a batch of contexts would add to it."""

from collections.abc import Hashable
from typing import cast

import numpy as np

from banditree.contexts.columns import Column, key_of
from banditree.contexts.values import canonical, kind_of, plain, type_change
from banditree.types import FeatureName, FloatArray, Kind, Value

NAN = float("nan")


class Feature:
    """A feature's name, kind and categories (key to id, in order of the ids)."""

    __slots__ = ("ids", "kind", "name")

    def __init__(self, name: FeatureName, kind: Kind = "unknown") -> None:
        self.name = name
        self.kind: Kind = kind
        self.ids: dict[Hashable, float] = {}
        if kind == "boolean":
            self.ids.update(BOOLEAN_IDS)

    @property
    def is_categorical(self) -> bool:
        """Whether the core must read the floats as ids."""
        return self.kind not in ("number", "unknown")

    @property
    def categories(self) -> list[Value]:
        """The categories as they were sent, at the position of their ids."""
        return list(map(category_of, self.ids))


def category_of(key: Hashable) -> Value:
    """Return a category as it was sent, from what it is looked up by."""
    return cast("Value", key[0] if isinstance(key, tuple) else key)


BOOLEAN_IDS: dict[Hashable, float] = {False: 0.0, True: 1.0}


class Draft:
    """What new contexts would change in a feature, which stays as it is until `commit`."""

    __slots__ = ("added", "feature", "kind")

    def __init__(self, feature: Feature) -> None:
        self.feature = feature
        self.kind: Kind = feature.kind
        self.added: dict[Hashable, float] = {}

    @property
    def changed(self) -> bool:
        """Whether there is anything to commit."""
        return bool(self.added) or self.kind != self.feature.kind

    def encode(self, value: Value) -> float:
        """Return the float for the one present value of a single context."""
        kind = kind_of(value)
        if self.kind == "unknown":
            self.kind = kind
        if self.kind == "number" and kind == "number":
            return float(value)
        if self.kind not in (kind, "category"):
            raise type_change(self.feature.name, self.kind, value, kind)
        return self._id(key_of(value, self.kind))

    def encode_column(self, column: Column) -> FloatArray:
        """Return the floats for one value per context."""
        self.kind = column.kind
        if column.numbers is not None:
            return column.numbers
        ids = self._ids(column.keys)
        # Missing values have code -1, which reads the last element.
        return np.array([*ids, NAN])[column.codes]

    def without_new(self, codes: FloatArray) -> FloatArray:
        """Return `codes` with categories that the feature does not have yet turned to missing."""
        if self.kind in ("number", "unknown") or not self.changed:
            return codes
        known = len(self.feature.ids)
        return np.where(codes < known, codes, NAN)

    def commit(self) -> None:
        """Apply the changes."""
        self.feature.kind = self.kind
        self.feature.ids.update(BOOLEAN_IDS if self.kind == "boolean" else self.added)

    def _ids(self, keys: list[Hashable]) -> list[float]:
        """Return the ids of distinct keys, new ones numbered in their order."""
        known = BOOLEAN_IDS if self.kind == "boolean" else self.feature.ids
        fresh = [key for key in keys if key not in known]
        ids = map(float, range(len(known), len(known) + len(fresh)))
        stored = map(_stored, fresh) if self.kind == "category" else fresh
        self.added = dict(zip(stored, ids, strict=True))
        return [known[key] if key in known else self.added[key] for key in keys]

    def _id(self, key: Hashable) -> float:
        if self.kind == "boolean":
            return BOOLEAN_IDS[key]
        found = self.feature.ids.get(key)
        if found is None:
            found = float(len(self.feature.ids))
            self.added = {_stored(key): found}
        return found


def encode_value(feature: Feature, value: object, drafts: list[Draft] | None) -> float:
    """Encode one value with all care; what is new goes to `drafts`, if given."""
    present = plain(value, feature.name)
    if present is None:
        return NAN
    draft = Draft(feature)
    code = draft.encode(present)
    if not draft.changed:
        return code
    if drafts is None:
        return code if draft.kind == "number" else NAN
    drafts.append(draft)
    return code


class Pending:
    """What an `Encoder` would learn from contexts that it has read; see `Encoder.commit`."""

    __slots__ = ("drafts", "features", "named", "version")

    def __init__(
        self, fresh: list[Feature], drafts: list[Draft], named: bool, version: int
    ) -> None:
        self.version = version
        self.features = fresh
        self.drafts = drafts
        self.named = named


def _stored(key: Hashable) -> Hashable:
    return canonical(key) if isinstance(key, float) else key


def ids_by_number(feature: Feature) -> dict[float, float]:
    """Return the ids of the categories that an array of floats can hold."""
    numbers = {key: code for key, code in feature.ids.items() if isinstance(key, int | float)}
    return {float(key): code for key, code in numbers.items() if abs(key) <= 2**53}
