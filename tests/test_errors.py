"""The hierarchy of errors."""

import pickle

import pytest

from banditree import errors

BUILT_IN = {
    "InvalidParameterError": ValueError,
    "InvalidContextError": ValueError,
    "InvalidRewardError": ValueError,
    "UnknownArmError": LookupError,
    "NotFittedError": RuntimeError,
    "StateError": ValueError,
    "DataError": OSError,
}


def test_all_is_sorted_and_complete():
    assert errors.__all__ == sorted(["BanditreeError", "BanditreeWarning", *BUILT_IN])


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_error_derives_from_the_base_and_one_built_in(name):
    assert getattr(errors, name).__bases__ == (errors.BanditreeError, BUILT_IN[name])


@pytest.mark.parametrize("name", ["BanditreeError", *BUILT_IN])
def test_each_error_shows_its_message_and_pickles(name):
    error = getattr(errors, name)("arm 'golf' is unknown")
    assert str(error) == "arm 'golf' is unknown"
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)


@pytest.mark.parametrize("name", ["BanditreeError", *BUILT_IN])
def test_each_error_is_documented_and_drawn(name):
    assert getattr(errors, name).__doc__.endswith(".")
    assert name in errors.__doc__
