"""What is known of the features, for users to read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from banditree.contexts.listing import Listing
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


class Features(Listing[FeatureName, FeatureInfo]):
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

    _sides: ClassVar[tuple[str, ...]] = ("<", "<", ">")

    def _table(self) -> Iterator[tuple[str, ...]]:
        yield "feature", "kind", "categories"
        for name, known in self.items():
            count = "-" if known.kind in ("number", "unknown") else str(known.n_categories)
            yield for_terminal(clean(str(name))), known.kind, count
