"""Runs a program as the parent of all that it leaves behind, and ends all of it.

`python subreaper.py STATUS COMMAND...` starts the command in a session of its own. When the command ends, at
SIGTERM, or when the process that started this one ends, every process that descends from the command is
killed, in whatever group or session it is: on Linux orphans become children of this process (prctl(2),
PR_SET_CHILD_SUBREAPER). Elsewhere the command's process group is killed.

The pipe STATUS gets one line: `errno N` where the command cannot be started, `exit N` when it has ended
(negative for a signal). It is closed when nothing is left.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

# <linux/prctl.h>
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_WAKE = (signal.SIGCHLD, signal.SIGTERM)
#: Rounds of killing, and seconds between two at most: a process that cannot be killed is left.
_ROUNDS, _PAUSE_S = 500, 0.01


def main(status: int, words: list[str]) -> None:
    """Run the command to its end, and end all that it started."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAKE)
    os.set_inheritable(status, False)
    is_subreaper = _become_subreaper()
    try:
        # Python ignores these two, and the program would inherit that.
        defaults = [signal.SIGPIPE, signal.SIGXFSZ]
        pid = os.posix_spawnp(words[0], words, os.environ, setsid=True, setsigmask=[], setsigdef=defaults)
    except OSError as error:
        os.write(status, b"errno %d\n" % (error.errno or 0))
        return
    # The program's streams end with the program.
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    ended = _wait(pid)
    if ended is not None:
        os.write(status, b"exit %d\n" % ended)
    if is_subreaper:
        end_children()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _become_subreaper() -> bool:
    """Adopt orphans, if the system can, and have SIGTERM sent at the end of the parent; True if it can."""
    if not sys.platform.startswith("linux"):
        return False
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    return adopt_orphans()


def adopt_orphans() -> bool:
    """Become the parent of all that descend from this process and lose theirs; True if the system can."""
    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def _wait(pid: int) -> int | None:
    """Wait for the end of a child, reaping all others; None if SIGTERM came first."""
    while True:
        if signal.sigwait(_WAKE) == signal.SIGTERM:
            return None
        while found := _reaped():
            if found[0] == pid:
                return os.waitstatus_to_exitcode(found[1])


def _reaped() -> tuple[int, int] | None:
    """Number and status of a child that has ended, if any."""
    with suppress(ChildProcessError):
        number, status = os.waitpid(-1, os.WNOHANG)
        return (number, status) if number else None
    return None


def end_children() -> None:
    """Kill children until there are none: the children of each dead one become ours."""
    for _ in range(_ROUNDS):
        for number in children(os.getpid()):
            # Until it is reaped here, its number is not used again.
            with suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        signal.sigtimedwait(_WAKE, _PAUSE_S)


def children(process: int) -> list[int]:
    """Numbers of the children of a process."""
    found = []
    for name in os.listdir("/proc"):
        with suppress(OSError, ValueError):
            with open(f"/proc/{int(name)}/stat", "rb") as file:
                # After the name, which may hold anything: the state, and the parent.
                parent = int(file.read().rpartition(b")")[2].split()[1])
            if parent == process:
                found.append(int(name))
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
