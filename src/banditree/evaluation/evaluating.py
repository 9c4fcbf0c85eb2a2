"""From evidence to estimates with intervals and verdicts, and from two of them to differences."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from banditree._checking import as_float, check_choice, check_seed, shorten
from banditree.errors import InvalidParameterError
from banditree.evaluation.estimators import ESTIMATORS, Estimated
from banditree.evaluation.evidence import Advance, Evidence, gather, of_the_log
from banditree.evaluation.intervals import (
    Interval,
    blocks_of,
    resampled_bounds,
    sequence_bounds,
    summed,
)
from banditree.evaluation.learning import Learning
from banditree.evaluation.log import Log
from banditree.evaluation.results import LOGGED, Comparison, Difference, Estimate, Evaluation
from banditree.evaluation.reward_model import RewardModel
from banditree.evaluation.targets import Target, bind
from banditree.evaluation.verdicts import effective, judge
from banditree.types import FloatArray

__all__ = ["Making", "Settings", "compare", "compared", "evaluate"]


@dataclass(frozen=True)
class Settings:
    """How intervals are made."""

    interval: Interval = "bootstrap"
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("interval", self.interval, Interval)
        level = as_float(self.level)
        if not 0 < level < 1:
            raise InvalidParameterError(
                f"level must lie between 0 and 1, got {shorten(self.level)}; 0.95 is usual"
            )
        check_seed(self.seed)


def evaluate(
    target: Target,
    log: Log,
    *,
    interval: Interval = "bootstrap",
    level: float = 0.95,
    seed: int = 0,
) -> Evaluation:
    """Return what somebody would have earned per decision, had they decided in the log's contexts.

    A policy is evaluated as it is, and learns nothing; it must not have learned from this very log,
    or it is judged by what it knows by heart. `replay` evaluates a policy that learns as it goes.

    Parameters
    ----------
    target
        Whom: a policy, a snapshot, `always(arm)`, `learning(policy)`, a function from a context to
        an arm or to probabilities, or an array of probabilities with a row for each of the log and
        a column for each of its arms.
    log
        Decisions with what came of them.
    interval
        "bootstrap"; "bernstein", wider, which holds for a log of any size if no propensity can be
        smaller than the log's smallest; or "always", wider still, which also holds if one looks
        after every row and stops when one pleases.
    level
        With which probability intervals hold.
    seed
        Of the bootstrap and of the folds.

    Examples
    --------
    >>> import banditree as bt
    >>> from banditree.environments import SportsAds
    >>> ads = ["golf", "basketball", "tennis", "soccer"]
    >>> log = Log.record(bt.Uniform(ads, seed=1), SportsAds(), 5_000)
    >>> policy = bt.TreeHeuristic(ads, seed=1)
    >>> learned = Log.record(policy, SportsAds(), 2_000, seed=1)
    >>> found = evaluate(policy.snapshot(), log).estimates["dr"]
    >>> found.low < 0.33 < found.high, found.verdict
    (True, 'trust')
    """
    return compare({"it": target}, log, interval=interval, level=level, seed=seed).evaluations["it"]


def compare(
    targets: Mapping[str, Target],
    log: Log,
    *,
    interval: Interval = "bootstrap",
    level: float = 0.95,
    seed: int = 0,
    advance: Advance | None = None,
) -> Comparison:
    """Return what several would have earned, and their differences on the same rows.

    Parameters
    ----------
    targets
        Whom, by name, each as for `evaluate`. "logged", who made the log, is there by itself.
    log, interval, level, seed
        As for `evaluate`.
    advance
        Called with how many rows were read, as they are.
    """
    settings = Settings(interval, level, seed)
    _check_names(targets)
    if interval != "bootstrap" and any(isinstance(t, Learning) for t in targets.values()):
        raise InvalidParameterError(
            f'interval must be "bootstrap" for a policy that learns, got {interval!r}: the others '
            "need a value that stays the same; evaluate a snapshot of what it has learned"
        )
    bounds = [bind(target, log, seed) for target in targets.values()]
    found = gather(bounds, log, RewardModel(log, seed), advance)
    return compared(dict(zip(targets, found, strict=True)), log, settings)


def compared(evidence: Mapping[str, Evidence], log: Log, settings: Settings) -> Comparison:
    """Return the comparison of those whose evidence is given."""
    making = Making(log.reward_range, len(log), settings)
    evaluations, kept = {}, {}
    for name, given in {**evidence, LOGGED: of_the_log(log)}.items():
        estimates, kept[name] = {}, dict[str, Prepared]()
        # One after the other, so that no more than one has its rows in memory.
        for estimator, estimate_of in ESTIMATORS.items():
            found = estimate_of(given)
            kept[name][estimator] = prepared = making.prepared(found)
            interval = making.interval(prepared)
            estimates[estimator] = _estimate(estimator, given, found, interval, log)
        evaluations[name] = Evaluation(
            name, estimates, given.overlap, log.health, settings.interval, settings.level
        )
    differences = {
        (first, second): {
            estimator: making.difference(one, kept[second][estimator])
            for estimator, one in kept[first].items()
        }
        for first, second in permutations(kept, 2)
    }
    return Comparison(evaluations, differences)


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the interval of an estimate and those of its differences need.

    Attributes
    ----------
    value, centre, slack, bounds
        As of `Estimated`.
    moved
        By how much each block of rows moves the estimate, or the terms of all rows.
    """

    value: float
    centre: float
    slack: float
    bounds: tuple[float, float]
    moved: FloatArray


class Making:
    """Makes intervals, all on the same rows.

    Parameters
    ----------
    values
        Between what rewards lie.
    n
        Rows.
    settings
        How intervals are made.
    """

    def __init__(self, values: tuple[float, float], n: int, settings: Settings) -> None:
        self._values, self._n, self._settings = values, n, settings
        self._blocks = blocks_of(n, settings.seed)

    def prepared(self, found: Estimated) -> Prepared:
        """Return what is needed of an estimate, which is little for the bootstrap."""
        resampling = self._settings.interval == "bootstrap"
        moved = summed(found.influence(), self._blocks) if resampling else found.terms()
        return Prepared(found.value, found.centre, found.slack, found.bounds, moved)

    def interval(self, of: Prepared) -> tuple[float, float]:
        """Return the interval of an estimate."""
        low, high = self._around(of.moved, of.centre, of.bounds, self._values)
        return _reaching(low - of.slack, high + of.slack, of.value)

    def difference(self, first: Prepared, second: Prepared) -> Difference:
        """Return by how much the first exceeds the second."""
        value, most = first.value - second.value, self._values[1] - self._values[0]
        bounds = first.bounds[0] - second.bounds[1], first.bounds[1] - second.bounds[0]
        moved, centre = first.moved - second.moved, first.centre - second.centre
        low, high = self._around(moved, centre, bounds, (-most, most))
        slack = first.slack + second.slack
        return Difference(value, *_reaching(low - slack, high + slack, value))

    def _around(
        self,
        moved: FloatArray,
        centre: float,
        bounds: tuple[float, float],
        values: tuple[float, float],
    ) -> tuple[float, float]:
        given = self._settings
        if given.interval != "bootstrap":
            always = given.interval == "always"
            return sequence_bounds(moved, bounds, values, given.level, always=always)
        if centre != centre:  # no row of any weight
            return centre, centre
        down, up = resampled_bounds(moved, self._n, given.level, given.seed)
        return max(centre + down, values[0]), min(centre + up, values[1])


def _reaching(low: float, high: float, value: float) -> tuple[float, float]:
    """Return an interval that has the estimate in it."""
    return min(low, value), max(high, value)


def _estimate(
    name: str, given: Evidence, found: Estimated, interval: tuple[float, float], log: Log
) -> Estimate:
    low, high = interval
    return Estimate(
        found.value,
        low,
        high,
        effective(found.weights, len(given)),
        0.0 if found.weights is None else float(found.weights.max()),
        *judge(name, given, found, log.health, high - low),
    )


def _check_names(targets: Any) -> None:
    if not isinstance(targets, Mapping) or not targets:
        raise InvalidParameterError(
            f"targets must map names to whom to evaluate, got {shorten(targets)}; such as "
            '{"new": policy, "golf": always("golf")}'
        )
    if LOGGED in targets:
        raise InvalidParameterError(
            f"the name {LOGGED!r} is that of who made the log, which is there by itself; choose "
            "another"
        )
