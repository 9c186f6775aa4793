"""RED, from Floyd and Jacobson (1993), Floyd's notes (1997, 2000), RFC 3168 and RFC 7567.

For each packet arrival the average is calculated; between the thresholds the packet is marked with p_a; above
them every one is. Choices that the texts leave open are those of the law's documentation: the spreading of
marks (`wait`), the policy for ECN-capable packets, and that a queue of at most one packet is left alone.
"""

from __future__ import annotations

from typing import Any


class Red:
    def __init__(self, params: dict[str, Any], site: dict[str, Any]) -> None:
        self.min_th = float(params["min"].removesuffix(" packets"))
        self.max_th = float(params["max"].removesuffix(" packets"))
        self.w_q = params.get("weight", 0.002)
        self.max_p = params.get("max_p", 0.1)
        self.gentle = params.get("gentle", True)
        self.mark_below_p = params.get("mark_below_p", 1.0)
        self.bytes = params.get("byte_mode", False)
        self.wait = params.get("wait", True)
        self.mean_packet = site["packet_bytes"]
        self.rate_bps = site["rate_bps"]
        self.avg = 0.0
        self.count = 0.0
        self.was_between = False
        self.q_time: int | None = 0  # start of the queue's idle time

    def arrival(self, call: dict[str, Any]) -> str:
        q = call["backlog_packets"] if not self.bytes else call["backlog_bytes"] / self.mean_packet
        packet = 1.0 if not self.bytes else call["len"] / self.mean_packet
        # "m = (time - q_time)/s" small packets might have been sent while the queue was idle.
        if self.q_time is not None:
            s = 8 * self.mean_packet / self.rate_bps
            for _ in range(int((call["now_ns"] - self.q_time) / 1e9 / s)):
                self.avg *= 1 - self.w_q
            self.q_time = None
        self.avg = (1 - self.w_q) * self.avg + self.w_q * q
        self.count += packet
        if call["backlog_packets"] <= 1 or self.avg < self.min_th:
            self.was_between = False
            return "pass"
        end = 2 * self.max_th if self.gentle else self.max_th
        if self.avg >= end:
            self.was_between = True
            self.count = 0.0
            return "drop"
        if self.avg < self.max_th:
            p_b = self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        else:
            p_b = self.max_p + (1 - self.max_p) * (self.avg - self.max_th) / self.max_th
        if not self.was_between:
            self.was_between = True
            self.count = packet
            return "pass"
        if call["u"][0] >= self.p_a(p_b) * packet:
            return "pass"
        self.count = 0.0
        markable = call["ecn"] != "not_ect" and (p_b < self.mark_below_p or self.mark_below_p == 1)
        return "mark" if markable else "drop"

    def p_a(self, p_b: float) -> float:
        if self.wait:
            if self.count * p_b < 1:
                return 0.0
            return p_b / (2 - self.count * p_b) if self.count * p_b < 2 else 1.0
        return p_b / (1 - self.count * p_b) if self.count * p_b < 1 else 1.0


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> list[str]:
    """Every verdict of the trace."""
    red, said = Red(header["params"], header["site"]), []
    for call in calls:
        if call["call"] == "arrival":
            said.append(red.arrival(call))
        elif call["call"] == "departure":
            said.append("pass")
        elif call["call"] == "overflow":
            red.count = 0.0
        elif call["call"] == "idle" and red.q_time is None:
            red.q_time = call["now_ns"]
        elif call["call"] == "rate":
            red.rate_bps = call["rate_bps"]
    return said
