"""Intervals around estimates: by the bootstrap, or by inequalities that hold for any log."""

from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from banditree.types import FloatArray

__all__ = [
    "Interval",
    "blocks_of",
    "bounds_over_time",
    "resampled_bounds",
    "sequence_bounds",
    "summed",
]

Interval: TypeAlias = Literal["bootstrap", "bernstein", "always"]

BLOCKS, RESAMPLES = 2000, 1000
# The largest bet of `_lower` on terms between 0 and 1; at 1 a single row could lose everything. On
# terms that reach further it is smaller: the first rows would cost what all later ones gain.
BETS = 0.75


@lru_cache(maxsize=4)
def _counts(n_blocks: int, seed: int) -> FloatArray:
    """Return how often each resample draws each block."""
    rng = np.random.default_rng(seed)
    even = np.full(n_blocks, 1 / n_blocks)
    return rng.multinomial(n_blocks, even, size=RESAMPLES).astype(np.float64)


def blocks_of(n: int, seed: int) -> NDArray[np.int32] | None:
    """Return the block of each row, dealt at random; None if each row is its own.

    Resampling the sums of 2,000 random blocks says of a mean what resampling a million rows would.
    """
    if n <= BLOCKS:
        return None
    return np.random.default_rng(seed).permutation(np.arange(n, dtype=np.int32) % BLOCKS)


def summed(values: FloatArray, blocks: NDArray[np.int32] | None) -> FloatArray:
    """Return the sums of rows by their blocks."""
    if blocks is None:
        return values
    return np.bincount(blocks, values, minlength=BLOCKS).astype(np.float64)


def resampled_bounds(sums: FloatArray, n: int, level: float, seed: int) -> tuple[float, float]:
    """Return how far below and above its estimate a mean may lie, by the bootstrap.

    Each resample's error is divided by its own standard error (the bootstrap-t), so that the
    interval leans to the side to which rare rows pull.

    Parameters
    ----------
    sums
        By how much each block moves the mean, times the number of rows; equal blocks and seeds
        resample equal rows, so that differences of sums are paired.
    n
        Rows.
    level
        With which probability the interval holds.
    seed
        Of the resamples.
    """
    counts = _counts(len(sums), seed)
    error = float(np.sqrt(((sums - sums.mean()) ** 2).sum()))
    if error <= len(sums) * np.abs(sums).max(initial=0.0) * 1e-15:  # all alike but for rounding
        return 0.0, 0.0
    moved = counts @ sums
    errors = np.sqrt(np.maximum(counts @ sums**2 - moved**2 / len(sums), 0.0))
    # A resample without any of the rare rows has no error of its own: its ratio is infinite.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.nan_to_num(moved / errors, nan=0.0, posinf=np.inf, neginf=-np.inf)
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return -float(high) * error / n, -float(low) * error / n


def sequence_bounds(
    terms: FloatArray,
    bounds: tuple[float, float],
    values: tuple[float, float],
    level: float,
    *,
    always: bool,
) -> tuple[float, float]:
    """Return the bounds of the mean of bounded terms after all of them: the last over time."""
    low, high = bounds_over_time(terms, bounds, values, level, always=always)
    return float(low[-1]), float(high[-1])


def bounds_over_time(
    terms: FloatArray,
    bounds: tuple[float, float],
    values: tuple[float, float],
    level: float,
    *,
    always: bool,
) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of the mean of bounded terms after each of them.

    With `always` they hold after all of them at once: whoever looks at every row, and stops when
    they please, is wrong with a probability of at most 1 - level. Otherwise they hold after the
    last.

    Parameters
    ----------
    terms
        In the order in which they came. Each may depend on those before it.
    bounds
        Between what terms lie.
    values
        Between what their mean lies.
    level
        With which probability the bounds hold.

    References
    ----------
    The predictable plug-in empirical Bernstein bounds of Waudby-Smith and Ramdas, Estimating means
    of bounded random variables by betting (2024), each side with the bound of that side alone.
    """
    risk = (1 - level) / 2
    low = _lower(terms, bounds, values[1], risk, always=always)
    high = -_lower(-terms, (-bounds[1], -bounds[0]), -values[0], risk, always=always)
    return np.maximum(low, values[0]), np.minimum(high, values[1])


def _lower(
    terms: FloatArray, bounds: tuple[float, float], most: float, risk: float, *, always: bool
) -> FloatArray:
    """Return lower bounds of a mean of at most `most`; terms must lie above the lower bound."""
    least, n = bounds[0], len(terms)
    if most <= least:
        return np.full(n, least)
    scaled = (terms - least) / (most - least)
    numbers = np.arange(1, n + 1)
    # What is known before each term: of mean and variance, with one made-up term to begin with,
    # whose variance is that of a coin that pays as much as a term can, and has a mean of a quarter.
    means = np.minimum((0.5 + np.cumsum(scaled) - scaled) / numbers, 1.0)
    reach = max((bounds[1] - least) / (most - least), 1.0)
    made_up = 0.25 * reach
    misses = (scaled - means) ** 2
    variances = (made_up + np.cumsum(misses) - misses) / numbers
    budget = numbers * np.log1p(numbers) if always else np.full(n, n)
    bets = np.minimum(np.sqrt(2 * np.log(1 / risk) / (variances * budget)), BETS / np.sqrt(reach))
    costs = (-np.log1p(-bets) - bets) * misses
    total = np.cumsum(bets)
    found = (np.cumsum(bets * scaled) - np.log(1 / risk) - np.cumsum(costs)) / total
    if always:
        found = np.maximum.accumulate(found)
    lower: FloatArray = least + (most - least) * np.maximum(found, 0.0)
    return lower
