"""What is said about unknown features."""

import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from banditree._checking import did_you_mean, shorten
from banditree.errors import BanditreeWarning, InvalidContextError
from banditree.types import FeatureName

_PACKAGE = str(Path(__file__).parents[1])


def hint(name: object, known: Sequence[FeatureName]) -> str:
    """Return a likely name, or what the known names are."""
    if not known:
        return "there are no features yet"
    listed = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
    return did_you_mean(str(name), known, f"the features are {listed}")


def undeclared(
    names: Iterable[Any], declared: Sequence[FeatureName], row: int | None
) -> InvalidContextError:
    """Return the error for names that a schema does not have, the first of them in a row."""
    unknown = list(names)
    where = "" if row is None else f" of context {row}"
    more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
    return InvalidContextError(
        f"unknown feature {shorten(unknown[0])}{where}{more}: contexts may only have the features "
        f"that features=... declares; {hint(unknown[0], declared)}"
    )


def tell_unknown(names: Iterable[Any], known: Sequence[FeatureName], none_known: bool) -> None:
    """Warn that a context to decide for has names that were never learned."""
    unknown = list(names)
    shown = ", ".join(shorten(name) for name in unknown[:5]) + (", …" if len(unknown) > 5 else "")
    what = (
        f"none of the context's features is known ({shown})"
        if none_known
        else f"the context has {'a feature' if len(unknown) == 1 else 'features'} never learned "
        f"from: {shown}"
    )
    tell(
        f"{what}; features never learned from are left out of a decision; "
        f"{hint(unknown[0], known)}; declare features=[...] when making the policy to have unknown "
        "names refused"
    )


def tell_never_came(names: Sequence[FeatureName], known: Sequence[FeatureName], n: int) -> None:
    """Warn that no context so far has had the features declared as categories."""
    shown = ", ".join(map(repr, names))
    tell(
        f"categorical names {shown}, which none of the first {n} observations had; "
        f"{hint(names[0], known)}; correct categorical=[...], or declare features=... to have "
        "wrong names refused at once"
    )


def tell(message: str) -> None:
    """Warn at the line of the caller outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, BanditreeWarning, stacklevel=level)
