"""A tree as a self-contained SVG picture."""

from collections.abc import Iterator
from html import escape

from banditree.trees.drawing.folding import MaxLeaves
from banditree.trees.drawing.shapes import LABEL_SIZE, SMALL_SIZE, Line, Shape, Sketch, make_sketch
from banditree.trees.drawing.style import FONT, INK, LINE, MUTED, PAPER, colour, ink_on, text_width
from banditree.trees.drawing.wording import Node, number

_MOST_LEAVES = 16
_MOST_WIDTH = 1400  # About as wide as a screen.
_MARGIN = 16
_CORNER = 8
_SCALE_STEPS = 40
_SCALE_STEP = 4
_SCALE_HEIGHT = 44


def tree_to_svg(root: Node, *, max_depth: int | None = None, max_leaves: MaxLeaves = "fit") -> str:
    """Draw a tree as an SVG picture.

    Inner nodes ask a question, with yes on the left; leaves are coloured from light (lowest mean)
    to dark (highest). Names and lists that are too long are shortened; the tooltip of a node has
    them in full.

    Parameters
    ----------
    root, max_depth
        As for `tree_to_text`.
    max_leaves
        Leaves to draw; None: all; "fit": up to 16, and fewer where the picture would be wider than
        1,400 pixels. Beyond either limit a subtree becomes one box that counts its leaves; those
        that explain least are folded first.

    Returns
    -------
    str
        An ``<svg>`` element that needs no font, script or style sheet.

    Raises
    ------
    InvalidParameterError
        As from `tree_to_text`.

    Examples
    --------
    >>> svg = tree_to_svg({"n": 3, "weight": 3.0, "mean": 0.5, "cost": 0.75})
    >>> svg.startswith("<svg"), svg.count("<title>")
    (True, 1)
    """
    if max_leaves == "fit":
        sketch = _fitting(root, max_depth)
    else:
        sketch = make_sketch(root, max_depth, max_leaves)
    return "\n".join(
        [*_opening(sketch), *_edges(sketch), *_boxes(sketch), *_scale(sketch), "</svg>"]
    )


def _fitting(root: Node, max_depth: int | None) -> Sketch:
    """Return the boxes of as many leaves as fit, two at least."""
    sketch = make_sketch(root, max_depth, _MOST_LEAVES)
    leaves = sum(not shape.children for shape in sketch.shapes)
    while leaves > 2 and _canvas(sketch)[0] > _MOST_WIDTH:
        leaves -= 1
        sketch = make_sketch(root, max_depth, leaves)
    return sketch


def _canvas(sketch: Sketch) -> tuple[float, float]:
    scale = _SCALE_HEIGHT if sketch.has_scale else 0
    width = max(sketch.width, _scale_width(sketch) if scale else 0)
    return width + 2 * _MARGIN, sketch.height + scale + 2 * _MARGIN


def _opening(sketch: Sketch) -> Iterator[str]:
    width, height = (_px(size) for size in _canvas(sketch))
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="Decision tree" '
        f'font-family="{FONT}" text-anchor="middle">'
    )
    yield f'<rect class="paper" width="{width}" height="{height}" fill="{PAPER}"/>'


def _left_margin(sketch: Sketch) -> float:
    return (_canvas(sketch)[0] - sketch.width) / 2


def _edges(sketch: Sketch) -> Iterator[str]:
    left = _left_margin(sketch)
    children = [shape for shape in sketch.shapes if shape.parent is not None]
    yield f'<g class="edges" fill="none" stroke="{LINE}" stroke-width="1.4">'
    for shape in children:
        yield _edge(sketch, shape, left)
    yield "</g>"
    yield f'<g class="answers" font-size="{LABEL_SIZE}" fill="{INK}">'
    for shape in children:
        yield _answer(shape, left)
    yield "</g>"


def _edge(sketch: Sketch, shape: Shape, left: float) -> str:
    """Draw from the parent down, across with a rounded corner, and down to the child."""
    assert shape.parent is not None
    parent = sketch.shapes[shape.parent]
    start_x, end_x = parent.x + left, shape.x + left
    start_y, end_y = parent.y + parent.height + _MARGIN, shape.y + _MARGIN
    bar_y = start_y + 14
    turn = min(_CORNER, abs(end_x - start_x)) * (1 if end_x > start_x else -1)
    stem = f"M{_px(start_x)} {_px(start_y)}V{_px(bar_y)}"
    if end_x > start_x:  # Drawn with the left edge already; twice would look darker.
        stem = f"M{_px(start_x)} {_px(bar_y)}"
    return (
        f'<path d="{stem}H{_px(end_x - turn)}'
        f'Q{_px(end_x)} {_px(bar_y)} {_px(end_x)} {_px(bar_y + abs(turn))}V{_px(end_y)}"/>'
    )


def _answer(shape: Shape, left: float) -> str:
    """Write yes or no into a gap of the edge, just above the child."""
    x, y = shape.x + left, shape.y + _MARGIN - 15
    width = shape.answer_width
    missing = f' <tspan fill="{MUTED}">or missing</tspan>' if shape.takes_missing else ""
    return (
        f'<rect class="gap" x="{_px(x - width / 2)}" y="{_px(y - 7)}" width="{_px(width)}" '
        f'height="15" fill="{PAPER}"/>'
        f'<text x="{_px(x)}" y="{_px(y + 4)}">{shape.answer}{missing}</text>'
    )


def _boxes(sketch: Sketch) -> Iterator[str]:
    left = _left_margin(sketch)
    for shape in sketch.shapes:
        fill = PAPER if shape.kind == "inner" else colour(sketch.share(shape.node["mean"]))
        dashes = ' stroke-dasharray="5 3"' if shape.kind == "stub" else ""
        x, y = shape.x + left, shape.y + _MARGIN
        yield (
            f'<g class="{shape.kind}"><title>{escape(shape.tooltip, quote=False)}</title>'
            f'<rect class="box" x="{_px(x - shape.width / 2)}" y="{_px(y)}" '
            f'width="{_px(shape.width)}" height="{_px(shape.height)}" '
            f'rx="{_CORNER}" fill="{fill}" stroke="{LINE}" stroke-width="1.4"{dashes}/>'
            f"{_lines(shape, x, y, fill)}</g>"
        )


def _lines(shape: Shape, x: float, y: float, fill: str) -> str:
    """Write the lines of a box, centred as a block."""
    y += (shape.height - sum(line.height for line in shape.lines)) / 2
    texts = []
    for line in shape.lines:
        y += line.height
        texts.append(_line(line, x, y, _ink(shape, line, fill)))
    return "".join(texts)


def _ink(shape: Shape, line: Line, fill: str) -> str:
    if shape.kind == "inner":
        return MUTED if line.muted else INK
    return ink_on(fill)


def _line(line: Line, x: float, bottom: float, ink: str) -> str:
    weight = ' font-weight="bold"' if line.bold else ""
    baseline = bottom - line.height * 0.27
    return (
        f'<text x="{_px(x)}" y="{_px(baseline)}" font-size="{line.size}" fill="{ink}"{weight}>'
        f"{escape(line.text, quote=False)}</text>"
    )


def _scale_width(sketch: Sketch) -> float:
    ends = max(text_width(number(end), SMALL_SIZE) for end in (sketch.lowest, sketch.highest))
    return _SCALE_STEPS * _SCALE_STEP + 2 * (ends + 8)


def _scale(sketch: Sketch) -> Iterator[str]:
    """Draw what the colours mean, below the tree."""
    if not sketch.has_scale:
        return
    width, height = _canvas(sketch)
    length = _SCALE_STEPS * _SCALE_STEP
    x, y = round((width - length) / 2), round(height - _MARGIN - 12)
    yield f'<g class="scale" font-size="{SMALL_SIZE}" fill="{MUTED}" shape-rendering="crispEdges">'
    for step in range(_SCALE_STEPS):
        fill = colour(step / (_SCALE_STEPS - 1))
        yield (
            f'<rect x="{x + step * _SCALE_STEP}" y="{y}" width="{_SCALE_STEP}" height="12" '
            f'fill="{fill}"/>'
        )
    yield f'<text x="{x + length / 2:g}" y="{y - 6}">mean</text>'
    yield f'<text x="{x - 8}" y="{y + 10}" text-anchor="end">{number(sketch.lowest)}</text>'
    end = x + length + 8
    yield f'<text x="{end}" y="{y + 10}" text-anchor="start">{number(sketch.highest)}</text>'
    yield "</g>"


def _px(value: float) -> str:
    return f"{round(value, 1):.10g}"
