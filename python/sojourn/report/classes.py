"""The classes of traffic beside each other: what each got, and how long it took."""

from __future__ import annotations

from html import escape

from sojourn.plot import Plots, intervals
from sojourn.report import chapters, live, verdicts
from sojourn.report.parts import cell, chip, disc_name, panels, pictures, told
from sojourn.result import Result, words

# What the intervals are drawn of, where it applies.
COMPARED = (words.GOODPUT, words.COMPLETION, words.SOJOURN_P95, words.DROPS)


def section(sight: live.Sight) -> str:
    """Every class under every law; nothing where there is only one class."""
    result, ids = sight.view, sight.ids
    if not result.classes:
        return ""
    verdict = verdicts.classes(result)
    columns = words.class_columns(result)
    kept = {column.metric for column in columns}
    compared = [column for column in COMPARED if column.metric in kept]
    drawn = panels(result, Plots.classes, compared, intervals.classes_height_in(result))
    picture = pictures(f"{ids}shares", verdict, drawn)
    charts = "\n".join(
        chapters.figure(sight, chart, f"Goodput of {chart.title} over time.")
        for chart in sight.charts
        if chart.name.startswith(live.OF_CLASS)
    )
    note = "Queue, sojourn, drops and marks are those of the class's own packets." if result.links else ""
    return (
        f'<section id="{ids}classes">\n<h2>By class of traffic</h2>\n<p class="verdict">{told(verdict)}</p>\n'
        f'{_table(result, columns)}\n<figure id="{ids}shares">{picture}\n'
        f'<figcaption class="note">{note}</figcaption></figure>\n'
        f'<h3 class="over">Goodput over time</h3>\n<div class="charts">\n{charts}\n</div>\n</section>'
    )


def _table(result: Result, columns: list[words.Column]) -> str:
    """A group of rows for each class, with a row for each law; under one law a row for each class."""
    heads = "".join(
        f'<th scope="col">{escape(column.short)}<span class="unit">{escape(column.unit)}</span></th>'
        for column in columns
    )
    away = _elsewhere(result)
    head = _head_row(f"{words.NO_DISC}:", columns)
    groups = [_group(result, one, columns) for one in result.classes if one not in away]
    groups += [f"<tbody>\n{head}\n</tbody>"] if away and groups else []
    body = "\n".join(groups + [_group(result, one, columns) for one in away])
    return (
        '<div class="scroll"><table class="classes">\n'
        f'<thead><tr><th scope="col">class</th>{heads}</tr></thead>\n{body}\n</table></div>'
    )


def _group(result: Result, traffic_class: str, columns: list[words.Column]) -> str:
    name = f'<span class="law">{escape(traffic_class)}</span>'
    if len(result.discs) == 1:
        return f"<tbody>\n{_row(name, _cells(result, result.discs[0], traffic_class, columns))}\n</tbody>"
    called = words.short_names(result.discs)
    rows = [
        _row(f"{chip(place)}{disc_name(called[disc])}", _cells(result, disc, traffic_class, columns))
        for place, disc in enumerate(result.discs)
    ]
    head = _head_row(name, columns)
    return "\n".join(["<tbody>", head, *rows, "</tbody>"])


def _elsewhere(result: Result) -> list[str]:
    """The classes that cross no disc, where they stand beside others."""
    return [one for one in result.classes if all(run.link is None for run in result.seen(None, one))]


def _head_row(name: str, columns: list[words.Column]) -> str:
    return f'<tr class="group"><th scope="rowgroup" colspan="{len(columns) + 1}">{name}</th></tr>'


def _row(name: str, cells: str) -> str:
    return f'<tr><th scope="row">{name}</th>{cells}</tr>'


def _cells(result: Result, disc: str, traffic_class: str, columns: list[words.Column]) -> str:
    return "".join(cell(column, words.cell(result, disc, column, traffic_class)) for column in columns)
