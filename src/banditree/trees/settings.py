"""The parameters that both kinds of tree share."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from banditree._checking import check_choice, check_whole
from banditree.contexts import Encoder
from banditree.types import FeatureName

CategoryGain: TypeAlias = Literal["plain", "adjusted"]


@dataclass(frozen=True)
class Settings:
    """How a tree is grown; checked when it is made."""

    min_split: int = 2
    min_leaf: int = 1
    max_depth: int | None = None
    max_bins: int | None = None
    categorical: Sequence[FeatureName] = ()
    category_gain: CategoryGain = "plain"

    def __post_init__(self) -> None:
        check_whole("min_split", self.min_split, 2)
        check_whole("min_leaf", self.min_leaf, 1)
        if self.max_depth is not None:
            check_whole("max_depth", self.max_depth, 0)
        if self.max_bins is not None:
            check_whole("max_bins", self.max_bins, 2)
        check_choice("category_gain", self.category_gain, CategoryGain)
        object.__setattr__(self, "categorical", Encoder(self.categorical).categorical)

    @property
    def growth(self) -> tuple[int, int, int | None, int | None, bool]:
        """What the core wants to know."""
        adjusted = self.category_gain == "adjusted"
        return self.min_split, self.min_leaf, self.max_depth, self.max_bins, adjusted

    def __str__(self) -> str:
        """Show the settings that differ from the defaults, as arguments."""
        shown = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return ", ".join(f"{name}={value!r}" for name, value, default in shown if value != default)
