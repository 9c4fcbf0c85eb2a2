"""A policy in an environment, step by step."""

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from banditree.environments.episode import Episode
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
    70.02
    """
    if episode.delays is not None:
        return _play_delayed(policy, episode, episode.delays)
    place = {arm: i for i, arm in enumerate(episode.arms)}
    chosen = np.empty(len(episode), dtype=np.intp)
    rewards = episode.rewards.tolist()
    for t, context in enumerate(episode.contexts):
        arm = policy.decide(context)
        chosen[t] = i = place[arm]
        policy.learn(context, arm, rewards[t][i])
    return chosen


def _play_delayed(policy: Policy, episode: Episode, delays: NDArray[np.intp]) -> NDArray[np.intp]:
    place = {arm: i for i, arm in enumerate(episode.arms)}
    chosen = np.empty(len(episode), dtype=np.intp)
    underway: list[tuple[int, int]] = []  # when each reward arrives, and of which step it is
    for t, context in enumerate(episode.contexts):
        chosen[t] = place[policy.decide(context)]
        heappush(underway, (t + int(delays[t]), t))
        while underway and underway[0][0] <= t:
            step = heappop(underway)[1]
            i = int(chosen[step])
            reward = float(episode.rewards[step, i])
            policy.learn(episode.contexts[step], episode.arms[i], reward)
    return chosen
