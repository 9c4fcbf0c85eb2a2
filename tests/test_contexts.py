"""Single values, declared categories, and what is one context and what many."""

from collections import OrderedDict, UserDict
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from fractions import Fraction

import numpy as np
import pytest

from banditree.contexts import Encoder
from banditree.errors import InvalidContextError, InvalidParameterError
from encoders import learned, same

NAN = float("nan")


class Colour(StrEnum):
    RED = "red"


class Size(Enum):
    SMALL = 1


# Values


@pytest.mark.parametrize(
    "value",
    [
        3,
        3.0,
        np.int8(3),
        np.uint64(3),
        np.float16(3),
        np.longdouble(3),
        Decimal(3),
        Fraction(3),
        np.array(3),
        np.array(3.0),
    ],
)
def test_numbers(value):
    encoder = learned({"x": value})
    assert encoder.kind(0) == "number"
    same(encoder.encode_one({"x": value}), [3.0])
    same(encoder.encode_many([{"x": value}]), [[3.0]])
    assert encoder.is_categorical.tolist() == [0]


@pytest.mark.parametrize("value", ["red", np.str_("red"), Colour.RED])
def test_strings_are_categories(value):
    encoder = learned({"x": value})
    assert encoder.kind(0) == "string"
    assert encoder.categories(0) == ["red"]
    assert type(encoder.categories(0)[0]) is str
    same(encoder.encode_one({"x": "red"}), [0.0])
    assert encoder.is_categorical.tolist() == [1]


@pytest.mark.parametrize("value", [True, np.True_, np.array(True)])
def test_booleans_are_categories_with_fixed_ids(value):
    encoder = learned({"x": value})
    assert encoder.kind(0) == "boolean"
    assert encoder.categories(0) == [False, True]
    same(encoder.encode_many([{"x": False}, {"x": value}]), [[0.0], [1.0]])


@pytest.mark.parametrize(
    "value",
    [
        None,
        NAN,
        np.float32("nan"),
        np.datetime64("NaT"),
        np.timedelta64("NaT"),
        np.ma.masked,
        Decimal("nan"),
        Decimal("sNaN"),
        np.array(NAN),
    ],
)
@pytest.mark.parametrize("seen", [1.5, "red", True, None])
def test_missing(value, seen):
    encoder = learned({"x": seen})
    same(encoder.encode_one({"x": value}), [NAN])
    same(encoder.stage_one({"x": value})[0], [NAN])
    same(encoder.encode_many([{"x": value}, {}]), [[NAN], [NAN]])


REFUSED = [
    (float("inf"), r"is inf: numbers must be finite.*send None"),
    (-np.inf, r"is -inf: numbers must be finite"),
    (np.float32("inf"), r"is .*inf.*: numbers must be finite"),
    (np.longdouble("1e400"), r"is .*(1e\+400|inf).*: numbers must be finite"),
    (Decimal("1e400"), r"is Decimal\('1E\+400'\): numbers must be finite"),
    (Decimal("-Infinity"), r"is .*-Infinity.*must be finite"),
    (Fraction(10**400), r"is Fraction\(1000.*must be finite"),
    (10**400, r"is 1000.*\.\.\.: numbers must be finite"),
    pytest.param(10**5000, r"is <int>: numbers must be finite", id="5,001 digits"),
    (1j, r"is a complex: 1j;.*real and imaginary parts"),
    (np.complex64(1j), r"is a complex64: .*real and imaginary parts"),
    (datetime(2024, 5, 1, tzinfo=UTC), r"is a datetime: .*2024.*hour.*weekday.*date_parts"),
    (date(2024, 5, 1), r"is a date: .*2024.*hour.*weekday.*date_parts"),
    (np.datetime64("2024-05-01"), r"is a datetime64: .*2024-05-01.*hour.*weekday.*date_parts"),
    (timedelta(1), r"is a timedelta: .*seconds"),
    (np.timedelta64(1, "s"), r"is a timedelta64: .*seconds"),
    (b"red", r"is a bytes: b'red';.*decode it to a string"),
    ([1, 2], r"is a list: \[1, 2\];.*feature of its own"),
    ({"a": 1}, r"is a dict: \{'a': 1\};.*feature of its own"),
    ({1}, r"is a set: \{1\};.*feature of its own"),
    (np.zeros(2), r"is an ndarray: array\(\[0., 0.\]\);.*feature of its own"),
    (Size.SMALL, r"is a Size: .*\.name or its \.value"),
    (object, r"is a type: .*a number, a string, a boolean, or None"),
]


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_refused_values_name_feature_value_and_remedy(value, message):
    seen = {"age": 1.0, "x": "red"}
    encoder = learned(seen)
    before = encoder.state()
    for call in (encoder.encode_one, encoder.stage_one):
        with pytest.raises(InvalidContextError, match=f"^feature 'age' {message}"):
            call({"age": value})
    for call in (encoder.encode_many, encoder.stage_many):
        with pytest.raises(InvalidContextError, match=f"^feature 'age' of context 1 {message}"):
            call([seen, {"age": value}])
    with pytest.raises(InvalidContextError, match=f"^feature 'new' {message}"):
        encoder.stage_one({"age": 1, "x": "blue", "new": value})
    assert encoder.state() == before


@pytest.mark.parametrize(
    ("was", "value", "now"),
    [
        (
            1.5,
            "old",
            "is a number, as .*, and came as a string: 'old'; .*send a number or None",
        ),
        (1, True, "is a number, as .*, and came as a boolean: True"),
        (
            "a",
            2,
            "is a string, as .*, and came as a number: 2; .*send a string or None",
        ),
        ("a", False, "is a string, as .*, and came as a boolean: False"),
        (
            True,
            1,
            "is a boolean, as .*, and came as a number: 1; .*send a boolean or None",
        ),
        (
            True,
            "yes",
            "is a boolean, as .*, and came as a string: 'yes'.*categorical=",
        ),
    ],
)
def test_a_feature_keeps_its_type(was, value, now):
    encoder = learned({"x": was, "y": 1})
    before = encoder.state()
    for call in (encoder.encode_one, encoder.stage_one):
        with pytest.raises(InvalidContextError, match=f"^feature 'x' {now}"):
            call({"x": value, "z": 3})
    for call in (encoder.encode_many, encoder.stage_many):
        with pytest.raises(InvalidContextError, match=f"^feature 'x' of context 2 {now}"):
            call([{"x": was}, {}, {"x": value}])
    with pytest.raises(InvalidContextError, match=f"^feature 'new' of context 1 {now}"):
        encoder.stage_many([{"new": was}, {"new": value}])
    assert encoder.state() == before


def test_a_feature_only_ever_missing_has_no_kind_until_it_is_seen():
    encoder = learned({"x": None})
    assert encoder.kind(0) == "unknown"
    assert encoder.is_categorical.tolist() == [0]
    same(encoder.encode_many([{"x": 2}, {"x": NAN}]), [[2.0], [NAN]])
    same(encoder.encode_one({"x": 2}), [2.0])
    same(encoder.encode_one({"x": "red"}), [NAN])
    same(encoder.encode_many([{"x": "red"}]), [[NAN]])
    same(encoder.encode_one({"x": True}), [NAN])
    rows, pending = encoder.stage_one({"x": "red"})
    same(rows, [0.0])
    encoder.commit(pending)
    assert encoder.kind(0) == "string"
    assert encoder.is_categorical.tolist() == [1]


# Declared categories


def test_declared_categories_take_numbers_booleans_and_strings():
    encoder = Encoder(["x"])
    values = [1, True, "1", 1.0, np.int64(1), 2.5, None, False, np.float32(2.5), Decimal(1)]
    rows, pending = encoder.stage_many([{"x": value} for value in values])
    same(rows[:, 0], [0, 1, 2, 0, 0, 3, NAN, 4, 3, 0])
    encoder.commit(pending)
    assert [(type(c), c) for c in encoder.categories(0)] == [
        (int, 1), (bool, True), (str, "1"), (float, 2.5), (bool, False)
    ]  # fmt: skip
    assert encoder.kind(0) == "category"
    one_by_one = learned(*({"x": value} for value in values), categorical=["x"])
    assert one_by_one.state() == encoder.state()
    same(np.array([encoder.encode_one({"x": value})[0] for value in values]), rows[:, 0])
    same(encoder.encode_one({"x": 7}), [NAN])
    with pytest.raises(InvalidContextError, match="feature 'x' is inf"):
        encoder.encode_one({"x": float("inf")})


def test_declared_by_position_in_arrays():
    array = np.array([[7, 1.5], [3, NAN], [7, 2.0], [NAN, 1.0]])
    encoder = Encoder([0])
    rows, pending = encoder.stage_many(array)
    same(rows, [[0, 1.5], [1, NAN], [0, 2], [NAN, 1]])
    same(array, [[7, 1.5], [3, NAN], [7, 2.0], [NAN, 1.0]])
    encoder.commit(pending)
    assert encoder.categories(0) == [7, 3]
    same(encoder.encode_many(np.array([[3, 0], [9, 0]])), [[1, 0], [NAN, 0]])
    same(encoder.encode_one(np.array([3.0, 0.0])), [1, 0])


def test_declared_integers_beyond_float_precision_stay_apart():
    ids = np.array([[2**60], [2**60 + 1]])
    encoder = Encoder([0])
    rows, pending = encoder.stage_many(ids)
    same(rows, [[0], [1]])
    encoder.commit(pending)
    assert encoder.categories(0) == [2**60, 2**60 + 1]
    same(learned([Decimal(2**60 + 1)], categorical=[0]).encode_one([2**60]), [NAN])


def test_declared_names_that_never_appear_are_fine():
    assert learned({"x": 1}, categorical=["nope", 3]).features == ["x"]


@pytest.mark.parametrize("names", ["zip", b"zip", 3, None, [1.5], [True], [("a",)]])
def test_declared_names_are_checked(names):
    with pytest.raises(InvalidParameterError, match="categorical"):
        Encoder(names)


# One or many


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"a": 1},
        OrderedDict(a=1),
        UserDict(a=1),
        [1, "a"],
        (None, 2),
        range(3),
        ["a"],
        np.zeros(3),
        np.array([]),
        np.array(["a"]),
        np.array([1, None], dtype=object),
        [np.array(1)],
        np.zeros(1, [("a", "f8")])[0],
    ],
)
def test_one(context):
    assert Encoder.is_one(context)
    with pytest.raises(InvalidContextError, match="expected many contexts, got one"):
        Encoder().stage_many(context)


@pytest.mark.parametrize(
    "contexts",
    [
        [{}],
        [[1, 2]],
        ([1], [2]),
        [np.zeros(2)],
        np.zeros((2, 2)),
        iter([{}]),
        ({} for _ in "a"),
        np.zeros(2, [("a", "f8")]),
        np.array([{}, {}]),
        [()],
        [UserDict()],
    ],
)
def test_many(contexts):
    assert not Encoder.is_one(contexts)
    with pytest.raises(
        InvalidContextError, match=r"expected one context, got (many|a .* of one context)"
    ):
        Encoder().stage_one(contexts)


@pytest.mark.parametrize("contexts", [[], (), iter([]), np.empty((0, 3))])
def test_no_contexts_teach_nothing(contexts):
    encoder = learned({"a": 1})
    assert not Encoder.is_one(contexts)
    rows, pending = encoder.stage_many(contexts)
    assert rows.shape == (0, 1)
    assert pending is None
    assert encoder.encode_many([]).shape == (0, 1)


@pytest.mark.parametrize(
    "wrong", ["abc", b"abc", {1}, frozenset(), None, 3, 2.5, True, np.array(1), np.zeros((1, 1, 1))]
)
def test_what_is_no_context_is_refused_with_what_is_accepted(wrong):
    encoder = Encoder()
    for call in (Encoder.is_one, encoder.stage_one, encoder.stage_many, encoder.encode_many):
        with pytest.raises(
            InvalidContextError, match=r"cannot be an? .*got .*a mapping.*2-D array"
        ):
            call(wrong)


@pytest.mark.parametrize("items", [[{"a": 1}, 3], [{}, None], iter([3]), [[1], "a"], [{}, {1}]])
def test_a_list_of_contexts_holds_only_contexts(items):
    with pytest.raises(
        InvalidContextError, match=r"context [01] cannot be (an int|a None|a str|a set)"
    ):
        Encoder().stage_many(items)
