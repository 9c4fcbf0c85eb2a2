"""What contexts added to a schema, as plain values, and back."""

from collections.abc import Mapping
from typing import Any, cast, get_args

from banditree.contexts.columns import key_of
from banditree.contexts.features import Draft, Feature, Pending, category_of
from banditree.errors import StateError
from banditree.types import FeatureName, Kind


def dump_changes(pending: Pending) -> dict[str, Any]:
    """Return what is pending in values that JSON can hold."""
    return {
        "named": pending.named,
        "new": [[feature.name, feature.kind] for feature in pending.features],
        "drafts": [
            [draft.feature.name, draft.kind, list(map(category_of, draft.added))]
            for draft in pending.drafts
        ],
    }


def restore_changes(state: Any, features: Mapping[FeatureName, Feature], version: int) -> Pending:
    """Return what was pending in a schema that has these features."""
    try:
        new = [Feature(_name(name), _kind(kind)) for name, kind in state["new"]]
        known = {**features, **{feature.name: feature for feature in new}}
        drafts = [_draft(known[name], kind, added) for name, kind, added in state["drafts"]]
        named = state["named"]
    except (KeyError, TypeError, ValueError) as error:
        raise StateError(
            f"what was added to the contexts is damaged ({error}); load an intact copy"
        ) from None
    if type(named) is not bool or len(known) != len(features) + len(new):
        raise StateError("what was added to the contexts is damaged; load an intact copy")
    return Pending(new, drafts, named, version)


def _draft(feature: Feature, kind: Any, categories: list[Any]) -> Draft:
    draft = Draft(feature)
    draft.kind = _kind(kind)
    if feature.kind not in ("unknown", draft.kind):
        raise ValueError(f"feature {feature.name!r} is no {draft.kind}")
    for value in categories:
        key = key_of(value, draft.kind)
        if type(value) not in (str, bool, int, float) or key in feature.ids or key in draft.added:
            raise ValueError(f"feature {feature.name!r} cannot have a category {value!r}")
        draft.added[key] = float(len(feature.ids) + len(draft.added))
    return draft


def _name(name: Any) -> FeatureName:
    if type(name) not in (str, int):
        raise ValueError(f"no name of a feature: {name!r}")
    return cast("FeatureName", name)


def _kind(kind: Any) -> Kind:
    if kind not in get_args(Kind):
        raise ValueError(f"no kind of a feature: {kind!r}")
    return cast("Kind", kind)
