"""A small tree that imitates the predictions of something larger."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from banditree import _core
from banditree.contexts import Encoder
from banditree.signs import for_terminal
from banditree.trees.settings import Settings
from banditree.trees.tree import Tree
from banditree.types import FeatureName, FloatArray

# A tree that a person can read: more leaves would imitate better.
_MAX_DEPTH = 5
_LEAST_SHARE = 100  # a leaf holds at least one row in so many
# Of the R² that the best size has on rows held out, so much may be given up for fewer leaves.
_SPARED = 0.01


class Imitation(Tree):
    """A small tree that predicts, as well as it can, what a policy expects of an arm.

    It is a `Tree` in every respect; `fidelity` says how well it imitates.

    Attributes
    ----------
    fidelity
        R² on contexts that the tree was not grown on: 1 is perfect, 0 no better than the mean.
    """

    fidelity: float

    @classmethod
    def _imitate(
        cls,
        encoder: Encoder,
        categorical: Sequence[FeatureName],
        rows: FloatArray,
        predictions: FloatArray,
    ) -> Self:
        """Return the smallest tree that imitates well the predictions for every other row."""
        grown, held_out = slice(0, None, 2), slice(1, None, 2)
        least = max(1, len(rows) // 2 // _LEAST_SHARE)
        settings = Settings(2, least, _MAX_DEPTH, 64, categorical, "adjusted")
        full = _core.Tree.fit(
            np.ascontiguousarray(rows[grown]),
            encoder.is_categorical,
            np.ascontiguousarray(predictions[grown]),
            None,
            *settings.growth,
            None,
        )
        sizes = [full.prune(alpha) for alpha in reversed(full.pruning_path()[0])]
        unseen = np.ascontiguousarray(rows[held_out])
        scores = [_r2(size.predict(unseen), predictions[held_out]) for size in sizes]
        chosen = next(i for i, score in enumerate(scores) if score >= max(scores) - _SPARED)
        tree = cls._of(settings, encoder, sizes[chosen])
        tree.fidelity = max(0.0, scores[chosen])
        return tree

    def __str__(self) -> str:
        said = f"imitates the policy with R² = {self.fidelity:.2f} on contexts held out"
        return f"{for_terminal(said)}\n{super().__str__()}"

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"fidelity": self.fidelity}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.fidelity = state["fidelity"]


def _r2(predicted: FloatArray, true: FloatArray) -> float:
    """Return the share of the variance that is predicted; 1 if there is none."""
    total = float(((true - true.mean()) ** 2).sum())
    error = float(((true - predicted) ** 2).sum())
    return 1 - error / total if total > 0 else 1.0
