"""The slow qdiscs with one clause of their source broken; the trace of that clause rejects each."""

from __future__ import annotations

from typing import Any

import dualpi2
import fair_queueing
import mutants
import pie

Packet = dict[str, Any]

# ---- RFC 8290, section 4.1


class OldAtOnce(fair_queueing.FqCoDel):
    def activated(self, flow: int) -> None:
        self.credits[flow] = self.quantum
        self.old.append(flow)


class WithoutCredits(fair_queueing.FqCoDel):
    def activated(self, flow: int) -> None:
        super().activated(flow)
        self.credits[flow] = 0


class DropsTheLongest(fair_queueing.FqCoDel):
    def fattest(self) -> int:
        return max(self.queues, key=lambda flow: len(self.queues[flow].packets))


class DropsOne(fair_queueing.FqCoDel):
    def count_of(self, held: int) -> int:  # noqa: ARG002
        return 1


class DropsHalf(fair_queueing.FqCoDel):
    def count_of(self, held: int) -> int:
        return (held + 1) // 2


class DropsTheTail(fair_queueing.FqCoDel):
    def drop_from(self, flow: int) -> None:
        queue = self.queues[flow]
        for _ in range(max(self.count_of(len(queue.packets)), 1)):
            packet = queue.codel.queue.pop()
            queue.codel.bytes -= packet["len"]
            self.dropped.append(packet["id"])


# ---- RFC 8290, section 4.2


class OldFirst(fair_queueing.FqCoDel):
    def serves_new(self) -> bool:
        return not self.old


class RemovesNewQueues(fair_queueing.FqCoDel):
    def found_empty(self, flow: int, *, is_new: bool) -> None:  # noqa: ARG002
        (self.new if is_new else self.old).popleft()


class KeepsOldQueues(fair_queueing.FqCoDel):
    def activated(self, flow: int) -> None:
        if flow in self.credits:
            self.old.append(flow)
        else:
            super().activated(flow)


class CountsPackets(fair_queueing.FqCoDel):
    def spend(self, flow: int, length: int) -> None:  # noqa: ARG002
        self.credits[flow] -= 1514


class KeepsItsTurn(fair_queueing.FqCoDel):
    def recharged(self, flow: int, *, is_new: bool) -> None:
        pass


# ---- RFC 8290, section 5.2


class CountsPacketsAlone(fair_queueing.FqCoDel):
    def exceeds(self) -> bool:
        return self.packets() > self.limit


class DropsAll(fair_queueing.FqCoDel):
    def __init__(self, params: Packet) -> None:
        super().__init__(params | {"law.ecn": False})


class IgnoresTheThreshold(fair_queueing.FqCoDel):
    def is_late(self, sojourn: int) -> bool:  # noqa: ARG002
        return False


class MarksNotEct(fair_queueing.FqCoDel):
    def may_be_marked(self, packet: Packet) -> bool:  # noqa: ARG002
        return True


# ---- RFC 9332, Figure 3


class NeverFull(dualpi2.DualPi2):
    def is_full(self) -> bool:
        return False


class Ect1Alone(dualpi2.DualPi2):
    def is_l4s(self, packet: Packet) -> bool:
        return bool(packet["ecn"] == "ect1")


# ---- RFC 9332, Figures 4 and 7


class NotCoupled(dualpi2.DualPi2):
    def combined(self, own: float, coupled: float) -> float:  # noqa: ARG002
        return own


class AddsUp(dualpi2.DualPi2):
    def combined(self, own: float, coupled: float) -> float:
        return own + coupled


class NeverMarksL(dualpi2.DualPi2):
    def combined(self, own: float, coupled: float) -> float:  # noqa: ARG002
        return 0.0


class SignalsByBase(dualpi2.DualPi2):
    def of_c(self, packet: Packet, p_c: float, one: float, two: float) -> str:
        return super().of_c(packet, p_c**0.5, one, two)


class MarksWhatCannotBe(dualpi2.DualPi2):
    def must_drop(self, packet: Packet) -> bool:  # noqa: ARG002
        return False


class DropsAllOfC(dualpi2.DualPi2):
    def must_drop(self, packet: Packet) -> bool:  # noqa: ARG002
        return True


class CountsFromZero(dualpi2.DualPi2):
    def recur(self, queue: dualpi2.Half, likelihood: float, draw: float) -> bool:
        hit = super().recur(queue, likelihood, draw)
        queue.count = 0.0 if hit else queue.count
        return hit


class SignalsAtOne(dualpi2.DualPi2):
    def recur(self, queue: dualpi2.Half, likelihood: float, draw: float) -> bool:  # noqa: ARG002
        queue.count += likelihood
        hit = queue.count >= 1
        queue.count -= hit
        return hit


class IgnoresTheLength(dualpi2.DualPi2):
    def is_long(self, packets: int) -> bool:  # noqa: ARG002
        return True


class NeverOverloaded(dualpi2.DualPi2):
    def is_overloaded(self, p_c: float) -> bool:  # noqa: ARG002
        return False


class LIsNeverDropped(dualpi2.DualPi2):
    def of_l(self, *given: Any) -> str:
        return "mark" if (fate := super().of_l(*given)) == "drop" else fate


class PassesTheOthers(dualpi2.DualPi2):
    def of_l(
        self, packet: Packet, now: int, before: int, p_c: float, p_cl: float, one: float, two: float
    ) -> str:
        fate = super().of_l(packet, now, before, p_c, p_cl, one, two)
        return "pass" if fate == "mark" and p_cl >= self.p_lmax else fate


# ---- RFC 9332, Figure 5


class NeverAtTheEnd(dualpi2.DualPi2):
    def laqm(self, qdelay: float) -> float:
        return 0.5 if qdelay >= self.min_th + self.range else super().laqm(qdelay)


class Step(dualpi2.DualPi2):
    def laqm(self, qdelay: float) -> float:
        return 1.0 if qdelay > self.min_th else 0.0


class RampFromZero(dualpi2.DualPi2):
    def laqm(self, qdelay: float) -> float:
        return min(qdelay / (self.min_th + self.range), 1.0)


# ---- RFC 9332, Figures 6 and 8


class NoError(dualpi2.DualPi2):
    def error(self, curq: float) -> float:  # noqa: ARG002
        return 0.0


class NoTrend(dualpi2.DualPi2):
    def trend(self, curq: float) -> float:  # noqa: ARG002
        return 0.0


class NeverKeeps(dualpi2.DualPi2):
    def kept(self, curq: float) -> float:  # noqa: ARG002
        return 0.0


class CouplesByTwo(dualpi2.DualPi2):
    def coupled(self) -> float:
        return 2 * self.p


class NotSquared(dualpi2.DualPi2):
    def classic(self) -> float:
        return self.p


class ClassicAlone(dualpi2.DualPi2):
    def longest(self, now: int) -> float:
        return self.cq.time(now)


# ---- RFC 9332, section 4.2.2 and Appendix A


class LFirst(dualpi2.DualPi2):
    def schedules_l(self, now: int) -> bool:  # noqa: ARG002
        return bool(self.lq.packets)


class NoShift(dualpi2.DualPi2):
    def __init__(self, params: Packet, limit: float) -> None:
        super().__init__(params, limit)
        self.tshift = 0.0


class NoBypass(dualpi2.DualPi2):
    def is_spared(self, held: int) -> bool:  # noqa: ARG002
        return False


# ---- RFC 8033 within FQ-PIE


class SharesItsLaw(fair_queueing.FqPie):
    def queue_of_one_flow(self) -> fair_queueing.OfPie:
        queue = super().queue_of_one_flow()
        queue.pie = self.unused.pie
        return queue

    def update(self, now: int) -> None:
        self.unused.pie.on_update(now, self.bytes())


class AlwaysDraws(pie.Pie):
    def bypass(self, call: Packet) -> bool:  # noqa: ARG002
        return False


class NoBurst(pie.Pie):
    def __init__(self, params: Packet, link: Packet) -> None:
        super().__init__(params | {"max_burst": "0 ms"}, link)


class MarksAlways(pie.Pie):
    def __init__(self, params: Packet, link: Packet) -> None:
        super().__init__(params, link)
        self.MAX_ECNTH = 2.0


class NoTrendOfPie(pie.Pie):
    def __init__(self, params: Packet, link: Packet) -> None:
        super().__init__(params, link)
        self.beta = 0.0


def fq_pie(law: type) -> type[fair_queueing.FqPie]:
    """FQ-PIE over a mutant of PIE."""
    queue = type("OfMutant", (fair_queueing.OfPie,), {"law": law})
    return type(f"FqPie{law.__name__}", (fair_queueing.FqPie,), {"queue": queue})


#: Name of the clause's trace, and its mutants.
OF_CLAUSES: dict[str, list[type]] = {
    "fq_codel/new_queue": [OldAtOnce],
    "fq_codel/new_before_old": [OldFirst],
    "fq_codel/initial_credits": [WithoutCredits],
    "fq_codel/empty_new_queue": [RemovesNewQueues],
    "fq_codel/empty_old_queue": [KeepsOldQueues],
    "fq_codel/credits_in_bytes": [CountsPackets],
    "fq_codel/spent_credits": [KeepsItsTurn],
    "fq_codel/most_bytes": [DropsTheLongest],
    "fq_codel/half_a_queue": [DropsOne],
    "fq_codel/batch": [DropsHalf],
    "fq_codel/from_the_head": [DropsTheTail],
    "fq_codel/memory": [CountsPacketsAlone],
    "fq_codel/ecn": [DropsAll],
    "fq_codel/ce_threshold": [IgnoresTheThreshold],
    "fq_codel/ce_threshold_for_ect": [MarksNotEct],
    "fq_pie/own_law": [SharesItsLaw],
    "fq_pie/bypass": [fq_pie(AlwaysDraws)],
    "fq_pie/burst": [fq_pie(NoBurst)],
    "fq_pie/ecn_threshold": [fq_pie(MarksAlways)],
    "fq_pie/updates_by_timer": [fq_pie(mutants.UpdatesOnArrival)],
    "fq_pie/trend": [fq_pie(NoTrendOfPie)],
    "dual/limit": [NeverFull],
    "dual/classifier": [Ect1Alone],
    "dual/combined": [NotCoupled, AddsUp],
    "dual/marks_l": [NeverMarksL],
    "dual/squared_signal": [SignalsByBase],
    "dual/drops_not_ect": [MarksWhatCannotBe],
    "dual/marks_c": [DropsAllOfC],
    "dual/recur": [CountsFromZero],
    "dual/recur_above_one": [SignalsAtOne],
    "dual/ramp_end": [NeverAtTheEnd],
    "dual/ramp": [Step],
    "dual/below_the_ramp": [RampFromZero],
    "dual/th_len": [IgnoresTheLength],
    "dual/error": [NoError],
    "dual/trend": [NoTrend],
    "dual/previous_delay": [NeverKeeps],
    "dual/coupling": [CouplesByTwo],
    "dual/square": [NotSquared],
    "dual/longer_delay": [ClassicAlone],
    "dual/overload_of_c": [NeverOverloaded],
    "dual/overload_of_l": [LIsNeverDropped],
    "dual/marks_in_overload": [PassesTheOthers],
    "dual/weight": [LFirst],
    "dual/time_shift": [NoShift],
    "dual/bypass": [NoBypass],
}
