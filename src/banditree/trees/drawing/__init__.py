"""Trees drawn as text and as SVG pictures, from the dict that ``Tree.to_dict()`` gives."""

from banditree.trees.drawing.folding import MaxLeaves
from banditree.trees.drawing.svg import tree_to_svg
from banditree.trees.drawing.text import tree_to_text

__all__ = ["MaxLeaves", "tree_to_svg", "tree_to_text"]
