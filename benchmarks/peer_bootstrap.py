"""TreeBootstrap as one would write it on scikit-learn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from peer_tree import mid_points, peer_tree

from banditree.environments import Episode
from banditree.types import FloatArray

FOLDS = 5


class PeerBootstrap:
    """Algorithm 2 of the paper, given what was observed so far.

    A decision fits a tree to a resample of every arm's rows, with its pruning chosen by
    cross-validation over the whole pruning path, for which scikit-learn must fit each time anew.

    Parameters
    ----------
    episode
        The steps so far.
    chosen
        The positions of the arms chosen in them.
    pruned
        Whether the trees are pruned at all.
    """

    def __init__(self, episode: Episode, chosen: NDArray[np.intp], pruned: bool = True) -> None:
        self.rng = np.random.default_rng(0)
        self.pruned = pruned
        self.episode = episode
        rewards = episode.rewards[np.arange(len(episode)), chosen]
        contexts = self.encode(episode.contexts)
        self.rows = [np.flatnonzero(chosen == arm) for arm in range(len(episode.arms))]
        self.data = [(contexts[rows], rewards[rows]) for rows in self.rows]

    def encode(self, contexts: FloatArray) -> NDArray[np.float32]:
        """Return scikit-learn's kind of numbers, with a column for each category."""
        parts = []
        for i in range(contexts.shape[1]):
            column = contexts[:, [i]]
            ids = np.unique(self.episode.contexts[:, i])
            parts.append(column == ids if i in self.episode.categorical else column)
        return np.hstack(parts).astype(np.float32)

    def decide(self, encoded: NDArray[np.float32]) -> int:
        """Return the position of an arm, for a table of one context."""
        values = np.array([self.predict(*data, encoded) for data in self.data])
        return int(self.rng.choice(np.flatnonzero(values == values.max())))

    def predict(self, x: Any, y: FloatArray, encoded: NDArray[np.float32]) -> float:
        if not len(y):
            return 0.0
        sample = self.rng.integers(0, len(y), len(y))
        x, y = x[sample], y[sample]
        if y.min() == y.max():
            return float(y[0])
        alpha = self.best_alpha(x, y, sample) if self.pruned else 0.0
        return float(peer_tree(ccp_alpha=alpha).fit(x, y).predict(encoded)[0])

    def best_alpha(self, x: Any, y: FloatArray, sample: NDArray[np.integer[Any]]) -> float:
        path = peer_tree().cost_complexity_pruning_path(x, y).ccp_alphas
        alphas = np.nan_to_num(mid_points(path))  # it refuses infinity, which stands for the root
        # By the row, not by the place in the sample: copies of a row share a fold.
        folds = self.rng.integers(0, FOLDS, sample.max() + 1)[sample]
        errors = np.zeros(len(alphas))
        for fold in range(FOLDS):
            held_out = folds == fold
            if held_out.all() or not held_out.any():
                continue
            for i, alpha in enumerate(alphas):
                tree = peer_tree(ccp_alpha=alpha).fit(x[~held_out], y[~held_out])
                errors[i] += ((y[held_out] - tree.predict(x[held_out])) ** 2).sum()
        return float(alphas[errors.argmin()])
