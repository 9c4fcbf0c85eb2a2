"""What pruning and cross-validation return."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from banditree.types import FloatArray


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The subtrees of a tree from weakest-link pruning, from the tree as grown to its root alone.

    Attributes
    ----------
    alphas
        Ascending from 0: subtree i is the best on [alphas[i], alphas[i + 1]).
    leaves, costs
        Of each subtree.
    """

    alphas: FloatArray
    leaves: NDArray[np.int64]
    costs: FloatArray

    def __len__(self) -> int:
        return len(self.alphas)


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """How well each subtree of a pruning path predicts rows that it was not grown on.

    Attributes
    ----------
    alphas
        Those of the tree's pruning path.
    errors
        Held-out squared error, divided by the cost of the root.
    standard_errors
        Of the errors.
    best_alpha
        The alpha of the smallest error; of equals, the largest.
    lasting_alpha
        What policies prune at: inside the interval of the best subtree; where that is only a leaf,
        of the largest that is not worse by a standard error of the paired differences.
    """

    alphas: FloatArray
    errors: FloatArray
    standard_errors: FloatArray
    best_alpha: float
    lasting_alpha: float
