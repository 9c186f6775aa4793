"""CoDel, from RFC 8289 section 5 alone: it pulls packets from a queue of its own, as the RFC's does.

A golden trace has single packets; here they are put into a queue when they arrive, and whole dequeues are
compared. Points that the RFC leaves open follow the documentation of the law: an ECN-capable packet is marked
where another would be dropped, and is then the one that leaves; `maxpacket` is the largest packet taken from
the queue so far, at least 512 bytes, unless it is a parameter.
"""

from __future__ import annotations

from collections import deque
from math import sqrt
from typing import Any

MS = 1_000_000
TIMES = {"ns": 1, "us": 1_000, "ms": MS, "s": 1000 * MS}


class CoDelQueue:
    """The RFC's codel_queue_t; times in nanoseconds, None where the RFC writes 0 for "no time set".

    Each decision is a method of its own, so that a mutant can override one.
    """

    def __init__(self, params: dict[str, Any]) -> None:
        self.target = _time(params.get("target", "5 ms"))
        self.interval = _time(params.get("interval", "100 ms"))
        self.ecn = params.get("ecn", True)
        self.newton = params.get("newton", False)
        self.inverse_root = 1.0
        self.fixed_mtu = "mtu" in params
        self.maxpacket = int(params["mtu"].split()[0]) if self.fixed_mtu else 512
        self.queue: deque[dict[str, Any]] = deque()
        self.bytes = 0
        self.first_above_time: int | None = None
        self.drop_next = 0
        self.count = 0
        self.lastcount = 0
        self.dropping = False
        self.fates: list[str] = []

    def enqueue(self, packet: dict[str, Any]) -> None:
        """`packet` has len, ecn and tstamp."""
        self.queue.append(packet)
        self.bytes += packet["len"]

    def dequeue(self, now: int) -> list[str]:
        """Fates of the packets, in order: drops, then the one that leaves; or drops alone."""
        self.fates = []
        packet, ok_to_drop = self.dodequeue(now)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while now >= self.drop_next and self.dropping:
                self.count += 1
                self.step()
                if self.marks(packet):
                    self.drop_next = self.after_a_drop(now)
                    return [*self.fates, "mark"]
                self.fates.append("drop")
                packet, ok_to_drop = self.dodequeue(now)
                if not ok_to_drop:
                    self.dropping = False
                else:
                    self.drop_next = self.after_a_drop(now)
        elif ok_to_drop:
            marked = self.marks(packet)
            if not marked:
                self.fates.append("drop")
                packet, ok_to_drop = self.dodequeue(now)
            self.dropping = True
            self.count = self.count_on_entry(now)
            self.step()
            self.drop_next = self.control_law(now, self.count)
            self.lastcount = self.count
            if marked:
                return [*self.fates, "mark"]
        return self.fates if packet is None else [*self.fates, "pass"]

    def dodequeue(self, now: int) -> tuple[dict[str, Any] | None, bool]:
        if not self.queue:
            self.first_above_time = None
            return None, False
        packet = self.queue.popleft()
        self.bytes -= packet["len"]
        if not self.fixed_mtu:
            self.maxpacket = max(self.maxpacket, packet["len"])
        sojourn_time = now - packet["tstamp"]
        if sojourn_time < self.target or self.holds_hardly_anything():
            self.first_above_time = None
        elif self.first_above_time is None:
            self.first_above_time = now + self.interval
        elif now >= self.first_above_time:
            return packet, True
        return packet, False

    def holds_hardly_anything(self) -> bool:
        return self.bytes <= self.maxpacket

    def count_on_entry(self, now: int) -> int:
        delta = self.count - self.lastcount
        return delta if delta > 1 and now - self.drop_next < 16 * self.interval else 1

    def after_a_drop(self, now: int) -> int:  # noqa: ARG002 (the RFC's does not look at the present)
        return self.control_law(self.drop_next, self.count)

    def step(self) -> None:
        """One step of Newton's method towards 1/sqrt(count), from 1 where the count is 1."""
        x = self.inverse_root
        self.inverse_root = 1.0 if self.count == 1 else x * (3.0 - self.count * x * x) / 2.0

    def control_law(self, t: int, count: int) -> int:
        return t + int(self.interval * self.inverse_root if self.newton else self.interval / sqrt(count))

    def marks(self, packet: dict[str, Any] | None) -> bool:
        return self.ecn and packet is not None and packet["ecn"] != "not_ect"


def verdicts(
    header: dict[str, Any], calls: list[dict[str, Any]], oracle: type[CoDelQueue] = CoDelQueue
) -> list[str]:
    """The whole sequence of verdicts, an entry for each arrival and departure of the trace."""
    codel = oracle(header["params"])
    answers: list[str] = []
    # Verdicts of the present dequeue on packets that come later in the trace.
    pulled: list[str] = []
    for place, call in enumerate(calls):
        if call["call"] == "arrival":
            answers.append("pass")
            overflows = calls[place + 1 : place + 2] and calls[place + 1]["call"] == "overflow"
            if not overflows:
                codel.enqueue({"len": call["len"], "ecn": call["ecn"], "tstamp": call["now_ns"]})
        elif call["call"] == "departure":
            if not pulled:
                pulled = codel.dequeue(call["now_ns"])
            answers.append(pulled.pop(0))
        elif call["call"] == "idle" and not ends_a_dequeue(calls[place - 1]):
            assert codel.dequeue(call["now_ns"]) == []
    return answers


def ends_a_dequeue(before: dict[str, Any]) -> bool:
    """True if an idle call after this one ends a dequeue whose packets were all dropped."""
    return before["call"] == "departure" and before["verdict"] == "drop"


def _time(text: str) -> int:
    number, unit = text.split()
    return round(float(number) * TIMES[unit])
