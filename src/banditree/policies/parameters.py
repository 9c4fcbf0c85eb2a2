"""Constructor parameters: their names and defaults, and checks that policies share."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from types import MappingProxyType
from typing import Any, TypedDict, TypeVar

import numpy as np

from banditree._checking import check_seed, check_whole, with_article
from banditree.types import DeclaredFeatures, FeatureName, Seed


def as_seed(seed: Any) -> int | None:
    """Return a seed; a numpy generator is asked for one."""
    if seed is None:
        return None
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**64, dtype=np.uint64))
    return check_seed(seed)


def check_window(window: Any) -> int | None:
    """Return how many observations of each arm count; None if all do."""
    return None if window is None else check_whole("window", window, 1)


@cache
def parameters_of(cls: type) -> Mapping[str, Any]:
    """Return the constructor's parameters and their defaults."""
    signature = inspect.signature(cls)
    return MappingProxyType({name: p.default for name, p in signature.parameters.items()})


class PolicyParameters(TypedDict, total=False):
    """What constructors of policies hand on to that of `Policy`."""

    categorical: Sequence[FeatureName]
    features: DeclaredFeatures | None
    floor: float
    seed: Seed


_Init = TypeVar("_Init", bound=Callable[..., None])


def with_parameters_of(base: type) -> Callable[[_Init], _Init]:
    """Show parameters that a constructor hands on to a base, with their defaults, as its own.

    Type checkers know them by the `Unpack` of the constructor; help(), notebooks and
    `parameters_of` by its signature. There they follow the constructor's own, but for those that
    the base names before any parameter that both name.
    """

    def spelled_out(init: _Init) -> _Init:
        signature = inspect.signature(init)
        named = signature.parameters
        positional = [p for p in named.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        own = [p for p in named.values() if p.kind is p.KEYWORD_ONLY]
        of_base = [p for p in _parameters_of_init(base) if p.kind is p.KEYWORD_ONLY]
        first = list(takewhile(lambda parameter: parameter.name not in named, of_base))
        rest = [p for p in of_base[len(first) :] if p.name not in named]
        parameters = [*positional, *first, *own, *rest]
        init.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return init

    return spelled_out


def _parameters_of_init(cls: type) -> list[inspect.Parameter]:
    signature = inspect.signature(cls.__init__)  # type: ignore[misc]
    return list(signature.parameters.values())


# Parameters of every policy, also of one whose constructor leaves some of them out.
COMMON = frozenset({"arms", "reward", "categorical", "features", "floor", "seed"})

# What changes a policy instead of setting its parameter.
_INSTEAD = {
    "arms": "add_arm() and remove_arm() change the arms",
    "features": "set_feature() corrects a feature",
    "categorical": "set_feature() corrects a feature",
    "seed": "reseed() changes the random stream",
}


def is_parameter(cls: type, name: str) -> bool:
    """Return whether an attribute of policies of a class is one of their parameters."""
    return name in COMMON or name in parameters_of(cls)


def read_only(cls: type, name: str) -> AttributeError:
    """Return the error for setting a parameter of a policy that exists."""
    made = cls.__name__
    new = f"make a new {made} with {name}=... instead"
    inner = f"let the constructor of {made} give {name}=... to super().__init__ instead"
    remedy = _INSTEAD.get(name, new if name in parameters_of(cls) else inner)
    return AttributeError(f"{name} of {with_article(made)} cannot be set once it is made; {remedy}")
