"""The alpha that policies prune at, by its definition: see "Alpha" in docs/policies.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

HeldOut = Sequence[tuple[Any, Sequence[Any]]]  # of each row its weight, and its error at each beta


def lasting_alpha(alphas: Sequence[float], best: int, held_out: HeldOut) -> float:
    """Return an alpha within the interval of the chosen tree, at its first quarter."""
    last = len(alphas) - 1
    at = largest_like_leaf(held_out, last) if best == last else best
    if at < last:
        return alphas[at] ** 0.75 * alphas[at + 1] ** 0.25
    return 1.25 * alphas[at] if at > 0 else math.inf


def largest_like_leaf(held_out: HeldOut, last: int) -> int:
    """Return the largest tree that is worse than the leaf by less than a standard error."""
    total = sum(weight for weight, _ in held_out)
    tolerance = Fraction(1, 10**6) * sum(Fraction(w) * Fraction(e[last]) for w, e in held_out)
    for k in range(last):
        excess = [(Fraction(w), Fraction(e[k]) - Fraction(e[last])) for w, e in held_out]
        more = sum(w * x for w, x in excess)
        variance = sum(w * x * x for w, x in excess) - more * more / Fraction(total)
        if more + tolerance < math.sqrt(variance):
            return k
    return last
