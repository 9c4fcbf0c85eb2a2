"""The random generator of the core: its bits, its state, and the laws of its distributions.

Every test has a fixed seed, so it passes or fails for ever: a p-value under 1e-4 is a bug.
"""

import copy
import gc
import pickle

import numpy as np
import pytest
from scipy import stats

from banditree._core import Generator

DRAWS = 200_000
SMALLEST_P = 1e-4
SHAPES = [0.05, 0.5, 1.0, 2.5, 100.0, 1e6]
MASK = 2**64 - 1


def rotate(word, bits):
    return (word << bits | word >> (64 - bits)) & MASK


class NaiveGenerator:
    """xoshiro256++ seeded by SplitMix64, in Python's unbounded integers."""

    def __init__(self, seed):
        self.words = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.words.append(z ^ (z >> 31))

    def next(self):
        a, b, c, d = self.words
        result = (rotate((a + d) & MASK, 23) + a) & MASK
        c, d = c ^ a, d ^ b
        self.words = [a ^ d, b ^ c, c ^ ((b << 17) & MASK), rotate(d, 45)]
        return result

    def uniform(self):
        return (self.next() >> 11) / 2**53

    def integer(self, n):
        """Lemire's method for n < 2**32, with the division done every time."""
        while True:
            product = (self.next() >> 32) * n
            if product % 2**32 >= 2**32 % n:
                return product >> 32


def assert_law(draws, cdf):
    assert np.isfinite(draws).all()
    assert stats.kstest(draws, cdf).pvalue > SMALLEST_P


def assert_counts(observed, expected):
    assert stats.chisquare(observed, expected).pvalue > SMALLEST_P


def hexes(draws):
    return [float(draw).hex() for draw in draws]


@pytest.mark.parametrize("seed", [0, 1, 42, 2**63, MASK])
def test_same_bits_as_the_naive_generator(seed):
    naive, generator = NaiveGenerator(seed), Generator(seed)
    assert generator.state == tuple(naive.words)
    assert generator.uniform(1000).tolist() == [naive.uniform() for _ in range(1000)]
    assert generator.state == tuple(naive.words)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000, 2**31 + 1, 3_000_000_000, 2**32 - 1])
def test_same_integers_as_the_naive_generator(n):
    naive, generator = NaiveGenerator(5), Generator(5)
    assert generator.integers(n, 1000).tolist() == [naive.integer(n) for _ in range(1000)]
    assert generator.state == tuple(naive.words)


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("uniform", (), ["0x1.a0ec9a9e88ecdp-1", "0x1.467905d15dbccp-2"]),
        ("exponential", (), ["0x1.a4b34cba2d5cfp-3", "0x1.24a3dcafc0e0bp+0"]),
        ("normal", (), ["-0x1.86dfb256cae63p-2", "0x1.86171210dd637p-3"]),
        ("gamma", (0.05,), ["0x1.97525260a6f26p-6", "0x1.dad2fd656f616p-63"]),
        ("gamma", (2.5,), ["0x1.a6e779d6343d6p+0", "0x1.b3d8177ac18d0p+1"]),
        ("gamma", (1e6,), ["0x1.e8184015303abp+19", "0x1.e8a1c059f3e54p+19"]),
        ("beta", (3.0, 70.0), ["0x1.b7901a73851afp-6", "0x1.35b5c4bbb92c5p-4"]),
        ("beta", (0.5, 0.5), ["0x1.fd455da74e961p-1", "0x1.c0734d8d3f700p-1"]),
    ],
)
def test_golden_values(name, parameters, expected):
    assert hexes(getattr(Generator(42), name)(*parameters, 2)) == expected


def test_golden_integers_and_weights():
    assert Generator(42).integers(3 << 60, 2).tolist() == [1470302532832841188, 3233417234939776366]
    assert Generator(42).multinomial_weights(8).tolist() == [0, 1, 1, 0, 2, 1, 2, 1]
    assert hexes(Generator(42).exponential_weights(1)) == ["0x1.a4b34cba2d5cfp-3"]


def test_uniform_law():
    draws = Generator(1).uniform(DRAWS)
    assert draws.min() >= 0
    assert draws.max() < 1
    assert_law(draws, stats.uniform.cdf)


@pytest.mark.parametrize("n", [2, 3, 7, 100, 1000])
def test_integers_are_unbiased(n):
    counts = np.bincount(Generator(2).integers(n, DRAWS), minlength=n)
    assert_counts(counts, np.full(n, DRAWS / n))


@pytest.mark.parametrize("n", [3 * 2**30, 3 * 2**61])
def test_large_integers_are_unbiased(n):
    """Plain scaling, or a remainder, would favour a third of these numbers two to one."""
    draws = Generator(3).integers(n, DRAWS)
    thirds, remainders = draws // (n // 3), draws % 3
    assert_counts(np.bincount(thirds, minlength=3), np.full(3, DRAWS / 3))
    assert_counts(np.bincount(remainders, minlength=3), np.full(3, DRAWS / 3))


def test_exponential_law():
    draws = Generator(4).exponential(DRAWS)
    assert draws.min() > 0
    assert_law(draws, stats.expon.cdf)


def test_normal_law():
    draws = Generator(5).normal(DRAWS)
    assert_law(draws, stats.norm.cdf)
    in_the_tail = np.count_nonzero(np.abs(draws) > 3.5)
    p = stats.binomtest(in_the_tail, DRAWS, 2 * stats.norm.sf(3.5)).pvalue
    assert p > SMALLEST_P


@pytest.mark.parametrize("shape", SHAPES)
def test_gamma_law(shape):
    draws = Generator(6).gamma(shape, DRAWS)
    assert draws.min() > 0
    assert_law(draws, stats.gamma(shape).cdf)


def test_gamma_of_a_huge_shape_is_normal():
    shape = 1e14
    draws = Generator(7).gamma(shape, DRAWS)
    assert_law((draws - shape) / np.sqrt(shape), stats.norm.cdf)


@pytest.mark.parametrize("shape", [1e-3, 1e-5, 1e-300])
def test_tiny_gamma_is_cut_at_the_smallest_normal_number(shape):
    smallest = np.finfo(float).tiny
    draws = Generator(8).gamma(shape, DRAWS)
    assert draws.min() == smallest
    cut = np.count_nonzero(draws == smallest)
    share = min(1.0, stats.gamma(shape).cdf(smallest))  # scipy itself rounds above 1
    assert stats.binomtest(cut, DRAWS, share).pvalue > SMALLEST_P


@pytest.mark.parametrize(
    ("a", "b"),
    [(1.0, 1.0), (1.0, 2.5), (3.0, 70.0), (0.5, 0.5), (0.05, 0.5), (0.05, 100.0), (1e6, 1e6)],
)
def test_beta_law(a, b):
    assert_law(Generator(9).beta(a, b, DRAWS), stats.beta(a, b).cdf)


@pytest.mark.parametrize("shape", [0.05, 0.01])
def test_small_symmetric_beta_law(shape):
    """A double near 1 is too coarse for this law, so test the lower half and the symmetry."""
    draws = Generator(10).beta(shape, shape, DRAWS)
    lower = draws[draws < 0.5]
    assert_law(lower, lambda x: 2 * stats.beta(shape, shape).cdf(x))
    assert stats.binomtest(lower.size, DRAWS).pvalue > SMALLEST_P


def test_multinomial_weights_law():
    n, repeats = 50, 4000
    generator = Generator(11)
    weights = np.array([generator.multinomial_weights(n) for _ in range(repeats)])
    assert (weights.sum(axis=1) == n).all()
    assert_counts(weights.sum(axis=0), np.full(n, repeats))
    first = np.bincount(np.minimum(weights[:, 0].astype(int), 4), minlength=5)
    law = stats.binom(n, 1 / n)
    assert_counts(first, repeats * np.append(law.pmf(range(4)), law.sf(3)))


def test_exponential_weights_are_exponential_draws():
    assert (Generator(12).exponential_weights(500) == Generator(12).exponential(500)).all()


@pytest.mark.parametrize("lag", [1, 2, 3])
def test_successive_draws_are_uncorrelated(lag):
    draws = Generator(13).uniform(DRAWS)
    assert stats.pearsonr(draws[:-lag], draws[lag:]).pvalue > SMALLEST_P


def test_streams_are_uncorrelated():
    parent = Generator(14)
    streams = [parent.child(k) for k in range(6)] + [parent.child(0).child(1), Generator(15)]
    draws = [stream.uniform(DRAWS) for stream in [parent, *streams]]
    for i, first in enumerate(draws):
        for second in draws[:i]:
            assert stats.pearsonr(first, second).pvalue > SMALLEST_P


def test_first_draws_of_many_streams_are_uniform():
    parent = Generator(16)
    assert_law([parent.child(k).uniform(1)[0] for k in range(20_000)], stats.uniform.cdf)
    assert_law([Generator(seed).uniform(1)[0] for seed in range(20_000)], stats.uniform.cdf)


def test_child_leaves_its_parent_unchanged():
    parent = Generator(17)
    before = parent.state
    child = parent.child(3)
    child.uniform(10)
    assert parent.state == before
    assert parent.child(3).state == Generator(17).child(3).state
    assert len({parent.child(k).state for k in range(1000)}) == 1000


def draw_everything(generator):
    return [
        generator.uniform(3),
        generator.integers(7, 3),
        generator.exponential(3),
        generator.normal(3),
        generator.gamma(0.3, 3),
        generator.beta(0.3, 4.0, 3),
        generator.multinomial_weights(5),
        generator.exponential_weights(5),
    ]


def restored(generator):
    other = Generator(0)
    other.state = generator.state
    return other


def unpickled(generator):
    return pickle.loads(pickle.dumps(generator))


@pytest.mark.parametrize("duplicate", [restored, unpickled, copy.copy, copy.deepcopy])
def test_duplicate_continues_identically(duplicate):
    generator = Generator(18)
    generator.normal(7)
    other = duplicate(generator)
    np.testing.assert_equal(draw_everything(other), draw_everything(generator))
    assert other.state == generator.state


def test_one_call_equals_many():
    together, apart = Generator(19), Generator(19)
    assert together.normal(50).tolist() == [apart.normal(1)[0] for _ in range(50)]


def test_arrays_have_the_documented_types():
    arrays = draw_everything(Generator(20))
    assert [array.dtype for array in arrays] == [np.float64, np.int64] + [np.float64] * 6
    assert all(array.ndim == 1 and array.flags.c_contiguous for array in arrays)


def test_arrays_outlive_their_generator():
    generator = Generator(21)
    draws = generator.uniform(1000)
    kept = draws.copy()
    del generator
    gc.collect()
    np.testing.assert_array_equal(draws, kept)


def test_empty_arrays_draw_nothing():
    generator = Generator(22)
    assert generator.uniform(0).shape == (0,)
    assert generator.integers(3, 0).shape == (0,)
    assert generator.multinomial_weights(0).shape == (0,)
    assert generator.state == Generator(22).state


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_bad_shapes_are_refused(bad):
    generator = Generator(23)
    with pytest.raises(ValueError, match="gamma: shape must be a finite number above 0, got"):
        generator.gamma(bad, 1)
    with pytest.raises(ValueError, match="beta: a must be a finite number above 0, got"):
        generator.beta(bad, 1.0, 1)
    with pytest.raises(ValueError, match="beta: b must be a finite number above 0, got"):
        generator.beta(1.0, bad, 1)
    assert generator.state == Generator(23).state


@pytest.mark.parametrize("n", [0, -3])
def test_integers_of_no_numbers_are_refused(n):
    with pytest.raises(ValueError, match=f"integers: n must be at least 1, got {n}"):
        Generator(24).integers(n, 1)


def test_bad_states_are_refused():
    generator = Generator(25)
    with pytest.raises(ValueError, match="at least one of the four words must not be 0"):
        generator.state = (0, 0, 0, 0)
    with pytest.raises(TypeError, match="incompatible"):
        generator.state = (1, 2, 3)
    assert generator.state == Generator(25).state


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", None])
def test_seed_must_be_a_64_bit_integer(seed):
    with pytest.raises(TypeError, match="seed: int"):
        Generator(seed)
