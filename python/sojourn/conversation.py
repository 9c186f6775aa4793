"""A program under test: its stdin, its output, and the end of all processes that it started."""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from sojourn import stops
from sojourn.errors import InputError

__all__ = ["LONGEST_ANSWER", "TIMEOUT_S", "TOO_MUCH", "CommandResult", "run_program"]

#: Default time limit of a program for a trace, s.
TIMEOUT_S = 10.0
#: Reason for stopping a command that floods its stdout.
TOO_MUCH = "wrote much more than a verdict a line, and was stopped"
#: Bytes for a line of an answer, with room for longer words than ours.
LONGEST_ANSWER = 64
#: Bytes of stderr: passed on, kept of its end, and quoted of its last line.
_MOST_STDERR, _MOST_LAST, _MOST_QUOTED = 65_536, 4_096, 200
#: Time limits for reading what a program left in its pipes, and for the end of its processes, s.
_DRAINED_S, _ENDED_S = 1.0, 10.0
#: Bytes read at once.
_PIECE = 65_536

_SUBREAPER = Path(__file__).with_name("subreaper.py")


@dataclass(frozen=True)
class CommandResult:
    """Output of a program, and its end."""

    stdout: str
    #: Exit code, negative for a signal; None: stopped.
    returncode: int | None
    #: Reason for its end, as a continuation of "the command ...".
    reason: str = ""
    last_stderr_line: str = ""


def run_program(command: str, stdin: bytes, most: int, timeout_s: float) -> CommandResult:
    """Run a program with `stdin`; read up to `most` bytes of stdout for at most `timeout_s` seconds.

    On Linux every process that descends from the program ends with it, elsewhere its process group; also at
    Ctrl-C, SIGTERM and SIGHUP. If the program ends well, the first 64 kB of stderr are passed on; if it
    fails, the last line is kept. Raises `InputError` if it cannot be started.
    """
    # A file and no pipe: a program may answer before it has read everything, or read nothing at all.
    with TemporaryFile() as lines, stops.all_raise():
        lines.write(stdin)
        lines.seek(0)
        with _Process(command, lines) as process:
            process.read(most, timeout_s)
        return process.concluded(timeout_s)


@dataclass
class _Output:
    """The kept part of a stream: its first bytes, and its last ones."""

    most: int
    first: bytearray = field(default_factory=bytearray)
    last: bytes = b""

    def add(self, piece: bytes) -> None:
        room = max(0, self.most - len(self.first))
        self.first += piece[:room]
        self.last = (self.last + piece[room:])[-_MOST_LAST:]


class _Process:
    """A program under a subreaper, a process of its own that has no other children."""

    def __init__(self, command: str, stdin: IO[bytes]) -> None:
        words = _words(command)
        self.stdout, self.stderr, self.status = _Output(0), _Output(_MOST_STDERR), _Output(_PIECE)
        self.too_long = False
        status, status_end = os.pipe()
        try:
            self._child = subprocess.Popen(
                [sys.executable or "python3", "-I", "-S", _SUBREAPER, str(status_end), *words],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[status_end],
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(status)
            raise _cannot_be_started(command, error) from None
        finally:
            os.close(status_end)
        self._command = command
        self._streams = selectors.DefaultSelector()
        self._status = os.fdopen(status, "rb", buffering=0)
        for stream, output in (
            (self._child.stdout, self.stdout),
            (self._child.stderr, self.stderr),
            (self._status, self.status),
        ):
            assert stream is not None
            self._streams.register(stream, selectors.EVENT_READ, output)

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        """End all remaining processes, whatever interrupted the reading."""
        with suppress(ProcessLookupError):
            self._child.send_signal(signal.SIGTERM)
        self._read_until(self._has_ended, _ENDED_S)
        if not self._has_ended():
            self._child.kill()
        self._child.wait()
        self._read_until(lambda: not self._streams.get_map(), _DRAINED_S)
        self._streams.close()
        for stream in (self._child.stdout, self._child.stderr, self._status):
            assert stream is not None
            stream.close()

    def read(self, most: int, timeout_s: float) -> None:
        """Read until the program ends, writes more than `most` bytes, or runs out of time."""
        self.stdout.most = most
        self._read_until(lambda: bool(self.status.first or self.stdout.last) or self._has_ended(), timeout_s)
        self.too_long = not (self.status.first or self.stdout.last or self._has_ended())

    def _has_ended(self) -> bool:
        """True once the subreaper has closed its pipe."""
        return self._status not in {key.fileobj for key in self._streams.get_map().values()}

    def _read_until(self, done: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not done() and (left := deadline - time.monotonic()) > 0:
            for key, _ in self._streams.select(left):
                piece = os.read(key.fd, _PIECE)
                key.data.add(piece)
                if not piece:
                    self._streams.unregister(key.fileobj)

    def concluded(self, timeout_s: float) -> CommandResult:
        """The program's result."""
        stdout = self.stdout.first.decode(errors="replace")
        word, _, number = self.status.first.decode().partition(" ")
        if word == "errno":
            raise _cannot_be_started(self._command, OSError(int(number), os.strerror(int(number))))
        if self.stdout.last:
            return CommandResult(stdout, None, TOO_MUCH)
        if self.too_long:
            return CommandResult(stdout, None, f"did not end within {timeout_s:g} s, and was stopped")
        if word != "exit":
            return CommandResult(stdout, None, "was ended from outside")
        code = int(number)
        if code == 0:
            _pass_on(self.stderr.first.decode(errors="replace"))
            return CommandResult(stdout, 0)
        reason = f"was killed by {_signal(-code)}" if code < 0 else f"ended with exit code {code}"
        last = self.stderr.first[-_MOST_LAST:] + self.stderr.last
        return CommandResult(stdout, code, reason, _last_line(last.decode(errors="replace")))


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
        if not words:
            raise ValueError("it is empty")
    except ValueError as error:
        raise _cannot_be_started(command, error) from None
    return words


def _cannot_be_started(command: str, error: Exception) -> InputError:
    why = error.strerror if isinstance(error, OSError) else error
    return InputError(f'--against: "{command}" cannot be started ({why}); expected a command')


def _pass_on(stderr: str) -> None:
    if stderr and sys.stderr is not None:
        print(stderr, end="" if stderr.endswith("\n") else "\n", file=sys.stderr, flush=True)


def _signal(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    return "".join(letter if letter.isprintable() else "?" for letter in last)[:_MOST_QUOTED]
