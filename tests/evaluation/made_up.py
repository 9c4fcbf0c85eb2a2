"""Logs for the tests, whose truth is known."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from banditree.evaluation import Log

ARMS = ("golf", "soccer", "tennis")
MEANS = np.array([[0.1, 0.4, 0.2], [0.5, 0.3, 0.1]])  # of each city and arm
LOGGER = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
CITIES = ("Bonn", "Lima")


def drawn(n: int, seed: int = 0, logger: NDArray[Any] = LOGGER) -> pl.DataFrame:
    """Return decisions of a policy that knows the city."""
    rng = np.random.default_rng(seed)
    city = rng.integers(2, size=n)
    chosen = (rng.random((n, 1)) > np.cumsum(logger[city], axis=1)[:, :-1]).sum(axis=1)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "city": [CITIES[i] for i in city.tolist()],
            "item": [ARMS[i] for i in chosen.tolist()],
            "click": (rng.random(n) < MEANS[city, chosen]) * 1,
            "p": logger[city, chosen],
        }
    )


def as_log(table: Any, **options: Any) -> Log:
    given = {"arm": "item", "reward": "click", "propensity": "p", **options}
    return Log.from_table(table, **given)


def a_log(n: int = 2_000, seed: int = 0) -> Log:
    return as_log(drawn(n, seed))


def best(context: Any) -> str:
    """Return the best arm of a context."""
    return "soccer" if context["city"] == "Bonn" else "golf"


BEST = float(np.mean([0.4, 0.5]))
