"""The picture: regret against the time of a step."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tasks import KEYS

from peers.lineup import OWN
from peers.player import Entry, Informed
from peers.running import Result
from peers.summary import Pair

SHAPES = "osD^vP*Xh"
SIZE = (8.0, 4.8)
UNIFORM = "Uniform"
SHARES = (0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1.0)


@dataclass(frozen=True)
class Point:
    """A peer at its best constants, over the tasks of the paper."""

    entry: Entry
    share: float  # of the regret of Uniform
    micro: float  # of a step

    @property
    def group(self) -> str:
        return "told all labels" if issubclass(self.entry.player, Informed) else self.entry.library


def points(pairs: Mapping[str, Mapping[str, Pair]], times: Mapping[str, Result]) -> list[Point]:
    """Return a point for each peer that finished everywhere and was timed."""
    tasks = [key for key in pairs if key in KEYS]
    found = []
    for name, result in times.items():
        share = mean_share([(pairs[key][name], pairs[key][UNIFORM]) for key in tasks])
        if share is not None:
            micro = result["decide"][2] + result["learn"][2]
            found.append(Point(pairs[tasks[0]][name].default.entry, share, micro))
    return found


def mean_share(found: list[tuple[Pair, Pair]]) -> float | None:
    """Return the geometric mean of shares of regret; None if anything is not complete."""
    totals = np.array([[own.best.total, uniform.best.total] for own, uniform in found])
    if not len(totals) or not np.isfinite(totals).all():
        return None
    own, uniform = np.maximum(totals, 1e-9).T
    return float(np.exp(np.mean(np.log(own / uniform))))


def draw(shown: list[Point], files: list[Path]) -> None:
    """Write the picture: this library filled, others hollow, a shape for each library."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 10, "svg.hashsalt": "banditree", "svg.fonttype": "path"})
    figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
    groups = list(dict.fromkeys(point.group for point in shown))
    for group, shape in zip(groups, SHAPES, strict=False):
        mine = [point for point in shown if point.group == group]
        own = group == OWN
        axes.scatter(
            [p.micro for p in mine], [p.share for p in mine], label=group, marker=shape, s=60,
            facecolors="black" if own else "white", edgecolors="black", linewidths=1.2,
            zorder=3 if own else 2,
        )  # fmt: skip
        for point in mine if own else [min(mine, key=lambda p: p.share)]:
            axes.annotate(
                point.entry.name.removeprefix(f"{group} "), (point.micro, point.share),
                textcoords="offset points", xytext=(7, -12) if own else (-7, -10),
                ha="left" if own else "right", fontsize=10 if own else 8, zorder=4,
            )  # fmt: skip
    axes.set(
        xscale="log", xlabel="time of a step, µs of processor (decide and learn)",
        yscale="log", ylabel="regret, share of that of Uniform",
    )  # fmt: skip
    axes.set_yticks(SHARES, [f"{share:.0%}" for share in SHARES])
    axes.minorticks_off()
    axes.grid(color="0.85", linewidth=0.6)
    axes.margins(x=0.15, y=0.12)
    figure.legend(loc="outside right upper", frameon=False)
    for file in files:
        metadata = {"Date": None} if file.suffix == ".svg" else None
        figure.savefig(file, dpi=160, metadata=metadata)
    plt.close(figure)
