"""The state of a policy, compared part by part."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from banditree.policies.base import Policy
from banditree.policies.saving import files


class Saved(NamedTuple):
    """What a saved policy consists of."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def saved(policy: Policy) -> Saved:
    """Return what `save` would write now."""
    return Saved(*files.unpack(policy._pack(), "the state"))


def difference(first: Saved, second: Saved, *, but_random: bool = False) -> str | None:
    """Say how two states differ; None if they do not.

    With `but_random`, the state of the random generator does not count.
    """
    for part in first.header.keys() | second.header.keys():
        one, two = first.header.get(part), second.header.get(part)
        if one != two and not (but_random and part == "random"):
            return f"{part!r} was {_short(one)} and is {_short(two)}"
    if first.arrays.keys() != second.arrays.keys():
        return f"there were the arrays {sorted(first.arrays)} and are {sorted(second.arrays)}"
    for name, array in first.arrays.items():
        if not _identical(array, second.arrays[name]):
            return f"the array {name!r} was {_short(array)} and is {_short(second.arrays[name])}"
    return None


def _identical(one: NDArray[Any], two: NDArray[Any]) -> bool:
    # By bytes, since NaN is not equal to itself.
    return one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()


def _short(value: object) -> str:
    text = np.array2string(value, threshold=8) if isinstance(value, np.ndarray) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= 200 else f"{text[:197]}..."
