"""What is to be seen in a figure, for tests of figures."""

from __future__ import annotations

import itertools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection


def drawn(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


def texts_of(axes):
    """All text of a panel that is to be seen."""
    found = [*axes.texts, axes.title, axes._left_title, axes._right_title]
    if axes.get_legend():
        found += axes.get_legend().get_texts()
    if axes.axison:
        found += [axes.xaxis.label, axes.yaxis.label]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            found += [t.label1 for t in axis.get_major_ticks() if low <= t.get_loc() <= high]
    return [text for text in found if text.get_text()]


def box_of(text, renderer):
    patch = text.get_bbox_patch()
    return (patch or text).get_window_extent(renderer)


def labels_of(axes):
    return [text.get_text() for text in axes.texts]


def lines_of(axes):
    """The curves of a panel, without lines across it and keys beside it."""
    return [line for line in axes.lines if len(line.get_xdata()) > 10]


def bands_of(axes):
    return [band for band in axes.collections if isinstance(band, PolyCollection)]


def assert_readable(figure):
    """Check that no text overlaps another or is cut off; return the renderer."""
    renderer = drawn(figure)
    boxes = [
        (text.get_text(), box_of(text, renderer)) for axes in figure.axes for text in texts_of(axes)
    ]
    assert len(boxes) > 5
    for (one, box), (other, next_to) in itertools.combinations(boxes, 2):
        overlap = box.intersection(box, next_to)
        # Two pixels at 100 dots per inch: descenders and the empty space around letters.
        assert overlap is None or min(overlap.width, overlap.height) < 2, (one, other)
    for text, box in boxes:
        assert figure.bbox.x0 - 1 <= box.x0, text
        assert figure.bbox.y0 - 1 <= box.y0, text
        assert box.x1 <= figure.bbox.x1 + 1, text
        assert box.y1 <= figure.bbox.y1 + 1, text
    return renderer
