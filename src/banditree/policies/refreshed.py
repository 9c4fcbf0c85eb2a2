"""What is common to the policies whose trees are grown anew as their observations grow."""

from typing import Any

from banditree.policies.background import BesidePolicy
from banditree.policies.tree_policy import TreePolicy
from banditree.types import A


class RefreshedPolicy(BesidePolicy[A], TreePolicy[A]):
    """A policy whose trees are grown anew each time a share of their observations is new.

    With ``background=True`` a tree that is due is grown on a native thread, which needs neither
    Python nor the policy's lock, while the policy decides and learns with the old one, whose counts
    stay current. The first `learn` after it is ready plants it, and counts what has come since. One
    arm's trees are grown at a time, the arms take turns, and an arm of fewer than 100 observations
    grows them at once, in `learn`.
    """

    prior: tuple[float, float]
    refresh: float
    window: int | None

    @property
    def _engine_settings(self) -> tuple[Any, ...]:
        """What the engines of all these policies are made with, in their order."""
        grown = (*self._settings.growth, self.folds, self.refresh, self.window, self._beside)
        return (*grown, self.reward == "binary", *self.prior)
