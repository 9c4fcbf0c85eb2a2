"""The paper's Theorem 1: the bootstrap chooses almost as Thompson sampling does."""

from dataclasses import dataclass

import numpy as np

from banditree._core import beta_win_probabilities
from banditree.studies.reports.figure_style import (
    INK,
    LABEL_SIZE,
    Figure,
    FuncFormatter,
    Style,
    printed,
)
from banditree.types import FloatArray

__all__ = ["choice_difference", "theorem_figure"]

SIZES = (10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 2000, 3000, 5000, 7000, 10_000)


@dataclass(frozen=True)
class TwoArms:
    """The shares of successes of two arms, and how many times larger the second arm's data are."""

    shares: tuple[float, float]
    ratio: int

    def __str__(self) -> str:
        second = "n" if self.ratio == 1 else f"{self.ratio}n"
        return f"p = {self.shares[0]}, {self.shares[1]}; data: n, {second}"


# Equal arms with equally many data are both chosen with 1/2, by symmetry: the rate shows only where
# the sizes differ. Arms of different shares are told apart exponentially fast.
CASES = {
    TwoArms((0.1, 0.1), 4): Style("#332288", (), "o"),
    TwoArms((0.3, 0.3), 4): Style("#44aa99", (5, 1.5), "s"),
    TwoArms((0.4, 0.5), 1): Style("#aa4499", (2.5, 1.2), "^"),
    TwoArms((0.1, 0.2), 1): Style("#999933", (6, 1.5, 1, 1.5), "v"),
}
SMALLEST = 1e-5  # differences below are not drawn


def choice_difference(arms: TwoArms, n: int) -> float:
    """Return how far the probabilities of choosing an arm are apart; exactly, up to rounding.

    The bootstrap's are those of Binomial(n, p) / n draws, with ties split, and Thompson sampling's
    those of Beta(successes, failures), as in the theorem.

    Examples
    --------
    >>> round(choice_difference(TwoArms((0.1, 0.1), ratio=4), n=10), 4)
    0.042
    """
    totals = np.array([n, n * arms.ratio])
    successes = np.rint(totals * arms.shares)
    betas = beta_win_probabilities(successes, totals - successes)
    first, second = (
        binomial(int(total), float(won / total))
        for total, won in zip(totals, successes, strict=True)
    )
    # Of the second arm: below and at the place that equals each of the first arm's.
    below = np.concatenate([[0.0], np.cumsum(second)])[:-1][:: arms.ratio]
    equal = second[:: arms.ratio]
    return abs(float(first @ (below + equal / 2)) - float(betas[0]))


def binomial(n: int, p: float) -> FloatArray:
    """Return the probabilities of 0 to n successes, for 0 < p < 1.

    Examples
    --------
    >>> binomial(2, 0.5).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    k = np.arange(n + 1)
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    log_ways = log_factorials[n] - log_factorials - log_factorials[::-1]
    found: FloatArray = np.exp(log_ways + k * np.log(p) + (n - k) * np.log1p(-p))
    return found


@printed
def theorem_figure() -> Figure:
    """Draw how fast the two ways of exploring approach each other, for context-free arms."""
    figure = Figure(figsize=(6.2, 3.6))
    axes = figure.add_subplot()
    sizes = np.array(SIZES)
    for arms, style in CASES.items():
        differences = np.array([choice_difference(arms, n) for n in SIZES])
        seen = differences > SMALLEST
        axes.plot(
            sizes[seen],
            differences[seen],
            color=style.colour,
            marker=style.marker,
            dashes=style.dashes or (None, None),
            label=str(arms),
        )
    axes.plot(sizes, 0.3 / np.sqrt(sizes), color=INK, linewidth=0.9, dashes=(1, 1.5))
    axes.text(1000, 0.011, "slope −1/2", ha="left", va="bottom", fontsize=LABEL_SIZE)
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("n, observations of the first arm")
    axes.set_ylabel("Difference of choice probabilities")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: np.format_float_positional(value, trim="-"))
    )
    axes.legend(
        loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=LABEL_SIZE,
        handlelength=3.2,
    )  # fmt: skip
    return figure
