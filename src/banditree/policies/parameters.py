"""Constructor parameters: their names and defaults, and checks that policies share."""

import inspect
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from banditree.contexts.values import shorten
from banditree.errors import InvalidParameterError
from banditree.trees.inputs import check_seed


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


def as_seed(seed: Any) -> int | None:
    """Return a seed; a numpy generator is asked for one."""
    if seed is None:
        return None
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**64, dtype=np.uint64))
    return check_seed(seed)


def parameters_of(cls: type) -> Mapping[str, Any]:
    """Return the constructor's parameters and their defaults."""
    signature = inspect.signature(cls)
    return {name: p.default for name, p in signature.parameters.items()}
