"""What docs/evaluation.md shows runs as shown."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "evaluation.md"


def test_python_blocks_run_as_printed():
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "page", str(PAGE), 0)
    report: list[str] = []
    results = doctest.DocTestRunner().run(test, out=report.append)
    assert results.attempted > 10
    assert results.failed == 0, "".join(report)
