"""The engine on the threads of this process: cells run outside of the interpreter's lock."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sojourn import _core
from sojourn.errors import SojournError
from sojourn.live import LiveRun
from sojourn.simulate import failure
from sojourn.simulate.gather import Finished, records
from sojourn.simulate.pool import (
    POLL_S,
    STOP_TIMEOUT_S,
    WORKER,
    PythonThreads,
    Stopped,
    interrupts_noted,
)
from sojourn.sweep.cells import Cell, Setting
from sojourn.sweep.store import Record, Window

__all__ = ["Crew", "Maker", "Sink", "drive"]

#: Makes the setting of a cell.
Maker = Callable[[Cell], Setting]
#: Receives each finished cell, in the calling thread; its exception ends the sweep.
Sink = Callable[[Record], None]
#: Finished cells that wait for the calling thread, at most.
_WAITING = 1000


def drive(cells: Iterator[Cell], make: Maker, workers: int, sink: Sink) -> bool:
    """Run cells on `workers` threads, each as soon as one is free; returns True after an interrupt.

    A cell that fails is recorded, and the others go on. At an interrupt those that run are abandoned.
    """
    crew = Crew(cells, make)
    with interrupts_noted() as interrupts:
        threads = [threading.Thread(target=crew.work, name=f"{WORKER}-{place}") for place in range(workers)]
        for thread in threads:
            thread.start()
        try:
            while not interrupts.number and (
                any(thread.is_alive() for thread in threads) or crew.results.qsize()
            ):
                try:
                    found = crew.results.get(timeout=POLL_S)
                except queue.Empty:
                    continue
                if isinstance(found, BaseException):
                    raise found
                sink(found)
            crew.stop()
            for found in crew.rest():
                if isinstance(found, Record):
                    sink(found)
        finally:
            crew.stop()
            _join(threads, crew, lambda: interrupts.number > 1)
    return interrupts.number > 0


@dataclass
class Crew:
    """Work that threads share."""

    cells: Iterator[Cell]
    make: Maker
    results: queue.Queue[Record | BaseException] = field(default_factory=lambda: queue.Queue(_WAITING))
    is_stopped: bool = False
    python: PythonThreads = field(default_factory=PythonThreads)
    _next: threading.Lock = field(default_factory=threading.Lock)
    _tickets: set[_core.Ticket] = field(default_factory=set)

    def work(self) -> None:
        """Run cells until there are none, in a thread of its own."""
        last: tuple[int, Setting] | None = None
        try:
            while not self.is_stopped:
                with self._next:
                    cell = next(self.cells, None)
                if cell is None:
                    return
                # Seeds of a point share its setting.
                if last is None or last[0] != cell.place:
                    last = cell.place, self.make(cell)
                record = self.run(cell, last[1])
                if record is not None:
                    self._put(record)
        except Stopped:
            pass
        except BaseException as error:
            self._put(error)

    def stop(self) -> None:
        """Request all threads to end."""
        self.is_stopped = True
        for ticket in list(self._tickets):
            ticket.cancel()

    def rest(self) -> Iterator[Record | BaseException]:
        """Results that wait."""
        while True:
            try:
                yield self.results.get_nowait()
            except queue.Empty:
                return

    def _put(self, found: Record | BaseException) -> None:
        """Hand a result over, unless nobody takes it any more."""
        while True:
            try:
                self.results.put(found, timeout=POLL_S)
                return
            except queue.Full:
                if self.is_stopped:
                    return

    def run(self, cell: Cell, setting: Setting) -> Record | None:
        """The record of a cell; None if it was stopped."""
        if setting.cell(cell.seed) != cell.name:
            raise SojournError(f"{cell.name} is no cell of its point; finished cells are kept")
        if setting.refused is not None:
            return Record(cell.name, "", [], setting.refused)
        job, ticket = setting.job(cell.seed), _core.Ticket()
        self._tickets.add(ticket)
        try:
            run = job.carry_out(ticket, self.python)
            rows = [
                (row.link, row.traffic_class, row.queue, row.metrics)
                for row in records(Finished(job.variant, cell.seed, run), json.loads(job.scenario.to_json()))
            ]
            return Record(cell.name, job.variant.qdisc, rows, windows=[*_windows(run)])
        except (_core.Cancelled, Stopped):
            return None
        except MemoryError:
            raise
        except Exception as error:
            return Record(cell.name, job.variant.qdisc, [], failure(job, error).lines[0])
        finally:
            self._tickets.discard(ticket)


def _windows(run: _core.Run | LiveRun) -> Iterator[Window]:
    """Rows of the windows of a run."""
    for window, span, place, metrics in run.windows:
        for name, value in metrics.items():
            yield (window, *span, *place, name, value)


def _join(threads: list[threading.Thread], crew: Crew, is_impatient: Callable[[], bool]) -> None:
    """Wait for the threads; stop laws in Python that do not return, or leave them on a second Ctrl-C."""
    stopped = False
    while any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(STOP_TIMEOUT_S / len(threads))
        for _ in crew.rest():
            pass
        if stopped and is_impatient():
            return
        crew.python.stop()
        stopped = True
