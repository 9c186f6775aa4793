"""Matplotlib figures as inline SVG that adopts the page's fonts, colours and width."""

from __future__ import annotations

import io
import re
import warnings
from html import escape

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from sojourn.plot import style
from sojourn.report.compact import compact

# Colours of the print palette become the page's variables, which follow the reader's theme.
_VARIABLES = {
    style.INK: "var(--ink)",
    style.MUTED: "var(--muted)",
    style.RULE: "var(--rule)",
    style.PAPER: "var(--paper)",
    **{colour: f"var(--qdisc-{place})" for place, colour in enumerate(style.PALETTE)},
}


def svg(figure: Figure, name: str, alt: str) -> str:
    """The figure as an `<svg>` element.

    `name` prefixes its ids; `alt` is its text for screen readers.
    """
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), warnings.catch_warnings():
        # The page uses the reader's fonts: glyphs missing from Matplotlib's do not matter.
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        text = drawn(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", text, flags=re.S)
    text = compact(text)
    # Between tags is text of the user.
    text = re.sub(r"<[^>]+>", lambda tag: _of_page(tag[0], name), text)
    head = re.compile(r"<svg[^>]*?viewBox=\"([^\"]+)\"[^>]*>", re.S)
    label = escape(alt).replace("\\", "")
    return head.sub(rf'<svg viewBox="\1" role="img" aria-label="{label}">', text, count=1)


def drawn(figure: Figure) -> str:
    """The file that `figure.savefig` writes; `savefig` draws twice, the first time for the layout alone."""
    file = io.StringIO()
    canvas = FigureCanvasSVG(figure)
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    canvas.print_svg(file, metadata=metadata)  # type: ignore[no-untyped-call]
    return file.getvalue()


def _of_page(tag: str, name: str) -> str:
    """A tag with ids of the page, and colours that follow its theme."""
    tag = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', tag)
    tag = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", tag)
    for colour, variable in _VARIABLES.items():
        tag = tag.replace(colour, variable)
    return tag
