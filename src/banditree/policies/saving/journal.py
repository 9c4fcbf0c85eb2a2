"""What happened to a policy since it was saved, to be appended to its file."""

from pathlib import Path
from typing import Any

import numpy as np

from banditree.contexts.changes import dump_changes
from banditree.contexts.features import Pending
from banditree.policies.beliefs import Arrays
from banditree.policies.saving import appended, files
from banditree.types import FloatArray

# Once a file has grown by this share, or by so many bytes if that is more, it is written anew:
# whoever loads it learns again what was appended.
_SHARE = 0.1
_LEAST = 1 << 18


class Journal:
    """Records what changes a policy, in order, since the last save to a file.

    Parameters
    ----------
    path
        The file.
    n
        How many observations the policy has learned.
    """

    def __init__(self, path: Path, n: int) -> None:
        self._path = path
        self._n = n
        self._whole = 0
        self._end: appended.End | None = None
        self._clear()

    def _clear(self) -> None:
        self._steps: list[list[Any]] = []
        self._arms: list[int] = []
        self._rewards: list[float] = []
        self._rows = bytearray()

    # To be called under the lock of the policy.

    def added_contexts(self, pending: Pending) -> None:
        """Record new features and categories."""
        self._steps.append(["contexts", dump_changes(pending)])

    def changed_arm(self, call: str, arm: Any) -> None:
        """Record a call of `add_arm` or `remove_arm`."""
        self._steps.append([call, arm])

    def learned(self, arms: list[int], rows: FloatArray, rewards: list[float]) -> None:
        """Record observations: one row, or many."""
        width = rows.shape[-1]
        if not self._steps or self._steps[-1][0] != "learn" or self._steps[-1][2] != width:
            self._steps.append(["learn", 0, width])
        self._steps[-1][1] += len(arms)
        self._n += len(arms)
        self._arms += arms
        self._rewards += rewards
        self._rows += rows.tobytes()

    def take(self) -> tuple[list[Any], Arrays]:
        """Return what was recorded, and record from here on."""
        arrays = {
            "arms": np.array(self._arms, dtype=np.int64),
            "rewards": np.array(self._rewards, dtype=np.float64),
            "rows": np.frombuffer(bytes(self._rows), dtype=np.float64),
        }
        steps = self._steps
        self._clear()
        return steps, arrays

    def can_go_on(self, path: Path, n: int) -> bool:
        """Return whether to append: to this file, which has not grown much since it was written.

        `n` is how many observations the policy has learned: if an interrupt came between learning
        and recording, the journal lacks one.
        """
        if path != self._path or n != self._n or self._end is None:
            return False
        return self._end.size - self._whole <= max(_LEAST, _SHARE * self._whole)

    # To be called without it.

    def write_whole(self, parts: files.Parts) -> None:
        """Write the file."""
        sealed = files.seal(parts)
        files.write(self._path, sealed)
        self._whole = sum(map(len, sealed))
        self._end = appended.End(self._whole, bytes(sealed[1]))

    def append(self, parts: files.Parts) -> bool:
        """Append to the file; return False if it is not as this journal left it."""
        if self._end is not None:
            self._end = appended.append(self._path, self._end, parts)
        return self._end is not None
