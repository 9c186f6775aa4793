"""Our qdiscs under the same arrivals, behind the same token bucket."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sojourn.conform import TracedQdisc

from .arrivals import RATE_BPS, Packet
from .cases import BURST, Case
from .outcome import Fate

ECN = ("not_ect", "ect1", "ect0", "ce")
#: The limit is the kernel's; packets are those of most traces.
LINK = {"rate_bps": RATE_BPS, "packet_bytes": 1000, "limit_packets": 10_000}


def replay(case: Case, packets: Sequence[Packet], seed: int) -> list[Fate]:
    """What becomes of each packet."""
    qdisc = TracedQdisc({"qdisc": case.spec, "link": LINK, "seed": seed})
    return HOSTS[case.law](qdisc, packets).run()


class Stepped(Protocol):
    """A qdisc that is called step by step, as `TracedQdisc` is."""

    def answer(self, call: Mapping[str, Any], /) -> dict[str, Any]:
        """Make one call."""


class Shaped:
    """A qdisc that keeps the rate itself."""

    def __init__(self, qdisc: Stepped, packets: Sequence[Packet]) -> None:
        self.qdisc, self.packets = qdisc, packets
        self.fates = [Fate(packet.time_ns, None, None) for packet in packets]
        #: Time at which a packet may leave; None: none waits.
        self.ready_ns: int | None = None
        self.update_ns: int | None = None

    def run(self) -> list[Fate]:
        """Every arrival, then the rest of the queue."""
        for number, packet in enumerate(self.packets):
            self.advance(packet.time_ns)
            self.enqueue(number, packet)
            self.dequeue(packet.time_ns)
        while self.ready_ns is not None:
            self.advance(self.ready_ns)
        return self.fates

    def advance(self, until_ns: int) -> None:
        """Departures and updates up to a time, updates first."""
        while True:
            times = [
                time for time in (self.update_ns, self.ready_ns) if time is not None and time <= until_ns
            ]
            if not times:
                return
            now = min(times)
            if now == self.update_ns:
                self.call({"call": "update", "now_ns": now})
            else:
                self.ready_ns = None
                self.dequeue(now)

    def enqueue(self, number: int, packet: Packet) -> None:
        """An arrival."""
        what = {"id": number, "len": packet.size, "ecn": ECN[packet.ecn], "flow": packet.flow}
        self.call({"call": "enqueue", "now_ns": packet.time_ns, **what})

    def dequeue(self, now_ns: int) -> None:
        """Every packet that may leave now."""
        while True:
            answer = self.call({"call": "dequeue", "now_ns": now_ns})
            if answer["sent"] is None:
                waits = answer["packets"] > 0 and answer["not_before_ns"] > now_ns
                self.ready_ns = answer["not_before_ns"] if waits else None
                return
            self.leave(now_ns, answer["sent"], answer["ecn"])

    def leave(self, now_ns: int, number: int, ecn: str) -> None:
        """A departure."""
        self.fates[number] = Fate(self.packets[number].time_ns, now_ns, ECN.index(ecn))

    def call(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """A call of the qdisc."""
        answer = self.qdisc.answer(call)
        self.update_ns = answer["update_ns"]
        return answer


class Tokens:
    """A token bucket; what it holds as time on the wire, ns."""

    def __init__(self) -> None:
        self.held = self.most = BURST * 8e9 / RATE_BPS
        self.since_ns = 0

    def take(self, now_ns: int, size: int) -> int:
        """Takes a packet's tokens, or none; returns the time until there are enough, ns."""
        left = min(self.held + now_ns - self.since_ns, self.most) - size * 8e9 / RATE_BPS
        if left < 0:
            return math.ceil(-left)
        self.held, self.since_ns = left, now_ns
        return 0


class Behind(Shaped):
    """A qdisc behind a token bucket (tc-tbf(8)), which takes a packet out before there are tokens for it.

    It holds the packet meanwhile: that is the one on the wire of a link.
    """

    def __init__(self, qdisc: Stepped, packets: Sequence[Packet]) -> None:
        super().__init__(qdisc, packets)
        self.tokens = Tokens()
        #: Packet that the bucket holds, with its ECN field.
        self.held: tuple[int, str] | None = None

    def dequeue(self, now_ns: int) -> None:
        """Every packet for which there are tokens."""
        while (number := self.head(now_ns)) is not None:
            wait_ns = self.tokens.take(now_ns, self.packets[number].size)
            if wait_ns > 0:
                self.ready_ns = now_ns + wait_ns
                return
            self.send(now_ns)

    def head(self, now_ns: int) -> int | None:
        """The next packet; None: the qdisc is empty."""
        if self.held is None:
            answer = self.call({"call": "dequeue", "now_ns": now_ns})
            self.held = None if answer["sent"] is None else (answer["sent"], answer["ecn"])
        return self.held and self.held[0]

    def send(self, now_ns: int) -> None:
        """Sends the next packet."""
        assert self.held is not None
        self.leave(now_ns, *self.held)
        self.held = None


class Within(Behind):
    """A qdisc behind a token bucket that looks at its head: the packet on the wire of a link is in the queue.

    The bucket takes nothing from an empty queue. Arrivals alone are dropped.
    """

    def __init__(self, qdisc: Stepped, packets: Sequence[Packet]) -> None:
        super().__init__(qdisc, packets)
        self.waiting: deque[int] = deque()

    def enqueue(self, number: int, packet: Packet) -> None:
        """An arrival."""
        self.waiting.append(number)
        super().enqueue(number, packet)

    def call(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """A call of the qdisc, which may drop the packet that arrives."""
        answer = super().call(call)
        if answer["dropped"]:
            self.waiting.pop()
        return answer

    def head(self, now_ns: int) -> int | None:  # noqa: ARG002 (taking a packet needs the time, looking does not)
        """The next packet; None: the qdisc is empty."""
        return self.waiting[0] if self.waiting else None

    def send(self, now_ns: int) -> None:
        """Sends the next packet."""
        answer = self.call({"call": "dequeue", "now_ns": now_ns})
        assert answer["sent"] == self.waiting.popleft()
        self.leave(now_ns, answer["sent"], answer["ecn"])


#: The place of the packet on the wire, by law: in the queue of red (docs/deviations/linux_qdiscs.md).
HOSTS: Mapping[str, type[Shaped]] = {
    "red": Within,
    "pie": Behind,
    "codel": Behind,
    "fq_codel": Behind,
    "cake": Shaped,
}
