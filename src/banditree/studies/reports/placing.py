"""Where labels are put, so that none hides another."""

from collections.abc import Sequence

__all__ = ["spread"]


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Return places that are at least a gap apart, in the order of those wanted and near them.

    They stay between 0 and 1 if there is room for that.

    Examples
    --------
    >>> [round(place, 2) for place in spread([0.5, 0.5, 0.9], gap=0.1)]
    [0.45, 0.55, 0.9]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    # Runs of places that touch: where the middle of a run wants to be, and its members.
    runs: list[tuple[float, list[int]]] = []
    for i in order:
        middle, members = wanted[i], [i]
        while runs and middle - runs[-1][0] < gap * (len(members) + len(runs[-1][1])) / 2:
            _, before = runs.pop()
            members = before + members
            reach = gap * (len(members) - 1) / 2
            middle = sum(wanted[j] for j in members) / len(members)
            middle = max(min(middle, 1 - reach), reach)
        runs.append((middle, members))
    places = [0.0] * len(wanted)
    for middle, members in runs:
        for position, i in enumerate(members):
            places[i] = middle + gap * (position - (len(members) - 1) / 2)
    return places
