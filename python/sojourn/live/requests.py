"""The work of the process of a live run: a run, or a command of the user."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from sojourn import _core

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sojourn.custom.template import LawTemplate
    from sojourn.scenario import Scenario

__all__ = [
    "CLIENT",
    "CLIENT6",
    "PATIENCE_S",
    "SERVER",
    "SERVER6",
    "LiveLink",
    "LiveRun",
    "Message",
    "RunRequest",
    "ShellRequest",
    "ShellResult",
]

#: Addresses of the receivers' namespace, in which servers run, and of the senders'.
SERVER, CLIENT = "10.90.0.2", "10.90.0.1"
#: Those of IPv6, which only programs of the user have.
SERVER6, CLIENT6 = "fd90::2", "fd90::1"

#: Sends a message of a kind.
Message = Callable[[str, object], None]

# ---- A run --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LiveLink:
    """Measurements at one link, as those of `sojourn._core.LinkRun`."""

    link: str | None
    qdisc: str | None
    rows: list[tuple[str | None, str | None, dict[str, Any], dict[str, int]]]
    series: dict[str, npt.NDArray[np.float64]]
    distributions: dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]


@dataclass(frozen=True)
class LiveRun:
    """The measurements of one run, as those of `sojourn._core.Run`, from another process."""

    links: Sequence[LiveLink]
    windows: list[
        tuple[str, tuple[float, float], tuple[str | None, str | None, str | None], dict[str, float]]
    ]
    events: int
    cpu_s: float
    trust: dict[str, float | int | str | None] | None
    #: Its end, s, where it was interrupted: the measurements are those of so long a run.
    ended_s: float | None = None

    @staticmethod
    def of(run: _core.Run) -> LiveRun:
        """The measurements of a run of this process."""
        links = [LiveLink(one.link, one.qdisc, one.rows, one.series, one.distributions) for one in run.links]
        return LiveRun(links, run.windows, run.events, run.cpu_s, run.trust, run.ended_s)


@dataclass(frozen=True)
class RunRequest:
    """One run."""

    scenario: Scenario
    seed: int
    law: LawTemplate | None
    trace: Path | None

    def answer(self, message: Message, ticket: _core.Ticket) -> LiveRun:
        """The measurements; sends the progress meanwhile. A run whose ticket is cancelled ends early."""
        # Each flow has up to three sockets.
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        threading.Thread(target=_report, args=(ticket, message), daemon=True).start()
        run = _core.run(self.scenario, self.seed, ticket, law=self.law, plant="live", trace=self.trace)
        return LiveRun.of(run)


def _report(ticket: _core.Ticket, message: Message) -> None:
    """Send the progress ten times a second until the run is done."""
    while ticket.progress < 1.0:
        time.sleep(0.1)
        if ticket.progress < 1.0:
            message("progress", ticket.progress)


# ---- A command ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShellResult:
    """A command of the user that has ended, and what the qdiscs did."""

    #: The command's exit code; -N where signal N ended it.
    code: int
    #: Of each qdisc: its name, its link, counts and mean sojourn. A law in Python has None for its name.
    links: list[dict[str, Any]]
    trust: dict[str, float | int | str | None]
    #: A signal to stop had it ended.
    is_stopped: bool = False


@dataclass(frozen=True)
class ShellRequest:
    """A command at the senders' end, and servers at the receivers'."""

    scenario: Scenario
    seed: int
    law: LawTemplate | None
    command: list[str]
    servers: list[list[str]]
    #: Files of the command: stdin, stdout and stderr.
    files: list[int]
    #: The user's environment, as the command and the servers have it.
    environment: dict[str, str]
    #: Signals to stop, which are the command's alone.
    stops: list[int]
    #: Signal that ends the command: a shell in a terminal ignores SIGTERM.
    ending: signal.Signals

    def answer(self, message: Message, ticket: _core.Ticket) -> ShellResult:
        """Run the command to its end; it is terminated where the ticket is cancelled, or the law fails."""
        for number in self.stops:
            # Ignored ones would be so in what is started, too.
            signal.signal(number, _do_nothing)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self.stops)
        links = _core.Shell(self.scenario, self.seed, self.law)
        with contextlib.ExitStack() as stack:
            links.enter(1)
            for server in self.servers:
                nothing = subprocess.DEVNULL
                running = _started(server, [nothing] * 3, self.environment)
                stack.callback(running.wait)
                stack.callback(running.kill)
            links.enter(0)
            environment = self.environment | {"SOJOURN_SERVER": SERVER, "SOJOURN_CLIENT": CLIENT}
            if links.has_v6:
                environment |= {"SOJOURN_SERVER6": SERVER6, "SOJOURN_CLIENT6": CLIENT6}
            ticket.check()
            with _started(self.command, self.files, environment) as running:
                code = self._ended(running, ticket, links)
        message("closing", None)
        result = ShellResult(code, *links.close())
        links.check()
        return result

    def _ended(self, running: subprocess.Popen[bytes], ticket: _core.Ticket, links: _core.Shell) -> int:
        """The code of a command at its end."""
        deadline: float | None = None
        while True:
            try:
                return running.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                if (ticket.cancelled or links.has_failed) and deadline is None:
                    running.send_signal(self.ending)
                    deadline = time.monotonic() + PATIENCE_S
                if deadline is not None and time.monotonic() > deadline:
                    running.kill()


#: Time that a command has to end, s.
PATIENCE_S = 5.0


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    pass


def _started(
    command: Iterable[str], files: Sequence[int], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """A command that is killed when this process ends, and has the usual signals."""
    start = [sys.executable, "-ISc", _START, str(os.getpid()), *command]
    stdin, stdout, stderr = files
    return subprocess.Popen(start, stdin=stdin, stdout=stdout, stderr=stderr, env=environment)


#: PR_SET_PDEATHSIG of prctl(2) is 1; a parent that had ended before sends no signal. Python ignores two
#: signals, and what it starts would, too.
_START = """
import ctypes, os, signal, sys
_, parent, *command = sys.argv
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(parent):
    sys.exit(1)
for one in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(one, signal.SIG_DFL)
try:
    os.execvp(command[0], command)
except OSError as error:
    sys.exit(f"{command[0]}: {error.strerror}")
"""
