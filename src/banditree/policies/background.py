"""What is common to the policies that can learn beside their decisions."""

from banditree.errors import InvalidParameterError
from banditree.policies.engine_policy import EnginePolicy
from banditree.types import A

# What is grown on fewer observations takes less time than a thread is worth.
_FROM = 100


class BesidePolicy(EnginePolicy[A]):
    """A policy whose engine can grow what it decides by on a native thread, beside decisions.

    What such a policy believes with ``background=True`` depends on how fast the machine is; after
    `wait`, only on what it has learned.
    """

    background: bool

    @property
    def _beside(self) -> int | None:
        """From how many observations on the engine works beside."""
        return _FROM if self.background else None

    def wait(self) -> None:
        """Wait until all that is due is grown and taken over.

        The policy is then the one that it would be without ``background``. Other threads decide and
        learn meanwhile.

        Raises
        ------
        MemoryError
            If there is not enough memory to grow it. What was there stays, and no observation is
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
    """Return whether a policy learns beside its decisions, or raise."""
    if not isinstance(background, bool):
        raise InvalidParameterError(f"background must be True or False, got {background!r}")
    if background and refresh == 0:
        raise InvalidParameterError(
            "background=True needs refresh above 0, got refresh=0, which means that all is grown "
            "anew after each observation; take refresh=0.05, or background=False"
        )
    return background
