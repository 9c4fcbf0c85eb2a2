"""The experiments of the paper as studies."""

from collections.abc import Sequence

from banditree.environments.datasets import DATASETS, locate
from banditree.studies.specs import (
    BASELINE,
    TASKS,
    EnvironmentSpec,
    PolicySpec,
    Study,
    unknown,
)

__all__ = ["FIGURES", "paper_study"]

ALPHAS = [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]
# The depth of BanditForest that the paper found to be the best on each task; the digits are ours.
DEPTHS = {"sports": 4, "adult": 2, "shuttle": 4, "covertype": 5, "census": 2, "digits": 2}
PAPER_TASKS = ("sports", "adult", "shuttle", "covertype", "census")

POLICIES = (
    PolicySpec("TreeBootstrap"),
    PolicySpec("TreeHeuristic"),
    PolicySpec("ThompsonSampling"),
    PolicySpec("BanditForest", parameters={"trees": 3, "depth": DEPTHS}),
    PolicySpec("LinUCB", parameters={"alpha": ALPHAS}),
    PolicySpec("LogisticUCB", parameters={"alpha": ALPHAS}),
    PolicySpec(BASELINE),
    # Beyond the paper's figures.
    PolicySpec("OnlineTreeBootstrap"),
    PolicySpec("Greedy"),
    PolicySpec("Uniform"),
)
# What cross-validating the regularization improves upon, says the paper.
ORIGINALS = tuple(
    PolicySpec(f"{policy}, λ=1", policy, {"alpha": ALPHAS, "regularization": 1.0})
    for policy in ("LinUCB", "LogisticUCB")
)
# Figure 4 shows all alphas of LinUCB on Adult. LogisticUCB explores nearly everywhere unless alpha
# is small, and takes most of the time.
QUICK_ALPHAS = {
    "LinUCB": {**{task: [0.01, 0.1, 1.0] for task in TASKS}, "adult": ALPHAS},
    "LogisticUCB": [0.0001, 0.001],
}

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
    for task in tasks or ():
        if task not in TASKS:
            raise unknown("task", task, TASKS)
    for policy in policies or ():
        if policy not in specs:
            raise unknown("policy", policy, list(specs))
    return Study(
        policies=[specs[label] for label in policies or specs],
        environments=[EnvironmentSpec(task) for task in tasks or default_tasks()],
        horizon=horizon if horizon is not None else FULL_HORIZON if full else QUICK_HORIZON,
        seeds=seeds if seeds is not None else FULL_SEEDS if full else QUICK_SEEDS,
        first_seed=first_seed,
        name="The paper's experiments" + ("" if full else ", quick version"),
        command=_command(full, horizon, seeds, first_seed),
    )


def _command(full: bool, horizon: int | None, seeds: int | None, first_seed: int) -> str:
    """Return the command that runs the study on all tasks, for all policies."""
    given = {"--horizon": horizon, "--repeats": seeds, "--seed": first_seed or None}
    options = [f"{name} {value}" for name, value in given.items() if value is not None]
    return " ".join(["banditree reproduce", *(["--full"] if full else []), *options])


def default_tasks() -> list[str]:
    """Return the paper's tasks and, lest little is left offline, the digits if data are missing."""
    missing = [task for task in PAPER_TASKS if task in DATASETS and locate(task) is None]
    return [*PAPER_TASKS, "digits"] if missing else list(PAPER_TASKS)


def _quick(spec: PolicySpec) -> PolicySpec:
    alphas = QUICK_ALPHAS.get(spec.label)
    return PolicySpec(spec.label, parameters={"alpha": alphas}) if alphas else spec
