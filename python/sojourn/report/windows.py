"""Windows of time: a table of metrics, and box plots of round trips, losses, marks and goodput."""

from __future__ import annotations

from html import escape

from matplotlib.axes import Axes

from sojourn.plot import Canvas, Plots, style
from sojourn.plot import windows as pictures
from sojourn.report.figures import svg
from sojourn.report.parts import cell, figure_of, group, not_drawn, variant
from sojourn.report.wording import counted
from sojourn.result import Result, Variant, windows
from sojourn.result.windows import EVERY, columns

#: Pictures side by side.
PICTURE = Canvas(size=(5.9, 2.9), legend=False)
#: Most windows of a table, and most lists of windows and classes with pictures.
MOST_ROWS, MOST_DRAWN, MOST_CLASSES = 40, 6, 6

BOXES = "Boxes: quartiles, whiskers from 5 to 95 % of the packets, a dot at the mean."
ACROSS = "Boxes over windows: quartiles of the windows' values, whiskers to the extremes, a dot at the mean."
#: Metrics of pictures over windows of one length.
OVER = (
    ("rtt_p95_s", "Round trip p95"),
    ("goodput_bps", "Goodput"),
    ("drop_ratio", "Drops"),
    ("mark_ratio", "Marks"),
)


def section(result: Result, ids: str = "") -> str:
    """The windows that the scenario names, at one link; empty without any."""
    if not len(result.windows):
        return ""
    parts = []
    for place, window in enumerate(windows.names(result)[:MOST_DRAWN]):
        of_length = window.startswith(EVERY)
        name = f"{ids}windows-{place}"
        table = "" if of_length else _table(result, window)
        drawn = _over(result, window, name) if of_length else _boxes(result, window, name)
        parts.append(f'<h3 class="over">{escape(window)}</h3>\n{table}\n{drawn}')
    rest = not_drawn([*windows.names(result)[MOST_DRAWN:], *result.classes[MOST_CLASSES:]])
    body = "\n".join(parts)
    return f'<section id="{ids}windows">\n<h2>Windows of time</h2>\n{body}\n{rest}</section>'


def _table(result: Result, window: str) -> str:
    """A row for each window and variant."""
    found = windows.rows(result, window, None)
    if not len(found):
        return ""
    shown = columns(found)
    heads = "".join(
        f'<th scope="col">{escape(one.short)}<span class="unit">{escape(one.unit)}</span></th>'
        for one in shown
    )
    bodies = []
    spans = windows.spans(found)
    kept = spans[: MOST_ROWS // len(result.variants) or 1]
    for span in kept:
        rows = [_row(result, one, span, window) for one in result.variants]
        bodies.append(
            "\n".join(["<tbody>", group(escape(windows.span(*span)), len(shown)), *rows, "</tbody>"])
        )
    return (
        '<div class="scroll"><table class="classes">\n'
        f'<thead><tr><th scope="col">window</th>{heads}</tr></thead>\n'
        + "\n".join(bodies)
        + "\n</table></div>"
        + _rest(len(spans) - len(kept))
    )


def _rest(left: int) -> str:
    """A note on the windows that the table leaves out; empty if none."""
    return f'\n<p class="note">{counted(left, "more window")} in windows.parquet.</p>' if left else ""


def _row(result: Result, one: Variant, span: tuple[float, float], window: str) -> str:
    found = windows.rows(result, window, None)
    cells = "".join(cell(column, windows.cell(found, one, span, column)) for column in columns(found))
    return f'<tr><th scope="row">{variant(result, one)}</th>{cells}</tr>'


def _boxes(result: Result, window: str, name: str) -> str:
    """Round trips and queues of each window, and round trips of each class."""
    drawn: list[tuple[str, Axes, str]] = []
    found = windows.rows(result, window, None)
    kinds = [("rtt", "Round-trip times"), ("sojourn", "Sojourn times"), ("queue", "Queue")]
    drawn += [
        (kind, _plots(result).boxes(kind, window), f"{title} in each window.")
        for kind, title in kinds
        if _has(found, pictures.DISTRIBUTIONS[kind][0].format("p25"))
    ]
    for place, one in enumerate(result.classes[:MOST_CLASSES]):
        of_class = windows.rows(result, window, one)
        if _has(of_class, "rtt_p25_s"):
            ax = _plots(result).boxes("rtt", window, one)
            drawn.append((f"rtt-{place}", _titled(ax, one), f"Round-trip times of {one} in each window."))
    return _figures(drawn, name, BOXES)


def _over(result: Result, window: str, name: str) -> str:
    """Metrics of each window over time, and boxes of all of them."""
    drawn = []
    classes: list[str | None] = [None, *result.classes[:MOST_CLASSES]]
    for number, one in enumerate(classes):
        found = windows.rows(result, window, one)
        for metric, title in OVER:
            if not _has(found, metric) or (found.filter(found["name"] == metric)["value"].max() or 0) == 0:
                continue
            of = f" of {one}" if one else ""
            kind = f"{metric}-{number}"
            over = _plots(result).over_windows(metric, window, one)
            boxes = _plots(result).boxes(metric, window, one)
            drawn.append((f"{kind}-over", _titled(over, one), f"{title}{of}, window by window."))
            drawn.append((f"{kind}-box", _titled(boxes, one), f"{title}{of}, over all windows."))
    return _figures(drawn, name, ACROSS)


def _plots(result: Result) -> Plots:
    return Plots(result, PICTURE)


def _has(found: object, metric: str) -> bool:
    return bool(found["name"].is_in([metric]).any())  # type: ignore[index]


def _titled(ax: Axes, traffic_class: str | None) -> Axes:
    if traffic_class is not None:
        ax.set_title(style.plain(traffic_class), color=style.INK, fontsize=style.FONT_PT, loc="left")
    return ax


def _figures(drawn: list[tuple[str, Axes, str]], name: str, note: str) -> str:
    figures = "\n".join(
        f"<figure>{svg(figure_of(ax), f'{name}-{kind}', alt)}</figure>" for kind, ax, alt in drawn
    )
    return (
        f'<p class="note">{escape(note)}</p>\n<div class="pictures queues">\n{figures}\n</div>'
        if drawn
        else ""
    )
