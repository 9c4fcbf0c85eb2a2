"""What all policies share: arms, contexts, rewards, randomness, threads and state."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from banditree import _core
from banditree.contexts import Features
from banditree.contexts.schema import check_kind as check_feature_kind
from banditree.policies.arms import Indices
from banditree.policies.beliefs import Arrays, Reading
from banditree.policies.choosing import draw_by
from banditree.policies.explanation import Explanation
from banditree.policies.foundation import Foundation
from banditree.policies.parameters import as_seed, parameters_of
from banditree.policies.processes import fresh_generator
from banditree.policies.rewards import check_many, check_one
from banditree.policies.saving import files
from banditree.signs import for_terminal
from banditree.types import (
    A,
    Context,
    Contexts,
    Decision,
    DeclaredKind,
    FeatureName,
    FloatArray,
    Seed,
)

if TYPE_CHECKING:
    from banditree.policies.snapshot import Snapshot

__all__ = ["Arrays", "Policy"]

# Of draws that only estimate something: apart from those of decisions.
_ESTIMATES = 2**63


class Policy(Foundation[A]):
    """Decides which arm to offer in a context, and learns from the reward.

    A policy of your own derives from this class. Its constructor checks its parameters, keeps each
    in an attribute of the same name, and calls this constructor last; then it fills in the abstract
    methods of `Beliefs`. Parameters cannot be set again. Arms reach these methods as indices,
    contexts as float64 rows (one number per feature, ids for categories, NaN for missing values)
    that grow longer as features appear. `banditree.checks.check_policy` tests the result.

    Parameters
    ----------
    arms
        The options: distinct strings or whole numbers, in a list or another ordered collection.
    reward
        "binary" for rewards of 0 and 1, "continuous" for any finite number. "binary" also takes
        what lies between, as a success of that probability: where such rewards vary little,
        "continuous" learns much faster.
    categorical
        Names of features whose numbers are categories.
    features
        All features that contexts may have: names with kinds, {"age": "number", "city":
        "category"}, or a list of names whose kinds are found out. The kinds are "number", "string",
        "boolean" and "category" (values of any type). A name not declared and a value that does not
        fit are refused; contexts without names are read in the order declared. None: features may
        come and go, and a `BanditreeWarning` names, once, each that `decide` was never taught.
    floor
        Every eligible arm is drawn with a probability of at least ``floor / K``, K being the number
        of eligible arms: so often as ``floor`` says, the arm is drawn uniformly. Logs of such
        decisions can be used to evaluate any other policy.
    seed
        Of all random draws; None for one that nobody can know. A numpy Generator is asked for one.
        Without a seed, a policy draws other numbers in a forked process, and in each process that
        loads or unpickles it.
    """

    # What users call.

    @property
    def arms(self) -> tuple[A, ...]:
        """The arms that may be drawn now."""
        return self._arms.active

    @property
    def features(self) -> Features:
        """What is known of each feature: its kind, and how many categories it has."""
        with self._lock:
            return self._encoder.described

    @property
    def counts(self) -> dict[A, int]:
        """How many observations each arm has learned from, removed arms among them."""
        with self._lock:
            return dict(zip(self._arms.names, self._counts, strict=True))

    def decide(self, context: Context, arms: Sequence[A] | None = None) -> A:
        """Return the arm to offer. Changes nothing but the random stream.

        Parameters
        ----------
        context
            What is known now: a mapping, a sequence or a 1-D array.
        arms
            The arms that are eligible this time; None for all.
        """
        with self._lock:
            if self._awaits:
                self._look_for_categories()
            row = self._encoder.encode_one(context)
            if not self._checks_rows:
                self._encoder.check_finite(row)
            eligible = self._arms.all if arms is None else self._arms.indices(arms)
            pick = self._choose_above_floor if self.floor else self._choose
            try:
                return self._arms.names[pick(row, eligible)]
            except ValueError:
                self._encoder.check_finite(row)
                raise

    def decision(self, context: Context, arms: Sequence[A] | None = None) -> Decision[A]:
        """Return the arm to offer with the probability that it was drawn with.

        The probabilities are those of `propensities`, and the arm is drawn from them: what to log
        for evaluation. `decide` draws by the same probabilities, and faster where these are
        estimated or integrated.

        Examples
        --------
        >>> from banditree import Uniform
        >>> decision = Uniform(["golf", "tennis"], seed=1).decision({"age": 31})
        >>> decision.arm, decision.propensity
        ('tennis', 0.5)
        """
        with self._lock:
            if self._awaits:
                self._look_for_categories()
            row, eligible = self._read(context, arms)
            chances = self._chances(row, eligible)
            arm = self._arms.names[self._draw_by(chances, eligible)]
            propensities = self._as_propensities(eligible, chances)
            return Decision(arm, propensities[arm], propensities)

    def decide_many(self, contexts: Contexts, arms: Sequence[A] | None = None) -> list[A]:
        """Return the arm to offer in each context: the same as `decide` for each, but faster."""
        with self._lock:
            if self._awaits:
                self._look_for_categories()
            rows = self._encoder.encode_many(contexts)
            eligible = self._arms.all if arms is None else self._arms.indices(arms)
            if self.floor:
                each = (self._choose_above_floor(row, eligible) for row in rows)
                return self._arms.named(np.fromiter(each, np.int64, len(rows)))
            return self._arms.named(np.array(self._choose_many(rows, eligible), np.int64))

    def learn(self, context: Context, arm: A, reward: float) -> None:
        """Take in what came of offering an arm. A call that raises has changed nothing.

        Rewards may come late, in any order, for arms that have been removed since, and from the
        decisions of another system.
        """
        with self._lock:
            index = self._arms.index(arm)
            value = check_one(self.reward, reward)
            row, pending = self._encoder.stage_one(context)
            if self._awaits:
                self._look_for_categories(1, pending)
            if pending is not None:
                self._commit(pending)
            self._learn_one(index, row, value)
            if self._journal is not None:
                self._journal.learned([index], row, [value])

    def learn_many(self, contexts: Contexts, arms: Sequence[A], rewards: Any) -> None:
        """Take in many observations: the same as `learn` for each, but faster."""
        with self._lock:
            rows, pending = self._encoder.stage_many(contexts)
            indices = self._arms.each(arms, len(rows))
            values = check_many(self.reward, rewards, len(rows))
            if self._awaits:
                self._look_for_categories(len(rows), pending)
            self._commit(pending)
            self._take_in(indices, rows, values)
            if self._journal is not None:
                self._journal.learned(indices.tolist(), rows, values.tolist())

    def propensities(self, context: Context, arms: Sequence[A] | None = None) -> dict[A, float]:
        """Return the probability with which `decide` draws each arm; 0 for arms not eligible."""
        return self._propensities_by(self._chances, context, arms)

    def expected_rewards(self, context: Context, arms: Sequence[A] | None = None) -> dict[A, float]:
        """Return the mean reward that the policy expects of each eligible arm."""
        with self._lock:
            row, eligible = self._read(context, arms)
            return self._by_name(eligible, self._expected(row, eligible))

    def propensities_many(self, contexts: Contexts, arms: Sequence[A] | None = None) -> FloatArray:
        """Return `propensities` of each context: a row for each, a column for each arm.

        The columns are those of `policy.arms`, in that order, whatever arms are eligible.
        """
        return self._table(contexts, arms, self._chances, 0.0)

    def expected_rewards_many(
        self, contexts: Contexts, arms: Sequence[A] | None = None
    ) -> FloatArray:
        """Return `expected_rewards` of each context, in the columns of `propensities_many`.

        NaN for arms that are not eligible.
        """
        return self._table(contexts, arms, self._expected, np.nan)

    def explain(self, context: Context, arms: Sequence[A] | None = None) -> Explanation:
        """Return, for each eligible arm, the rule that applies, n, mean and interval."""
        with self._lock:
            row, eligible = self._read(context, arms)
            return Explanation(
                {self._arms.names[i]: self._explain(row, i) for i in eligible.tolist()}
            )

    def add_arm(self, arm: A) -> None:
        """Let an arm take part from now on; one that was removed returns with what it learned."""
        with self._lock:
            if self._arms.add(arm) is not None:
                self._add_arm()
                self._counts.append(0)
                if self._watch is not None:
                    self._watch.add_arm()
            self._arms_changed()
            self._note("add_arm", arm)

    def remove_arm(self, arm: A) -> None:
        """Keep an arm out of decisions; rewards of earlier decisions for it are still accepted."""
        with self._lock:
            self._arms.remove(arm)
            self._arms_changed()
            self._note("remove_arm", arm)

    def set_feature(self, name: FeatureName, kind: DeclaredKind) -> None:
        """Put right what a feature is. All observations are kept.

        What does not fit the new kind becomes missing; strings that read as numbers become those
        numbers, and numbers that become a category a category each. Takes as long as learning all
        observations again. A call that raises has changed nothing.

        Raises
        ------
        InvalidParameterError
            If there is no such feature or kind, or if the policy does not keep the contexts that
            it learned from (`LinUCB`, `LogisticUCB`, `BanditForest`); such a policy takes a
            correction only before it has learned anything.

        Examples
        --------
        >>> from banditree import TreeHeuristic
        >>> policy = TreeHeuristic(["golf", "tennis"], seed=1)
        >>> policy.learn({"age": "31"}, "golf", 1)
        >>> policy.set_feature("age", "number")
        >>> policy.learn({"age": 32}, "golf", 1)
        >>> policy.features
        feature  kind    categories
        age      number           -
        """
        with self._lock:
            encoder, recode = self._encoder.recoded(name, check_feature_kind(name, kind))
            former, arrays = self._encoder, self._state()
            self._journal = None
            try:
                self._set_encoder(encoder)
                self._begin_again(lambda: self._relearn(arrays, recode), any(self._counts))
            except BaseException:
                self._set_encoder(former)
                self._begin_again(lambda: self._restore(arrays), True)
                raise

    def reseed(self, seed: Seed) -> None:
        """Draw from another random stream from now on; what was learned stays as it is.

        Parameters
        ----------
        seed
            As for the constructor; None for an unpredictable one.
        """
        with self._lock:
            self._set_parameter("seed", as_seed(seed))
            self._journal = None
            self._random = fresh_generator() if self.seed is None else _core.Generator(self.seed)

    def save(self, path: str | os.PathLike[str], *, append: bool = False) -> None:
        """Write the policy to a file, all or nothing; `banditree.load` reads it.

        Decisions wait while the policy is copied, not while it is written.

        Parameters
        ----------
        path
            The file.
        append
            Add to the file what came since the last such call, which takes as long as there is of
            it. The first call writes the whole file, as do some later ones: each time the file has
            grown by a tenth, after `reseed` and `set_feature`, and if it was changed by others.
        """
        with self._saving:
            if append:
                self._append_to(path)
            else:
                files.write(path, files.seal(self._frame()))

    def snapshot(self) -> "Snapshot[A]":
        """Return what decisions need of the policy as it is now: immutable, for any thread.

        Examples
        --------
        >>> from banditree import TreeHeuristic
        >>> policy = TreeHeuristic(["golf", "tennis"], seed=1)
        >>> policy.learn({"age": 31}, "golf", 1)
        >>> snapshot = policy.snapshot()
        >>> snapshot.propensities({"age": 40}) == policy.propensities({"age": 40})
        True
        """
        # A snapshot holds a policy, so that its module comes after this one.
        from banditree.policies.snapshot import Snapshot

        return Snapshot.of(self)

    def __repr__(self) -> str:
        shown = []
        for name, default in parameters_of(type(self)).items():
            value: Any = self._encoder.declared if name == "features" else getattr(self, name)
            if name == "arms":
                value = list(value)
            if name == "arms" or value != default:
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __str__(self) -> str:
        return for_terminal(repr(self))

    # Shared steps.

    def _read(self, context: Context, arms: Sequence[A] | None) -> tuple[FloatArray, Indices]:
        row = self._encoder.encode_one(context)
        self._encoder.check_finite(row)
        return row, self._arms.all if arms is None else self._arms.indices(arms)

    def _table(
        self,
        contexts: Contexts,
        arms: Sequence[A] | None,
        read: Reading,
        otherwise: float,
    ) -> FloatArray:
        """Return what is read of the eligible arms: a row per context, a column per active arm."""
        with self._lock:
            rows = self._encoder.encode_many(contexts)
            eligible = self._arms.all if arms is None else self._arms.indices(arms)
            table = np.full((len(rows), len(self._arms.all)), otherwise)
            columns = np.searchsorted(self._arms.all, eligible)
            for i, row in enumerate(rows):
                table[i, columns] = read(row, eligible)
            return table

    def _propensities_by(
        self, chances: Reading, context: Context, arms: Sequence[A] | None
    ) -> dict[A, float]:
        with self._lock:
            row, eligible = self._read(context, arms)
            return self._as_propensities(eligible, chances(row, eligible))

    def _as_propensities(self, eligible: Indices, values: FloatArray) -> dict[A, float]:
        return dict.fromkeys(self.arms, 0.0) | self._by_name(eligible, values)

    def _choose_above_floor(self, row: FloatArray, eligible: Indices) -> int:
        if self._random.uniform(1)[0] < self.floor:
            return self._draw_uniformly(eligible)
        return self._choose(row, eligible)

    def _chances(self, row: FloatArray, eligible: Indices) -> FloatArray:
        return self._above_floor(self._propensities(row, eligible))

    def _above_floor(self, chances: FloatArray) -> FloatArray:
        return (1 - self.floor) * chances + self.floor / len(chances) if self.floor else chances

    def _by_name(self, arms: Indices, values: FloatArray) -> dict[A, float]:
        pairs = zip(arms.tolist(), values.tolist(), strict=True)
        return {self._arms.names[i]: value for i, value in pairs}

    def _estimating(self) -> _core.Generator:
        """Return the random stream for estimates: always the same, so that equal beliefs agree."""
        return _core.Generator(self._entropy).child(_ESTIMATES)

    def _draw_uniformly(self, eligible: Indices) -> int:
        return int(eligible[self._random.integers(len(eligible), 1)[0]])

    def _draw_by(self, chances: FloatArray, eligible: Indices) -> int:
        return draw_by(chances, eligible, self._random)

    def _draw_largest(self, values: FloatArray, eligible: Indices) -> int:
        """Return the eligible arm of the largest value, ties at random."""
        best = eligible[np.flatnonzero(values == values.max())]
        return int(best[0]) if len(best) == 1 else self._draw_uniformly(best)
