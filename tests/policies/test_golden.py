"""Files of every format that was ever written load, and give what they gave then.

Of trees, files of format 2 hold the observations only, from which the trees are grown when they are
loaded. Where the rules of growing and pruning change, so do the readings of these files.
"""

import json

import numpy as np
import pytest

import banditree as bt
from banditree.policies.saving import files
from golden import make

CASES = [
    pytest.param(path, id=f"{path.parent.name}-{path.stem}")
    for path in sorted(make.FOLDER.glob("format-*/*.bt"))
]


def test_there_are_files_of_every_format_since_2():
    folders = {path.name for path in make.FOLDER.glob("format-*")}
    assert folders == {f"format-{n}" for n in range(2, files.FORMAT + 1)}
    for folder in folders:
        names = {path.stem for path in (make.FOLDER / folder).glob("*.bt")}
        assert names <= make.POLICIES.keys()
        assert names == make.POLICIES.keys() or folder != f"format-{files.FORMAT}"


@pytest.mark.parametrize("path", CASES)
def test_a_golden_file_gives_what_it_gave(path):
    expected = json.loads((path.parent / "readings.json").read_text())[path.stem]
    given = make.readings(bt.load(path))
    for name in ("arms", "counts", "decisions"):
        assert given[name] == expected[name]
    for name in ("propensities", "expected", "later"):
        np.testing.assert_allclose(given[name], expected[name], rtol=0, atol=1e-9)
