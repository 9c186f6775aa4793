"""PIE, from RFC 8033 alone: Appendix B's pseudocode, with its options switched as the sections allow.

Points that the text leaves open, or states in two ways, follow the documentation of the law: the delay of an
idle link is 0 if packets are timed; a departure rate that was never measured is no delay of 0 and ends no
activity; `decay` and `inactive` choose between a section and Appendix B; byte mode is bounded as in RFC 8034;
a mark ends a count like a drop. A packet that the buffer refuses is not judged: the law's verdict on it is
ignored.
"""

from __future__ import annotations

from typing import Any

S = 1_000_000_000
MS = 1_000_000
TIMES = {"ns": 1, "us": 1_000, "ms": MS, "s": S}
TUNING = ((0.000001, 2048), (0.00001, 512), (0.0001, 128), (0.001, 32), (0.01, 8), (0.1, 2))


class Pie:
    """One PIE; events are the lines of a trace, times in nanoseconds, delays in seconds."""

    def __init__(self, params: dict[str, Any], link: dict[str, Any]) -> None:
        self.T_UPDATE = nanoseconds(params.get("period", "15 ms"))
        self.MAX_BURST = nanoseconds(params.get("max_burst", "150 ms"))
        self.QDELAY_REF = nanoseconds(params.get("target", "15 ms")) / S
        self.DQ_THRESHOLD = size(params.get("dq_threshold", "16384 B"))
        self.MEAN_PKTSIZE = size(params["packet"]) if "packet" in params else link["packet_bytes"]
        self.MAX_ECNTH = params.get("mark_below_p", 0.1)
        self.alpha, self.beta = params.get("alpha", 0.125), params.get("beta", 1.25)
        self.TAIL_DROP = link["limit_packets"] * link["packet_bytes"]
        self.timestamps = params.get("delay", "timestamps") == "timestamps"
        self.derandomize = params.get("derandomize", True)
        self.cap_drop = params.get("cap_drop", True)
        self.activity = params.get("activity", False)
        self.byte_mode = params.get("byte_mode", False)
        self.decays_below = self.below(params.get("decay", "zero"))
        self.inactive_below = self.below(params.get("inactive", "half"))

        self.active = not self.activity
        self.burst_allowance = self.MAX_BURST
        self.drop_prob = self.accu_prob = self.qdelay_old = 0.0
        self.current_qdelay: float | None = None
        self.last_timestamp = 0
        self.in_measurement, self.measurement_start = False, 0
        self.dq_count, self.avg_dq_time = 0, 0.0

    # ---- Calls of a host.

    def on_arrival(self, call: dict[str, Any], is_full: bool) -> str:
        """`enque`: the fate of the packet."""
        verdict = "pass"
        if is_full:
            self.accu_prob = 0.0
        elif self.active and self.drop_early(call) and self.burst_allowance == 0:
            verdict = self.punish(call)
        held = call["backlog_bytes"] + (0 if is_full or verdict == "drop" else call["len"])
        self.activate(call["now_ns"], held)
        self.end_congestion()
        return verdict

    def on_departure(self, call: dict[str, Any]) -> None:
        if self.timestamps:
            self.current_qdelay = call["sojourn_ns"] / S
        else:
            self.measure(call)

    def on_idle(self) -> None:
        if self.timestamps:
            self.current_qdelay = 0.0

    def on_update(self, now: int, backlog_bytes: float) -> None:
        if self.activity and not (self.active and now - self.last_timestamp >= self.T_UPDATE):
            return
        self.calculate_drop_prob(now, backlog_bytes)

    # ---- At an arrival.

    def drop_early(self, call: dict[str, Any]) -> bool:
        if self.bypass(call):
            return False
        p = self.scaled(call["len"])
        if not self.derandomize:
            return call["u"][0] < p
        if self.drop_prob == 0:
            self.accu_prob = 0.0
        self.accu_prob += p
        if self.accu_prob < 0.85:
            return False
        if self.accu_prob >= 8.5:
            return True
        if call["u"][0] < p:
            self.accu_prob = 0.0
            return True
        return False

    def bypass(self, call: dict[str, Any]) -> bool:
        """Section 4.1: "Safeguard PIE to be work conserving", in bytes."""
        uncongested = self.qdelay_old < self.QDELAY_REF / 2 and self.drop_prob < 0.2
        return uncongested or call["backlog_bytes"] <= 2 * self.MEAN_PKTSIZE

    def scaled(self, length: int) -> float:
        return min(self.drop_prob * length / self.MEAN_PKTSIZE, 0.85) if self.byte_mode else self.drop_prob

    def punish(self, call: dict[str, Any]) -> str:
        """Section 5.1."""
        self.accu_prob = 0.0
        return "mark" if self.drop_prob < self.MAX_ECNTH and call["ecn"] != "not_ect" else "drop"

    # ---- Sections 4.4 and 5.3.

    def activate(self, now: int, held: int) -> None:
        if self.active or held < self.TAIL_DROP / 3:
            return
        self.active = True
        self.qdelay_old = self.drop_prob = self.accu_prob = 0.0
        self.in_measurement, self.dq_count, self.avg_dq_time = True, 0, 0.0
        self.last_timestamp = self.measurement_start = now
        self.burst_allowance = self.MAX_BURST
        if not self.timestamps:
            self.current_qdelay = None

    def end_congestion(self) -> None:
        if self.drop_prob != 0:
            return
        delays = (self.current_qdelay or 0.0, self.qdelay_old)
        if not self.activity:
            if all(delay < self.QDELAY_REF / 2 for delay in delays):
                self.burst_allowance = self.MAX_BURST
        elif self.current_qdelay is not None and self.inactive_below(*delays):
            self.active = False
            self.in_measurement = False

    def below(self, word: str) -> Any:
        """True if two delays are calm."""
        half = self.QDELAY_REF / 2
        return {
            "half": lambda one, other: one < half and other < half,
            "zero": lambda one, other: one == 0 and other == 0,
        }[word]

    # ---- Section 4.2.

    def calculate_drop_prob(self, now: int, backlog_bytes: float) -> None:
        if not self.timestamps:
            measured = self.avg_dq_time > 0
            self.current_qdelay = backlog_bytes * self.avg_dq_time / self.DQ_THRESHOLD if measured else None
        qdelay = self.current_qdelay or 0.0
        p = self.alpha * (qdelay - self.QDELAY_REF) + self.beta * (qdelay - self.qdelay_old)
        p /= self.autotune()
        if self.cap_drop and self.drop_prob >= 0.1 and p > 0.02:
            p = 0.02
        self.drop_prob += p
        if self.decays_below(qdelay, self.qdelay_old):
            self.drop_prob *= 0.98
        self.drop_prob = min(max(self.drop_prob, 0.0), 1.0)
        self.qdelay_old, self.last_timestamp = qdelay, now
        self.burst_allowance = max(0, self.burst_allowance - self.T_UPDATE)

    def autotune(self) -> float:
        return next((divisor for below, divisor in TUNING if self.drop_prob < below), 1)

    # ---- Section 5.2, as `deque` of Appendix B.

    def measure(self, call: dict[str, Any]) -> None:
        now = call["now_ns"]
        if self.in_measurement:
            self.dq_count += call["len"]
            if self.dq_count >= self.DQ_THRESHOLD:
                dq_time = (now - self.measurement_start) / S
                if self.avg_dq_time == 0:
                    self.avg_dq_time = dq_time
                else:
                    weight = self.DQ_THRESHOLD / 2**16
                    self.avg_dq_time = dq_time * weight + self.avg_dq_time * (1 - weight)
                self.in_measurement = False
        if call["backlog_bytes"] >= self.DQ_THRESHOLD and not self.in_measurement:
            self.in_measurement, self.measurement_start, self.dq_count = True, now, 0


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]], pie: Any = Pie) -> list[str]:
    """Every verdict of the trace; `pie` may be a mutant."""
    law, answers = pie(header["params"], header["link"]), []
    for place, call in enumerate(calls):
        if call["call"] == "arrival":
            is_full = place + 1 < len(calls) and calls[place + 1]["call"] == "overflow"
            verdict = law.on_arrival(call, is_full)
            answers.append(call["verdict"] if is_full else verdict)
        elif call["call"] == "departure":
            law.on_departure(call)
            answers.append("pass")
        elif call["call"] == "idle":
            law.on_idle()
        elif call["call"] == "update":
            law.on_update(call["now_ns"], call["backlog_bytes"])
    return answers


def nanoseconds(text: str) -> int:
    number, unit = text.split()
    return round(float(number) * TIMES[unit])


def size(text: str) -> int:
    number, unit = text.split()
    return int(float(number) * {"B": 1, "kB": 1000, "KiB": 1024}[unit])
