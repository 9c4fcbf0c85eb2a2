"""How figures look: settings, and one colour, dash and marker per policy.

Nothing here uses pyplot or leaves a setting changed. A figure that is made again from the same
results is the same to the byte.
"""

from bisect import bisect_right
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
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import ConnectionPatch
    from matplotlib.textpath import text_to_path
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
    "Font",
    "FuncFormatter",
    "MaxNLocator",
    "ScaledTranslation",
    "StrMethodFormatter",
    "Style",
    "broken",
    "printed",
    "save_figure",
    "shortened",
    "style_of",
]

INK, GRID, PAPER = "#1a1a1a", "#d9d9d9", "#ffffff"
FAMILY = "DejaVu Sans"  # comes with matplotlib, so it is there on every machine
FONT_SIZE, LABEL_SIZE, TITLE_SIZE = 9.0, 8.0, 10.0
RESOLUTION = 200  # dots per inch, of PNG

SETTINGS: dict[Any, Any] = {
    "font.family": FAMILY,
    "font.size": FONT_SIZE,
    "axes.labelsize": FONT_SIZE,
    "axes.titlesize": TITLE_SIZE,
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


@dataclass(frozen=True)
class Font:
    """What a text is written in."""

    size: float
    bold: bool = False

    def width(self, text: str) -> float:
        """Return how wide a line is, in inches, whatever the resolution."""
        weight = "bold" if self.bold else "normal"
        font = FontProperties(family=FAMILY, size=self.size, weight=weight)
        return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]) / 72


LABEL_FONT, TITLE_FONT = Font(LABEL_SIZE), Font(TITLE_SIZE, bold=True)


def broken(text: str, width: float, font: Font, *, most: int | None = None) -> list[str]:
    """Return a text in lines that are no wider than so many inches.

    Parameters
    ----------
    most
        Lines; the last is shortened if there would be more. By default as many as it takes.

    Examples
    --------
    >>> broken("LinUCB, alpha=0.1, regularization=1.0", 1.2, LABEL_FONT)
    ['LinUCB, alpha=0.1,', 'regularization=1.0']
    """
    rest = " ".join(text.split())
    lines: list[str] = []
    while font.width(rest) > width and len(rest) > 1 and len(lines) + 1 != most:
        end = _line_end(rest, width, font)
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*lines, shortened(rest, width, font)]


def _line_end(text: str, width: float, font: Font) -> int:
    """Return where to break a text that is too wide: between words, or at least parts of one."""
    room = max(1, _most(width, len(text), lambda n: font.width(text[:n])))
    space = text.rfind(" ", 0, room + 1)
    if space > 0:
        return space
    return 1 + max(text.rfind(mark, 0, room) for mark in "_-/.") or room


def shortened(text: str, width: float, font: Font) -> str:
    """Return a line without as much of its middle as it takes to be no wider.

    Names that begin alike often differ at their ends.

    Examples
    --------
    >>> shortened("visits_of_the_shop_2023", 1.0, LABEL_FONT)
    'visits_o…op_2023'
    """

    def cut(kept: int) -> str:
        return f"{text[: (kept + 1) // 2].rstrip()}…{text[len(text) - kept // 2 :].lstrip()}"

    if font.width(text) <= width or len(text) < 2:
        return text
    return cut(max(1, _most(width, len(text), lambda kept: font.width(cut(kept)))))


def _most(width: float, letters: int, width_of: Callable[[int], float]) -> int:
    """Return the most letters, of fewer than `letters`, that are no wider than `width`."""
    return bisect_right(range(1, letters), width, key=width_of)
