"""The paper's yardstick for classified data: how well trees can do that know all labels."""

import numpy as np
from numpy.typing import NDArray

from banditree.environments.classification import Classification
from banditree.environments.episode import Episode
from banditree.errors import InvalidParameterError
from banditree.trees import Tree
from banditree.types import FloatArray

__all__ = ["OfflineTree"]

MAX_BINS = 255
FOLDS = 10


class OfflineTree:
    """One pruned tree per class, fitted on all rows that an episode does not show.

    Not a policy: it learns from the right class of every row, which a policy never sees. Regret on
    classified data is reported relative to it, since no tree can tell the classes apart without
    error.

    Parameters
    ----------
    environment
        Classified data with more rows than the episode has steps.
    max_bins, folds
        As for `Tree`, and for the cross-validation of its pruning.
    """

    def __init__(
        self, environment: Classification, *, max_bins: int | None = MAX_BINS, folds: int = FOLDS
    ) -> None:
        self.environment = environment
        self.max_bins = max_bins
        self.folds = folds

    def choose(self, episode: Episode, seed: int) -> NDArray[np.intp]:
        """Return the position of the arm to offer in each step of the environment's episode."""
        contexts, classes = self.environment.held_out(len(episode), seed)
        if len(classes) < 2:
            raise InvalidParameterError(
                f"OfflineTree learns from rows that the episode does not show, and of "
                f"{self.environment.n_rows:,} rows {len(episode):,} steps leave {len(classes)}; "
                "shorten the horizon"
            )
        predictions = [
            self._fit(contexts, (classes == arm).astype(np.float64), seed).predict(episode.contexts)
            for arm in range(len(episode.arms))
        ]
        chosen: NDArray[np.intp] = np.argmax(predictions, axis=0)
        return chosen

    def _fit(self, contexts: FloatArray, is_class: FloatArray, seed: int) -> Tree:
        tree = Tree(max_bins=self.max_bins, categorical=list(self.environment.categorical))
        tree.fit(contexts, is_class)
        folds = min(self.folds, len(is_class))
        ids = np.random.default_rng(seed).permutation(len(is_class)) % folds
        return tree.prune(tree.cross_validate(ids).best_alpha)
