"""Runs in background threads, watched from the calling thread."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType

from sojourn import _core, stops
from sojourn.laws_in_python import LawInPython
from sojourn.laws_in_python.template import fresh
from sojourn.result import Arm
from sojourn.scenario import Scenario

#: Called with the number of finished runs and the fraction of all work that is done, 0 to 1.
Watch = Callable[[int, float], None]

# Seconds between two looks at the runs; Ctrl-C waits no longer than this.
LOOK_S = 0.1
# Seconds that a cancelled run has to stop by itself, and then a law that was stopped.
PATIENCE_S = 0.5
# What the names of the worker threads begin with.
WORKER = "sojourn-run"
# Seconds that runs before a failed one may stand still; then the failure is told without them.
STILL_S = 10.0


@dataclass(frozen=True)
class Job:
    """One run to do in a plant, under a law in Python or else under the scenario's own law."""

    scenario: Scenario
    arm: Arm
    seed: int
    law: LawInPython | None = None

    def carry_out(self, ticket: _core.Ticket, at_work: LawsAtWork) -> _core.Run:
        """Do the run in this thread."""
        law = self.law
        if law is None and not self.scenario.guests:
            return _core.run(self.scenario, self.seed, ticket, plant=self.arm.plant)
        with at_work.here():
            laws = [] if law is None else [fresh(law, site) for site in self.scenario.sites]
            return _core.run(self.scenario, self.seed, ticket, laws, plant=self.arm.plant)


class LawsAtWork:
    """The threads that run laws of Python: one that loops for ever can be stopped in no other way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: set[int] = set()

    @contextmanager
    def here(self) -> Iterator[None]:
        """Note this thread for as long as its law is at work."""
        with self._lock:
            self._threads.add(threading.get_ident())
        try:
            yield
        finally:
            with self._lock:
                self._threads.discard(threading.get_ident())

    def stop(self) -> None:
        """Raise `Stopped` in each of the threads, in the midst of what they do in Python."""
        with self._lock:
            for thread in self._threads:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Stopped))


class Stopped(BaseException):
    """A law was stopped; past every `except Exception` of its own."""


@dataclass
class Outcome:
    """What became of the jobs, in their order; None for a run that did not finish."""

    jobs: Sequence[Job]
    runs: list[_core.Run | None]
    interrupted: bool = False
    fault: tuple[Job, BaseException] | None = None


def drive(
    jobs: Sequence[Job], workers: int, watch: Watch | None, settled: Callable[[], None] | None = None
) -> Outcome:
    """Run all jobs on `workers` threads; stop all of them on Ctrl-C, and those after one that fails.

    The jobs before a failed one go on: the failure that is told is the first in the order of jobs, whichever
    came first in time.

    A law that cannot be stopped, asleep in a call of its own, is left behind on a second Ctrl-C.
    `settled` is called when no other run is at work any more, while Ctrl-C is still only noted.
    """
    outcome = Outcome(jobs, [None] * len(jobs))
    tickets = [_core.Ticket() for _ in jobs]
    futures: list[Future[_core.Run]] = []
    laws = LawsAtWork()

    def stop_the_later(place: int, future: Future[_core.Run]) -> None:
        """At once and in the failed run's own thread: a single worker finishes none after it."""
        if not future.cancelled() and future.exception() is not None:
            for ticket in tickets[place + 1 :]:
                ticket.cancel()

    with _interrupts_noted() as interrupts:
        pool = ThreadPoolExecutor(workers, thread_name_prefix=WORKER)
        try:
            for place, (job, ticket) in enumerate(zip(jobs, tickets, strict=True)):
                futures.append(pool.submit(job.carry_out, ticket, laws))
                futures[-1].add_done_callback(partial(stop_the_later, place))
            _watch(futures, tickets, watch, interrupts)
        finally:
            for ticket in tickets:
                ticket.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            pool.shutdown(wait=_await_the_end(futures, laws, interrupts))
        outcome.interrupted = interrupts.number > 0
        if settled is not None:
            settled()
    _collect(futures, outcome)
    return outcome


def left_behind() -> bool:
    """Whether a law that cannot be stopped still holds a thread, and with it the end of this process."""
    return any(thread.name.startswith(WORKER) for thread in threading.enumerate())


@dataclass
class Interrupts:
    """How often Ctrl-C was pressed, or another signal to stop came."""

    number: int = 0


@contextmanager
def _interrupts_noted() -> Iterator[Interrupts]:
    """Note Ctrl-C instead of raising: an exception in the midst of the pool's locks would leave them held.

    The same goes for any other signal that would raise; somebody else's handler or refusal stays in force.
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
    futures: Sequence[Future[_core.Run]],
    tickets: Sequence[_core.Ticket],
    watch: Watch | None,
    interrupts: Interrupts,
) -> None:
    """Return when all runs are done, or those before the first that failed, or when Ctrl-C was noted."""
    awaited = len(futures)
    pending = set(futures)
    moved, before = time.monotonic(), (-1, 0.0)
    while pending and not interrupts.number:
        done, _ = wait(pending, timeout=LOOK_S, return_when=FIRST_COMPLETED)
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
        elif awaited < len(futures) and time.monotonic() - moved > STILL_S:
            return


def _await_the_end(futures: Sequence[Future[_core.Run]], laws: LawsAtWork, interrupts: Interrupts) -> bool:
    """Wait for the runs that were cancelled; a law that does not come back is made to.

    Gives False where one could not be: it sleeps outside of Python, and Ctrl-C was pressed again.
    """
    told = False
    while at_work := [future for future in futures if not future.done()]:
        wait(at_work, timeout=PATIENCE_S)
        if all(future.done() for future in at_work):
            break
        if told and interrupts.number > 1:
            return False
        laws.stop()
        told = True
    return True


def _collect(futures: Sequence[Future[_core.Run]], outcome: Outcome) -> None:
    for place, future in enumerate(futures):
        if future.cancelled() or not future.done():
            continue
        fault = future.exception()
        if fault is None:
            outcome.runs[place] = future.result()
        elif not isinstance(fault, _core.Cancelled | Stopped) and outcome.fault is None:
            outcome.fault = (outcome.jobs[place], fault)
