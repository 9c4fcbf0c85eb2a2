"""The picture: regret against the time of a step."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from peers.lineup import OWN
from peers.summary import Line, Pair

SHAPES = "osD^vP*Xh"
SIZE = (8.0, 4.5)
UNIFORM = "Uniform"


class Point:
    """A peer at its best constants, over all environments."""

    def __init__(self, name: str, lines: list[Line], uniform: list[Line], steps: int) -> None:
        shares = [
            line.regret(steps)[0] / max(none.regret(steps)[0], 1e-9)
            for line, none in zip(lines, uniform, strict=True)
        ]
        self.name, self.library = name, lines[0].entry.library
        self.share = mean(shares)
        self.micro = mean([line.micro_per_step for line in lines])


def mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-6)))))


def points(pairs: Mapping[str, Mapping[str, Pair]], steps: int) -> list[Point]:
    """Return a point for each peer that finished everywhere."""
    names = list(next(iter(pairs.values())))
    if UNIFORM not in names:
        return []
    uniform = [found[UNIFORM].best for found in pairs.values()]
    found = []
    for name in names:
        lines = [peers[name].best for peers in pairs.values()]
        if all(line.complete for line in (*lines, *uniform)):
            found.append(Point(name, lines, uniform, steps))
    return found


def draw(shown: list[Point], files: list[Path]) -> None:
    """Write the picture: this library filled, others hollow, a shape for each library."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 10, "svg.hashsalt": "banditree", "svg.fonttype": "path"})
    figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
    libraries = list(dict.fromkeys(point.library for point in shown))
    for library, shape in zip(libraries, SHAPES, strict=False):
        mine = [point for point in shown if point.library == library]
        own = library == OWN
        axes.scatter(
            [p.micro for p in mine], [p.share for p in mine], label=library, marker=shape, s=60,
            facecolors="black" if own else "white", edgecolors="black", linewidths=1.2,
            zorder=3 if own else 2,
        )  # fmt: skip
    for point in shown:
        if point.library == OWN:
            axes.annotate(
                point.name, (point.micro, point.share), textcoords="offset points", xytext=(8, 3)
            )
    axes.set(
        xscale="log", xlabel="time of a step, µs of processor (decide and learn)",
        ylabel="regret, share of that of Uniform",
    )  # fmt: skip
    axes.set_ylim(0, 1.08)
    axes.grid(color="0.85", linewidth=0.6)
    axes.margins(x=0.1)
    figure.legend(loc="outside right upper", frameon=False)
    for file in files:
        metadata = {"Date": None} if file.suffix == ".svg" else None
        figure.savefig(file, dpi=160, metadata=metadata)
    plt.close(figure)
