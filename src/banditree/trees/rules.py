"""The rule that leads a context to its leaf, in words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

from banditree import _core
from banditree.trees.drawing.wording import Rule, Wording
from banditree.types import FloatArray

Side: TypeAlias = Literal["left", "right"]


class Step(NamedTuple):
    """The side of a split that a row passes on, and whether missing values pass there too."""

    side: Side
    with_missing: bool


class Way(NamedTuple):
    """The way of a row to its leaf, and what the leaf knows."""

    steps: list[Step]
    n: int
    mean: float
    cost: float

    def without(self, rewards: Sequence[float]) -> "Way":
        """Return the way with the leaf's made-up rewards, if any, taken out: its extremes.

        Examples
        --------
        >>> Way([], 4, 0.75, 0.75).without([1.0, 0.0])
        Way(steps=[], n=2, mean=1.0, cost=0.0)
        """
        if not rewards:
            return self
        n, mean, cost = self.n, self.mean, self.cost
        for reward in rewards:
            n -= 1
            former, mean = mean, mean + (mean - reward) / n
            cost -= (reward - former) * (reward - mean)
        # Rounding must not lead out of what is possible.
        mean = min(max(mean, min(rewards)), max(rewards))
        return self._replace(n=n, mean=mean, cost=max(cost, 0.0))


def way_of(core: _core.Tree, row: FloatArray) -> Way:
    """Return the way of a row through a tree."""
    table, sides = core.nodes().tolist(), core.sides()
    steps: list[Step] = []
    at = 0
    while True:
        n, _, mean, cost, _, threshold, feature, right, side, missing_left, saw_missing = table[at]
        if feature < 0:
            return Way(steps, int(n), mean, cost)
        value = float(row[int(feature)])
        is_left, is_right = value <= threshold, value > threshold
        if side >= 0:
            is_left, is_right = (value in ids for ids in sides[int(side)])
        # A category that the node has not seen counts as missing.
        is_missing = not is_left and not is_right
        goes_left = is_left or (is_missing and bool(missing_left))
        with_missing = is_missing or (bool(saw_missing) and goes_left == bool(missing_left))
        steps.append(Step("left" if goes_left else "right", with_missing))
        at = at + 1 if goes_left else int(right)


def rule_of(root: dict[str, Any], steps: list[Step]) -> str:
    """Return the conditions on the way, of each feature only the tightest; "always" for none."""
    wording = Wording.of(root)
    tightest: dict[tuple[Any, str], Rule] = {}
    admits_missing: dict[Any, bool] = {}
    node = root
    for side, with_missing in steps:
        name, rule = node["feature"], wording.rule(node, side)
        # Further down on the way, a condition of the same form can only be narrower.
        form = "list" if rule.relation in ("in", "is", "") else rule.relation
        tightest[name, form] = rule
        # A missing value must have passed all splits of the feature.
        admits_missing[name] = admits_missing.get(name, True) and rule.or_missing and with_missing
        node = node[side]
    rules = (replace(rule, or_missing=admits_missing[name]) for (name, _), rule in tightest.items())
    return " and ".join(rule.text(name_room=40, list_room=60) for rule in rules) or "always"
