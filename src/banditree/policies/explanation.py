"""Why a policy thinks what it thinks of each arm."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan, sqrt

from banditree.types import Arm

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
    """

    rule: str
    n: int
    mean: float
    interval: tuple[float, float]


class Explanation(Mapping[Arm, ArmExplanation]):
    """The explanation of each arm, in order of falling mean; a table when printed.

    Examples
    --------
    >>> golf = ArmExplanation("age > 40", 120, 0.2, binary_interval(24, 120))
    >>> tennis = ArmExplanation("always", 0, float("nan"), binary_interval(0, 0))
    >>> print(Explanation({"golf": golf, "tennis": tennis}))
    arm     mean   interval          n  rule
    golf    0.200  0.138 to 0.280  120  age > 40
    tennis    -    0.000 to 1.000    0  always
    """

    def __init__(self, arms: Mapping[Arm, ArmExplanation]) -> None:
        def falling(arm: Arm) -> float:
            return float("inf") if isnan(arms[arm].mean) else -arms[arm].mean

        self._arms = {arm: arms[arm] for arm in sorted(arms, key=falling)}

    def __getitem__(self, arm: Arm) -> ArmExplanation:
        return self._arms[arm]

    def __iter__(self) -> Iterator[Arm]:
        return iter(self._arms)

    def __len__(self) -> int:
        return len(self._arms)

    def __repr__(self) -> str:
        rows = [("arm", "mean", "interval", "n", "rule")]
        for arm, known in self._arms.items():
            low, high = (_number(bound) for bound in known.interval)
            rows.append(
                (str(arm), _number(known.mean), f"{low} to {high}", f"{known.n}", known.rule)
            )
        wide = [max(len(row[i]) for row in rows) for i in range(4)]
        return "\n".join(
            f"{arm:<{wide[0]}}  {mean:^{wide[1]}}  {interval:<{wide[2]}}  {n:>{wide[3]}}  {rule}"
            for arm, mean, interval, n, rule in rows
        )


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
