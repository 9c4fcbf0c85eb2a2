"""The experiments of the paper as studies."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from banditree.environments.datasets import DATASETS, locate
from banditree.errors import InvalidParameterError
from banditree.studies.specs import (
    BASELINE,
    TASKS,
    EnvironmentSpec,
    PolicySpec,
    Study,
    unknown,
)

__all__ = ["DATA_SETS", "FIGURES", "LONG", "PAPER_TASKS", "SPORTS", "paper_study"]

ALPHAS = [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]
SPORTS = "sports"
DATA_SETS = ("adult", "shuttle", "covertype", "census")
PAPER_TASKS = (SPORTS, *DATA_SETS)

# The paper's tasks for longer, on the policies whose order changes with the horizon, each with the
# constants that are the best at 10,000 steps. Adult has no more rows than these.
LONG = (
    EnvironmentSpec(
        "covertype-long",
        task="covertype",
        horizon=100_000,
        seeds=3,
        policies=("TreeBootstrap", "TreeHeuristic", "LinUCB", "LogisticUCB", BASELINE),
    ),
    EnvironmentSpec(
        "adult-long",
        task="adult",
        horizon=45_776,
        seeds=5,
        policies=("TreeBootstrap", "TreeHeuristic", "LinUCB", "LogisticUCB"),
    ),
)
SEEDS = {"sports": 20}  # in full; the sports ads differ more from seed to seed


def _per_task(usual: list[Any], **others: list[Any]) -> dict[str, list[Any]]:
    """Return the values to try on each task."""
    return {**dict.fromkeys((*TASKS, *(spec.name for spec in LONG)), usual), **others}


# LogisticUCB explores nearly everywhere unless alpha is small. On Census, where one bit for each
# code makes wide models, only the alphas around the best are tried.
LIN_ALPHAS = _per_task(
    ALPHAS,
    census=[0.01, 0.1],
    **{"covertype-long": [0.01, 0.1], "adult-long": [0.01, 0.1]},
)
LOGISTIC_ALPHAS = _per_task(
    [0.0001, 0.001, 0.01],
    sports=[0.001, 0.01, 0.1, 1.0],
    census=[0.0001],
    **{"covertype-long": [0.0001], "adult-long": [0.0001]},
)
# The paper found 2 to 5 to be the best for its horizon: the deeper, the longer the forest explores.
DEPTHS = [1, 2, 3, 4, 5]

POLICIES = (
    # The paper's way to start; "prior" is what the class does by default.
    PolicySpec("TreeBootstrap", parameters={"cold_start": "until_success"}),
    PolicySpec("TreeHeuristic"),
    PolicySpec("ThompsonSampling"),
    PolicySpec("BanditForest", parameters={"trees": 3, "depth": DEPTHS}),
    PolicySpec("LinUCB", parameters={"alpha": LIN_ALPHAS}),
    PolicySpec("LogisticUCB", parameters={"alpha": LOGISTIC_ALPHAS}),
    PolicySpec(BASELINE),
    # Beyond the paper's figures.
    PolicySpec("TreeBootstrap, prior", "TreeBootstrap", {"cold_start": "prior"}),
    PolicySpec(
        "BanditForest, radius/4",
        "BanditForest",
        {"trees": 3, "radius": 0.25, "depth": DEPTHS},
    ),
    PolicySpec("OnlineTreeBootstrap"),
    PolicySpec("Greedy"),
    PolicySpec("Uniform"),
)
# What cross-validating the regularization improves upon, says the paper; around the best alphas.
ORIGINAL_ALPHAS = {
    "LinUCB": _per_task(
        [0.0001, 0.001, 0.01],
        sports=[0.1, 1.0, 10.0],
        shuttle=[0.01, 0.1, 1.0],
        census=[0.001, 0.01],
    ),
    "LogisticUCB": _per_task([0.0001, 0.001], sports=[0.0001, 0.001, 0.01], census=[0.0001]),
}
ORIGINALS = tuple(
    PolicySpec(f"{policy}, λ=1", policy, {"alpha": alphas, "regularization": 1.0})
    for policy, alphas in ORIGINAL_ALPHAS.items()
)
# Figure 4 shows all alphas of LinUCB on Adult. On Census linear models take most of the time.
QUICK: dict[str, dict[str, Any]] = {
    "LinUCB": {"alpha": _per_task([0.01, 0.1, 1.0], adult=ALPHAS, census=[0.1])},
    "LogisticUCB": {"alpha": [0.0001, 0.001]},
    "BanditForest": {"trees": 3, "depth": [1, 2]},
    "BanditForest, radius/4": {"trees": 3, "radius": 0.25, "depth": [1, 2]},
}
QUICK_LEFT_OUT = {"census": "LogisticUCB"}

# What each figure of the paper shows.
FIGURES: dict[int, dict[str, list[str]]] = {
    2: {"tasks": ["sports"]},
    3: {"tasks": ["adult", "shuttle", "covertype", "census"]},
    4: {"tasks": ["adult"], "policies": ["TreeBootstrap", "TreeHeuristic", "LinUCB", BASELINE]},
}

FULL_HORIZON, FULL_SEEDS = 10_000, 10
QUICK_HORIZON, QUICK_SEEDS = 1_000, 3


def paper_study(
    *,
    full: bool = False,
    tasks: Sequence[str] | None = None,
    policies: Sequence[str] | None = None,
    horizon: int | None = None,
    seeds: int | None = None,
    first_seed: int = 0,
) -> Study:
    """Return the paper's experiments, or some of them; quick ones unless `full`.

    Examples
    --------
    >>> study = paper_study(tasks=["sports"], policies=["TreeHeuristic", "LinUCB"])
    >>> study.horizon, len(list(study.cells())), study.command
    (1000, 12, 'banditree reproduce')
    """
    known = (*POLICIES, *ORIGINALS) if full else tuple(map(_quick, POLICIES))
    specs = {spec.label: spec for spec in known}
    for policy in policies or ():
        if policy not in specs:
            raise unknown("policy", policy, list(specs))
    chosen = [specs[label] for label in policies or specs]
    names = tasks or default_tasks(long=full and horizon is None)
    environments = [_environment(name, chosen, full, horizon, seeds) for name in names]
    if not full and policies is None:
        environments = [_quickened(spec, list(specs)) for spec in environments]
    return Study(
        policies=chosen,
        environments=environments,
        horizon=horizon if horizon is not None else FULL_HORIZON if full else QUICK_HORIZON,
        seeds=seeds if seeds is not None else FULL_SEEDS if full else QUICK_SEEDS,
        first_seed=first_seed,
        name="The paper's experiments" + ("" if full else ", quick version"),
        command=_command(full, horizon, seeds, first_seed),
    )


def _environment(
    name: str, policies: Sequence[PolicySpec], full: bool, horizon: int | None, seeds: int | None
) -> EnvironmentSpec:
    """Return a task as it is run: what is asked for goes before what the task has of its own."""
    long = {spec.name: spec for spec in LONG} if full else {}
    if name not in (*TASKS, *long):
        raise unknown("task", name, [*TASKS, *long])
    spec = long.get(name) or EnvironmentSpec(name, seeds=SEEDS.get(name) if full else None)
    labels = tuple(policy.label for policy in policies if policy.label in spec.policies)
    if spec.policies and not labels:
        raise InvalidParameterError(
            f"on {name} only {', '.join(spec.policies)} are run; name one of them, or leave it out"
        )
    return replace(
        spec,
        policies=labels,
        horizon=spec.horizon if horizon is None else None,
        seeds=spec.seeds if seeds is None else None,
    )


def _command(full: bool, horizon: int | None, seeds: int | None, first_seed: int) -> str:
    """Return the command that runs the study on all tasks, for all policies."""
    given = {"--horizon": horizon, "--repeats": seeds, "--seed": first_seed or None}
    options = [f"{name} {value}" for name, value in given.items() if value is not None]
    return " ".join(["banditree reproduce", *(["--full"] if full else []), *options])


def default_tasks(*, long: bool = False) -> list[str]:
    """Return the paper's tasks and, lest little is left offline, the digits if data are missing."""
    missing = [task for task in PAPER_TASKS if task in DATASETS and locate(task) is None]
    tasks = [*PAPER_TASKS, *(spec.name for spec in LONG if long)]
    return [*tasks, "digits"] if missing else tasks


def _quickened(spec: EnvironmentSpec, labels: Sequence[str]) -> EnvironmentSpec:
    left_out = QUICK_LEFT_OUT.get(spec.name)
    kept = tuple(label for label in labels if label != left_out)
    return replace(spec, policies=kept) if left_out else spec


def _quick(spec: PolicySpec) -> PolicySpec:
    return replace(spec, parameters=QUICK.get(spec.label, spec.parameters))
