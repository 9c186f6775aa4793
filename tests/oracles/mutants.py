"""Faults of published implementations, each as an oracle with one error.

The golden traces must reject every one of them, and name the clause that it breaks. A mutant has the
interface of its oracle, and overrides the one method that its fault is in (PIE without a timer: both ends of
it).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cobalt import CobaltQueue, Look, Ramp
from codel import CoDelQueue
from pie import Pie
from red import Red


class NextFromZero(CoDelQueue):
    """(t + interval)/sqrt(count): the parenthesis is misplaced."""

    def control_law(self, t: int, count: int) -> int:
        return int((t + self.interval) / sqrt(count))


class LosesTheNext(CoDelQueue):
    """Delivers the packet marked for dropping and loses the one behind it."""

    def dequeue(self, now: int) -> list[str]:
        return super().dequeue(now)[::-1]


class RearmsFromNow(CoDelQueue):
    """Counts the next due time from the present, so late drops are never made up for."""

    def after_a_drop(self, now: int) -> int:
        return self.control_law(now, self.count)


class NeverForgets(CoDelQueue):
    """Resumes at its old pace after any time."""

    def count_on_entry(self, now: int) -> int:  # noqa: ARG002
        return max(self.count - self.lastcount, 1)


class BeginsAnew(CoDelQueue):
    """Resumes at a count of 1 after any time."""

    def count_on_entry(self, now: int) -> int:  # noqa: ARG002
        return 1


class ForgetsTooSoon(CoDelQueue):
    """Resumes at its old pace only after less than 8 intervals."""

    def count_on_entry(self, now: int) -> int:
        return super().count_on_entry(now) if now - self.drop_next < 8 * self.interval else 1


class IgnoresTheMtu(CoDelQueue):
    """Drops also if no more than one packet stays behind."""

    def holds_hardly_anything(self) -> bool:
        return False


class IgnoresTheLimit(Red):
    """Lets packets into a full buffer while the average is between the thresholds."""

    def is_full(self, call: dict[str, Any]) -> bool:
        return super().is_full(call) and not self.min_th <= self.avg < self.max_th


class NeverBelow(Red):
    """Ignores the lower threshold: treats an average below it as between the two."""

    def is_below_min(self) -> bool:
        return False


class NoAverage(Red):
    """Compares the queue itself with the thresholds."""

    def sample(self, call: dict[str, Any]) -> None:
        self.avg = float(call["backlog_packets"])


class NoCount(Red):
    """Marks with p_b itself, without the count since the last mark."""

    def p_a(self, p_b: float) -> float:
        return p_b


class GentleIsAll(Red):
    """Drops every packet from max_th on although it is gentle."""

    def is_above(self) -> bool:
        return self.avg >= self.max_th


class NeverAbove(Red):
    """Has no end of the curve if it is not gentle."""

    def is_above(self) -> bool:
        return self.gentle and super().is_above()


class NeverAges(Red):
    """Ignores the idle time of the link."""

    def age(self, call: dict[str, Any]) -> None:  # noqa: ARG002
        self.q_time = None


class ForgetsTheRamp(CobaltQueue):
    """Restarts its count after each silence."""

    def idle(self, now: int) -> None:
        super().idle(now)
        self.ramp.count, self.ramp.root = 0, 1.0


class CountsFromZero(CobaltQueue):
    """Counts the signals alone, so the first two gaps are an interval each."""

    class ramp_type(Ramp):  # noqa: N801
        entered = False

        def at_least_one(self) -> None:
            self.entered, self.count = self.count == 0, max(self.count, 1)

        def step(self, by: int) -> None:
            self.entered, by = False, 0 if self.entered else by
            super().step(by)


class LeavesOverflowToBlue(CobaltQueue):
    """Keeps overflows from CoDel's half."""

    def overflow(self, now: int) -> None: ...


class SparesAnMtu(CobaltQueue):
    """Exempts a backlog of an MTU, as ns-3's manual does, and no delay."""

    def is_late(self, sojourn: int) -> bool:
        return sojourn > self.target and sum(each["len"] for each in self.queue) > self.mtu


class LateAtTheTarget(CobaltQueue):
    """Treats a delay of exactly the target as above it, as RFC 8289 does."""

    def is_late(self, sojourn: int) -> bool:
        return sojourn >= self.target and sojourn > 4 * self.mtu_time


class DropsTheLast(CobaltQueue):
    """Drops the last packet of a queue as any other."""

    def spares_the_last(self) -> bool:
        return False


class MakesUpForMarks(CobaltQueue):
    """Makes up for late steps regardless of the packets' fates."""

    class ramp_type(Ramp):  # noqa: N801
        def settle(self, now: int, *, behind: bool, dropped: bool) -> None:
            super().settle(now, behind=behind and not self.signalled, dropped=dropped)

        def look(self, now: int, late: bool) -> Look:
            look = super().look(now, late)
            self.signalled = look.signal
            return look


class ForgivesDrops(CobaltQueue):
    """Never makes up for late steps."""

    class ramp_type(Ramp):  # noqa: N801
        def settle(self, now: int, *, behind: bool, dropped: bool) -> None:  # noqa: ARG002
            super().settle(now, behind=behind, dropped=False)


class StepsBackFirst(CobaltQueue):
    """Undoes a due step before it checks the packet."""

    class ramp_type(Ramp):  # noqa: N801
        def look(self, now: int, late: bool) -> Look:
            if not self.late:
                self.back(now)
            return super().look(now, late)


class WaitsAfterRest(CobaltQueue):
    """Waits for an interval after any time without departures."""

    class ramp_type(Ramp):  # noqa: N801
        def look(self, now: int, late: bool) -> Look:
            look = super().look(now, late)
            return Look(look.signal, behind=look.behind and look.signal)


class ExemptsEcn(CobaltQueue):
    """Exempts ECN-capable packets from BLUE."""

    def is_blues(self, packet: dict[str, Any], u: float) -> bool:
        return packet["ecn"] == "not_ect" and super().is_blues(packet, u)


class BypassesByPackets(Pie):
    """Reads "a couple of packets" as a number of packets."""

    def bypass(self, call: dict[str, Any]) -> bool:
        uncongested = self.qdelay_old < self.QDELAY_REF / 2 and self.drop_prob < 0.2
        return uncongested or call["backlog_packets"] <= 2


class NeverCalm(Pie):
    """Does not bypass a queue well below its target."""

    def bypass(self, call: dict[str, Any]) -> bool:
        return bool(call["backlog_bytes"] <= 2 * self.MEAN_PKTSIZE)


class AlwaysCalm(Pie):
    """Ignores that a large probability outlasts a calm."""

    def bypass(self, call: dict[str, Any]) -> bool:
        return self.qdelay_old < self.QDELAY_REF / 2 or super().bypass(call)


class UpdatesOnArrival(Pie):
    """Has no timer: a due update waits for the next arrival."""

    def on_update(self, now: int, backlog_bytes: float) -> None:
        """Does nothing."""

    def on_arrival(self, call: dict[str, Any], is_full: bool) -> str:
        if call["now_ns"] - self.last_timestamp >= self.T_UPDATE:
            super().on_update(call["now_ns"], call["backlog_bytes"])
        return super().on_arrival(call, is_full)
