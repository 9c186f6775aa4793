"""A live run: a process of its own, which leaves the machine's network before anything else.

`measure` starts it, follows it, and returns what it measured; `shell` has a command of the user in its place,
with the scenario's links between it and its servers. `requests` is the work of such a process, `child` the
process, `parent` its parent's side, and `wire` the form of what passes between both.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import _core
from sojourn._core import Cancelled
from sojourn.errors import InputError
from sojourn.live import terminal
from sojourn.live.parent import Stops, followed, started
from sojourn.live.requests import (
    CLIENT,
    CLIENT6,
    END_TIMEOUT_S,
    SERVER,
    SERVER6,
    LiveLink,
    LiveRun,
    RunRequest,
    ShellRequest,
    ShellResult,
)
from sojourn.live.wire import LawStopped, pickled

if TYPE_CHECKING:
    from sojourn.custom.template import LawTemplate
    from sojourn.scenario import Scenario

__all__ = [
    "CLIENT",
    "CLIENT6",
    "SERVER",
    "SERVER6",
    "Cancelled",
    "LawStopped",
    "LiveLink",
    "LiveRun",
    "ShellResult",
    "measure",
    "shell",
]


def measure(
    scenario: Scenario, seed: int, ticket: _core.Ticket, *, law: LawTemplate | None, trace: Path | None
) -> LiveRun:
    """Run a scenario live, in a process of its own.

    Where the ticket is cancelled, the run ends within some two seconds, and has what was measured by then.
    Raises `MissingError` where the machine does not allow it, `InputError` for a law that no other process
    can have, `LawStopped` for one that failed, `Cancelled`, and `OSError`.
    """
    request = _pickled(RunRequest(scenario, seed, law, trace))
    with started(request, start_new_session=True) as process:
        found: LiveRun = followed(process, ticket, END_TIMEOUT_S)
        return found


def shell(
    scenario: Scenario,
    seed: int,
    command: Sequence[str] | None,
    servers: Sequence[Sequence[str]],
    *,
    law: LawTemplate | None = None,
) -> ShellResult:
    """Run a command, or the user's shell, at the senders' end of a scenario's links, with our standard files.

    The servers run at the other end, and end with it. An interrupt at the terminal is the command's alone;
    other signals to stop end it. Raises as `measure`; `Cancelled` where it does not end.
    """
    own_shell = [os.environ.get("SHELL") or "/bin/sh"]
    ticket = _core.Ticket()
    with terminal.kept(), terminal.files() as files, Stops(ticket).handled() as stops:
        request = _pickled(
            ShellRequest(
                scenario,
                seed,
                law,
                command=list(command or own_shell),
                servers=list(map(list, servers)),
                files=files,
                environment=dict(os.environ),
                stops=stops.numbers,
                ending=signal.SIGHUP if command is None else signal.SIGTERM,
            )
        )
        with started(request, pass_fds=files) as process:
            stops.unblock()
            # The command's time to end, and the links'.
            found: ShellResult = followed(process, ticket, 2 * END_TIMEOUT_S, stops.begun)
    return replace(found, is_stopped=ticket.cancelled)


def _pickled(request: RunRequest | ShellRequest) -> bytes:
    """A request in bytes. Raises `InputError` for a law that no other process can have."""
    try:
        return pickled(request)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"live: a law in Python cannot go to the process of the run ({error}); "
            "expected one of a file, as FILE.py:CLASS, or of a module"
        ) from None
