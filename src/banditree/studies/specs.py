"""What a study consists of: policies × environments × seeds."""

import inspect
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import banditree.policies as policies
from banditree._checking import check_whole, did_you_mean, with_article
from banditree.environments import OfflineTree
from banditree.environments.datasets import DATASETS
from banditree.errors import InvalidParameterError
from banditree.policies import Policy
from banditree.policies.saving.loading import subclasses
from banditree.studies import own
from banditree.types import Arm

__all__ = ["BASELINE", "TASKS", "EnvironmentSpec", "PolicySpec", "Study", "Variant", "policy_names"]

# Takes the place of a policy where regret is to be compared with what trees could do at best.
BASELINE = "OfflineTree"
TASKS = ["sports", "digits", *DATASETS]
# Parameters of policies that are the study's to give.
GIVEN = ("arms", "environment", "seed", "categorical")
# Settings of environments that describe a file.
OF_FILES = ("label", "unused", "dropped", "categorical", "dates")

Parameters = dict[str, Any]


def policy_names() -> list[str]:
    """Return the names of the policies that a study can name: all that need no learner."""
    public = set(policies.__all__) - {"Bootstrap", "CustomPolicy"}
    return sorted(cls.__name__ for cls in subclasses(Policy) if cls.__name__ in public)


def maker_of(policy: str) -> Any:
    """Return what makes a policy: a class, or a function of one's own."""
    if own.is_path(policy):
        return own.find(policy)
    return OfflineTree if policy == BASELINE else getattr(policies, policy)


def unknown(what: str, name: object, known: list[str]) -> InvalidParameterError:
    """Return the error for a name that is not among those known."""
    hint = did_you_mean(str(name), known, f"known are {', '.join(known)}")
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

    def make(self, arms: Sequence[Arm], *, categorical: Sequence[int], seed: int) -> Any:
        """Return the policy."""
        maker = maker_of(self.policy)
        return maker(arms, categorical=categorical, seed=seed, **self.parameters)


@dataclass(frozen=True)
class PolicySpec:
    """A policy of a study.

    Parameters
    ----------
    label
        What it is called in results.
    policy
        The name of the class; by default the label. One of your own is "module:name", or the class
        itself, or a function that makes it; it is called as ``made(arms, categorical=..., seed=...,
        **parameters)``. Other processes must be able to import its module.
    parameters
        Of the class. A list is a grid: every value is tried, and reports say which was best. A
        mapping gives the value for each environment by name.
    """

    label: str
    policy: Any = ""  # whatever was given, it is a name from the constructor on
    parameters: Parameters = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.policy and own.is_path(self.label):
            object.__setattr__(self, "policy", self.label)
            object.__setattr__(self, "label", own.name_of(self.label))
        given = self.policy or self.label
        object.__setattr__(self, "policy", own.path_of(given) if callable(given) else given)
        if not isinstance(self.policy, str):
            raise InvalidParameterError(
                f"policy must be the name of a class, got {self.policy!r}; parameters are given by "
                "name: PolicySpec('LinUCB', parameters={'alpha': 1.0})"
            )
        known = [*policy_names(), BASELINE]
        if self.policy == "Bootstrap":
            raise InvalidParameterError(
                "Bootstrap takes a learner, which a study cannot describe; TreeBootstrap does "
                "without, and banditree.environments.play plays any policy"
            )
        if self.policy not in known and not own.is_path(self.policy):
            raise unknown("policy", self.policy, known)
        self._check_names()
        self._check_values()

    def _check_names(self) -> None:
        signature = inspect.signature(maker_of(self.policy)).parameters
        takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.values())
        known = [name for name in signature if name not in GIVEN]
        for name, value in self.parameters.items():
            if name in GIVEN:
                raise InvalidParameterError(f"{name} is given by the study; leave it out")
            if name not in known and not takes_any:
                raise unknown(f"parameter of {self.policy}", name, known)
            for grid in value.values() if isinstance(value, Mapping) else [value]:
                _check_grid(name, grid)

    def _check_values(self) -> None:
        """Make the policy with each choice of its parameters: better now than in the last run."""
        if self.policy == BASELINE:
            return  # which needs the data
        mappings = [value for value in self.parameters.values() if isinstance(value, Mapping)]
        shared = (
            [name for name in mappings[0] if all(name in m for m in mappings)] if mappings else [""]
        )
        for environment in shared:
            for variant in self.variants(environment):
                try:
                    made = variant.make([0, 1], categorical=[], seed=0)
                except InvalidParameterError as error:
                    raise InvalidParameterError(f"{variant}: {error}{self._hint(error)}") from None
                except Exception as error:
                    raise InvalidParameterError(
                        f"{variant} cannot be made: {type(error).__name__}: {error}"
                    ) from error
                if not callable(getattr(made, "decide", None)) or not hasattr(made, "learn"):
                    raise InvalidParameterError(
                        f"{self.policy} must make a policy, with decide and learn; got {made!r}"
                    )

    def _hint(self, error: InvalidParameterError) -> str:
        for name, value in self.parameters.items():
            if isinstance(value, list) and str(error).startswith(f"{name} must be two"):
                return f"; a list is one of values to try: for {value} itself write [{value}]"
        return ""

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


def _check_grid(name: str, value: Any) -> None:
    if isinstance(value, list) and len({repr(v) for v in value}) < max(1, len(value)):
        problem = "twice the same" if value else "none"
        raise InvalidParameterError(f"{name} is a list of values to try, and has {problem}")


@dataclass(frozen=True)
class EnvironmentSpec:
    """An environment of a study, described so that any process can build it.

    Parameters
    ----------
    name
        What it is called in results; without `file`, which built-in one it is unless `task` says.
    task
        A built-in environment: "sports", "digits" or a data set. One of your own is "module:name",
        or a class derived from `Environment`, or a function that makes one.
    file
        A Parquet or CSV file with classified data, instead.
    label, unused, dropped, categorical, dates
        Of the file, as for `Classification`.
    drift_at, delay, random_delay
        What makes it harder, as for `Drifting` and `Delayed`.
    parameters
        Of an environment of your own.
    horizon, seeds
        Here, where not as in the rest of the study.
    policies
        The labels of those that are run here; by default all.
    """

    name: str
    task: Any = ""  # whatever was given, it is a name from the constructor on
    file: str = ""
    label: str = ""
    unused: tuple[str, ...] = ()
    dropped: tuple[str | int, ...] = ()
    categorical: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    drift_at: int | None = None
    delay: int | None = None
    random_delay: bool = False
    parameters: Parameters = field(default_factory=dict, hash=False)
    horizon: int | None = None
    seeds: int | None = None
    policies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("horizon", "seeds"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), 1)
        if not (isinstance(self.task, str) or callable(self.task)):
            raise InvalidParameterError(
                "task must be a class or function of your own, or a name; got "
                f"{with_article(type(self.task).__name__)}; pass the class itself, and its "
                "arguments as parameters"
            )
        if callable(self.task):
            object.__setattr__(self, "task", own.path_of(self.task))
        if not self.task and own.is_path(self.name):
            object.__setattr__(self, "task", self.name)
            object.__setattr__(self, "name", own.name_of(self.name))
        for name in (*OF_FILES[1:], "policies"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
        if self.file:
            # As a whole, for the processes of a cluster work in other folders.
            object.__setattr__(self, "file", str(Path(self.file).resolve()))
            self._check_file()
        else:
            self._check_task()
        if self.parameters and not own.is_path(self.task):
            raise InvalidParameterError("parameters are for environments of your own; leave it out")
        if self.drift_at is not None:
            check_whole("drift_at", self.drift_at, 0)
        if self.delay is not None:
            check_whole("delay", self.delay, 1)
        elif self.random_delay:
            raise InvalidParameterError("random_delay needs a delay, which is its mean; add it")

    def _check_file(self) -> None:
        if self.task:
            raise InvalidParameterError("there is a task and a file; leave one of them out")
        if not self.label:
            raise InvalidParameterError(
                f"label must name the column of {self.file!r} that holds the class"
            )

    def _check_task(self) -> None:
        if own.is_path(self.task):
            own.find(self.task)
        elif (self.task or self.name) not in TASKS:
            raise unknown("environment", self.task or self.name, TASKS)
        origin = "your own" if own.is_path(self.task) else "built in"
        for name in OF_FILES:
            if getattr(self, name):
                raise InvalidParameterError(
                    f"{name} is for files, and {self.task or self.name!r} is {origin}; leave it out"
                )


def _names(what: str, given: Any) -> tuple[Any, ...]:
    if not isinstance(given, list | tuple) or any(isinstance(v, list | dict) for v in given):
        raise InvalidParameterError(f"{what} must be a list of names, got {given!r}")
    return tuple(given)


@dataclass(frozen=True)
class Study:
    """A grid of runs: every policy in every environment with every seed.

    An environment may have a horizon, seeds and policies of its own (see `EnvironmentSpec`).

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
    command
        Of the paper's experiments: what runs them. Reports have the paper's figures and claims.

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
    command: str = ""

    def __post_init__(self) -> None:
        check_whole("horizon", self.horizon, 1)
        check_whole("seeds", self.seeds, 1)
        check_whole("first_seed", self.first_seed, 0)
        self._check_members()
        labels = [policy.label for policy in self.policies]
        for spec in self.environments:
            horizon = self.horizon_of(spec)
            for what, step in (("drift_at", spec.drift_at), ("delay", spec.delay)):
                if step is not None and step >= horizon:
                    raise InvalidParameterError(
                        f"{spec.name}: {what} is {step:,}, and a run has only {horizon:,} "
                        "steps; lower it, or raise horizon"
                    )
            for label in spec.policies:
                if label not in labels:
                    raise unknown(f"policy of {spec.name}", label, labels)

    def _check_members(self) -> None:
        for policy in self.policies:
            if not isinstance(policy, PolicySpec):
                raise InvalidParameterError(f"policies must be PolicySpecs, got {policy!r}")
        for environment in self.environments:
            if not isinstance(environment, EnvironmentSpec):
                raise InvalidParameterError(
                    f"environments must be EnvironmentSpecs, got {environment!r}"
                )
        for what, names in (
            ("policies", [policy.label for policy in self.policies]),
            ("environments", [environment.name for environment in self.environments]),
        ):
            if not names:
                raise InvalidParameterError(f"a study needs {what}: it has none")
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise InvalidParameterError(f"{what}: {twice!r} occurs twice; names must differ")

    def horizon_of(self, environment: EnvironmentSpec) -> int:
        """Return the steps of a run in an environment."""
        return self.horizon if environment.horizon is None else environment.horizon

    def seeds_of(self, environment: EnvironmentSpec) -> range:
        """Return the seeds of the runs in an environment."""
        count = self.seeds if environment.seeds is None else environment.seeds
        return range(self.first_seed, self.first_seed + count)

    def cells(self) -> Iterator[tuple[Variant, EnvironmentSpec, int]]:
        """Yield what is to be run; seed by seed, so that a study cut short is even."""
        seeds = {spec.name: self.seeds_of(spec) for spec in self.environments}
        for seed in range(self.first_seed, max(of.stop for of in seeds.values())):
            for environment in self.environments:
                if seed not in seeds[environment.name]:
                    continue
                for policy in self.policies:
                    if environment.policies and policy.label not in environment.policies:
                        continue
                    for variant in policy.variants(environment.name):
                        yield variant, environment, seed


def as_json(value: Any) -> str:
    """Return the one way of writing a value as JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=list)
