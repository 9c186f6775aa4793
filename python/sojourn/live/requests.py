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

from sojourn import _core, subreaper
from sojourn.live.wire import LawStopped

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sojourn.custom.template import LawTemplate
    from sojourn.scenario import Scenario

__all__ = [
    "CLIENT",
    "CLIENT6",
    "END_TIMEOUT_S",
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
    #: Those of the servers that had ended before it; None for the others.
    servers: list[int | None]
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
        """Run the command to its end; it is ended where the ticket is cancelled, or the law fails."""
        for number in self.stops:
            # Ignored ones would be so in what is started, too.
            signal.signal(number, _do_nothing)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self.stops)
        links = _core.Shell(self.scenario, self.seed, self.law)
        subreaper.adopt_orphans()
        with contextlib.ExitStack() as stack:
            stack.callback(subreaper.end_children)
            links.enter(1)
            servers = [self._started(server, [subprocess.DEVNULL] * 3) for server in self.servers]
            for server in servers:
                stack.callback(server.wait)
                stack.callback(server.kill)
                _await_socket(server)
            links.enter(0)
            environment = self.environment | {"SOJOURN_SERVER": SERVER, "SOJOURN_CLIENT": CLIENT}
            if links.has_v6:
                environment |= {"SOJOURN_SERVER6": SERVER6, "SOJOURN_CLIENT6": CLIENT6}
            ticket.check()
            message("begun", None)
            with self._started(self.command, self.files, environment) as running:
                code = self._ended(running, ticket, links)
            ended = [server.poll() for server in servers]
        message("closing", None)
        result = ShellResult(code, ended, *links.close())
        links.check()
        return result

    def _started(
        self, command: Iterable[str], files: Sequence[int], environment: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """A command that is killed when this process ends, and has the usual signals."""
        start = [sys.executable, "-ISc", _START, str(os.getpid()), *command]
        stdin, stdout, stderr = files
        # It takes none before it has the usual ones.
        signal.pthread_sigmask(signal.SIG_BLOCK, self.stops)
        try:
            return subprocess.Popen(
                start, stdin=stdin, stdout=stdout, stderr=stderr, env=environment or self.environment
            )
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, self.stops)

    def _ended(self, running: subprocess.Popen[bytes], ticket: _core.Ticket, links: _core.Shell) -> int:
        """The code of a command at its end. Raises `LawStopped` where a law did not return meanwhile."""
        deadline: float | None = None
        moved, turns, is_stuck = time.monotonic(), 0, False
        while True:
            try:
                code = running.wait(timeout=0.1)
                if is_stuck:
                    raise LawStopped("does not return in time")
                return code
            except subprocess.TimeoutExpired:
                if links.turns != turns:
                    moved, turns = time.monotonic(), links.turns
                is_stuck = time.monotonic() - moved > END_TIMEOUT_S
                if (ticket.cancelled or links.has_failed or is_stuck) and deadline is None:
                    _send(self.ending, running.pid)
                    deadline = time.monotonic() + END_TIMEOUT_S
                if deadline is not None and time.monotonic() > deadline:
                    running.kill()


#: Time that a command has to end, s.
END_TIMEOUT_S = 5.0


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    pass


def _send(number: signal.Signals, process: int) -> None:
    """Send a signal to a process and to all that descend from it."""
    for child in subreaper.children(process):
        _send(number, child)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


#: Time that a server has to open a socket, s.
_SOCKET_TIMEOUT_S = 2.0


def _await_socket(server: subprocess.Popen[bytes]) -> None:
    """Wait until a server can be reached, or has ended, or has had its time."""
    deadline = time.monotonic() + _SOCKET_TIMEOUT_S
    while server.poll() is None and time.monotonic() < deadline and not _has_socket(server.pid):
        time.sleep(0.01)


def _has_socket(process: int) -> bool:
    """True if a process listens on TCP, or has a socket of UDP."""
    with contextlib.suppress(OSError):
        files = Path(f"/proc/{process}/fd").iterdir()
        own = {os.readlink(file).removeprefix("socket:[").removesuffix("]") for file in files}
        for table, states in (("tcp", ["0A"]), ("tcp6", ["0A"]), ("udp", ["07"]), ("udp6", ["07"])):
            rows = Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]
            # The fourth column is the state, the tenth the number of the socket.
            if any(row.split()[3] in states and row.split()[9] in own for row in rows):
                return True
    return False


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
signal.pthread_sigmask(signal.SIG_SETMASK, [])
try:
    os.execvp(command[0], command)
except OSError as error:
    sys.exit(f"{command[0]}: {error.strerror}")
"""
