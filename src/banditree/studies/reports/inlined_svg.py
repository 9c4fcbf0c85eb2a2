"""SVG figures as parts of a page: their own ids, and colours that follow light and dark."""

import colorsys
import html
import re

from banditree.studies.reports.click_trees import LEAF_SHADES
from banditree.studies.reports.figure_style import GRID, INK, PAPER, SHADES

__all__ = ["Colours", "inlined"]

# What takes the place of our colours on a dark page. Any other keeps its hue, and becomes lighter.
DARK = {
    PAPER: "#16181c",
    INK: "#e8e8e8",
    GRID: "#3a3d44",
    "#d55e00": "#ff8a3d",
    "#0072b2": "#3f8fe0",
    "#cc79a7": "#e6a3cb",
    "#e69f00": "#f0b429",
    "#009e73": "#1fc796",
    "#56b4e9": "#a5dcff",
    "#882255": "#c2507f",
    "#8c8c8c": "#b0b0b0",
    "#666666": "#858585",
}
DARK |= dict(
    zip(SHADES, ("#8a6420", "#ab7f2c", "#c99a3f", "#e0b55f", "#f0d08f", "#fbe8c4"), strict=True)
)
DARK |= dict(zip(LEAF_SHADES, ("#1d2a36", "#1f3a52", "#22496b", "#265a87", "#2b6ca3"), strict=True))
COLOUR = re.compile(r"(fill|stroke): (#[0-9a-f]{6})")


class Colours:
    """The colours of figures, as variables of the page."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def name(self, colour: str) -> str:
        """Return the variable of a colour."""
        return self._names.setdefault(colour, f"--figure-{colour[1:]}")

    def css(self, *, dark: bool) -> str:
        """Return what the variables are, on a light or a dark page."""
        return " ".join(
            f"{name}: {darkened(colour) if dark else colour};"
            for colour, name in sorted(self._names.items())
        )


def inlined(svg: str, name: str, alt: str, colours: Colours) -> str:
    """Return an SVG file's text as an element of a page.

    Parameters
    ----------
    svg
        The text of the file.
    name
        Of the figure; its ids begin with it, since those of a page must differ.
    alt
        What is to be seen.
    colours
        Gets those of the figure.
    """
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = svg.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    svg = COLOUR.sub(lambda found: f"{found[1]}: var({colours.name(found[2])})", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{html.escape(alt)}"', 1)


def darkened(colour: str) -> str:
    """Return the colour that takes a colour's place on a dark page.

    Examples
    --------
    >>> darkened("#332288")
    '#a699e6'
    """
    if colour in DARK:
        return DARK[colour]
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    lighter = colorsys.hls_to_rgb(hue, 0.95 - 0.6 * lightness, saturation)
    return "#" + "".join(f"{round(255 * part):02x}" for part in lighter)
