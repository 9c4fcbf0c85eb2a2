"""Which code makes results: the version, and a hash of all that can change a run."""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from banditree import _core
from banditree.studies import own

__all__ = ["build_name", "code_of_run"]

PACKAGE = Path(__file__).parents[1]
# Parts of the package that can change what a run comes to. Reports, the store and who does the work
# cannot, and a change of theirs leaves results as they are.
FOLDERS = ("contexts", "trees", "policies", "environments")
FILES = ("studies/building.py", "studies/runs.py")
SOURCES = (".py", ".toml")
DRAWING = PACKAGE / "trees" / "drawing"


@cache
def build_name() -> str:
    """Return the version with the beginning of a hash of sources and compiled core.

    Examples
    --------
    >>> build_name()  # doctest: +ELLIPSIS
    '...+...'
    """
    digest = hashlib.sha256()
    for file in _files():
        name = file.relative_to(PACKAGE).as_posix() if file.suffix in SOURCES else "core"
        digest.update(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return f"{version('banditree')}+{digest.hexdigest()[:12]}"


def _files() -> Iterator[Path]:
    for folder in FOLDERS:
        for file in sorted((PACKAGE / folder).rglob("*")):
            if file.suffix in SOURCES and not file.is_relative_to(DRAWING):
                yield file
    yield from (PACKAGE / name for name in FILES)
    yield Path(_core.__file__)


def code_of_run(policy: str, task: str) -> str:
    """Return what tells the code of a run from any other: this package's, and one's own."""
    paths = [name for name in (policy, task) if own.is_path(name)]
    return " ".join([build_name(), *map(own.code_of, paths)])
