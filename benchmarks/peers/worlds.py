"""What the peers play in."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from tasks import KEYS, load

from banditree.environments import Classification, Environment, Episode, SportsAds
from banditree.environments.sports_ads import click_probabilities

RARE = 0.1


class RareClicks(SportsAds):
    """The sports ads with a tenth of the clicks."""

    name = "rare clicks"

    def episode(self, horizon: int, seed: int) -> Episode:
        plain = super().episode(horizon, seed)
        rng = np.random.default_rng([seed, 1])
        clicks = RARE * click_probabilities(plain.contexts.astype(int))
        rewards = (rng.random((horizon, 1)) < clicks).astype(np.float64)
        return replace(plain, rewards=rewards, regrets=RARE * plain.regrets)

    def fingerprint(self) -> dict[str, Any]:
        return {**super().fingerprint(), "times": RARE}


def shipped(name: str) -> Environment:
    """Return a table that scikit-learn ships; its rows come again once all have come."""
    from sklearn import datasets

    table = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return Classification(table, "target", name=name)


def task(key: str) -> Environment:
    return load(key).environment


TITLES = {
    "shuttle": "Shuttle",
    "adult": "Adult",
    "covertype": "Covertype",
    "census": "Census",
    "sports": "Sports ads",
    "rare": "Sports ads, a tenth of the clicks",
    "digits": "Digits",
    "breast_cancer": "Breast cancer",
    "wine": "Wine",
}
SHIPPED = ("digits", "breast_cancer", "wine")
MAKERS: dict[str, Callable[[str], Environment]] = {
    **dict.fromkeys(KEYS, task),
    **dict.fromkeys(SHIPPED, shipped),
    "rare": lambda _: RareClicks(),
}


def environment(key: str) -> Environment:
    return MAKERS[key](key)


def made_up(key: str) -> bool:
    """Return whether made-up rows stand in for a data set that is not at hand."""
    return key in KEYS and load(key).made_up
