from enum import Enum, IntEnum, StrEnum

import numpy as np
import pytest

from banditree import InvalidParameterError, UnknownArmError
from banditree.policies.arms import Arms


class Sport(StrEnum):
    GOLF = "golf"
    TENNIS = "tennis"


class Mixed(str, Enum):  # noqa: UP042  # the older spelling, whose str() is another
    GOLF = "golf"


class Shelf(IntEnum):
    TOP = 1


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["golf", "tennis"], ["golf", "tennis"]),
        (("golf", 3), ["golf", 3]),
        (range(3), [0, 1, 2]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.arange(2), [0, 1]),
        ((name for name in "ab"), ["a", "b"]),
        ({"a": 1, "b": 2}, ["a", "b"]),
        (list(Sport), ["golf", "tennis"]),
        ([Mixed.GOLF], ["golf"]),
        ([Shelf.TOP], [1]),
        ([1, "1"], [1, "1"]),
        ([""], [""]),
    ],
)
def test_names_become_plain(given, names):
    arms = Arms(given)
    assert arms.names == names
    assert [type(name) for name in arms.names] == [type(name) for name in names]
    assert arms.active == tuple(names)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("golf", "arms must be a list of strings or whole numbers, got 'golf'; such as"),
        (b"golf", "got b'golf'"),
        (3, "got 3"),
        (None, "got None"),
        ([], "arms is empty"),
        (["golf", "tennis", "golf"], "arms names 'golf' twice"),
        ([1, np.int64(1)], "arms names 1 twice"),
        (["golf", Sport.GOLF], "arms names 'golf' twice"),
        ([True], "an arm must be a string or a whole number of at most 64 bits, got True"),
        ([np.bool_(False)], "got False"),
        ([1.0], "got 1.0"),
        ([None], "got None"),
        ([("golf",)], r"got \('golf',\)"),
        ([b"golf"], "got b'golf'"),
    ],
)
def test_wrong_names(given, message):
    with pytest.raises(InvalidParameterError, match=message):
        Arms(given)


@pytest.mark.parametrize(
    ("names", "arm", "index"),
    [
        (["golf", "tennis"], "tennis", 1),
        (["golf", "tennis"], np.str_("tennis"), 1),
        (["golf", "tennis"], Sport.TENNIS, 1),
        (["golf", "tennis"], Mixed.GOLF, 0),
        ([0, 1], 1, 1),
        ([0, 1], np.int8(1), 1),
        ([0, 1], np.uint64(1), 1),
        ([0, 1], Shelf.TOP, 1),
        ([1, "1"], "1", 1),
    ],
)
def test_index(names, arm, index):
    assert Arms(names).index(arm) == index
    assert Arms(names).indices([arm]).tolist() == [index]
    assert Arms(names).each([arm, arm], 2).tolist() == [index, index]


@pytest.mark.parametrize(
    "arm", [True, np.True_, 1.0, np.float64(1), "1", None, [1], {}, float("nan")]
)
def test_what_only_looks_like_an_arm_is_unknown(arm):
    with pytest.raises(UnknownArmError, match=r"unknown arm .*; the arms are 0, 1; "):
        Arms([0, 1]).index(arm)


@pytest.mark.parametrize(
    ("arm", "hint"),
    [
        ("gofl", "did you mean 'golf'?"),
        ("GOLF ", "did you mean 'golf'?"),
        ("1", "did you mean 1?"),
        ("hockey", "add_arm\\(\\) makes it known"),
        (1.0, "did you mean 1?"),
        (True, "did you mean 1?"),
        (np.float64(1), "did you mean 1?"),
        (2.5, "pass a string or a whole number, as arms are$"),
        (None, "pass a string or a whole number, as arms are$"),
    ],
)
def test_unknown_arms_are_guessed(arm, hint):
    with pytest.raises(UnknownArmError, match=hint.replace("?", r"\?")):
        Arms(["golf", 1]).index(arm)


def test_a_message_is_never_long():
    arms = Arms(range(5000))
    with pytest.raises(UnknownArmError) as caught:
        arms.index("x" * 10_000)
    assert len(str(caught.value)) < 300


def test_eligible_arms_keep_their_order():
    arms = Arms(["a", "b", "c"])
    assert arms.indices(["c", "a"]).tolist() == [2, 0]
    assert arms.indices(np.array(["b"])).tolist() == [1]
    assert arms.indices(arm for arm in "ba").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("eligible", "error", "message"),
    [
        ([], InvalidParameterError, "arms is empty, but at least one"),
        (["a", "b", "a"], InvalidParameterError, "arms names 'a' twice"),
        ("a", InvalidParameterError, "got 'a'; put a single arm in a list"),
        (5, InvalidParameterError, "got 5"),
        (["a", "z"], UnknownArmError, "unknown arm 'z'"),
        (["c"], UnknownArmError, r"'c' was removed; add_arm\('c'\) brings it back"),
    ],
)
def test_wrong_eligible_arms(eligible, error, message):
    arms = Arms(["a", "b", "c"])
    arms.remove("c")
    with pytest.raises(error, match=message):
        arms.indices(eligible)


def test_one_arm_per_row():
    arms = Arms(["a", "b"])
    arms.remove("b")
    assert arms.each(np.array(["b", "a"]), 2).tolist() == [1, 0]  # removed ones are still taught
    assert arms.each([], 0).tolist() == []
    with pytest.raises(InvalidParameterError, match="arms has 2 entries for 3 contexts"):
        arms.each(["a", "b"], 3)
    with pytest.raises(InvalidParameterError, match="with the arm of each context, got 'ab'"):
        arms.each("ab", 2)


def test_arms_come_and_go():
    arms = Arms(["a", "b"])
    assert arms.add("c") == 2
    arms.remove("a")
    assert (arms.active, arms.all.tolist(), len(arms)) == (("b", "c"), [1, 2], 3)
    assert arms.index("a") == 0
    assert arms.add("a") is None
    assert arms.active == ("a", "b", "c")
    again = Arms([arm["name"] for arm in arms.state()])
    again.restore_activity([True, False, True])
    assert again.active == ("a", "c")


def test_what_cannot_come_or_go():
    arms = Arms(["a", "b"])
    with pytest.raises(InvalidParameterError, match="already has the arm 'a'; give"):
        arms.add(np.str_("a"))
    with pytest.raises(InvalidParameterError, match="got True"):
        arms.add(True)
    arms.remove("a")
    with pytest.raises(UnknownArmError, match="'a' was removed"):
        arms.remove("a")
    with pytest.raises(InvalidParameterError, match="'b' is the last arm, and a policy needs one"):
        arms.remove("b")
    assert arms.active == ("b",)
