"""How names, numbers and the rules of a split are put into words."""

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from banditree.signs import clean

Node: TypeAlias = Mapping[str, Any]
Side: TypeAlias = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")


def is_leaf(node: Node) -> bool:
    """Whether the node has no split."""
    return "left" not in node


def walk(root: Node) -> Iterator[Node]:
    """Yield every node, parents before their children."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if not is_leaf(node):
            stack += (node["right"], node["left"])


def columns(text: str) -> int:
    """Return the width in terminal columns: two for East Asian wide characters and emoji."""
    return (
        len(text)
        if text.isascii()
        else len(text) + sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    )


def text_within(text: str, room: int) -> str:
    """Cut the middle out of a text wider than ``room``: names often differ only at their end.

    >>> text_within("household_income_2020", 12)
    'househ…_2020'
    """
    if columns(text) <= room:
        return text
    text = text[: room * 2] + text[-room * 2 :] if len(text) > room * 4 else text
    end = len(text) - 1
    while columns(text[end:]) < (room - 1) // 2:
        end -= 1
    start = end
    while start > 0 and columns(text[:start]) + 1 + columns(text[end:]) > room:
        start -= 1
    return f"{text[:start]}…{text[end:]}"


def list_within(values: Sequence[str], room: int) -> str:
    """Join the values with commas; those that do not fit are counted.

    >>> list_within(["Berlin", "Paris", "Rome", "Oslo", "Lima"], 24)
    'Berlin, Paris, +3 more'
    """
    text = ", ".join(values)
    if len(values) < 2 or columns(text) <= room:
        return text_within(text, room)
    shown = 1
    while columns(_with_rest(values, shown + 1)) <= room:
        shown += 1
    rest = len(values) - shown
    if shown > 1:
        return _with_rest(values, shown)
    return f"{text_within(values[0], room - len(f', +{rest} more'))}, +{rest} more"


def _with_rest(values: Sequence[str], shown: int) -> str:
    return ", ".join([*values[:shown], f"+{len(values) - shown} more"])


def number(value: float, digits: int = 4) -> str:
    """Return the number with that many significant digits, and its whole part in full.

    >>> number(0.123456), number(-1234567.5), number(2e-7), number(0.5)
    ('0.1235', '-1234568', '2e-7', '0.5')
    """
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-5:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{int(exponent)}"
    return format(Decimal(f"{value or 0.0:.{max(digits, len(str(int(size))))}g}"), "f")


def exact(value: float) -> str:
    """Return the number so that reading it back gives the same number."""
    if not math.isfinite(value):
        return str(value)
    return number(value, _significant(value))


def _significant(value: float) -> int:
    return len(Decimal(repr(value)).normalize().as_tuple().digits)


def threshold_labels(thresholds: set[float]) -> dict[float, str]:
    """Label the thresholds of one feature: brief, yet distinct and in ascending order.

    Up to nine significant digits are shown as they are, so mid-points of whole numbers are exact.

    >>> threshold_labels({1234567.5, 0.000123, 1 / 3})
    {0.000123: '0.000123', 0.3333333333333333: '0.333333', 1234567.5: '1234567.5'}
    """
    ordered = sorted(thresholds)
    labels: list[str] = []
    for digits in range(6, 18):
        labels = [_rounded(value, digits) for value in ordered]
        read = [float(label) for label in labels]
        if all(low < high for low, high in pairwise(read)):
            break
    return dict(zip(ordered, labels, strict=True))


def _rounded(value: float, digits: int) -> str:
    significant = _significant(value)
    if significant <= 9:
        return number(value, significant)
    whole = len(str(int(abs(value)))) if abs(value) < 1e15 else 0
    return number(value, min(max(digits, whole + 2), 17))


def _spelt(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # Python spells no whole number of more than 4,300 digits
        return f"a number of {value.bit_length():,} bits"


def category(value: str | float) -> str:
    """Return a category as text; quoted where its own text would mislead."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return exact(value)
    text = clean(_spelt(value))
    return f'"{text}"' if "," in text or text != text.strip() or not text else text


def feature_name(feature: str | int) -> str:
    """Return the feature's name, or "feature 3" for a position."""
    return category(feature) if isinstance(feature, str) else f"feature {feature}"


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds on one side of a split, such as "city in Berlin, Paris"."""

    name: str
    relation: str = ""
    values: tuple[str, ...] = ()
    negated: bool = False
    or_missing: bool = False

    def head(self, room: int) -> str:
        """Return the name and, before a list, its "in"."""
        relation = self.relation if self.relation in ("in", "is") else ""
        before, after = "not " * self.negated, f" {relation}" * bool(relation)
        return before + text_within(self.name, room - len(before + after)) + after

    def tail(self, room: int) -> str:
        """Return the rest of the rule; empty for a boolean."""
        if self.relation in ("in", "is"):
            return list_within(self.values, room)
        return " ".join([self.relation, *self.values]).strip()

    def text(self, *, name_room: int = 10**9, list_room: int = 10**9) -> str:
        """Return the rule on one line, with the mark of missing values."""
        words = [self.head(name_room), self.tail(list_room), "(or missing)" * self.or_missing]
        return " ".join(word for word in words if word)


@dataclass(frozen=True, slots=True)
class Question:
    """A rule asked at an inner node, and the side that answers yes."""

    rule: Rule
    yes: Side


@dataclass(frozen=True, slots=True)
class Wording:
    """Puts the splits of one tree into words; without labels, thresholds are exact."""

    labels: dict[str | int, dict[float, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Node) -> "Wording":
        """Choose short threshold labels that tell all splits of the tree apart."""
        thresholds: dict[str | int, set[float]] = {}
        for node in walk(root):
            if node.get("threshold") is not None:
                thresholds.setdefault(node["feature"], set()).add(float(node["threshold"]))
        return cls({name: threshold_labels(values) for name, values in thresholds.items()})

    def rule(self, node: Node, side: Side) -> Rule:
        """Return the rule that holds on a side of the node."""
        name, missing_here = feature_name(node["feature"]), node["missing"] == side
        if "categories" in node:
            return _category_rule(node, side, name, missing_here)
        if node["threshold"] is None:
            return Rule(name, "is present" if side == "left" else "is missing")
        label = self._label(node["feature"], float(node["threshold"]))
        return Rule(name, "≤" if side == "left" else ">", (label,), or_missing=missing_here)

    def question(self, node: Node) -> Question:
        """Return the rule to ask at the node: left of a threshold, true, or the shorter list."""
        rules = {side: self.rule(node, side) for side in SIDES}
        if "categories" not in node:
            return Question(rules["left"], "left")
        if _is_boolean(node):
            said_no = rules["left"].negated or rules["left"].values == ("false",)
            yes: Side = "right" if said_no else "left"
        else:
            yes = min(SIDES, key=lambda side: len(rules[side].values))
        return Question(rules[yes], yes)

    def _label(self, feature: str | int, threshold: float) -> str:
        return self.labels.get(feature, {}).get(threshold) or exact(threshold)


def _is_boolean(node: Node) -> bool:
    """Whether true is on one side and false on the other."""
    left, right = node["categories"]["left"], node["categories"]["right"]
    one_each = len(left) == 1 and len(right) == 1
    return one_each and isinstance(left[0], bool) and isinstance(right[0], bool)


def _category_rule(node: Node, side: Side, name: str, missing_here: bool) -> Rule:
    categories = node["categories"]
    if _is_boolean(node):
        return _boolean_rule(node, name, categories[side][0], missing_here)
    values = tuple(category(value) for value in categories[side])
    if not values:
        return Rule(name, "is missing" if missing_here else "is none of those seen")
    return Rule(name, "is" if len(values) == 1 else "in", values, or_missing=missing_here)


def _boolean_rule(node: Node, name: str, truth: bool, missing_here: bool) -> Rule:
    if isinstance(node["feature"], str):
        return Rule(name, negated=not truth, or_missing=missing_here)
    return Rule(name, "is", ("true" if truth else "false",), or_missing=missing_here)
