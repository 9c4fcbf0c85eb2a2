"""The features of contexts: declared or as they come."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from banditree._checking import shorten
from banditree.contexts import batches
from banditree.contexts.batches import Batch, Matrix, Records, Rows, declared_names
from banditree.contexts.description import FeatureInfo, Features
from banditree.contexts.features import Feature, Pending
from banditree.contexts.unknown import hint, tell_never_came, tell_unknown, undeclared
from banditree.errors import InvalidContextError, InvalidParameterError
from banditree.types import DeclaredKind, FeatureName, Kind, Value

Declared = dict[FeatureName, Kind]

# After so many unknown names no warning names more: they are data, not mistakes.
MOST_TOLD = 100

_KINDS = ", ".join(f'"{kind}"' for kind in get_args(DeclaredKind))


class Schema:
    """The features of contexts: those declared, or all that came so far.

    Parameters
    ----------
    categorical, features
        As for `Encoder`.
    """

    def __init__(self, categorical: Sequence[FeatureName] = (), features: Any = None) -> None:
        self.categorical = declared_names(categorical)
        self._declared: Declared | None = read_declared(features, self.categorical)
        self._named: bool | None = None if self._declared is None else True
        self._features = [Feature(name, kind) for name, kind in (self._declared or {}).items()]
        self._has_kinds = isinstance(features, Mapping)
        self._by_position = _can_be_positions(list(self._declared or ()))
        self.tells = False
        self._told: set[Any] = set()
        self._index_names()

    @property
    def features(self) -> list[FeatureName]:
        """Names of the features, in order of first appearance."""
        return list(self._names)

    @property
    def declared(self) -> dict[FeatureName, Kind] | list[FeatureName] | None:
        """The declared features, with their kinds if declared; None if nothing was declared."""
        if self._declared is None:
            return None
        return dict(self._declared) if self._has_kinds else list(self._declared)

    @property
    def described(self) -> Features:
        """What is known of each feature."""
        return Features({f.name: FeatureInfo(f.kind, len(f.ids)) for f in self._features})

    @property
    def n_features(self) -> int:
        """Number of features so far."""
        return len(self._names)

    @property
    def is_categorical(self) -> NDArray[np.uint8]:
        """Per feature, 1 for categories and 0 for numbers and for features never seen present."""
        return np.array([feature.is_categorical for feature in self._features], dtype=np.uint8)

    def kind(self, index: int) -> Kind:
        """Return what feature `index` holds."""
        return self._features[index].kind

    def categories(self, index: int) -> list[Value]:
        """Return the categories of feature `index`, each at the position of its id."""
        return self._features[index].categories

    def _index_names(self) -> None:
        self._names = [feature.name for feature in self._features]
        self._index = {feature.name: i for i, feature in enumerate(self._features)}
        # Names that need no warning: an unknown one gets one only.
        self._known: set[Any] = {*self._names, *self._told}

    def _check_batch(self, batch: Batch) -> None:
        self._check_form(batch.named, len(batch.names))
        if self._declared is not None and isinstance(batch, Rows | Matrix):
            batch.names = self._names

    def _check_declared(self, fresh: Sequence[Any], batch: Batch | None = None) -> None:
        """Refuse names that a schema does not have."""
        if self._declared is not None and fresh:
            row = batch.first_with(fresh[0]) if isinstance(batch, Records) else None
            raise undeclared(fresh, self._names, row)

    def _report(self, names: Iterable[Any], batch: Batch | None = None) -> None:
        """Refuse, or warn of, names in contexts to decide for that were never learned from."""
        unknown = [name for name in names if name not in self._known]
        self._check_declared(unknown, batch)
        if not self._names or len(self._told) >= MOST_TOLD:
            return
        none_known = self._index.keys().isdisjoint(names)
        self._told.update(unknown)
        self._known.update(unknown)
        if self.tells:
            tell_unknown(unknown, self._names, none_known)

    def tell_never_came(self, n: int, pending: Pending | None = None) -> None:
        """Warn of declared categories that none of n observations had, those pending included."""
        came = self._index.keys() | {
            feature.name for feature in (pending.features if pending else ())
        }
        never = [name for name in self.categorical if name not in came]
        if never:
            tell_never_came(never, self._names, n)

    def _check_form(self, named: bool, length: int) -> None:
        mixed = self._named is not None and self._named != named
        if mixed and not self._by_position:
            raise InvalidContextError(self._mixed(named))
        if not named and self._named is not None and length != len(self._names):
            raise batches.wrong_length(length, len(self._names))

    def _mixed(self, named: bool) -> str:
        forms = ("positional (sequences or arrays)", "named (mappings or tables)")
        known = ", ".join(map(repr, self._names[:5])) + (", ..." if len(self._names) > 5 else "")
        return (
            f"contexts were {forms[not named]} before and now are {forms[named]}; one schema holds "
            f"either: send contexts in the earlier form, with the features {known}"
        )


def read_declared(features: Any, categorical: Sequence[FeatureName]) -> Declared | None:
    """Check declared features; the kind of one that is only named is "unknown"."""
    if features is None:
        return None
    if isinstance(features, set | frozenset):
        raise InvalidParameterError(
            f"features must be a mapping or a list, got a set, {shorten(features)}, whose order is "
            "not defined; pass a list, for instance sorted(features)"
        )
    names = declared_names(features, "features")
    if not names:
        raise InvalidParameterError(
            "features is empty, but names all features that contexts may have; leave it out to "
            "take features as they come"
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidParameterError(f"features names {twice!r} twice; name each feature once")
    declared: Declared = dict.fromkeys(names, "unknown")
    if isinstance(features, Mapping):
        declared = {n: check_kind(n, k) for n, k in zip(names, features.values(), strict=True)}
    for name in categorical:
        if name not in declared:
            raise InvalidParameterError(
                f"categorical names {name!r}, which features does not; {hint(name, names)}"
            )
        if declared[name] not in ("unknown", "category"):
            raise InvalidParameterError(
                f"categorical names {name!r}, which features declares as {declared[name]!r}; "
                'declare it as "category" and leave it out of categorical'
            )
        if not isinstance(features, Mapping):
            declared[name] = "category"
    return declared


def _can_be_positions(names: list[FeatureName]) -> bool:
    """Return whether contexts without names can be read in the order of declared names."""
    strings = all(isinstance(name, str) for name in names)
    # Of numbers, only those that are the positions: others would be mistaken for them.
    return bool(names) and (strings or names == list(range(len(names))))


def check_kind(name: FeatureName, kind: Any) -> Kind:
    """Return the kind that a user gives a feature."""
    if not isinstance(kind, str) or kind not in get_args(DeclaredKind):
        raise InvalidParameterError(
            f"the kind of feature {name!r} must be one of {_KINDS}; got {shorten(kind)}; "
            '"category" takes values of any type'
        )
    return kind  # type: ignore[return-value]
