"""FQ-CoDel and FQ-PIE, from RFC 8290 section 4 alone, over the laws of codel.py and pie.py.

The queue of a packet is its flow: hashing is not compared. Points that the RFC leaves open follow the
documentation of the qdisc: a queue with credits of 0 has none; of queues with equally many bytes the one
that was used first loses; an overflow drops half of that queue's packets, rounded up, at most a batch,
without a verdict of its law, which counts each as one that its buffer refused.
"""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from typing import Any

from codel import CoDelQueue
from pie import Pie, nanoseconds, size


class FairQueueing:
    """Section 4: credits, the lists of new and of old queues, and the drop from the fattest.

    Each decision is a method of its own, so that a mutant can override one.
    """

    def __init__(self, params: dict[str, Any]) -> None:
        self.quantum = size(params.get("quantum", "1514 B"))
        self.limit = params.get("limit", 10240)
        self.memory = size(params.get("memory", "33554432 B"))
        self.batch = params.get("batch", 64)
        threshold = params.get("ce_threshold")
        self.ce_threshold = None if threshold is None else nanoseconds(threshold)
        self.queues: dict[int, Any] = {}
        self.credits: dict[int, int] = {}
        self.new: deque[int] = deque()
        self.old: deque[int] = deque()
        self.dropped: list[int] = []
        self.marked: list[int] = []

    # ---- Section 4.1: enqueue

    def enqueue(self, now: int, packet: dict[str, Any]) -> None:
        self.dropped, self.marked = [], []
        flow = packet["flow"]
        queue = self.queues.get(flow)
        if queue is None:
            queue = self.queues[flow] = self.queue_of_one_flow()
        if not self.admitted(queue, packet):
            return
        queue.append(now, packet)
        if flow not in self.new and flow not in self.old:
            self.activated(flow)
        while self.exceeds():
            self.drop_from(self.fattest())

    def activated(self, flow: int) -> None:
        self.credits[flow] = self.quantum
        self.new.append(flow)

    def exceeds(self) -> bool:
        return self.packets() > self.limit or self.bytes() > self.memory

    def fattest(self) -> int:
        return max(self.queues, key=lambda flow: self.queues[flow].bytes)

    def drop_from(self, flow: int) -> None:
        queue = self.queues[flow]
        for _ in range(max(self.count_of(len(queue.packets)), 1)):
            self.dropped.append(queue.pop_head()["id"])
            queue.refused()

    def count_of(self, held: int) -> int:
        return min(self.batch, (held + 1) // 2)

    def packets(self) -> int:
        return sum(len(queue.packets) for queue in self.queues.values())

    def bytes(self) -> int:
        return sum(queue.bytes for queue in self.queues.values())

    # ---- Section 4.2: dequeue

    def dequeue(self, now: int) -> int | None:
        self.dropped, self.marked = [], []
        while self.new or self.old:
            is_new = self.serves_new()
            flow = (self.new if is_new else self.old)[0]
            if self.credits[flow] <= 0:
                self.credits[flow] += self.quantum
                self.recharged(flow, is_new=is_new)
                continue
            packet = self.taken(now, self.queues[flow])
            if packet is None:
                self.found_empty(flow, is_new=is_new)
                continue
            self.spend(flow, packet["len"])
            return packet["id"]
        return None

    def serves_new(self) -> bool:
        return bool(self.new)

    def recharged(self, flow: int, *, is_new: bool) -> None:
        (self.new if is_new else self.old).popleft()
        self.old.append(flow)

    def found_empty(self, flow: int, *, is_new: bool) -> None:
        if is_new:
            self.new.popleft()
            self.old.append(flow)
        else:
            self.old.popleft()

    def spend(self, flow: int, length: int) -> None:
        self.credits[flow] -= length

    def taken(self, now: int, queue: Any) -> dict[str, Any] | None:
        dropped, packet, is_marked = queue.take(now)
        self.dropped += [packet["id"] for packet in dropped]
        if packet is None:
            return None
        if is_marked or (self.may_be_marked(packet) and self.is_late(now - packet["tstamp"])):
            self.marked.append(packet["id"])
        return packet

    def may_be_marked(self, packet: dict[str, Any]) -> bool:
        return bool(packet["ecn"] != "not_ect")

    def is_late(self, sojourn: int) -> bool:
        return self.ce_threshold is not None and sojourn > self.ce_threshold

    # ---- Laws

    def queue_of_one_flow(self) -> Any:
        raise NotImplementedError

    def admitted(self, queue: Any, packet: dict[str, Any]) -> bool:  # noqa: ARG002
        return True

    def update(self, now: int) -> None:
        pass


class OfCoDel:
    """A queue under RFC 8289's CoDel, whose dequeue may drop several packets."""

    def __init__(self, params: dict[str, Any]) -> None:
        self.codel = CoDelQueue(params)

    @property
    def packets(self) -> deque[dict[str, Any]]:
        return self.codel.queue

    @property
    def bytes(self) -> int:
        return self.codel.bytes

    def append(self, now: int, packet: dict[str, Any]) -> None:
        self.codel.enqueue(packet | {"tstamp": now})

    def pop_head(self) -> dict[str, Any]:
        packet = self.codel.queue.popleft()
        self.codel.bytes -= packet["len"]
        return packet

    def refused(self) -> None:
        pass

    def take(self, now: int) -> tuple[list[dict[str, Any]], dict[str, Any] | None, bool]:
        held = list(self.codel.queue)
        fates = self.codel.dequeue(now)
        if not fates:
            return [], None, False
        if fates[-1] == "drop":
            return held[: len(fates)], None, False
        sent = len(fates) - 1
        return held[:sent], held[sent], fates[-1] == "mark"


class FqCoDel(FairQueueing):
    """Section 4 over CoDel."""

    def __init__(self, params: dict[str, Any]) -> None:
        super().__init__(params)
        self.law = {
            key.removeprefix("law."): value for key, value in params.items() if key.startswith("law.")
        }

    def queue_of_one_flow(self) -> OfCoDel:
        return OfCoDel(self.law)


class OfPie:
    """A queue under RFC 8033's PIE, which judges arrivals; a mutant may have another `law`."""

    law = Pie

    def __init__(self, params: dict[str, Any], link: dict[str, Any]) -> None:
        self.pie = self.law(params, link)
        self.packets: deque[dict[str, Any]] = deque()
        self.bytes = 0

    def append(self, now: int, packet: dict[str, Any]) -> None:
        self.packets.append(packet | {"tstamp": now})
        self.bytes += packet["len"]

    def pop_head(self) -> dict[str, Any]:
        packet = self.packets.popleft()
        self.bytes -= packet["len"]
        return packet

    def refused(self) -> None:
        self.pie.accu_prob = 0.0

    def take(self, now: int) -> tuple[list[dict[str, Any]], dict[str, Any] | None, bool]:
        if not self.packets:
            self.pie.on_idle()
            return [], None, False
        packet = self.pop_head()
        departure = {"now_ns": now, "len": packet["len"], "backlog_bytes": self.bytes}
        self.pie.on_departure(departure | {"sojourn_ns": now - packet["tstamp"]})
        return [], packet, False


class FqPie(FairQueueing):
    """Section 4 over PIE: a queue that has no packet yet has had every update since the start."""

    queue = OfPie

    def __init__(self, params: dict[str, Any], link: dict[str, Any]) -> None:
        super().__init__(params)
        law = {key.removeprefix("law."): value for key, value in params.items() if key.startswith("law.")}
        self.unused = self.queue(law, link)

    def queue_of_one_flow(self) -> OfPie:
        return deepcopy(self.unused)

    def admitted(self, queue: Any, packet: dict[str, Any]) -> bool:
        call = packet | {"backlog_bytes": queue.bytes, "u": packet["u"][0]}
        verdict = queue.pie.on_arrival(call, False)
        if verdict == "drop":
            self.dropped.append(packet["id"])
        elif verdict == "mark":
            self.marked.append(packet["id"])
            packet["ecn"] = "ce"
        return verdict != "drop"

    def update(self, now: int) -> None:
        for queue in [self.unused, *self.queues.values()]:
            queue.pie.on_update(now, queue.bytes)
