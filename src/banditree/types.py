"""Types that appear in public signatures."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Arm",
    "Context",
    "Contexts",
    "FeatureName",
    "FloatArray",
    "Kind",
    "Seed",
    "Table",
    "Value",
]

Arm: TypeAlias = str | int
"""An option of a policy."""

FeatureName: TypeAlias = str | int
"""A mapping's key or a table's column name; in sequences and arrays, the position."""

Value: TypeAlias = str | bool | int | float
"""A feature's value once it is read: a number or a category. A missing value is None."""

Kind: TypeAlias = Literal["number", "string", "boolean", "category", "unknown"]
"""What a feature holds: "category" if declared so, "unknown" while it was only ever missing."""

FloatArray: TypeAlias = NDArray[np.float64]

# In quotes, since NumPy loads its generators only when they are named.
Seed: TypeAlias = "int | np.random.Generator | None"
"""Of random draws; None for one that nobody can know. A generator is asked for one."""


class Table(Protocol):
    """A pandas, polars or Arrow table, described without importing any of them."""

    @property
    def shape(self) -> Any:
        """Numbers of rows and columns."""
        ...


# Mapping is invariant in its key type, hence the three spellings.
Context: TypeAlias = (
    Mapping[str, Any] | Mapping[int, Any] | Mapping[str | int, Any] | Sequence[Any] | NDArray[Any]
)
"""What is known at decision time: a mapping, a sequence or a 1-D array (or a pandas Series)."""

Contexts: TypeAlias = Iterable[Context] | NDArray[Any] | Table
"""Many contexts: an iterable of them, a 2-D array, or a table."""
