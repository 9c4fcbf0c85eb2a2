"""Environments from their descriptions."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from banditree.environments import Classification, Delayed, Drifting, Environment, SportsAds
from banditree.environments.datasets import DATASETS
from banditree.environments.download import fetch
from banditree.environments.tables import read_table
from banditree.errors import InvalidParameterError
from banditree.studies.specs import EnvironmentSpec, unknown

__all__ = ["TASKS", "build"]

TASKS = ["sports", "digits", *DATASETS]


@lru_cache(maxsize=8)
def build(spec: EnvironmentSpec) -> Environment:
    """Return the environment that a spec describes; the same object for the same spec.

    Examples
    --------
    >>> build(EnvironmentSpec("sports")).name
    'sports'
    """
    environment = _base(spec)
    if spec.drift_at is not None:
        environment = Drifting(environment, spec.drift_at)
    if spec.delay is not None:
        environment = Delayed(environment, spec.delay, random=spec.random_delay)
    environment.name = spec.name
    return environment


def _base(spec: EnvironmentSpec) -> Environment:
    if spec.file:
        if not spec.label:
            raise InvalidParameterError(
                f"environment {spec.name!r}: label must name the column of {spec.file!r} that "
                "holds the class"
            )
        return Classification.from_file(
            Path(spec.file),
            spec.label,
            unused=spec.unused,
            dropped=spec.dropped,
            categorical=spec.categorical,
        )
    task = spec.task or spec.name
    if task == "sports":
        return SportsAds()
    if task == "digits":
        return Classification(_digits(), "digit")
    if task not in TASKS:
        raise unknown("environment", task, TASKS)
    source = DATASETS[task]
    table = read_table(fetch(task))
    return Classification(table, source.label, unused=source.unused, dropped=source.dropped)


def _digits() -> Any:
    """Return the handwritten digits that come with scikit-learn."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise InvalidParameterError(
            "the digits come with scikit-learn: pip install 'banditree[study]'"
        ) from None
    loaded = load_digits(as_frame=True)
    return loaded.data.assign(digit=loaded.target)
