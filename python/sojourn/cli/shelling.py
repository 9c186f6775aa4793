"""The command `lab --shell`: programs of the user on the links of a scenario."""

from __future__ import annotations

import shlex
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.cli import printing
from sojourn.errors import InputError, Interrupted, LawFailed, SojournError

if TYPE_CHECKING:
    from sojourn.resolve import Setup
    from sojourn.scenario import Scenario

__all__ = ["Lab", "run"]

#: Servers that run at the other end where they are installed, with the addresses of both protocols; those of
#: IPv6 end at once where the kernel has none.
SERVERS = (
    ("netserver", "-D", "-4", "-L", "{v4}"),
    ("netserver", "-D", "-6", "-L", "{v6}"),
    ("irtt", "server", "-b", "{v4}"),
    ("irtt", "server", "-b", "[{v6}]"),
    ("iperf3", "--server", "--bind", "{v4}"),
    ("iperf3", "--server", "--bind", "{v6}"),
)


@dataclass(frozen=True)
class Lab:
    """The links of a scenario, and its seed."""

    file: str
    qdiscs: Sequence[str]
    overrides: dict[str, str]
    seed: int


def run(lab: Lab, command: str | None, servers: Sequence[str]) -> None:
    """Open the links, run the command or a shell, and print what the qdiscs did."""
    from sojourn import live
    from sojourn.live import CLIENT, CLIENT6, SERVER, SERVER6, Cancelled, LawStopped
    from sojourn.result import trust
    from sojourn.scenario import load_as

    usual = [[word.format(v4=SERVER, v6=SERVER6) for word in one] for one in SERVERS]
    own = _given(servers) or [one for one in usual if shutil.which(one[0])]
    setup = _single(load_as(lab.file, lab.overrides, "--set"), lab.qdiscs)
    words = _command(command)
    names = ", ".join(dict.fromkeys(one[0] for one in own)) or "no server"
    end = "shell" if command is None else "command"
    ends = (
        f"server {SERVER} ({names}), this end {CLIENT}; of IPv6, where there is one, {SERVER6} and {CLIENT6}"
    )
    printing.remark([f"{ends}; the lab ends with the {end}"])
    interrupted = Interrupted(f"interrupted; the {end} was ended", None)
    try:
        found = live.shell(setup.scenario, lab.seed, words, own, law=setup.law)
    except LawStopped as failure:
        raise LawFailed(f"{setup.label}: {failure}", None) from None
    except Cancelled:
        raise interrupted from None
    for server, code in zip(own, found.servers, strict=True):
        if servers and code is not None:
            printing.remark([f"--server: {shlex.join(server)} had ended {_how(code)} before the {end} did"])
    for one in found.links:
        wait = one["sojourn_mean_s"]
        mean = "" if wait is None else f"; mean sojourn {1e3 * wait:.3g} ms"
        qdisc = one["qdisc"] or setup.label.removeprefix(f"{one['link']}=")
        printing.say(
            f"{one['link']}, {qdisc}: {one['delivered']} packets delivered, {one['dropped']} dropped, "
            f"{one['marked']} marked{mean}"
        )
    printing.say(trust.line(found.trust))
    if found.trust["verdict"] == "void":
        raise SojournError(f"void: {trust.fault(found.trust)}")
    if found.is_stopped or (command is not None and found.code in _INTERRUPTED):
        raise interrupted
    if command is not None and found.code:
        raise SojournError(f"--command: ended {_how(found.code)}")


#: Codes of a command that Ctrl-C has ended, its own and a shell's.
_INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)


def _how(code: int) -> str:
    if code >= 0:
        return f"with code {code}"
    names = {number.value: number.name for number in signal.Signals}
    return f"by {names.get(-code, f'signal {-code}')}"


def _single(scenario: Scenario, qdiscs: Sequence[str]) -> Setup:
    """The scenario under the one qdisc of the options. Raises `InputError`."""
    from sojourn.resolve import under_qdisc
    from sojourn.simulate.plan import check_plant

    if len(qdiscs) > 1:
        raise InputError("--qdisc: is given several times; expected one with --shell")
    setup = under_qdisc(scenario, qdiscs[0] if qdiscs else None, "--qdisc", scheduled=True)
    try:
        check_plant(setup.scenario, "live")
    except InputError as error:
        raise InputError(*(f"--shell: {line}" for line in error.lines)) from None
    return setup


def _given(given: Sequence[str]) -> list[list[str]]:
    """The commands of `--server`. Raises `InputError`."""
    own = [_words("--server", text) for text in given]
    for one in own:
        if not shutil.which(one[0]):
            raise InputError(f'--server: "{one[0]}" is not installed; expected a command')
    return own


def _command(text: str | None) -> list[str] | None:
    if text is not None:
        _words("--command", text)
    return None if text is None else ["/bin/sh", "-c", text]


def _words(option: str, text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f'{option}: "{text}" is not a command ({error})') from None
    if not words:
        raise InputError(f"{option}: is empty; expected a command")
    return words
