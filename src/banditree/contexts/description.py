"""What is known of the features, for users to read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from banditree.signs import clean, for_terminal
from banditree.types import FeatureName, Kind


@dataclass(frozen=True)
class FeatureInfo:
    """What is known of a feature.

    Attributes
    ----------
    kind
        "number", "string", "boolean", "category" (declared: values of any type) or "unknown" while
        it was only ever missing.
    n_categories
        How many categories it has; 0 for numbers.
    """

    kind: Kind
    n_categories: int


class Features(Mapping[FeatureName, FeatureInfo]):
    """What is known of each feature, in order of first appearance; a table when printed.

    Examples
    --------
    >>> features = Features({"age": FeatureInfo("number", 0), "city": FeatureInfo("string", 4)})
    >>> features
    feature  kind    categories
    age      number           -
    city     string           4
    >>> features["city"].n_categories
    4
    """

    def __init__(self, features: Mapping[FeatureName, FeatureInfo]) -> None:
        self._features = dict(features)

    def __getitem__(self, name: FeatureName) -> FeatureInfo:
        return self._features[name]

    def __iter__(self) -> Iterator[FeatureName]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def __repr__(self) -> str:
        rows = [("feature", "kind", "categories")]
        for name, known in self._features.items():
            count = "-" if known.kind in ("number", "unknown") else str(known.n_categories)
            rows.append((for_terminal(clean(str(name))), known.kind, count))
        wide = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join(
            f"{name:<{wide[0]}}  {kind:<{wide[1]}}  {count:>{wide[2]}}"
            for name, kind, count in rows
        )
