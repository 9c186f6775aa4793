"""Runs in background threads, watched from the calling thread."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from types import FrameType

from sojourn import _core, live, stops
from sojourn.custom.template import LawTemplate
from sojourn.live import LiveRun
from sojourn.result import Variant
from sojourn.scenario import Scenario
from sojourn.simulate.records import Record, of_core

#: Called with the number of finished runs and the fraction of all work that is done, 0 to 1.
Watch = Callable[[int, float], None]

# Interval of polling the runs, s.
POLL_S = stops.POLL_S
# Timeouts of a cancelled run, and then of a stopped law, s.
STOP_TIMEOUT_S = 0.5
# Prefix of the names of the worker threads.
WORKER = stops.WORKER
# Timeout of runs before a failed one without progress, s; then the failure is reported without them.
STALL_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Job:
    """One run in a plant, under a law in Python or under the scenario's own."""

    scenario: Scenario
    variant: Variant
    seed: int
    law: LawTemplate | None = None
    records: tuple[Record, ...] = ()

    def carry_out(self, ticket: _core.Ticket, threads: PythonThreads) -> _core.Run | LiveRun:
        """Do the run in this thread, or follow it in a process of its own."""
        if self.variant.plant == "live":
            traces = (path for kind, _, path in self.records if kind == "trace")
            return live.measure(self.scenario, self.seed, ticket, law=self.law, trace=next(traces, None))
        calls_python = self.law is not None or self.scenario.custom_ccs
        with threads.this() if calls_python else nullcontext():
            return _core.run(
                self.scenario,
                self.seed,
                ticket,
                law=self.law,
                plant=self.variant.plant,
                records=of_core(self.records),
            )


class PythonThreads:
    """Threads that run laws in Python: an endless loop there cannot be stopped otherwise."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: set[int] = set()

    @contextmanager
    def this(self) -> Iterator[None]:
        """Register this thread while its law runs."""
        with self._lock:
            self._threads.add(threading.get_ident())
        try:
            yield
        finally:
            with self._lock:
                self._threads.discard(threading.get_ident())

    def stop(self) -> None:
        """Raise `Stopped` in each of the threads, wherever they are in Python."""
        with self._lock:
            for thread in self._threads:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Stopped))


class Stopped(BaseException):
    """A law was stopped; no `except Exception` of its own catches this."""


@dataclass
class Outcome:
    """Runs of the jobs, in their order; None for a run that did not finish."""

    jobs: Sequence[Job]
    runs: list[_core.Run | LiveRun | None]
    interrupted: bool = False
    error: tuple[Job, BaseException] | None = None
    #: End of the only run, s, if it is a live one that was interrupted and has measurements up to there.
    ended_s: float | None = None


def drive(
    jobs: Sequence[Job], workers: int, watch: Watch | None, settled: Callable[[], None] | None = None
) -> Outcome:
    """Run all jobs on `workers` threads; stop all of them on Ctrl-C, and those after one that fails.

    They begin seed by seed. The jobs before a failed one go on: the failure reported is the first in that
    order, not in time.

    A law that cannot be stopped, asleep in a call of its own, is left behind on a second Ctrl-C. `settled` is
    called when no other run is under way, while Ctrl-C is still only noted.
    """
    outcome = Outcome(jobs, [None] * len(jobs))
    turns = _seed_by_seed(jobs)
    tickets = [_core.Ticket() for _ in turns]
    futures: list[Future[_core.Run | LiveRun]] = []
    threads = PythonThreads()

    def stop_the_later(turn: int, future: Future[_core.Run | LiveRun]) -> None:
        """Stop the jobs after a failed one, in its own thread: a single worker finishes none after it."""
        if not future.cancelled() and future.exception() is not None:
            for ticket in tickets[turn + 1 :]:
                ticket.cancel()

    with interrupts_noted() as interrupts:
        pool = ThreadPoolExecutor(workers, thread_name_prefix=WORKER)
        try:
            for turn, place in enumerate(turns):
                futures.append(pool.submit(jobs[place].carry_out, tickets[turn], threads))
                futures[-1].add_done_callback(partial(stop_the_later, turn))
            _watch(futures, tickets, watch, interrupts)
        finally:
            for ticket in tickets:
                ticket.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            pool.shutdown(wait=_await_the_end(futures, threads, interrupts))
        outcome.interrupted = interrupts.number > 0
        if settled is not None:
            settled()
    _collect(futures, turns, outcome)
    return outcome


def _seed_by_seed(jobs: Sequence[Job]) -> list[int]:
    """Places of the jobs in the order in which they begin: all qdiscs under a seed before the next seed.

    So an interrupt leaves a comparison under the seeds that had finished.
    """
    counts: dict[tuple[int, Variant], int] = {}
    turns = []
    for job in jobs:
        key = (id(job.scenario), job.variant)
        turns.append(counts.get(key, 0))
        counts[key] = turns[-1] + 1
    return sorted(range(len(jobs)), key=turns.__getitem__)


@dataclass
class Interrupts:
    """Number of Ctrl-C presses and of other signals to stop."""

    number: int = 0


@contextmanager
def interrupts_noted() -> Iterator[Interrupts]:
    """Note Ctrl-C instead of raising: an exception inside the pool's locks would leave them held.

    The same holds for any other signal that would raise; handlers of others, and ignored signals, stay.
    """
    noted = Interrupts()

    def note(_number: int, _frame: FrameType | None) -> None:
        noted.number += 1

    before = stops.raising()
    for number in before:
        signal.signal(number, note)
    try:
        yield noted
    finally:
        stops.restore({number: was for number, was in before.items() if signal.getsignal(number) is note})


def _watch(
    futures: Sequence[Future[_core.Run | LiveRun]],
    tickets: Sequence[_core.Ticket],
    watch: Watch | None,
    interrupts: Interrupts,
) -> None:
    """Return when all runs are done, or those before the first that failed, or when Ctrl-C was noted."""
    awaited = len(futures)
    pending = set(futures)
    moved, before = time.monotonic(), (-1, 0.0)
    while pending and not interrupts.number:
        done, _ = wait(pending, timeout=POLL_S, return_when=FIRST_COMPLETED)
        for place, future in enumerate(futures[:awaited]):
            if future in done and future.exception() is not None:
                awaited = place
                break
        pending = {future for future in futures[:awaited] if not future.done()}
        if watch is not None:
            finished = sum(future.done() for future in futures)
            watch(finished, sum(ticket.progress for ticket in tickets) / len(tickets))
        now = (len(pending), sum(ticket.progress for ticket in tickets[:awaited]))
        if now != before:
            moved, before = time.monotonic(), now
        elif awaited < len(futures) and time.monotonic() - moved > STALL_TIMEOUT_S:
            return


def _await_the_end(
    futures: Sequence[Future[_core.Run | LiveRun]], threads: PythonThreads, interrupts: Interrupts
) -> bool:
    """Wait for the runs that were cancelled; stop laws that do not return.

    Returns False if one could not be stopped: it sleeps outside of Python, and Ctrl-C was pressed again.
    """
    stopped = False
    while at_work := [future for future in futures if not future.done()]:
        wait(at_work, timeout=STOP_TIMEOUT_S)
        if all(future.done() for future in at_work):
            break
        if stopped and interrupts.number > 1:
            return False
        threads.stop()
        stopped = True
    return True


def _collect(futures: Sequence[Future[_core.Run | LiveRun]], turns: Sequence[int], outcome: Outcome) -> None:
    """Collect what came of the jobs, of which `turns` are the places, in the order in which they began."""
    for place, future in zip(turns, futures, strict=False):
        if future.cancelled() or not future.done():
            continue
        error = future.exception()
        if error is None:
            outcome.runs[place] = future.result()
        elif not isinstance(error, _core.Cancelled | Stopped) and outcome.error is None:
            outcome.error = (outcome.jobs[place], error)
    _keep_one_duration(outcome)


def _keep_one_duration(outcome: Outcome) -> None:
    """Leave out a live run that ended early, unless it is the only one: all of a result have one duration."""
    early = [place for place, run in enumerate(outcome.runs) if getattr(run, "ended_s", None) is not None]
    if not early:
        return
    if sum(run is not None for run in outcome.runs) == 1:
        outcome.ended_s = getattr(outcome.runs[early[0]], "ended_s", None)
        return
    for place in early:
        outcome.runs[place] = None
