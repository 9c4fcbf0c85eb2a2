"""Whether a log can be trusted, as numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from banditree.evaluation.eligibility import Eligibility
from banditree.evaluation.reading import Codes
from banditree.types import Arm, FloatArray

__all__ = ["ArmHealth", "Health", "examine"]

# By so many standard errors the weights of an arm must miss 1, and by so much, to count as wrong.
ERRORS, DIFFERENCE = 4.0, 0.01
CERTAIN = 1 - 1e-9


@dataclass(frozen=True)
class ArmHealth:
    """What a log holds of an arm.

    Attributes
    ----------
    rows
        In how many rows it was offered.
    weight, error
        The mean over the rows in which the arm could be drawn of 1 / propensity where it was, and 0
        elsewhere; with its standard error. With right propensities it is 1.
    least
        The smallest propensity with which it was offered; NaN if it never was.
    join_rate
        The share of its rows that have a reward.
    """

    rows: int
    weight: float
    error: float
    least: float
    join_rate: float

    @property
    def is_wrong(self) -> bool:
        """Whether the arm was offered more often than its propensities say."""
        return self.weight > 1 + max(ERRORS * self.error, DIFFERENCE)

    @property
    def is_short(self) -> bool:
        """Whether it was offered less often than they say, or never in some contexts."""
        if not self.rows:
            return True
        return self.weight < 1 - max(ERRORS * self.error, DIFFERENCE)


@dataclass(frozen=True)
class Health:
    """What can be said of a log before any policy is evaluated with it.

    Attributes
    ----------
    n_rows
        How many rows there are to evaluate with.
    weight, error
        The mean of 1 / (propensity × eligible arms), and its standard error. With right
        propensities it is 1.
    join_rate
        The share of decisions that have a reward.
    useless
        The share of rows whose arm was certain: they say nothing of any other arm.
    arms
        The same of each arm.
    estimated
        Whether the propensities were estimated, since the log has none.
    """

    n_rows: int
    weight: float
    error: float
    join_rate: float
    useless: float
    arms: dict[Arm, ArmHealth]
    estimated: bool = False

    @property
    def wrong(self) -> tuple[Arm, ...]:
        """The arms whose propensities must be wrong."""
        return tuple(arm for arm, known in self.arms.items() if known.is_wrong)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, in words."""
        return (*self._of_all(), *self._of_arms())

    def _of_all(self) -> list[str]:
        found = []
        if self.estimated:
            found.append("the log has no propensities; they were estimated, which may be wrong")
        if self.useless > 0:
            found.append(
                f"in {self.useless:.1%} of the rows the arm was certain (propensity 1): they say "
                "nothing of other arms"
            )
        if self.join_rate < 1:
            found.append(f"{1 - self.join_rate:.1%} of the decisions have no reward")
        found += [
            f"{arm!r} has rewards in {known.join_rate:.1%} of its rows, all arms in "
            f"{self.join_rate:.1%}: what is missing depends on the arm"
            for arm, known in self.arms.items()
            if known.rows and _differs(known.join_rate, self.join_rate, known.rows)
        ]
        return found

    def _of_arms(self) -> list[str]:
        found = []
        for arm, known in self.arms.items():
            mean = f"its weights have a mean of {known.weight:.3f} ± {known.error:.3f} instead of 1"
            if known.is_wrong:
                found.append(
                    f"{arm!r} was offered more often than its propensities say ({mean}): they are "
                    "wrong, or decisions were overridden"
                )
            elif known.is_short and not known.rows:
                found.append(f"{arm!r} was never offered")
            elif known.is_short:
                found.append(
                    f"{arm!r} was offered less often than its propensities say ({mean}): they are "
                    "wrong, or in some contexts it cannot be drawn"
                )
        return found

    def __str__(self) -> str:
        lines = [
            f"{self.n_rows:,} rows; mean weight {self.weight:.3f} ± {self.error:.3f} (should be 1);"
            f" rewards for {self.join_rate:.1%} of the decisions",
            f"{'arm':<20}  {'rows':>9}  {'mean weight':>15}  {'least propensity':>16}",
        ]
        lines += [
            f"{arm!s:<20}  {known.rows:>9,}  {known.weight:>7.3f} ± {known.error:.3f}  "
            f"{known.least:>16.4g}"
            for arm, known in self.arms.items()
        ]
        return "\n".join([*lines, *(f"! {problem}" for problem in self.problems)])


def examine(
    arms: tuple[Arm, ...],
    chosen: Codes,
    propensities: FloatArray,
    eligible: Eligibility,
    joined: NDArray[np.bool_] | None,
    *,
    estimated: bool,
) -> Health:
    """Return the health of a log.

    Parameters
    ----------
    chosen, propensities
        Of all rows, those without a reward among them.
    joined
        Which rows have a reward; None for all.
    """
    n, n_arms = len(chosen), len(arms)
    weights = 1 / propensities
    possible = eligible.counts(n) @ eligible.matrix(n_arms)
    sizes = np.array([len(members) for members in eligible.sets])
    n_eligible = sizes[0] if eligible.of_row is None else sizes[eligible.of_row]
    of_row = weights / n_eligible
    sums, squares, rows = (
        np.bincount(chosen, w, minlength=n_arms) for w in (weights, weights**2, None)
    )
    least = np.full(n_arms, np.nan)
    np.fmin.at(least, chosen, propensities)
    got = rows if joined is None else np.bincount(chosen[joined], minlength=n_arms)
    known = {}
    for i, arm in enumerate(arms):
        mean, error = _mean(sums[i], squares[i], int(possible[i]), least[i])
        rate = float(got[i] / rows[i]) if rows[i] else float("nan")
        known[arm] = ArmHealth(int(rows[i]), mean, error, float(least[i]), rate)
    return Health(
        n_rows=n if joined is None else int(joined.sum()),
        weight=float(of_row.mean()),
        error=float(of_row.std() / np.sqrt(n)),
        join_rate=1.0 if joined is None else float(joined.mean()),
        useless=float((propensities >= CERTAIN).mean()) if n_arms > 1 else 1.0,
        arms=known,
        estimated=estimated,
    )


def _mean(total: float, squares: float, n: int, least: float) -> tuple[float, float]:
    """Return the mean weight of an arm and its standard error.

    The error is no less than it would be with the smallest propensity everywhere: what was hardly
    ever drawn may not have been seen at all.
    """
    if n == 0:
        return float("nan"), float("nan")
    mean = total / n
    seen = max(squares / n - mean**2, 0.0)
    supposed = 0.0 if np.isnan(least) else 1 / least - 1
    of_less = max(seen, supposed) if mean < 1 else seen
    return float(mean), float(np.sqrt(of_less / n))


def _differs(share: float, whole: float, n: int) -> bool:
    error = float(np.sqrt(whole * (1 - whole) / n))
    return abs(share - whole) > max(ERRORS * error, DIFFERENCE)
