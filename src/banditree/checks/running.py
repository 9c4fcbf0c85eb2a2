"""All laws by name, and the function that tests them."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from banditree._checking import check_whole, shorten
from banditree.checks import (
    choosing,
    contract,
    deciding,
    drawing,
    forms,
    learning,
    snapshots,
    storing,
    threads,
)
from banditree.checks.case import Case, Law, LawBrokenError
from banditree.checks.streams import ARMS
from banditree.errors import BanditreeWarning, InvalidParameterError
from banditree.policies.base import Policy
from banditree.policies.rewards import RewardKind, check_kind

LAWS: Mapping[str, Law] = MappingProxyType(
    {
        law.__name__: law
        for law in (
            deciding.decide_keeps_beliefs,
            deciding.reading_keeps_everything,
            deciding.seed_fixes_decisions,
            deciding.propensities_are_frequencies,
            deciding.order_of_arms_is_nothing,
            deciding.batches_are_single_calls,
            drawing.decisions_carry_their_propensity,
            drawing.floors_hold,
            learning.refused_learning_leaves_no_trace,
            learning.inputs_stay_as_they_are,
            learning.inputs_are_not_kept,
            storing.files_carry_on,
            storing.copies_carry_on,
            storing.damage_is_noticed,
            storing.failed_saves_leave_the_old_file,
            choosing.arms_come_and_go,
            choosing.mistakes_are_explained,
            contract.parameters_are_read_only,
            contract.reseeding_changes_draws_only,
            contract.tables_are_single_readings,
            contract.observations_are_counted,
            forms.contexts_of_every_form,
            threads.threads_lose_nothing,
            snapshots.snapshots_agree,
            snapshots.snapshots_follow_from_beliefs,
            snapshots.snapshots_stay_as_they_are,
            snapshots.keys_fix_decisions,
        )
    }
)
"""What every policy does, by name; the docstring of each function says it in a sentence."""


def check_policy(
    policy_factory: Callable[..., Policy],
    *,
    reward: RewardKind | None = None,
    decisions: int = 20_000,
    laws: Iterable[str] | None = None,
) -> None:
    """Test that a policy keeps the laws of all policies; raise on the first that it breaks.

    Parameters
    ----------
    policy_factory
        Called as ``policy_factory(arms=..., seed=...)``, many times, for new policies: the class
        itself, or ``functools.partial(MyPolicy, patience=3)``.
    reward
        The rewards to teach: "binary" for 0 and 1, "continuous" for any number; None for those
        that the policy is made for.
    decisions
        How many to compare with propensities. Fewer for policies that decide in milliseconds.
    laws
        Names of the laws to test, from `LAWS`; None for all. In pytest, ``parametrize("law",
        LAWS)`` makes a test of each.

    Raises
    ------
    LawBrokenError
        An AssertionError: which law, what was expected, what was seen, how to see it again.

    Examples
    --------
    >>> from banditree import Uniform
    >>> check_policy(Uniform, decisions=2_000)
    >>> class First(Uniform):
    ...     def _choose(self, row, eligible):
    ...         return int(eligible[0])
    >>> check_policy(First, laws=["propensities_are_frequencies"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    banditree.checks.case.LawBrokenError: the policy breaks the law 'propensities_are_frequencies'
    ...
    """
    count = check_whole("decisions", decisions, 50)
    chosen = list(LAWS) if laws is None else [_known(name) for name in laws]
    first = Case(policy_factory, "binary", count, "policy_factory makes policies").policy(ARMS)
    kind = first.reward if reward is None else check_kind(reward)
    for name in chosen:
        case = Case(policy_factory, kind, count, name)
        try:
            with warnings.catch_warnings():
                # The laws ask for features that were never taught, on purpose.
                warnings.simplefilter("ignore", BanditreeWarning)
                LAWS[name](case)
        except LawBrokenError:
            raise
        except Exception as error:
            statement = str(LAWS[name].__doc__).split("\n")[0].removeprefix("Require ")
            seen = f"{type(error).__name__}: {error}"
            raise LawBrokenError(name, statement, seen, case.again) from error


def _known(name: str) -> str:
    if name not in LAWS:
        raise InvalidParameterError(
            f"there is no law {shorten(name)}; the laws are {', '.join(LAWS)}"
        )
    return name
