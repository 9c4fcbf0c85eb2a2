"""What a study consists of: policies × environments × seeds."""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import banditree.policies as policies
from banditree.environments.base import check_count
from banditree.errors import InvalidParameterError
from banditree.policies import Policy
from banditree.policies.base import subclasses

__all__ = ["BASELINE", "EnvironmentSpec", "PolicySpec", "Study", "Variant", "policy_names"]

# Takes the place of a policy where regret is to be compared with what trees could do at best.
BASELINE = "OfflineTree"

Parameters = dict[str, Any]


def policy_names() -> list[str]:
    """Return the names of the policies that a study can name: all that need no learner."""
    public = set(policies.__all__) - {"Bootstrap"}
    return sorted(cls.__name__ for cls in subclasses(Policy) if cls.__name__ in public)


def unknown(what: str, name: object, known: list[str]) -> InvalidParameterError:
    """Return the error for a name that is not among those known."""
    close = get_close_matches(str(name), known, n=1) or [
        other for other in known if other.casefold() == str(name).casefold()
    ]
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    return InvalidParameterError(f"there is no {what} {name!r}; {hint}")


@dataclass(frozen=True)
class Variant:
    """A policy with all its parameters."""

    policy: str
    label: str
    parameters: Parameters = field(default_factory=dict)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.label}({given})" if given else self.label


@dataclass(frozen=True)
class PolicySpec:
    """A policy of a study.

    Parameters
    ----------
    label
        What it is called in results.
    policy
        The class; by default the label.
    parameters
        Of the class. A list is a grid: every value is tried, and reports say which was best. A
        mapping gives the value for each environment by name.
    """

    label: str
    policy: str = ""
    parameters: Parameters = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = [*policy_names(), BASELINE]
        object.__setattr__(self, "policy", self.policy or self.label)
        if self.policy not in known:
            raise unknown("policy", self.policy, known)

    def variants(self, environment: str) -> Iterator[Variant]:
        """Yield the policy with every combination of its grids, for an environment."""
        grids = []
        for name, value in self.parameters.items():
            if isinstance(value, Mapping):
                if environment not in value:
                    raise InvalidParameterError(
                        f"{self.label}: {name} is given for {', '.join(value)}, not for "
                        f"{environment!r}; add it"
                    )
                value = value[environment]
            grids.append(value if isinstance(value, list) else [value])
        for values in itertools.product(*grids):
            parameters = dict(zip(self.parameters, values, strict=True))
            yield Variant(self.policy, self.label, parameters)


@dataclass(frozen=True)
class EnvironmentSpec:
    """An environment of a study, described so that any process can build it.

    Parameters
    ----------
    name
        What it is called in results; without `file`, which built-in one it is unless `task` says.
    task
        A built-in environment: "sports", "digits" or a data set.
    file
        A Parquet or CSV file with classified data, instead.
    label, unused, dropped, categorical
        Of the file, as for `Classification`.
    drift_at, delay, random_delay
        What makes it harder, as for `Drifting` and `Delayed`.
    """

    name: str
    task: str = ""
    file: str = ""
    label: str = ""
    unused: tuple[str, ...] = ()
    dropped: tuple[str | int, ...] = ()
    categorical: tuple[str, ...] = ()
    drift_at: int | None = None
    delay: int | None = None
    random_delay: bool = False


@dataclass(frozen=True)
class Study:
    """A grid of runs: every policy in every environment with every seed.

    Parameters
    ----------
    policies, environments
        What is compared, and where.
    horizon
        Steps of a run.
    seeds
        How many runs of each; their seeds are `first_seed` and those after it.
    name
        Of the study, for reports.

    Examples
    --------
    >>> study = Study([PolicySpec("Uniform")], [EnvironmentSpec("sports")], horizon=10, seeds=2)
    >>> [(str(variant), spec.name, seed) for variant, spec, seed in study.cells()]
    [('Uniform', 'sports', 0), ('Uniform', 'sports', 1)]
    """

    policies: list[PolicySpec]
    environments: list[EnvironmentSpec]
    horizon: int = 10_000
    seeds: int = 5
    first_seed: int = 0
    name: str = "study"

    def __post_init__(self) -> None:
        check_count("horizon", self.horizon)
        check_count("seeds", self.seeds)
        check_count("first_seed", self.first_seed, least=0)
        for what, names in (
            ("policies", [policy.label for policy in self.policies]),
            ("environments", [environment.name for environment in self.environments]),
        ):
            if not names:
                raise InvalidParameterError(f"a study needs {what}: it has none")
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise InvalidParameterError(f"{what}: {twice!r} occurs twice; names must differ")

    def cells(self) -> Iterator[tuple[Variant, EnvironmentSpec, int]]:
        """Yield what is to be run; seed by seed, so that a study cut short is even."""
        for seed in range(self.first_seed, self.first_seed + self.seeds):
            for environment in self.environments:
                for policy in self.policies:
                    if policy.policy == BASELINE and not is_classified(environment):
                        continue
                    for variant in policy.variants(environment.name):
                        yield variant, environment, seed


def is_classified(spec: EnvironmentSpec) -> bool:
    """Return whether the rows of an environment have a right arm, which OfflineTree needs."""
    plain = spec.drift_at is None and spec.delay is None
    return plain and (bool(spec.file) or (spec.task or spec.name) != "sports")


def as_json(value: Any) -> str:
    """Return the one way of writing a value as JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=list)
