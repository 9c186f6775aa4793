"""The parent's side of a live run: starts its process, follows it, and ends with it."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from sojourn import _core, stops
from sojourn.errors import InputError, MissingError
from sojourn.live.wire import END, write_all

__all__ = ["Passing", "followed", "passing_stops_to", "serving"]

#: The variable that demands a kind of device, and the kinds. Without it: TUN, else AF_PACKET.
DEVICE, DEVICES = "SOJOURN_LIVE_DEVICE", ("tun", "packet")
#: Time that a run which is to end may make no progress, s.
_PATIENCE_S = 5.0


@contextlib.contextmanager
def serving(request: bytes, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that serves a request, and writes messages to its stdout; it is killed in the end."""
    device = os.environ.get(DEVICE)
    if device is not None and device not in DEVICES:
        raise InputError(f'{DEVICE}: is "{device}"; expected {" or ".join(DEVICES)}')
    # No module of the folder that we are in.
    command = [sys.executable, "-P", "-c", "from sojourn.live.served import serve; serve()"]
    paths = [_home(), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, env=environment, **how) as process:
        try:
            # A process that has ended, or refused the machine, does not read it; its messages say why.
            with contextlib.suppress(BrokenPipeError):
                for part in (pickle.dumps(sys.path), request):
                    write_all(_stdin(process), len(part).to_bytes(8, "big") + part)
            yield process
        finally:
            process.kill()


def followed(process: subprocess.Popen[bytes], ticket: _core.Ticket | None) -> Any:
    """Follow a request up to its answer.

    A run that is to end and makes no progress, as in an endless loop of a law, is cancelled.
    """
    assert process.stdout is not None
    is_ending, moved = False, time.monotonic()
    with open(process.stdout.fileno(), "rb", closefd=False) as messages:
        while True:
            try:
                kind, content = pickle.load(messages)
            except (EOFError, pickle.UnpicklingError):
                raise OSError("the process of the run ended without a result") from None
            match kind:
                case "progress" if ticket is not None:
                    if ticket.progress != content or not is_ending:
                        ticket.progress, moved = content, time.monotonic()
                    if ticket.cancelled and not is_ending:
                        is_ending = True
                        _end(process)
                    if time.monotonic() - moved > _PATIENCE_S:
                        raise _core.Cancelled("the run does not end")
                case "done":
                    return content
                case "refused":
                    raise MissingError(*_advice(*content))
                case "cancelled":
                    raise _core.Cancelled(content)
                case _:
                    raise content


@contextlib.contextmanager
def passing_stops_to() -> Iterator[Passing]:
    """Leave interrupts to a command at the terminal, and pass other signals to stop on to its process.

    Signals of a whole group come to that process, too. They are blocked until `Passing.to`, so that it begins
    with them blocked, and can ignore them.
    """
    before = stops.raising()
    passing = Passing(list(before))
    for number in before:
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else passing.handle)
    signal.pthread_sigmask(signal.SIG_BLOCK, before)
    try:
        yield passing
    finally:
        stops.restore(before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, before)


class Passing:
    """Signals to stop on their way to the process of a command."""

    def __init__(self, signals: list[int]) -> None:
        self.signals = signals
        self.has_passed = False
        self._process: subprocess.Popen[bytes] | None = None

    def to(self, process: subprocess.Popen[bytes]) -> None:
        """Pass them on to a process from now on."""
        self._process = process
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self.signals)

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        """Pass one on."""
        self.has_passed = True
        if self._process is not None:
            _end(self._process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a run early, or a command. One that has ended by itself shows it by its messages."""
    with contextlib.suppress(OSError):
        write_all(_stdin(process), END)


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
    return [f"--plant live: this machine refuses {step} ({why}); to allow it: {allow}"]
