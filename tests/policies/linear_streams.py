"""Streams for the policies that fit linear models, and what they define, computed the plain way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from banditree.policies.linear.columns import ABSENCE, BIT, CONSTANT
from banditree.policies.linear.design import Design
from banditree.policies.linear.penalty import GRID, fold_ids

Row = dict[str, Any]
Key = tuple[str, Any]  # a feature and, if it is a category, which one
Observation = tuple[Row, str, float]

ONE: Key = ("", None)  # the constant
CITIES = ["Rome", "Oslo", "Bern", "Riga"]


class NaiveDesign:
    """All contexts are kept; whatever is asked for is computed from them anew."""

    def __init__(self) -> None:
        self.log: list[Row] = []
        self.due = 1
        self.scale: dict[Key, tuple[float, float, int]] = {}  # mean, standard deviation, n
        self.bits: dict[Key, float] = {}  # what each is where it is set

    def learn(self, context: Row, renewed: bool) -> None:
        """Take in a context; require that the scale is renewed if, and only if, it must be."""
        distances = [
            abs(self._value(context, key)) / math.sqrt(self.scale[key][2]) for key in self.scale
        ]
        farthest = max(distances, default=0.0)
        self.log.append(context)
        self._find_bits(context)
        measured = self._measured()
        due = len(self.log) >= self.due or bool(measured.keys() - self.scale.keys())
        # On the very edge, rounding may decide either way.
        if due or abs(farthest - 1) > 1e-6:
            assert renewed == (due or farthest > 1)
        if renewed:
            self.scale = measured
            self.bits = {key: self._height(key[0]) for key in self.bits}
            self.due = max(len(self.log) + 1, math.ceil(1.25 * len(self.log)))

    def row(self, context: Row) -> dict[Key, float]:
        """Return the standardised value of each column that varies, and of the constant."""
        numbers = {key: self._value(context, key) for key in self.scale}
        bits = {
            (name, value): height * (context.get(name) == value)
            for (name, value), height in self.bits.items()
        }
        return {ONE: 1.0} | numbers | bits

    def known(self, context: Row) -> Row:
        """Return a context without the categories that have no bit so far."""
        return {
            name: value
            for name, value in context.items()
            if not isinstance(value, str | bool) or (name, value) in self.bits
        }

    def _find_bits(self, context: Row) -> None:
        """Give a bit to categories of the last context seen twice, in 1 % of all, not in all."""
        for name, value in context.items():
            count = sum(other.get(name) == value for other in self.log)
            common = 2 <= count < len(self.log) and count >= len(self.log) / 100
            if isinstance(value, str | bool) and common and (name, value) not in self.bits:
                self.bits[name, value] = 0.0
                self.bits[name, value] = self._height(name)

    def _height(self, name: str) -> float:
        """Return the height of a new bit, one of so many of its feature."""
        return math.sqrt(1 / math.sqrt(sum(feature == name for feature, _ in self.bits)))

    def matrix(self, contexts: list[Row]) -> np.ndarray:
        return np.array([list(self.row(context).values()) for context in contexts])

    def _value(self, context: Row, key: Key) -> float:
        mean, deviation, _ = self.scale[key]
        present = context.get(key[0])
        return 0.0 if present is None else (present - mean) / deviation

    def _measured(self) -> dict[Key, tuple[float, float, int]]:
        scale = {}
        for name in {name: None for context in self.log for name in context}:
            present = [c[name] for c in self.log if c.get(name) is not None]
            if present and not isinstance(present[0], str | bool):
                scale[name, None] = _moments(present)
        return {key: moments for key, moments in scale.items() if moments[1] > 0}


def _moments(values: list[float]) -> tuple[float, float, int]:
    # Without the first value's distance from 0, which may be large.
    away = np.array(values) - values[0]
    return values[0] + float(away.mean()), float(away.std()), len(values)


def by_key(design: Design, encoder: Any, values: np.ndarray) -> dict[Key, float]:
    """Return what a row of a design, or a vector of coefficients, has in each column that varies.

    All other columns must have 0.
    """
    found = {}
    for place, column in enumerate(design.columns):
        if column.kind == CONSTANT:
            found[ONE] = float(values[place])
        elif column.kind != ABSENCE and design.inverse_scale[place] > 0:
            name = encoder.features[column.feature]
            is_bit = column.kind == BIT
            category = encoder.categories(column.feature)[int(column.code)] if is_bit else None
            found[name, category] = float(values[place])
        else:
            assert values[place] == 0
    assert not values[len(design.columns) :].any()
    return found


def assert_close(found: dict[Key, float], expected: dict[Key, float], tolerance: float) -> None:
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert abs(found[key] - value) <= tolerance * max(1, abs(value)), key


def penalty_vector(amount: float, width: int) -> np.ndarray:
    return np.array([min(amount, 1.0)] + [amount] * (width - 1))


def naive_errors(fit: Any, loss: Any, x: np.ndarray, r: np.ndarray) -> list[float]:
    """Return the loss of each penalty in 5-fold cross-validation."""
    folds = fold_ids(0, len(x))
    total = []
    for amount in GRID:
        losses = [
            loss(x[folds == f], r[folds == f], fit(x[folds != f], r[folds != f], amount))
            for f in range(5)
        ]
        total.append(float(sum(losses)))
    return total


# Streams.

NUMBERS = st.integers(-40, 40).map(lambda i: i / 8)
CONTEXTS = st.fixed_dictionaries(
    {"pay": NUMBERS | st.none(), "rank": st.just(3.0) | st.just(3.0) | st.integers(1, 9)},
    optional={
        "height": NUMBERS,
        "since": st.integers(0, 9).map(lambda i: 1.7e9 + i),
        "city": st.sampled_from(CITIES),
        "member": st.booleans() | st.none(),
    },
)


@st.composite
def streams(draw: st.DrawFn, *, binary: bool = True, max_size: int = 25) -> list[Observation]:
    """Return observations of the arms a, b and, later, c; some features come late."""
    contexts = draw(st.lists(CONTEXTS, min_size=1, max_size=max_size))
    late = draw(st.integers(0, max_size))
    rewards = st.sampled_from([0.0, 1.0, 1.0, 0.5]) if binary else st.integers(-9, 9).map(float)
    stream = []
    for i, context in enumerate(contexts):
        if i < late:
            context = {k: v for k, v in context.items() if k not in ("height", "city")}
        arm = draw(st.sampled_from("ab" if i < 8 else "abc"))
        stream.append((context, arm, draw(rewards)))
    return stream


def long_stream(seed: int, n: int, *, binary: bool = True) -> Iterator[Observation]:
    """Yield observations whose rewards do depend on the contexts."""
    random = np.random.default_rng(seed)
    for i in range(n):
        context: Row = {"pay": random.normal(50, 20), "noise": random.normal()}
        if random.random() < 0.8:
            context["height"] = random.exponential(1e-3)
        if i >= n // 3:
            context["late"] = random.normal()
        if random.random() < 0.9:
            context["city"] = CITIES[int(random.integers(min(4, 2 + i * 4 // n)))]
        arm = "abc"[int(random.integers(2 if i < n // 4 else 3))]
        score = (context["pay"] - 50) / 20 * {"a": 1, "b": -1, "c": 0.3}[arm]
        score += context.get("late", 0.0) + 2 * (context.get("city") == "Oslo")
        if binary:
            reward = float(random.random() < 1 / (1 + math.exp(-score)))
        else:
            reward = 1e6 + score + random.normal()
        yield context, arm, reward
