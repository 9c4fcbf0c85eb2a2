"""The arms of a policy: their names, which of them are active, and the errors for wrong ones."""

from collections.abc import Iterable
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from banditree._checking import did_you_mean, shorten
from banditree.errors import InvalidParameterError, UnknownArmError
from banditree.types import A, Arm

Indices = NDArray[np.int64]


class Arms(Generic[A]):
    """Every arm that a policy has ever had, each at a fixed index; a removed one stays known.

    Examples
    --------
    >>> arms = Arms(["golf", "tennis"])
    >>> arms.add("hockey")
    2
    >>> arms.remove("golf")
    >>> arms.active, arms.indices(["hockey"])
    (('tennis', 'hockey'), array([2]))
    """

    def __init__(self, names: Any) -> None:
        self.names: list[A] = _checked(names)
        self._index = {name: i for i, name in enumerate(self.names)}
        self._is_active = [True] * len(self.names)
        self._refresh()

    def __len__(self) -> int:
        return len(self.names)

    @property
    def active(self) -> tuple[A, ...]:
        """Names of the arms that may be drawn."""
        return tuple(self.names[i] for i in self.all)

    def add(self, arm: Any) -> int | None:
        """Make an arm active and return its index; None if it had been removed before."""
        name: Any = _name(arm)
        index = self._index.get(name)
        if index is not None and self._is_active[index]:
            raise InvalidParameterError(
                f"the policy already has the arm {name!r}; give the new arm another name"
            )
        if index is None:
            self._index[name] = len(self.names)
            self.names.append(name)
            self._is_active.append(True)
        else:
            self._is_active[index] = True
        self._refresh()
        return len(self.names) - 1 if index is None else None

    def remove(self, arm: Any) -> None:
        """Keep an arm out of decisions from now on."""
        index = self._active_index(arm)
        if len(self.all) == 1:
            raise InvalidParameterError(
                f"{arm!r} is the last arm, and a policy needs one; add another arm first"
            )
        self._is_active[index] = False
        self._refresh()

    def index(self, arm: Any, row: int | None = None) -> int:
        """Return the index of an arm, active or removed; `row` is its place among many."""
        try:
            index = self._index.get(arm)
        except (TypeError, ValueError):  # the latter from a memoryview that can be written to
            index = None
        if index is not None and type(arm) is type(self.names[index]):
            return index
        # The rare forms: NumPy's scalars and enumerations, by the rules of the constructor, so that
        # neither True nor 1.0 stands for the arm 1.
        known: dict[Any, int] = self._index
        index = known.get(_name(arm)) if _is_name(arm) else None
        if index is None:
            raise self._unknown(arm, row)
        return index

    def indices(self, arms: Any) -> Indices:
        """Return the indices of the arms that are eligible for a decision."""
        rule = "arms must be a list of arms", "put a single arm in a list"
        indices = [self._active_index(arm) for arm in _listed(arms, *rule)]
        if not indices:
            raise InvalidParameterError(
                "arms is empty, but at least one arm must be eligible; "
                "leave arms out to choose among all"
            )
        if len(set(indices)) < len(indices):
            twice = next(i for i in indices if indices.count(i) > 1)
            raise InvalidParameterError(
                f"arms names {self.names[twice]!r} twice; name each eligible arm once"
            )
        return np.array(indices, dtype=np.int64)

    def named(self, indices: Indices) -> list[A]:
        """Return the names of arms; of many of them, faster than one by one."""
        names: list[A] = self._as_array[indices].tolist()
        return names

    def each(self, arms: Any, n_rows: int) -> Indices:
        """Return the index of one arm per row."""
        rule = "arms must be a list with the arm of each context", "pass one per context"
        listed = _listed(arms, *rule)
        if len(listed) != n_rows:
            raise InvalidParameterError(
                f"arms has {len(listed)} entries for {n_rows} contexts; pass one per context"
            )
        return np.array([self.index(arm, i) for i, arm in enumerate(listed)], dtype=np.int64)

    def state(self) -> list[dict[str, Any]]:
        """Return all arms in values that JSON can hold."""
        pairs = zip(self.names, self._is_active, strict=True)
        return [{"name": name, "active": active} for name, active in pairs]

    def restore_activity(self, active: list[bool]) -> None:
        """Take over which arms are active and which are removed."""
        self._is_active = list(active)
        self._refresh()

    def _refresh(self) -> None:
        self.all = np.flatnonzero(self._is_active)
        self._as_array = np.empty(len(self.names), dtype=object)
        self._as_array[:] = self.names

    def _active_index(self, arm: Any) -> int:
        index = self.index(arm)
        if not self._is_active[index]:
            raise UnknownArmError(
                f"the arm {arm!r} was removed; add_arm({arm!r}) brings it back with what it learned"
            )
        return index

    def _unknown(self, arm: Any, row: int | None) -> UnknownArmError:
        known, where = self.names, "" if row is None else f" in row {row}"
        # Not str(), since Python refuses integers of 4,301 digits.
        given = arm if isinstance(arm, str) else shorten(arm)
        equal = [] if _is_name(arm) else [name for name in known if _equals(arm, name)]
        if equal:
            hint = f"did you mean {equal[0]!r}?"
        elif _is_name(arm):
            hint = did_you_mean(given, known, "add_arm() makes it known")
        else:
            hint = did_you_mean(given, known, "pass a string or a whole number, as arms are")
        listed = ", ".join(repr(name) for name in known[:10]) + (", …" if len(known) > 10 else "")
        return UnknownArmError(f"unknown arm {shorten(arm)}{where}; the arms are {listed}; {hint}")


def _checked(arms: Any) -> list[Any]:
    rule = "arms must be a list of strings or whole numbers", 'such as ["golf", "tennis"]'
    names = [_name(arm) for arm in _listed(arms, *rule)]
    if not names:
        raise InvalidParameterError("arms is empty, but a policy needs at least one arm; name some")
    seen: set[Arm] = set()
    for name in names:
        if name in seen:
            raise InvalidParameterError(f"arms names {name!r} twice; name each arm once")
        seen.add(name)
    return names


def _listed(arms: Any, rule: str, remedy: str) -> list[Any]:
    if isinstance(arms, set | frozenset):
        raise InvalidParameterError(
            f"{rule}, got a set, {shorten(arms)}, whose order is not defined, so that nothing "
            "done with it could be repeated; pass a list"
        )
    try:
        if isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
            raise TypeError
        return list(arms.tolist() if hasattr(arms, "tolist") else arms)
    except (TypeError, NotImplementedError):  # an array without dimensions, a memoryview with two
        raise InvalidParameterError(f"{rule}, got {shorten(arms)}; {remedy}") from None


def _as_plain(arm: Any) -> Any:
    return arm.item() if isinstance(arm, np.generic) else arm


def _equals(arm: Any, name: Arm) -> bool:
    return isinstance(arm, bool | float | np.generic) and bool(arm == name)


def _is_name(arm: Any) -> bool:
    name = _as_plain(arm)
    if isinstance(name, str):
        return True
    return isinstance(name, int) and not isinstance(name, bool) and -(2**63) <= name < 2**64


def _name(arm: Any) -> Arm:
    if not _is_name(arm):
        raise InvalidParameterError(
            "an arm must be a string or a whole number of at most 64 bits, "
            f"got {shorten(arm)}; give it a name"
        )
    name = _as_plain(arm)
    # Of an enumeration the value: str() would put the name of its class before it.
    return str.__str__(name) if isinstance(name, str) else int(name)
