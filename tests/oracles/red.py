"""RED, from Floyd and Jacobson (1993), Floyd's notes (1997, 2000), RFC 3168, RFC 7567, Adaptive RED (2001).

For each packet arrival the average is calculated; between the thresholds the packet is marked with p_a; above
them every one is. Points that the texts leave open follow the law's documentation: the spreading of marks
(`wait`), the policy for ECN-capable packets, and the exemption of a queue of at most one packet, or byte if
bytes are counted.
"""

from __future__ import annotations

import math
from typing import Any


class Red:
    """One small method for each condition, so that a mutant can override one."""

    def __init__(self, params: dict[str, Any], link: dict[str, Any]) -> None:
        self.mean_packet = float(params.get("mean_packet", f"{link['packet_bytes']} B").removesuffix(" B"))
        self.rate_bps = link["rate_bps"]
        self.w_q = params.get("weight")
        self.target = None
        if params.get("thresholds") == "auto":
            self.target = params.get("target", "5 ms")
            self.follows_weight = self.w_q is None
        else:
            self.w_q = self.w_q or 0.002
        self.max_p = params.get("max_p", 0.1)
        self.gentle = params.get("gentle", True)
        self.mark_below_p = params.get("mark_below_p", 1.0)
        self.bytes = params.get("byte_mode", False)
        self.wait = params.get("wait", True)
        self.packet = link["packet_bytes"]
        self.limit = link["limit_packets"]
        if self.target is None:
            self.min_th, self.max_th = (self.backlog(params[key]) for key in ("min", "max"))
        self.follow(self.rate_bps)
        self.avg = 0.0
        self.count = 0.0
        self.was_between = False
        self.q_time: int | None = 0  # start of the queue's idle time

    def follow(self, rate_bps: float) -> None:
        """Adaptive RED, section 5: min_th = max(5, d C / 2), w_q = 1 - exp(-1/C); this C in mean packets."""
        self.rate_bps = rate_bps
        if self.target is None or rate_bps <= 0:
            return
        room = self.backlog(f"{self.limit * self.packet} B")
        self.min_th = min(max(5.0, self.backlog(self.target) / 2), room / 3)
        self.max_th = min(3 * self.min_th, room)
        if self.follows_weight:
            self.w_q = 1 - math.exp(-8 * self.mean_packet / rate_bps)

    def backlog(self, written: str) -> float:
        """A queue length as it is counted: packets, or the bytes of a time or a size."""
        number, unit = written.split()
        if unit == "packets":
            return float(number)
        size = float(number) * (self.rate_bps / 8 / 1000 if unit == "ms" else 1.0)
        return size / (self.mean_packet if self.bytes else self.packet)

    def arrival(self, call: dict[str, Any]) -> str:
        self.age(call)
        self.sample(call)
        self.count += self.packets(call)
        verdict = self.judge(call)
        if verdict != "pass" or self.is_full(call):
            self.count = 0.0
        return verdict

    def judge(self, call: dict[str, Any]) -> str:
        if self.hardly_anything_waits(call) or self.is_below_min():
            self.was_between = False
            return "pass"
        entered, self.was_between = not self.was_between, True
        if self.is_above():
            return "mark" if call["ecn"] != "not_ect" and self.mark_below_p > 1 else "drop"
        p_b = self.p_above_max() if self.is_between_max_and_twice_max() else self.p_between()
        if entered:
            self.count = self.packets(call)
            return "pass"
        if call["u"][0] >= self.p_a(p_b) * self.packets(call):
            return "pass"
        return "mark" if self.may_mark(call, p_b) else "drop"

    def age(self, call: dict[str, Any]) -> None:
        """ "m = (time - q_time)/s" small packets might have been sent while the queue was idle."""
        if self.q_time is not None:
            s = 8 * self.mean_packet / self.rate_bps if self.rate_bps else math.inf
            for _ in range(int((call["now_ns"] - self.q_time) / 1e9 / s)):
                self.avg *= 1 - self.w_q
            self.q_time = None

    def sample(self, call: dict[str, Any]) -> None:
        q = call["backlog_packets"] if not self.bytes else call["backlog_bytes"] / self.mean_packet
        self.avg = (1 - self.w_q) * self.avg + self.w_q * q

    def packets(self, call: dict[str, Any]) -> float:
        """Weight of a packet: in byte mode its size in mean packets."""
        return 1.0 if not self.bytes else call["len"] / self.mean_packet

    def hardly_anything_waits(self, call: dict[str, Any]) -> bool:
        return bool(call["backlog_bytes" if self.bytes else "backlog_packets"] <= 1)

    def is_below_min(self) -> bool:
        return self.avg < self.min_th

    def is_between_max_and_twice_max(self) -> bool:
        return self.gentle and self.max_th <= self.avg < 2 * self.max_th

    def is_above(self) -> bool:
        return self.avg >= (2 * self.max_th if self.gentle else self.max_th)

    def is_full(self, call: dict[str, Any]) -> bool:
        """The hard limit: a packet that does not fit is lost at any average."""
        return self.limit is not None and bool(call["backlog_packets"] >= self.limit)

    def p_between(self) -> float:
        return self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)

    def p_above_max(self) -> float:
        return self.max_p + (1 - self.max_p) * (self.avg - self.max_th) / self.max_th

    def p_a(self, p_b: float) -> float:
        if self.wait:
            if self.count * p_b < 1:
                return 0.0
            return p_b / (2 - self.count * p_b) if self.count * p_b < 2 else 1.0
        return p_b / (1 - self.count * p_b) if self.count * p_b < 1 else 1.0

    def may_mark(self, call: dict[str, Any], p_b: float) -> bool:
        return call["ecn"] != "not_ect" and (p_b < self.mark_below_p or self.mark_below_p >= 1)


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]], oracle: type[Red] = Red) -> list[str]:
    """Every verdict of the trace. Overflows are determined here."""
    red, answers = oracle(header["params"], header["link"]), []
    for call in calls:
        if call["call"] == "arrival":
            answers.append(red.arrival(call))
        elif call["call"] == "departure":
            answers.append("pass")
        elif call["call"] == "idle" and red.q_time is None:
            red.q_time = call["now_ns"]
        elif call["call"] == "rate":
            red.follow(call["rate_bps"])
    return answers
