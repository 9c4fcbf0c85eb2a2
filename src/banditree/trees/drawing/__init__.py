"""Trees drawn as text and as SVG pictures, from the dict that ``Tree.to_dict()`` gives."""

from banditree.trees.drawing.svg import MAX_LEAVES as SVG_LEAVES
from banditree.trees.drawing.svg import tree_to_svg
from banditree.trees.drawing.text import MAX_LEAVES as TEXT_LEAVES
from banditree.trees.drawing.text import tree_to_text

__all__ = ["SVG_LEAVES", "TEXT_LEAVES", "tree_to_svg", "tree_to_text"]
