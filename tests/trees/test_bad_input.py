"""Bad input: the right error, a message that helps, and nothing changed afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import banditree as bt
from banditree.errors import (
    BanditreeError,
    InvalidContextError,
    InvalidParameterError,
    InvalidRewardError,
    NotFittedError,
)

INF, NAN = float("inf"), float("nan")
HUGE = 10**400  # beyond any float

ROWS: list[dict[str, Any]] = [
    {"age": 20 + 7 * i % 40, "city": "abc"[i % 3], "member": i % 4 == 0} for i in range(24)
]
Y = [(i % 5) % 2 for i in range(24)]
LATER: list[dict[str, Any]] = [
    {"age": 33, "city": "new", "member": None},
    {"age": None, "city": "a", "late": 7},
    {"age": 50.5, "city": "b", "late": 8, "tag": "x"},
]


def short(value: Any) -> str:
    return repr(value)[:12]


def fitted() -> bt.Tree:
    return bt.Tree(min_leaf=2).fit(ROWS, Y)


def learned() -> bt.IncrementalTree:
    tree = bt.IncrementalTree(min_leaf=2)
    tree.learn_many(ROWS, Y)
    return tree


def assert_raises(
    error: type[BanditreeError], parts: tuple[str, ...], call: Callable[..., Any], *args: Any
) -> None:
    with pytest.raises(BanditreeError, match=r"[;:] \w|at least|must be") as caught:
        call(*args)
    assert type(caught.value) is error
    for part in parts:
        assert part in str(caught.value)


def assert_untouched(tree: bt.Tree) -> None:
    twin = fitted()
    assert (tree.features, tree.to_dict()) == (twin.features, twin.to_dict())
    assert list(tree.predict(ROWS + LATER)) == list(twin.predict(ROWS + LATER))
    assert list(tree.cross_validate(4).errors) == list(twin.cross_validate(4).errors)
    assert tree.fit(LATER, [0, 1, 1]).to_dict() == twin.fit(LATER, [0, 1, 1]).to_dict()


def assert_untouched_incremental(tree: bt.IncrementalTree, twin: bt.IncrementalTree) -> None:
    assert len(tree) == len(twin)
    if len(tree):
        assert tree.as_tree().to_dict() == twin.as_tree().to_dict()
        assert list(tree.predict(ROWS + LATER)) == list(twin.predict(ROWS + LATER))
    for row in LATER:
        tree.learn(row, 1, 2)
        twin.learn(row, 1, 2)
        assert tree.as_tree().features == twin.as_tree().features
        assert tree.as_tree().to_dict() == twin.as_tree().to_dict()


def param(label: str, value: Any, error: type[BanditreeError], *parts: str) -> Any:
    return pytest.param(value, error, parts, id=label)


CONTEXT, REWARD, PARAMETER = InvalidContextError, InvalidRewardError, InvalidParameterError

ONE_CONTEXT = [
    param("inf", {"age": INF}, CONTEXT, "'age'", "inf", "send None"),
    param("-inf", {"age": -INF}, CONTEXT, "'age'", "-inf", "send None"),
    param("too large", {"age": HUGE}, CONTEXT, "'age'", "64-bit"),
    param("number to string", {"age": "31"}, CONTEXT, "'age'", "a number", "'31'", "None"),
    param("number to boolean", {"age": True}, CONTEXT, "'age'", "a number", "True", "None"),
    param("string to number", {"city": 3}, CONTEXT, "'city'", "a string", "3", "None"),
    param("boolean to number", {"member": 1}, CONTEXT, "'member'", "a boolean", "1", "None"),
    param("list in a mapping", {"age": [3]}, CONTEXT, "'age'", "[3]", "send each"),
    param("bad after good and new", {"tag": "t", "age": INF}, CONTEXT, "'age'", "inf"),
    param("without names", [31, "a", True], CONTEXT, "send contexts"),
    param("name that is none", {2.5: 1}, CONTEXT, "2.5", "rename"),
    param("text", "age=31", CONTEXT, "'age=31'", "mapping"),
    param("number", 31, CONTEXT, "31", "mapping"),
    param("nothing", None, CONTEXT, "None", "mapping"),
]


@pytest.mark.parametrize(("context", "error", "parts"), ONE_CONTEXT)
def test_context_to_learn(
    context: Any, error: type[BanditreeError], parts: tuple[str, ...]
) -> None:
    tree = learned()
    assert_raises(error, parts, tree.learn, context, 1)
    assert_raises(error, parts, tree.learn_many, [ROWS[0], LATER[0], context], [0, 0, 1])
    assert_untouched_incremental(tree, learned())


@pytest.mark.parametrize(
    ("context", "error", "parts"), [c for c in ONE_CONTEXT if c.id != "name that is none"]
)
def test_context_to_predict(
    context: Any, error: type[BanditreeError], parts: tuple[str, ...]
) -> None:
    tree, incremental = fitted(), learned()
    for predict in (tree.predict, incremental.predict):
        assert_raises(error, parts, predict, context)
    assert_untouched(tree)
    assert_untouched_incremental(incremental, learned())


@pytest.mark.parametrize("context", [{"a": INF}, {"a": 1, "b": [2]}, [INF], "text"], ids=str)
def test_context_to_an_empty_tree(context: Any) -> None:
    tree = bt.IncrementalTree()
    with pytest.raises(InvalidContextError, match=r"inf|\[2\]|text"):
        tree.learn(context, 1)
    assert_untouched_incremental(tree, bt.IncrementalTree())


@pytest.mark.parametrize(
    ("context", "error", "parts"),
    [
        param("short", [1.0], CONTEXT, "1 features, expected 2", "None"),
        param("long", [1.0, 2.0, 3.0], CONTEXT, "3 features, expected 2", "None"),
        param("long array", np.zeros(3), CONTEXT, "3 features, expected 2", "None"),
        param("inf in an array", np.array([1, INF]), CONTEXT, "feature 1", "inf", "None"),
        param("-inf in an array", np.array([-INF, 0]), CONTEXT, "feature 0", "-inf", "None"),
        param("both infinities", np.array([INF, -INF]), CONTEXT, "feature 0", "inf", "None"),
        param("named", {"a": 1, "b": 2}, CONTEXT, "named", "positional"),
    ],
)
def test_context_without_names(
    context: Any, error: type[BanditreeError], parts: tuple[str, ...]
) -> None:
    rows, y = np.arange(20.0).reshape(10, 2), [0, 1] * 5
    batch, tree, twin = bt.Tree().fit(rows, y), bt.IncrementalTree(), bt.IncrementalTree()
    tree.learn_many(rows, y)
    twin.learn_many(rows, y)
    assert_raises(error, parts, tree.learn, context, 1)
    for predict in (batch.predict, tree.predict):
        assert_raises(error, parts, predict, context)
        assert_raises(error, parts, predict, [context, context])
    for each in (tree, twin):
        each.learn([3, None], 1)
    assert tree.as_tree().to_dict() == twin.as_tree().to_dict()
    assert batch.to_dict() == bt.Tree().fit(rows, y).to_dict()


@pytest.mark.parametrize(
    ("contexts", "error", "parts"),
    [
        param("none", [], CONTEXT, "at least one context"),
        param("no rows", np.empty((0, 3)), CONTEXT, "at least one context"),
        param("one mapping", ROWS[0], CONTEXT, "many contexts", "dict", "put it in a list"),
        param("one list", [1, 2, 3], CONTEXT, "many contexts", "put it in a list"),
        param("one array", np.zeros(3), CONTEXT, "many contexts", "1-D array", "put it in a list"),
        param("3-D array", np.zeros((2, 2, 2)), CONTEXT, "3-D array", "2-D array"),
        param("text", "abc", CONTEXT, "'abc'", "2-D array"),
        param("lengths", [[1, 2], [1]], CONTEXT, "context 1", "1 features, expected 2", "None"),
        param("forms", [{"a": 1}, [1]], CONTEXT, "context 1", "dict", "list", "not both"),
        param("types", [{"a": 1}, {"a": "x"}], CONTEXT, "'a' of context 1", "'x'", "None"),
        param("inf", [{"a": 1}, {"a": INF}], CONTEXT, "'a' of context 1", "inf", "None"),
        param("inf array", np.array([[0], [-INF]]), CONTEXT, "0 of context 1", "-inf", "None"),
    ],
)
def test_contexts_to_fit(
    contexts: Any, error: type[BanditreeError], parts: tuple[str, ...]
) -> None:
    tree = fitted()
    assert_raises(error, parts, tree.fit, contexts, [0, 1])
    assert_untouched(tree)


@pytest.mark.parametrize("one", [ROWS[0], [1, 2], np.zeros(2)], ids=["mapping", "list", "array"])
def test_one_context_to_learn_many(one: Any) -> None:
    tree = learned()
    assert_raises(CONTEXT, ("many contexts", "method for one context"), tree.learn_many, one, [0])
    assert_untouched_incremental(tree, learned())


def test_many_contexts_to_learn() -> None:
    tree = learned()
    assert_raises(CONTEXT, ("one context", "got many", "_many"), tree.learn, ROWS[:2], 1)
    assert_untouched_incremental(tree, learned())


MANY_NUMBERS = [
    ("NaN", [0, NAN, 1], ("nan in row 1",)),
    ("inf", [0, 1, INF], ("inf in row 2",)),
    ("-inf", [-INF, 1, 0], ("-inf in row 0",)),
    ("too large", [0, 1e31, 0], ("1e+31 in row 1", "1e+30")),
    ("far too large", [0, HUGE, 0], ("1000", "in row 1")),
    ("None", [0, None, 1], ("nan in row 1",)),
    ("word", [0, "yes", 1], ("'yes'",)),
    ("digits", ["0", "1", "1"], ("'0'",)),
    ("complex", [0, 1j, 1], ("1j",)),
    ("short", [0, 1], ("2 entries for 3 contexts", "one per context")),
    ("long", [0, 1, 1, 0], ("4 entries for 3 contexts", "one per context")),
    ("column", [[0], [1], [1]], ("shape (3, 1)", "ravel")),
    ("2-D array", np.zeros((1, 3)), ("shape (1, 3)", "ravel")),
    ("one number", 1, ("one number per context",)),
    ("mapping", {0: 1, 1: 0, 2: 0}, ("one number per context", "{0: 1")),
]


@pytest.mark.parametrize(
    ("y", "parts"),
    [pytest.param(y, p, id=i) for i, y, p in [*MANY_NUMBERS, ("nothing", None, ("None",))]],
)
def test_rewards(y: Any, parts: tuple[str, ...]) -> None:
    tree, incremental = fitted(), learned()
    assert_raises(REWARD, parts, tree.fit, LATER, y)
    assert_raises(REWARD, parts, incremental.learn_many, LATER, y)
    assert_untouched(tree)
    assert_untouched_incremental(incremental, learned())


@pytest.mark.parametrize(
    ("weights", "parts"),
    [
        pytest.param(weights, parts, id=label)
        for label, weights, parts in [
            *MANY_NUMBERS,
            ("negative", [1, -0.5, 1], ("-0.5 in row 1", "0 leaves a row out")),
            ("too small", [1, 1, 1e-31], ("1e-31 in row 2", "0 leaves a row out")),
        ]
    ],
)
def test_weights(weights: Any, parts: tuple[str, ...]) -> None:
    tree, incremental = fitted(), learned()
    assert_raises(PARAMETER, parts, tree.fit, LATER, [0, 1, 1], weights)
    assert_raises(PARAMETER, parts, incremental.learn_many, LATER, [0, 1, 1], weights)
    assert_untouched(tree)
    assert_untouched_incremental(incremental, learned())


def test_all_weights_zero() -> None:
    tree, incremental = fitted(), learned()
    assert_raises(PARAMETER, ("all 0", "positive"), tree.fit, LATER, [0, 1, 1], [0, 0, 0])
    incremental.learn_many(ROWS, Y, np.zeros(24))
    assert_untouched(tree)
    assert_untouched_incremental(incremental, learned())


@pytest.mark.parametrize("reward", [NAN, INF, -INF, 1e31, HUGE, None, "1", [1], 1j], ids=short)
def test_one_reward(reward: Any) -> None:
    tree = learned()
    missing = reward is None or reward != reward
    advice = "leave out" if missing else "send a"
    assert_raises(REWARD, ("got " + repr(reward)[:50], advice), tree.learn, LATER[0], reward)
    assert_untouched_incremental(tree, learned())


@pytest.mark.parametrize("weight", [-1, NAN, INF, 1e31, 1e-31, None, "1", [1], 1j])
def test_one_weight(weight: Any) -> None:
    tree = learned()
    parts = ("got " + repr(weight), "0 leaves the observation out")
    assert_raises(PARAMETER, parts, tree.learn, LATER[0], 1, weight)
    assert_untouched_incremental(tree, learned())


FOLDS = np.arange(24) % 3


@pytest.mark.parametrize(
    ("folds", "error", "parts"),
    [
        param("one fold", 1, PARAMETER, "from 2 up", "got 1"),
        param("no fold", 0, PARAMETER, "from 2 up", "got 0"),
        param("more than rows", 25, PARAMETER, "25 folds", "got 24", "fewer"),
        param("float", 3.0, PARAMETER, "whole number", "3.0"),
        param("boolean", True, PARAMETER, "whole number", "True"),
        param("string", "3", PARAMETER, "whole number", "'3'"),
        param("None", None, PARAMETER, "whole number", "None"),
        param("huge", 2**31, PARAMETER, "2147483648"),
        param("gap", FOLDS * 2, PARAMETER, "fold id 1 is given to no row", "without gaps"),
        param("one id", np.zeros(24, int), PARAMETER, "two ids", "predicted from the others"),
        param("short", FOLDS[:-1], PARAMETER, "24 rows", "(23,)"),
        param("2-D", FOLDS[:, None], PARAMETER, "24 rows", "(24, 1)"),
        param("halves", FOLDS / 2, PARAMETER, "whole numbers", "0.5", "0, 1, 2"),
        param("NaN", np.where(FOLDS, FOLDS, NAN), PARAMETER, "whole numbers", "0, 1, 2"),
        param("strings", FOLDS.astype(str), PARAMETER, "whole numbers", "0, 1, 2"),
    ],
)
def test_folds(folds: Any, error: type[BanditreeError], parts: tuple[str, ...]) -> None:
    tree = fitted()
    assert_raises(error, parts, tree.cross_validate, folds)
    assert_untouched(tree)


def test_folds_that_no_row_of_weight_has() -> None:
    tree = bt.Tree().fit([[1], [2], [3]], [0, 1, 1], [1, 1, 0])
    parts = ("two ids among the rows of positive weight",)
    assert_raises(PARAMETER, parts, tree.cross_validate, [0, 0, 1])
    assert_raises(PARAMETER, ("3 folds", "got 2"), tree.cross_validate, 3)


def test_a_pruned_tree_is_not_cross_validated() -> None:
    parts = ("pruned", "that it was pruned from")
    assert_raises(PARAMETER, parts, fitted().prune(0.1).cross_validate, 3)


@pytest.mark.parametrize(
    "alpha", [-1, -1e-300, NAN, -INF, None, "some", [0.1], 1j, HUGE], ids=short
)
def test_alpha(alpha: Any) -> None:
    tree = fitted()
    assert_raises(PARAMETER, ("got " + repr(alpha)[:50], "pruning_path"), tree.prune, alpha)
    assert_untouched(tree)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None, 2**64])
def test_seed(seed: Any) -> None:
    tree = fitted()
    assert_raises(PARAMETER, ("seed", repr(seed)), lambda: tree.cross_validate(3, seed=seed))
    assert_untouched(tree)


@pytest.mark.parametrize("kind", [bt.Tree, bt.IncrementalTree])
@pytest.mark.parametrize(
    ("name", "least"), [("min_split", 2), ("min_leaf", 1), ("max_depth", 0), ("max_bins", 2)]
)
def test_settings(kind: Any, name: str, least: int) -> None:
    for value in (least - 1, -1, float(least), True, str(least), NAN, [least], 2**31):
        parts = (name, f"from {least} up", repr(value))
        assert_raises(PARAMETER, parts, lambda v=value: kind(**{name: v}))
    kind(**{name: least})
    kind(**{name: np.int32(least)})


@pytest.mark.parametrize("kind", [bt.Tree, bt.IncrementalTree])
@pytest.mark.parametrize("value", ["shop", 5, None, [1.5], [True], [None]], ids=repr)
def test_categorical(kind: Any, value: Any) -> None:
    shown = repr(value[0]) if isinstance(value, list) else repr(value)
    assert_raises(PARAMETER, ("categorical", shown), lambda: kind(categorical=value))


@pytest.mark.parametrize(
    ("edges", "parts"),
    [
        ({"z": [1.0]}, ("'z'", "no context has", "'age'")),
        ({"age": [2, 1]}, ("'age'", "ascending", "[2.0, 1.0]")),
        ({"age": [1, 1]}, ("'age'", "ascending", "[1.0, 1.0]")),
        ({"age": [NAN]}, ("'age'", "finite", "nan")),
        ({"age": [0, INF]}, ("'age'", "finite", "inf")),
        ({"age": [[1.0]]}, ("'age'", "ascending", "[[1.0]]")),
        ({"age": ["x"]}, ("'age'", "'x'")),
        (5, ("bin_edges", "5")),
    ],
)
def test_bin_edges(edges: Any, parts: tuple[str, ...]) -> None:
    tree = fitted()
    assert_raises(PARAMETER, parts, lambda: tree.fit(ROWS, Y, bin_edges=edges))
    assert_untouched(tree)


@pytest.mark.parametrize(
    "use",
    [
        lambda tree: tree.predict(ROWS),
        lambda tree: tree.predict(ROWS[0]),
        lambda tree: tree.pruning_path(),
        lambda tree: tree.prune(0),
        lambda tree: tree.cross_validate(3),
        lambda tree: tree.n_leaves,
        lambda tree: tree.depth,
        lambda tree: tree.to_dict(),
        lambda tree: tree.to_text(),
        lambda tree: tree.to_svg(),
    ],
)
def test_a_tree_that_was_not_fitted(use: Callable[[bt.Tree], Any]) -> None:
    tree = bt.Tree(min_leaf=2)
    assert_raises(NotFittedError, ("not been fitted", "call fit"), use, tree)
    with pytest.raises(InvalidContextError, match="inf"):
        tree.fit([[INF]], [1])
    assert_raises(NotFittedError, ("not been fitted", "call fit"), use, tree)
    assert_untouched(tree.fit(ROWS, Y))


@pytest.mark.parametrize("use", [lambda t: t.predict(ROWS), lambda t: t.as_tree()])
def test_a_tree_that_has_learned_nothing(use: Callable[[bt.IncrementalTree], Any]) -> None:
    tree = bt.IncrementalTree()
    assert_raises(NotFittedError, ("learned nothing", "call learn"), use, tree)
    tree.learn_many([], [])
    assert_raises(NotFittedError, ("learned nothing", "call learn"), use, tree)
    assert_untouched_incremental(tree, bt.IncrementalTree())
