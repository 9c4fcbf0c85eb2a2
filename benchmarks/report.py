"""How the benchmarks of policies print."""

import sys
import time
from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return a table: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def markdown(rows: Sequence[Sequence[str]]) -> str:
    heading, *body = ["| " + " | ".join(row) + " |" for row in rows]
    rule = "|---" + "|---:" * (len(rows[0]) - 1) + "|"
    return "\n".join([heading, rule, *body])


def verdict(met: bool) -> str:
    return "ok" if met else "OVER"


class Progress:
    """One line on stderr: rewritten on a terminal, else repeated now and then."""

    def __init__(self, total: int, every: float = 10.0) -> None:
        self.total = total
        self.every = every
        self.done = 0
        self.begun = time.monotonic()
        self.shown = self.begun

    def advance(self, text: str) -> None:
        self.done += 1
        now = time.monotonic()
        terminal, last = sys.stderr.isatty(), self.done == self.total
        if terminal or last or now - self.shown >= self.every:
            self.shown = now
            left = (now - self.begun) / self.done * (self.total - self.done)
            line = f"... {self.done} of {self.total} runs, {left:.0f} s left; last: {text}"
            end = "\n" if last or not terminal else ""
            start = "\r\033[K" if terminal else ""
            print(start + line, end=end, file=sys.stderr, flush=True)
