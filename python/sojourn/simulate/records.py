"""Records of runs, on request: captures of links.

A record is streamed into a file of its own while its run goes on; a run that does not finish leaves none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn import _core
from sojourn.errors import InputError, refusal
from sojourn.kinds import shown
from sojourn.scenario import Scenario, ScenarioError

#: Kinds of records, with their subject and content.
KINDS = {
    "pcap": ("LINK", "packets that the link sends, and those that its other direction brings"),
    "arrivals": ("LINK", "the same in front of its qdisc, dropped packets too"),
}
#: Suffixes of the files of a run; the rest of the name is subject, qdisc and seed.
PATTERNS = ("*.seed[0-9]*.pcapng",)
#: Longest part of a file's name for a qdisc or a subject, bytes.
_LONGEST = 60

#: A record of a run: kind, subject, path.
Record = tuple[str, str, Path]


@dataclass(frozen=True)
class Request:
    """A record to make of each run: its kind, and its subject."""

    kind: str
    subject: str

    @classmethod
    def read(cls, text: str) -> Request:
        """Read a text such as ``"pcap=bottleneck"``. Raises `InputError`.

        >>> Request.read("pcap=bottleneck")
        Request(kind='pcap', subject='bottleneck')
        """
        kind, equals, subject = (part.strip() for part in text.partition("="))
        forms = ", ".join(f"{name}={subject}" for name, (subject, _) in KINDS.items())
        if kind not in KINDS:
            raise InputError(f'"{text}" is no record; expected {forms}')
        if not equals or not subject:
            raise InputError(f'"{text}" names no {KINDS[kind][0]}; expected {kind}={KINDS[kind][0]}')
        return cls(kind, subject)


@dataclass(frozen=True)
class Recording:
    """Records of each run, and the folder for their files."""

    requests: tuple[Request, ...]
    folder: Path

    def of_run(self, qdisc: str, seed: int) -> tuple[Record, ...]:
        """The records of a run under the qdisc of this name among `names_of`.

        >>> one = Recording((Request("pcap", "bottleneck"),), Path("out"))
        >>> [path.name for _, _, path in one.of_run("pi", 7)]
        ['bottleneck.pi.seed7.pcapng']
        """
        return tuple(
            (one.kind, one.subject, self.folder / f"{_file(one)}.{qdisc}.seed{seed}.pcapng")
            for one in self.requests
        )

    @staticmethod
    def discard(records: Iterable[Record]) -> None:
        """Remove the files of a run that did not finish."""
        for *_, path in records:
            with suppress(OSError):
                os.unlink(path)


def _file(request: Request) -> str:
    """Begin of the name of a record's file."""
    return _name(request.subject) if request.kind == "pcap" else f"{_name(request.subject)}.{request.kind}"


def _name(text: str) -> str:
    """A text as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_.+-]+", "-", text).strip("-.")[:_LONGEST] or "unnamed"


def names_of(labels: Sequence[str]) -> list[str]:
    """Names of qdiscs in names of files, each once.

    >>> names_of(["pi:target=100 packets", "pi:target=100_packets", "pi:target=100-packets"])
    ['pi-target-100-packets', 'pi-target-100_packets', 'pi-target-100-packets-2']
    """
    names = [_name(label) for label in labels]
    counts = [names[:place].count(name) for place, name in enumerate(names)]
    return [f"{name}-{count + 1}" if count else name for name, count in zip(names, counts, strict=True)]


def requests_of(given: Sequence[str] | str, option: str) -> tuple[Request, ...]:
    """Read the requests, each once; `option` precedes errors. Raises `InputError`."""
    texts = [given] if isinstance(given, str) else given
    found: list[Request] = []
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f'{option}: {shown(text)} is no text; expected one such as "pcap=LINK"')
        try:
            request = Request.read(text)
        except InputError as error:
            raise InputError(*(f"{option}: {line}" for line in error.lines)) from None
        if any((one.kind, _file(one)) == (request.kind, _file(request)) for one in found):
            raise InputError(f'{option}: "{text}" is given twice; expected each record once')
        found.append(request)
    return tuple(found)


def check(requests: Sequence[Request], scenario: Scenario, plants: Sequence[str], option: str) -> None:
    """Raise `InputError` for what the scenario does not have, and without a plant that has packets."""
    if requests and "packet" not in plants:
        raise InputError(f"{option}: the fluid plant has no packets; expected the plant packet, too")
    try:
        _core.check_records(scenario, [(one.kind, one.subject) for one in requests])
    except ScenarioError as error:
        raise refusal(error, before=f"{option} ") from None
