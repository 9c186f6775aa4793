"""The user's terminal and standard files, which a command has for a while."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import termios
from collections.abc import Iterator

__all__ = ["files", "kept"]

_STDIN = 0


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Restore the terminal's settings and foreground group in the end: a shell that is killed does not."""
    try:
        settings, group = termios.tcgetattr(_STDIN), os.tcgetpgrp(_STDIN)
    except (OSError, termios.error):
        # It is no terminal, or not ours.
        yield
        return
    try:
        yield
    finally:
        # From the background, in which the shell has left us, this would stop us.
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        with contextlib.suppress(OSError, termios.error):
            os.tcsetpgrp(_STDIN, group)
            termios.tcsetattr(_STDIN, termios.TCSADRAIN, settings)
        signal.signal(signal.SIGTTOU, before)


@contextlib.contextmanager
def files() -> Iterator[list[int]]:
    """Copies of stdin, stdout and stderr; /dev/null in place of one that is closed."""
    copies = []
    try:
        for number in range(3):
            try:
                copies.append(_copy(number))
            except OSError:
                # It may have the number of the closed one.
                empty = os.open(os.devnull, os.O_RDWR)
                copies.append(_copy(empty))
                os.close(empty)
        yield copies
    finally:
        for number in copies:
            os.close(number)


def _copy(number: int) -> int:
    """A copy whose number is none of stdin, stdout and stderr, which a new process has other files for."""
    return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)
