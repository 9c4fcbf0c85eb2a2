"""Ads for four sports: the paper's made-up data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree._checking import check_whole
from banditree.environments.environment import Environment
from banditree.environments.episode import Episode
from banditree.types import FloatArray

__all__ = ["SportsAds"]

# Each ad's click probability as a tree: (feature, if it is so, if not).
Node = float | tuple[str, "Node", "Node"]
CLICKS: dict[str, Node] = {
    "golf": (
        "high_income",
        ("over_40", ("male", 0.45, 0.30), 0.12),
        ("over_40", 0.09, 0.03),
    ),
    "basketball": (
        "city",
        ("over_40", 0.06, ("male", 0.42, 0.24)),
        ("male", 0.21, 0.09),
    ),
    "tennis": ("male", ("over_40", 0.33, 0.06), ("over_40", 0.09, 0.39)),
    "soccer": ("city", ("high_income", 0.24, 0.09), ("high_income", 0.12, 0.36)),
}
FEATURES = ("male", "over_40", "high_income", "city")


class SportsAds(Environment):
    """Users with four fair, independent bits, and an ad for one of four sports; a click pays 1.

    Whether a user clicks follows a small tree per ad, `CLICKS`. Regret is the expected one: how far
    the best ad's click probability lies above that of the ad shown.

    Examples
    --------
    >>> episode = SportsAds().episode(horizon=100, seed=0)
    >>> episode.arms
    ('golf', 'basketball', 'tennis', 'soccer')
    >>> episode.contexts.shape
    (100, 4)
    """

    name = "sports"

    def episode(self, horizon: int, seed: int) -> Episode:
        """Return the steps of a run."""
        check_whole("horizon", horizon, 1)
        rng = np.random.default_rng(seed)
        users = rng.integers(0, 2, size=(horizon, len(FEATURES)))
        clicks = click_probabilities(users)
        rewards = (rng.random((horizon, 1)) < clicks).astype(np.float64)
        regrets = clicks.max(axis=1, keepdims=True) - clicks
        contexts = users.astype(np.float64)
        return Episode(tuple(CLICKS), contexts, (), FEATURES, rewards, regrets)

    def fingerprint(self) -> dict[str, Any]:
        """Return what distinguishes this environment from any other."""
        return {"environment": "sports ads", "clicks": CLICKS}


def click_probabilities(users: NDArray[np.integer[Any]]) -> FloatArray:
    """Return the probability of a click: a row per user, a column per ad.

    Examples
    --------
    >>> click_probabilities(np.array([[1, 1, 1, 1]])).tolist()
    [[0.45, 0.06, 0.33, 0.24]]
    """
    bits = dict(zip(FEATURES, users.astype(bool).T, strict=True))

    def value(node: Node) -> FloatArray:
        if isinstance(node, float):
            return np.full(len(users), node)
        feature, then, otherwise = node
        return np.where(bits[feature], value(then), value(otherwise))

    return np.column_stack([value(tree) for tree in CLICKS.values()])
