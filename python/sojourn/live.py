"""A live run: a process of its own, which leaves the machine's network before anything else.

`measure` starts it, follows it, and returns what it measured; `shell` has a command of the user in its place,
with the scenario's links between it and its servers. The process (`serve`) reads one request from
its stdin, which stays open as long as its parent is there: it ends with that at once, and the kernel
removes its namespaces and devices.
"""

from __future__ import annotations

import contextlib
import io
import operator
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from sojourn import _core, stops
from sojourn.errors import InputError, MissingError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sojourn.custom.template import LawTemplate
    from sojourn.scenario import Scenario

__all__ = [
    "CLIENT",
    "CLIENT6",
    "SERVER",
    "SERVER6",
    "LiveLink",
    "LiveRun",
    "Served",
    "measure",
    "serve",
    "shell",
]

#: Addresses of the receivers' namespace, in which servers run, and of the senders'.
SERVER, CLIENT = "10.90.0.2", "10.90.0.1"
#: Those of IPv6, which only programs of the user have.
SERVER6, CLIENT6 = "fd90::2", "fd90::1"
#: The variable that demands a kind of device, and the kinds. Without it: TUN, else AF_PACKET.
DEVICE, DEVICES = "SOJOURN_LIVE_DEVICE", ("tun", "packet")


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
class _Request:
    """One run."""

    scenario: Scenario
    seed: int
    law: LawTemplate | None
    trace: Path | None
    path: list[str]

    def answer(self, send: _Send, ticket: _core.Ticket) -> LiveRun:
        """The measurements; sends the progress meanwhile. A run whose ticket is cancelled ends early."""
        # Each flow has up to three sockets.
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        threading.Thread(target=_report, args=(ticket, send), daemon=True).start()
        run = _core.run(self.scenario, self.seed, ticket, law=self.law, plant="live", trace=self.trace)
        return LiveRun.of(run)


@dataclass(frozen=True)
class Served:
    """What the links did for a command of the user."""

    #: The command's exit code.
    code: int
    #: Of each qdisc: its link, counts and mean sojourn.
    links: list[dict[str, Any]]
    trust: dict[str, float | int | str | None]


@dataclass(frozen=True)
class _Shell:
    """A command at the senders' end, and servers at the receivers'."""

    scenario: Scenario
    seed: int
    command: list[str]
    servers: list[list[str]]
    #: Files of the command: stdin, stdout and stderr.
    files: list[int]
    #: The user's environment, as the command and the servers have it.
    environment: dict[str, str]
    path: list[str]

    def answer(self, _send: _Send, ticket: _core.Ticket) -> Served:
        """Run the command to its end; it is terminated where the ticket is cancelled."""
        # An interrupt at the terminal is for the command.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        links = _core.Shell(self.scenario, self.seed)
        with contextlib.ExitStack() as stack:
            links.enter(1)
            for server in self.servers:
                nothing = subprocess.DEVNULL
                running = subprocess.Popen(
                    _ending_with_us(server),
                    stdin=nothing,
                    stdout=nothing,
                    stderr=nothing,
                    env=self.environment,
                )
                stack.callback(running.wait)
                stack.callback(running.kill)
            links.enter(0)
            stdin, stdout, stderr = self.files
            environment = self.environment | {"SOJOURN_SERVER": SERVER, "SOJOURN_CLIENT": CLIENT}
            if links.has_v6:
                environment |= {"SOJOURN_SERVER6": SERVER6, "SOJOURN_CLIENT6": CLIENT6}
            with subprocess.Popen(
                _ending_with_us(self.command), stdin=stdin, stdout=stdout, stderr=stderr, env=environment
            ) as running:
                code = _ended(running, ticket)
        return Served(code, *links.close())


def _ending_with_us(command: Sequence[str]) -> list[str]:
    """A command that is killed when this process ends, and has the usual signals."""
    return [sys.executable, "-ISc", _START, str(os.getpid()), *command]


#: PR_SET_PDEATHSIG of prctl(2) is 1; a parent that had ended before sends no signal. Python ignores some
#: signals, and what it starts would, too.
_START = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
for one in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(one, signal.SIG_DFL)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.exit(f"{sys.argv[2]}: {error.strerror}")
"""

#: Time that a command has to end after SIGTERM, s.
_PATIENCE_S = 5.0


def _ended(running: subprocess.Popen[bytes], ticket: _core.Ticket) -> int:
    """The code of a command at its end."""
    deadline: float | None = None
    while True:
        try:
            return running.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            if ticket.cancelled and deadline is None:
                running.terminate()
                deadline = time.monotonic() + _PATIENCE_S
            if deadline is not None and time.monotonic() > deadline:
                running.kill()


#: Ends a run early, and a command.
_END = b"end"

#: Sends a message of a kind.
_Send = Callable[[str, object], None]


# ---- The parent's side --------------------------------------------------------------------------------


def measure(
    scenario: Scenario, seed: int, ticket: _core.Ticket, *, law: LawTemplate | None, trace: Path | None
) -> LiveRun:
    """Run a scenario live, in a process of its own.

    Where the ticket is cancelled, the run ends within some two seconds, and has what was measured by then.
    Raises `MissingError` where the machine does not allow it, `InputError` for a law that no other process
    can have, `Cancelled`, `LawError`, and `OSError`.
    """
    try:
        request = _pickled(_Request(scenario, seed, law, trace, sys.path))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"--plant live: a law in Python cannot go to the process of the run ({error}); "
            "expected one of a file, as FILE.py:CLASS"
        ) from None
    with _serving(request, start_new_session=True) as process:
        found: LiveRun = _followed(process, ticket)
        return found


def shell(scenario: Scenario, seed: int, command: Sequence[str], servers: Sequence[Sequence[str]]) -> Served:
    """Run a command at the senders' end of a scenario's links, with our stdin, stdout and stderr.

    The servers run at the other end, and end with it. An interrupt at the terminal is the command's alone;
    other signals to stop terminate it. Raises as `measure`.
    """
    files = [os.dup(number) for number in range(3)]
    try:
        own = list(map(list, servers))
        environment = dict(os.environ)
        request = _pickled(_Shell(scenario, seed, list(command), own, files, environment, sys.path))
        with _serving(request, pass_fds=files) as process, _passing_stops_to(process):
            found: Served = _followed(process, None)
            return found
    finally:
        for number in files:
            os.close(number)


@contextlib.contextmanager
def _passing_stops_to(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave interrupts to the command at the terminal, and end it by other signals to stop."""

    def end(_number: int, _frame: FrameType | None) -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.write(_END)
            process.stdin.flush()

    before = stops.raising()
    for number in before:
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else end)
    try:
        yield
    finally:
        stops.restore(before)


@contextlib.contextmanager
def _serving(request: bytes, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that serves a request, and writes messages to its stdout; it is killed in the end."""
    device = os.environ.get(DEVICE)
    if device is not None and device not in DEVICES:
        raise InputError(f'{DEVICE}: is "{device}"; expected {" or ".join(DEVICES)}')
    # No module of the folder that we are in.
    command = [sys.executable, "-P", "-c", "from sojourn.live import serve; serve()"]
    paths = [_home(), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        **how,
    ) as process:
        assert process.stdin is not None
        try:
            process.stdin.write(len(request).to_bytes(8, "big") + request)
            process.stdin.flush()
            yield process
        except BrokenPipeError:
            raise OSError("the process of the run ended at its start") from None
        finally:
            process.kill()


class _Pickler(pickle.Pickler):
    """Pickles classes of laws in files of the user, whose modules are named by path and content."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type):
            path, _, mark = value.__module__.rpartition(" ")
            if path.endswith(".py") and mark:
                return _class_in, (path, value.__qualname__)
        return NotImplemented


def _class_in(path: str, name: str) -> Any:
    """A class of a file."""
    from sojourn.custom.files import module_of

    return operator.attrgetter(name)(module_of(path, "--qdisc"))


def _pickled(request: _Request | _Shell) -> bytes:
    into = io.BytesIO()
    _Pickler(into).dump(request)
    return into.getvalue()


def _home() -> str:
    """The folder of this package, for a process that starts elsewhere."""
    return str(Path(__file__).resolve().parent.parent)


def _followed(process: subprocess.Popen[bytes], ticket: _core.Ticket | None) -> Any:
    """Follow a request up to its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    is_ending = False
    while True:
        try:
            kind, content = pickle.load(process.stdout)
        except (EOFError, pickle.UnpicklingError):
            raise OSError("the process of the run ended without a result") from None
        match kind:
            case "progress" if ticket is not None:
                ticket.progress = content
                if ticket.cancelled and not is_ending:
                    is_ending = True
                    process.stdin.write(_END)
                    process.stdin.flush()
            case "done":
                return content
            case "refused":
                raise MissingError(*_advice(*content))
            case "cancelled":
                raise _core.Cancelled(content)
            case _:
                raise content


_NAMESPACED = "a kernel with network namespaces; in a sandbox, allow netlink"
#: Steps that a machine may refuse, each with what allows it.
_ADVICE = {
    "a user namespace": (
        "allow user namespaces (sysctl user.max_user_namespaces=10000; on Debian "
        "kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), "
        "or run as root"
    ),
    "a network namespace": "run as root, or allow user namespaces; in a container, allow unshare(2)",
    "/dev/net/tun": (
        "the device must be there (modprobe tun; in a container --device /dev/net/tun) and open to you "
        "(chmod 0666 /dev/net/tun), or run as root"
    ),
    "an AF_PACKET socket": (
        "/dev/net/tun must be there and open to you, or a kernel with CONFIG_PACKET; in a sandbox, allow "
        "sockets of AF_PACKET"
    ),
    "a veth pair": "/dev/net/tun must be there and open to you, or a kernel with CONFIG_VETH (modprobe veth)",
    "a TUN device": "run as root, or allow user namespaces, in which we are root over our own devices",
    "the ring of an AF_PACKET socket": "more memory for this process, or a lower mtu",
    "checksums without offload (SIOCETHTOOL)": "/dev/net/tun must be there and open to you",
    "a device": _NAMESPACED,
    "a device up": _NAMESPACED,
    "an address": _NAMESPACED,
    "the local route of an IPv6 address": "less load on the machine, or a kernel without IPv6",
    "/proc/thread-self/ns/net": "mount /proc, and a kernel with CONFIG_NET_NS",
    "/proc/self/uid_map": "allow user namespaces (no seccomp filter or AppArmor profile against them)",
    "/proc/self/gid_map": "allow user namespaces (no seccomp filter or AppArmor profile against them)",
    "netlink": "a kernel with rtnetlink, as every Linux has; in a sandbox, allow sockets of AF_NETLINK",
}


def _advice(step: str, number: int | None, text: str) -> list[str]:
    why = os.strerror(number) if number else text
    setting = "in a container, a writable /proc/sys/net (--privileged, or a user namespace of your own)"
    allow = setting if step.startswith("/proc/sys/") else _ADVICE[step]
    return [f"--plant live: this machine refuses {step} ({why}); to allow it: {allow}"]


# ---- The process of the run ---------------------------------------------------------------------------


def serve() -> None:
    """Do the run that stdin names, write messages to what was stdout, and end this process."""
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
    length = int.from_bytes(sys.stdin.buffer.read(8), "big")
    data = sys.stdin.buffer.read(length)
    ticket = _core.Ticket()
    threading.Thread(target=_listen, args=(ticket,), daemon=True).start()
    try:
        request: _Request | _Shell = pickle.loads(data)
        sys.path[:] = request.path
        send("done", request.answer(send, ticket))
    except _core.LiveRefused as refused:
        send("refused", refused.args)
    except _core.Cancelled as cancelled:
        send("cancelled", str(cancelled))
    except BaseException as error:
        send("failed", OSError(_why(error, request)))


def _why(error: BaseException, request: _Request | _Shell) -> str:
    """Why a run failed; of a law in Python its line of code."""
    law = request.law if isinstance(request, _Request) else None
    if law is None or not isinstance(error, _core.LawError):
        return str(error)
    from sojourn.custom.lines import failure_of

    return failure_of(getattr(error, "object", law.original), error)


def _listen(ticket: _core.Ticket) -> None:
    """Cancel the run where the parent ends it, and end with the parent."""
    while os.read(0, 4096):
        ticket.cancel()
    os._exit(1)


def _report(ticket: _core.Ticket, send: Any) -> None:
    """Send the progress some times a second; a parent that is gone ends the process."""
    while ticket.progress < 1.0:
        time.sleep(0.1)
        if ticket.progress < 1.0:
            send("progress", ticket.progress)
