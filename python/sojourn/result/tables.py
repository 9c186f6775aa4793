"""Tables of a result as text: by variants, classes, queues and windows of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sojourn.result import Result, Variant, metrics, queues, windows
from sojourn.result.agreement import gaps
from sojourn.result.column import Column
from sojourn.result.statistics import Estimate
from sojourn.result.words import (
    cell,
    class_columns,
    fitted,
    short_names,
    variant_at,
    variant_names,
    with_half,
    with_sign,
)

__all__ = [
    "MOST_LINKS",
    "MOST_ROWS",
    "Table",
    "agreement",
    "by_class",
    "by_queue",
    "by_variant",
    "by_window",
    "of_metrics",
]

#: Most classes, queues and windows of a table, and most links with tables of their own.
MOST_ROWS, MOST_LINKS = 20, 10
#: Units of metrics, and those of their display with the factor between them.
_SHOWN_IN = {"s": ("ms", 1e3), "bit/s": ("Mbit/s", 1e-6)}
#: Endings of metrics' names that are shares, in percent, and those that are units.
_SHARE, _UNITS = "_ratio", ("_s", "_bps", "_packets", "_flows", "_packets_s2")


@dataclass(frozen=True)
class Table:
    """Columns of equal length, the first with the names of rows; each begins with its heading."""

    columns: tuple[tuple[str, ...], ...]
    #: Line above the table; empty: none.
    title: str = ""
    #: Lines below it.
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The same row by row, headings first."""
        return tuple(zip(*self.columns, strict=True))


def by_variant(view: Result, columns: Sequence[Column] | None = None, notes: Sequence[str] = ()) -> Table:
    """Metrics downwards, variants of the result at one link side by side; None: all metrics that apply."""
    chosen = [fitted(view, column) for column in metrics.SUMMARY] if columns is None else columns
    rows = [[column.long, *(cell(view, one, column) for one in view.variants)] for column in chosen]
    rows += _further(view) if columns is None else []
    return Table(_transposed([_heads(view), *(row for row in rows if any(row[1:]))]), notes=tuple(notes))


def of_metrics(view: Result, names: Sequence[str]) -> Table:
    """Named metrics, or those of the summary, by the variants of the result at one link.

    A named metric that does not apply to all traffic there has a row of dashes.
    """
    if not names:
        return by_variant(view, [fitted(view, column) for column in metrics.SUMMARY])
    known = {column.metric: column for column in metrics.ALL}
    for name in names:
        view.check_metric(name)
    columns = [fitted(view, known.get(name) or _column(name)) for name in names]
    rows = [[column.long, *(cell(view, one, column) or "-" for one in view.variants)] for column in columns]
    return Table(_transposed([_heads(view), *rows]))


def _heads(view: Result) -> list[str]:
    """Heading of the names of rows, and of each variant, at one link."""
    (link,) = view.links
    return ["", *(variant_at(view, one, link) for one in view.variants)]


def _further(view: Result) -> Iterator[list[str]]:
    """Rows of the metrics that no summary has, the entries of lists among them."""
    known = {column.metric for column in metrics.SUMMARY}
    found: dict[str, dict[Variant, Estimate]] = {}
    for row in view.summary().iter_rows(named=True):
        if row["class"] is None and row["queue"] is None and row["metric"] not in known:
            mean = Estimate(row["n"], row["mean"], row["ci95_low"], row["ci95_high"])
            found.setdefault(row["metric"], {})[Variant(row["qdisc"], row["plant"])] = mean
    for name, means in found.items():
        column = _column(name)
        yield [column.long, *(_cell(means.get(one), column) for one in view.variants)]


def _column(metric: str) -> Column:
    """Column of a metric outside the summary: words of its name, and a unit for display."""
    name, bracket, entry = metric.partition("[")
    unit = metrics.UNITS.get(name, "")
    if name.endswith(_SHARE):
        shown, scale = "%", 100.0
        name = name.removesuffix(_SHARE)
    else:
        shown, scale = _SHOWN_IN.get(unit, ("" if unit == "1" else unit, 1.0))
        name = next((name.removesuffix(end) for end in _UNITS if name.endswith(end)), name)
    return Column(metric, f"{name.replace('_', ' ')}{bracket}{entry}", shown, scale)


def _cell(found: Estimate | None, column: Column) -> str:
    if found is None:
        return ""
    low, high = (None if end is None else end * column.scale for end in (found.low, found.high))
    return with_half(Estimate(found.n, found.mean * column.scale, low, high))


def agreement(result: Result) -> Table | None:
    """The fluid plant's prediction of each qdisc beside its packets, if both ran."""
    called = short_names(result.qdiscs)
    rows = [
        [
            f"{called[gap.qdisc]}: {gap.column.long}",
            with_half(gap.fluid),
            with_half(gap.packet),
            with_sign(gap.difference) + (" pp" if gap.column.unit == "%" else ""),
        ]
        for gap in gaps(result)
    ]
    heads = ["fluid against packets", "fluid", "packet", "difference"]
    return Table(_transposed([heads, *rows])) if rows else None


def by_window(result: Result) -> Iterator[Table | str]:
    """A table for each list of windows, with a column for each metric; a line for those of one length."""
    called = variant_names(result)
    several = len(called) > 1
    for window in windows.names(result) if len(result.windows) else []:
        found = windows.rows(result, window, None)
        if not len(found):
            continue
        spans = windows.spans(found)
        if window.startswith(windows.EVERY):
            yield f"{window}: {len(spans)} windows; --out has them in windows.parquet"
            continue
        pairs = [(span, variant) for span in spans[:MOST_ROWS] for variant in result.variants]
        names = [
            windows.span(*span) + (f" ({called[variant]})" if several else "") for span, variant in pairs
        ]
        columns = [
            (column.long, *(windows.cell(found, variant, span, column) for span, variant in pairs))
            for column in windows.columns(found)
        ]
        yield _of_columns([window, *names], columns, len(spans), noun="windows")


def by_class(result: Result, title: str) -> Table:
    """Goodput and durations of each class, under each qdisc."""
    columns = [column for column in class_columns(result) if column.metric in metrics.CLASS_BRIEF]
    called = variant_names(result)
    several = len(called) > 1
    pairs = [(one, variant) for one in result.classes[:MOST_ROWS] for variant in result.variants]
    names = [title, *(f"{one} ({called[variant]})" if several else one for one, variant in pairs)]
    cells = [
        (column.long, *(cell(result, variant, column, one) for one, variant in pairs)) for column in columns
    ]
    return _of_columns(names, cells, len(result.classes), noun="classes")


def by_queue(result: Result, variant: Variant) -> Table:
    """Backlog, delay, drops and marks in each queue of a qdisc."""
    names = result.queues(variant.qdisc)
    cells = [
        (one.column.long, *(queues.cell(result, variant, one, name) for name in names[:MOST_ROWS]))
        for one in queues.columns(result, brief=True)
    ]
    title = f"queues of {variant_at(result, variant, result.links[0])}"
    return _of_columns(["queue", *names[:MOST_ROWS]], cells, len(names), noun="queues", title=title)


def _of_columns(
    names: Sequence[str], columns: Sequence[tuple[str, ...]], count: int, *, noun: str, title: str = ""
) -> Table:
    """A table of columns that have a cell, and a note on rows that are left out of `count`."""
    left = count - MOST_ROWS
    notes = (f"and {left} more {noun}: --json and --out have them",) if left > 0 else ()
    return Table((tuple(names), *(one for one in columns if any(one[1:]))), title, notes)


def _transposed(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(zip(*rows, strict=True))
