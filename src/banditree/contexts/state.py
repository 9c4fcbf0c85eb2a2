"""The schema of contexts as plain values, and back."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from banditree._checking import shorten
from banditree.contexts.columns import key_of
from banditree.contexts.features import Feature
from banditree.errors import StateError
from banditree.types import FeatureName, Kind


def dump(
    categorical: Sequence[FeatureName],
    named: bool | None,
    features: Sequence[Feature],
    declared: Mapping[FeatureName, Kind | None] | None,
) -> dict[str, Any]:
    """Return the schema in values that JSON can hold."""
    return {
        "categorical": list(categorical),
        "named": named,
        # In pairs, since keys of JSON's objects are strings.
        "declared": None if declared is None else [list(pair) for pair in declared.items()],
        "features": [
            {"name": f.name, "kind": f.kind, "categories": f.categories} for f in features
        ],
    }


def restore(
    state: Any,
) -> tuple[
    list[FeatureName],
    bool | None,
    list[Feature],
    dict[FeatureName, Kind] | list[FeatureName] | None,
]:
    """Return the arguments that `dump` was called with; of declared features the names or all."""
    try:
        categorical, named = list(state["categorical"]), state["named"]
        features = [_feature(entry) for entry in state["features"]]
        declared = _declared(state["declared"])
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(f"missing or misplaced {error}") from None
    if type(named) not in (bool, type(None)) or not all(map(_is_name, categorical)):
        raise _damaged(f"named={shorten(named)}, categorical={shorten(categorical)}")
    if len({feature.name for feature in features}) < len(features):
        raise _damaged("a feature occurs twice")
    if declared is not None and list(declared) != [feature.name for feature in features]:
        raise _damaged("other features than those declared")
    return categorical, named, features, declared


def _declared(pairs: Any) -> dict[FeatureName, Kind] | list[FeatureName] | None:
    if pairs is None:
        return None
    kinds = dict(pairs)
    return list(kinds) if None in kinds.values() else kinds


def _feature(entry: Any) -> Feature:
    name, kind, categories = entry["name"], entry["kind"], entry["categories"]
    if not _is_name(name) or kind not in get_args(Kind):
        raise _damaged(f"feature {shorten(name)} of kind {shorten(kind)}")
    feature = Feature(name, kind)
    for value in categories:
        if type(value) not in (str, bool, int, float):
            raise _damaged(f"category {shorten(value)} of feature {name!r}")
        feature.ids.setdefault(key_of(value, kind), float(len(feature.ids)))
    if len(feature.ids) != len(categories):
        raise _damaged(f"a category of feature {name!r} occurs twice")
    return feature


def _is_name(name: object) -> bool:
    return type(name) in (str, int)


def _damaged(what: str) -> StateError:
    return StateError(f"the state of the contexts is damaged: {what}; load an intact copy")
