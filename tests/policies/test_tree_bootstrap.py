"""TreeBootstrap: Algorithm 2, its laws where contexts say nothing, and its cold starts."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import banditree as bt
from banditree._core import Generator
from policies.laws import assert_distributed, assert_frequencies, beta_wins, binomial_wins
from policies.naive_bootstrap import NaiveBootstrap
from policies.tree_streams import (
    ARMS,
    Batch,
    Stream,
    assert_same_tree,
    mixed_stream,
    rewards_beside,
    streams,
    way,
)

Options = dict[str, Any]
Counts = list[tuple[int, int]]  # successes and failures of each arm

# ---- contexts that say nothing ----

COUNTS: list[Counts] = [
    [(3, 5), (2, 2)],
    [(1, 1), (1, 1), (1, 1)],
    [(4, 9), (1, 3), (10, 20)],
]


def taught(counts: Counts, **options: Any) -> bt.TreeBootstrap:
    """Teach so many successes and failures, made-up ones included; the first is a success."""
    policy = bt.TreeBootstrap(range(len(counts)), seed=9, **options)
    made_up = policy.cold_start == "prior"
    for arm, (wins, losses) in enumerate(counts):
        rewards = [1] * (wins - made_up) + [0] * (losses - made_up)
        policy.learn_many([{"x": 1}] * len(rewards), [arm] * len(rewards), rewards)
    return policy


COLD_STARTS = pytest.mark.parametrize("cold_start", ["prior", "until_success"])


@COLD_STARTS
@pytest.mark.parametrize("pruning", ["cv", "cv_every_fit", None])
@pytest.mark.parametrize("counts", [*COUNTS, [(2, 3), (6, 9)]], ids=str)
def test_decisions_follow_the_binomial_laws(counts: Counts, pruning: Any, cold_start: Any) -> None:
    if cold_start == "prior":  # whose arms have at least one more observation
        counts = [(wins + 1, losses) for wins, losses in counts]
    policy = taught(counts, pruning=pruning, cold_start=cold_start)
    decisions = policy.decide_many([{"x": 1}] * 20_000)
    assert_frequencies(decisions, dict(enumerate(binomial_wins(counts))))


@COLD_STARTS
@pytest.mark.parametrize(("wins", "losses"), [(3, 5), (2, 1), (8, 22)])
def test_a_draw_is_binomial(wins: int, losses: int, cold_start: Any) -> None:
    policy = taught([(wins, losses)], cold_start=cold_start)
    n = wins + losses
    assert policy._core.n_rows(0) == n
    draws = policy._core.draws(0, np.array([1.0]), 20_000, Generator(4)) * n
    assert draws == pytest.approx(draws.round(), abs=1e-9)
    expected = 20_000 * stats.binom.pmf(np.arange(n + 1), n, wins / n)
    found = np.bincount(draws.round().astype(int), minlength=n + 1)
    common = expected >= 10
    expected = np.append(expected[common], expected[~common].sum())
    found = np.append(found[common], found[~common].sum())
    filled = expected > 0
    squared = ((found - expected)[filled] ** 2 / expected[filled]).sum()
    assert squared < stats.chi2.isf(1e-5, filled.sum() - 1)
    assert found[~filled].sum() == 0


@COLD_STARTS
@pytest.mark.parametrize(("wins", "losses"), [(3, 5), (2, 1), (8, 22)])
def test_an_exponential_draw_is_beta(wins: int, losses: int, cold_start: Any) -> None:
    policy = taught([(wins, losses)], weights="exponential", cold_start=cold_start)
    draws = policy._core.draws(0, np.array([1.0]), 20_000, Generator(5))
    assert_distributed(draws, stats.beta(wins, losses).cdf)


@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_exponential_weights_are_thompson_sampling(counts: Counts) -> None:
    """With the made-up observations, which are its uniform prior."""
    counts = [(wins + 1, losses + 1) for wins, losses in counts]
    policy = taught(counts, weights="exponential")
    thompson = bt.ThompsonSampling(range(len(counts)))
    for arm, (wins, losses) in enumerate(counts):
        rewards = [1] * (wins - 1) + [0] * (losses - 1)
        thompson.learn_many([{}] * len(rewards), [arm] * len(rewards), rewards)
    expected = thompson.propensities({})
    assert list(expected.values()) == pytest.approx(beta_wins(counts), abs=1e-9)
    assert_frequencies(policy.decide_many([{"x": 1}] * 20_000), expected)


@pytest.mark.parametrize("weights", ["multinomial", "exponential"])
@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_estimated_propensities(counts: Counts, weights: Any) -> None:
    policy = taught(counts, weights=weights, cold_start="until_success")
    exact = binomial_wins(counts) if weights == "multinomial" else beta_wins(counts)
    before = policy._random.state
    found = policy.propensities({"x": 1}, draws=4_000)
    assert policy._random.state == before
    assert sum(found.values()) == pytest.approx(1)
    # A share of wins has at most the variance of a coin, once for the draws of each arm.
    error = np.sqrt(len(counts) / 4 / 4_000)
    assert list(found.values()) == pytest.approx(exact, abs=5 * error)


# ---- the same as Algorithm 2 in plain Python ----


@st.composite
def bootstrap_cases(draw: st.DrawFn, reward: str) -> tuple[Stream, Options, Options]:
    """Draw a stream, settings of the policy and settings of its trees."""
    stream = draw(streams(reward=reward, named=False, max_rows=14))
    categorical = _category_columns(stream)
    options: Options = {
        "weights": draw(st.sampled_from(["multinomial", "multinomial", "exponential"])),
        "cold_start": draw(st.sampled_from(["prior", "until_success"])),
        "folds": draw(st.integers(2, 5)),
    }
    growth: Options = {
        "min_split": draw(st.integers(2, 5)),
        # The order of categories of equal mean would matter, and hang on rows that are left out.
        "min_leaf": 1 if categorical else draw(st.integers(1, 3)),
        "max_depth": draw(st.none() | st.integers(1, 3)),
    }
    return stream, options, growth


def _category_columns(stream: Stream) -> frozenset[int]:
    columns = range(len(stream.contexts[0]))
    texts = {j for j in columns if any(isinstance(row[j], str | bool) for row in stream.contexts)}
    return frozenset(texts | set(stream.categorical))


def both(
    stream: Stream, options: Options, growth: Options, seed: int = 3
) -> tuple[bt.TreeBootstrap, NaiveBootstrap]:
    """Return the policy and the naive one, which have learned the same."""
    policy = bt.TreeBootstrap(
        ARMS,
        max_bins=None,
        patience=1,
        seed=seed,
        categorical=stream.categorical,
        **options,
        **growth,
    )
    naive = NaiveBootstrap(
        len(ARMS),
        prior=options["cold_start"] == "prior",
        pruning=options["pruning"],
        weights=options["weights"],
        folds=options["folds"],
        tree={"categorical": _category_columns(stream), "category_gain": "adjusted", **growth},
    )
    for context, arm, reward in stream:
        policy.learn(context, arm, reward)
        naive.learn(context, ARMS.index(arm), reward)
    return policy, naive


def assert_same_decisions(stream: Stream, options: Options, growth: Options) -> None:
    policy, naive = both(stream, options, growth)
    eligible = [arm for arm in ARMS if arm in stream.arms][::-1]
    indices = [ARMS.index(arm) for arm in eligible]
    random = Generator(3)
    for context in stream.others:
        found = policy.decide(context, arms=eligible)
        assert found == ARMS[naive.decide(context, indices, random)]
        assert policy._random.state == random.state


def assert_same_draws(stream: Stream, options: Options, growth: Options) -> None:
    policy, naive = both(stream, options, growth)
    for arm in {ARMS.index(arm) for arm in stream.arms}:
        if options["pruning"] == "cv":
            assert policy._core.alpha(arm) == pytest.approx(naive.alpha(arm), rel=1e-9, abs=1e-12)
        for seed, context in enumerate(stream.others[:3]):
            row = policy._encoder.encode_one(context)
            found = policy._core.draws(arm, row, 1, Generator(seed))[0]
            expected = float(naive.draw(arm, context, Generator(seed)))
            assert found == pytest.approx(expected, abs=1e-9)


EVERY_ARM_TWICE = Stream(
    [[1], [2], [1], [2], [1], [2]], [*ARMS, *ARMS], [1, 1, 1, 0, 0, 0], [[1], [2]] * 9
)
PLAIN: Options = {"min_split": 2, "min_leaf": 1, "max_depth": None}
LITERAL: Options = {"weights": "multinomial", "cold_start": "until_success", "folds": 5}


@pytest.mark.parametrize("pruning", ["cv", "cv_every_fit", None])
@settings(max_examples=25)
@given(bootstrap_cases("coin"))  # of which all means are exact, so that ties are ties
@example((EVERY_ARM_TWICE, LITERAL, PLAIN))
def test_decisions_are_those_of_algorithm_2(
    pruning: Any, case: tuple[Stream, Options, Options]
) -> None:
    stream, options, growth = case
    assert_same_decisions(stream, {**options, "pruning": pruning}, growth)


@pytest.mark.parametrize("pruning", ["cv", "cv_every_fit", None])
@settings(max_examples=25)
@given(bootstrap_cases("binary"))
def test_draws_are_those_of_algorithm_2(
    pruning: Any, case: tuple[Stream, Options, Options]
) -> None:
    stream, options, growth = case
    assert_same_draws(stream, {**options, "pruning": pruning}, growth)


@pytest.mark.parametrize(
    ("weights", "pruning"),
    [
        ("multinomial", "cv"),
        ("multinomial", "cv_every_fit"),
        ("multinomial", None),
        ("exponential", None),
        pytest.param("exponential", "cv_every_fit", marks=pytest.mark.slow),
    ],
)
def test_decisions_are_those_of_algorithm_2_on_a_longer_stream(weights: Any, pruning: Any) -> None:
    mixed = mixed_stream(45)
    names = ("age", "size", "city", "member")
    rows, others = (
        [[context.get(name) for name in names] for context in given]
        for given in (mixed.contexts, mixed.others)
    )
    stream = Stream(rows, mixed.arms, mixed.rewards, others[:6] + others[-3:])
    options = {"weights": weights, "pruning": pruning, "cold_start": "prior", "folds": 5}
    assert_same_decisions(stream, options, PLAIN)
    policy, naive = both(stream, options, PLAIN)
    if pruning == "cv":
        alphas = [policy._core.alpha(arm) for arm in range(3)]
        assert alphas == pytest.approx([naive.alpha(arm) for arm in range(3)])


def test_a_resample_in_one_fold_has_nothing_to_be_validated_on() -> None:
    """Three rows are in the folds 0, 2 and 2: without the first, the tree must be a leaf."""
    policy = bt.TreeBootstrap(
        ["golf"], pruning="cv_every_fit", cold_start="until_success", folds=3, max_bins=None
    )
    policy.learn_many([[1], [2], [3]], ["golf"] * 3, [1, 1, 0])
    assert bt._core.folds_of(3, 3).tolist() == [0, 2, 2]
    seeds = [s for s in range(200) if Generator(s).multinomial_weights(3).tolist() == [0, 2, 1]]
    assert seeds
    for seed in seeds:
        draw = policy._core.draws(0, np.array([3.0]), 1, Generator(seed))[0]
        assert draw == pytest.approx(2 / 3)


# ---- estimates ----


def test_estimates_err_anew_with_every_belief_and_context() -> None:
    policy = bt.TreeBootstrap(["golf", "tennis"], seed=9, pruning=None)
    for i in range(24):
        policy.learn({"x": i % 8, "y": 1}, ["golf", "tennis"][i % 2], i // 8 % 2)
    contexts = [{"x": 100 + i, "y": 1} for i in range(40)]  # all in one leaf
    found = np.array([policy.propensities(context, draws=64)["golf"] for context in contexts])
    exact = policy.propensities(contexts[0], draws=40_000)["golf"]
    assert len(set(found)) > 20
    assert abs(found.mean() - exact) < 5 * 0.4 / np.sqrt(64 * len(found))
    same = bt.TreeBootstrap(["golf", "tennis"], seed=9, pruning=None)
    for i in range(24):
        same.learn({"x": i % 8, "y": 1}, ["golf", "tennis"][i % 2], i // 8 % 2)
    same.decide_many(contexts)
    assert same.propensities(contexts[3]) == policy.propensities(contexts[3])


def test_resamples_are_kept_until_observations_have_grown() -> None:
    stream = mixed_stream(900)
    policy = bt.TreeBootstrap(ARMS, seed=3)
    policy.learn_many(*stream.part(0, 450))
    context, index = stream.others[0], ARMS.index("golf")
    row, random = policy._encoder.encode_one(context), policy._estimating().child(index)
    begun = policy._core.n_rows(index)
    before, changes = policy._core.kept_draws(index, row, random), []
    for observation in list(stream)[450:520]:
        policy.learn(*observation)
        after = policy._core.kept_draws(index, row, random)
        if not np.array_equal(after, before):
            changes.append(policy._core.n_rows(index))
        before = after
    grown = [105, 111, 117, 123, 130, 137, 144, 152, 160, 168, 177, 186]  # from 100 on, per 5 %
    assert begun > 100
    assert changes == [n for n in grown if begun < n <= policy._core.n_rows(index)] != []
    again = pickle.loads(pickle.dumps(policy))
    assert again.propensities(context) == policy.propensities(context)


@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_default_estimates_are_near(counts: Counts) -> None:
    policy = taught(counts, cold_start="until_success")
    found = policy.propensities({"x": 1})
    assert list(found.values()) == pytest.approx(binomial_wins(counts), abs=0.025)


def test_the_tree_of_cv_every_fit_is_cross_validated() -> None:
    random = np.random.default_rng(1)
    literal, plain = (
        bt.TreeBootstrap(["golf"], pruning=pruning, seed=2) for pruning in ("cv_every_fit", "cv")
    )
    contexts = [{"x": float(random.normal())} for _ in range(150)]
    rewards = (random.random(150) < 0.3).astype(int).tolist()
    for policy in (literal, plain):
        policy.learn_many(contexts, ["golf"] * 150, rewards)
    assert literal.tree("golf").n_leaves == plain.tree("golf").n_leaves < 20
    assert literal.explain(contexts[0])["golf"] == plain.explain(contexts[0])["golf"]
    for context in contexts[:20]:
        assert literal.expected_rewards(context) == plain.expected_rewards(context)


# ---- one tree on all observations, many at once ----


def learned(stream: Stream, options: Options) -> bt.TreeBootstrap:
    policy = bt.TreeBootstrap(ARMS, categorical=stream.categorical, seed=1, **options)
    for observation in stream:
        policy.learn(*observation)
    return policy


@pytest.mark.parametrize("reward", ["binary", "continuous"])
@pytest.mark.parametrize("max_bins", [None, 12])
def test_the_tree_is_the_batch_tree_of_all_rows(reward: Any, max_bins: int | None) -> None:
    stream = mixed_stream(300, reward)
    policy = learned(
        stream, {"reward": reward, "max_bins": max_bins, "cold_start": "until_success"}
    )
    for index, arm in enumerate(ARMS):
        batch = Batch(policy, *stream.of(arm))
        alpha = policy._core.alpha(index)
        assert alpha == pytest.approx(batch.alpha())
        tree = policy.tree(arm)
        assert_same_tree(tree, batch.pruned(alpha), stream.exact)
        predicted = [policy.expected_rewards(context)[arm] for context in stream.others]
        assert predicted == pytest.approx(tree.predict(stream.others))


def assert_same_policy(found: bt.TreeBootstrap, expected: bt.TreeBootstrap, stream: Stream) -> None:
    for index in {ARMS.index(arm) for arm in stream.arms}:
        assert found._core.alpha(index) == pytest.approx(expected._core.alpha(index))
        assert found._core.standing(index) == expected._core.standing(index)
        row = found._encoder.encode_one(stream.others[0])
        draws = [p._core.draws(index, row, 5, Generator(2)) for p in (found, expected)]
        assert draws[0] == pytest.approx(draws[1])
        for mine, other in zip(found._core.rows(index), expected._core.rows(index), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-12)
    assert found._core.spread == pytest.approx(expected._core.spread)


@settings(max_examples=30)
@given(
    st.sampled_from(["binary", "continuous"]).flatmap(
        lambda reward: st.tuples(st.just(reward), streams(reward=reward, max_rows=40))
    ),
    st.sampled_from(["prior", "until_success"]),
    st.none() | st.integers(2, 6),
    st.lists(st.integers(0, 40), max_size=6),
)
def test_many_at_once_is_the_same(
    drawn: tuple[str, Stream], cold_start: str, max_bins: int | None, cuts: list[int]
) -> None:
    reward, stream = drawn
    options = {"reward": reward, "cold_start": cold_start, "max_bins": max_bins, "patience": 3}
    chunked = bt.TreeBootstrap(ARMS, categorical=stream.categorical, seed=1, **options)
    for start, stop in pairwise([0, *sorted(cuts), len(stream.arms)]):
        chunked.learn_many(*stream.part(start, stop))
    assert_same_policy(chunked, learned(stream, options), stream)


# ---- explanations ----


@pytest.mark.parametrize("reward", ["binary", "continuous"])
def test_explain_counts_real_observations_only(reward: str) -> None:
    stream = mixed_stream(300, reward)
    policy = bt.TreeBootstrap(sorted(set(stream.arms)), reward=reward, seed=1)
    policy.learn_many(stream.contexts, stream.arms, stream.rewards)
    met = set()
    for arm in policy.arms:
        root = policy.tree(arm).to_dict()
        contexts, _ = stream.of(arm)
        for context in contexts:
            inside = rewards_beside(root, context, stream.of(arm))
            known = policy.explain(context)[arm]
            assert known.n == len(inside)
            assert known.mean == pytest.approx(np.mean(inside), abs=1e-9)
            assert known.interval[0] <= known.mean <= known.interval[1]
            met.add(way(root, contexts[0]) == way(root, context))
    assert met == {True, False}  # leaves with made-up observations, and without


def test_one_observation_is_explained_as_one() -> None:
    policy = bt.TreeBootstrap(["golf", "tennis"], seed=1)
    policy.learn({"age": 31}, "golf", 0)
    known = policy.explain({"age": 31})["golf"]
    assert (known.n, known.mean, known.interval) == (1, 0, (0, 1))


def test_intervals_are_those_of_a_policy_without_made_up_observations() -> None:
    policies = [
        bt.TreeBootstrap(["golf"], cold_start=start, pruning=None, max_depth=0, seed=1)
        for start in ("prior", "until_success")
    ]
    for policy in policies:
        policy.learn_many([{"age": i} for i in range(60)], ["golf"] * 60, [1, 0, 0] * 20)
    made_up, plain = (policy.explain({"age": 31})["golf"] for policy in policies)
    assert made_up.n == plain.n == 60
    assert made_up.mean == pytest.approx(plain.mean)
    assert made_up.interval == pytest.approx(plain.interval)


def test_kept_resamples_follow_from_the_observations() -> None:
    """Bins are made anew at 147 rows, two of them made up; till then trees of 144 are kept."""
    stream = mixed_stream(600)
    policy = bt.TreeBootstrap(ARMS, seed=3)
    for context, arm, reward in stream:
        policy.learn(context, arm, reward)
        if policy.counts["golf"] == 148:
            break
        if policy.counts["golf"] >= 143:
            policy.propensities(stream.others[0])
    copy = pickle.loads(pickle.dumps(policy))
    for context in stream.others:
        assert copy.propensities(context) == policy.propensities(context)
