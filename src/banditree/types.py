"""Types that appear in public signatures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

# Only type checkers know of defaults before Python 3.13.
if TYPE_CHECKING:
    from typing_extensions import TypeVar
else:
    from typing import TypeVar as _TypeVar

    def TypeVar(name, bound, default):  # noqa: N802
        """Return a type variable without its default."""
        return _TypeVar(name, bound=bound)


__all__ = [
    "A",
    "Arm",
    "Change",
    "Context",
    "Contexts",
    "Decision",
    "DeclaredFeatures",
    "DeclaredKind",
    "FeatureName",
    "FloatArray",
    "Key",
    "Kind",
    "Seed",
    "Table",
    "Value",
]

Arm: TypeAlias = str | int
"""An option of a policy."""

A = TypeVar("A", bound=Arm, default=Any)
"""The type of a policy's arms: `decide` returns what the constructor was given."""


@dataclass(frozen=True)
class Decision(Generic[A]):
    """An arm, with the probability with which it was drawn.

    Attributes
    ----------
    arm
        The arm to offer.
    propensity
        The probability with which it was drawn.
    propensities
        The probability of each arm that may be drawn at all; 0 for those not eligible this time.
        The arm was drawn from these very numbers.
    """

    arm: A
    propensity: float
    propensities: Mapping[A, float]


@dataclass(frozen=True)
class Change(Generic[A]):
    """A change of what arms pay, as a policy found it.

    Attributes
    ----------
    n
        How many observations the policy had learned when it found the change.
    arm
        The arm that paid less than expected; None if several did, and it took all to see it.
    """

    n: int
    arm: A | None


Key: TypeAlias = str | int | bytes
"""What a draw of a snapshot follows from: the number of an order, say."""

FeatureName: TypeAlias = str | int
"""A mapping's key or a table's column name; in sequences and arrays, the position."""

Value: TypeAlias = str | bool | int | float
"""A feature's value once it is read: a number or a category. A missing value is None."""

Kind: TypeAlias = Literal["number", "string", "boolean", "category", "unknown"]
"""What a feature holds: "category" if declared so, "unknown" while it was only ever missing."""

DeclaredKind: TypeAlias = Literal["number", "category", "string", "boolean"]
"""What a user may declare a feature to be; a "category" takes values of any type."""

# One mapping: among several, type checkers do not see that "number" is meant as a kind.
DeclaredFeatures: TypeAlias = Mapping[Any, DeclaredKind] | Sequence[FeatureName]
"""All features that contexts may have: each with its kind, or the names alone."""

FloatArray: TypeAlias = NDArray[np.float64]

# In quotes, since NumPy loads its generators only when they are named.
Seed: TypeAlias = "int | np.random.Generator | None"
"""Where random draws start; None for a seed that nobody can know. A generator draws one."""


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
