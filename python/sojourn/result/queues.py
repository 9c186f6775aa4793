"""Columns of a table of a qdisc's queues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sojourn.result import Result, Row, Variant, metrics
from sojourn.result.column import Column
from sojourn.result.statistics import Estimate, estimate
from sojourn.result.words import TIMES, unit_for, with_half

#: Value of a column in a run, from the row of the queue and that of its link; None: it does not apply.
Measure = Callable[[Row, Row], float | None]


@dataclass(frozen=True)
class QueueColumn:
    """A column, and its value before the column's scale."""

    column: Column
    measure: Measure
    #: True if a short table has it.
    is_brief: bool = True


def columns(result: Result, *, brief: bool = False) -> list[QueueColumn]:
    """The columns that apply to any queue at the first link, times in the unit of the longest median."""
    places = [(one, name) for one in result.variants for name in result.queues(one.qdisc)]
    known = [one for one in COLUMNS if one.is_brief or not brief]
    kept = [one for one in known if any(mean(result, *place, one) for place in places)]
    times = (mean(result, *place, replace(WAIT, column=replace(WAIT.column, scale=1.0))) for place in places)
    longest = max((one.mean for one in times if one is not None), default=0.0)
    unit, scale = unit_for(longest, TIMES[1:]) if longest > 0 else ("ms", 1e3)
    return [
        replace(one, column=replace(one.column, unit=unit, scale=scale)) if one.column.unit == "ms" else one
        for one in kept
    ]


def mean(result: Result, variant: Variant, queue: str, column: QueueColumn) -> Estimate | None:
    """Mean of a queue and its interval over the seeds, in the column's unit; None if it does not apply."""
    links = {(row.qdisc, row.plant, row.seed): row for row in result.rows(result.links[0])}
    values = []
    for row in result.rows(queue=queue):
        if (row.qdisc, row.plant) == (variant.qdisc, variant.plant):
            value = column.measure(row, links[row.qdisc, row.plant, row.seed])
            values += [] if value is None else [value * column.column.scale]
    return estimate(values) if values else None


def cell(result: Result, variant: Variant, column: QueueColumn, queue: str) -> str:
    """Text such as ``1.3 ± 0.2``; empty if it does not apply."""
    found = mean(result, variant, queue, column)
    return "" if found is None else with_half(found)


def _number(row: Row, metric: str) -> float | None:
    value = row.metrics.get(metric)
    return float(value) if isinstance(value, int | float) else None


def _metric(column: Column, *, is_brief: bool = True) -> QueueColumn:
    return QueueColumn(column, lambda row, _: _number(row, column.metric), is_brief)


def _share(row: Row, link: Row) -> float | None:
    """Share of the packets that the link delivered."""
    own, all_packets = _number(row, "bottleneck_packets"), _number(link, "bottleneck_packets")
    return own / all_packets if own is not None and all_packets else None


def _law_drops(row: Row, _: Row) -> float | None:
    """Packets dropped by the law, over those offered to the queue."""
    drops, overflows = _number(row, "drop_ratio"), _number(row, "overflow_ratio")
    return None if drops is None or overflows is None else max(0.0, drops - overflows)


#: Median sojourn time.
WAIT = _metric(Column("sojourn_p50_s", "sojourn p50", "ms", 1000.0), is_brief=False)
COLUMNS = (
    QueueColumn(Column("bottleneck_packets", "deliveries", "%", 100.0), _share),
    _metric(metrics.QUEUE_MEAN_PACKETS),
    _metric(metrics.SOJOURN_MEAN_S),
    WAIT,
    _metric(metrics.SOJOURN_P95_S, is_brief=False),
    _metric(Column("sojourn_p99_s", "sojourn p99", "ms", 1000.0)),
    QueueColumn(Column("drop_ratio", "drops by the law", "%", 100.0), _law_drops),
    _metric(Column("overflow_ratio", "overflows", "%", 100.0)),
    _metric(metrics.MARK_RATIO),
)
