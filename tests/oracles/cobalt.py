"""COBALT, from what its authors and ns-3's manual tell of it: CoDel's ramp, forwards and back, and BLUE.

It holds a queue of its own, so delays and backlogs are its own too. What the descriptions leave open is taken
from the documentation of the law: BLUE's freeze time is the target; due times follow from due times; the ramp
runs back from the due time that it has reached; up to a count of 16 the root is exact; the last packet in the
queue is never BLUE's.
"""

from __future__ import annotations

from collections import deque
from math import sqrt
from typing import Any

MS = 1_000_000
TIMES = {"ns": 1, "us": 1_000, "ms": MS, "s": 1000 * MS}


class Ramp:
    """CoDel's half. `due` is the next time at which the count changes: up while it is late, else down."""

    def __init__(self, interval: int) -> None:
        self.interval, self.count, self.due, self.root = interval, 0, 0, 1.0
        self.late = False

    def look(self, now: int, late: bool) -> bool:
        """A packet is late, or not: whether it gets a signal."""
        if not (late and self.late):
            # Whatever came due by now came due in order, or on the way to it.
            while self.count > 0 and self.due <= now:
                self.step(-1)
        if late and not self.late:
            self.due = now + int(self.interval * self.root)
        self.late = late
        if late and self.due <= now:
            self.step(+1)
            return True
        return False

    def step(self, by: int) -> None:
        if self.count + by <= 65535:
            self.count += by
            count = max(self.count, 1)
            if count <= 16:
                self.root = 1 / sqrt(count)
            else:
                self.root += self.root * (1 - count * self.root**2) / 2
        self.due += int(self.interval * self.root)


class Blue:
    """The other half; `held_until` is when p may change again."""

    def __init__(self, up: float, down: float, freeze: int) -> None:
        self.up, self.down, self.freeze = up, down, freeze
        self.p, self.held_until, self.empty = 0.0, 0, False

    def overflow(self, now: int) -> None:
        if now >= self.held_until:
            self.p, self.held_until = min(1.0, self.p + self.up), now + self.freeze

    def nothing_to_send(self, now: int) -> None:
        self.silence_until(now)
        if self.p > 0 and now >= self.held_until:
            self.p, self.held_until = max(0.0, self.p - self.down), now + self.freeze
        self.empty = True

    def silence_until(self, now: int) -> None:
        """Each freeze time that ends in silence takes p down once."""
        while self.empty and self.p > 0 and self.held_until <= now:
            self.p, self.held_until = max(0.0, self.p - self.down), self.held_until + self.freeze
        self.empty = False


class CobaltQueue:
    """Both halves in front of one queue; times in nanoseconds."""

    def __init__(self, params: dict[str, Any]) -> None:
        self.target = _time(params.get("target", "5 ms"))
        self.ecn = params.get("ecn", True)
        self.mtu = int(params.get("mtu", "1500 B").split()[0])
        self.ramp = Ramp(_time(params.get("interval", "100 ms")))
        freeze = _time(params["freeze"]) if "freeze" in params else self.target
        self.blue = Blue(params.get("increment", 1 / 256), params.get("decrement", 1 / 4096), freeze)
        self.queue: deque[dict[str, Any]] = deque()

    def arrive(self, packet: dict[str, Any], *, fits: bool) -> str:
        self.blue.silence_until(packet["now_ns"])
        if fits:
            self.queue.append(packet)
        else:
            self.blue.overflow(packet["now_ns"])
        return "pass"

    def leave(self, now: int, u: float) -> str:
        packet = self.queue.popleft()
        late = now - packet["now_ns"] >= self.target and sum(each["len"] for each in self.queue) > self.mtu
        signal = self.ramp.look(now, late)
        if self.is_blues(packet, u):
            return "drop"
        if not signal:
            return "pass"
        return "mark" if self.ecn and packet["ecn"] != "not_ect" else "drop"

    def is_blues(self, packet: dict[str, Any], u: float) -> bool:  # noqa: ARG002 (BLUE is blind to it)
        return bool(self.queue) and u < self.blue.p

    def idle(self, now: int) -> None:
        assert not self.queue
        self.ramp.look(now, late=False)
        self.blue.nothing_to_send(now)


def verdicts(
    header: dict[str, Any], calls: list[dict[str, Any]], oracle: type[CobaltQueue] = CobaltQueue
) -> list[str]:
    """Every verdict of the trace."""
    cobalt, said = oracle(header["params"]), []
    for call, after in zip(calls, [*calls[1:], {"call": "end"}], strict=True):
        if call["call"] == "arrival":
            said.append(cobalt.arrive(call, fits=after["call"] != "overflow"))
        elif call["call"] == "departure":
            said.append(cobalt.leave(call["now_ns"], call["u"][0]))
        elif call["call"] == "idle":
            cobalt.idle(call["now_ns"])
    return said


def _time(text: str) -> int:
    number, unit = text.split()
    return round(float(number) * TIMES[unit])
