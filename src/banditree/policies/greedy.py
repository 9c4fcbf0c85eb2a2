"""TreeHeuristic without the draw."""

from banditree.policies.arms import Indices
from banditree.policies.choosing import share_of_largest
from banditree.policies.tree_heuristic import TreeHeuristic
from banditree.types import A, FloatArray


class Greedy(TreeHeuristic[A]):
    """`TreeHeuristic` that takes the arm of the highest mean instead of drawing.

    Compared with `TreeHeuristic`, it shows what exploration is worth. The prior makes the means of
    small leaves cautious: (successes + S0) / (n + S0 + F0), one half where nothing is known.

    Parameters
    ----------
    arms, reward, categorical, features, floor, seed
        As for every policy (see `Policy`); only ties are broken at random.
    prior, refresh, window, background, min_split, min_leaf, max_depth, max_bins, folds
        As for `TreeHeuristic`.

    Examples
    --------
    >>> policy = Greedy(["golf", "tennis"], seed=7)
    >>> policy.learn({"age": 31}, "golf", 0)
    >>> policy.propensities({"age": 31})
    {'golf': 0.0, 'tennis': 1.0}
    """

    def _choose(self, row: FloatArray, eligible: Indices) -> int:
        chosen: int = self._core.decide_greedily(row, eligible, self._random)
        return chosen

    def _choose_many(self, rows: FloatArray, eligible: Indices) -> Indices:
        chosen: Indices = self._core.decide_many_greedily(rows, eligible, self._random)
        return chosen

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return share_of_largest(self._expected(row, eligible))
