"""A live run: a process of its own, which leaves the machine's network before anything else.

`measure` starts it, follows it, and returns what it measured. The process (`serve`) reads one request from
its stdin, which stays open as long as its parent is there: it ends with that at once, and the kernel
removes its namespaces and devices.
"""

from __future__ import annotations

import io
import operator
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sojourn import _core
from sojourn.errors import InputError, MissingError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sojourn.custom.template import LawTemplate
    from sojourn.scenario import Scenario

__all__ = ["LiveLink", "LiveRun", "measure", "serve"]


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

    @staticmethod
    def of(run: _core.Run) -> LiveRun:
        """The measurements of a run of this process."""
        links = [LiveLink(one.link, one.qdisc, one.rows, one.series, one.distributions) for one in run.links]
        return LiveRun(links, run.windows, run.events, run.cpu_s, run.trust)


@dataclass(frozen=True)
class _Request:
    """One run."""

    scenario: Scenario
    seed: int
    law: LawTemplate | None
    trace: Path | None
    path: list[str]


# ---- The parent's side --------------------------------------------------------------------------------


def measure(
    scenario: Scenario, seed: int, ticket: _core.Ticket, *, law: LawTemplate | None, trace: Path | None
) -> LiveRun:
    """Run a scenario live, in a process of its own.

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
    command = [sys.executable, "-c", "from sojourn.live import serve; serve()"]
    paths = [_home(), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(len(request).to_bytes(8, "big") + request)
            process.stdin.flush()
            return _followed(process.stdout, ticket)
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


def _pickled(request: _Request) -> bytes:
    into = io.BytesIO()
    _Pickler(into).dump(request)
    return into.getvalue()


def _home() -> str:
    """The folder of this package, for a process that starts elsewhere."""
    return str(Path(__file__).resolve().parent.parent)


def _followed(messages: IO[bytes], ticket: _core.Ticket) -> LiveRun:
    """Follow a run up to its end."""
    while True:
        try:
            kind, content = pickle.load(messages)
        except EOFError:
            raise OSError("the process of the run ended without a result") from None
        match kind:
            case "progress":
                ticket.check()
                ticket.progress = content
            case "done":
                found: LiveRun = content
                return found
            case "refused":
                raise MissingError(*_advice(*content))
            case _:
                raise content


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
    "netlink": "a kernel with rtnetlink, as every Linux has; in a sandbox, allow sockets of AF_NETLINK",
}


def _advice(step: str, number: int | None, text: str) -> list[str]:
    why = os.strerror(number) if number else text
    allow = _ADVICE.get(step, "run as root, on a Linux that has it")
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

    def send(kind: str, content: object) -> None:
        pickle.dump((kind, content), messages)
        messages.flush()

    # First of all, while there is one thread.
    try:
        _core.leave_machine()
    except _core.LiveRefused as refused:
        return send("refused", refused.args)
    length = int.from_bytes(sys.stdin.buffer.read(8), "big")
    data = sys.stdin.buffer.read(length)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        request: _Request = pickle.loads(data)
        sys.path[:] = request.path
        ticket = _core.Ticket()
        threading.Thread(target=_report, args=(ticket, send), daemon=True).start()
        run = _core.run(
            request.scenario, request.seed, ticket, law=request.law, plant="live", trace=request.trace
        )
        send("done", LiveRun.of(run))
    except _core.LiveRefused as refused:
        send("refused", refused.args)
    except BaseException as error:
        send("failed", error if isinstance(error, _core.LawError) else OSError(str(error)))


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)


def _report(ticket: _core.Ticket, send: Any) -> None:
    """Send the progress some times a second; a parent that is gone ends the process."""
    import time

    while ticket.progress < 1.0:
        time.sleep(0.1)
        if ticket.progress < 1.0:
            send("progress", ticket.progress)
