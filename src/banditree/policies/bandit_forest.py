"""BanditForest: trees that explore until they are sure."""

from collections.abc import Sequence
from math import inf, isfinite, isnan
from typing import Any, ClassVar, Literal, TypeAlias, Unpack

from banditree import _core
from banditree._checking import as_floats, check_whole, shorten
from banditree.errors import InvalidParameterError, StateError
from banditree.policies.arms import Indices
from banditree.policies.base import Arrays, Policy
from banditree.policies.engine_policy import EnginePolicy
from banditree.policies.explanation import ArmExplanation
from banditree.policies.parameters import PolicyParameters, with_parameters_of
from banditree.policies.rewards import check_kind
from banditree.policies.tally import explain_leaf
from banditree.trees.drawing.wording import category, feature_name, threshold_labels
from banditree.types import A, FloatArray

# Feature, low and high cut (both the id, of a category), and whether the row lies between them.
Step: TypeAlias = tuple[int, float, float, bool]

# With more trees than this, an explanation does not name the paths.
_NAMED_TREES = 5


class BanditForest(EnginePolicy[A]):
    """BanditForest (Féraud, Allesiardo, Urvoy and Clérot, 2016), for binary rewards.

    The yardstick among tree policies: it draws arms uniformly in every part of the contexts until
    all its trees have found, with confidence, the variables to split on and the best arm there.
    From then on it takes the arm that most trees vote for.

    Contexts become bits: a number one bit per fifth of its values, a category one bit per value.
    The fifths are those of the first 500 observations, and features or categories that only come
    later are ignored. A missing value sets no bit.

    Parameters
    ----------
    arms, categorical, features, floor, seed
        As for every policy (see `Policy`).
    depth
        D, the number of variables on the paths of a tree. The best value differs between tasks;
        each one more doubles the time that exploring takes.
    trees
        L, how many there are.
    delta
        δ, the probability that the forest may settle on something worse.
    epsilon
        ε of each node is drawn from this range: how much worse a variable or an arm may be that is
        settled on. Smaller takes longer.
    radius
        Times the width of the intervals for which the authors prove δ. Exploring takes about
        radius² as long; a program that goes back to the authors' own has 0.25.
    reward
        "binary": this policy has no other.

    Notes
    -----
    - The authors play the arms in turn; here, as in their own experiments, exploring draws from the
      arms that some tree still tries. The inequalities are theirs, tested after each observation
      with the number of plays of the arm that has fewest.
    - Of two bits that always differ, such as those of a feature with two values, one is kept.
    - `explain` shows the mean over the trees, and n of the tree that has fewest.

    Examples
    --------
    >>> policy = BanditForest(["golf", "tennis"], depth=1, trees=1, seed=1)
    >>> for i in range(1000):
    ...     context = {"member": i % 4 < 2}
    ...     policy.learn(context, "golf", 0.5)
    ...     policy.learn(context, "tennis", 1 if context["member"] else 0)
    >>> policy.propensities({"member": True})
    {'golf': 0.0, 'tennis': 1.0}
    >>> print(policy.explain({"member": False}))
    arm     mean   interval          n  rule
    golf    0.500  0.456 to 0.544  500  member is false
    tennis  0.000  0.000 to 0.008  500  member is false
    """

    _frozen_needs_entropy: ClassVar[bool] = True  # the forest checks that it is its own

    @with_parameters_of(Policy)
    def __init__(
        self,
        arms: Sequence[A],
        *,
        depth: int = 2,
        trees: int = 3,
        delta: float = 0.05,
        epsilon: tuple[float, float] = (0.4, 0.8),
        radius: float = 1.0,
        reward: Literal["binary"] = "binary",
        **of_all: Unpack[PolicyParameters],
    ) -> None:
        self.depth = check_whole("depth", depth, 1)
        self.trees = check_whole("trees", trees, 1)
        self.delta = _check_delta(delta)
        self.epsilon = _check_epsilon(epsilon)
        self.radius = _check_radius(radius)
        _check_binary(reward)
        super().__init__(arms, **of_all)

    def _engine(self) -> _core.BanditForest:
        return _core.BanditForest(
            self.trees, self.depth, self.delta, *self.epsilon, self.radius, self._entropy
        )

    def _arms_changed(self) -> None:
        active = set(self._arms.all.tolist())
        for arm in range(len(self._arms)):
            self._core.set_active(arm, arm in active)

    def _propensities(self, row: FloatArray, eligible: Indices) -> FloatArray:
        chances: FloatArray = self._core.propensities(row, eligible)
        return chances

    def _expected(self, row: FloatArray, eligible: Indices) -> FloatArray:
        means: FloatArray = self._core.expected_rewards(row)[eligible]
        return means

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        views = self._core.explain(row, arm)
        played = [(count, total) for _, _, count, total in views if count > 0]
        rule = self._rule([path for path, _, _, _ in views], row)
        if not played:
            return explain_leaf(self.reward, rule, 0, 0, 0)
        n = min(count for count, _ in played)
        mean = sum(total / count for count, total in played) / len(played)
        return explain_leaf(self.reward, rule, n, n * mean, 0)

    def _rule(self, paths: list[list[Step]], row: FloatArray) -> str:
        if len(paths) > _NAMED_TREES:
            return f"mean of {len(paths)} trees"
        rules = [" and ".join(self._condition(step, row) for step in path) for path in paths]
        if len(set(rules)) == 1:
            return rules[0] or "always"
        return "; ".join(f"tree {i}: {rule or 'always'}" for i, rule in enumerate(rules, 1))

    def _condition(self, step: Step, row: FloatArray) -> str:
        feature, low, high, inside = step
        name = feature_name(self._encoder.features[feature])
        missing = " (or missing)" if isnan(row[feature]) else ""
        if low == high:
            categories = self._encoder.categories(feature)
            return f"{name} {_category(categories, int(low), inside)}{missing}"
        return _between(name, low, high, inside) + missing

    def _state(self) -> Arrays:
        return {"forest": self._core.dump()}

    def _restore(self, arrays: Arrays) -> None:
        self._core.restore(arrays["forest"])
        if self._core.n_arms != len(self._arms):
            raise StateError("the forest was saved with other arms; load an intact copy")
        self._features_changed()
        self._arms_changed()


def _category(categories: Sequence[Any], which: int, inside: bool) -> str:
    """Return "is Berlin" or "is not Berlin"; of a boolean always "is"."""
    value = categories[which]
    if isinstance(value, bool) and not inside:
        return f"is {category(not value)}"
    return f"{'is' if inside else 'is not'} {category(value)}"


def _between(name: str, low: float, high: float, inside: bool) -> str:
    label = threshold_labels({cut for cut in (low, high) if isfinite(cut)})
    if not label:
        return f"{name} is {'present' if inside else 'missing'}"
    if not isfinite(low):
        return f"{name} {'≤' if inside else '>'} {label[high]}"
    if not isfinite(high):
        return f"{name} {'>' if inside else '≤'} {label[low]}"
    if inside:
        return f"{label[low]} < {name} ≤ {label[high]}"
    return f"{name} ≤ {label[low]} or > {label[high]}"


def _check_delta(delta: Any) -> float:
    value = as_floats([delta])
    if value is None or value.shape != (1,) or not 0 < value[0] < 1:
        raise InvalidParameterError(
            f"delta must be a number between 0 and 1, got {shorten(delta)}; "
            "it is the probability that the forest may settle on something worse"
        )
    return float(value[0])


def _check_epsilon(epsilon: Any) -> tuple[float, float]:
    values = as_floats(epsilon)
    if values is None or values.shape != (2,) or not 0 <= values[0] <= values[1] <= 1:
        raise InvalidParameterError(
            f"epsilon must be two numbers in ascending order between 0 and 1, "
            f"got {shorten(epsilon)}; the paper's range is (0.4, 0.8)"
        )
    return float(values[0]), float(values[1])


def _check_radius(radius: Any) -> float:
    value = as_floats([radius])
    if value is None or value.shape != (1,) or not 0 < value[0] < inf:
        raise InvalidParameterError(
            f"radius must be a positive number, got {shorten(radius)}; 1 is the authors' own"
        )
    return float(value[0])


def _check_binary(reward: Any) -> None:
    if check_kind(reward) != "binary":
        raise InvalidParameterError(
            'reward must be "binary" for BanditForest, whose bounds are for rewards between 0 '
            f"and 1, got {shorten(reward)}; TreeHeuristic takes continuous rewards"
        )
