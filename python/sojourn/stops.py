"""Signals that stop a command: each raises `KeyboardInterrupt`, so that all are handled as Ctrl-C is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

#: Ctrl-C; the signal of `kill`, `timeout` and batch systems; the end of the terminal.
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: Prefix of the names of threads that a command may leave behind.
WORKER = "sojourn-run"

#: Longest reaction to a signal, s.
POLL_S = 0.1

T = TypeVar("T")
Handler = Callable[[int, FrameType | None], Any] | int | None


@contextmanager
def all_raise() -> Iterator[None]:
    """Make SIGTERM and SIGHUP raise `KeyboardInterrupt` if they would end this process.

    Ignored signals, as under nohup, and handlers of others stay.
    """
    before: dict[int, Handler] = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.SIG_DFL for number in STOPS if signal.getsignal(number) == signal.SIG_DFL}
    for number in before:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        restore(before)


def raising() -> dict[int, Handler]:
    """Signals that raise `KeyboardInterrupt` in this thread now, with their handler.

    Only the main thread may set handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    handlers = {number: signal.getsignal(number) for number in STOPS}
    return {number: one for number, one in handlers.items() if one == signal.default_int_handler}


def restore(before: Mapping[int, Handler]) -> None:
    """Restore each signal's handler."""
    for number, handler in before.items():
        signal.signal(number, handler)


def interruptible(call: Callable[[], T]) -> T:
    """Result of a call that Ctrl-C leaves behind: Python would raise `KeyboardInterrupt` only after it.

    For calls of the compiled half that take seconds and run no code of the user. The call has a thread of its
    own, if this one is interrupted.
    """
    if not raising():
        return call()
    found: list[T] = []
    errors: list[BaseException] = []
    # A plain lock is acquired or not, wherever the signal comes.
    done = threading.Lock()
    done.acquire()

    def work() -> None:
        try:
            found.append(call())
        except BaseException as error:
            errors.append(error)
        finally:
            done.release()

    threading.Thread(target=work, name=f"{WORKER}-aside").start()
    # The signal may come to another thread, and wakes up this one at its next poll.
    while not done.acquire(timeout=POLL_S):
        pass
    for error in errors:
        raise error
    return found[0]


def left_behind() -> bool:
    """True if a thread that cannot be stopped would delay the end of this process."""
    return any(thread.name.startswith(WORKER) for thread in threading.enumerate())
