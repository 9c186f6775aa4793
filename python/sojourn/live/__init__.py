"""A live run: a process of its own, which leaves the machine's network before anything else.

`measure` starts it, follows it, and returns what it measured; `shell` has a command of the user in its place,
with the scenario's links between it and its servers. `requests` are what such a process does, `served` is the
process, `parent` its parent's side, and `wire` what passes between both.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import _core
from sojourn.errors import InputError
from sojourn.live.parent import followed, passing_stops_to, serving
from sojourn.live.requests import CLIENT, CLIENT6, SERVER, SERVER6, Command, LiveLink, LiveRun, Served, Single
from sojourn.live.wire import LawStopped, pickled

if TYPE_CHECKING:
    from sojourn.custom.template import LawTemplate
    from sojourn.scenario import Scenario

__all__ = [
    "CLIENT",
    "CLIENT6",
    "SERVER",
    "SERVER6",
    "LawStopped",
    "LiveLink",
    "LiveRun",
    "Served",
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
    request = _request(Single(scenario, seed, law, trace))
    with serving(request, start_new_session=True) as process:
        found: LiveRun = followed(process, ticket)
        return found


def shell(
    scenario: Scenario,
    seed: int,
    command: Sequence[str],
    servers: Sequence[Sequence[str]],
    *,
    law: LawTemplate | None = None,
) -> Served:
    """Run a command at the senders' end of a scenario's links, with our stdin, stdout and stderr.

    The servers run at the other end, and end with it. An interrupt at the terminal is the command's alone;
    other signals to stop terminate it. Raises as `measure`.
    """
    files = [os.dup(number) for number in range(3)]
    try:
        with passing_stops_to() as passing:
            request = _request(
                Command(
                    scenario,
                    seed,
                    law,
                    command=list(command),
                    servers=list(map(list, servers)),
                    files=files,
                    environment=dict(os.environ),
                    signals=passing.signals,
                )
            )
            with serving(request, pass_fds=files) as process:
                passing.to(process)
                found: Served = followed(process, None)
        return replace(found, is_stopped=passing.has_passed)
    finally:
        for number in files:
            os.close(number)


def _request(request: Single | Command) -> bytes:
    """A request in bytes. Raises `InputError` for a law that no other process can have."""
    try:
        return pickled(request)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"--plant live: a law in Python cannot go to the process of the run ({error}); "
            "expected one of a file, as FILE.py:CLASS, or of a module"
        ) from None
