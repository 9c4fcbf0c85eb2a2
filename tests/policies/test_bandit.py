"""Bandit: an ensemble on the observations of all arms."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import pytest

import banditree as bt
from banditree.checks.saved import difference, saved
from banditree.policies import bandit
from policies.laws import assert_frequencies

# Streams here decide for features that come later, which is said once per policy.
pytestmark = pytest.mark.filterwarnings("ignore::banditree.BanditreeWarning")

REWARDS = ["binary", "continuous"]
every_reward = pytest.mark.parametrize("reward", REWARDS)
PROBES = [{"number": i / 10, "noise": 0.5} for i in range(10)]


def drawn(rng: random.Random) -> dict[str, Any]:
    """Return a context of which the number says which of the arms 0, 1, 2 is best."""
    return {"number": rng.random(), "noise": rng.random()}


def paid(rng: random.Random, reward: str, is_best: bool) -> float:
    if reward == "continuous":
        return rng.gauss(float(is_best), 1)
    return float(rng.random() < (0.7 if is_best else 0.1))


def play(
    policy: bt.Policy[int], steps: int, seed: int, shift: float = 0, scale: float = 1
) -> list[bool]:
    """Let a policy decide and learn; return at which steps it did not take the best arm."""
    contexts, rewards, missed = random.Random(f"{seed} w"), random.Random(f"{seed} r"), []
    for _ in range(steps):
        context = drawn(contexts)
        arm, best = policy.decide(context), int(3 * context["number"])
        missed.append(arm != best)
        policy.learn(context, arm, shift + scale * paid(rewards, policy.reward, arm == best))
    return missed


def taught(policy: Any, steps: int, seed: int = 1, arms: Iterable[int] | None = None) -> Any:
    """Teach what the arms pay, one arm after another."""
    rng, arms = random.Random(seed), list(arms or policy.arms)
    for i in range(steps):
        context, arm = drawn(rng), arms[i % len(arms)]
        reward = paid(rng, policy.reward, arm == int(3 * context["number"]))
        policy.learn(context, arm, reward)
    return policy


def means(policy: Any, probes: Any = PROBES) -> np.ndarray:
    found: np.ndarray = policy.expected_rewards_many(probes)
    return found


# ---- it learns ----


@every_reward
def test_it_learns_which_arm_is_best_where(reward: str) -> None:
    missed = dict.fromkeys(("Bandit", "Uniform"), 0)
    for seed in range(3):
        for name in missed:
            policy = getattr(bt, name)(range(3), reward=reward, seed=seed)
            missed[name] += sum(play(policy, 2_000, seed)[-500:])
    assert missed["Bandit"] < missed["Uniform"] / 8


def test_scales_of_rewards_change_no_decision() -> None:
    missed = [
        play(bt.Bandit(range(3), reward="continuous", seed=2), 400, 2, 0, scale)
        for scale in (1, 4, 2.0**-20, 2.0**30)
    ]
    assert all(other == missed[0] for other in missed[1:])


def test_continuous_rewards_may_be_shifted_and_scaled() -> None:
    policy = partial(bt.Bandit, range(3), reward="continuous")
    plain, moved = (
        sum(sum(play(policy(seed=seed), 1_000, seed, *how)) for seed in range(4))
        for how in ((0, 1), (1000, 3))
    )
    assert 0.6 < moved / plain < 1.6


def test_what_is_expected_moves_with_the_rewards() -> None:
    plain, moved = (bt.Bandit(range(3), reward="continuous", seed=1) for _ in range(2))
    rng = random.Random(3)
    for i in range(300):
        context, arm = drawn(rng), i % 3
        reward = paid(rng, "continuous", arm == int(3 * context["number"]))
        plain.learn(context, arm, reward)
        moved.learn(context, arm, 1000 + 3 * reward)
    # Rounding decides between splits that are as good, so that single readings differ a little.
    differences = np.abs((means(moved) - 1000) / 3 - means(plain))
    assert differences.mean() < 0.05
    assert differences.max() < 0.2
    assert np.ptp(means(plain), axis=0).min() > 0.4


@pytest.mark.parametrize("value", [0.0, 5.3, -1e6])
def test_equal_rewards_say_nothing_of_other_arms(value: float) -> None:
    policy = bt.Bandit(range(3), reward="continuous", seed=1)
    for n in range(1, 30):
        policy.learn({"number": n}, 1, value)
        assert list(policy.propensities({"number": 3}).values()) == pytest.approx([1 / 3] * 3)
        assert set(policy.expected_rewards({"number": 3}).values()) == {value}
        known = policy.explain({"number": 3})
        assert (known[1].n, known[0].n) == (n, 0)
        assert known[1].mean == pytest.approx(value)
    same = pickle.loads(pickle.dumps(policy))
    for one in (policy, same):
        one.learn({"number": 3}, 0, value + 2)
    assert difference(saved(policy), saved(same)) is None
    assert policy.expected_rewards({"number": 3})[0] > policy.expected_rewards({"number": 3})[1]


@pytest.mark.slow
def test_an_arm_that_pays_much_but_rarely_is_not_given_up() -> None:
    found = 0
    for seed in range(12):
        policy = bt.Bandit(["A", "B"], reward="continuous", seed=seed)
        rng, taken = random.Random(seed), []
        for _ in range(4_000):
            context, luck = {"x": rng.random()}, rng.random()
            taken.append(policy.decide(context))
            reward = 100.0 * (luck < 0.02) if taken[-1] == "A" else 10.0 * (luck < 0.1)
            policy.learn(context, taken[-1], reward)
        found += taken[-500:].count("A") > 250
    assert found >= 9


@every_reward
@pytest.mark.parametrize("chunk", [1, 7, 300])
def test_many_at_once_is_the_same(reward: str, chunk: int) -> None:
    rng, one_by_one, chunked = (
        random.Random(4),
        *(bt.Bandit(range(3), reward=reward, seed=1) for _ in range(2)),
    )
    contexts = [drawn(rng) for _ in range(300)]
    arms = [rng.randrange(3) for _ in contexts]
    rewards = [
        paid(rng, reward, arm == int(3 * c["number"]))
        for c, arm in zip(contexts, arms, strict=True)
    ]
    for observation in zip(contexts, arms, rewards, strict=True):
        one_by_one.learn(*observation)
    for start in range(0, 300, chunk):
        part = slice(start, start + chunk)
        chunked.learn_many(contexts[part], arms[part], rewards[part])
    assert difference(saved(one_by_one), saved(chunked)) is None


@pytest.mark.parametrize("refresh", [-0.1, 1.5, float("nan"), None, True])
def test_refresh_is_a_share(refresh: Any) -> None:
    with pytest.raises(bt.InvalidParameterError, match=r"refresh must be a number from 0 to 1.*;"):
        bt.Bandit(["golf"], refresh=refresh)


@pytest.mark.parametrize("window", [0, -1, 1.5, "all", True])
def test_a_window_is_a_number_of_observations(window: Any) -> None:
    with pytest.raises(bt.InvalidParameterError, match="window must be"):
        bt.Bandit(["golf"], window=window)


# ---- arms ----


@every_reward
def test_an_arm_that_was_added_is_expected_to_pay_as_others_and_tried_soon(reward: str) -> None:
    policy = taught(bt.Bandit(range(3), reward=reward, seed=1), 900)
    policy.add_arm(7)
    expected = policy.expected_rewards_many(PROBES)
    assert expected[:, 3].mean() == pytest.approx(expected[:, :3].mean(), abs=0.1)
    assert 7 in policy.decide_many(PROBES * 10)
    assert policy.explain(PROBES[0])[7].rule == "not tried yet"
    for i in range(200):  # it pays best where the number is low, and is found there
        policy.learn(
            PROBES[i % 10], 7, 3.0 * (i % 10 < 3) if reward == "continuous" else i % 10 < 3
        )
    assert policy.expected_rewards(PROBES[0])[7] > 0.6 > 0.4 > policy.expected_rewards(PROBES[9])[7]


@every_reward
def test_removed_arms_are_not_drawn(reward: str) -> None:
    policy = taught(bt.Bandit(range(3), reward=reward, seed=1), 300)
    before = policy.expected_rewards(PROBES[5])
    policy.remove_arm(1)
    assert set(policy.decide_many(PROBES * 50)) == {0, 2}
    assert set(policy.propensities(PROBES[5])) == {0, 2}
    assert policy.expected_rewards(PROBES[5]) == {0: before[0], 2: before[2]}
    policy.add_arm(1)
    assert policy.expected_rewards(PROBES[5]) == before


@every_reward
@pytest.mark.parametrize("n_arms", [3, 32, 33, 60])
def test_propensities_are_those_with_which_arms_are_drawn(reward: str, n_arms: int) -> None:
    policy = taught(
        bt.Bandit(range(n_arms), reward=reward, seed=1), 150, arms=range(min(n_arms, 40))
    )
    found = policy.propensities(PROBES[1])
    assert sum(found.values()) == pytest.approx(1, abs=1e-9)
    assert min(found.values()) >= 0
    assert_frequencies(policy.decide_many([PROBES[1]] * 20_000), found)


def test_of_many_arms_the_good_ones_are_found() -> None:
    policy = bt.Bandit(range(200), seed=1)
    rng, won = random.Random(1), []
    for _ in range(2_000):
        context = drawn(rng)
        arm = policy.decide(context)
        is_good = arm % 4 == int(4 * context["number"])
        won.append(paid(rng, "binary", is_good))
        policy.learn(context, arm, won[-1])
    assert np.mean(won[-500:]) > 0.45  # by chance: 0.25


def test_an_arm_alone_is_taken() -> None:
    policy = taught(bt.Bandit([0], seed=1), 40)
    assert policy.propensities(PROBES[0]) == {0: pytest.approx(1)}
    assert policy.decide(PROBES[0]) == 0


# ---- memory ----


def rows_kept(policy: Any) -> dict[int, int]:
    arms = policy._core.rows()[1]
    return {arm: int((arms == i).sum()) for i, arm in enumerate(policy.arms)}


@every_reward
@pytest.mark.parametrize("window", [1, 40])
def test_a_window_bounds_the_rows(reward: str, window: int) -> None:
    policy = bt.Bandit(range(3), reward=reward, window=window, refresh=0, seed=1)
    for n in range(1, 400):
        taught(policy, 1, n, arms=[n % 3])
        assert max(rows_kept(policy).values()) <= window
    assert rows_kept(policy) == dict.fromkeys(range(3), window)
    lazy = taught(bt.Bandit(range(3), reward=reward, window=window, seed=1), 2_000)
    assert max(rows_kept(lazy).values()) <= 1.2 * window + 2


def test_arms_that_are_swapped_are_found_out() -> None:
    policy = bt.Bandit(["a", "b"], window=10_000, seed=1)
    rng, chosen = random.Random(1), []
    for step in range(3_000):
        good = "ab"[step // 1_000 % 2]
        context = drawn(rng)
        arm = policy.decide(context)
        chosen.append(arm == good)
        policy.learn(context, arm, float(rng.random() < (0.6 if arm == good else 0.1)))
    assert [change.n // 1_000 for change in policy.changes] == [1, 2]
    assert all(np.mean(chosen[at + 300 : at + 1_000]) > 0.9 for at in (0, 1_000, 2_000))


@every_reward
def test_after_a_change_what_came_before_does_not_count(reward: str) -> None:
    policy = taught(bt.Bandit(range(3), reward=reward, window=5_000, seed=1), 1_500)
    rng, low = random.Random(2), -3.0 if reward == "continuous" else 0.0
    for i in range(600):  # where arm 0 was best, it pays least
        context = drawn(rng) | {"number": rng.random() / 3}
        policy.learn(context, i % 3, low if i % 3 == 0 else paid(rng, reward, i % 3 == 1))
    (change,) = policy.changes
    assert change.arm == 0
    assert 1_500 < change.n < 1_800
    assert sum(rows_kept(policy).values()) <= 2_100 - 1_450
    assert policy.counts == dict.fromkeys(range(3), 700)
    assert means(policy)[0].argmin() == 0
    assert means(policy)[0, 0] < low + 0.2


def test_a_world_that_does_not_change_raises_no_alarm() -> None:
    policy = bt.Bandit(range(3), window=300, seed=1)
    play(policy, 2_000, 1)
    assert policy.changes == ()


def test_beyond_the_most_rows_arms_share_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandit, "_MOST_ROWS", 300)
    policy = bt.Bandit(range(3), refresh=0.02, seed=1)
    taught(policy, 20, arms=[2])
    taught(policy, 2_000, arms=[0, 0, 0, 1])
    kept = rows_kept(policy)
    assert kept[2] == 20
    assert min(kept[0], kept[1]) >= 140
    assert sum(kept.values()) <= 300 + 0.02 * 2_020 + 1
    assert policy.counts == {0: 1_500, 1: 500, 2: 20}
    assert means(policy, [PROBES[0]])[0, 0] > 0.5 > means(policy, [PROBES[9]])[0, 0]


def test_after_each_fit_no_more_than_the_most_rows_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bandit, "_MOST_ROWS", 300)
    policy = bt.Bandit(range(3), refresh=0, seed=1)
    taught(policy, 150, arms=[0, 0, 0, 1, 2])
    assert rows_kept(policy) == {0: 90, 1: 30, 2: 30}
    taught(policy, 360, arms=[0, 0, 0, 1, 2])
    assert rows_kept(policy) == {0: 100, 1: 100, 2: 100}


# ---- features ----


def test_strings_missing_values_and_features_that_come_later() -> None:
    policy, rng = bt.Bandit(["golf", "tennis"], seed=1), random.Random(5)
    for i in range(900):
        city = rng.choice(["Berlin", "Rome", "Oslo", None])
        context: dict[str, Any] = {"city": city, "age": rng.choice([None, 20, 60])}
        if i > 300:
            context["member"] = rng.random() < 0.5
        likes = city == "Rome" or context.get("member", False)
        policy.learn(context, "golf", rng.random() < (0.9 if likes else 0.1))
        policy.learn(context, "tennis", rng.random() < 0.5)
    for city, member, likes in [("Rome", False, 1), ("Oslo", True, 1), (None, False, 0)]:
        context = {"city": city, "age": 20, "member": member}
        expected = policy.expected_rewards(context)
        assert (expected["golf"] > 0.65) == bool(likes)
        assert (expected["golf"] < 0.35) == (not likes)
        assert expected["tennis"] == pytest.approx(0.5, abs=0.15)
    for odd in ({"city": "Lima"}, {"zip": 1}, {}):
        assert sum(policy.propensities(odd).values()) == pytest.approx(1)


@every_reward
def test_a_feature_that_is_put_right_is_learned_anew(reward: str) -> None:
    wrong, right = (bt.Bandit(["golf", "tennis"], reward=reward, seed=1) for _ in range(2))
    rng = random.Random(6)
    for i in range(300):
        age, arm = rng.randrange(20, 60), ["golf", "tennis"][i % 2]
        luck = paid(rng, reward, (age > 40) == (arm == "golf"))
        wrong.learn({"age": str(age)}, arm, luck)
        right.learn({"age": age}, arm, luck)
    wrong.set_feature("age", "number")
    probes = [{"age": age} for age in (10, 30, 41, 70, None)]
    assert np.array_equal(means(wrong, probes), means(right, probes))
    assert wrong.counts == right.counts
    assert wrong.decide_many(probes * 20) == right.decide_many(probes * 20)


# ---- files ----


@every_reward
@pytest.mark.parametrize("options", [{}, {"window": 30}, {"floor": 0.1, "refresh": 0.5}], ids=str)
def test_a_policy_that_was_saved_goes_on_as_it_would(
    reward: str, options: dict[str, Any], tmp_path: Any
) -> None:
    policy, path = bt.Bandit(range(3), reward=reward, seed=1, **options), tmp_path / "policy.bt"
    journal = tmp_path / "journal.bt"
    for n in (0, 1, 40, 150):
        play(policy, n, n)
        policy.save(path)
        policy.save(journal, append=True)
    others = [bt.load(path), bt.load(journal), pickle.loads(pickle.dumps(policy))]
    missed = play(policy, 100, 9)
    for other in others:
        assert repr(other) == repr(policy)
        assert play(other, 100, 9) == missed
        assert difference(saved(other), saved(policy)) is None
