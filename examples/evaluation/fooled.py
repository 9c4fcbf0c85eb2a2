"""Three ways to fool oneself with a log, by simulation where the truth is known.

    python fooled.py

A shop draws one of three banners for each visitor, and knows the city and the age.
"""

from collections.abc import Callable

import numpy as np
import polars as pl

from banditree.evaluation import Log, bounds_over_time, evaluate

BANNERS = ("golf", "soccer", "tennis")
CLICKS = np.array([[0.10, 0.40, 0.20], [0.50, 0.30, 0.10]])  # of each city and banner
CHANCES = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])  # with which the shop draws them
TRUTH = (0.40 + 0.50) / 2  # what the best banner of each city earns
REPEATS = 100


def visits(n: int, seed: int) -> pl.DataFrame:
    """Return a log of n visits."""
    rng = np.random.default_rng(seed)
    city = rng.integers(2, size=n)
    banner = (rng.random((n, 1)) > np.cumsum(CHANCES[city], axis=1)[:, :-1]).sum(axis=1)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "city": [("Bonn", "Lima")[i] for i in city.tolist()],
            "banner": [BANNERS[i] for i in banner.tolist()],
            "click": (rng.random(n) < CLICKS[city, banner]) * 1,
            "p": CHANCES[city, banner],
        }
    )


def read(table: pl.DataFrame) -> Log:
    """Return the log in a table."""
    return Log.from_table(table, arm="banner", reward="click", propensity="p")


def best(visitor: dict[str, object]) -> str:
    """Return the best banner: whom we evaluate."""
    return "soccer" if visitor["city"] == "Bonn" else "golf"


def even(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Write down 1/3 for each decision, as if banners had been drawn evenly."""
    return table.with_columns(p=pl.lit(1 / 3))


def overridden(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Let an editor put golf in place of a quarter of the banners in Bonn, unknown to the log."""
    moved = np.random.default_rng(seed).random(len(table)) < 0.25
    there = pl.Series(moved) & (pl.col("city") == "Bonn")
    clicks = (np.random.default_rng(seed + 1).random(len(table)) < CLICKS[0, 0]) * 1
    return table.with_columns(
        banner=pl.when(there).then(pl.lit("golf")).otherwise("banner"),
        click=pl.when(there).then(pl.Series(clicks)).otherwise("click"),
        # The propensity stays that of the banner that had been drawn.
    )


def untouched(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Leave the log as it is."""
    return table


def told(name: str, change: Callable[[pl.DataFrame, int], pl.DataFrame], repeats: int) -> str:
    """Return how far off estimates are, how often intervals hold, and how often one is warned."""
    found = []
    for seed in range(repeats):
        estimate = evaluate(best, read(change(visits(4_000, seed), seed))).estimates["ips"]
        holds = estimate.low <= TRUTH <= estimate.high
        found.append((estimate.value - TRUTH, holds, estimate.verdict == "do not trust"))
    error, holds, warned = np.mean(found, axis=0)
    return (
        f"{name:<22} mean error {error:+.3f}, interval holds {holds:4.0%}, "
        f"'do not trust' {warned:4.0%}"
    )


def peeked(*, always: bool, repeats: int) -> float:
    """Return how often somebody who looks after every 100 visits once sees what is not so.

    The one evaluated shows what the shop shows: it cannot be better.
    """
    fooled = 0
    for seed in range(repeats):
        clicks = visits(10_000, seed)["click"].to_numpy().astype(float)
        truth = float((CHANCES * CLICKS).sum(axis=1).mean())
        looks = np.arange(100, 10_001, 100)
        if always:
            low, high = (
                side[looks - 1]
                for side in bounds_over_time(clicks, (0, 1), (0, 1), 0.95, always=True)
            )
        else:
            means = np.cumsum(clicks)[looks - 1] / looks
            half = 1.96 * np.sqrt(means * (1 - means) / looks)
            low, high = means - half, means + half
        fooled += bool(((low > truth) | (high < truth)).any())
    return fooled / repeats


def main(repeats: int = REPEATS) -> None:
    """Print what comes of each."""
    print(told("right propensities", untouched, repeats))
    print(told("1/3 written down", even, repeats))
    print(told("overridden by an editor", overridden, repeats))
    for always in (False, True):
        kind = "an always-valid interval" if always else "a usual interval"
        share = peeked(always=always, repeats=repeats)
        print(f"looking 100 times at {kind}: fooled in {share:.0%} of the logs")


if __name__ == "__main__":
    main()
