"""What both kinds of tree are made with."""

from abc import abstractmethod
from collections.abc import Sequence

from banditree.contexts import Encoder
from banditree.trees.settings import CategoryGain, Settings
from banditree.trees.showing import Shown
from banditree.types import FeatureName


class CartTree(Shown):
    """A tree as `docs/trees.md` defines it; `Tree` says what its parameters mean."""

    def __init__(
        self,
        *,
        min_split: int = 2,
        min_leaf: int = 1,
        max_depth: int | None = None,
        max_bins: int | None = None,
        categorical: Sequence[FeatureName] = (),
        category_gain: CategoryGain = "plain",
    ) -> None:
        self._settings = Settings(
            min_split, min_leaf, max_depth, max_bins, categorical, category_gain
        )
        self._encoder = Encoder(self._settings.categorical)
        self._start()

    @abstractmethod
    def _start(self) -> None:
        """Begin with no row."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings})"
