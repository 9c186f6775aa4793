"""PI2, from RFC 9332, Appendix A: the base controller of Figure 8, the verdicts of Figure 7, one queue.

The classifier of Figure 3 selects packets of scalable senders, ECT(1) and CE. Packets are judged when they
arrive or, as in Figure 7, when they leave; a backlog below two MTU, prior to enqueuing the packet or
dequeuing it, is exempt, as in the reference implementation of Appendix A.1.
"""

from __future__ import annotations

from typing import Any

from pie import nanoseconds, size


class Pi2:
    def __init__(self, params: dict[str, Any]) -> None:
        self.target = nanoseconds(params.get("target", "15 ms")) / 1e9
        rtt_max = nanoseconds(params.get("rtt_max", "100 ms")) / 1e9
        period = nanoseconds(params["period"]) / 1e9 if "period" in params else min(self.target, rtt_max / 3)
        self.alpha = params.get("alpha", 0.1 * period / rtt_max**2)
        self.beta = params.get("beta", 0.3 / rtt_max)
        self.k = params.get("coupling", 2.0)
        self.bypass = size(params.get("bypass", "3000 B"))
        self.at = params.get("signal_at", "enqueue")
        self.p = self.prevq = 0.0

    def update(self, curq: float) -> None:
        self.p += self.alpha * (curq - self.target) + self.beta * (curq - self.prevq)
        self.p = min(max(self.p, 0.0), 1.0)
        self.prevq = curq

    def arrival(self, call: dict[str, Any]) -> str:
        if self.at != "enqueue" or call["backlog_bytes"] < self.bypass:
            return "pass"
        return self.judge(call)

    def departure(self, call: dict[str, Any]) -> str:
        if self.at != "dequeue" or call["backlog_bytes"] + call["len"] < self.bypass:
            return "pass"
        return self.judge(call)

    def judge(self, call: dict[str, Any]) -> str:
        first, second = call["u"]
        p_cl = self.k * self.p
        # p'^2 is the probability that both of two draws lie below p'.
        recur_c = first < self.p and second < self.p
        if call["ecn"] in ("ect1", "ce"):
            if p_cl < 1:
                return "mark" if first < p_cl else "pass"
            return "drop" if recur_c else "mark"
        if not recur_c:
            return "pass"
        # p_C >= p_Cmax = 1/k^2, without the squares.
        return "drop" if call["ecn"] == "not_ect" or p_cl >= 1 else "mark"


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> list[str]:
    """Every verdict of the trace."""
    law, answers = Pi2(header["params"]), []
    for call in calls:
        if call["call"] == "arrival":
            answers.append(law.arrival(call))
        elif call["call"] == "departure":
            answers.append(law.departure(call))
        elif call["call"] == "update":
            law.update(call["head_sojourn_s"])
    return answers
