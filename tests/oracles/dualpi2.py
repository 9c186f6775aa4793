"""The coupled dual queue, from RFC 9332, Appendix A, alone: Figures 2, 3, 5, 7 and 8, line by line.

Points that the text leaves open follow the documentation of the qdisc: room for an arrival is 1500 bytes
or the packet; the delay of the ramp is that of the packet that leaves; credit of the weighted round robin
is in bytes, moved only while both queues have packets and reset in favour of L when the link is idle;
random signals take one draw for L and the larger of two for C.
"""

from __future__ import annotations

from collections import deque
from math import sqrt
from typing import Any

from pie import nanoseconds, size

S = 1e9
MTU = 1500


class Half:
    """One of the two queues, with the count of recur."""

    def __init__(self) -> None:
        self.packets: deque[dict[str, Any]] = deque()
        self.count = 0.0

    def byt(self) -> int:
        return sum(packet["len"] for packet in self.packets)

    def time(self, now: int) -> float:
        return (now - self.packets[0]["tstamp"]) / S if self.packets else 0.0


class DualPi2:
    """Each decision is a method of its own, so that a mutant can override one."""

    def __init__(self, params: dict[str, Any], limit: float) -> None:
        linux = params.get("defaults") == "linux"
        seconds = lambda key, value: nanoseconds(params.get(key, value)) / S  # noqa: E731
        # Figure 2.
        self.k = params.get("coupling", 2.0)
        self.target = seconds("target", "15 ms")
        rtt_max = seconds("rtt_max", "100 ms")
        self.p_cmax = min(1 / self.k**2, 1.0)
        self.period = min(self.target, rtt_max / 3)
        if linux:
            self.period = 0.016
        if "period" in params:
            self.period = nanoseconds(params["period"]) / S
        self.alpha = params.get("alpha", 0.16 if linux else 0.1 * self.period / rtt_max**2)
        self.beta = params.get("beta", 3.2 if linux else 0.3 / rtt_max)
        self.min_th = seconds("min_th", "1 ms" if linux else "800 us")
        self.range = seconds("range", "0 us" if linux else "400 us")
        self.th_len = params.get("th_len", 0 if linux else 1)
        self.p_lmax = 1.0
        self.share = params.get("classic_share", 0.1 if linux else 1 / 16)
        self.scheduler = params.get("scheduler", "wrr")
        self.tshift = seconds("tshift", "50 ms")
        self.drops = params.get("overload", "drop") == "drop"
        self.random = params.get("signals", "random" if linux else "recur") == "random"
        self.bypass = size(params.get("bypass", "3000 B" if linux else "0 B"))
        self.limit = min(limit, params.get("limit", 10_000))
        self.lq, self.cq = Half(), Half()
        self.p = self.prevq = self.p_cl = self.p_c = 0.0
        self.credit = 0.0
        self.dropped: list[int] = []
        self.marked: list[int] = []

    # ---- Figure 3.

    def enqueue(self, now: int, packet: dict[str, Any]) -> None:
        self.dropped, self.marked = [], []
        if self.is_full():
            self.dropped.append(packet["id"])
            return
        queue = self.lq if self.is_l4s(packet) else self.cq
        queue.packets.append(packet | {"tstamp": now})

    def is_full(self) -> bool:
        return len(self.lq.packets) + len(self.cq.packets) >= self.limit

    def is_l4s(self, packet: dict[str, Any]) -> bool:
        return packet["ecn"] in ("ect1", "ce")

    # ---- Figure 7.

    def dequeue(self, now: int, u: list[list[float]]) -> int | None:
        self.dropped, self.marked = [], []
        draws = iter(u)
        while self.lq.byt() + self.cq.byt() > 0:
            is_l = self.schedules_l(now)
            both = bool(self.lq.packets) and bool(self.cq.packets)
            spared = self.is_spared(self.lq.byt() + self.cq.byt())
            p_c, p_cl = (0.0, 0.0) if spared else (self.p_c, self.p_cl)
            queue = self.lq if is_l else self.cq
            before = len(queue.packets)
            packet = queue.packets.popleft()
            one, two = next(draws, (1.0, 1.0))
            fate = (
                self.of_l(packet, now, before, p_c, p_cl, one, two)
                if is_l
                else self.of_c(packet, p_c, one, two)
            )
            if fate == "drop":
                self.dropped.append(packet["id"])
                continue
            self.spend(packet["len"], is_l=is_l, both=both)
            if fate == "mark" and packet["ecn"] != "not_ect":
                self.marked.append(packet["id"])
            return int(packet["id"])
        return None

    def is_spared(self, held: int) -> bool:
        return held < self.bypass

    def of_l(
        self, packet: dict[str, Any], now: int, before: int, p_c: float, p_cl: float, one: float, two: float
    ) -> str:
        if p_cl < self.p_lmax or not self.drops:
            own = self.laqm((now - packet["tstamp"]) / S) if self.is_long(before) else 0.0
            return "mark" if self.recur(self.lq, min(self.combined(own, p_cl), 1.0), one) else "pass"
        if self.recur(self.lq, p_c, one):
            return "drop"
        return "mark" if self.recur(self.lq, p_cl, two) else "pass"

    def is_long(self, packets: int) -> bool:
        return packets > self.th_len

    def of_c(self, packet: dict[str, Any], p_c: float, one: float, two: float) -> str:
        hit = max(one, two) < sqrt(p_c) if self.random else self.recur(self.cq, p_c, one)
        if not hit:
            return "pass"
        return "drop" if self.must_drop(packet) or self.is_overloaded(p_c) else "mark"

    def must_drop(self, packet: dict[str, Any]) -> bool:
        return bool(packet["ecn"] == "not_ect")

    def is_overloaded(self, p_c: float) -> bool:
        return self.drops and p_c >= self.p_cmax

    def combined(self, own: float, coupled: float) -> float:
        return max(own, coupled)

    def recur(self, queue: Half, likelihood: float, draw: float) -> bool:
        if self.random:
            return draw < likelihood
        queue.count += likelihood
        if queue.count > 1:
            queue.count -= 1
            return True
        return False

    # ---- Figure 5.

    def laqm(self, qdelay: float) -> float:
        if qdelay >= self.min_th + self.range:
            return 1.0
        if qdelay > self.min_th:
            return (qdelay - self.min_th) / self.range
        return 0.0

    # ---- The scheduler, Appendix A.1 and A.2.

    def schedules_l(self, now: int) -> bool:
        if not self.lq.packets or not self.cq.packets:
            return bool(self.lq.packets)
        if self.scheduler == "time_shift":
            return self.lq.time(now) + self.tshift >= self.cq.time(now)
        return self.credit > 0

    def spend(self, length: int, *, is_l: bool, both: bool) -> None:
        if not self.lq.packets and not self.cq.packets:
            self.credit = (1 - self.share) * MTU
        elif both:
            self.credit += length * (-self.share if is_l else 1 - self.share)

    # ---- Figure 8.

    def update(self, now: int) -> None:
        curq = self.longest(now)
        self.p += self.error(curq) + self.trend(curq)
        self.p = min(max(self.p, 0.0), 1.0)
        self.p_cl = self.coupled()
        self.p_c = self.classic()
        self.prevq = self.kept(curq)

    def error(self, curq: float) -> float:
        return float(self.alpha * (curq - self.target))

    def trend(self, curq: float) -> float:
        return float(self.beta * (curq - self.prevq))

    def kept(self, curq: float) -> float:
        return curq

    def longest(self, now: int) -> float:
        return max(self.cq.time(now), self.lq.time(now))

    def coupled(self) -> float:
        return self.k * self.p

    def classic(self) -> float:
        return self.p * self.p
