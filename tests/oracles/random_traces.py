"""Random traces: a small host in Python calls a law of Sojourn."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from sojourn.conform import TracedLaw

ECN = ("not_ect", "not_ect", "ect0", "ce")
S = 1_000_000_000


class Host:
    """A first-in-first-out queue of at most `limit` packets in front of a link that is slow or stalls."""

    def __init__(self, header: dict[str, Any], dice: random.Random) -> None:
        self.law, self.dice, self.calls = TracedLaw(header), dice, []
        self.limit = header["link"]["limit_packets"]
        self.queue: deque[tuple[int, int, str]] = deque()
        self.bytes, self.now, self.last_update, self.due = 0, 0, 0, None
        self.seen: dict[str, float] = dict.fromkeys(COUNTS, 0)

    def call(self, kind: str, **values: Any) -> str | None:
        call = {"call": kind, "now_ns": self.now, **values}
        answer = self.law.answer(call)
        self.calls.append(call | answer)
        if kind == "update":
            self.due = answer["next_ns"]
        return answer.get("verdict")

    def packet(self, length: int, ecn: str) -> dict[str, Any]:
        backlog = {"backlog_packets": len(self.queue), "backlog_bytes": self.bytes}
        return {
            "len": length,
            "ecn": ecn,
            "flow": 0,
            **backlog,
            "u": [self.dice.random(), self.dice.random()],
        }

    def arrive(self) -> None:
        length, ecn = self.dice.randint(64, 1500), self.dice.choice(ECN)
        verdict = self.call("arrival", **self.packet(length, ecn))
        self.count("arrived", length)
        if len(self.queue) >= self.limit:
            self.seen["dropped_packets"] += 1
            self.call("overflow")
        elif verdict == "drop":
            self.seen["dropped_packets"] += 1
        else:
            self.seen["marked_packets"] += verdict == "mark"
            self.queue.append((self.now, length, "ce" if verdict == "mark" else ecn))
            self.bytes += length

    def send(self) -> None:
        while self.queue:
            since, length, ecn = self.queue.popleft()
            self.bytes -= length
            packet = self.packet(length, ecn) | {"sojourn_ns": self.now - since}
            verdict = self.call("departure", **packet)
            if verdict != "drop":
                self.seen["marked_packets"] += verdict == "mark"
                self.count("departed", length)
                return
            self.seen["dropped_packets"] += 1
        self.call("idle")

    def count(self, kind: str, length: int) -> None:
        self.seen[f"{kind}_packets"] += 1
        self.seen[f"{kind}_bytes"] += length

    def wait(self, nanos: int) -> None:
        self.seen["busy_s"] += nanos / S if self.queue else 0.0
        self.now += nanos

    def update(self) -> None:
        now = {
            "elapsed_s": (self.now - self.last_update) / S,
            "backlog_packets": float(len(self.queue)),
            "backlog_bytes": float(self.bytes),
            "head_sojourn_s": (self.now - self.queue[0][0]) / S if self.queue else 0.0,
        }
        seen = {key: float(value) for key, value in self.seen.items()}
        self.call("update", due_ns=self.due, **now, **seen, mean_packet_bytes=1000.0, applied=0.0)
        self.last_update, self.seen = self.now, dict.fromkeys(COUNTS, 0)


#: Counts from one update to the next.
COUNTS = (
    "arrived_packets",
    "arrived_bytes",
    "departed_packets",
    "departed_bytes",
    "dropped_packets",
    "marked_packets",
    "busy_s",
)


def trace(
    header: dict[str, Any], seed: int, first_update_ms: int | None, *, rates: bool = False
) -> list[dict[str, Any]]:
    """Arrivals and departures of 600 packets: calm and excess in turn, with stalls (a new rate: `rates`)."""
    dice = random.Random(seed)
    host = Host(header, dice)
    host.due = None if first_update_ms is None else first_update_ms * 1_000_000
    for step in range(1200):
        busy = step % 300 < 180
        host.wait(round(dice.expovariate(1.0) * 4e6))
        if dice.random() < 0.004:
            host.wait(round(dice.random() * S))
        if host.due is not None and host.due <= host.now:
            host.update()
        if rates and dice.random() < 0.005:
            host.call("rate", rate_bps=header["link"]["rate_bps"] * dice.uniform(0.5, 2.0))
        if dice.random() < (0.56 if busy else 0.35):
            host.arrive()
        else:
            host.send()
    return host.calls
