"""The queues of qdiscs that have several: who waits in which, and what is dropped there."""

from __future__ import annotations

from html import escape

from sojourn.plot import Canvas, Plots
from sojourn.report.figures import svg
from sojourn.report.parts import cell, figure_of, group, not_drawn, variant
from sojourn.result import Result, Variant, queues, words
from sojourn.result.queues import QueueColumn

#: Two pictures side by side: the backlog over time, and the distribution of the sojourn time.
PICTURE = Canvas(size=(5.9, 2.9), points=300)
#: Most qdiscs that have pictures.
MOST_DRAWN = 6

NOTE = (
    "Deliveries are shares of the packets that the link delivered; drops by the law, overflows and marks are "
    "shares of those offered to the queue. In the first picture the queues lie one on top of the other."
)


def section(result: Result, ids: str = "") -> str:
    """Every queue of every qdisc that names some, in a table and in pictures; empty without any."""
    divided = [one for one in result.variants if len(result.queues(one.qdisc)) > 1 and one.plant == "packet"]
    if not divided:
        return ""
    columns = queues.columns(result)
    heads = "".join(
        f'<th scope="col">{escape(one.column.short)}<span class="unit">{escape(one.column.unit)}</span></th>'
        for one in columns
    )
    body = "\n".join(_group(result, one, columns) for one in divided)
    drawn = "\n".join(_pictures(result, one, ids) for one in divided[:MOST_DRAWN])
    left = [words.variant_names(result)[one] for one in divided[MOST_DRAWN:]]
    return (
        f'<section id="{ids}queues">\n<h2>By queue</h2>\n<div class="scroll"><table class="classes">\n'
        f'<thead><tr><th scope="col">queue</th>{heads}</tr></thead>\n{body}\n</table></div>\n'
        f'<p class="note">{escape(NOTE)}</p>\n{drawn}\n{not_drawn(left)}</section>'
    )


def _group(result: Result, one: Variant, columns: list[QueueColumn]) -> str:
    """The rows of a qdisc's queues under its name."""
    rows = [
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(cell(column.column, queues.cell(result, one, column, name)) for column in columns)
        + "</tr>"
        for name in result.queues(one.qdisc)
    ]
    return "\n".join(["<tbody>", group(variant(result, one), len(columns)), *rows, "</tbody>"])


def _pictures(result: Result, one: Variant, ids: str) -> str:
    """The backlog of each queue over time, and the distribution of its sojourn time."""
    plots, name = Plots(result, PICTURE), f"{ids}queues-{result.variants.index(one)}"
    called = words.variant_names(result)[one]
    parts = (
        ("backlog", plots.queues(one.qdisc), f"Backlog of each queue of {called} over time."),
        ("delay", plots.queue_delays(one.qdisc), f"Sojourn time in each queue of {called}."),
    )
    figures = "\n".join(
        f"<figure>{svg(figure_of(ax), f'{name}-{kind}', alt)}</figure>" for kind, ax, alt in parts
    )
    return f'<h3 class="over">{variant(result, one)}</h3>\n<div class="pictures queues">\n{figures}\n</div>'
