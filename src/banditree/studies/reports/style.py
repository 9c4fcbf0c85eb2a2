"""How figures look: settings, and one colour, dash and marker per policy.

Nothing here uses pyplot or leaves a setting changed. A figure that is made again from the same
results is the same to the byte.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from banditree.errors import InvalidParameterError
from banditree.studies.specs import BASELINE

# All other modules get matplotlib from here, so that one place says what to do if it is missing.
try:
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import ConnectionPatch
    from matplotlib.ticker import FuncFormatter, MaxNLocator, StrMethodFormatter
    from matplotlib.transforms import ScaledTranslation
except ImportError:
    raise InvalidParameterError(
        "figures are drawn by matplotlib: pip install 'banditree[study]'"
    ) from None

__all__ = [
    "Axes",
    "ConnectionPatch",
    "Figure",
    "FuncFormatter",
    "MaxNLocator",
    "ScaledTranslation",
    "StrMethodFormatter",
    "Style",
    "printed",
    "save_figure",
    "style_of",
]

INK, GRID, PAPER = "#1a1a1a", "#d9d9d9", "#ffffff"
FONT_SIZE, LABEL_SIZE = 9.0, 8.0
RESOLUTION = 200  # dots per inch, of PNG

SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is there on every machine
    "font.size": FONT_SIZE,
    "axes.labelsize": FONT_SIZE,
    "axes.titlesize": FONT_SIZE + 1,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "xtick.labelsize": LABEL_SIZE,
    "ytick.labelsize": LABEL_SIZE,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.0,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "banditree",  # else the ids in an SVG are random
}

Dashes = tuple[float, ...]  # lengths on and off; none for a solid line
P = ParamSpec("P")


@dataclass(frozen=True)
class Style:
    """How a line is drawn: told apart by colour, by dashes and by marker."""

    colour: str
    dashes: Dashes = ()
    marker: str = ""


# Okabe and Ito's colours, which people of all kinds of colour vision tell apart; wine is Tol's.
STYLES = {
    "TreeBootstrap": Style("#d55e00", (), "o"),
    "TreeHeuristic": Style("#0072b2", (5, 1.5), "s"),
    "OnlineTreeBootstrap": Style("#cc79a7", (3, 1, 1, 1), "P"),
    "LinUCB": Style("#e69f00", (6, 1.5, 1, 1.5), "v"),
    "LogisticUCB": Style("#009e73", (2.5, 1.2), "^"),
    "BanditForest": Style("#56b4e9", (), "D"),
    "ThompsonSampling": Style(INK, (1, 1), "X"),
    "Greedy": Style("#882255", (8, 2), "*"),
    "Uniform": Style("#8c8c8c", (1, 2), "h"),
    BASELINE: Style("#666666", (10, 3), "|"),
}
# For any other label, in the order in which a study names them.
OTHER_COLOURS = ("#332288", "#117733", "#aa4499", "#44aa99", "#999933", "#661100")
OTHER_DASHES: tuple[Dashes, ...] = ((), (4, 1.5), (1, 1.2), (6, 1.5, 1, 1.5), (9, 2))
OTHER_MARKERS = ("<", ">", "p", "d", "H", "8", "o")
# Of LinUCB's orange, from light to dark; all can be seen on white.
SHADES = ("#f0b94d", "#d89a1e", "#b97d08", "#946200", "#6d4700", "#452c00")


def printed(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Make a function draw with our settings, whatever those of the user are."""

    @wraps(draw)
    def drawing(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with _settings():
            return draw(*args, **kwargs)

    return drawing


@contextmanager
def _settings() -> Iterator[None]:
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def save_figure(figure: Figure, folder: Path, name: str) -> tuple[Path, Path]:
    """Write a figure as SVG and as PNG; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    svg, png = folder / f"{name}.svg", folder / f"{name}.png"
    with _settings():
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
        figure.savefig(png, dpi=RESOLUTION, metadata={"Software": None})
    return svg, png


def style_of(label: str, labels: Sequence[str]) -> Style:
    """Return how a policy is drawn in all figures of a study with these labels.

    Examples
    --------
    >>> style_of("mine", ["LinUCB", "mine"])
    Style(colour='#332288', dashes=(), marker='<')
    """
    if label in STYLES:
        return STYLES[label]
    i = [other for other in labels if other not in STYLES].index(label)
    return Style(
        OTHER_COLOURS[i % len(OTHER_COLOURS)],
        OTHER_DASHES[i // len(OTHER_COLOURS) % len(OTHER_DASHES)],
        OTHER_MARKERS[i % len(OTHER_MARKERS)],
    )
