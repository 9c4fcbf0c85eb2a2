"""A policy in an environment, step by step."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree._checking import shorten
from banditree.environments.episode import Episode
from banditree.errors import UnknownArmError
from banditree.policies import Policy

__all__ = ["play"]


def play(policy: Policy, episode: Episode) -> NDArray[np.intp]:
    """Let a policy decide and learn in every step; return the positions of the arms it chose.

    Rewards that an episode delays are learned once their steps have passed, in order of arrival;
    those due after the last step are never learned.

    Examples
    --------
    >>> import banditree as bt
    >>> from banditree.environments import SportsAds, play
    >>> episode = SportsAds().episode(horizon=500, seed=0)
    >>> chosen = play(bt.TreeHeuristic(episode.arms, seed=0), episode)
    >>> float(episode.regret_of(chosen).sum().round(2))
    62.97
    """
    if episode.delays is not None:
        return _play_delayed(policy, episode, episode.delays)
    chosen = np.empty(len(episode), dtype=np.intp)
    place_of = _places(policy, episode)
    rewards = episode.rewards.tolist()
    for t, context in enumerate(episode.contexts):
        arm = policy.decide(context)
        chosen[t] = i = place_of(arm)
        policy.learn(context, arm, rewards[t][i])
    return chosen


def _play_delayed(policy: Policy, episode: Episode, delays: NDArray[np.intp]) -> NDArray[np.intp]:
    chosen = np.empty(len(episode), dtype=np.intp)
    place_of = _places(policy, episode)
    underway: list[tuple[int, int]] = []  # when each reward arrives, and of which step it is
    for t, context in enumerate(episode.contexts):
        chosen[t] = place_of(policy.decide(context))
        heappush(underway, (t + int(delays[t]), t))
        while underway and underway[0][0] <= t:
            step = heappop(underway)[1]
            i = int(chosen[step])
            reward = float(episode.rewards[step, i])
            policy.learn(episode.contexts[step], episode.arms[i], reward)
    return chosen


def _places(policy: Policy, episode: Episode) -> Callable[[Any], int]:
    """Return what finds the position of an arm that the policy has chosen."""
    places = {arm: i for i, arm in enumerate(episode.arms)}

    def place_of(arm: Any) -> int:
        try:
            return places[arm]
        except (KeyError, TypeError):  # the latter for what cannot be hashed
            known = ", ".join(map(repr, episode.arms[:10])) + ", …" * (len(places) > 10)
            raise UnknownArmError(
                f"decide of {type(policy).__name__} returned {shorten(arm)}, and must return one "
                f"of the arms that the policy was made with: {known}; correct decide"
            ) from None

    return place_of
