"""Which arm's draw is the largest: against SciPy's distribution functions and by brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special, stats

from banditree._core import beta_win_probabilities, student_win_probabilities, win_shares

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
TAILS = np.append(np.geomspace(1e-16, 0.3, 28), 0.5)
NAN_AND_INFINITIES = [math.nan, math.inf, -math.inf]


def logarithmic(low, high):
    return st.floats(math.log(low), math.log(high)).map(math.exp)


def sets_of(law, most=6):
    return st.lists(law, min_size=1, max_size=most)


def beta_wins(laws):
    a, b = np.array(laws, dtype=float).T.copy()
    return beta_win_probabilities(a, b)


def student_wins(laws):
    location, scale, freedom = np.array(laws, dtype=float).T.copy()
    return student_win_probabilities(location, scale, freedom)


def dense_quadrature(breaks, log_densities, distributions):
    """The law of the largest draw, on panels between the quantiles of every law."""
    breaks = np.unique(breaks)
    half = np.diff(breaks)[:, None] / 2
    x = (breaks[:-1, None] + half * (1 + NODES)).ravel()
    weights = (half * WEIGHTS).ravel()
    below = np.array([distribution(x) for distribution in distributions])
    wins = []
    for arm, log_density in enumerate(log_densities):
        logs = log_density(x)
        density = np.exp(logs - logs.max())
        others = np.delete(below, arm, axis=0).prod(axis=0)
        wins.append((weights * density) @ others / (weights @ density))
    assert sum(wins) == pytest.approx(1, abs=1e-9)  # the reference itself is good enough
    return np.array(wins)


def beta_by_scipy(laws):
    """On the logit axis, where each half is reckoned from its own end to keep precision."""

    def low_side(a, b):
        x = np.maximum(stats.beta.ppf(TAILS, a, b), 1e-300)
        return np.log(x) - np.log1p(-x)

    def distribution(a, b):
        return lambda t: np.where(
            t < 0,
            special.betainc(a, b, special.expit(t)),
            1 - special.betainc(b, a, special.expit(-t)),
        )

    def log_density(a, b):
        return lambda t: a * special.log_expit(t) + b * special.log_expit(-t)

    breaks = [
        sign * side for a, b in laws for sign, side in [(1, low_side(a, b)), (-1, low_side(b, a))]
    ]
    return dense_quadrature(
        np.concatenate(breaks),
        [log_density(*law) for law in laws],
        [distribution(*law) for law in laws],
    )


def student_by_scipy(laws):
    def quantiles(location, scale, freedom):
        return location + scale * np.outer([1, -1], special.stdtrit(freedom, TAILS)).ravel()

    def distribution(location, scale, freedom):
        return lambda x: special.stdtr(freedom, (x - location) / scale)

    def log_density(location, scale, freedom):
        return lambda x: -(freedom + 1) / 2 * np.log1p(((x - location) / scale) ** 2 / freedom)

    return dense_quadrature(
        np.concatenate([quantiles(*law) for law in laws]),
        [log_density(*law) for law in laws],
        [distribution(*law) for law in laws],
    )


def assert_probabilities(wins, count):
    assert wins.shape == (count,)
    assert (wins >= 0).all()
    assert wins.sum() == pytest.approx(1, abs=1e-13)


shapes = logarithmic(0.06, 1e7)
near_shapes = st.tuples(logarithmic(1, 1e4), st.floats(0.02, 0.5)).map(
    lambda pair: (1 + pair[0] * pair[1], 1 + pair[0] * (1 - pair[1]))
)
student_laws = st.tuples(
    st.floats(-3, 3), logarithmic(1e-4, 1e4), st.floats(0, 1).map(lambda u: 10 ** (7 * u * u))
)
any_shape = logarithmic(1e-3, 1e9)
any_student = st.tuples(
    st.floats(-1e3, 1e3), logarithmic(1e-8, 1e8) | st.just(0.0), logarithmic(0.1, 1e9)
)


class TestBeta:
    def test_closed_forms(self):
        assert beta_wins([(3.5, 0.2)]).tolist() == [1.0]
        assert beta_wins([(1, 1), (2, 1)]) == pytest.approx([1 / 3, 2 / 3], abs=1e-12)
        assert beta_wins([(1, 1), (1e6, 2e6)]) == pytest.approx([2 / 3, 1 / 3], abs=1e-12)
        # The largest of k uniform numbers is Beta(k, 1): another one beats it with 1 / (k + 1).
        assert beta_wins([(1, 1), (50, 1)]) == pytest.approx([1 / 51, 50 / 51], abs=1e-12)

    @pytest.mark.parametrize("count", [2, 3, 12, 200])
    @pytest.mark.parametrize("law", [(20, 300), (0.01, 0.01), (1e7, 3e7), (0.01, 1e7), (1e7, 0.01)])
    def test_equal_laws_share_evenly(self, count, law):
        assert beta_wins([law] * count) == pytest.approx(np.full(count, 1 / count), abs=1e-11)

    @settings(max_examples=40)
    @given(sets_of(st.tuples(shapes, shapes)))
    @example([(1, 1), (1e6, 2e6), (0.06, 0.06), (1e7, 0.1)])
    def test_agrees_with_scipy(self, laws):
        assert beta_wins(laws) == pytest.approx(beta_by_scipy(laws), abs=1e-9)

    @settings(max_examples=40)
    @given(sets_of(near_shapes))
    def test_click_posteriors_agree_with_scipy(self, laws):
        assert beta_wins(laws) == pytest.approx(beta_by_scipy(laws), abs=1e-9)

    @given(sets_of(st.tuples(any_shape, any_shape), most=200))
    @example([(1e-9, 1e-9), (1e12, 1e12), (1e-9, 1e12), (1e12, 1e-9)])
    def test_any_laws_give_probabilities(self, laws):
        assert_probabilities(beta_wins(laws), len(laws))

    @given(sets_of(st.tuples(any_shape, any_shape), most=20), st.randoms())
    def test_order_does_not_matter(self, laws, random):
        order = list(range(len(laws)))
        random.shuffle(order)
        shuffled = beta_wins([laws[arm] for arm in order])
        assert shuffled == pytest.approx(beta_wins(laws)[order], abs=1e-12)

    @given(st.tuples(any_shape, any_shape), st.tuples(any_shape, any_shape))
    def test_two_arms_swap_when_success_and_failure_swap(self, one, other):
        wins = beta_wins([one, other])
        assert beta_wins([one[::-1], other[::-1]]) == pytest.approx(wins[::-1], abs=1e-9)

    @pytest.mark.parametrize("bad", [0.0, -1.0, 1e-10, 1e13, *NAN_AND_INFINITIES])
    def test_bad_shapes(self, bad):
        for law in [(bad, 1.0), (1.0, bad)]:
            with pytest.raises(ValueError, match="shapes must be between"):
                beta_wins([(1.0, 1.0), law])

    def test_bad_lengths(self):
        with pytest.raises(ValueError, match="b has length 3, expected 2"):
            beta_win_probabilities(np.ones(2), np.ones(3))
        with pytest.raises(ValueError, match="at least one law"):
            beta_win_probabilities(np.ones(0), np.ones(0))


class TestStudent:
    def test_closed_forms(self):
        assert student_wins([(2, 3, 4)]).tolist() == [1.0]
        # The difference of two Cauchy draws is Cauchy, and its scale is the sum of the scales.
        expected = 0.5 + math.atan(0.7 / 3) / math.pi
        assert student_wins([(0.7, 1, 1), (0, 2, 1)]) == pytest.approx(
            [expected, 1 - expected], abs=1e-11
        )
        # Almost normal: the difference has the variance 1 + 4.
        expected = stats.norm.cdf(0.7 / math.sqrt(5))
        assert student_wins([(0.7, 1, 1e12), (0, 2, 1e12)])[0] == pytest.approx(expected, abs=1e-11)

    @pytest.mark.parametrize("count", [2, 3, 12, 200])
    @pytest.mark.parametrize(
        "law", [(0, 1, 1), (-7, 1e-8, 3), (1e6, 1e-3, 1e7), (5, 0, 1), (0, 1, 0.1)]
    )
    def test_equal_laws_share_evenly(self, count, law):
        assert student_wins([law] * count) == pytest.approx(np.full(count, 1 / count), abs=1e-11)

    @settings(max_examples=40)
    @given(sets_of(student_laws))
    @example([(0, 1, 1), (0, 1e-8, 1), (1e-8, 1e-8, 1e7), (0.5, 1e4, 2)])
    def test_agrees_with_scipy(self, laws):
        assert student_wins(laws) == pytest.approx(student_by_scipy(laws), abs=1e-9)

    @given(sets_of(any_student, most=200))
    @example([(1e150, 1e150, 0.1), (-1e150, 1e-150, 0.1), (0, 1e-150, 1e300), (1, 1e-20, 1)])
    def test_any_laws_give_probabilities(self, laws):
        assert_probabilities(student_wins(laws), len(laws))

    @given(sets_of(any_student, most=20), st.randoms())
    def test_order_does_not_matter(self, laws, random):
        order = list(range(len(laws)))
        random.shuffle(order)
        shuffled = student_wins([laws[arm] for arm in order])
        assert shuffled == pytest.approx(student_wins(laws)[order], abs=1e-12)

    @given(student_laws, student_laws)
    def test_two_arms_swap_when_mirrored(self, one, other):
        wins = student_wins([one, other])
        mirrored = [(-location, *rest) for location, *rest in [one, other]]
        assert student_wins(mirrored) == pytest.approx(wins[::-1], abs=1e-11)

    @given(student_laws, student_laws, st.floats(-3, 3))
    def test_a_single_value_wins_if_it_exceeds_every_draw(self, one, other, value):
        wins = student_wins([one, (value, 0, 1), other, (value, 0, 5), (value - 0.5, 0, 1)])
        both_below = np.prod([stats.t.cdf((value - m) / s, v) for m, s, v in [one, other]])
        assert wins[[1, 3]] == pytest.approx(np.full(2, both_below / 2), abs=1e-10)
        assert wins[4] == 0

    def test_single_values_only(self):
        wins = student_wins([(1, 0, 1), (2, 0, 1), (2, 0, 9), (-3, 0, 1), (2, 0, 2)])
        assert wins == pytest.approx([0, 1 / 3, 1 / 3, 0, 1 / 3], abs=1e-15)

    def test_a_single_value_is_the_limit_of_narrow_laws(self):
        narrow, single = ([(0, 1, 3), (0.4, scale, 3), (0.1, 2, 8)] for scale in [1e-12, 0])
        assert student_wins(narrow) == pytest.approx(student_wins(single), abs=1e-11)

    def test_far_from_zero(self):
        laws = np.array([(0.0, 1.0, 3.0), (0.5, 2.0, 8.0), (1.0, 1.0, 1.0)])
        shifted = laws + np.array([2.0**40, 0, 0])
        assert student_wins(shifted) == pytest.approx(student_wins(laws), abs=1e-12)

    @pytest.mark.parametrize("bad", NAN_AND_INFINITIES)
    def test_not_finite(self, bad):
        for law in [(bad, 1, 1), (1, bad, 1), (1, 1, bad)]:
            with pytest.raises(ValueError, match="must be"):
                student_wins([(0, 1, 1), law])

    def test_bad_laws(self):
        with pytest.raises(ValueError, match="scales must be"):
            student_wins([(0, -1, 1)])
        with pytest.raises(ValueError, match="freedoms must be"):
            student_wins([(0, 0, 0)])
        with pytest.raises(ValueError, match="locations must be"):
            student_wins([(1e200, 1, 1)])

    def test_bad_lengths(self):
        with pytest.raises(ValueError, match="scale has length 3, expected 2"):
            student_win_probabilities(np.ones(2), np.ones(3), np.ones(2))
        with pytest.raises(ValueError, match="freedom has length 1, expected 2"):
            student_win_probabilities(np.ones(2), np.ones(2), np.ones(1))
        with pytest.raises(ValueError, match="at least one law"):
            student_win_probabilities(np.ones(0), np.ones(0), np.ones(0))


def shares_by_enumeration(arms):
    shares = np.zeros(len(arms))
    for combination in itertools.product(*arms):
        largest = np.array(combination) == max(combination)
        shares += largest / largest.sum()
    return shares / math.prod(map(len, arms))


def shares(arms):
    return win_shares([np.array(arm, dtype=float) for arm in arms])


class TestShares:
    @given(sets_of(st.lists(st.integers(-2, 2) | st.floats(-3, 3), min_size=1, max_size=4), most=5))
    @example([[0.0, 0.0], [-0.0, 1.0], [1.0]])
    def test_agrees_with_enumeration(self, arms):
        assert shares(arms) == pytest.approx(shares_by_enumeration(arms), abs=1e-14)

    @pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 33, 200])
    def test_one_common_value_is_shared_evenly(self, count):
        assert shares([[3.0]] * count) == pytest.approx(np.full(count, 1 / count), abs=1e-15)

    @pytest.mark.parametrize("count", [2, 16, 17, 40, 200])
    def test_many_arms_that_tie_at_two_values(self, count):
        """One arm always has a 1, the others with one half each."""
        wins = shares([[1.0], *[[0.0, 1.0]] * (count - 1)])
        # The mean of 1 / (1 + Binomial(count - 1, 1 / 2)).
        expected = (1 - 0.5**count) / (count / 2)
        assert wins[0] == pytest.approx(expected, rel=1e-13)
        assert wins[1:] == pytest.approx(
            np.full(count - 1, (1 - expected) / (count - 1)), rel=1e-13
        )

    @given(sets_of(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=30), most=40))
    def test_any_values_give_probabilities(self, arms):
        assert_probabilities(shares(arms), len(arms))

    def test_quantiles_of_laws_approach_the_laws(self):
        levels = (np.arange(4000) + 0.5) / 4000
        laws = [(3, 5), (30, 40), (2, 2)]
        found = shares([stats.beta.ppf(levels, a, b) for a, b in laws])
        assert found == pytest.approx(beta_wins(laws), abs=1e-4)

    @pytest.mark.parametrize("bad", NAN_AND_INFINITIES)
    def test_not_finite(self, bad):
        with pytest.raises(ValueError, match="values must be finite"):
            shares([[1.0], [2.0, bad]])

    def test_nothing_to_compare(self):
        with pytest.raises(ValueError, match="at least one arm"):
            shares([])
        with pytest.raises(ValueError, match="an arm has no value"):
            shares([[1.0], []])
