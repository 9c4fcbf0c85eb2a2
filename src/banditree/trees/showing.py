"""How trees show themselves: when printed, and in notebooks."""

from abc import ABC, abstractmethod
from typing import Any

from banditree.signs import for_terminal
from banditree.trees.drawing import tree_to_svg, tree_to_text


class Shown(ABC):
    """A tree that prints as text and is a picture in notebooks; before it has grown, its `repr`."""

    @abstractmethod
    def _root(self) -> dict[str, Any] | None:
        """Return the nodes as nested dictionaries; None if there are none yet."""

    def __str__(self) -> str:
        root = self._root()
        return for_terminal(repr(self) if root is None else tree_to_text(root))

    def _repr_svg_(self) -> str | None:
        root = self._root()
        return None if root is None else tree_to_svg(root)

    def _repr_html_(self) -> str | None:
        picture = self._repr_svg_()
        return None if picture is None else f'<div style="overflow-x: auto">{picture}</div>'
