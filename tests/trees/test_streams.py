"""The incremental tree is the batch tree after every single row of real data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import banditree as bt
from banditree import _core
from trees import real_data

BINS = pytest.mark.parametrize("max_bins", [None, 255])
NAMES = pytest.mark.parametrize("name", real_data.NAMES)


def assert_same_nodes(found: _core.Tree, expected: _core.Tree) -> None:
    """Compare to the last bit: with rewards of 0 and 1 all sums are exact."""
    assert np.array_equal(found.nodes(), expected.nodes())
    assert found.sides() == expected.sides()


def assert_same_after_every_row(contexts: Any, y: np.ndarray, max_bins: int | None) -> None:
    encoder = bt.Tree(max_depth=0).fit(contexts, y)._encoder
    rows, categorical = encoder.encode_many(contexts), encoder.is_categorical
    incremental = bt.IncrementalTree(max_bins=max_bins)
    for i, context in enumerate(contexts, start=1):
        incremental.learn(context, y[i - 1])
        edges = None if max_bins is None else incremental._core.edges()
        settings = (2, 1, None, max_bins, False, edges)
        expected = _core.Tree.fit(rows[:i], categorical, y[:i], None, *settings)
        assert_same_nodes(incremental._core.as_tree(), expected)


@BINS
@NAMES
def test_same_tree_after_every_row(name: str, max_bins: int | None) -> None:
    data = real_data.stream(name, 300)
    assert_same_after_every_row(data.contexts, data.y, max_bins)


@pytest.mark.slow
@BINS
@NAMES
def test_same_tree_after_every_row_of_a_long_stream(name: str, max_bins: int | None) -> None:
    data = real_data.stream(name, 3000)
    assert len(data.y) == 3000
    assert 0.02 < data.y.mean() < 0.98
    assert_same_after_every_row(data.contexts, data.y, max_bins)


@NAMES
def test_made_up_data_has_the_shape_of_the_real(name: str) -> None:
    source = real_data.SOURCES[name]
    made_up = real_data.made_up(source, 300, np.random.default_rng(1))
    real = real_data.stream(name, 300)
    assert 0.02 < made_up.y.mean() < 0.98
    assert len(made_up.contexts) == len(real.contexts) == 300
    kinds = [
        [bt.Tree().fit(d.contexts, d.y)._encoder.is_categorical.sum()] for d in (made_up, real)
    ]
    assert kinds[0] == kinds[1]
    assert len(made_up.contexts[0]) == len(real.contexts[0])
