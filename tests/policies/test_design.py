"""Design rows against means and deviations that are computed from the whole log."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditree.contexts import Encoder
from banditree.policies.linear.columns import capacity, grown
from banditree.policies.linear.design import Design
from banditree.policies.linear.penalty import N_FOLDS, add_outer, fold_ids, symmetric_inverse
from policies.linear_streams import (
    CITIES,
    CONTEXTS,
    NaiveDesign,
    Row,
    assert_close,
    by_key,
    long_stream,
)


class Both:
    """A design and the naive one, fed alike."""

    def __init__(self) -> None:
        self.encoder, self.design, self.naive = Encoder(), Design(), NaiveDesign()
        self.raw: list[Any] = []

    def learn(self, context: Row) -> None:
        row, pending = self.encoder.stage_one(context)
        self.encoder.commit(pending)
        self.design.set_features(self.encoder.is_categorical)
        renewed, _ = self.design.learn(row)
        self.naive.learn(context, renewed)

    def compare(self, context: Row) -> None:
        row = self.encoder.encode_one(context)
        found = by_key(self.design, self.encoder, self.design.standardise(row))
        assert_close(found, self.naive.row(context), 1e-6)


@given(st.lists(CONTEXTS, min_size=1, max_size=25), CONTEXTS)
def test_rows_are_standardised_with_the_moments_of_the_log(contexts, other):
    both = Both()
    for i, context in enumerate(contexts):
        both.learn(context)
        for seen in [*contexts[: i + 1], other]:
            both.compare(seen)


def test_rows_of_a_long_stream():
    both = Both()
    for context, _, _ in long_stream(1, 300):
        both.learn(context)
        both.compare(context)
    assert both.naive.due > 300


@given(st.lists(CONTEXTS, min_size=1, max_size=25))
def test_sums_of_raw_rows_give_those_of_standardised_rows(contexts):
    both = Both()
    moments, known = np.zeros((0, 0)), []
    for context in contexts:
        row, pending = both.encoder.stage_one(context)
        both.encoder.commit(pending)
        both.design.set_features(both.encoder.is_categorical)
        _, copies = both.design.learn(row)
        moments = np.pad(moments, (0, both.design.width - len(moments)))
        for column in copies:
            moments[column, :] = moments[0, :]
            moments[:, column] = moments[:, 0]
        raw, from_raw = both.design.raw(row), both.design.from_raw
        moments += np.outer(raw, raw)
        assert from_raw(raw) == pytest.approx(both.design.standardise(row), abs=1e-9)
        known.append(both.design.known(row))
    width = both.encoder.n_features
    rows = [np.pad(row, (0, width - len(row)), constant_values=np.nan) for row in known]
    standard = both.design.standardise_many(np.array(rows))
    assert from_raw(from_raw(moments).T) == pytest.approx(standard.T @ standard, abs=1e-7)


@given(st.lists(CONTEXTS, min_size=1, max_size=25))
def test_many_rows_at_once_are_the_same_to_the_last_bit(contexts):
    both = Both()
    for context in contexts:
        both.learn(context)
    rows = both.encoder.encode_many(contexts)
    each = np.stack([both.design.standardise(row) for row in rows])
    assert (both.design.standardise_many(rows) == each).all()


@given(st.lists(CONTEXTS, min_size=2, max_size=25))
def test_coefficients_carry_over_to_another_scale(contexts):
    """Where no number is missing, predictions stay the same."""
    full = [{"pay": 1.0, "height": 2.0, "since": 1.7e9, **c} for c in contexts]
    full = [{k: v for k, v in c.items() if v is not None} | {"pay": i} for i, c in enumerate(full)]
    both = Both()
    for context in full:
        both.learn(context)
    design, rows = both.design, both.encoder.encode_many(full)
    former, standard = design.scale, design.standardise_many(rows)
    coefficients = np.random.default_rng(1).normal(size=design.width)
    for column in both.encoder.encode_many([{**full[0], "pay": 99.0 + i} for i in range(9)]):
        design.learn(column)
    coefficients[former.inverse == 0] = 0
    wider = np.pad(coefficients, (0, design.width - len(coefficients)))
    again = design.standardise_many(rows) @ design.scale.carry_over(wider, former)
    assert again == pytest.approx(standard @ coefficients, abs=1e-6)


def test_a_large_offset_costs_no_precision():
    both = Both()
    seconds = np.array([5, 3, 9, 4, 4, 7, 1, 0, 2])
    for second in seconds:
        both.learn({"time": 1e12 + second})
    assert both.naive.due > len(seconds)  # so the last one made the scale
    found = both.design.standardise(both.encoder.encode_one({"time": 1e12 + 9}))
    assert found[1] == pytest.approx((9 - seconds.mean()) / seconds.std(), rel=1e-12)


def test_extreme_numbers_stay_finite():
    both = Both()
    values = [0.0, 1e308, -1e308, 5e-324, 1e-200, 3.0]
    for i, value in enumerate(values * 3):
        row, pending = both.encoder.stage_one({"wild": value, "tiny": 1e-300 * i})
        both.encoder.commit(pending)
        both.design.set_features(both.encoder.is_categorical)
        both.design.learn(row)
        assert np.abs(both.design.standardise(row)).max() <= np.sqrt(i + 1)
        assert np.isfinite(both.design.raw(row)).all()
        assert np.isfinite(both.design.from_raw(np.eye(both.design.width))).all()


def test_constant_features_do_not_renew_the_scale():
    both = Both()
    renewals = 0
    for i in range(100):
        row, pending = both.encoder.stage_one({"always": 7.0, "city": "Rome", "age": i % 10})
        both.encoder.commit(pending)
        both.design.set_features(both.encoder.is_categorical)
        renewals += both.design.learn(row).renewed
    assert renewals < 25
    standard = both.design.standardise(both.encoder.encode_one({"always": 9.0, "age": 3}))
    assert list(np.flatnonzero(standard)) == [0, 2]


@pytest.mark.parametrize("n_values", [200, 1000, None])
def test_rows_stay_short_however_many_categories_there_are(n_values):
    random, design = np.random.default_rng(1), Design()
    design.set_features([True])
    for i in range(5000):
        design.learn(np.array([float(i if n_values is None else random.integers(n_values))]))
    # One in a hundred contexts each, and those that chance made common at the beginning.
    assert design.size < 2 * 100


def test_bits_are_lower_the_more_there_are_of_a_feature():
    both = Both()
    for i in range(50):
        both.learn({"city": CITIES[i % 4], "rare": f"id {i}"})
    standard = both.design.standardise(both.encoder.encode_one({"city": "Oslo", "rare": "id 3"}))
    assert sorted(standard[standard != 0]) == pytest.approx([4**-0.25, 1])
    assert both.design.size == 1 + len(CITIES)


def test_a_design_goes_on_from_its_state():
    both, copy = Both(), Design()
    for i, (context, _, _) in enumerate(long_stream(2, 120)):
        if i in (1, 50, 51):
            copy = Design()
            copy.set_features(both.encoder.is_categorical)
            copy.restore(both.design.state())
        both.learn(context)
        if i > 0:
            copy.set_features(both.encoder.is_categorical)
            copy.learn(both.encoder.encode_one(context))
            for name, array in both.design.state().items():
                assert (copy.state()[name] == array).all(), name


def test_capacity_leaves_little_room():
    for n in range(1, 5000):
        room = capacity(n) - n
        assert 0 <= room <= max(7, n / 8)


def test_a_quarter_more():
    assert [grown(n, 0.25) for n in (0, 1, 3, 4, 5, 100)] == [1, 2, 4, 5, 7, 125]


def test_folds_follow_from_the_row_number():
    assert fold_ids(0, 12).tolist() == [*fold_ids(0, 7), *fold_ids(7, 12)]
    counts = np.bincount(fold_ids(0, 10_000), minlength=N_FOLDS)
    # Five standard errors of a binomial count.
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(10_000 * 0.2 * 0.8)


def test_inverse_of_a_singular_matrix_keeps_to_the_least_eigenvalue():
    singular = np.ones((2, 2))
    inverse = symmetric_inverse(singular, np.array(0.5))
    assert inverse == pytest.approx(np.array([[1.25, -0.75], [-0.75, 1.25]]))


def test_rank_one_update():
    random = np.random.default_rng(3)
    matrix, x = np.diag([1.0, 2.0, 3.0]), random.normal(size=3)
    inverse = np.linalg.inv(matrix)
    direction, growth = add_outer(inverse, x, 0.7)
    assert inverse == pytest.approx(np.linalg.inv(matrix + 0.7 * np.outer(x, x)))
    assert (inverse == inverse.T).all()
    assert direction == pytest.approx(x / np.diag(matrix))
    assert growth == pytest.approx(1 + 0.7 * x @ direction)
