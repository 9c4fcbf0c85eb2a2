"""Dealing rows into folds for cross-validation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditree import _core
from banditree.errors import InvalidParameterError
from banditree.trees.inputs import check_seed, check_whole


def fold_ids(
    folds: Any, n_rows: int, used: NDArray[np.bool_] | None, seed: int
) -> tuple[NDArray[np.int64], int]:
    """Return an id in 0..n_folds-1 for each row of positive weight, and n_folds.

    `used` tells which of the rows the user passed have positive weight (None: all).
    """
    if np.ndim(folds) == 0:
        ids, n_folds = _dealt(folds, n_rows, seed), int(folds)
    else:
        ids, n_folds = _given(folds, n_rows, used)
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
    ids = np.asarray(folds)
    expected = n_rows if used is None else len(used)
    if ids.shape != (expected,):
        raise InvalidParameterError(
            f"folds must be a number or one id for each of the {expected} rows, "
            f"got shape {ids.shape}"
        )
    if ids.dtype.kind not in "iu":
        whole = ids.dtype.kind == "f" and np.isfinite(ids).all() and (ids == np.floor(ids)).all()
        if not whole:
            raise InvalidParameterError(
                f"fold ids must be whole numbers, got {ids.dtype}; number the folds 0, 1, 2, ..."
            )
    present = np.unique(ids)
    span = range(int(present[0]), int(present[-1]) + 1)
    if len(span) != len(present):
        absent = next(i for i in span if i not in set(present.tolist()))
        raise InvalidParameterError(
            f"fold id {absent} is given to no row, though ids run from {span[0]} to {span[-1]}; "
            "number the folds without gaps"
        )
    kept, ids = np.unique(ids if used is None else ids[used], return_inverse=True)
    if len(kept) < 2:
        raise InvalidParameterError(
            "folds must have at least two ids among the rows of positive weight; "
            "each fold is predicted from the others"
        )
    return ids, len(kept)
