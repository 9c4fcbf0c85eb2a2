"""Who may import whom, what `import banditree` loads, and what it exports."""

import ast
import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import banditree as bt

PACKAGE = Path(__file__).parents[1] / "src" / "banditree"

# A part may import itself and the parts before it.
ORDER = [
    "errors",
    "types",
    "signs",
    "_checking",
    "_core",
    "contexts",
    "trees",
    "policies",
    "checks",
    "environments",
    "evaluation",
    "studies",
    "cli",
    "__main__",
]


def imported_modules(source: str, package: str) -> set[str]:
    """Absolute names of everything imported anywhere in a module that lives in `package`.

    `from a import b` counts as `a.b`, since `b` may be a module.
    """
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [base])])
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return names


def violations(source: str, module: str, package: str) -> list[str]:
    """Imports in `source` that go against ORDER; `module` is its absolute name."""
    part = module.split(".")[1]
    allowed = ORDER[: ORDER.index(part) + 1]
    imported = [name.split(".") for name in imported_modules(source, package)]
    inner = [name for name in imported if name[0] == "banditree"]
    return sorted(".".join(name) for name in inner if len(name) == 1 or name[1] not in allowed)


def module_files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py*") if path.suffix in {".py", ".pyi"})


def ids(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", module_files(), ids=ids)
def test_imports_go_one_way(path):
    if path == PACKAGE / "__init__.py":
        return  # the public face imports from every part; no part may import it
    parts = ("banditree", *path.relative_to(PACKAGE).with_suffix("").parts)
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    assert module.split(".")[1] in ORDER, f"{module} belongs to no part: add it to ORDER"
    assert violations(path.read_text(), module, ".".join(parts[:-1])) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from banditree.trees import Tree", []),
        ("from ..trees import Tree", []),
        ("from .base import Policy", []),
        ("from .. import errors", []),
        ("import numpy.random", []),
        ("import banditree", ["banditree"]),
        ("from banditree import Tree", ["banditree.Tree"]),
        ("from .. import Tree", ["banditree.Tree"]),
        ("import banditree.cli", ["banditree.cli"]),
        ("from banditree import studies", ["banditree.studies"]),
        ("from ..service.app import app", ["banditree.service.app.app"]),
        ("def f():\n    from ..cli import main", ["banditree.cli.main"]),
        ("if TYPE_CHECKING:\n    import banditree.service", ["banditree.service"]),
    ],
)
def test_violations_are_found(source, found):
    assert violations(source, "banditree.policies.uniform", "banditree.policies") == found


def test_contributors_are_told_this_order():
    text = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"\n{' → '.join(name for name in ORDER if name != '__main__')}\n" in text


def test_import_loads_only_numpy_and_the_core():
    script = (
        "import sys; before = set(sys.modules); import banditree;"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split()) - sys.stdlib_module_names
    assert loaded - {"banditree", "numpy"} == set()
    assert run.stderr == ""  # nanobind reports leaks there


def test_all_is_sorted_and_complete():
    public = {
        name
        for name, value in vars(bt).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert list(bt.__all__) == sorted(bt.__all__)
    assert set(bt.__all__) == public | {"__version__"}


@pytest.mark.parametrize("name", [name for name in bt.__all__ if name != "__version__"])
def test_public_names_are_documented(name):
    assert getattr(bt, name).__doc__  # of a class: its own, since __doc__ is not inherited


def test_version_is_that_of_the_distribution():
    assert bt.__version__ == importlib.metadata.version("banditree")
