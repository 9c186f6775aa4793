"""The parent's side of a live run: starts its process, follows it, and ends with it."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from sojourn import _core, stops
from sojourn.errors import InputError, MissingError
from sojourn.live.wire import END, LawStopped, receive, send

__all__ = ["Stops", "followed", "started"]

#: The variable that demands a kind of device, and the kinds. Without it: TUN, else AF_PACKET.
DEVICE, DEVICES = "SOJOURN_LIVE_DEVICE", ("tun", "packet")


@contextlib.contextmanager
def started(request: bytes, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """The process of a request; it is killed in the end."""
    device = os.environ.get(DEVICE)
    if device is not None and device not in DEVICES:
        raise InputError(f'{DEVICE}: is "{device}"; expected {" or ".join(DEVICES)}')
    # No module of the folder that we are in.
    command = [sys.executable, "-P", "-c", "from sojourn.live.child import serve; serve()"]
    paths = [_home(), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, env=environment, **how) as process:
        try:
            # One that has ended by now does not read, as where the machine refuses it: a message has why.
            with contextlib.suppress(BrokenPipeError):
                for part in (pickle.dumps(sys.path), request):
                    send(_stdin(process), part)
            yield process
        finally:
            process.kill()


def followed(
    process: subprocess.Popen[bytes],
    ticket: _core.Ticket,
    timeout_s: float,
    begun: Callable[[], None] = lambda: None,
) -> Any:
    """Follow a request up to its answer; `begun` is called when its command begins.

    Where the ticket is cancelled the process is to end. It has `timeout_s` for that, and again after each
    progress; a law in Python that does not return makes none, and the run is cancelled without an answer.
    """
    end = _End(process, ticket, timeout_s)
    while True:
        end.check()
        message = _next_of(process)
        if message is None:
            continue
        kind, content = message
        match kind:
            case "progress":
                if content != ticket.progress:
                    end.put_off()
                ticket.progress = content
            case "begun":
                begun()
            case "closing":
                end.begin()
            case "done":
                return content
            case "refused":
                raise MissingError(*_advice(*content))
            case "cancelled":
                raise _core.Cancelled(content)
            case _:
                raise content


class _End:
    """The end of a process, which is to come within some time once it has begun."""

    def __init__(self, process: subprocess.Popen[bytes], ticket: _core.Ticket, timeout_s: float) -> None:
        self._process, self._ticket, self._timeout_s = process, ticket, timeout_s
        self._is_sent = False
        self._deadline: float | None = None

    def begin(self) -> None:
        """The process is to end from now on."""
        self._deadline = time.monotonic() + self._timeout_s

    def put_off(self) -> None:
        """It has all of the time again, if it is to end."""
        if self._deadline is not None:
            self.begin()

    def check(self) -> None:
        """Pass a cancelled ticket on. Raises `Cancelled`, or `LawStopped`, where it does not end."""
        if self._ticket.cancelled and not self._is_sent:
            self._is_sent = True
            self.begin()
            # A process that has ended by now has left its answer.
            with contextlib.suppress(OSError):
                os.write(_stdin(self._process), END)
        if self._deadline is not None and time.monotonic() > self._deadline:
            if self._is_sent:
                raise _core.Cancelled("the run does not end")
            raise LawStopped("does not return in time")


def _next_of(process: subprocess.Popen[bytes]) -> tuple[str, Any] | None:
    """The next message of a process; None: it has sent none for some time."""
    assert process.stdout is not None
    messages = process.stdout.fileno()
    if not select.select([messages], [], [], stops.POLL_S)[0]:
        return None
    try:
        message: tuple[str, Any] = pickle.loads(receive(messages))
    except EOFError:
        raise OSError("the process of the run ended without a result") from None
    return message


class Stops:
    """Signals to stop while a command runs: an interrupt at the terminal is the command's alone.

    They are blocked at first, so that a process which is started then begins with them blocked: those of a
    whole group come to it, too, and it unblocks them when it is ready.
    """

    def __init__(self, ticket: _core.Ticket) -> None:
        self._ticket = ticket
        self._has_begun = False
        self.numbers: list[int] = []

    def begun(self) -> None:
        """The command has begun."""
        self._has_begun = True

    def unblock(self) -> None:
        """Handle them from now on: they cancel the ticket."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self.numbers)

    @contextlib.contextmanager
    def handled(self) -> Iterator[Stops]:
        """Blocked, with these handlers; as before in the end."""
        before = stops.raising()
        self.numbers = list(before)
        for number in before:
            signal.signal(number, self._handle)
        signal.pthread_sigmask(signal.SIG_BLOCK, before)
        try:
            yield self
        finally:
            stops.restore(before)
            self.unblock()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGINT or not self._has_begun:
            self._ticket.cancel()


def _stdin(process: subprocess.Popen[bytes]) -> int:
    assert process.stdin is not None
    return process.stdin.fileno()


def _home() -> str:
    """The folder of this package, for a process that starts elsewhere."""
    return str(Path(__file__).resolve().parents[2])


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
    return [f"live: this machine refuses {step} ({why}); to allow it: {allow}"]
