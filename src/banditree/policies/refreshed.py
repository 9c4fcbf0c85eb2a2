"""What is common to the policies whose trees are grown anew as their observations grow."""

from typing import Any

from banditree.errors import InvalidParameterError
from banditree.policies.tree_policy import TreePolicy
from banditree.types import A

# Fewer observations of an arm take less time than a thread is worth.
_FROM = 100


class RefreshedPolicy(TreePolicy[A]):
    """A policy whose trees are grown anew each time a share of their observations is new.

    With ``background=True`` a tree that is due is grown on a native thread, which needs neither
    Python nor the policy's lock, while the policy decides and learns with the old one, whose counts
    stay current. The first `learn` after it is ready plants it, and counts what has come since. One
    arm's trees are grown at a time, the arms take turns, and an arm of fewer than 100 observations
    grows them at once, in `learn`.

    What such a policy believes depends on how fast the machine is; after `wait`, only on what it
    has learned.
    """

    prior: tuple[float, float]
    refresh: float
    window: int | None
    background: bool

    @property
    def _engine_settings(self) -> tuple[Any, ...]:
        """What the engines of all these policies are made with, in their order."""
        grown = (*self._settings.growth, self.folds, self.refresh, self.window, self._beside)
        return (*grown, self.reward == "binary", *self.prior)

    @property
    def _beside(self) -> int | None:
        """From how many observations of an arm on its trees are grown beside."""
        return _FROM if self.background else None

    def wait(self) -> None:
        """Wait until all trees that are due are grown and planted.

        The policy is then the one that it would be without ``background``. Other threads decide and
        learn meanwhile.

        Raises
        ------
        MemoryError
            If there is not enough memory to grow a tree. The old one stays, and no observation is
            lost.

        Examples
        --------
        >>> from banditree import TreeHeuristic
        >>> policy = TreeHeuristic(["golf", "tennis"], background=True, seed=1)
        >>> contexts = [{"age": i % 50} for i in range(300)]
        >>> policy.learn_many(contexts, ["golf"] * 300, [0, 1, 1] * 100)
        >>> policy.wait()
        """
        while self._tend():
            self._core.wait()

    def _tend(self) -> bool:
        with self._lock:
            more: bool = self._core.tend()
            return more


def check_background(background: bool, refresh: float) -> bool:
    """Return whether trees are grown beside, or raise."""
    if not isinstance(background, bool):
        raise InvalidParameterError(f"background must be True or False, got {background!r}")
    if background and refresh == 0:
        raise InvalidParameterError(
            "background=True needs refresh above 0, got refresh=0, which means that the trees are "
            "those of all observations after each of them; take refresh=0.05, or background=False"
        )
    return background
