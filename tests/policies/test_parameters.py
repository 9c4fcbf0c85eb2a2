"""What constructors show of the parameters that they hand on to a base."""

import inspect
from typing import Any, get_type_hints

import pytest

import banditree as bt
from banditree.policies.linear.confidence import ConfidencePolicy, LinearParameters
from banditree.policies.parameters import PolicyParameters, parameters_of, with_parameters_of
from banditree.policies.tree_policy import TreeParameters, TreePolicy
from policies.makers import MAKERS

HANDED_ON = {
    TreePolicy: TreeParameters,
    ConfidencePolicy: LinearParameters,
    bt.Policy: PolicyParameters,
}
CASES = [
    *((cls, TreePolicy) for cls in (bt.TreeBootstrap, bt.TreeHeuristic, bt.OnlineTreeBootstrap)),
    *((cls, ConfidencePolicy) for cls in (bt.LinUCB, bt.LogisticUCB)),
    *((getattr(maker, "func", maker), bt.Policy) for maker in MAKERS),
]


def handed_on(cls: type, base: type) -> dict[str, inspect.Parameter]:
    shown = inspect.signature(cls).parameters
    return {name: shown[name] for name in get_type_hints(HANDED_ON[base])}


@pytest.mark.parametrize(("cls", "base"), CASES)
def test_constructors_show_the_parameters_that_they_hand_on(cls: type, base: type):
    assert handed_on(cls, base) == handed_on(base, base)
    kinds = [parameter.kind for parameter in inspect.signature(cls).parameters.values()]
    assert set(kinds) == {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("base", HANDED_ON)
def test_type_checkers_know_the_parameters_that_are_handed_on(base: type):
    shown = inspect.signature(base).parameters
    assert set(get_type_hints(HANDED_ON[base])) == shown.keys() - {"arms", "reward"}
    hints = get_type_hints(base.__init__)
    known = {name: hint for name, hint in get_type_hints(HANDED_ON[base]).items() if name in hints}
    assert known == {name: hints[name] for name in known}


class Base:
    def __init__(self, arms: list[str], *, first: int = 0, other: int = 2, shared: int = 1) -> None:
        self.given = (arms, first, other, shared)


class Derived(Base):
    @with_parameters_of(Base)
    def __init__(self, arms: list[str], *, own: int = 0, other: int = 3, **more: Any) -> None:
        super().__init__(arms, other=other, **more)


def test_a_parameter_of_ones_own_hides_that_of_the_base():
    shown = dict(parameters_of(Derived))
    del shown["arms"]
    assert shown == {"first": 0, "own": 0, "other": 3, "shared": 1}
    assert list(shown) == ["first", "own", "other", "shared"]
    assert Derived(["a"], shared=5).given == (["a"], 0, 3, 5)


def test_unknown_parameters_are_refused_by_name():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'min_splits'"):
        bt.TreeHeuristic(["golf"], min_splits=3)
