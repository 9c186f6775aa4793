"""DOCSIS-PIE, from RFC 8034, Appendix A alone.

The link has no token bucket, so msrtokens() is 0 and MSR is the link's rate, or the parameter. A packet that
the buffer refuses is not judged: the law's verdict on it is ignored. Time is in whole milliseconds.
"""

from __future__ import annotations

from typing import Any

from pie import nanoseconds, size

A, B = 0.25, 2.5
INTERVAL = 16
BURST_RESET_TIMEOUT = 1000
MAX_BURST = 142
MEAN_PKTSIZE, MIN_PKTSIZE = 1024, 64
PROB_LOW, PROB_HIGH = 0.85, 8.5
LATENCY_LOW, LATENCY_HIGH = 0.005, 0.2


class DocsisPie:
    def __init__(self, params: dict[str, Any], link: dict[str, Any]) -> None:
        self.latency_target = nanoseconds(params.get("target", "10 ms")) / 1e9
        self.buffer_size = link["limit_packets"] * link["packet_bytes"]
        if "buffer" in params:
            self.buffer_size = size(params["buffer"])
        self.follows = "msr" not in params
        self.msr = (link["rate_bps"] if self.follows else bits(params["msr"])) / 8
        self.drop_prob = self.qdelay_old = self.accu_prob = 0.0
        self.burst_reset = self.burst_allowance = 0
        self.aqm_state = "INACTIVE"

    # ---- Appendix A.3, the data path.

    def enque(self, call: dict[str, Any], is_full: bool) -> str:
        if is_full:
            self.accu_prob = 0.0
            return "drop"
        return "drop" if self.drop_early(call) else "pass"

    def drop_early(self, call: dict[str, Any]) -> bool:
        if self.burst_allowance > 0:
            return False
        if self.drop_prob == 0:
            self.accu_prob = 0.0
        if self.aqm_state == "INACTIVE":
            if call["backlog_bytes"] < self.buffer_size / 3:
                return False
            self.aqm_state = "QUIESCENT"
        p1 = self.scaled(call["len"])
        self.accu_prob += p1
        if self.bypass(call) or not self.tossed(p1, call["u"][0]):
            return False
        self.accu_prob = 0.0
        if self.aqm_state == "QUIESCENT":
            self.aqm_state = "ACTIVE"
            self.burst_allowance = MAX_BURST
        return True

    def scaled(self, length: int) -> float:
        return min(self.drop_prob * length / MEAN_PKTSIZE, PROB_LOW)

    def bypass(self, call: dict[str, Any]) -> bool:
        uncongested = self.qdelay_old < 0.5 * self.latency_target and self.drop_prob < 0.2
        return uncongested or call["backlog_bytes"] <= 2 * MEAN_PKTSIZE

    def tossed(self, p1: float, u: float) -> bool:
        if self.accu_prob < PROB_LOW:
            return False
        if self.accu_prob >= PROB_HIGH:
            return True
        return not u > p1

    # ---- Appendix A.2, the control path.

    def calculate_drop_prob(self, byte_length: float) -> None:
        qdelay = byte_length / self.msr
        if self.burst_allowance > 0:
            self.drop_prob = 0.0
            self.burst_allowance = max(0, self.burst_allowance - INTERVAL)
        else:
            self.move(qdelay)
        low = 0.5 * self.latency_target
        quiet = qdelay < low and self.qdelay_old < low and self.drop_prob == 0 and self.burst_allowance == 0
        self.update_state(quiet)
        self.qdelay_old = qdelay

    def move(self, qdelay: float) -> None:
        p = A * (qdelay - self.latency_target) + B * (qdelay - self.qdelay_old)
        p /= self.autotune()
        if self.drop_prob >= 0.1 and p > 0.02:
            p = 0.02
        self.drop_prob += p
        if qdelay < LATENCY_LOW and self.qdelay_old < LATENCY_LOW:
            self.drop_prob *= 0.98
        elif qdelay > LATENCY_HIGH:
            self.drop_prob += 0.02
        self.drop_prob = max(0.0, self.drop_prob)
        self.drop_prob = min(self.drop_prob, PROB_LOW * MEAN_PKTSIZE / MIN_PKTSIZE)

    def autotune(self) -> float:
        borders = (0.000001, 0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 10)
        divisors = (2048, 512, 128, 32, 8, 2, 0.5, 0.125, 0.03125)
        return divisors[sum(self.drop_prob >= border for border in borders)]

    def update_state(self, quiet: bool) -> None:
        if self.aqm_state == "ACTIVE" and quiet:
            self.aqm_state = "QUIESCENT"
            self.burst_reset = 0
        elif self.aqm_state == "QUIESCENT":
            if quiet:
                self.burst_reset += INTERVAL
                if self.burst_reset > BURST_RESET_TIMEOUT:
                    self.burst_reset = 0
                    self.aqm_state = "INACTIVE"
            else:
                self.burst_reset = 0


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> list[str]:
    """Every verdict of the trace."""
    law, answers = DocsisPie(header["params"], header["link"]), []
    for place, call in enumerate(calls):
        if call["call"] == "arrival":
            is_full = place + 1 < len(calls) and calls[place + 1]["call"] == "overflow"
            verdict = law.enque(call, is_full)
            answers.append(call["verdict"] if is_full else verdict)
        elif call["call"] == "departure":
            answers.append("pass")
        elif call["call"] == "update":
            law.calculate_drop_prob(call["backlog_bytes"])
        elif call["call"] == "rate" and law.follows and call["rate_bps"] > 0:
            law.msr = call["rate_bps"] / 8
    return answers


def bits(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6}[unit]
