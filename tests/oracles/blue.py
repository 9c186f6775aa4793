"""BLUE, from Feng, Shin, Kandlur, Saha (IEEE/ACM ToN 10(4), 2002) alone.

Upon packet loss (or Qlen > L): if now - last_update > freeze_time then p_m += d1, last_update = now. Upon
link idle: likewise p_m -= d2. Points that the paper leaves open follow the documentation of the law: a link
that stays idle is idle again as soon as p may change (`again`).
"""

from __future__ import annotations

from typing import Any

TIMES = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


class Blue:
    def __init__(self, params: dict[str, Any]) -> None:
        self.d1, self.d2 = params.get("increase", 0.0025), params.get("decrease", 0.00025)
        number, unit = params.get("freeze", "100 ms").split()
        self.freeze_time = round(float(number) * TIMES[unit])
        self.most = float(params["threshold"].split()[0]) if "threshold" in params else None
        self.again = params.get("again", True)
        self.p_m = 0.0
        self.last_update = -(10**18)
        self.idle_since: int | None = None

    def arrival(self, call: dict[str, Any]) -> str:
        if self.idle_since is not None and self.again:
            # Instant by instant: the next one at which p may change, until now.
            while max(self.last_update + self.freeze_time + 1, self.idle_since) <= call["now_ns"]:
                self.idle(max(self.last_update + self.freeze_time + 1, self.idle_since))
        self.idle_since = None
        if self.most is not None and call["backlog_packets"] > self.most:
            self.loss(call["now_ns"])
        if call["u"][0] >= self.p_m:
            return "pass"
        return "drop" if call["ecn"] == "not_ect" else "mark"

    def loss(self, now: int) -> None:
        if now - self.last_update > self.freeze_time:
            self.p_m, self.last_update = min(self.p_m + self.d1, 1.0), now

    def idle(self, now: int) -> None:
        if now - self.last_update > self.freeze_time:
            self.p_m, self.last_update = max(self.p_m - self.d2, 0.0), now


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> list[str]:
    """Every verdict of the trace."""
    blue, answers = Blue(header["params"]), []
    for call in calls:
        if call["call"] == "arrival":
            answers.append(blue.arrival(call))
        elif call["call"] == "departure":
            answers.append("pass")
        elif call["call"] == "overflow":
            blue.loss(call["now_ns"])
        elif call["call"] == "idle" and blue.idle_since is None:
            blue.idle_since = call["now_ns"]
            blue.idle(call["now_ns"])
    return answers
