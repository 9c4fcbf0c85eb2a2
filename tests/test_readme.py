"""The examples of the README run as printed."""

import doctest
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def python_blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def test_python_blocks_run_as_printed():
    blocks = python_blocks(README.read_text())
    # One document: later blocks use the names of earlier ones.
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README", str(README), 0)
    report: list[str] = []
    results = doctest.DocTestRunner().run(test, out=report.append)
    assert results.attempted > 0
    assert results.failed == 0, "".join(report)


def test_every_python_block_is_a_doctest():
    for block in python_blocks(README.read_text()):
        assert block.startswith(">>> "), block
