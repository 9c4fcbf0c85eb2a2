"""Environments from their descriptions."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from banditree._checking import shorten
from banditree.environments import Classification, Delayed, Drifting, SportsAds
from banditree.environments.datasets import DATASETS, verify
from banditree.environments.download import fetch
from banditree.environments.environment import Description, Environment
from banditree.environments.episode import Episode
from banditree.environments.tables import read_table
from banditree.errors import BanditreeError, InvalidParameterError
from banditree.studies import own
from banditree.studies.sources import state_of
from banditree.studies.specs import BASELINE, EnvironmentSpec, as_json

__all__ = ["build", "check_data", "description_of", "episode_of", "fingerprint_of", "why_not"]


def build(spec: EnvironmentSpec) -> Environment:
    """Return the environment that a spec describes; the same object while nothing has changed.

    Examples
    --------
    >>> build(EnvironmentSpec("sports")).name
    'sports'
    """
    return _built(spec, state_of(Path(spec.file)) if spec.file else None)


@lru_cache(maxsize=8)
def _built(spec: EnvironmentSpec, state: object) -> Environment:
    environment = _base(spec)
    if spec.drift_at is not None:
        environment = Drifting(environment, spec.drift_at)
    if spec.delay is not None:
        environment = Delayed(environment, spec.delay, random=spec.random_delay)
    environment.name = spec.name
    return environment


def _base(spec: EnvironmentSpec) -> Environment:
    if spec.file:
        return Classification.from_file(
            Path(spec.file),
            spec.label,
            unused=spec.unused,
            dropped=spec.dropped,
            categorical=spec.categorical,
            dates=spec.dates,
        )
    task = spec.task or spec.name
    if own.is_path(task):
        return _own(spec)
    if task == "sports":
        return SportsAds()
    if task == "digits":
        return Classification(_digits(), "digit")
    source = DATASETS[task]
    table = read_table(fetch(task))
    return Classification(
        table,
        source.label,
        unused=source.unused,
        dropped=source.dropped,
        categorical=source.categorical,
    )


def _own(spec: EnvironmentSpec) -> Environment:
    """Return an environment of the user's."""
    try:
        made = own.find(spec.task)(**spec.parameters)
    except BanditreeError:
        raise
    except Exception as error:
        raise _blame(f"{spec.task} cannot be made:", error) from error
    if not isinstance(made, Environment):
        raise InvalidParameterError(
            f"{spec.task} must make an instance of banditree.environments.Environment, got {made!r}"
        )
    return made


def _blame(what: str, error: Exception, remedy: str = "") -> InvalidParameterError:
    """Return the error for what went wrong in code of the user's."""
    return InvalidParameterError(f"{what} {type(error).__name__}: {error}{remedy}")


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


def episode_of(spec: EnvironmentSpec, environment: Environment, horizon: int, seed: int) -> Episode:
    """Return the steps of a run; say what is wrong where an environment of the user's has none."""
    if not own.is_path(spec.task):
        return environment.episode(horizon, seed)
    call = f"episode(horizon={horizon}, seed={seed}) of the environment {spec.name!r}"
    try:
        episode = environment.episode(horizon, seed)
    except Exception as error:
        raise _blame(f"{call} raised", error, f"; correct {spec.task}") from error
    if not isinstance(episode, Episode):
        raise InvalidParameterError(
            f"{call} must return a banditree.environments.Episode, got {shorten(episode)}; "
            f"correct {spec.task}"
        )
    return episode


def fingerprint_of(spec: EnvironmentSpec, environment: Environment) -> str:
    """Return what distinguishes an environment from any other, as text."""
    try:
        return as_json(environment.fingerprint())
    except Exception as error:
        if not own.is_path(spec.task):
            raise
        call = f"fingerprint() of the environment {spec.name!r}"
        what = f"{call} must return what JSON can hold, and raised"
        raise _blame(what, error, f"; correct {spec.task}") from error


def description_of(spec: EnvironmentSpec, environment: Environment) -> Description | None:
    """Return what an environment is; None for one of the user's that fails, as its runs will."""
    try:
        return environment.describe()
    except Exception:
        if not own.is_path(spec.task):
            raise
        return None


def check_data(spec: EnvironmentSpec) -> None:
    """Raise a `DataError` if a data set cannot be had, or is not as it was published."""
    task = spec.task or spec.name
    if not spec.file and task in DATASETS:
        verify(task, fetch(task))


def why_not(policy: str, environment: Environment, horizon: int) -> str | None:
    """Say why a policy cannot be run in an environment; None if it can."""
    if policy != BASELINE:
        return None
    if not isinstance(environment, Classification):
        return "needs rows of which the right arm is known, and which neither drift nor wait"
    if environment.n_rows < horizon + 2:
        return (
            f"learns from rows that a run does not show, and of {environment.n_rows:,} rows "
            f"{horizon:,} steps leave none"
        )
    return None
