"""The outcome of a replay: what became of each packet, and the metrics that are compared."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from .arrivals import Packet

#: ECN field of a marked packet.
CE = 3
METRICS = ("drops", "marks", "spaced_marks", "sojourn_p50_s", "sojourn_p95_s", "sojourn_p99_s")
#: Fewest arrivals from one mark of PIE to the next: it marks while p is below 0.1, and lets packets pass
#: until p has summed up to 0.85 (RFC 8033, sections 5.1 and 5.4).
SPACE = 9


class Fate(NamedTuple):
    """A packet's arrival and departure (ns; None: dropped), and the ECN field that it left with."""

    arrived_ns: int
    departed_ns: int | None
    ecn: int | None


@dataclass
class Record:
    """One case as the VM has recorded it."""

    law: str
    trace: str
    fates: list[Fate] = field(default_factory=list)
    #: Lines of `tc -s -d qdisc show` behind the run.
    state: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Law and trace."""
        return f"{self.law} {self.trace}"

    def lateness_ns(self, packets: Sequence[Packet]) -> int:
        """The longest time from a packet's time in the trace to its arrival."""
        return max(fate.arrived_ns - packet.time_ns for fate, packet in zip(self.fates, packets, strict=True))

    def reported_drops(self) -> int:
        """Drops that the qdisc itself reports; the bucket in front of it has them, too."""
        found = re.search(r"\(dropped (\d+),", "\n".join(self.state))
        return int(found[1]) if found else -1


def metrics(fates: Sequence[Fate]) -> dict[str, float]:
    """The numbers that are compared; a quantile is the least value that so many do not exceed.

    `spaced_marks` are those that PIE's spacing admits: in Linux a mark does not end a sum that has reached
    8.5, and every packet is marked until one is dropped.
    """
    sojourns = sorted(fate.departed_ns - fate.arrived_ns for fate in fates if fate.departed_ns is not None)
    marks = [number for number, fate in enumerate(fates) if fate.ecn == CE]
    gaps = [marks[0] + SPACE, *(mark - before for before, mark in pairwise(marks))] if marks else []
    numbers: list[float] = [len(fates) - len(sojourns), len(marks), sum(gap >= SPACE for gap in gaps)]
    numbers += [sojourns[math.ceil(part * len(sojourns)) - 1] / 1e9 for part in (0.5, 0.95, 0.99)]
    return dict(zip(METRICS, numbers, strict=True))


def read_records(data: bytes) -> tuple[str, list[Record]]:
    """The VM's kernel and its records, from what it wrote.

    Raises `ValueError` with the line that cannot be read.
    """
    kernel, *lines = gzip.decompress(data).decode().splitlines()
    records: list[Record] = []
    in_state = False
    for line in lines:
        words = line.split()
        if words[:1] == ["case"] and len(words) == 3:
            records.append(Record(words[1], words[2]))
            in_state = False
        elif line == "state":
            in_state = True
        elif line == "end":
            in_state = False
        elif in_state:
            records[-1].state.append(line)
        elif len(words) == 2 and words[1] == "-":
            records[-1].fates.append(Fate(int(words[0]), None, None))
        elif len(words) == 3 and all(word.isdecimal() for word in words):
            records[-1].fates.append(Fate(*map(int, words)))
        else:
            raise ValueError(f"output of the VM: {line}")
    return kernel, records
