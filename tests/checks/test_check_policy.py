"""The checks can fail: a policy that breaks one law is caught by that law."""

import random
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from banditree import (
    Greedy,
    InvalidParameterError,
    Policy,
    Snapshot,
    ThompsonSampling,
    Uniform,
)
from banditree.checks import LAWS, LawBrokenError, check_policy
from banditree.policies import ArmExplanation
from banditree.policies.choosing import share_of_largest

# Each class is named for what is wrong with it; BROKEN says which law must notice.


class LearnsFromDecisions(Uniform):
    def _choose(self, row, eligible):
        self._tally.add(int(eligible[0]), 1.0)
        return super()._choose(row, eligible)


class DrawsToTellPropensities(Uniform):
    def _propensities(self, row, eligible):
        self._random.uniform(1)
        return super()._propensities(row, eligible)


class PropensitiesSumToMore(Uniform):
    def _propensities(self, row, eligible):
        return np.full(len(eligible), 1 / len(eligible) + 1e-8)


class HasItsOwnDice(Uniform):
    def _choose(self, row, eligible):
        return int(random.SystemRandom().choice(eligible.tolist()))


class ForgetsItsSeed(Uniform):
    def __init__(self, arms, *, seed=None):
        super().__init__(arms, seed=0)


class TakesTheFirstArm(Uniform):
    def _choose(self, row, eligible):
        return int(eligible[0])


class OddsOfAnotherArm(ThompsonSampling):
    def _propensities(self, row, eligible):
        return super()._propensities(row, eligible)[::-1]


class TakesTheLowestIndex(Uniform):
    def _choose(self, row, eligible):
        return int(eligible.min())

    def _propensities(self, row, eligible):
        return (eligible == eligible.min()).astype(np.float64)


class LeavesOutTheLastRow(Uniform):
    def _learn_many(self, arms, rows, rewards):
        super()._learn_many(arms[:-1], rows[:-1], rewards[:-1])


class DrawsBackwards(Uniform):
    def _choose_many(self, rows, eligible):
        return super()._choose_many(rows, eligible)[::-1]


class CountsBeforeItChecks(Uniform):
    def learn(self, context, arm, reward):
        if arm == "golf":
            self._tally.add(0, 1.0)
        super().learn(context, arm, reward)


class KeepsFeaturesOfRefusedContexts(Uniform):
    def learn(self, context, arm, reward):
        self._encoder.commit(self._encoder.stage_one(context)[1])
        super().learn(context, arm, reward)


class WritesIntoRows(Uniform):
    def _learn(self, arm, row, reward):
        row[:] = np.nan_to_num(row)
        super()._learn(arm, row, reward)


class TakesFeaturesOut(Uniform):
    def decide(self, context, arms=None):
        if isinstance(context, dict):
            context.pop("age", None)
        return super().decide(context, arms)


class KeepsRows(Uniform):
    def _start(self):
        super()._start()
        self.rows = []

    def _learn_many(self, arms, rows, rewards):
        super()._learn_many(arms, rows, rewards)
        self.rows.append(rows)

    def _state(self):
        return super()._state() | {f"rows_{i}": rows for i, rows in enumerate(self.rows)}


class DoesNotSaveItsStreak(Uniform):
    """After five rewards it takes the first arm."""

    streak = 0

    def _learn(self, arm, row, reward):
        super()._learn(arm, row, reward)
        self.streak += 1

    def _choose(self, row, eligible):
        chosen = super()._choose(row, eligible)
        return int(eligible[0]) if self.streak > 5 else chosen


class LoadsRounded(ThompsonSampling):
    def _restore(self, arrays):
        super()._restore(arrays)
        self._tally.total = np.floor(self._tally.total / 2)


class IsNotCopied(Uniform):
    def __deepcopy__(self, memo):
        return self


class LoadsAnything(Uniform):
    @classmethod
    def _unpack(cls, header, arrays, objects):
        try:
            return super()._unpack(header, arrays, objects)
        except KeyError:
            return cls(["golf"])


class WritesInPlace(Uniform):
    def save(self, path):
        with open(path, "wb") as file:
            file.write(self._pack())


class DecidesRemovedArms(Uniform):
    def _choose(self, row, eligible):
        return self._draw_uniformly(np.arange(len(self._arms)))


class NeverTriesNewArms(Uniform):
    def _choose(self, row, eligible):
        return self._draw_uniformly(eligible[eligible < 3])


class ForgetsRemovedArms(Uniform):
    def remove_arm(self, arm):
        super().remove_arm(arm)
        self._tally.n[self._arms.index(arm)] = 0


class AddsTwice(Uniform):
    def add_arm(self, arm):
        if arm not in self.arms:
            super().add_arm(arm)


class SaysNothingOfTheArm(Uniform):
    def remove_arm(self, arm):
        if arm not in self.arms:
            raise InvalidParameterError("no such arm")
        super().remove_arm(arm)


class NeedsAFeature(Uniform):
    def _choose(self, row, eligible):
        return int(eligible[int(row[0] > 40)])


class ReadsUnknownAsZero(Uniform):
    def expected_rewards(self, context, arms=None):
        rewards = super().expected_rewards(context, arms)
        unknown = isinstance(context, dict) and context.get("city") == "Atlantis"
        return dict.fromkeys(rewards, 0.0) if unknown else rewards


class LosesRewardsBetweenThreads(Uniform):
    def learn(self, context, arm, reward):
        index = self._arms.index(arm)
        n = self._tally.n[index]
        time.sleep(0.0001)
        super().learn(context, arm, reward)
        self._tally.n[index] = n + 1


class LosesWhatItDoesNotCount(LosesRewardsBetweenThreads):
    """The same, without numbers that tell."""

    def _explain(self, row, arm):
        return ArmExplanation("always", 0, 0.0, (0.0, 1.0))

    def _expected(self, row, eligible):
        return 1 / (1 + self._tally.n[eligible])


class LetsParametersBeSet(Uniform):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class ReseedsWithoutEffect(Uniform):
    def reseed(self, seed):
        return


class FillsTablesAtRandom(Uniform):
    def propensities_many(self, contexts, arms=None):
        return super().propensities_many(contexts, arms) + 0.01


class CountsDecisions(Uniform):
    @property
    def counts(self):
        return dict.fromkeys(self._arms.names, 0)


class LogsAnEvenChance(ThompsonSampling):
    def decision(self, context, arms=None):
        return replace(super().decision(context, arms), propensity=1 / len(self.arms))


class DrawsOtherwiseThanItLogs(ThompsonSampling):
    def _draw_by(self, chances, eligible):
        return self._draw_uniformly(eligible)


class DecidesBelowTheFloor(Greedy):
    def _choose_above_floor(self, row, eligible):
        return self._choose(row, eligible)


class TellsNoFloor(ThompsonSampling):
    def _above_floor(self, chances):
        return chances


class ForgetsInSnapshots(ThompsonSampling):
    def _frozen_state(self):
        return {name: np.zeros_like(array) for name, array in super()._frozen_state().items()}


class PutsItsDiceIntoSnapshots(Uniform):
    def _frozen_state(self):
        return super()._frozen_state() | {"dice": np.array(self._random.state)}


class LendsItself(ThompsonSampling):
    def snapshot(self):
        snapshot = super().snapshot()
        object.__setattr__(snapshot, "_policy", self)
        return snapshot


class IgnoringKeys(Snapshot):
    def decision(self, context, arms=None, key=None):
        return super().decision(context, arms)


class LosesKeys(Uniform):
    def snapshot(self):
        return IgnoringKeys.of(self)


class DrawsOneArmForAllKeys(Uniform):
    def snapshot(self):
        class OneKey(Snapshot):
            def decision(self, context, arms=None, key=None):
                return super().decision(context, arms, "the only key")

        return OneKey.of(self)


BROKEN = {
    ForgetsInSnapshots: "snapshots_agree",
    PutsItsDiceIntoSnapshots: "snapshots_follow_from_beliefs",
    LendsItself: "snapshots_stay_as_they_are",
    LosesKeys: "keys_fix_decisions",
    DrawsOneArmForAllKeys: "keys_fix_decisions",
    LogsAnEvenChance: "decisions_carry_their_propensity",
    DrawsOtherwiseThanItLogs: "decisions_carry_their_propensity",
    DecidesBelowTheFloor: "floors_hold",
    TellsNoFloor: "floors_hold",
    LetsParametersBeSet: "parameters_are_read_only",
    ReseedsWithoutEffect: "reseeding_changes_draws_only",
    FillsTablesAtRandom: "tables_are_single_readings",
    CountsDecisions: "observations_are_counted",
    LearnsFromDecisions: "decide_keeps_beliefs",
    DrawsToTellPropensities: "reading_keeps_everything",
    PropensitiesSumToMore: "reading_keeps_everything",
    HasItsOwnDice: "seed_fixes_decisions",
    ForgetsItsSeed: "seed_fixes_decisions",
    TakesTheFirstArm: "propensities_are_frequencies",
    OddsOfAnotherArm: "propensities_are_frequencies",
    TakesTheLowestIndex: "order_of_arms_is_nothing",
    LeavesOutTheLastRow: "batches_are_single_calls",
    DrawsBackwards: "batches_are_single_calls",
    CountsBeforeItChecks: "refused_learning_leaves_no_trace",
    KeepsFeaturesOfRefusedContexts: "refused_learning_leaves_no_trace",
    WritesIntoRows: "inputs_stay_as_they_are",
    TakesFeaturesOut: "inputs_stay_as_they_are",
    KeepsRows: "inputs_are_not_kept",
    DoesNotSaveItsStreak: "files_carry_on",
    LoadsRounded: "copies_carry_on",
    IsNotCopied: "copies_carry_on",
    LoadsAnything: "damage_is_noticed",
    WritesInPlace: "failed_saves_leave_the_old_file",
    DecidesRemovedArms: "arms_come_and_go",
    NeverTriesNewArms: "arms_come_and_go",
    ForgetsRemovedArms: "arms_come_and_go",
    AddsTwice: "mistakes_are_explained",
    SaysNothingOfTheArm: "mistakes_are_explained",
    NeedsAFeature: "contexts_of_every_form",
    ReadsUnknownAsZero: "contexts_of_every_form",
    LosesRewardsBetweenThreads: "threads_lose_nothing",
    LosesWhatItDoesNotCount: "threads_lose_nothing",
}


@pytest.mark.parametrize(("policy", "law"), BROKEN.items(), ids=lambda x: getattr(x, "__name__", x))
def test_a_broken_policy_is_caught(policy, law):
    with pytest.raises(LawBrokenError) as caught:
        check_policy(policy, laws=[law], decisions=2_000)
    assert caught.value.law == law
    assert f"laws=[{law!r}]" in str(caught.value)
    assert caught.value.seen in str(caught.value)


def test_every_law_can_be_broken():
    assert set(BROKEN.values()) == set(LAWS)


class EpsilonGreedy(Policy):
    """A policy as a user writes it, from the documentation of Policy."""

    def __init__(self, arms, *, epsilon=0.1, reward="binary", categorical=(), seed=None):
        self.epsilon = epsilon
        super().__init__(arms, reward=reward, categorical=categorical, seed=seed)

    def _start(self):
        self.n, self.total = np.zeros((2, len(self._arms)))

    def _add_arm(self):
        self.n, self.total = np.append(self.n, 0), np.append(self.total, 0)

    def _choose(self, row, eligible):
        if self._random.uniform(1)[0] < self.epsilon:
            return self._draw_uniformly(eligible)
        return self._draw_largest(self._expected(row, eligible), eligible)

    def _learn(self, arm, row, reward):
        self.n[arm] += 1
        self.total[arm] += reward

    def _propensities(self, row, eligible):
        greedy = share_of_largest(self._expected(row, eligible))
        return self.epsilon / len(eligible) + (1 - self.epsilon) * greedy

    def _expected(self, row, eligible):
        return self.total[eligible] / np.maximum(self.n[eligible], 1)

    def _explain(self, row, arm):
        mean = self.total[arm] / max(self.n[arm], 1)
        return ArmExplanation("always", int(self.n[arm]), float(mean), (-np.inf, np.inf))

    def _state(self):
        return {"n": self.n, "total": self.total}

    def _restore(self, arrays):
        self.n, self.total = arrays["n"], arrays["total"]


class EstimatedGreedy(EpsilonGreedy):
    """Counts draws to estimate its propensities, as a bootstrap does."""

    shift = 0

    def propensities(self, context, arms=None, *, draws=100):
        with self._lock:
            row, eligible = self._read(context, arms)
            before = self._random.state
            chosen = [self._choose(row, eligible) for _ in range(draws)]
            self._random.state = before
            shares = [chosen.count(arm) / draws for arm in np.roll(eligible, self.shift).tolist()]
            return self._as_propensities(eligible, np.array(shares))


class WronglyEstimatedGreedy(EstimatedGreedy):
    shift = 1


@pytest.mark.parametrize("cls", [EpsilonGreedy, EstimatedGreedy])
@pytest.mark.parametrize("kind", ["binary", "continuous"])
def test_a_policy_of_ones_own_passes(cls, kind):
    factory = partial(cls, epsilon=0.2, reward=kind)
    assert check_policy(factory, decisions=4_000) is None


def test_wrong_estimates_are_caught():
    with pytest.raises(LawBrokenError, match="near its propensity"):
        check_policy(WronglyEstimatedGreedy, laws=["propensities_are_frequencies"], decisions=2_000)


def test_the_kind_of_reward_is_that_of_the_policy():
    with pytest.raises(LawBrokenError, match="must lie between 0 and 1"):
        check_policy(Uniform, reward="continuous", laws=["batches_are_single_calls"])
    continuous = partial(Uniform, reward="continuous")
    check_policy(continuous, laws=["batches_are_single_calls"])
    check_policy(continuous, reward="binary", laws=["batches_are_single_calls"])


def test_an_unexpected_error_is_told_with_its_law():
    def fails(arms, seed):
        policy = Uniform(arms, seed=seed)
        policy._learn = lambda *observation: 1 / 0
        return policy

    with pytest.raises(LawBrokenError, match="ZeroDivisionError: division by zero") as caught:
        check_policy(fails)
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_bad_calls():
    with pytest.raises(LawBrokenError, match=r"instance of banditree.Policy(.|\n)*of list"):
        check_policy(lambda arms, seed: [])
    with pytest.raises(InvalidParameterError, match="there is no law 'gravity'; the laws are deci"):
        check_policy(Uniform, laws=["gravity"])
    with pytest.raises(InvalidParameterError, match="decisions must be a whole number from 50 up"):
        check_policy(Uniform, decisions=1.5)
    with pytest.raises(InvalidParameterError, match='reward must be one of "binary", "continuous"'):
        check_policy(Uniform, reward="stars")
