"""How the benchmarks of policies print."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from banditree.evaluation.results import aligned

__all__ = ["Limited", "aligned", "exit_code", "verdict"]


def verdict(met: bool) -> str:
    return "ok" if met else "OVER"


@dataclass(frozen=True)
class Limited:
    """A figure, and the most it may be, or the least."""

    what: str
    found: float
    limit: float
    show: Callable[[float], str]
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.found >= self.limit if self.at_least else self.found <= self.limit

    def row(self) -> list[str]:
        word = "at least" if self.at_least else "at most"
        return [self.what, self.show(self.found), f"{word} {self.show(self.limit)}"]


def judged(figures: Sequence[Limited]) -> str:
    """Return a table of the figures with a verdict on each."""
    return aligned([[*figure.row(), verdict(figure.met)] for figure in figures])


def exit_code(limited: Sequence[Limited], quick: bool, what: str) -> int:
    """Print a verdict on each figure, or why there is none; return 0 if none is over its limit."""
    if quick:
        print(f"- too few {what} to be judged")
        return 0
    print(judged(limited))
    return int(not all(figure.met for figure in limited))
