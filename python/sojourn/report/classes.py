"""The classes of traffic side by side: goodput and completion times."""

from __future__ import annotations

from html import escape

from sojourn.plot import Plots, intervals
from sojourn.report import chapters, live, verdicts
from sojourn.report.parts import cell, group, not_drawn, panels, pictures, prose, variant
from sojourn.result import Result, Variant, metrics, words
from sojourn.result.column import Column

# Metrics drawn with intervals, if they apply.
COMPARED = (metrics.GOODPUT_BPS, metrics.FCT_MEAN_S, metrics.SOJOURN_P95_S, metrics.DROP_RATIO)

#: Most rows, of classes under qdiscs, of the picture of intervals; more of them are read from the table.
MOST_ROWS = 60


def section(sight: live.Sight) -> str:
    """Every class under every qdisc; empty for a single class."""
    result, ids = sight.view, sight.ids
    if not result.classes:
        return ""
    verdict = verdicts.by_plant(verdicts.classes, result)
    columns = words.class_columns(result)
    kept = {column.metric for column in columns}
    compared = [column for column in COMPARED if column.metric in kept]
    note = "Queue, sojourn, drops and marks are those of the class's own packets." if result.links else ""
    picture = f'<p class="note">{note}</p>\n' if note else ""
    if compared and len(result.variants) * len(result.classes) <= MOST_ROWS:
        drawn = panels(result, Plots.classes, compared, intervals.classes_height_in(result))
        picture = (
            f'<figure id="{ids}shares">{pictures(f"{ids}shares", verdict, drawn)}\n'
            f'<figcaption class="note">{note}</figcaption></figure>\n'
        )
    charts = _charts(sight, live.OF_CLASS, "Goodput") + _charts(sight, live.OF_PINGS, "Round trips")
    return (
        f'<section id="{ids}classes">\n<h2>By class of traffic</h2>\n'
        f'<p class="verdict">{prose(verdict)}</p>\n'
        f"{_table(result, columns)}\n{picture}"
        f"{charts}{not_drawn(result.classes[live.MOST_CLASSES :])}</section>"
    )


def _charts(sight: live.Sight, prefix: str, quantity: str) -> str:
    """The charts over time of the classes that have a quantity; empty without any."""
    drawn = "\n".join(
        chapters.figure(sight, chart, f"{quantity} of {chart.title} over time.")
        for chart in sight.charts
        if chart.name.startswith(prefix)
    )
    title = f'<h3 class="over">{quantity} over time</h3>'
    return f'{title}\n<div class="charts">\n{drawn}\n</div>\n' if drawn else ""


def _table(result: Result, columns: list[Column]) -> str:
    """A group of rows for each class, with a row for each qdisc; under one qdisc a row for each class."""
    heads = "".join(
        f'<th scope="col">{escape(column.short)}<span class="unit">{escape(column.unit)}</span></th>'
        for column in columns
    )
    away = _elsewhere(result)
    head = group(f"{words.NO_QDISC}:", len(columns))
    groups = [_group(result, one, columns) for one in result.classes if one not in away]
    groups += [f"<tbody>\n{head}\n</tbody>"] if away and groups else []
    body = "\n".join(groups + [_group(result, one, columns) for one in away])
    return (
        '<div class="scroll"><table class="classes">\n'
        f'<thead><tr><th scope="col">class</th>{heads}</tr></thead>\n{body}\n</table></div>'
    )


def _group(result: Result, traffic_class: str, columns: list[Column]) -> str:
    name = f'<span class="law">{escape(traffic_class)}</span>'
    if len(result.variants) == 1:
        return f"<tbody>\n{_row(name, _cells(result, result.variants[0], traffic_class, columns))}\n</tbody>"
    rows = [
        _row(variant(result, one), _cells(result, one, traffic_class, columns)) for one in result.variants
    ]
    head = group(name, len(columns))
    return "\n".join(["<tbody>", head, *rows, "</tbody>"])


def _elsewhere(result: Result) -> list[str]:
    """The classes that cross no qdisc, beside others that do."""
    return [one for one in result.classes if all(row.link is None for row in result.rows(None, one))]


def _row(name: str, cells: str) -> str:
    return f'<tr><th scope="row">{name}</th>{cells}</tr>'


def _cells(result: Result, one: Variant, traffic_class: str, columns: list[Column]) -> str:
    return "".join(cell(column, words.cell(result, one, column, traffic_class)) for column in columns)
