"""CAKE's tins, hosts and flows, over the clock of cake_shaper.py and the law of cobalt.py.

From Piece of CAKE (arXiv 1804.07617), section III, and tc-cake(8), "Priority queue parameters" and "Flow
isolation parameters". Where both are silent, by what the authors say of their code: T. Høiland-Jørgensen,
"sch_cake: Add DiffServ handling" and "sch_cake: Add ingress mode", netdev 2018; and by sch_cake.c itself
(BSD-3-Clause OR GPL-2.0, under the former).

The queue of a packet is its flow, or what is isolated instead: hashing is not compared. Points left open
follow the documentation of the qdisc: an empty new queue becomes the last of the old ones, as in RFC 8290;
a flow is load of its hosts from the end of its first turn until it leaves the rounds; credits of 0 are
none; of queues with equally many bytes the one that was used first loses; the time of a packet at the rate
of its tin is whole nanoseconds.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cake_shaper import Shaper
from cobalt import CobaltQueue

Packet = dict[str, Any]

#: Codepoints by name: RFC 2474, 2597, 3246, 5865 and 8622; TOSn has the bits n of RFC 1349.
CODEPOINTS = (
    {f"CS{number}": 8 * number for number in range(8)}
    | {f"AF{number}{drop}": 8 * number + 2 * drop for number in (1, 2, 3, 4) for drop in (1, 2, 3)}
    | {"LE": 1, "TOS2": 2, "TOS4": 4, "VA": 44, "EF": 46}
)
#: Name of a tin, its threshold as a part of the rate, and its codepoints; the last one has most priority.
BEST_EFFORT = ("best effort", Fraction(1), "")
BULK = ("bulk", Fraction(1, 16), "CS1 LE")
SERVICE_CLASSES = (
    "LE",
    "CS1 AF11 AF12 AF13 TOS2",
    "",
    "AF41 AF42 AF43 AF31 AF32 AF33 CS3",
    "AF21 AF22 AF23 TOS4",
    "CS2",
    "EF VA CS5 CS4",
    "CS6 CS7",
)
TINS: dict[str, list[tuple[Any, Fraction, str]]] = {
    "besteffort": [BEST_EFFORT],
    "diffserv3": [BEST_EFFORT, BULK, ("voice", Fraction(1, 4), "CS7 CS6 EF VA TOS4")],
    "diffserv4": [
        BEST_EFFORT,
        BULK,
        ("video", Fraction(1, 2), "AF41 AF42 AF43 AF31 AF32 AF33 CS3 AF21 AF22 AF23 CS2 TOS4"),
        ("voice", Fraction(1, 4), "CS7 CS6 EF VA CS5 CS4"),
    ],
    "precedence": [
        (number, Fraction(7, 8) ** number, " ".join(map(str, range(8 * number, 8 * number + 8))))
        for number in range(8)
    ],
    "diffserv8": [(number, Fraction(7, 8) ** number, names) for number, names in enumerate(SERVICE_CLASSES)],
}
#: The order of the tins' numbers, which is that of rounds without a shaper, where it is not that of priority.
ROUNDS = {"diffserv3": (1, 0, 2), "diffserv4": (1, 0, 2, 3)}
#: The tin of codepoints that no tin names.
OTHERS = {"diffserv8": 2}
#: Sides whose flows share turns: senders are 0, receivers 1.
SIDES = {"dual_srchost": (0,), "dual_dsthost": (1,), "triple_isolate": (0, 1)}
MTU = 1514


@dataclass
class Tin:
    """Flows under one threshold."""

    #: Bytes per nanosecond up to which it has priority; 0: there is no shaper.
    rate: Fraction
    #: Bytes of a flow's turn, and of the tin's own.
    quantum: Fraction
    turn: int
    law: dict[str, Any]
    next: int = 0
    credits: int = 0
    packets: int = 0
    new: deque[Flow] = field(default_factory=deque)
    old: deque[Flow] = field(default_factory=deque)
    #: Flows that are load of each sender, and of each receiver.
    loads: tuple[Counter[int], Counter[int]] = field(default_factory=lambda: (Counter(), Counter()))


@dataclass(eq=False)
class Flow:
    """A queue; `state` is idle, sparse (it has not used up a turn yet) or bulk."""

    tin: Tin
    cobalt: CobaltQueue
    hosts: tuple[int, int]
    credits: int = 0
    state: str = "idle"
    bytes: int = 0


class Cake:
    """Each decision is a method of its own, so that a mutant can override one."""

    def __init__(
        self, params: dict[str, Any], flows: list[dict[str, int]], framing: tuple[int, int, str]
    ) -> None:
        self.mode, self.isolation = params["diffserv"], params["isolation"]
        self.ingress, self.memory = params["ingress"], params["memlimit"]
        self.flows, self.rtt = flows, params["rtt_ns"]
        self.shaper = Shaper(params["bandwidth"] or 1, *framing)
        self.is_shaped = params["bandwidth"] is not None
        rate = self.shaper.rate if self.is_shaped else Fraction(0)
        self.tins = [self.tin(rate, share) for _, share, _ in self.thresholds()]
        self.rounds = [self.tins[number] for number in ROUNDS.get(self.mode, range(len(self.tins)))]
        self.serving = 0
        self.queues: dict[tuple[int, Any], Flow] = {}
        self.dropped: list[int] = []
        self.marked: list[int] = []

    # ---- Tins

    def thresholds(self) -> list[tuple[Any, Fraction, str]]:
        return TINS[self.mode]

    def tin(self, rate: Fraction, share: Fraction) -> Tin:
        own = rate * share
        return Tin(own, self.quantum(own), int(1024 * share), self.law(own))

    def tin_of(self, dscp: int) -> int:
        for number, (_, _, names) in enumerate(self.thresholds()):
            if dscp in [CODEPOINTS[name] if name in CODEPOINTS else int(name) for name in names.split()]:
                return number
        return OTHERS.get(self.mode, 0)

    def selected(self, now: int) -> Tin | None:
        waiting = [tin for tin in self.by_priority() if tin.packets]
        if not waiting:
            return None
        if not self.is_shaped:
            return self.in_rounds()
        below = [tin for tin in waiting if self.is_below(tin, now)]
        return below[0] if below else self.above(waiting)

    def by_priority(self) -> list[Tin]:
        return self.tins[::-1]

    def is_below(self, tin: Tin, now: int) -> bool:
        return tin.next <= now

    def above(self, waiting: list[Tin]) -> Tin:
        return min(waiting, key=lambda tin: tin.next)

    def resumed(self, tin: Tin, now: int) -> None:
        tin.next = max(tin.next, now)

    def advanced(self, tin: Tin, now: int, length: int) -> None:
        own = self.time_of(tin, length)
        tin.next = tin.next + own if tin.next < now else max(tin.next, now + own)

    def time_of(self, tin: Tin, length: int) -> int:
        return int(Fraction(self.shaper.size(length)) / tin.rate + Fraction(1, 2))

    def in_rounds(self) -> Tin:
        while not (self.rounds[self.serving].packets and self.rounds[self.serving].credits > 0):
            self.passed(self.rounds[self.serving])
            self.serving = (self.serving + 1) % len(self.rounds)
        return self.rounds[self.serving]

    def passed(self, tin: Tin) -> None:
        if tin.credits <= 0:
            tin.credits += tin.turn

    # ---- Hosts and flows

    def queue_of(self, packet: Packet) -> Any:
        flow = self.flows[packet["flow"]]
        one = {
            "flowblind": None,
            "srchost": flow["from_host"],
            "dsthost": flow["to_host"],
            "hosts": (flow["from_host"], flow["to_host"]),
        }
        return one.get(self.isolation, packet["flow"])

    def quantum(self, rate: Fraction) -> Fraction:
        of_rate = rate * 10**9 / 4096
        return min(max(of_rate, Fraction(300)), Fraction(MTU)) if rate else Fraction(MTU)

    def turn(self, flow: Flow) -> int:
        turn = flow.tin.quantum / max(1, self.load(flow))
        assert turn.denominator == 1, "a turn that is rounded at random"
        return int(turn)

    def load(self, flow: Flow) -> int:
        return max(
            (flow.tin.loads[side][flow.hosts[side]] for side in SIDES.get(self.isolation, ())), default=0
        )

    def used_up(self, flow: Flow) -> None:
        """A turn ends."""
        if flow.state == "sparse":
            self.is_bulk(flow)

    def is_bulk(self, flow: Flow) -> None:
        flow.state = "bulk"
        self.count(flow, 1)

    def count(self, flow: Flow, by: int) -> None:
        for load, host in zip(flow.tin.loads, flow.hosts, strict=True):
            load[host] += by

    # ---- Arrivals

    def enqueue(self, now: int, packet: Packet) -> None:
        tag = self.flows[packet["flow"]]
        number = self.tin_of(tag["dscp"])
        tin, hosts = self.tins[number], (tag["from_host"], tag["to_host"])
        key = (number, self.queue_of(packet))
        if key not in self.queues:
            self.queues[key] = Flow(tin, CobaltQueue(tin.law, float("inf")), hosts)
            self.queues[key].cobalt.mtu_time = self.mtu_time(tin)
        flow = self.queues[key]
        flow.cobalt.arrive(packet, fits=True)
        flow.bytes += packet["len"]
        if not tin.packets:
            self.resumed(tin, now)
        tin.packets += 1
        self.rehosted(flow, hosts)
        if flow.state == "idle":
            self.becomes_active(flow)
        while sum(flow.bytes for flow in self.queues.values()) > self.memory:
            self.drop_from(now, self.fattest())

    def becomes_active(self, flow: Flow) -> None:
        flow.state, flow.credits = "sparse", self.turn(flow)
        flow.tin.new.append(flow)

    def rehosted(self, flow: Flow, hosts: tuple[int, int]) -> None:
        if flow.state == "bulk":
            self.count(flow, -1)
        flow.hosts = hosts
        if flow.state == "bulk":
            self.count(flow, 1)

    def fattest(self) -> Flow:
        return max(self.queues.values(), key=lambda flow: flow.bytes)

    def drop_from(self, now: int, flow: Flow) -> None:
        packet = flow.cobalt.queue.popleft()
        flow.cobalt.blue.overflow(now)
        flow.cobalt.overflow(now)
        self.left(flow, packet)
        self.was_dropped(now, flow.tin, packet)

    def was_dropped(self, now: int, tin: Tin, packet: Packet) -> None:
        self.dropped.append(packet["id"])
        if self.ingress:
            self.shaper.send(now, packet["len"])
            self.drop_in_tin(now, tin, packet["len"])

    def drop_in_tin(self, now: int, tin: Tin, length: int) -> None:
        self.advanced(tin, now, length)

    def left(self, flow: Flow, packet: Packet) -> None:
        flow.bytes -= packet["len"]
        flow.tin.packets -= 1

    # ---- Departures

    def dequeue(self, now: int, draws: list[list[float]]) -> int | None:
        rest = iter(draws)
        while (tin := self.selected(now)) is not None:
            flow = self.first(tin)
            packet = self.taken(now, flow, rest)
            if packet is None:
                self.found_empty(tin, flow)
                continue
            self.spend(flow, packet["len"])
            if self.is_shaped:
                self.advanced(tin, now, packet["len"])
                self.shaper.send(now, packet["len"])
            return int(packet["id"])
        return None

    def first(self, tin: Tin) -> Flow:
        while True:
            rotation = tin.new or tin.old
            flow = rotation[0]
            if flow.credits > 0:
                return flow
            rotation.popleft()
            self.used_up(flow)
            tin.old.append(flow)
            flow.credits += self.turn(flow)

    def taken(self, now: int, flow: Flow, draws: Iterator[list[float]]) -> Packet | None:
        while flow.cobalt.queue:
            packet = flow.cobalt.queue[0]
            verdict = flow.cobalt.leave(now, next(draws, [1.0])[0])
            self.left(flow, packet)
            if verdict != "drop":
                self.marked += [packet["id"]] if verdict == "mark" else []
                return packet
            self.was_dropped(now, flow.tin, packet)
        flow.cobalt.idle(now)
        return None

    def found_empty(self, tin: Tin, flow: Flow) -> None:
        if tin.new and tin.new[0] is flow:
            tin.old.append(tin.new.popleft())
            return
        tin.old.popleft()
        if flow.state == "bulk":
            self.count(flow, -1)
        flow.state = "idle"

    def spend(self, flow: Flow, length: int) -> None:
        size = self.spent(length)
        flow.credits -= size
        flow.tin.credits -= size

    def spent(self, length: int) -> int:
        return self.shaper.size(length)

    # ---- COBALT

    def law(self, rate: Fraction) -> dict[str, Any]:
        """Target of an MTU and a half at least; interval longer by what the target is."""
        rtt = Fraction(self.rtt)
        target = max(rtt / 20, MTU / rate * 3 / 2 if rate else Fraction(0))
        interval = max(rtt + target - rtt / 20, 2 * target)
        return {"target": f"{rounded(target)} ns", "interval": f"{rounded(interval)} ns"}

    def mtu_time(self, tin: Tin) -> int:
        return rounded(MTU / tin.rate) if tin.rate else 0


def rounded(nanoseconds: Fraction) -> int:
    return int(nanoseconds + Fraction(1, 2))
