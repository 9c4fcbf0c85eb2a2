"""The schema that contexts build up, arrays, state."""

import contextlib
import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditree.contexts import Encoder
from banditree.errors import InvalidContextError, StateError
from encoders import learned, same

NAN = float("nan")


# Named and positional


def test_features_and_categories_in_order_of_first_appearance():
    encoder = learned({"b": 1, "a": "x"}, {}, {"c": True, "a": "y"}, {"a": "x", 7: 2})
    assert encoder.features == ["b", "a", "c", 7]
    assert encoder.n_features == 4
    assert [encoder.kind(i) for i in range(4)] == ["number", "string", "boolean", "number"]
    assert encoder.categories(1) == ["x", "y"]
    assert encoder.is_categorical.tolist() == [0, 1, 1, 0]
    assert encoder.is_categorical.dtype == np.uint8


def test_nothing_changes_before_the_commit_and_rows_are_as_wide_as_after_it():
    encoder = learned({"a": "x"})
    before = encoder.state()
    row, pending = encoder.stage_one({"b": True, "a": "y", "c": None})
    same(row, [1, 1, NAN])
    assert encoder.state() == before
    encoder.commit(pending)
    assert encoder.features == ["a", "b", "c"]
    assert encoder.is_categorical.tolist() == [1, 1, 0]
    assert encoder.stage_one({"b": False, "a": "x"})[1] is None
    assert encoder.stage_many([{"b": False}, {"a": "y", "c": NAN}])[1] is None


def test_prediction_ignores_unknown_features_and_categories():
    encoder = learned({"a": "x", "n": 1})
    before = encoder.state()
    contexts = [{"new": b"never read", "a": "z"}, {"n": 2, ("odd",): 1}, {}]
    expected = [[NAN, NAN], [NAN, 2], [NAN, NAN]]
    same(encoder.encode_many(contexts), expected)
    same(np.array([encoder.encode_one(context) for context in contexts]), expected)
    assert encoder.state() == before


def test_prediction_before_anything_was_learned():
    encoder = Encoder()
    assert encoder.encode_one({"a": 1}).shape == (0,)
    assert encoder.encode_one([1, 2]).shape == (0,)
    assert encoder.encode_many([{"a": 1}, {}]).shape == (2, 0)
    assert encoder.encode_many(np.zeros((3, 2))).shape == (3, 0)


@pytest.mark.parametrize("key", [1.5, ("a", "b"), None, True, b"a"])
def test_names_are_strings_or_integers(key):
    for call, contexts in (("stage_one", {key: 1}), ("stage_many", [{"a": 1}, {key: 1}])):
        with pytest.raises(
            InvalidContextError, match="name is a string or an integer of at most 64 bits, got"
        ) as e:
            getattr(learned({"a": 1}), call)(contexts)
        assert repr(key) in str(e.value)


def test_numpy_names_become_plain():
    encoder = learned({np.str_("a"): 1, np.int64(3): 2})
    assert [type(name) for name in encoder.features] == [str, int]
    assert encoder.stage_one({"a": 1, 3: 2})[1] is None


def test_named_and_positional_do_not_mix():
    named, positional = learned({"age": 1, "city": "x"}), learned([1, "x"])
    message = r"were named .*now are positional.*'age', 'city'"
    for call, arg in (("encode_one", [1, 2]), ("stage_one", (1,)), ("stage_many", np.ones((1, 2)))):
        with pytest.raises(InvalidContextError, match=message):
            getattr(named, call)(arg)
    message = r"were positional .*now are named .*0, 1"
    for call, arg in (("encode_one", {"a": 1}), ("stage_one", {}), ("encode_many", [{"a": 1}])):
        with pytest.raises(InvalidContextError, match=message):
            getattr(positional, call)(arg)
    with pytest.raises(InvalidContextError, match="context 0 is a dict and context 1 is a list"):
        Encoder().stage_many([{"a": 1}, [1]])


@pytest.mark.parametrize("context", [[1], (1, 2, 3), np.zeros(1), np.zeros(3, "f4"), []])
def test_wrong_length(context):
    encoder = learned([1.0, 2.0])
    message = f"has {len(context)} features, expected 2; .*same length"
    for call in (encoder.encode_one, encoder.stage_one):
        with pytest.raises(InvalidContextError, match=message):
            call(context)
    for call in (encoder.encode_many, encoder.stage_many):
        with pytest.raises(InvalidContextError, match=message):
            call([context, context])
    with pytest.raises(InvalidContextError, match=r"context 1 has 3 features, expected 2"):
        encoder.encode_many([[1, 2], [1, 2, 3]])
    with pytest.raises(InvalidContextError, match=r"has 3 features, expected 2"):
        encoder.stage_many(np.zeros((4, 3)))


def test_contexts_without_features():
    assert learned({}).encode_many([{}, {}]).shape == (2, 0)
    encoder = Encoder()
    rows, pending = encoder.stage_many([[], []])
    assert rows.shape == (2, 0)
    encoder.commit(pending)
    assert encoder.encode_one([]).shape == (0,)


def test_a_pending_update_is_only_good_for_the_schema_it_was_made_from():
    encoder = Encoder()
    first, second = encoder.stage_one({"a": "x"})[1], encoder.stage_one({"a": "y"})[1]
    encoder.commit(first)
    with pytest.raises(AssertionError, match="staged before another commit"):
        encoder.commit(second)


# Arrays

TABLE = [[1, 20, 3], [4, 50, 6]]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "g", "i1", "u8", ">i4", "O"])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "frozen", "unaligned", "mat"])
def test_arrays_of_any_type_and_layout(dtype, layout):
    array = np.array(TABLE, dtype=dtype, order="F" if layout == "F" else "C")
    if layout == "strided":
        array = np.repeat(np.repeat(array, 2, axis=0), 2, axis=1)[::2, ::2]
    elif layout == "reversed":
        array = array[::-1, ::-1].copy()[::-1, ::-1]
    elif layout == "unaligned" and dtype != "O":
        array = np.frombuffer(b"x" + array.tobytes(), dtype, offset=1).reshape(2, 3)
    elif layout == "mat":
        array = np.ndarray.view(array, np.matrix)
    array.flags.writeable = False if layout == "frozen" else array.flags.writeable
    rows, pending = (encoder := Encoder()).stage_many(array)
    same(rows, TABLE)
    assert rows.flags.aligned
    encoder.commit(pending)
    assert [encoder.kind(i) for i in range(3)] == ["number"] * 3
    same(encoder.encode_many(array), TABLE)
    for row, expected in zip(np.asarray(array), TABLE, strict=True):
        same(encoder.encode_one(row), expected)
        same(encoder.stage_one(row)[0], expected)


def test_float64_arrays_are_not_copied():
    array = np.random.default_rng(1).random((5, 3))
    rows, pending = (encoder := Encoder()).stage_many(array)
    assert rows is array
    encoder.commit(pending)
    assert encoder.encode_many(array) is array
    row = array[2]
    assert encoder.encode_one(row) is row
    assert encoder.stage_one(row) == (row, None) or encoder.stage_one(row)[0] is row


def test_arrays_of_strings_booleans_and_objects():
    encoder = Encoder()
    rows, pending = encoder.stage_many(np.array([["a", "b"], ["c", "a"]]))
    same(rows, [[0, 0], [1, 1]])
    same(Encoder().stage_many(np.array([[True, False]]))[0], [[1, 0]])
    same(Encoder().stage_one(np.array([True, False]))[0], [1, 0])
    mixed = np.array([["a", 1, None], ["b", NAN, True]], dtype=object)
    rows, pending = encoder.stage_many(mixed)
    same(rows, [[0, 1, NAN], [1, NAN, 1]])
    encoder.commit(pending)
    same(encoder.encode_one(mixed[1]), [1, NAN, 1])
    with pytest.raises(InvalidContextError, match=r"^feature 0 of context 0 is a string.*: 1\.0"):
        encoder.encode_many(np.ones((1, 3)))


@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[s]", "c16", "S3"])
def test_arrays_of_other_types_are_refused(dtype):
    array = np.array([[1, 2]], dtype="i8").astype(dtype)
    for call, arg in ((Encoder().stage_many, array), (Encoder().stage_one, array[0])):
        with pytest.raises(InvalidContextError, match=r"^feature 0 .*is a "):
            call(arg)


def test_masked_arrays():
    array = np.ma.array([[1.0, np.inf], [2.0, 3.0]], mask=[[0, 1], [0, 0]])
    encoder = Encoder([0])
    rows, pending = encoder.stage_many(array)
    same(rows, [[0, NAN], [1, 3]])
    encoder.commit(pending)
    same(encoder.encode_one(array[0]), [0, NAN])
    same(Encoder().stage_many(np.ma.array([[1, 2]], mask=[[1, 0]]))[0], [[NAN, 2]])


def test_structured_arrays_are_named():
    array = np.array([(1, "x"), (2, "y")], dtype=[("n", "i4"), ("c", "U3")])
    encoder = Encoder()
    rows, pending = encoder.stage_many(array)
    same(rows, [[1, 0], [2, 1]])
    encoder.commit(pending)
    assert encoder.features == ["n", "c"]
    same(encoder.encode_one(array[1]), [2, 1])
    same(encoder.encode_many(list(array)), rows)


def test_infinities_in_arrays_are_named():
    encoder = learned([1.0, 2.0])
    array = np.array([[1.0, 2.0], [3.0, -np.inf]])
    for call in (encoder.encode_many, encoder.stage_many, encoder.check_finite):
        with pytest.raises(InvalidContextError, match="feature 1 of context 1 is -inf"):
            call(array)
    for call in (encoder.stage_one, encoder.check_finite):
        with pytest.raises(InvalidContextError, match="feature 1 is -inf"):
            call(array[1])
    for fine in (np.array([1e200, NAN]), np.array([NAN, -1e308])):
        assert encoder.stage_one(fine)[0] is fine
        encoder.check_finite(fine)


def test_a_column_of_nan_only_has_no_kind():
    encoder = Encoder()
    encoder.commit(encoder.stage_many(np.array([[NAN, 1.0], [NAN, 2.0]]))[1])
    assert [encoder.kind(i) for i in range(2)] == ["unknown", "number"]
    encoder.commit(encoder.stage_one(np.array([5.0, 1.0]))[1])
    assert encoder.kind(0) == "number"


# State

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    st.integers(-(2**70), 2**70),
    st.floats(allow_infinity=False),
)
KINDS = {
    "number": st.one_of(st.none(), st.integers(-9, 9), st.floats(allow_infinity=False)),
    "string": st.one_of(st.none(), st.text(max_size=2)),
    "flag": st.one_of(st.none(), st.booleans()),
    "any": VALUES,
    3: st.none(),
}
CONTEXTS = st.lists(
    st.dictionaries(st.sampled_from(list(KINDS)), st.none()).flatmap(
        lambda keys: st.fixed_dictionaries({key: KINDS[key] for key in keys})
    ),
    min_size=1,
)


def widened(rows, width):
    full = np.full((len(rows), width), NAN)
    for i, row in enumerate(rows):
        full[i, : len(row)] = row
    return full


@settings(deadline=None)
@given(CONTEXTS)
def test_one_by_one_gives_what_many_at_once_gives(contexts):
    before = copy.deepcopy(contexts)
    at_once, one_by_one, rows = Encoder(["any"]), Encoder(["any"]), []
    matrix, pending = at_once.stage_many(contexts)
    assert at_once.state() == Encoder(["any"]).state()
    at_once.commit(pending)
    for context in contexts:
        row, pending = one_by_one.stage_one(context)
        one_by_one.commit(pending)
        assert len(row) == one_by_one.n_features
        rows.append(row)
    assert one_by_one.state() == at_once.state()
    same(matrix, widened(rows, at_once.n_features))
    same(at_once.encode_many(contexts), matrix)
    same(np.array([at_once.encode_one(context) for context in contexts]), matrix)
    assert repr(contexts) == repr(before)


@settings(deadline=None)
@given(st.lists(st.lists(VALUES, min_size=2, max_size=2), min_size=1))
def test_failed_calls_change_nothing(contexts):
    encoder = learned([1, "x"])
    for context in contexts:
        before = encoder.state()
        try:
            encoder.commit(encoder.stage_one(context)[1])
        except InvalidContextError:
            assert encoder.state() == before
    before = encoder.state()
    for call in (encoder.stage_many, encoder.encode_many):
        with contextlib.suppress(InvalidContextError):
            call(contexts)
        assert encoder.state() == before


@settings(deadline=None)
@given(CONTEXTS, CONTEXTS)
def test_state_round_trip_continues_identically(first, then):
    encoder = Encoder(["any"])
    encoder.commit(encoder.stage_many(first)[1])
    state = json.loads(json.dumps(encoder.state()))
    copies = [
        Encoder.from_state(state),
        pickle.loads(pickle.dumps(encoder)),
        copy.deepcopy(encoder),
    ]
    rows, pending = encoder.stage_many(then)
    encoder.commit(pending)
    for other in copies:
        assert repr(other) == "Encoder(categorical=['any'])"
        other_rows, pending = other.stage_many(then)
        other.commit(pending)
        same(other_rows, rows)
        assert repr(other.state()) == repr(encoder.state())


STATE = learned({"a": "x", "b": True, "c": 1, "d": 1.5}, categorical=["d"]).state()


@pytest.mark.parametrize(
    "damage",
    [
        None,
        {},
        {**STATE, "named": "yes"},
        {**STATE, "categorical": [1.5]},
        {**STATE, "features": 3},
        {**STATE, "features": [3]},
        {**STATE, "features": [{"name": "a"}]},
        {**STATE, "features": [{"name": "a", "kind": "colour", "categories": []}]},
        {**STATE, "features": [{"name": None, "kind": "number", "categories": []}]},
        {**STATE, "features": [{"name": "a", "kind": "string", "categories": ["x", "x"]}]},
        {**STATE, "features": [{"name": "a", "kind": "category", "categories": [None]}]},
        {**STATE, "features": STATE["features"] * 2},
    ],
)
def test_damaged_state_is_refused(damage):
    with pytest.raises(StateError, match=r"damaged: .*load an intact copy"):
        Encoder.from_state(damage)
