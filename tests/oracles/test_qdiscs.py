"""Whole qdiscs, packets in and packets out, compared with slow implementations from the sources alone.

ORACLE_TRACES random traces for each; every mutant of a clause is rejected by one of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import dualpi2
import fair_queueing
import pytest

from sojourn.conform import TracedQdisc

COUNT = int(os.environ.get("ORACLE_TRACES", "25"))
LINK = {
    "rate_bps": 8e6,
    "packet_bytes": 1000.0,
    "limit_packets": 120,
    "flows": None,
    "base_rtt_ns": 100_000_000,
}
FLOWS = 6
MS = 1_000_000
Params = dict[str, Any]
Answer = dict[str, Any]


def spec(name: str, params: Params) -> str:
    return (
        f"{name}:{','.join(f'{key}={written(value)}' for key, value in params.items())}" if params else name
    )


def written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def packet(number: int, dice: random.Random) -> Params:
    return {
        "id": number,
        "len": dice.choice((64, 300, 1000, 1500)),
        "ecn": dice.choice(("not_ect", "not_ect", "ect0", "ect1", "ce")),
        "flow": min(int(dice.expovariate(0.6)), FLOWS - 1),
    }


def play(name: str, params: Params, seed: int, compare: Callable[[Params, Answer], None]) -> int:
    """A random trace of our qdisc, whose calls with their draws and answers go to `compare`; the number of signals."""  # noqa: E501
    dice = random.Random(seed)
    qdisc = TracedQdisc({"qdisc": spec(name, params), "link": LINK, "classes": FLOWS})
    now, due, signals = 0, None, 0

    def call(kind: str, **values: Any) -> None:
        nonlocal due, signals
        line = {"call": kind, "now_ns": now, **values}
        answer = qdisc.answer(line)
        due = answer["update_ns"]
        signals += len(answer["dropped"]) + len(answer["marked"])
        compare(line | {"u": answer["u"]}, answer)

    for step in range(1500):
        now += round(dice.expovariate(1.0) * 0.4 * MS)
        if dice.random() < 0.003:
            now += round(dice.random() * 300 * MS)
        if due is not None and due <= now:
            call("update")
        if dice.random() < (0.6 if step % 500 < 350 else 0.3):
            call("enqueue", **packet(step, dice))
        else:
            call("dequeue")
    return signals


class Versus:
    """An oracle beside our qdisc."""

    def __init__(self, oracle: Any) -> None:
        self.oracle, self.difference = oracle, ""

    def __call__(self, call: Params, ours: Answer) -> None:
        if self.difference:
            return
        oracle, now, sent = self.oracle, call["now_ns"], None
        oracle.dropped, oracle.marked = [], []
        if call["call"] == "enqueue":
            oracle.enqueue(now, dict(call))
        elif call["call"] == "update":
            oracle.update(now)
        elif isinstance(oracle, dualpi2.DualPi2):
            sent = oracle.dequeue(now, call["u"])
        else:
            sent = oracle.dequeue(now)
        theirs = (sent, oracle.dropped, oracle.marked)
        if theirs != (ours.get("sent"), ours["dropped"], ours["marked"]):
            self.difference = f"{call}: ours {ours}, the oracle {theirs}"


def of_fq_codel(dice: random.Random) -> Params:
    some = {
        "law.target": f"{dice.randint(2, 30)} ms",
        "law.interval": f"{dice.randint(40, 200)} ms",
        "law.ecn": dice.random() < 0.5,
        "quantum": f"{dice.choice((64, 300, 1514, 3000))} B",
        "limit": dice.randint(5, 120),
        "memory": f"{dice.randint(3_000, 100_000)} B",
        "batch": dice.randint(1, 64),
        "ce_threshold": f"{dice.randint(1, 50)} ms",
    }
    return {key: value for key, value in some.items() if dice.random() < 0.5}


def of_fq_pie(dice: random.Random) -> Params:
    some = {
        "law.target": f"{dice.randint(2, 30)} ms",
        "law.derandomize": dice.random() < 0.5,
        "law.max_burst": f"{dice.randint(0, 150)} ms",
        "quantum": f"{dice.choice((64, 300, 1514, 3000))} B",
        "limit": dice.randint(20, 120),
    }
    return {key: value for key, value in some.items() if dice.random() < 0.5}


def of_dual(dice: random.Random) -> Params:
    some = {
        "defaults": dice.choice(("rfc9332", "linux")),
        "target": f"{dice.randint(2, 30)} ms",
        "period": f"{dice.randint(4, 30)} ms",
        "coupling": dice.choice((1.0, 2.0, 4.0)),
        "min_th": f"{dice.randint(1, 20)} ms",
        "range": f"{dice.randint(0, 10)} ms",
        "th_len": dice.randint(0, 5),
        "scheduler": dice.choice(("wrr", "time_shift")),
        "classic_share": dice.choice((0.05, 0.1, 0.5)),
        "tshift": f"{dice.randint(0, 60)} ms",
        "overload": dice.choice(("drop", "overflow")),
        "signals": dice.choice(("recur", "random")),
        "bypass": f"{dice.randint(0, 9000)} B",
        "limit": dice.randint(20, 120),
    }
    return {key: value for key, value in some.items() if dice.random() < 0.4}


def fair(params: Params) -> Params:
    return {"by": "class", **params}


CASES: dict[str, tuple[Callable[[random.Random], Params], Callable[[Params, Params], Any]]] = {
    "fq_codel": (of_fq_codel, lambda params, _: fair_queueing.FqCoDel({"limit": 120} | params)),
    "fq_pie": (of_fq_pie, lambda params, link: fair_queueing.FqPie({"limit": 120} | params, link)),
    "dual": (of_dual, lambda params, link: dualpi2.DualPi2(params, link["limit_packets"])),
}


@pytest.mark.parametrize("name", CASES)
def test_random_traces(name: str) -> None:
    drawn, oracle = CASES[name]
    signals = 0
    for seed in range(COUNT):
        params = drawn(random.Random(seed))
        versus = Versus(oracle(params, LINK))
        signals += play(name, params if name == "dual" else fair(params), seed, versus)
        assert not versus.difference, f"seed {seed}, {params}: {versus.difference}"
    assert signals > 20 * COUNT, signals


class NoNewQueues(fair_queueing.FqCoDel):
    def activated(self, flow: int) -> None:
        self.old.append(flow)


class RemovesNewQueues(fair_queueing.FqCoDel):
    def found_empty(self, flow: int, *, is_new: bool) -> None:  # noqa: ARG002
        (self.new if is_new else self.old).popleft()


class CountsPackets(fair_queueing.FqCoDel):
    def spend(self, flow: int, length: int) -> None:  # noqa: ARG002
        self.credits[flow] -= 1514


class DropsTheLongest(fair_queueing.FqCoDel):
    def fattest(self) -> int:
        return max(self.queues, key=lambda flow: len(self.queues[flow].packets))


class DropsOne(fair_queueing.FqCoDel):
    def drop_from(self, flow: int) -> None:
        self.dropped.append(self.queues[flow].pop_head()["id"])


class DropsTheTail(fair_queueing.FqCoDel):
    def drop_from(self, flow: int) -> None:
        queue = self.queues[flow]
        for _ in range(max(min(self.batch, (len(queue.packets) + 1) // 2), 1)):
            packet = queue.codel.queue.pop()
            queue.codel.bytes -= packet["len"]
            self.dropped.append(packet["id"])


class IgnoresTheThreshold(fair_queueing.FqCoDel):
    def __init__(self, params: Params) -> None:
        super().__init__(params)
        self.ce_threshold = None


class NotCoupled(dualpi2.DualPi2):
    def combined(self, own: float, coupled: float) -> float:  # noqa: ARG002
        return own


class AddsUp(dualpi2.DualPi2):
    def combined(self, own: float, coupled: float) -> float:
        return own + coupled


class NotSquared(dualpi2.DualPi2):
    def classic(self) -> float:
        return self.p


class CouplesByOne(dualpi2.DualPi2):
    def coupled(self) -> float:
        return self.p


class ClassicAlone(dualpi2.DualPi2):
    def longest(self, now: int) -> float:
        return self.cq.time(now)


class NeverOverloaded(dualpi2.DualPi2):
    def is_overloaded(self, p_c: float) -> bool:  # noqa: ARG002
        return False


class Ect1Alone(dualpi2.DualPi2):
    def is_l4s(self, packet: Params) -> bool:
        return packet["ecn"] == "ect1"


class LFirst(dualpi2.DualPi2):
    def schedules_l(self, now: int) -> bool:  # noqa: ARG002
        return bool(self.lq.packets)


MUTANTS = [
    (
        NoNewQueues,
        "RFC 8290, section 4.1: a queue that is not active is added to the end of the list of new queues",
    ),
    (
        RemovesNewQueues,
        "RFC 8290, section 4.2: an empty new queue is moved to the end of the list of old queues",
    ),
    (CountsPackets, "RFC 8290, section 4.2: credits are reduced by the size of the packet"),
    (DropsTheLongest, "RFC 8290, section 4.1: the queue with the most bytes"),
    (DropsOne, "RFC 8290, section 4.1: half of the packets, up to 64"),
    (DropsTheTail, "RFC 8290, section 4.1: packets are dropped from the head"),
    (IgnoresTheThreshold, "RFC 8290, section 5.2.7: packets above ce_threshold are marked"),
    (NotCoupled, "RFC 9332, Figure 7, line 6: p_L = max(p'_L, p_CL)"),
    (AddsUp, "RFC 9332, Figure 7, line 6: p_L = max(p'_L, p_CL)"),
    (NotSquared, "RFC 9332, Figure 8, line 5: p_C = p'^2"),
    (CouplesByOne, "RFC 9332, Figure 8, line 4: p_CL = k p'"),
    (ClassicAlone, "RFC 9332, Figure 8, line 2a: the greater of the two delays"),
    (NeverOverloaded, "RFC 9332, Figure 7, line 12b: overload disables ECN"),
    (Ect1Alone, "RFC 9332, Figure 3, line 6: ECT(1) and CE"),
    (LFirst, "RFC 9332, Appendix A.2: strict priority would be inappropriate"),
]


@pytest.mark.parametrize(("mutant", "clause"), [pytest.param(*row, id=row[0].__name__) for row in MUTANTS])
def test_a_mutant_of_a_clause_is_rejected(mutant: Any, clause: str) -> None:
    name = "dual" if issubclass(mutant, dualpi2.DualPi2) else "fq_codel"
    drawn, _ = CASES[name]
    for seed in range(40):
        params = drawn(random.Random(seed))
        oracle = mutant(params, LINK["limit_packets"]) if name == "dual" else mutant({"limit": 120} | params)
        versus = Versus(oracle)
        play(name, params if name == "dual" else fair(params), seed, versus)
        if versus.difference:
            return
    pytest.fail(f"no trace rejects it: {clause}")
