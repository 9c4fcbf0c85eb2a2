"""The parameters that both kinds of tree share."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from banditree.contexts import Encoder
from banditree.trees.inputs import check_whole
from banditree.types import FeatureName


@dataclass(frozen=True)
class Settings:
    """How a tree is grown; checked when it is made."""

    min_split: int = 2
    min_leaf: int = 1
    max_depth: int | None = None
    max_bins: int | None = None
    categorical: Sequence[FeatureName] = ()

    def __post_init__(self) -> None:
        check_whole("min_split", self.min_split, 2)
        check_whole("min_leaf", self.min_leaf, 1)
        if self.max_depth is not None:
            check_whole("max_depth", self.max_depth, 0)
        if self.max_bins is not None:
            check_whole("max_bins", self.max_bins, 2)
        object.__setattr__(self, "categorical", Encoder(self.categorical).categorical)

    @property
    def growth(self) -> tuple[int, int, int | None, int | None]:
        """What the core wants to know."""
        return self.min_split, self.min_leaf, self.max_depth, self.max_bins

    def __str__(self) -> str:
        """Show the settings that differ from the defaults, as arguments."""
        shown = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return ", ".join(f"{name}={value!r}" for name, value, default in shown if value != default)
