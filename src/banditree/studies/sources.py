"""The files that code of one's own consists of: those that define it, and those they import."""

import ast
import importlib.util
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

__all__ = ["files_of", "state_of"]

# Modules that are Python's or this package's, by the first part of their names.
FOREIGN = {"banditree", *sys.stdlib_module_names}
# Folders of installed packages.
INSTALLED = {"site-packages", "dist-packages"}


def files_of(module: str, package: str) -> dict[str, Path]:
    """Return the file of a module and of each module that it imports, at any remove, by name.

    Left out are modules that are Python's, this package's or installed, unless they belong to
    `package`. A name that a program only computes when it runs is not found.
    """
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or _top(name) in FOREIGN:
            continue
        spec = _spec_of(name)
        file = Path(spec.origin) if spec is not None and spec.origin else None
        if file is None or not file.is_file():  # a folder without __init__.py, or no module at all
            continue
        if name == module or _top(name) == package or INSTALLED.isdisjoint(file.parts):
            found[name] = file
            is_package = spec is not None and spec.submodule_search_locations is not None
            waiting += _imported(file, state_of(file), name if is_package else _parent(name))
    return found


def state_of(file: Path) -> tuple[int, int] | None:
    """Return what changes when a file does; None if there is none."""
    if not file.exists():
        return None
    about = file.stat()
    return about.st_mtime_ns, about.st_size


def _spec_of(name: str) -> ModuleSpec | None:
    """Return where a module is; nothing is imported to find it."""
    known: ModuleSpec | None = getattr(sys.modules.get(name), "__spec__", None)
    if known is not None:
        return known
    parent = _parent(name)
    try:
        if not parent:
            return importlib.util.find_spec(name)
    except (ImportError, ValueError):  # the latter for a module that does not say where it is
        return None
    above = _spec_of(parent)
    places = None if above is None else above.submodule_search_locations
    return None if places is None else PathFinder.find_spec(name, list(places))


@lru_cache(maxsize=1024)
def _imported(file: Path, state: object, package: str) -> tuple[str, ...]:
    """Return the names of all modules that a file imports, and of the packages they are in."""
    if file.suffix != ".py":
        return ()
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:  # whoever imports it will say so
        return ()
    names = {name for node in ast.walk(tree) for name in _named(node, package)}
    return tuple(sorted({whole for name in names for whole in _with_parents(name)}))


def _named(node: ast.AST, package: str) -> Iterator[str]:
    """Yield what an import names; of `from a import b` also `a.b`, which may be a module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        try:
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
        except ImportError:  # above the highest package
            return
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _with_parents(name: str) -> Iterator[str]:
    while name:
        yield name
        name = _parent(name)


def _parent(name: str) -> str:
    return name.rpartition(".")[0]


def _top(name: str) -> str:
    return name.partition(".")[0]
