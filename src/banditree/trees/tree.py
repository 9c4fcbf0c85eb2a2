"""The tree that is grown at once."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from banditree import _core
from banditree._checking import as_floats, shorten
from banditree.contexts import Encoder
from banditree.errors import InvalidParameterError, NotFittedError
from banditree.trees.cart import CartTree
from banditree.trees.drawing import MaxLeaves, tree_to_svg, tree_to_text
from banditree.trees.folds import deal_folds
from banditree.trees.importance import as_shares, explained_costs
from banditree.trees.inputs import check_alpha
from banditree.trees.observations import read_observations
from banditree.trees.reading import nodes_to_dict, predict
from banditree.trees.results import CrossValidation, PruningPath
from banditree.trees.rules import rule_of, way_of
from banditree.trees.settings import Settings
from banditree.types import Context, Contexts, FeatureName


class Tree(CartTree):
    """A decision tree that predicts the reward of a context (CART, Breiman et al. 1984).

    It splits on squared error, which for 0/1 rewards is Gini impurity. Strings, booleans and
    missing values are used as they are. Grown in full; `prune` cuts it back, `cross_validate`
    tells how far. To learn one observation at a time, use `IncrementalTree`.

    Parameters
    ----------
    min_split
        A node with fewer rows is not split.
    min_leaf
        No leaf has fewer rows.
    max_depth
        Greatest number of splits above a leaf; None: no limit.
    max_bins
        Split number features at no more than this many quantiles, which is faster; None: at every
        value.
    categorical
        Names (positions, in arrays) of number features that are really categories.
    category_gain
        "plain" compares splits by what they gain, as CART does. Of many categories the best cut
        gains much by chance; "adjusted" takes off what chance explains, as the policies do.

    Examples
    --------
    >>> tree = Tree().fit([{"age": 20}, {"age": 30}, {"age": 50}, {"age": None}], [0, 0, 1, 1])
    >>> tree.predict([{"age": 25}, {"age": 60}])
    array([0., 1.])
    >>> print(tree)
    mean 0.5, n 4
    ├─ age ≤ 40: mean 0, n 2
    └─ age > 40 (or missing): mean 1, n 2

    References
    ----------
    The rules to the last tie: `docs/trees.md`.
    """

    def _start(self) -> None:
        self._core: _core.Tree | None = None
        self._used: NDArray[np.bool_] | None = None  # rows of positive weight, if not all

    @classmethod
    def _of(cls, settings: Settings, encoder: Encoder, core: _core.Tree) -> Self:
        """Wrap a native tree."""
        tree = cls.__new__(cls)
        tree._settings, tree._encoder, tree._core, tree._used = settings, encoder, core, None
        return tree

    def fit(
        self,
        contexts: Contexts,
        y: Any,
        weights: Any = None,
        *,
        bin_edges: Mapping[FeatureName, Any] | None = None,
    ) -> Self:
        """Grow the tree on contexts and their rewards.

        Parameters
        ----------
        contexts
            Many contexts: a list of mappings or sequences, a 2-D array, or a table.
        y
            One reward per context: 0/1 or any finite number.
        weights
            One weight per context; a context of weight 0 is left out. None: all 1.
        bin_edges
            Use these thresholds instead of quantiles, for instance those of an `IncrementalTree`
            with `max_bins`: a list for each feature that holds numbers.

        Returns
        -------
        Tree
            This tree. A fit that raises leaves it as it was.
        """
        encoder = Encoder(self._settings.categorical)
        given = read_observations(encoder, contexts, y, weights, may_be_empty=False)
        encoder.commit(given.pending)
        _check_named(self._settings.categorical, encoder)
        edges = None if bin_edges is None else _edges_by_feature(bin_edges, encoder)
        kinds, growth = encoder.is_categorical, self._settings.growth
        self._core = _core.Tree.fit(given.rows, kinds, given.rewards, given.weights, *growth, edges)
        self._encoder, self._used = encoder, given.used
        return self

    def predict(self, contexts: Context | Contexts) -> Any:
        """Return the mean reward of the leaf that each context falls into.

        Parameters
        ----------
        contexts
            Many contexts, or one. A category or feature never seen counts as missing.

        Returns
        -------
        numpy.ndarray or float
            One prediction per context; for one context, a float.
        """
        return predict(self._fitted(), self._encoder, contexts)

    def pruning_path(self) -> PruningPath:
        """Return the sequence of best subtrees as alpha, the price of a leaf, rises."""
        return PruningPath(*self._fitted().pruning_path())

    def prune(self, alpha: float) -> "Tree":
        """Return a new tree: the smallest subtree that minimises cost + alpha × leaves."""
        pruned = self._fitted().prune(check_alpha(alpha))
        return Tree._of(self._settings, self._encoder, pruned)

    def cross_validate(self, folds: int | Any = 10, *, seed: int = 0) -> CrossValidation:
        """Estimate the error of every subtree on the pruning path.

        Parameters
        ----------
        folds
            How many folds to deal the rows into, or one fold id (a whole number) per row.
        seed
            Of the dealing; without effect if fold ids are given.
        """
        core = self._fitted()
        if core.n_rows == 0:
            raise InvalidParameterError(
                "a pruned tree cannot be cross-validated; "
                "cross-validate the tree that it was pruned from"
            )
        ids, n_folds = deal_folds(folds, core.n_rows, self._used, seed)
        return CrossValidation(*core.cross_validate(ids, n_folds))

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self._fitted().n_leaves

    @property
    def depth(self) -> int:
        """Greatest number of splits above a leaf."""
        return self._fitted().depth

    @property
    def features(self) -> list[FeatureName]:
        """Names of the features, in order of first appearance."""
        return self._encoder.features

    @property
    def feature_importance(self) -> dict[FeatureName, float]:
        """Share of each feature in the cost that the splits take away; all 0 without a split."""
        costs = explained_costs(self._fitted())
        known = np.pad(costs, (0, self._encoder.n_features - len(costs)))
        return as_shares(self._encoder.features, known)

    def to_dict(self) -> dict[str, Any]:
        """Return the nodes as nested dictionaries; `docs/trees.md` names the keys."""
        return nodes_to_dict(self._fitted(), self._encoder)

    def rule(self, context: Context) -> str:
        """Return the conditions that lead a context to its leaf, in words; "always" for none.

        Like `to_text`, it has signs such as "≤" whatever the terminal.
        """
        way = way_of(self._fitted(), self._encoder.encode_one(context))
        return rule_of(self.to_dict(), way.steps)

    def to_text(self, *, max_depth: int | None = None, max_leaves: MaxLeaves = "fit") -> str:
        """Return a drawing for the terminal: a line per node, with its rule, mean and n.

        Parameters
        ----------
        max_depth
            Levels to draw below the root; None: all.
        max_leaves
            Leaves to draw; None: all; "fit": up to 32, of 12 levels at most. Beyond either limit a
            subtree is folded into one line that counts its leaves; those that explain least are
            folded first.
        """
        return tree_to_text(self.to_dict(), max_depth=max_depth, max_leaves=max_leaves)

    def to_svg(self, *, max_depth: int | None = None, max_leaves: MaxLeaves = "fit") -> str:
        """Return a picture of the tree; `max_depth` and `max_leaves` as for `to_text`.

        "fit" draws up to 16 leaves, and fewer where the picture would be wider than 1,400 pixels.
        """
        return tree_to_svg(self.to_dict(), max_depth=max_depth, max_leaves=max_leaves)

    def _root(self) -> dict[str, Any] | None:
        return None if self._core is None else self.to_dict()

    def __getstate__(self) -> dict[str, Any]:
        core = self._core
        state = {"settings": self._settings, "encoder": self._encoder.state(), "used": self._used}
        if core is not None:
            state["nodes"] = core.nodes(), core.sides(), core.n_features
            state["data"] = (*core.rows(), core.edges()) if core.n_rows else None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._settings, self._used = state["settings"], state["used"]
        self._encoder = Encoder.from_state(state["encoder"])
        self._core = None
        if state.get("data") is not None:
            rows, y, weights, edges = state["data"]
            kinds = self._encoder.is_categorical
            self._core = _core.Tree.fit(rows, kinds, y, weights, *self._settings.growth, edges)
        elif "nodes" in state:
            self._core = _core.Tree.restore(*state["nodes"])

    def _fitted(self) -> _core.Tree:
        if self._core is None:
            raise NotFittedError("this tree has not been fitted; call fit(contexts, y) first")
        return self._core


def _check_named(categorical: Sequence[FeatureName], encoder: Encoder) -> None:
    """Refuse declared categories that no context can have; named features may yet appear."""
    positions = encoder.features
    if positions != list(range(len(positions))):
        return
    unknown = [name for name in categorical if name not in positions]
    if unknown and positions:
        raise InvalidParameterError(
            f"categorical names {unknown[0]!r}, but the contexts have no names, only the "
            f"positions 0 to {positions[-1]}; name a position"
        )


def _edges_by_feature(bin_edges: Mapping[FeatureName, Any], encoder: Encoder) -> list[list[float]]:
    if not isinstance(bin_edges, Mapping):
        raise InvalidParameterError(
            f"bin_edges must map features to their edges, got {shorten(bin_edges)}; "
            "IncrementalTree.bin_edges is an example"
        )
    unknown = [name for name in bin_edges if name not in encoder.features]
    if unknown:
        raise InvalidParameterError(
            f"bin_edges names the feature {shorten(unknown[0])}, which no context has; "
            f"the features are {', '.join(map(repr, encoder.features))}"
        )
    numbers = [name for i, name in enumerate(encoder.features) if encoder.kind(i) == "number"]
    absent = [name for name in numbers if name not in bin_edges]
    if absent:
        raise InvalidParameterError(
            f"bin_edges has no edges for the feature {absent[0]!r}; "
            "give a list for each feature that holds numbers, an empty one for no split"
        )
    edges = []
    for name in encoder.features:
        given = bin_edges.get(name, ())
        array = as_floats(given)
        ascending = array is not None and array.ndim == 1 and bool((np.diff(array) > 0).all())
        if array is None or not ascending or not np.isfinite(array).all():
            shown = given if array is None else array.tolist()
            raise InvalidParameterError(
                f"bin_edges of {name!r} must be finite and ascending, got {shorten(shown)}; "
                "sort them"
            )
        edges.append(array.tolist())
    return edges
