"""One conversation with a program: what it is given on stdin, what it writes, how it ended, and its end."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from tempfile import TemporaryFile
from types import FrameType
from typing import IO

from sojourn.errors import InputError

__all__ = ["LONGEST_ANSWER", "TIMEOUT_S", "Conversation", "converse"]

#: Seconds that a program has for a trace.
TIMEOUT_S = 10.0
#: Bytes for a line of an answer, with room for other words than ours.
LONGEST_ANSWER = 64
#: Bytes of stderr that are passed on, and of its last line that are quoted.
_MOST_STDERR, _MOST_QUOTED = 65_536, 200
#: Seconds until what a program left in its pipe has been read.
_DRAINED_S = 1.0


@dataclass(frozen=True)
class Conversation:
    """What a program wrote, and how it ended."""

    said: str
    #: The exit code, negative for a signal; None: it was stopped.
    ended: int | None
    #: How it ended or why it was stopped, as "the command ..." goes on.
    why: str = ""
    #: The last line on its stderr.
    last_words: str = ""


def converse(command: str, told: bytes, most: int, timeout_s: float) -> Conversation:
    """Start a program, give it `told` on stdin, and read up to `most` bytes for at most `timeout_s` seconds.

    The program has a session of its own, and all that is left in it ends with the conversation, also where
    that ends by Ctrl-C, SIGTERM or SIGHUP. What it writes on stderr is passed on where it ends well; where it
    fails, the last line of it is kept. Raises `InputError` where it cannot be started.
    """
    # Files and no pipes: a program may answer before it has read everything, or read nothing at all.
    with TemporaryFile() as stdin, TemporaryFile() as stderr, _signals_interrupt():
        stdin.write(told)
        stdin.seek(0)
        program = _started(command, stdin, stderr)
        try:
            held = _heard(program, most, timeout_s)
        finally:
            _end(program)
        stderr.seek(0)
        return _concluded(
            held, program.returncode, timeout_s, stderr.read(_MOST_STDERR).decode(errors="replace")
        )


@dataclass
class _Heard:
    """What was read until the program ended or had to."""

    said: bytes = b""
    too_much: bool = False
    too_long: bool = False


def _started(command: str, stdin: IO[bytes], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        words = shlex.split(command)
        if not words:
            raise ValueError("it is empty")
        return subprocess.Popen(
            words, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True
        )
    except (OSError, ValueError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else fault
        raise InputError(f'--against: "{command}" cannot be started ({why}); legal: a command') from None


def _heard(program: subprocess.Popen[bytes], most: int, timeout_s: float) -> _Heard:
    """Read until the end of the program's answers, their limit, or the time."""
    held = _Heard()
    assert program.stdout is not None
    pipe = program.stdout
    # Set by what comes first, the end of the answers or of the program: its children may hold the pipe open.
    ended = threading.Event()

    def read() -> None:
        with pipe, suppress(OSError):
            while more := os.read(pipe.fileno(), 65_536):
                held.said += more
                if len(held.said) > most:
                    held.too_much = True
                    break
        ended.set()

    def wait() -> None:
        _wait_unreaped(program)
        ended.set()

    reader, waiter = (threading.Thread(target=run, daemon=True) for run in (read, wait))
    deadline = time.monotonic() + timeout_s
    reader.start()
    waiter.start()
    ended.wait(timeout_s)
    if not held.too_much:
        waiter.join(max(0.0, deadline - time.monotonic()))
        held.too_long = waiter.is_alive()
    _kill_session(program)
    reader.join(_DRAINED_S)
    waiter.join(_DRAINED_S)
    held.said = held.said[:most]
    return held


def _wait_unreaped(program: subprocess.Popen[bytes]) -> None:
    """Wait for the end of the program. Until it is reaped its number is its own: its session can be ended."""
    if hasattr(os, "waitid"):
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
    else:
        program.wait()


def _kill_session(program: subprocess.Popen[bytes]) -> None:
    if program.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program.pid, signal.SIGKILL)


def _end(program: subprocess.Popen[bytes]) -> None:
    """End what is left of the session, whatever interrupted the conversation."""
    _kill_session(program)
    program.wait()


def _concluded(held: _Heard, code: int, timeout_s: float, stderr: str) -> Conversation:
    said = held.said.decode(errors="replace")
    if held.too_much:
        return Conversation(said, None, "wrote much more than a verdict a line, and was stopped")
    if held.too_long:
        return Conversation(said, None, f"did not end within {timeout_s:g} s, and was stopped")
    if code == 0:
        if stderr and sys.stderr is not None:
            print(stderr, end="" if stderr.endswith("\n") else "\n", file=sys.stderr, flush=True)
        return Conversation(said, 0)
    why = f"was killed by {_signal(-code)}" if code < 0 else f"ended with exit code {code}"
    return Conversation(said, code, why, _last_line(stderr))


def _signal(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    return "".join(letter if letter.isprintable() else "?" for letter in last)[:_MOST_QUOTED]


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """SIGTERM and SIGHUP interrupt as Ctrl-C does, where nobody has given them another meaning."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ours = [one for one in names if signal.getsignal(one) == signal.SIG_DFL]
    for one in ours:
        signal.signal(one, _interrupt)
    try:
        yield
    finally:
        for one in ours:
            signal.signal(one, signal.SIG_DFL)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
