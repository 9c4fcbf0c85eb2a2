"""Cold starts of the policies that resample: TreeBootstrap, and Bootstrap around any learner."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import banditree as bt
from policies.laws import assert_frequencies, binomial_wins

Make = Callable[..., Any]


class MeanRegressor:
    """Learns the mean reward, whatever the context."""

    def fit(self, rows: Any, rewards: Any) -> MeanRegressor:
        self.mean = float(np.mean(rewards))
        return self

    def predict(self, rows: Any) -> Any:
        return np.full(len(rows), self.mean)


class MeanClassifier(MeanRegressor):
    classes_ = (False, True)

    def predict_proba(self, rows: Any) -> Any:
        return np.array([[1 - self.mean, self.mean]] * len(rows))


def tree_bootstrap(arms: Any, **options: Any) -> bt.TreeBootstrap:
    return bt.TreeBootstrap(arms, seed=2, **options)


def bootstrap(arms: Any, **options: Any) -> bt.Bootstrap:
    continuous = options.get("reward") == "continuous"
    learner = MeanRegressor() if continuous else MeanClassifier()
    return bt.Bootstrap(arms, learner, seed=2, **options)


BOTH = pytest.mark.parametrize("make", [tree_bootstrap, bootstrap])
COLD_STARTS = pytest.mark.parametrize("cold_start", ["prior", "until_success"])


def teach(policy: Any, arm: str, *rewards: float) -> None:
    policy.learn_many([{"x": 1}] * len(rewards), [arm] * len(rewards), rewards)


def decisions(policy: Any, n: int = 300) -> list[Any]:
    return policy.decide_many([{"x": 1}] * n)


@BOTH
@COLD_STARTS
def test_untried_arms_come_first_in_random_order(make: Make, cold_start: str) -> None:
    policy = make(["golf", "tennis", "chess"], cold_start=cold_start)
    thirds = dict.fromkeys(policy.arms, 1 / 3)
    assert policy.propensities({"x": 1}) == pytest.approx(thirds)
    assert_frequencies(decisions(policy, 3_000), thirds)
    teach(policy, "tennis", 1)
    halves = {"golf": 0.5, "tennis": 0.0, "chess": 0.5}
    assert policy.propensities({"x": 1}) == halves
    assert_frequencies(decisions(policy, 3_000), halves)
    assert decisions(policy, 9) != decisions(policy, 9)
    assert set(policy.decide_many([{"x": 1}] * 50, arms=["tennis", "chess"])) == {"chess"}


def fail_until_success(make: Make, times: int, patience: int) -> Any:
    """Return a policy that has offered tennis, which failed, so many times; golf has paid."""
    policy = make(["golf", "tennis"], cold_start="until_success", patience=patience)
    teach(policy, "golf", 1)
    for _ in range(times):
        assert set(decisions(policy, 20)) == {"tennis"}
        teach(policy, "tennis", 0)
    return policy


@BOTH
def test_an_arm_is_offered_until_its_first_success(make: Make) -> None:
    policy = fail_until_success(make, 30, patience=1_000)
    teach(policy, "tennis", 1)
    # 1 of 1 against 1 of 31: now the resamples decide.
    expected = dict(zip(policy.arms, binomial_wins([(1, 0), (1, 30)]), strict=True))
    assert_frequencies(decisions(policy), expected)
    assert expected["golf"] > 0.99


@BOTH
def test_an_arm_is_given_up_after_so_many_failures(make: Make) -> None:
    policy = fail_until_success(make, 4, patience=4)
    assert set(decisions(policy)) == {"golf"}
    teach(policy, "golf", 0)  # golf may resample to 0 of 2, and then ties with tennis
    expected = dict(zip(policy.arms, binomial_wins([(1, 1), (0, 4)]), strict=True))
    assert 0 < expected["tennis"] < 0.2
    assert_frequencies(decisions(policy), expected)


@BOTH
def test_a_success_ends_the_count_of_failures(make: Make) -> None:
    policy = make(["golf", "tennis"], cold_start="until_success", patience=3)
    teach(policy, "golf", 0, 0, 1, 0, 0, 0, 0)
    teach(policy, "tennis", 1)
    expected = dict(zip(policy.arms, binomial_wins([(1, 6), (1, 0)]), strict=True))
    assert_frequencies(decisions(policy), expected)


@BOTH
def test_made_up_observations_keep_an_arm_that_failed_first(make: Make) -> None:
    policy = make(["golf", "tennis"])
    teach(policy, "golf", 0)
    teach(policy, "tennis", 1, 0, 1, 1)
    expected = dict(zip(policy.arms, binomial_wins([(1, 2), (4, 2)]), strict=True))
    assert expected["golf"] > 0.1
    assert_frequencies(decisions(policy, 2_000), expected)


@BOTH
@COLD_STARTS
def test_an_arm_that_joins_is_tried_at_once(make: Make, cold_start: str) -> None:
    policy = make(["golf", "tennis"], cold_start=cold_start)
    teach(policy, "golf", 1, 0, 1)
    teach(policy, "tennis", 1, 0)
    assert set(decisions(policy)) == {"golf", "tennis"}
    policy.add_arm("chess")
    assert set(decisions(policy)) == {"chess"}
    teach(policy, "chess", 1, 0)
    assert set(decisions(policy)) == {"golf", "tennis", "chess"}
    policy.remove_arm("golf")
    assert set(decisions(policy)) == {"tennis", "chess"}
    policy.add_arm("golf")  # with what it has learned: it is not cold
    assert set(decisions(policy)) == {"golf", "tennis", "chess"}


# ---- continuous rewards ----


def rewards_of(policy: Any, arm: int) -> list[float]:
    kept = policy._logs[arm].rewards if hasattr(policy, "_logs") else policy._core.rows(arm)[1]
    return list(kept)


@BOTH
def test_made_up_continuous_rewards_are_the_range_of_all_arms(make: Make) -> None:
    policy = make(["golf", "tennis", "chess"], reward="continuous")
    teach(policy, "golf", 7.0)
    assert rewards_of(policy, 0) == [7.0, 7.0, 7.0]
    teach(policy, "golf", 3.0)
    teach(policy, "tennis", 4.5)
    assert rewards_of(policy, 0) == [7.0, 3.0, 7.0, 3.0]
    assert rewards_of(policy, 1) == [7.0, 3.0, 4.5]
    teach(policy, "chess", -2.5)
    assert rewards_of(policy, 0) == [7.0, -2.5, 7.0, 3.0]
    assert rewards_of(policy, 1) == [7.0, -2.5, 4.5]
    assert rewards_of(policy, 2) == [7.0, -2.5, -2.5]


@BOTH
def test_a_saved_policy_goes_on_after_made_up_rewards_have_moved(make: Make) -> None:
    """Its alphas are those of the rewards as they were when they were chosen."""
    policy = make(["golf", "tennis"], reward="continuous")
    random = np.random.default_rng(3)
    for step in range(60):
        x = float(random.normal())
        policy.learn({"x": x}, ["golf", "tennis"][step % 2], float(random.normal() + (x > 0)))
    policy.learn({"x": 0.0}, "golf", 50.0)
    again = pickle.loads(pickle.dumps(policy))
    contexts = [{"x": x} for x in np.linspace(-2, 2, 60)]
    if isinstance(policy, bt.TreeBootstrap):
        alphas = [[p._core.alpha(arm) for arm in range(2)] for p in (policy, again)]
        assert alphas[0] == alphas[1]
    assert again.decide_many(contexts) == policy.decide_many(contexts)


def played(policy: Any, scale: float, shift: float, steps: int = 150) -> list[Any]:
    """Decide and learn; rewards are 64ths, so that no unit here rounds them."""
    random = np.random.default_rng(8)
    chosen = []
    for _ in range(steps):
        context = {"x": int(random.integers(4))}
        chosen.append(policy.decide(context))
        noise = round(64 * random.normal()) / 64
        policy.learn(context, chosen[-1], scale * (policy.arms.index(chosen[-1]) + noise) + shift)
    return chosen


@BOTH
@COLD_STARTS
@pytest.mark.parametrize(("scale", "shift"), [(1, 1024), (2**-10, 0), (1024, -5)])
def test_the_unit_of_continuous_rewards_is_nothing(
    make: Make, cold_start: str, scale: float, shift: float
) -> None:
    options = {"reward": "continuous", "cold_start": cold_start}
    policy, same = (make(["golf", "tennis", "chess"], **options) for _ in range(2))
    expected = played(policy, 1, 0)
    assert played(same, scale, shift) == expected
    assert expected[-50:].count("chess") > 30


@BOTH
def test_the_first_of_all_continuous_rewards_is_no_success(make: Make) -> None:
    policy = make(["golf", "tennis"], reward="continuous", cold_start="until_success")
    teach(policy, "tennis", 100.0)
    teach(policy, "golf", 101.0)
    assert set(decisions(policy, 20)) == {"tennis"}


@BOTH
def test_a_continuous_success_beats_the_mean_of_those_before(make: Make) -> None:
    policy = make(["golf", "tennis"], reward="continuous", cold_start="until_success")
    teach(policy, "golf", 10.0, 20.0)  # of which the second is a success
    for reward in (15.0, 14.9, 3.0):  # the means before: 15, 15, 14.975
        teach(policy, "tennis", reward)
        assert set(decisions(policy, 20)) == {"tennis"}
    teach(policy, "tennis", 12.6)  # against 12.58
    assert "golf" in decisions(policy)
