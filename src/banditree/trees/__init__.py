"""Decision trees: grown at once or one observation at a time, pruned, cross-validated, drawn."""

from banditree.trees.incremental import IncrementalTree
from banditree.trees.results import CrossValidation, PruningPath
from banditree.trees.tree import Tree

__all__ = ["CrossValidation", "IncrementalTree", "PruningPath", "Tree"]
