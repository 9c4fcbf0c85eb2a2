"""Constructor parameters: their names and defaults, and checks that policies share."""

import inspect
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from banditree.contexts.values import with_article
from banditree.trees.inputs import check_seed


def as_seed(seed: Any) -> int | None:
    """Return a seed; a numpy generator is asked for one."""
    if seed is None:
        return None
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**64, dtype=np.uint64))
    return check_seed(seed)


@cache
def parameters_of(cls: type) -> Mapping[str, Any]:
    """Return the constructor's parameters and their defaults."""
    signature = inspect.signature(cls)
    return MappingProxyType({name: p.default for name, p in signature.parameters.items()})


# What changes a policy instead of setting its parameter.
_INSTEAD = {
    "arms": "add_arm() and remove_arm() change the arms",
    "features": "set_feature() corrects a feature",
    "categorical": "set_feature() corrects a feature",
    "seed": "reseed() changes the random stream",
}


def read_only(cls: str, name: str) -> AttributeError:
    """Return the error for setting a parameter of a policy that exists."""
    remedy = _INSTEAD.get(name, f"make a new {cls} with {name}=... instead")
    return AttributeError(f"{name} of {with_article(cls)} cannot be set once it is made; {remedy}")
