"""Tables of pandas, polars and Arrow give what the list of their rows gives."""

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditree.contexts import Encoder
from banditree.errors import InvalidContextError

NAN = float("nan")
MAKERS = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "arrow": pa.table,
    "batch": lambda columns: pa.RecordBatch.from_pydict(columns),
}
COLUMNS = {
    "city": ["Berlin", None, "Rome", "Berlin"],
    "age": [31, 40, 25, 18],
    "income": [1.5, NAN, None, 2.0],
    "member": [True, None, False, True],
    "group": [7, 3, 7, None],
    "empty": [None, None, None, None],
}
ROWS = [
    [0, 31, 1.5, 1, 0, NAN],
    [NAN, 40, NAN, NAN, 1, NAN],
    [1, 25, NAN, 0, 0, NAN],
    [0, 18, 2, 1, NAN, NAN],
]


def staged(contexts, categorical=()):
    encoder = Encoder(categorical)
    rows, pending = encoder.stage_many(contexts)
    encoder.commit(pending)
    assert rows.dtype == np.float64
    assert rows.flags.c_contiguous
    return encoder, rows


def records(columns):
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("maker", MAKERS)
def test_tables(maker):
    table = MAKERS[maker](COLUMNS)
    assert not Encoder.is_one(table)
    encoder, rows = staged(table, ["group"])
    np.testing.assert_array_equal(rows, ROWS)
    assert encoder.state() == staged(records(COLUMNS), ["group"])[0].state()
    assert encoder.categories(4) == [7, 3]
    np.testing.assert_array_equal(encoder.encode_many(table), ROWS)


@pytest.mark.parametrize("maker", MAKERS)
def test_columns_in_any_order_new_and_absent(maker):
    encoder, _ = staged([{"a": 1, "b": "x"}])
    table = MAKERS[maker]({"c": [True], "b": ["y"]})
    np.testing.assert_array_equal(encoder.encode_many(table), [[NAN, NAN]])
    rows, pending = encoder.stage_many(table)
    np.testing.assert_array_equal(rows, [[NAN, 1, 1]])
    encoder.commit(pending)
    assert encoder.features == ["a", "b", "c"]


COLUMN = st.sampled_from(
    [
        st.one_of(st.none(), st.integers(-(2**60), 2**60)),
        st.one_of(st.none(), st.floats(allow_infinity=False)),
        st.one_of(st.none(), st.text("abß", max_size=2)),
        st.one_of(st.none(), st.booleans()),
        st.none(),
    ]
)


@pytest.mark.parametrize("maker", ["pandas", "polars", "arrow"])
@settings(deadline=None)
@given(data=st.data(), categorical=st.sets(st.sampled_from("abc")))
def test_a_table_gives_what_the_list_of_its_rows_gives(maker, data, categorical):
    n = data.draw(st.integers(1, 6))
    columns = {
        name: data.draw(st.lists(data.draw(COLUMN), min_size=n, max_size=n)) for name in "abc"
    }
    if maker == "pandas":  # which would turn integers beside None into floats
        table = pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in columns.items()})
    else:
        table = MAKERS[maker](columns)
    encoder, rows = staged(table, categorical)
    expected, expected_rows = staged(records(columns), categorical)
    np.testing.assert_array_equal(rows, expected_rows)
    assert repr(encoder.state()["features"]) == repr(expected.state()["features"])
    np.testing.assert_array_equal(encoder.encode_many(table), expected_rows)


STRINGS = ["b", None, "a", "b", "c"]
CODES = [[0], [NAN], [1], [0], [2]]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": pd.Series(STRINGS, dtype=object)}),
        pd.DataFrame({"x": pd.Series(["b", NAN, "a", "b", "c"], dtype=object)}),
        pd.DataFrame({"x": pd.Series(["b", pd.NA, "a", "b", "c"], dtype="string")}),
        pd.DataFrame({"x": pd.Categorical(STRINGS, categories=["z", "a", "b", "c"])}),
        pl.DataFrame({"x": pl.Series(STRINGS, dtype=pl.Categorical)}),
        pl.DataFrame({"x": pl.Series(STRINGS, dtype=pl.Enum(["z", "a", "b", "c"]))}),
        pa.table({"x": pa.array(STRINGS).dictionary_encode()}),
        pa.table({"x": pa.chunked_array([STRINGS[:2], STRINGS[2:]])}),
        pa.table({"x": pa.array(STRINGS, pa.large_string())}),
        pa.table({"x": pa.chunked_array([pa.array(STRINGS[:2]).dictionary_encode(),
                                         pa.array(STRINGS[2:]).dictionary_encode()])}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("with_arrow", [True, False])
def test_string_columns_of_every_type(table, with_arrow, monkeypatch):
    if not with_arrow and not isinstance(table, pa.Table):
        monkeypatch.delitem(sys.modules, "pyarrow")
    encoder, rows = staged(table)
    np.testing.assert_array_equal(rows, CODES)
    assert encoder.categories(0) == ["b", "a", "c"]
    assert encoder.kind(0) == "string"
    with pytest.raises(InvalidContextError, match=r"feature 'x' of context 0 is a number.*'b'"):
        staged([{"x": 1}])[0].encode_many(table)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype="Float32"),
        pd.Series([1, None, 3], dtype="int64[pyarrow]"),
        pd.Series([Decimal(1), pd.NA, np.float32(3)], dtype=object),
        pl.Series([1, None, 3], dtype=pl.UInt8),
        pl.Series([1, None, 3], dtype=pl.Int128),
        pl.Series([1, None, 3], dtype=pl.Float32),
        pl.Series([Decimal(1), None, Decimal(3)]),
    ],
)
def test_number_columns_of_every_type(series):
    table = (
        pd.DataFrame({"x": series})
        if isinstance(series, pd.Series)
        else pl.DataFrame({"x": series})
    )
    encoder, rows = staged(table)
    np.testing.assert_array_equal(rows, [[1], [NAN], [3]])
    assert encoder.kind(0) == "number"
    encoder, rows = staged(table, ["x"])
    np.testing.assert_array_equal(rows, [[0], [NAN], [1]])
    assert encoder.categories(0) == [1, 3]


def test_a_pandas_category_of_numbers_is_a_category():
    encoder, rows = staged(pd.DataFrame({"x": pd.Categorical([20, 10, None, 20])}))
    np.testing.assert_array_equal(rows, [[0], [1], [NAN], [0]])
    assert encoder.kind(0) == "category"
    assert encoder.categories(0) == [20, 10]
    np.testing.assert_array_equal(encoder.encode_one({"x": 10}), [1])


def test_nullable_booleans():
    table = pd.DataFrame({"x": pd.Series([True, None, False], dtype="boolean")})
    np.testing.assert_array_equal(staged(table)[1], [[1], [NAN], [0]])


def test_mixed_object_columns_follow_the_rules_for_values():
    table = pd.DataFrame({"x": pd.Series([1, "a", None], dtype=object)})
    with pytest.raises(InvalidContextError, match=r"feature 'x' of context 1 is a number.*'a'"):
        Encoder().stage_many(table)
    _encoder, rows = staged(table, ["x"])
    np.testing.assert_array_equal(rows, [[0], [1], [NAN]])


@pytest.mark.parametrize("maker", MAKERS)
def test_refused_columns(maker):
    moment = datetime(2024, 5, 1, tzinfo=UTC)
    for column, message in (
        ([None, moment], r"feature 'x' of context 1 is a (datetime|Timestamp): .*2024.*weekday"),
        ([1.0, float("inf")], r"feature 'x' of context 1 is inf: "),
        ([[1], [2]], r"feature 'x' of context 0 is a (list|ndarray): .*1"),
        ([b"a", b"b"], r"feature 'x' of context 0 is a bytes: b'a'"),
    ):
        with pytest.raises(InvalidContextError, match=message):
            Encoder().stage_many(MAKERS[maker]({"x": column}))


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])],
)
def test_duplicate_columns_are_refused(table):
    with pytest.raises(InvalidContextError, match="feature 'a' occurs more than once"):
        Encoder().stage_many(table)


def test_column_names_are_strings_or_integers():
    assert staged(pd.DataFrame([[1, 2]], columns=[0, "x"]))[0].features == [0, "x"]
    table = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    with pytest.raises(
        InvalidContextError, match=r"string or an integer of at most 64 bits, got \('a', 1\)"
    ):
        Encoder().stage_many(table)


@pytest.mark.parametrize("maker", MAKERS)
def test_an_empty_table_teaches_nothing(maker):
    encoder, _ = staged([{"a": 1}])
    rows, pending = encoder.stage_many(MAKERS[maker]({"x": []}))
    assert rows.shape == (0, 1)
    assert pending is None


def test_a_lazy_frame_must_be_collected():
    with pytest.raises(InvalidContextError, match=r"call its \.collect\(\)"):
        Encoder.is_one(pl.LazyFrame({"x": [1]}))


def test_a_pandas_series_is_one_named_context():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [True, None]})
    encoder, rows = staged(table)
    assert Encoder.is_one(table.iloc[0])
    for i in range(2):
        np.testing.assert_array_equal(encoder.encode_one(table.iloc[i]), rows[i])
        assert encoder.stage_one(table.iloc[i])[1] is None
    np.testing.assert_array_equal(encoder.encode_many([row for _, row in table.iterrows()]), rows)
    with pytest.raises(InvalidContextError, match="feature 'a' occurs more than once"):
        encoder.encode_one(pd.Series([1, 2], index=["a", "a"]))


@pytest.mark.parametrize(
    "column", [pl.Series([1, 2]), pa.array([1, 2]), pa.chunked_array([[1, 2]])]
)
def test_other_columns_are_one_positional_context(column):
    assert Encoder.is_one(column)
    np.testing.assert_array_equal(Encoder().stage_one(column)[0], [1, 2])


@pytest.mark.parametrize("value", [pd.NA, pd.NaT, pa.scalar(None, pa.int64())])
def test_missing_values_of_the_libraries(value):
    for call in (Encoder().stage_one, lambda context: Encoder().stage_many([context])):
        assert np.isnan(call({"x": value})[0]).all()
        assert np.isnan(call([value])[0]).all()


def test_tables_are_not_changed():
    table = pd.DataFrame(COLUMNS)
    before = table.copy(deep=True)
    staged(table, ["group"])[0].encode_many(table)
    pd.testing.assert_frame_equal(table, before)


def test_no_data_frame_library_is_imported_for_other_contexts():
    code = (
        "import sys; from banditree.contexts import Encoder;"
        "Encoder().stage_many([{'a': 1}]); Encoder().stage_one([1.0]);"
        "print({'pandas', 'polars', 'pyarrow', 'narwhals'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_without_narwhals_a_table_says_what_to_install():
    script = (
        "import sys; sys.modules['narwhals'] = None\n"
        "import pandas, banditree as bt\n"
        "try: bt.Tree().fit(pandas.DataFrame({'a': [1, 2]}), [0, 1])\n"
        "except bt.InvalidContextError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == (
        "tables are read through narwhals, which is not installed: pip install narwhals\n"
    )
