"""Why a policy thinks what it thinks of each arm."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from math import isfinite, isnan, sqrt
from typing import Any, ClassVar

from banditree.contexts.listing import Listing
from banditree.signs import clean, for_terminal
from banditree.types import Arm, FeatureName

COLUMNS = ("arm", "mean", "interval", "n", "rule")

# Of the normal law, two-sided 95 %.
_QUANTILE = 1.959963984540054


@dataclass(frozen=True)
class ArmExplanation:
    """What a policy knows of one arm in one context.

    Attributes
    ----------
    rule
        The conditions under which the observations counted here were made; "always" for all.
    n
        How many observations that are.
    mean
        Their mean reward, or the policy's estimate of it; NaN if there is none.
    interval
        Where the true mean probably lies: 95 % unless the policy says otherwise.
    base
        What the policy expects of the arm on average over contexts; None if it does not say.
    contributions
        How much each feature of the context adds to the base: together, the mean.
    """

    rule: str
    n: int
    mean: float
    interval: tuple[float, float]
    base: float | None = None
    contributions: Mapping[FeatureName, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return for_terminal(repr(self))

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: None for a mean or a bound that is no finite number."""
        bounds = [_finite(bound) for bound in self.interval]
        known: dict[str, Any] = {
            "rule": self.rule,
            "n": int(self.n),
            "mean": _finite(self.mean),
            "interval": bounds,
        }
        if self.base is not None:
            known |= {"base": _finite(self.base), "contributions": dict(self.contributions)}
        return known


class Explanation(Listing[Arm, ArmExplanation]):
    """The explanation of each arm, in order of falling mean; a table when printed or in a notebook.

    Examples
    --------
    >>> golf = ArmExplanation("age > 40", 120, 0.2, binary_interval(24, 120))
    >>> tennis = ArmExplanation("always", 0, float("nan"), binary_interval(0, 0))
    >>> print(Explanation({"golf": golf, "tennis": tennis}))
    arm     mean   interval          n  rule
    golf    0.200  0.138 to 0.280  120  age > 40
    tennis    -    0.000 to 1.000    0  always
    """

    _sides: ClassVar[tuple[str, ...]] = ("<", "^", "<", ">", "")

    def __init__(self, arms: Mapping[Arm, ArmExplanation]) -> None:
        def falling(arm: Arm) -> float:
            return float("inf") if isnan(arms[arm].mean) else -arms[arm].mean

        super().__init__({arm: arms[arm] for arm in sorted(arms, key=falling)})

    def to_dict(self) -> dict[Arm, dict[str, Any]]:
        """Return rule, n, mean and interval of each arm as JSON can hold them."""
        return {arm: known.to_dict() for arm, known in self.items()}

    def _table(self) -> Iterator[tuple[str, ...]]:
        yield COLUMNS
        for row in self._rows():
            # Plain letters first: they may be wider than the signs that they replace.
            yield tuple(map(for_terminal, row))

    def _repr_html_(self) -> str:
        head = "".join(_cell("th", name, name) for name in COLUMNS)
        rows = (
            "".join(_cell("td", name, text) for name, text in zip(COLUMNS, row, strict=True))
            for row in self._rows()
        )
        body = "".join(f"<tr>{row}</tr>\n" for row in rows)
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"

    def _rows(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Yield the cells of the table as text, an arm at a time."""
        for arm, known in self.items():
            low, high = (_number(bound) for bound in known.interval)
            name, rule = clean(str(arm)), clean(known.rule)
            yield name, _number(known.mean), f"{low} to {high}", f"{known.n}", rule


def binary_interval(successes: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a success rate; all of [0, 1] if nothing was observed.

    Examples
    --------
    >>> binary_interval(0, 0)
    (0.0, 1.0)
    >>> low, high = binary_interval(5, 10)
    >>> round(low, 4), round(high, 4)
    (0.2366, 0.7634)
    """
    if n <= 0:
        return 0.0, 1.0
    square = _QUANTILE**2
    middle = (successes + square / 2) / (n + square)
    failures = n - successes
    half = _QUANTILE / (n + square) * sqrt(max(successes * failures, 0.0) / n + square / 4)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def continuous_interval(mean: float, variance: float, n: float) -> tuple[float, float]:
    """Return mean ± 1.96 standard errors; unbounded until two observations are there."""
    if n < 2:
        return -float("inf"), float("inf")
    half = _QUANTILE * sqrt(variance / n)
    return mean - half, mean + half


def _number(value: float) -> str:
    return "-" if isnan(value) else f"{value:.3f}"


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _cell(tag: str, column: str, text: str) -> str:
    """Return a cell of an HTML table: words on the left, numbers on the right."""
    side = "left" if column in ("arm", "rule") else "right"
    return f'<{tag} style="text-align: {side}">{escape(text)}</{tag}>'
