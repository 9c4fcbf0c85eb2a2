"""Environments made harder: what pays changes, or rewards come late."""

from dataclasses import replace
from typing import Any

import numpy as np

from banditree._checking import check_whole
from banditree.environments.environment import Description, Environment
from banditree.environments.episode import Episode
from banditree.errors import InvalidParameterError

__all__ = ["Delayed", "Drifting"]


class Drifting(Environment):
    """From some step on every arm pays what the one before it in the list of arms did.

    Parameters
    ----------
    environment
        The one to change.
    at
        The step of the change, counted from 0.

    Examples
    --------
    >>> from banditree.environments import SportsAds
    >>> calm = SportsAds().episode(horizon=10, seed=0)
    >>> episode = Drifting(SportsAds(), at=5).episode(horizon=10, seed=0)
    >>> (episode.rewards[:5] == calm.rewards[:5]).all()
    np.True_
    >>> (episode.rewards[5:, 1] == calm.rewards[5:, 0]).all()
    np.True_
    """

    def __init__(self, environment: Environment, at: int) -> None:
        self.environment = environment
        self.at = check_whole("at", at, 0)
        self.name = f"{environment.name}, drifting at {at}"

    def episode(self, horizon: int, seed: int) -> Episode:
        """Return the steps of a run."""
        calm = self.environment.episode(horizon, seed)
        rewards, regrets = calm.rewards.copy(), calm.regrets.copy()
        rewards[self.at :] = np.roll(rewards[self.at :], 1, axis=1)
        regrets[self.at :] = np.roll(regrets[self.at :], 1, axis=1)
        return replace(calm, rewards=rewards, regrets=regrets)

    def fingerprint(self) -> dict[str, Any]:
        """Return what distinguishes this environment from any other."""
        return {"drifts at": self.at, "of": self.environment.fingerprint()}

    def describe(self) -> Description:
        """Return what there is to know of the environment, and that it drifts."""
        remark = f"from step {self.at:,} on each arm pays what the one before it did"
        return _remarked(self.environment, remark)


class Delayed(Environment):
    """Rewards become known only some steps later.

    Parameters
    ----------
    environment
        The one to change.
    delay
        Steps between a decision and its reward; the mean number if `random`.
    random
        Draw each delay from a geometric law instead of waiting the same number every time.

    Examples
    --------
    >>> from banditree.environments import SportsAds
    >>> Delayed(SportsAds(), delay=100).episode(horizon=3, seed=0).delays.tolist()
    [100, 100, 100]
    """

    def __init__(self, environment: Environment, delay: int, *, random: bool = False) -> None:
        self.environment = environment
        self.delay = check_whole("delay", delay, 1)
        if not isinstance(random, bool):
            raise InvalidParameterError(f"random must be True or False, got {random!r}")
        self.random = random
        self.name = f"{environment.name}, rewards {'about ' if random else ''}{delay} steps late"

    def episode(self, horizon: int, seed: int) -> Episode:
        """Return the steps of a run."""
        prompt = self.environment.episode(horizon, seed)
        if self.random:
            # A stream of its own: the steps are those of the environment without delay.
            rng = np.random.default_rng((seed, 0xDE1A))
            delays = (rng.geometric(1 / (self.delay + 1), horizon) - 1).astype(np.intp)
        else:
            delays = np.full(horizon, self.delay, dtype=np.intp)
        return replace(prompt, delays=delays)

    def fingerprint(self) -> dict[str, Any]:
        """Return what distinguishes this environment from any other."""
        return {"delay": [self.delay, self.random], "of": self.environment.fingerprint()}

    def describe(self) -> Description:
        """Return what there is to know of the environment, and that its rewards come late."""
        about, steps = "about " if self.random else "", "step" if self.delay == 1 else "steps"
        return _remarked(self.environment, f"rewards come {about}{self.delay:,} {steps} late")


def _remarked(environment: Environment, remark: str) -> Description:
    inner = environment.describe()
    return replace(inner, remarks=(*inner.remarks, remark))
