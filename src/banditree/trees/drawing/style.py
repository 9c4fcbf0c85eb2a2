"""Colours and text widths of the pictures."""

import math
import unicodedata
from functools import cache

INK = "#1f2933"
MUTED = "#5b6770"
LINE = "#8794a0"
PAPER = "#ffffff"
FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"

# One hue from light to dark, so that lightness alone carries the value (ColorBrewer "Blues").
_STOPS = (
    (231, 241, 250),
    (198, 219, 239),
    (158, 202, 225),
    (107, 174, 214),
    (66, 146, 198),
    (33, 113, 181),
    (8, 81, 156),
    (8, 48, 107),
)


def colour(share: float) -> str:
    """Return the colour at a place between 0 (light) and 1 (dark).

    >>> colour(0.0), colour(1.0)
    ('#e7f1fa', '#08306b')
    """
    place = min(max(share, 0.0), 1.0) * (len(_STOPS) - 1)
    below = min(int(place), len(_STOPS) - 2)
    pairs = zip(_STOPS[below], _STOPS[below + 1], strict=True)
    mixed = [round(low + (high - low) * (place - below)) for low, high in pairs]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def ink_on(fill: str) -> str:
    """Return the text colour that is easier to read on a fill."""
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, fill))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, as the WCAG defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(hexadecimal: str) -> float:
    parts = [int(hexadecimal[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return about how wide a text is, in pixels; rather too wide than too narrow."""
    return math.ceil(sum(map(_em, text)) * size * (1.1 if bold else 1.0))


@cache
def _em(char: str) -> float:
    """Return the width of a character in ems, near that of DejaVu Sans, a wide font."""
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    if char in "ijlI.,:;|!'()[] ftr/":
        return 0.38
    if char in "mwMW@%≤≥><=+…":
        return 0.88
    return 0.7 if char.isupper() else 0.63
