"""Which constants of a policy were tried, and which were best."""

from typing import Any

from banditree.studies.summary import Cell, Results

__all__ = ["at_edge", "best_constants", "tuned_labels", "varying"]


def varying(results: Results, label: str) -> list[str]:
    """Return the parameters of a policy that are not the same in all of its runs."""
    cells = [cell for cell in results.cells if cell.label == label]
    names = list(dict.fromkeys(name for cell in cells for name in cell.parameters))
    return [name for name in names if len({repr(c.parameters.get(name)) for c in cells}) > 1]


def best_constants(results: Results, label: str, environment: str) -> str:
    """Return the constants with the least regret as text, leaving out what never changes."""
    cell = results.best(label, environment)
    return "" if cell is None else _text(cell, varying(results, label))


def tuned_labels(results: Results) -> list[str]:
    """Return the policies whose constants are not the same in all of their runs."""
    return [label for label in results.labels if varying(results, label)]


def at_edge(results: Results, label: str, environment: str) -> bool:
    """Return whether the best constant is the largest or the smallest of more than two numbers.

    A count of 1 has none below it.
    """
    best, cells = results.best(label, environment), results.variants(label, environment)
    for name in varying(results, label):
        tried: set[Any] = {cell.parameters.get(name) for cell in cells}
        ordered = len(tried) > 2 and all(isinstance(value, int | float) for value in tried)
        if best is None or not ordered:
            continue
        value = best.parameters[name]
        if value == max(tried) or (value == min(tried) and not _is_one(value)):
            return True
    return False


def _is_one(value: Any) -> bool:
    return isinstance(value, int) and value == 1


def _text(cell: Cell, names: list[str]) -> str:
    return ", ".join(f"{name}={cell.parameters[name]}" for name in names if name in cell.parameters)
