"""Arrival traces: packets that come at their times whatever happens to them, for the kernel and for ours.

A trace is eight flows that share a load: two phases alternate, one above the rate of the link and one below.
The gaps between packets are uniform between 0 and twice their mean. The same packets on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: Rate of the link, bit/s.
RATE_BPS = 10_000_000
NOT_ECT, ECT_0 = 0, 2
#: Shares of the flows in the load, in sixteenths.
SHARES = (1, 1, 1, 1, 2, 2, 4, 4)


class Packet(NamedTuple):
    """An arrival: its time (ns), size with the Ethernet header (B), flow and ECN field."""

    time_ns: int
    size: int
    flow: int
    ecn: int


@dataclass(frozen=True)
class Traffic:
    """Parameters of a trace."""

    seed: int
    duration_s: float
    #: Loads of the link, each with its time (s), in turn.
    phases: Sequence[tuple[float, float]]
    #: Sizes of packets that are equally likely, bytes.
    sizes: Sequence[int] = (1000,)
    #: ECN fields of the flows, in turn.
    ecn: Sequence[int] = (NOT_ECT,)

    def packets(self) -> Iterator[Packet]:
        """The trace."""
        # Of `random`, only random() is the same in every version of Python.
        draw = random.Random(self.seed).random
        mean_ns = sum(self.sizes) / len(self.sizes) * 8 / RATE_BPS * 1e9
        flows = [flow for flow, share in enumerate(SHARES) for _ in range(share)]
        now = 0
        while now < self.duration_s * 1e9:
            size = self.sizes[int(draw() * len(self.sizes))]
            flow = flows[int(draw() * len(flows))]
            yield Packet(now, size, flow, self.ecn[flow % len(self.ecn)])
            now += int(draw() * 2 * mean_ns / self.load(now))

    def load(self, now_ns: int) -> float:
        """Load at a time."""
        left = now_ns / 1e9 % sum(time for _, time in self.phases)
        for load, time in self.phases:
            if left < time:
                return load
            left -= time
        return self.phases[-1][0]


TRACES = {
    "drops": Traffic(seed=1, duration_s=12, phases=[(1.15, 2), (0.85, 1)]),
    "marks": Traffic(seed=2, duration_s=16, phases=[(1.06, 1), (0.85, 0.6)], ecn=(ECT_0,)),
    "sizes": Traffic(
        seed=3, duration_s=12, phases=[(1.12, 2), (0.8, 1)], sizes=(250, 750, 1500), ecn=(NOT_ECT, ECT_0)
    ),
}


def recorded(packets: Sequence[Packet]) -> str:
    """A trace as lines for the replay in the kernel."""
    return "".join(f"{time} {size} {flow} {ecn}\n" for time, size, flow, ecn in packets)
