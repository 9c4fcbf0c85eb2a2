"""The tree that learns one observation at a time."""

import copy
from typing import Any

from banditree import _core
from banditree.contexts import Encoder
from banditree.errors import NotFittedError
from banditree.trees.cart import CartTree
from banditree.trees.inputs import check_reward, check_weight
from banditree.trees.observations import read_observations
from banditree.trees.reading import edges_by_name, predict
from banditree.trees.tree import Tree
from banditree.types import Context, Contexts, FeatureName, FloatArray


class IncrementalTree(CartTree):
    """A tree that is, after every observation, the one `Tree.fit` grows on all of them.

    Each observation updates the nodes on its way; only where another split has become the best is
    a part grown anew, and of a large part only what later observations and predictions reach. It
    keeps all observations, until `forget` takes out the oldest. For data at hand, `Tree` is
    simpler.

    Parameters
    ----------
    min_split, min_leaf, max_depth, categorical, category_gain
        As for `Tree`.
    max_bins
        Split number features at no more than this many quantiles; None: at every value. Beyond a
        thousand observations set it (255 is a good number): without, an observation may cost as
        much as a look at all those before it. The quantiles are renewed each time the number of
        observations has grown by a quarter (and with `forget`: a quarter new, or half forgotten).

    Examples
    --------
    >>> tree = IncrementalTree()
    >>> for age, click in [(20, 0), (30, 0), (50, 1)]:
    ...     tree.learn({"age": age}, click)
    >>> tree.predict({"age": 60})
    1.0
    >>> tree.as_tree().n_leaves
    2
    """

    def _start(self) -> None:
        self._core = _core.IncrementalTree(*self._settings.growth)

    def __len__(self) -> int:
        return self._core.n_rows

    def __bool__(self) -> bool:
        return True  # a tree without observations is still a tree

    def learn(self, context: Context, y: float, weight: float = 1.0) -> None:
        """Take in one observation. One that raises has changed nothing.

        Parameters
        ----------
        context
            A mapping, a sequence or a 1-D array; features and categories may be new.
        y
            The reward: 0/1 or any finite number.
        weight
            How much the observation counts in sums and means; 0 leaves it out.
        """
        reward = check_reward(y)
        row_weight = check_weight(weight)
        row, pending = self._encoder.stage_one(context)
        if row_weight == 0:
            return
        self._commit(pending)
        self._core.learn(row, reward, row_weight)

    def learn_many(self, contexts: Contexts, y: Any, weights: Any = None) -> None:
        """Take in many observations: the same as `learn` for each, but faster."""
        given = read_observations(self._encoder, contexts, y, weights, may_be_empty=True)
        self._commit(given.pending)
        self._core.learn_many(given.rows, given.rewards, given.weights)

    def forget(self) -> None:
        """Take the oldest observation out again.

        The tree is then the one `Tree.fit` grows on those that remain. Features and categories stay
        known, in the order in which they came.

        Examples
        --------
        Only the last 100 count:

        >>> tree = IncrementalTree(max_bins=255)
        >>> for i in range(300):
        ...     tree.learn({"x": i % 10}, i % 2)
        ...     if len(tree) > 100:
        ...         tree.forget()
        >>> len(tree)
        100
        """
        if len(self) == 0:
            raise NotFittedError("this tree has no observation to forget; call learn first")
        self._core.forget()

    def predict(self, contexts: Context | Contexts) -> Any:
        """Return the mean reward of the leaf that a context, or each of many, falls into."""
        self._check_fitted()
        return predict(self._core, self._encoder, contexts)

    def as_tree(self) -> Tree:
        """Return the tree as it is now; later observations do not change it."""
        self._check_fitted()
        return Tree._of(self._settings, copy.deepcopy(self._encoder), self._core.as_tree())

    @property
    def bin_edges(self) -> dict[FeatureName, FloatArray]:
        """The thresholds that number features may be split at; empty without `max_bins`."""
        if self._settings.max_bins is None:
            return {}
        return edges_by_name(self._core.edges(), self._encoder)

    def _root(self) -> dict[str, Any] | None:
        return self.as_tree().to_dict() if len(self) else None

    def _commit(self, pending: Any) -> None:
        if pending is not None:
            self._encoder.commit(pending)
            self._core.set_categorical(self._encoder.is_categorical)

    def _check_fitted(self) -> None:
        if self._core.n_rows == 0:
            raise NotFittedError("this tree has learned nothing; call learn(context, y) first")

    def __getstate__(self) -> dict[str, Any]:
        rows = self._core.rows()
        return {"settings": self._settings, "encoder": self._encoder.state(), "rows": rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._settings = state["settings"]
        self._encoder = Encoder.from_state(state["encoder"])
        self._core = _core.IncrementalTree(*self._settings.growth)
        self._core.set_categorical(self._encoder.is_categorical)
        # The tree is a function of its observations, and of when its bins were made.
        self._core.restore(*state["rows"])
