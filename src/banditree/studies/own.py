"""Policies and environments of one's own: found by where they are defined."""

import hashlib
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

from banditree.errors import InvalidParameterError
from banditree.studies.compiled import has_changed
from banditree.studies.sources import files_of

__all__ = ["code_of", "find", "is_path", "look_in", "name_of", "path_of"]

# The content of files when they were first looked at, by path. What was imported stays as it is.
_imported: dict[Path, str] = {}


def is_path(name: str) -> bool:
    """Return whether a name says where something is defined: "module:name"."""
    return ":" in name


def name_of(path: str) -> str:
    """Return the name in a path.

    Examples
    --------
    >>> name_of("mypackage.mymodule:EpsilonGreedy")
    'EpsilonGreedy'
    """
    return path.partition(":")[2]


def look_in(folder: Path) -> None:
    """Let modules be found in a folder too, after all other places."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def path_of(made: Any) -> str:
    """Return where a class or function is defined, so that any process can import it."""
    module, name = getattr(made, "__module__", ""), getattr(made, "__qualname__", "")
    path = f"{module}:{name}"
    if not name or "<" in name:
        raise InvalidParameterError(
            f"{made!r} has no name by which another process could import it; pass a class or a "
            "function that a module defines, and its arguments as parameters"
        )
    if module == "__main__":
        raise InvalidParameterError(
            f"{name} is defined in the program itself, where other processes do not find it; put "
            "it into a module and import it from there"
        )
    if find(path) is not made:
        raise InvalidParameterError(
            f"{path} is not what was passed but another of the same name; give it a name of its own"
        )
    return path


def find(path: str) -> Any:
    """Return what is defined at a path, a class or a function."""
    module_name, _, name = path.partition(":")
    if ":" in name or not all((*module_name.split("."), *name.split("."))):
        raise InvalidParameterError(
            f"{path!r} must be a module and what it defines, with a colon between them; write it "
            "like 'epsilon_greedy:EpsilonGreedy'"
        )
    importlib.invalidate_caches()
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise InvalidParameterError(
            f"there is no module {error.name!r}, for {path!r}; put its file beside the study, or "
            "install it"
        ) from None
    except Exception as error:
        raise InvalidParameterError(
            f"{module_name!r} cannot be imported: {type(error).__name__}: {error}; correct it"
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise InvalidParameterError(f"{module_name!r} has no {name!r}; correct {path!r}")
        found = getattr(found, part)
    if not callable(found):
        raise InvalidParameterError(f"{path!r} must be a class or a function, got {found!r}")
    return found


def code_of(path: str) -> str:
    """Return a hash of the files that define what is at a path, and of what those import.

    A file that has changed since it was imported is refused, since what runs is no longer what it
    says.
    """
    found = find(path)
    module = path.partition(":")[0]
    classes = inspect.getmro(found) if inspect.isclass(found) else (found,)
    files: dict[str, Path] = {}
    for name in {module, *(str(made.__module__) for made in classes)}:
        files |= files_of(name, package=module.partition(".")[0])
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        digest.update(f"{name} {_content(name, file)}\n".encode())
    return digest.hexdigest()


def _content(module: str, file: Path) -> str:
    """Return a hash of what is in the file of a module."""
    content = hashlib.sha256(file.read_bytes()).hexdigest()
    is_new = file not in _imported
    if (is_new and has_changed(module, file)) or _imported.setdefault(file, content) != content:
        raise InvalidParameterError(
            f"{file} has changed since it was imported; start Python again to run what it says now"
        )
    return content
