"""Dealing rows into folds for cross-validation."""

from collections.abc import Iterable, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree import _core
from banditree._checking import as_floats, check_seed, check_whole, shorten
from banditree.errors import InvalidParameterError


def deal_folds(
    folds: Any, n_rows: int, used: NDArray[np.bool_] | None, seed: int
) -> tuple[NDArray[np.int64], int]:
    """Return an id in 0..n_folds-1 for each row of positive weight, and n_folds.

    `used` tells which of the rows the user passed have positive weight (None: all).
    """
    if isinstance(folds, Iterable):
        ids, n_folds = _given(folds, n_rows, used)
    else:
        ids, n_folds = _dealt(folds, n_rows, seed), int(folds)
    return np.ascontiguousarray(ids, dtype=np.int64), n_folds


def _dealt(folds: Any, n_rows: int, seed: int) -> NDArray[np.int64]:
    n_folds = check_whole("folds", folds, 2)
    if n_folds > n_rows:
        raise InvalidParameterError(
            f"{n_folds} folds need at least as many rows of positive weight, got {n_rows}; "
            "use fewer folds"
        )
    shuffled = np.argsort(_core.Generator(check_seed(seed)).uniform(n_rows), kind="stable")
    ids = np.empty(n_rows, dtype=np.int64)
    ids[shuffled] = np.arange(n_rows) % n_folds
    return ids


def _given(
    folds: Any, n_rows: int, used: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int64], int]:
    ids = as_floats(folds if isinstance(folds, Sized) else list(folds))
    expected = n_rows if used is None else len(used)
    if ids is None or not (np.isfinite(ids).all() and (ids == np.floor(ids)).all()):
        raise InvalidParameterError(
            f"fold ids must be whole numbers, got {shorten(folds)}; number the folds 0, 1, 2, ..."
        )
    if ids.shape != (expected,):
        raise InvalidParameterError(
            f"folds must be a number or one id for each of the {expected} rows, "
            f"got shape {ids.shape}"
        )
    present = np.unique(ids)
    gaps = np.flatnonzero(np.diff(present) > 1)
    if len(gaps):
        raise InvalidParameterError(
            f"fold id {present[gaps[0]] + 1:.0f} is given to no row, though ids run from "
            f"{present[0]:.0f} to {present[-1]:.0f}; number the folds without gaps"
        )
    kept, numbers = np.unique(ids if used is None else ids[used], return_inverse=True)
    if len(kept) < 2:
        raise InvalidParameterError(
            "folds must have at least two ids among the rows of positive weight; "
            "each fold is predicted from the others"
        )
    return numbers, len(kept)
