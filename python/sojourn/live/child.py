"""The process of a live run: does what its stdin has, and writes messages to what was its stdout.

Its stdin stays open as long as its parent is there. The process ends with that at once, whatever a law in
Python does, and the kernel removes its namespaces and devices.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading

from sojourn import _core
from sojourn.live.requests import RunRequest, ShellRequest
from sojourn.live.wire import LawStopped, receive, send

__all__ = ["serve"]

_STDIN = 0


def serve() -> None:
    """Do what the request has, and end this process."""
    try:
        _serve()
    finally:
        # Threads that read or wait are left behind.
        os._exit(0)


def _serve() -> None:
    messages = os.dup(1)
    # What a law prints is no message.
    os.dup2(2, 1)

    one_at_a_time = threading.Lock()

    def message(kind: str, content: object) -> None:
        part = pickle.dumps((kind, content))
        with one_at_a_time:
            send(messages, part)

    # First of all, while there is one thread.
    try:
        _core.leave_machine()
    except _core.LiveRefused as refused:
        return message("refused", refused.args)
    _core.end_with_parent()
    ticket = _core.Ticket()
    request: RunRequest | ShellRequest | None = None
    try:
        sys.path[:] = pickle.loads(receive(_STDIN))
        packed = receive(_STDIN)
        threading.Thread(target=_listen, args=(ticket,), daemon=True).start()
        request = pickle.loads(packed)
        message("done", request.answer(message, ticket))
    except _core.LiveRefused as refused:
        message("refused", refused.args)
    except _core.Cancelled as cancelled:
        message("cancelled", str(cancelled))
    except LawStopped as error:
        message("failed", error)
    except _core.LawError as error:
        message("failed", _of_law(error, request))
    except BaseException as error:
        message("failed", OSError(_text(error)))


def _listen(ticket: _core.Ticket) -> None:
    """Cancel the run where the parent ends it."""
    while os.read(_STDIN, 4096):
        ticket.cancel()


def _of_law(error: _core.LawError, request: RunRequest | ShellRequest | None) -> Exception:
    """The failure of a law in Python, with its line of code."""
    law = None if request is None else request.law
    if law is None:
        return OSError(_text(error))
    from sojourn.custom.lines import failure_of

    return LawStopped(failure_of(getattr(error, "object", law.original), error))


def _text(error: BaseException) -> str:
    """The text of an error in one line; its kind where it has none."""
    return " ".join(str(error).split()) or type(error).__name__
