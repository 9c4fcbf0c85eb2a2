"""Random calls never crash or hang the interpreter, and raise only errors that users may see."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from banditree import _core

HERE = Path(__file__).parent
COUNTS = ("calls", "succeeded")


def fuzz(script: str, seconds: int, seed: int) -> tuple[int, int]:
    """Return how many calls were made and how many of them succeeded."""
    command = [sys.executable, str(HERE / script), str(seconds), str(seed)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    output = ran.stdout + ran.stderr
    assert ran.returncode == 0, output[-20000:]
    calls, succeeded = (re.search(rf"^{word}: (\d+)$", output, re.M) for word in COUNTS)
    return int(calls[1]), int(succeeded[1])


# A share of good calls, so that the core is reached and policies learn, and not just the checks
# before them.
@pytest.mark.parametrize(
    ("script", "seconds", "fewest", "share"),
    [("fuzz.py", 15, 1000, 0.25), ("fuzz_policies.py", 10, 300, 0.5)],
)
def test_random_calls(script: str, seconds: int, fewest: int, share: float) -> None:
    calls, succeeded = fuzz(script, seconds, seed=42)
    assert calls > fewest
    assert succeeded > share * calls


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "seconds", "share"), [("fuzz.py", 30, 0.25), ("fuzz_policies.py", 20, 0.5)]
)
def test_random_calls_for_longer(script: str, seconds: int, share: float) -> None:
    calls, succeeded = fuzz(script, seconds, seed=20240229)
    assert succeeded > share * calls


@pytest.fixture(scope="module")
def chain() -> _core.Tree:
    """A tree as deep as it can be: of rewards that alternate, one row is split off at a time."""
    contexts = np.arange(20_000.0).reshape(-1, 1)
    rewards = np.arange(20_000) % 2.0
    number = np.zeros(1, np.uint8)
    return _core.Tree.fit(contexts, number, rewards, None, 2, 1, None, None, False, None)


def test_a_chain_of_20000_rows_does_not_exhaust_the_stack(chain: _core.Tree) -> None:
    assert chain.depth == 19_999
    assert chain.predict_one(np.array([1e9])) == 1
    assert chain.pruning_path()[1].tolist() == [20_000, 1]
    assert chain.prune(0).depth == 19_999
    assert chain.lazy_predict_one(np.ones(20_000), 0.0, np.array([-1.0])) == 0


def test_a_chain_is_stored_and_restored(chain: _core.Tree) -> None:
    restored = _core.Tree.restore(chain.nodes(), chain.sides(), chain.n_features)
    assert restored.depth == 19_999
    assert restored.nodes().tolist() == chain.nodes().tolist()
