"""Small data sets with many ties, missing values and odd weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# Exact arithmetic takes its time, and so does drawing whole tables on a busy machine.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SMALL_INTEGERS = st.integers(-3, 3)
FLOATS = st.floats(-1e6, 1e6)
STRINGS = st.sampled_from("abcdefg")
BOOLEANS = st.booleans()
CODES = st.integers(0, 4)  # numbers that are categories because `categorical=` says so

EIGHTHS = st.integers(1, 40).map(lambda k: k / 8)
HUNDREDTHS = st.integers(10, 500).map(lambda k: k / 100)


@dataclass(frozen=True)
class Data:
    rows: list[list[Any]]
    y: list[float]
    weights: list[float] | None
    categorical: frozenset[int]  # every category column
    named: tuple[int, ...]  # those that only `categorical=` tells from numbers
    others: list[list[Any]]  # further contexts, with values the rows do not have
    folds: list[int]


@dataclass(frozen=True)
class Column:
    values: st.SearchStrategy[Any]
    unseen: st.SearchStrategy[Any]
    category: bool
    named: bool = False


COLUMNS = st.sampled_from(
    [
        Column(SMALL_INTEGERS, st.integers(-5, 5), category=False),
        Column(FLOATS, FLOATS, category=False),
        Column(STRINGS, st.sampled_from("abcdefgxyz"), category=True),
        Column(BOOLEANS, BOOLEANS, category=True),
        Column(CODES, st.integers(0, 7), category=True, named=True),
    ]
)


def rewards(exact: bool) -> st.SearchStrategy[st.SearchStrategy[float]]:
    """Strategies for one reward; `exact` ones add up without rounding."""
    quarters = st.sampled_from([0, 1000, -1000]).map(
        lambda offset: st.integers(-8, 8).map(lambda k: offset + k / 4)
    )
    tenths = st.just(st.integers(-20, 20).map(lambda k: k / 10))
    binary, whole = st.just(st.integers(0, 1)), st.just(st.integers(-3, 3))
    return st.one_of(binary, whole, quarters) if exact else st.one_of(binary, quarters, tenths)


@st.composite
def row_weights(draw: st.DrawFn, n: int, exact: bool) -> list[float] | None:
    one = draw(st.sampled_from([None, st.integers(0, 3), EIGHTHS if exact else HUNDREDTHS]))
    if one is None:
        return None
    return draw(st.lists(one, min_size=n, max_size=n).filter(any))


@st.composite
def contexts(draw: st.DrawFn, columns: list[st.SearchStrategy[Any]], n: int) -> list[list[Any]]:
    drawn = [draw(st.lists(column, min_size=n, max_size=n)) for column in columns]
    return [list(row) for row in zip(*drawn, strict=True)]


def numbered(folds: list[int]) -> list[int]:
    """Number the folds from 0 without gaps."""
    ids = sorted(set(folds))
    return [ids.index(fold) for fold in folds]


@st.composite
def data_sets(draw: st.DrawFn, *, exact: bool = True, max_rows: int = 40) -> Data:
    """Draw a data set; `exact`: categories of equal mean reward have it to the last bit."""
    n = draw(st.integers(1, max_rows))
    columns = draw(st.lists(COLUMNS, min_size=1, max_size=4))
    gaps = [draw(st.booleans()) for _ in columns]
    values = [
        c.values | st.none() if gap else c.values for c, gap in zip(columns, gaps, strict=True)
    ]
    reward = draw(rewards(exact))
    return Data(
        rows=draw(contexts(values, n)),
        y=draw(st.lists(reward, min_size=n, max_size=n)),
        weights=draw(row_weights(n, exact)),
        categorical=frozenset(j for j, c in enumerate(columns) if c.category),
        named=tuple(j for j, c in enumerate(columns) if c.named),
        others=draw(contexts([c.unseen | st.none() for c in columns], 8)),
        folds=draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).map(numbered)),
    )


@st.composite
def tree_settings(draw: st.DrawFn, *, min_leaf: int = 4) -> dict[str, Any]:
    """Draw the settings of a tree, without its bins."""
    gain = draw(st.sampled_from(["plain", "adjusted"]))
    return draw(policy_settings(min_leaf=min_leaf)) | {"category_gain": gain}


@st.composite
def policy_settings(draw: st.DrawFn, *, min_leaf: int = 4) -> dict[str, Any]:
    """Draw the settings of trees that a policy takes."""
    return {
        "min_split": draw(st.integers(2, 6)),
        "min_leaf": draw(st.integers(1, min_leaf)),
        "max_depth": draw(st.none() | st.integers(1, 4)),
    }


@st.composite
def cases(
    draw: st.DrawFn, *, exact: bool = True, max_rows: int = 40
) -> tuple[Data, dict[str, Any]]:
    """Draw a data set and settings under which its tree is unambiguous.

    With min_leaf > 1 the order of categories of equal mean can decide, so it is not drawn where
    rounding may make equal means unequal.
    """
    data = draw(data_sets(exact=exact, max_rows=max_rows))
    min_leaf = 4 if exact or not data.categorical else 1
    return data, draw(tree_settings(min_leaf=min_leaf))
