"""Checks on parameters that take one of a few words."""

from typing import Any, get_args

from banditree.contexts.values import shorten
from banditree.errors import InvalidParameterError


def check_choice(name: str, value: Any, literal: Any) -> Any:
    """Return the value if it is one of the words of a Literal type."""
    words = get_args(literal)
    if not isinstance(value, str) or value not in words:
        listed = ", ".join(f'"{word}"' for word in words)
        raise InvalidParameterError(
            f"{name} must be one of {listed}; got {shorten(value)}; "
            f"see the documentation of {name} for what they mean"
        )
    return value
