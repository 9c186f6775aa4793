"""COBALT, by the rules of its authors' code (Linux, net/sched/sch_cake.c, under its BSD licence),
paraphrased.

This oracle holds a queue of its own, so delays and backlogs are its own too. CoDel's half, for each packet
that leaves:

1. A packet is late if it was held for more than the target and for more than four transmission times of
   an MTU.
2. The step is due if there is a count and its time has come. This is checked first.
3. The first late packet after one in time sets the time of the next step, interval / sqrt(count) from now,
   with a count of at least 1. One in time ends that state.
4. A due step is a signal if the packet is late: count up. Else it is undone: count down, and again until
   the time of the next step lies ahead. Each next time follows from the last one.
5. Without a count that time is an interval from now. With one, if it lies in the past and the packet is
   not dropped, it is now. If no step was due, the time before this packet must lie in the past.
6. An overflow is such a state with a step due now; an empty queue ends it and undoes one due step.

Points left open there follow the documentation of the law: the freeze time; the decrease of BLUE in a
silence; the exact root for counts below 16; a queue that has been empty since time 0.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import sqrt
from typing import Any

MS = 1_000_000
TIMES = {"ns": 1, "us": 1_000, "ms": MS, "s": 1000 * MS}
#: Delay, in transmission times of an MTU, that is always allowed.
MTU_TIMES = 4
#: Largest count.
MOST = 2**32 - 1


@dataclass
class Look:
    """CoDel's half's view of one packet."""

    signal: bool
    #: True if the time that decided (rule 5) lies in the past.
    behind: bool


class Ramp:
    """CoDel's half. `step_at` is the time of the next change of the count."""

    def __init__(self, interval: int) -> None:
        self.interval, self.count, self.root = interval, 0, 1.0
        self.step_at, self.late = interval, False

    def look(self, now: int, late: bool) -> Look:
        """Rules 2 to 4, for a packet that is late or not."""
        due, step_at = self.due(now), self.step_at
        if late and not self.late:
            self.enter(now)
        self.late = late
        if due and late:
            self.step(+1)
        elif due:
            self.back(now)
        return Look(signal=due and late, behind=(self.step_at if due else step_at) < now)

    def enter(self, now: int) -> None:
        self.step_at = now + int(self.interval * self.root)
        self.at_least_one()

    def settle(self, now: int, *, behind: bool, dropped: bool) -> None:
        """Rule 5."""
        if self.count == 0:
            self.step_at = now + self.interval
        elif behind and not dropped:
            self.step_at = now

    def overflow(self, now: int) -> None:
        """Rule 6."""
        self.late, self.step_at = True, now
        self.at_least_one()

    def nothing_left(self, now: int) -> None:
        """Rule 6."""
        self.late = False
        if self.due(now):
            self.step(-1)

    def due(self, now: int) -> bool:
        return self.count > 0 and self.step_at <= now

    def back(self, now: int) -> None:
        while self.due(now):
            self.step(-1)

    def step(self, by: int) -> None:
        if self.count + by <= MOST:
            self.count += by
            count = max(self.count, 1)
            if count < 16:
                self.root = 1 / sqrt(count)
            else:
                self.root += self.root * (1 - count * self.root**2) / 2
        self.step_at += int(self.interval * self.root)

    def at_least_one(self) -> None:
        self.count = max(self.count, 1)


class Blue:
    """The other half; it changes after `held_until`."""

    def __init__(self, up: float, down: float, freeze: int) -> None:
        self.up, self.down, self.freeze = up, down, freeze
        self.p, self.held_until, self.empty = 0.0, -1, False

    def overflow(self, now: int) -> None:
        if now > self.held_until:
            self.p, self.held_until = min(1.0, self.p + self.up), now + self.freeze

    def nothing_to_send(self, now: int) -> None:
        self.silence_until(now)
        if self.p > 0 and now > self.held_until:
            self.p, self.held_until = max(0.0, self.p - self.down), now + self.freeze
        self.empty = True

    def silence_until(self, now: int) -> None:
        """Each freeze time that ends in silence lowers p once."""
        while self.empty and self.p > 0 and self.held_until <= now:
            self.p, self.held_until = max(0.0, self.p - self.down), self.held_until + self.freeze
        self.empty = False


class CobaltQueue:
    """Both halves in front of one queue; times in nanoseconds."""

    ramp_type = Ramp

    def __init__(self, params: dict[str, Any], rate_bps: float) -> None:
        self.target = _time(params.get("target", "5 ms"))
        self.ecn = params.get("ecn", True)
        self.mtu = int(params.get("mtu", "1500 B").split()[0])
        self.new_rate(rate_bps)
        self.ramp = self.ramp_type(_time(params.get("interval", "100 ms")))
        freeze = _time(params["freeze"]) if "freeze" in params else self.target
        self.blue = Blue(params.get("increment", 1 / 256), params.get("decrement", 1 / 4096), freeze)
        self.queue: deque[dict[str, Any]] = deque()

    def new_rate(self, bits_per_second: float) -> None:
        """A link of rate 0 has no transmission times."""
        if bits_per_second > 0:
            self.mtu_time = round(self.mtu * 8e9 / bits_per_second)

    def arrive(self, packet: dict[str, Any], *, fits: bool) -> str:
        self.blue.silence_until(packet["now_ns"])
        if fits:
            self.queue.append(packet)
        else:
            self.blue.overflow(packet["now_ns"])
            self.overflow(packet["now_ns"])
        return "pass"

    def overflow(self, now: int) -> None:
        self.ramp.overflow(now)

    def leave(self, now: int, u: float) -> str:
        packet = self.queue.popleft()
        look = self.ramp.look(now, self.is_late(now - packet["now_ns"]))
        mark = look.signal and self.ecn and packet["ecn"] != "not_ect"
        drop = (look.signal and not mark) or self.is_blues(packet, u)
        self.ramp.settle(now, behind=look.behind, dropped=drop)
        if drop and not self.spares_the_last():
            return "drop"
        return "mark" if mark else "pass"

    def is_late(self, sojourn: int) -> bool:
        return sojourn > self.target and sojourn > MTU_TIMES * self.mtu_time

    def is_blues(self, packet: dict[str, Any], u: float) -> bool:  # noqa: ARG002 (BLUE is blind to it)
        return u < self.blue.p

    def spares_the_last(self) -> bool:
        return not self.queue

    def idle(self, now: int) -> None:
        assert not self.queue
        self.ramp.nothing_left(now)
        self.blue.nothing_to_send(now)


def verdicts(
    header: dict[str, Any], calls: list[dict[str, Any]], oracle: type[CobaltQueue] = CobaltQueue
) -> list[str]:
    """Every verdict of the trace."""
    cobalt, answers = oracle(header["params"], header["link"]["rate_bps"]), []
    for call, after in zip(calls, [*calls[1:], {"call": "end"}], strict=True):
        if call["call"] == "arrival":
            answers.append(cobalt.arrive(call, fits=after["call"] != "overflow"))
        elif call["call"] == "departure":
            answers.append(cobalt.leave(call["now_ns"], call["u"][0]))
        elif call["call"] == "idle":
            cobalt.idle(call["now_ns"])
        elif call["call"] == "rate":
            cobalt.new_rate(call["rate_bps"])
    return answers


def _time(text: str) -> int:
    number, unit = text.split()
    return round(float(number) * TIMES[unit])
