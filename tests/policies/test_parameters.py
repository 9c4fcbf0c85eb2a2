"""What constructors show of the parameters that they hand on to a base."""

import inspect
from typing import Any, get_type_hints

import pytest

import banditree as bt
from banditree.policies.parameters import parameters_of, with_parameters_of
from banditree.policies.tree_policy import TreeParameters, TreePolicy

TREE_POLICIES = [bt.TreeBootstrap, bt.TreeHeuristic, bt.OnlineTreeBootstrap]


def handed_on(cls: type) -> dict[str, inspect.Parameter]:
    shown = inspect.signature(cls).parameters
    return {name: shown[name] for name in get_type_hints(TreeParameters)}


@pytest.mark.parametrize("cls", TREE_POLICIES)
def test_tree_policies_show_the_parameters_of_all_tree_policies(cls: type):
    assert handed_on(cls) == handed_on(TreePolicy)
    kinds = [parameter.kind for parameter in inspect.signature(cls).parameters.values()]
    assert kinds[0] == inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds[1:]) == {inspect.Parameter.KEYWORD_ONLY}


def test_type_checkers_know_the_parameters_of_all_tree_policies():
    own = ("arms", "reward", "return")
    hints = get_type_hints(TreePolicy.__init__)
    assert get_type_hints(TreeParameters) == {k: v for k, v in hints.items() if k not in own}


class Base:
    def __init__(self, arms: list[str], *, shared: int = 1, other: int = 2) -> None:
        self.given = (arms, shared, other)


class Derived(Base):
    @with_parameters_of(Base)
    def __init__(self, arms: list[str], *, own: int = 0, other: int = 3, **more: Any) -> None:
        super().__init__(arms, other=other, **more)


def test_a_parameter_of_ones_own_hides_that_of_the_base():
    shown = dict(parameters_of(Derived))
    del shown["arms"]
    assert shown == {"own": 0, "other": 3, "shared": 1}
    assert list(shown) == ["own", "other", "shared"]
    assert Derived(["a"], shared=5).given == (["a"], 5, 3)


def test_unknown_parameters_are_refused_by_name():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'min_splits'"):
        bt.TreeHeuristic(["golf"], min_splits=3)
