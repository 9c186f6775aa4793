"""Signals that stop a command: each raises `KeyboardInterrupt`, so that all are handled as Ctrl-C is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

#: Ctrl-C; the signal of `kill`, `timeout` and batch systems; the end of the terminal.
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

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
