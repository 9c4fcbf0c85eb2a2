"""A log: what was known, what was offered, with which probability, and what came of it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from banditree._checking import as_real, check_whole, shorten
from banditree.environments import Environment
from banditree.errors import BanditreeWarning, InvalidParameterError, InvalidRewardError
from banditree.evaluation.context_rows import ContextRows
from banditree.evaluation.eligibility import Eligibility
from banditree.evaluation.health import Health, examine
from banditree.evaluation.propensity_model import estimate_propensities
from banditree.evaluation.reading import (
    Codes,
    as_frame,
    check_columns,
    codes_of_arms,
    numbers_of,
    values_of,
)
from banditree.evaluation.recording import recorded
from banditree.evaluation.written import read_written
from banditree.policies import Policy, Snapshot
from banditree.signs import for_terminal
from banditree.types import Arm, FeatureName, FloatArray

if TYPE_CHECKING:  # they load narwhals, which only those need who send tables
    from banditree.contexts.tables import Frame

__all__ = ["Log", "NoReward"]

NoReward: TypeAlias = float | Literal["refuse", "leave out"]


@dataclass(frozen=True, eq=False)
class Log:
    """Decisions of a policy with what came of them, to evaluate others with.

    `from_table` makes one of a table or a file, `record` of a policy in an environment, and `read`
    of what `LogWriter` has written. Printed, a log shows its health.

    Attributes
    ----------
    arms
        The options.
    contexts
        What was known.
    chosen
        The position in `arms` of the arm that was offered in each row.
    rewards, propensities
        Of each row. The propensity is the probability with which the arm was drawn.
    eligible
        Which arms could be drawn.
    health
        Whether the log can be trusted, as numbers.

    Examples
    --------
    >>> import polars
    >>> table = polars.DataFrame(
    ...     {"age": [31, 64, 40, 22], "item": ["tea", "nut", "tea", "nut"], "click": [1, 0, 0, 1]}
    ... ).with_columns(p=0.5)
    >>> log = Log.from_table(table, arm="item", reward="click", propensity="p", context=["age"])
    >>> log.arms, log.health.weight
    (('nut', 'tea'), 1.0)
    """

    arms: tuple[Arm, ...]
    contexts: ContextRows
    chosen: Codes
    rewards: FloatArray
    propensities: FloatArray
    eligible: Eligibility
    health: Health

    def __len__(self) -> int:
        return len(self.chosen)

    def __str__(self) -> str:
        return for_terminal(str(self.health))

    def __repr__(self) -> str:
        return f"<Log of {len(self):,} rows, {len(self.arms)} arms>"

    @property
    def reward_range(self) -> tuple[float, float]:
        """Between what rewards lie: 0 and 1, or the smallest and the largest if some lie beyond."""
        low, high = float(self.rewards.min()), float(self.rewards.max())
        return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)

    def rows(self, rows: NDArray[np.intp]) -> "Log":
        """Return the log of some rows, with the health of the whole."""
        return replace(
            self,
            contexts=self.contexts.rows(rows),
            chosen=self.chosen[rows],
            rewards=self.rewards[rows],
            propensities=self.propensities[rows],
            eligible=self.eligible.rows(rows),
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        arm: FeatureName = "arm",
        reward: FeatureName = "reward",
        propensity: FeatureName | None = "propensity",
        context: Sequence[FeatureName] | None = None,
        *,
        eligible: FeatureName | None = None,
        time: FeatureName | None = None,
        arms: Sequence[Arm] | None = None,
        no_reward: NoReward = "refuse",
    ) -> Self:
        """Return the log in a table: nothing of it is copied that can be used as it is.

        Parameters
        ----------
        table
            A pandas, polars or Arrow table, or the path of a Parquet or CSV file.
        arm, reward
            The columns of what was offered, and of what it paid.
        propensity
            The column of the probability with which the arm was drawn. None if that was not
            written down: it is estimated, which every result then warns of.
        context
            The columns that were known when the decision was made. None: all others.
        eligible
            The column of the arms that could be drawn: lists, or text such as "golf|tennis". None:
            all of them, always.
        time
            The column by which rows are to be sorted. None: they are in order.
        arms
            All arms that could be drawn. None: those that were.
        no_reward
            What becomes of rows without a reward: "refuse" them, "leave out", or the reward that
            they have, such as 0 where a click would have been noted.

        Raises
        ------
        InvalidParameterError, InvalidRewardError, UnknownArmError
            If the table is not such a log; the error names the first row that is wrong.
        """
        frame = as_frame(table)
        wanted = {"arm": [arm], "reward": [reward]}
        optional = {"propensity": propensity, "eligible": eligible, "time": time}
        wanted |= {role: [name] for role, name in optional.items() if name is not None}
        used = {name for names in wanted.values() for name in names}
        if context is None:
            context = [name for name in frame.names if name not in used]
        elif isinstance(context, str):
            raise InvalidParameterError(
                f"context must be a list of columns, got {context!r}; put a single name in a list"
            )
        check_columns(frame, {**wanted, "context": list(context)})
        order = None if time is None else _order(frame, time)
        names, chosen = codes_of_arms(frame, arm, arms)
        sets = Eligibility.all(len(names))
        if eligible is not None:
            sets = Eligibility.read(values_of(frame, eligible), names, chosen)
        given = None if propensity is None else numbers_of(frame, propensity, "propensity")
        rewards = numbers_of(frame, reward, "reward")
        rows = _context_rows(frame, context)
        if order is not None:
            rows, sets = rows.rows(order), sets.rows(order)
            chosen, rewards = chosen[order], rewards[order]
            given = None if given is None else given[order]
        return cls._checked(names, rows, chosen, rewards, given, sets, no_reward)

    @classmethod
    def record(
        cls,
        policy: Policy[Any] | Snapshot[Any],
        environment: Environment,
        steps: int,
        *,
        seed: int = 0,
    ) -> Self:
        """Return the log of a policy that decides and learns in an environment.

        Parameters
        ----------
        policy
            Learns as it goes; a snapshot never does.
        environment
            Where the contexts and rewards come from.
        steps
            How many decisions to make.
        seed
            Of the steps.

        Examples
        --------
        >>> import banditree as bt
        >>> from banditree.environments import SportsAds
        >>> sports = SportsAds()
        >>> policy = bt.TreeHeuristic(["golf", "basketball", "tennis", "soccer"], seed=0)
        >>> len(Log.record(policy, sports, steps=100))
        100
        """
        episode = environment.episode(check_whole("steps", steps, 1), seed)
        chosen, propensities = recorded(policy, episode)
        rewards = episode.rewards[np.arange(len(episode)), chosen]
        rows = ContextRows(episode.contexts)
        sets = Eligibility.all(len(episode.arms))
        return cls._checked(episode.arms, rows, chosen, rewards, propensities, sets, "refuse")

    @classmethod
    def read(cls, path: str | Path, *, no_reward: NoReward = "leave out") -> Self:
        """Return the log that a `LogWriter` has written, or is still writing.

        Parameters
        ----------
        path
            As it was given to the writer.
        no_reward
            As for `from_table`. Rewards may come late, so that the default leaves out decisions
            that have none yet.
        """
        written = read_written(Path(path))
        rows, chosen = ContextRows(written.contexts), written.chosen
        sets = Eligibility.read(written.eligible, written.arms, chosen)
        return cls._checked(
            written.arms, rows, chosen, written.rewards, written.propensities, sets, no_reward
        )

    @classmethod
    def _checked(
        cls,
        arms: tuple[Arm, ...],
        contexts: ContextRows,
        chosen: Codes,
        rewards: FloatArray,
        propensities: FloatArray | None,
        eligible: Eligibility,
        no_reward: NoReward,
    ) -> Self:
        """Return the log of columns, once all is checked."""
        _check_arms(arms, chosen)
        rewards, joined = _joined(rewards, no_reward)
        estimated = propensities is None
        if propensities is None:
            propensities = estimate_propensities(contexts, chosen, len(arms), eligible)
            warnings.warn(
                "the log has no propensities; they are estimated from the contexts, which is right "
                "only if nothing else decided what was offered",
                BanditreeWarning,
                stacklevel=3,
            )
        propensities = _check_propensities(propensities)
        health = examine(arms, chosen, propensities, eligible, joined, estimated=estimated)
        log = cls(arms, contexts, chosen, rewards, propensities, eligible, health)
        if joined is None or no_reward != "leave out":
            return log
        return log.rows(np.flatnonzero(joined))  # type: ignore[return-value]


def _context_rows(frame: "Frame", context: Sequence[FeatureName]) -> ContextRows:
    if not context:
        return ContextRows(np.empty((frame.length, 0)))
    places = [frame.names.index(name) for name in context]
    return ContextRows(frame.frame[:, places].to_native())


def _order(frame: "Frame", time: FeatureName) -> NDArray[np.intp] | None:
    """Return the rows in the order of their times; None if they are in order."""
    series = frame.frame[:, frame.names.index(time)]
    if series.null_count():
        row = int(np.argmax(series.is_null().to_numpy()))
        raise InvalidParameterError(
            f"the column {time!r} of time is empty in row {row}; every row needs its time: fill it "
            "in, or leave out time= if the rows are in order"
        )
    if series.is_sorted():
        return None
    return np.argsort(series.to_numpy(), kind="stable")


def _check_arms(arms: tuple[Arm, ...], chosen: Codes) -> None:
    if not len(chosen):
        raise InvalidParameterError("the log has no rows; a policy is evaluated with at least some")
    if (chosen == chosen[0]).all():
        raise InvalidParameterError(
            f"the log offers {arms[chosen[0]]!r} in all of its {len(chosen):,} rows, and says "
            "nothing of any other arm; log decisions that are drawn, for instance with floor=0.05"
        )


def _joined(rewards: FloatArray, no_reward: Any) -> tuple[FloatArray, NDArray[np.bool_] | None]:
    """Return rewards, and which rows have one (None: all)."""
    wrong = np.flatnonzero(np.isinf(rewards))
    if len(wrong):
        raise InvalidRewardError(
            f"a reward must be a finite number, got {rewards[wrong[0]]} in row {wrong[0]}; correct "
            "the row or leave it out"
        )
    missing = np.isnan(rewards)
    if not missing.any():
        return rewards, None
    if no_reward == "leave out":
        if missing.all():
            raise InvalidRewardError("no row has a reward, so that nothing can be evaluated")
        return rewards, ~missing
    value = None if isinstance(no_reward, str) else as_real(no_reward)
    if value is not None and np.isfinite(value):
        return np.where(missing, value, rewards), ~missing
    if no_reward != "refuse":
        raise InvalidParameterError(
            'no_reward must be "refuse", "leave out" or a finite number, got '
            f"{shorten(no_reward)}; 0 is right where a click would have been noted"
        )
    raise InvalidRewardError(
        f"{missing.sum():,} of {len(rewards):,} rows have no reward, first row "
        f"{int(np.argmax(missing))}; pass no_reward=0 if nothing was earned there, or "
        'no_reward="leave out" if it is not known yet'
    )


def _check_propensities(propensities: FloatArray) -> FloatArray:
    # Sums of probabilities may lie above 1 by rounding.
    fine = (propensities > 0) & (propensities <= 1 + 1e-6)
    if fine.all():
        return propensities
    wrong = np.flatnonzero(~fine)
    value = propensities[wrong[0]]
    remedy = "the probability with which that arm was drawn, as the policy knew it at that moment"
    if np.isnan(value):
        remedy = "leave out rows where it was not written down, or pass propensity=None to estimate"
    shown = "none" if np.isnan(value) else f"{value:g}"
    raise InvalidParameterError(
        f"a propensity must be above 0 and at most 1, got {shown} in row {wrong[0]} "
        f"({len(wrong):,} such rows); {remedy}"
    )
