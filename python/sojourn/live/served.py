"""The process of a live run: does what its stdin has, and writes messages to what was its stdout.

Its stdin stays open as long as its parent is there. The process ends with that at once, and the kernel
removes its namespaces and devices.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading

from sojourn import _core
from sojourn.live.requests import Command, Single
from sojourn.live.wire import LawStopped, read_exactly

__all__ = ["serve"]

_STDIN = 0


def serve() -> None:
    """Do what the request has, and end this process."""
    try:
        _run()
    finally:
        # Threads that read or wait are left behind.
        os._exit(0)


def _run() -> None:
    messages = os.fdopen(os.dup(1), "wb")
    # What a law prints is no message.
    os.dup2(2, 1)

    one_at_a_time = threading.Lock()

    def send(kind: str, content: object) -> None:
        message = pickle.dumps((kind, content))
        with one_at_a_time:
            messages.write(message)
            messages.flush()

    # First of all, while there is one thread.
    try:
        _core.leave_machine()
    except _core.LiveRefused as refused:
        return send("refused", refused.args)
    ticket = _core.Ticket()
    request: Single | Command | None = None
    try:
        sys.path[:] = pickle.loads(_part())
        packed = _part()
        threading.Thread(target=_listen, args=(ticket,), daemon=True).start()
        request = pickle.loads(packed)
        send("done", request.answer(send, ticket))
    except _core.LiveRefused as refused:
        send("refused", refused.args)
    except _core.Cancelled as cancelled:
        send("cancelled", str(cancelled))
    except _core.LawError as error:
        send("failed", _of_law(error, request))
    except BaseException as error:
        send("failed", OSError(_text(error)))


def _part() -> bytes:
    """The next part of the request, behind its length."""
    return read_exactly(_STDIN, int.from_bytes(read_exactly(_STDIN, 8), "big"))


def _listen(ticket: _core.Ticket) -> None:
    """Cancel the run where the parent ends it, and end with the parent."""
    while os.read(_STDIN, 4096):
        ticket.cancel()
    os._exit(1)


def _of_law(error: _core.LawError, request: Single | Command | None) -> Exception:
    """The failure of a law in Python, with its line of code."""
    law = None if request is None else request.law
    if law is None:
        return OSError(_text(error))
    from sojourn.custom.lines import failure_of

    return LawStopped(failure_of(getattr(error, "object", law.original), error))


def _text(error: BaseException) -> str:
    """What an error says, or its kind."""
    return " ".join(str(error).split()) or type(error).__name__
