"""What is said about a wrong argument."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[object], otherwise: str) -> str:
    """Return a hint at the known name that is most like another, whatever its case.

    Examples
    --------
    >>> did_you_mean("gofl", ["golf", "tennis"], "add it")
    "did you mean 'golf'?"
    >>> did_you_mean("chess", ["golf", "tennis"], "add it")
    'add it'
    """
    by_text = {str(other).strip().casefold(): other for other in known}
    close = get_close_matches(name.strip().casefold(), by_text, n=1)
    return f"did you mean {by_text[close[0]]!r}?" if close else otherwise
