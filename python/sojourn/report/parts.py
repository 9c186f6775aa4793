"""Parts that several sections of the page share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from html import escape

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.plot import Canvas, Plots, style
from sojourn.report import wording
from sojourn.report.figures import svg
from sojourn.result import Result, Variant, words
from sojourn.result.column import Column

# Intervals have no script to fit them to the page: width in inches, and panels side by side.
BARE = Canvas(legend=False)
INTERVALS = {"wide": (14.5, 4), "middle": (8.8, 2), "narrow": (5.1, 1)}
# Outlines of the markers of points.
POINTS = {
    "o": "M1 5A4 4 0 0 0 9 5A4 4 0 0 0 1 5Z",
    "s": "M1 1H9V9H1Z",
    "^": "M5 1L9 9H1Z",
    "v": "M5 9L9 1H1Z",
    "D": "M5 0L10 5L5 10L0 5Z",
}
# Thickness of a line's sample beside a name, relative to the line.
CHIP = 3 / style.LINE
#: Marks of a row that stands out, and of the column by which rows are sorted.
STRONG, ASCENDING = ' class="strong"', ' aria-sort="ascending"'
#: Mark of the best qdisc.
BEST = ' <span class="best">{}</span>'


def pictures(name: str, alt: str, axes: dict[str, Axes]) -> str:
    """The same picture for pages of several widths; the style sheet shows one of them."""
    return "\n".join(
        f'<div class="{kind}">{svg(figure_of(ax), f"{name}-{kind}", alt)}</div>' for kind, ax in axes.items()
    )


def panels(
    result: Result, draw: Callable[..., Axes], columns: Sequence[Column], height: float
) -> dict[str, Axes]:
    """Small pictures, one for each metric, side by side or stacked, for each width of page."""
    found = {}
    for kind, (width, most) in INTERVALS.items():
        across = min(most, len(columns))
        down = math.ceil(len(columns) / across)
        _, axes = style.figure((width, height * down), down, across, apart=0.1)
        for ax in axes[len(columns) :]:
            ax.remove()
        for place, (ax, column) in enumerate(zip(axes, columns, strict=False)):
            draw(Plots(result, BARE), column.metric, ax=ax)
            if place % across:
                ax.set_yticklabels([])
        found[kind] = axes[0]
    return found


def figure_of(ax: Axes) -> Figure:
    """Figure of the axes."""
    drawn = ax.get_figure(root=True)
    assert drawn is not None, "Plots draws every axes in a figure"
    return drawn


def variant(result: Result, one: Variant, *, whole: bool = False, point: bool = False) -> str:
    """A variant: a sample of its line, or of its `point`, its qdisc, and its parameters."""
    qdisc, parameters = words.name_parts(result, whole=whole)[one]
    return f"{chip(result, one, point=point)}{_named(qdisc, parameters)}"


def chip(result: Result, one: Variant, *, point: bool = False) -> str:
    """A sample of the variant's line, or of its point, for text beside such pictures."""
    look = style.looks(result)[one]
    return _point(look) if point else _line(look)


def name(qdisc: str) -> str:
    """A qdisc's name, and beside it its parameters."""
    law, _, parameters = qdisc.partition(":")
    return _named(law, parameters)


def _point(look: style.Look) -> str:
    """The variant's marker in its colour."""
    return (
        f'<svg class="chip point" viewBox="0 0 10 10" aria-hidden="true"><path d="{POINTS[look.marker]}" '
        f'fill="var(--qdisc-{look.slot})"/></svg>'
    )


def _line(look: style.Look) -> str:
    """A short line in the variant's colour, dash and stroke."""
    dashes = " ".join(f"{length:g}" for length in look.pattern)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    pale = f' stroke-opacity="{look.stroke.alpha:g}"' if look.stroke.alpha < 1 else ""
    width = f"{CHIP * look.stroke.width:.2g}"
    return (
        f'<svg class="chip" viewBox="0 0 30 8" aria-hidden="true"><path d="M0 4H30" '
        f'stroke="var(--qdisc-{look.slot})" stroke-width="{width}"{dashed}{pale}/></svg>'
    )


def _named(law: str, parameters: str) -> str:
    detail = escape(re.sub(r",\s*", ", ", parameters))
    detail = f'<span class="parameters">{detail}</span>' if detail else ""
    return f'<span class="law">{escape(law)}</span>{detail}'


def table(
    result: Result,
    columns: list[Column],
    rows: list[tuple[Variant, list[str]]],
    *,
    kind: str = "sortable",
    strong: Collection[Variant] = (),
    by: Column | None = None,
    point: bool = False,
    best: Collection[Variant] = (),
    called: str = "",
) -> str:
    """A table of qdiscs by metrics, of a `kind` of the style sheet; the `strong` rows stand out there.

    `by` is the column whose values ascend. With `point` names have samples of points, not of lines. The
    `best` have a mark behind their name, with what they are `called`.
    """
    places = {one: place for place, one in enumerate(result.variants)}
    heads = "".join(
        f'<th scope="col"{ASCENDING if column == by else ""}>{escape(column.short)}'
        f'<span class="unit">{escape(column.unit)}</span></th>'
        for column in columns
    )
    body = "\n".join(
        f'<tr data-law="{places[one]}"{STRONG if one in strong else ""}>'
        f'<th scope="row">{variant(result, one, whole=True, point=point)}'
        f"{BEST.format(escape(called)) if one in best else ''}</th>{''.join(cells)}</tr>"
        for one, cells in rows
    )
    return (
        f'<div class="scroll"><table class="{kind}">\n'
        f'<thead><tr><th scope="col">qdisc</th>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def group(head: str, columns: int) -> str:
    """A row over those of a group, as wide as `columns` beside their names."""
    return f'<tr class="group"><th scope="rowgroup" colspan="{columns + 1}">{head}</th></tr>'


def cell(column: Column, text: str, kind: str = "clear") -> str:
    """Text such as ``285.8 ± 1.3`` in a table cell; a dash if empty."""
    mean, _, half = text.partition(" ± ")
    spread = f'<span class="half">± {escape(half)}</span>' if half else ""
    return f'<td class="{kind}" data-name="{escape(column.long)}">{mean or "-"}{spread}</td>'


def not_drawn(left: Sequence[str]) -> str:
    """A note on what has no picture here; empty if nothing is left."""
    return f'<p class="note">{prose(f"Without a picture: {wording.both(list(left))}.")}</p>\n' if left else ""


def prose(sentence: str) -> str:
    """A sentence for the page, with no line break between a number and its unit."""
    return re.sub(
        r"(\d) (ns|µs|ms|s\b|%|packets|[kMG]bit/s|B\b|qdiscs?\b|seeds?\b)", r"\1&nbsp;\2", escape(sentence)
    )
