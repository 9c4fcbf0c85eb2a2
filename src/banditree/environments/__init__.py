"""Environments: what policies are tried out on."""

from banditree.environments.classification import Classification
from banditree.environments.environment import Description, Environment
from banditree.environments.episode import Episode
from banditree.environments.offline_tree import OfflineTree
from banditree.environments.playing import play
from banditree.environments.sports_ads import SportsAds
from banditree.environments.variants import Delayed, Drifting

__all__ = [
    "Classification",
    "Delayed",
    "Description",
    "Drifting",
    "Environment",
    "Episode",
    "OfflineTree",
    "SportsAds",
    "play",
]
