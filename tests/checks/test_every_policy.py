"""Every policy of the package keeps every law."""

import importlib
import inspect
import pkgutil
from functools import partial

import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import banditree.policies
from banditree.checks import LAWS, check_policy
from banditree.errors import InvalidParameterError
from banditree.policies.base import Policy
from banditree.policies.saving.loading import subclasses

ARMS = ["golf", "tennis"]

# What the constructor needs besides arms and seed, by kind of reward.
NEEDED = {
    "Bootstrap": {
        "binary": {"learner": DecisionTreeClassifier(max_depth=2)},
        "continuous": {"learner": DecisionTreeRegressor(max_depth=2)},
    },
}
# Refuse reward="continuous".
BINARY_ONLY = {"BanditForest", "LogisticUCB"}
# Take several seconds for a law, most of them in scikit-learn.
SLOW = {"Bootstrap"}
# How many decisions the frequencies are counted in, where 20,000 take too long.
DECISIONS = {
    "Bootstrap": 200,
    "TreeBootstrap": 4_000,
    "LinUCB": 2_000,
    "LogisticUCB": 2_000,
    "BanditForest": 5_000,
}


def all_policies() -> list[type[Policy]]:
    for module in pkgutil.walk_packages(banditree.policies.__path__, "banditree.policies."):
        importlib.import_module(module.name)
    found = {cls for cls in subclasses(Policy) if cls.__module__.startswith("banditree.policies.")}
    concrete = [cls for cls in found if not inspect.isabstract(cls)]
    return sorted(concrete, key=lambda cls: cls.__name__)


POLICIES = all_policies()


def kinds(cls: type[Policy]) -> list[str]:
    return ["binary"] if cls.__name__ in BINARY_ONLY else ["binary", "continuous"]


def factory(cls: type[Policy], kind: str) -> partial[Policy]:
    return partial(cls, reward=kind, **NEEDED.get(cls.__name__, {}).get(kind, {}))


CASES = [
    pytest.param(
        cls,
        kind,
        id=f"{cls.__name__}-{kind}",
        marks=[pytest.mark.slow] if cls.__name__ in SLOW else [],
    )
    for cls in POLICIES
    for kind in kinds(cls)
]


@pytest.mark.parametrize(("cls", "kind"), CASES)
@pytest.mark.parametrize("law", LAWS)
def test_law(law, cls, kind):
    decisions = DECISIONS.get(cls.__name__, 20_000)
    check_policy(factory(cls, kind), reward=kind, decisions=decisions, laws=[law])


@pytest.mark.parametrize("cls", POLICIES, ids=lambda cls: cls.__name__)
def test_tables_are_complete(cls):
    """Whoever adds a policy is told what to add here."""
    given = {"self", "arms", *NEEDED.get(cls.__name__, {}).get("binary", {})}
    needed = [
        name
        for name, parameter in inspect.signature(cls.__init__).parameters.items()
        if parameter.default is inspect.Parameter.empty and name not in given
    ]
    assert needed == [], f"NEEDED has no {needed} for {cls.__name__}"
    assert factory(cls, "binary")(arms=ARMS, seed=1).arms == tuple(ARMS)


@pytest.mark.parametrize("cls", POLICIES, ids=lambda cls: cls.__name__)
def test_kinds_of_rewards(cls):
    make = factory(cls, "continuous")
    if cls.__name__ not in BINARY_ONLY:
        assert make(arms=ARMS, seed=1).reward == "continuous"
        return
    with pytest.raises(InvalidParameterError, match=r"continuous.*;"):
        make(arms=ARMS, seed=1)


@pytest.mark.parametrize("cls", POLICIES, ids=lambda cls: cls.__name__)
def test_policies_are_public(cls):
    import banditree as bt

    assert getattr(bt, cls.__name__) is cls
    assert cls.__name__ in bt.__all__
