"""The view of a sweep that runs: cells done, rate, time left, and a metric so far."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sojourn.cli import printing

if TYPE_CHECKING:
    from sojourn.sweep.grid import Grid
    from sojourn.sweep.store import Record
    from sojourn.sweep.until import Until

__all__ = ["Pace", "metric_of", "view"]

#: Seconds between lines where stderr is no terminal.
EVERY_S = 10.0
#: Seconds over which a rate is taken, at most.
WINDOW_S = 30.0
#: Called with the numbers of cells that are done and to do, and the cell that has finished, or with those of
#: something else and its name.
Watch = Callable[[int, int, "Record | str"], None]


def metric_of(grid: Grid, until: Until | None) -> str:
    """The metric that matters: that of the precision, of the first picture, or the mean queue."""
    if until is not None:
        return until.metric
    return grid.about.pictures[0].metric if grid.about.pictures else "queue_mean_packets"


@dataclass
class Pace:
    """What has finished up to now; times are those of the caller's clock, s."""

    metric: str
    start: float
    done: int = 0
    todo: int = 0
    failed: int = 0
    #: Number, sum, least and greatest value of the metric at the first link.
    number: int = 0
    total: float = 0.0
    least: float = float("inf")
    most: float = float("-inf")
    #: What is counted.
    what: str = "cells"
    #: Times and cells done, of the last seconds.
    recent: list[tuple[float, int]] = field(default_factory=list)

    def add(self, done: int, todo: int, record: Record | str, now: float) -> None:
        """A cell has finished, or one of what a text names."""
        what = record if isinstance(record, str) else "cells"
        if what != self.what:
            self.what, self.start, self.recent = what, now, []
        self.done, self.todo = done, todo
        if not isinstance(record, str):
            self._add_metric(record)
        # Some thirty places of the window are enough.
        if not self.recent or now - self.recent[-1][0] >= WINDOW_S / 30:
            self.recent = [one for one in self.recent if now - one[0] <= WINDOW_S]
            self.recent.append((now, done))

    def _add_metric(self, record: Record) -> None:
        self.failed += record.error is not None
        value = next(
            (row[3].get(self.metric) for row in record.rows if row[1] is None and row[2] is None), None
        )
        if isinstance(value, int | float):
            self.number += 1
            self.total += value
            self.least, self.most = min(self.least, value), max(self.most, value)

    def rate(self, now: float) -> float | None:
        """Cells a second over the last seconds; None: not yet known."""
        begin, before = self.recent[0] if len(self.recent) > 1 else (self.start, 0)
        span, cells = now - begin, self.done - before
        return cells / span if span > 0 and cells > 0 else None

    def facts(self, now: float) -> list[str]:
        """Cells done, rate, time left, failures and the metric, as far as they are known."""
        from sojourn.result import words

        found, rate = [f"{self.done} of {self.todo} {self.what}"], self.rate(now)
        if rate is not None:
            found.append(f"{rate:.3g} {self.what.partition(' ')[0]}/s")
            found.append(f"{_span((self.todo - self.done) / rate)} left")
        if self.failed:
            found.append(f"{self.failed} failed")
        if self.number and self.what == "cells":
            column = words.column_named(self.metric)
            mean, least, most = (
                f"{column.scale * value:.3g}" for value in (self.total / self.number, self.least, self.most)
            )
            unit = f" {column.unit}" if column.unit else ""
            found.append(f"{column.short} {mean} ({least} to {most}){unit}")
        return found


def _span(seconds: float) -> str:
    """A time such as ``42 s``, ``3:05`` or ``2:10:00``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes = f"{rest // 60:02}" if hours else f"{rest // 60}"
    return f"{f'{hours}:' if hours else ''}{minutes}:{rest % 60:02}"


@contextmanager
def view(metric: str, *, quiet: bool) -> Iterator[Watch | None]:
    """Show the cells that finish: at a terminal a view, removed at the end; else a line now and then."""
    if quiet:
        yield None
        return
    pace = Pace(metric, time.monotonic())
    with _terminal(pace) if printing.is_terminal(sys.stderr) else _lines(pace) as watch:
        yield watch


@contextmanager
def _lines(pace: Pace) -> Iterator[Watch]:
    last = pace.start

    def watch(done: int, todo: int, record: Record | str) -> None:
        nonlocal last
        now = time.monotonic()
        pace.add(done, todo, record, now)
        if now - last >= EVERY_S:
            last = now
            printing.note(", ".join(pace.facts(now)))

    yield watch


@contextmanager
def _terminal(pace: Pace) -> Iterator[Watch]:
    from rich.console import Console, Group, RenderableType
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    def drawn() -> RenderableType:
        cells, *facts = pace.facts(time.monotonic())
        head = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=max(1, pace.todo), completed=pace.done, width=40)
        head.add_row(Text(cells), bar, Text(f"{100 * pace.done // max(1, pace.todo)} %"))
        return Group(head, Text(", ".join(facts)))

    shown = Live(get_renderable=drawn, console=Console(stderr=True), transient=True, refresh_per_second=4)
    with suppress(OSError):  # a terminal that has gone away ends no run
        shown.start()
    try:
        yield lambda done, todo, record: pace.add(done, todo, record, time.monotonic())
    finally:
        with suppress(OSError):
            shown.stop()
