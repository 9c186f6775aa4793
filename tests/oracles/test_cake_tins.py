"""Whole sequences of cake, packets in and packets out, against the oracle of its tins, hosts and flows.

ORACLE_TRACES random traces. Mutants of each clause are rejected, with the clause: the one whose repair makes
the difference disappear.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import cake_tins
import pytest
from cake_tins import BULK, Cake, Flow, Tin
from test_cake_shaper import FRAMINGS, ROUNDED_NS

from sojourn.conform import TracedQdisc

COUNT = int(os.environ.get("ORACLE_TRACES", "40"))
LINK = {"rate_bps": 1e9, "packet_bytes": 1000.0, "limit_packets": 100_000}
ISOLATIONS = ["flowblind", "srchost", "dsthost", "hosts", "flows", *cake_tins.SIDES, "triple_isolate"]
#: Rates at which turns are whole for up to six flows of a host; up to 9.8 Mbit/s all are 300 bytes.
BANDWIDTHS = [None, 480 << 15, 960 << 15, 1200 << 15, 4800 << 15]
HOSTS = ("from_host", "to_host")
CODEPOINTS = sorted(cake_tins.CODEPOINTS.values())
FLOWS = 6
STEPS = 400
#: Traces among which each mutant is rejected.
ENOUGH = 150


class Trace:
    """A random trace: the qdisc's parameters, its flows, and its load."""

    def __init__(self, seed: int) -> None:
        dice = random.Random(seed)
        while True:
            self.draw(dice)
            if self.has_whole_turns():
                break
        self.dice = dice

    def draw(self, dice: random.Random) -> None:
        small = dice.random() < 0.5
        self.params: dict[str, Any] = {
            "bandwidth": dice.randint(200_000, 9_800_000) if small else dice.choice(BANDWIDTHS),
            "diffserv": dice.choice(list(cake_tins.TINS)),
            "isolation": dice.choice(ISOLATIONS),
            "rtt_ns": dice.randint(10, 200) * 1_000_000,
            "memlimit": dice.randint(4_000, 60_000),
        }
        self.params["ingress"] = self.params["bandwidth"] is not None and dice.random() < 0.2
        self.framing = dice.choice(list(FRAMINGS))
        self.flows: list[dict[str, Any]] = [
            {
                "class": str(number),
                "dscp": dice.choice((0, 0, 8, 46, dice.choice(CODEPOINTS), dice.randint(0, 63))),
                "from_host": dice.randint(1, 3),
                "to_host": dice.randint(11, 14),
            }
            for number in range(FLOWS)
        ]

    def has_whole_turns(self) -> bool:
        oracle = self.oracle(Cake)
        sides = cake_tins.SIDES.get(self.params["isolation"], ())
        for number, tin in enumerate(oracle.tins):
            flows = [flow for flow in self.flows if oracle.tin_of(flow["dscp"]) == number]
            loads = [Counter(flow[HOSTS[side]] for flow in flows) for side in sides]
            most = max([1, *(load for hosts in loads for load in hosts.values())])
            if any((tin.quantum / load).denominator != 1 for load in range(1, most + 1)):
                return False
        return True

    def oracle(self, kind: type[Cake]) -> Cake:
        return kind(self.params, self.flows, FRAMINGS[self.framing])

    def ours(self) -> TracedQdisc:
        params = self.params
        some = {key: params[key] for key in ("diffserv", "isolation")}
        some |= {
            "rtt": f"{params['rtt_ns']} ns",
            "memlimit": f"{params['memlimit']} B",
            "framing": self.framing,
        }
        if params["bandwidth"] is not None:
            some |= {"bandwidth": f"{params['bandwidth']} bit/s", "ingress": str(params["ingress"]).lower()}
        spec = "cake:" + ",".join(f"{key}={value}" for key, value in some.items())
        return TracedQdisc({"qdisc": spec, "link": LINK, "flows": self.flows})

    def packet(self, number: int) -> dict[str, Any]:
        return {
            "id": number,
            "len": self.dice.choice((64, 300, 1000, 1500)),
            "ecn": self.dice.choice(("not_ect", "not_ect", "ect0", "ce")),
            "flow": min(int(self.dice.expovariate(0.4)), FLOWS - 1),
        }


class Beside:
    """Our qdisc with an oracle beside it, which makes the same calls."""

    def __init__(self, trace: Trace, kind: type[Cake]) -> None:
        self.ours, self.oracle = trace.ours(), trace.oracle(kind)
        self.held, self.ready, self.signals, self.difference = 0, 0, 0, ""

    def call(self, name: str, now: int, packet: dict[str, Any]) -> None:
        """An arrival or a departure."""
        call = {"call": name, "now_ns": now, **packet}
        ours, oracle = self.ours.answer(call), self.oracle
        oracle.dropped, oracle.marked = [], []
        if name == "enqueue":
            oracle.enqueue(now, call)
            sent = None
        else:
            sent = oracle.dequeue(now, ours["u"])
        theirs = (sent, oracle.dropped, oracle.marked)
        is_same = theirs == (ours.get("sent"), ours["dropped"], ours["marked"])
        due = oracle.shaper.next if oracle.is_shaped else 0
        if not is_same or abs(ours["not_before_ns"] - due) > ROUNDED_NS:
            self.difference = f"{call}: ours {ours}, the oracle {theirs}, next at {float(due)}"
        self.held, self.ready = ours["packets"], ours["not_before_ns"]
        self.signals += len(ours["dropped"]) + len(ours["marked"])


def compared(seed: int, kind: type[Cake] = Cake) -> Beside:
    """A random trace until the first difference."""
    trace = Trace(seed)
    both, dice = Beside(trace, kind), trace.dice
    mean = 700 * 8e9 / (trace.params["bandwidth"] or 8_000_000)
    now = 0
    for step in range(STEPS):
        arrival = now + round(dice.expovariate(1.0) * mean * (0.9 if step % 200 < 150 else 1.5))
        if dice.random() < 0.004:
            arrival += round(dice.random() * 500_000_000)
        while both.held and not both.difference:
            late = round(dice.expovariate(1.0) * mean) if dice.random() < 0.2 else 0
            departure = max(both.ready, now) + late + (0 if trace.params["bandwidth"] else round(mean))
            if departure > arrival:
                break
            now = departure
            both.call("dequeue", now, {})
        if both.difference:
            both.difference = f"{trace.params}, {trace.framing}, {trace.flows}: {both.difference}"
            break
        now = arrival
        both.call("enqueue", now, trace.packet(step))
    return both


def test_packets_are_those_of_the_oracle() -> None:
    signals = 0
    for seed in range(COUNT):
        both = compared(seed)
        assert not both.difference, f"seed {seed}: {both.difference}"
        signals += both.signals
    assert signals > 10 * COUNT, signals


class AllInOneTin(Cake):
    def tin_of(self, dscp: int) -> int:  # noqa: ARG002
        return 0


class LowerEffortIsBest(Cake):
    def tin_of(self, dscp: int) -> int:
        return 0 if dscp == cake_tins.CODEPOINTS["LE"] else super().tin_of(dscp)


class BulkHasAQuarter(Cake):
    def tin(self, rate: Any, share: Any) -> Tin:
        return super().tin(rate, 4 * share if share == BULK[1] else share)


class StrictPriority(Cake):
    def is_below(self, tin: Tin, now: int) -> bool:  # noqa: ARG002
        return True


class BestEffortFirst(Cake):
    """Bulk after best effort, which always is below its threshold."""

    def by_priority(self) -> list[Tin]:
        order = super().by_priority()
        return order if self.thresholds()[-1][0] == 7 else [*order[:-2], *order[:-3:-1]]


class PriorityAboveToo(Cake):
    def above(self, waiting: list[Tin]) -> Tin:
        return waiting[0]


class Owes(Cake):
    """What a tin sent above its threshold is a debt."""

    def advanced(self, tin: Tin, now: int, length: int) -> None:  # noqa: ARG002
        tin.next += self.time_of(tin, length)


class FromNow(Cake):
    """A tin loses the time that it was late."""

    def advanced(self, tin: Tin, now: int, length: int) -> None:
        tin.next = max(tin.next, now) + self.time_of(tin, length)


class SavesUp(Cake):
    def resumed(self, tin: Tin, now: int) -> None:
        pass


class EqualTins(Cake):
    def passed(self, tin: Tin) -> None:
        tin.credits += 1024 if tin.credits <= 0 else 0


class KeepsDebts(Cake):
    """What a tin has overdrawn is not paid while it is empty."""

    def passed(self, tin: Tin) -> None:
        if tin.packets:
            super().passed(tin)


class FlowsAlways(Cake):
    def queue_of(self, packet: dict[str, Any]) -> Any:
        return packet["flow"]


class OneHost(Cake):
    def load(self, flow: Flow) -> int:
        return flow.tin.loads[0][flow.hosts[0]] if self.isolation == "triple_isolate" else super().load(flow)


class FlowsAlone(Cake):
    def load(self, flow: Flow) -> int:  # noqa: ARG002
        return 1


class CountsFlowsWithPackets(Cake):
    """The sources' own rule, from which ours deviates."""

    def used_up(self, flow: Flow) -> None:
        if flow.cobalt.queue:
            super().used_up(flow)


class CountsNewFlows(Cake):
    def becomes_active(self, flow: Flow) -> None:
        self.is_bulk(flow)
        super().becomes_active(flow)
        flow.state = "bulk"


class LongTurns(Cake):
    def quantum(self, rate: Any) -> Any:
        return super().quantum(rate) * 4


class CountsIpBytes(Cake):
    def spent(self, length: int) -> int:
        return length


class DropsCostNothing(Cake):
    def drop_in_tin(self, now: int, tin: Tin, length: int) -> None:
        pass


class TargetOfRttAlone(Cake):
    def law(self, rate: Any) -> dict[str, Any]:  # noqa: ARG002
        return super().law(type(self.shaper.rate)(0))


class DropsTheLongest(Cake):
    def fattest(self) -> Flow:
        return max(self.queues.values(), key=lambda flow: len(flow.cobalt.queue))


PAPER = "Piece of CAKE, section III"
MANUAL = "tc-cake(8)"
OURS = "ours, docs/deviations/cake.md, load of a host"
#: The method that each clause is.
CLAUSES = {
    "tin_of": f"{MANUAL}, priority queue parameters: the codepoints of each tin",
    "tin": f"{MANUAL}, priority queue parameters: the threshold of each tin",
    "is_below": f"{MANUAL}, priority queue parameters: a tin has priority below its threshold",
    "by_priority": "sch_cake: Add DiffServ handling: bulk is a tier of its own, with 1/16 of the rate",
    "above": "sch_cake.c, cake_dequeue: else the tin that is scheduled earliest",
    "advanced": "sch_cake.c, cake_advance_shaper: a tin's clock is a packet ahead at most",
    "resumed": f"{MANUAL}, shaper parameters: no bursts after a pause, of a tin either",
    "passed": "sch_cake.c, cake_dequeue: without a shaper tins are balanced by DRR",
    "queue_of": f"{MANUAL}, flow isolation parameters: what has a queue of its own",
    "load": f"{PAPER}-B: a flow's quantum is divided by the flows of its busier host",
    "used_up": f"{OURS}: a flow is load of its hosts until it leaves the rounds",
    "becomes_active": "sch_cake: Make the dual modes fairer: sparse flows are no load of a host",
    "quantum": "sch_cake.c, cake_set_rate: 1/4096 s of a tin's rate, 300 to 1514 bytes",
    "spent": "sch_cake.c, cake_dequeue: turns are spent in bytes as the shaper counts them",
    "drop_in_tin": "sch_cake: Add ingress mode: dropped packets count for the shaped rate",
    "law": "sch_cake.c, cake_set_rate: a target of one and a half packets at least",
    "fattest": f"{PAPER}: the queue with most bytes loses packets",
}
MUTANTS = [
    (AllInOneTin, "tin_of"),
    (LowerEffortIsBest, "tin_of"),
    (BulkHasAQuarter, "tin"),
    (StrictPriority, "is_below"),
    (BestEffortFirst, "by_priority"),
    (PriorityAboveToo, "above"),
    (Owes, "advanced"),
    (FromNow, "advanced"),
    (SavesUp, "resumed"),
    (EqualTins, "passed"),
    (KeepsDebts, "passed"),
    (FlowsAlways, "queue_of"),
    (OneHost, "load"),
    (FlowsAlone, "load"),
    (CountsFlowsWithPackets, "used_up"),
    (CountsNewFlows, "becomes_active"),
    (LongTurns, "quantum"),
    (CountsIpBytes, "spent"),
    (DropsCostNothing, "drop_in_tin"),
    (TargetOfRttAlone, "law"),
    (DropsTheLongest, "fattest"),
]


@pytest.mark.parametrize(("mutant", "method"), MUTANTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_mutant_is_rejected_with_its_clause(mutant: type[Cake], method: str) -> None:
    difference = next(filter(None, (rejected(seed, mutant) for seed in range(ENOUGH))))
    assert difference.endswith(f"({CLAUSES[method]})")


def test_every_clause_has_a_mutant() -> None:
    assert {method for _, method in MUTANTS} == set(CLAUSES)


def rejected(seed: int, mutant: type[Cake]) -> str:
    """First difference of a mutant, with the clause that it breaks; empty: none."""
    difference = compared(seed, mutant).difference
    if not difference:
        return ""
    for method in CLAUSES.keys() & vars(mutant).keys():
        repaired = type("Repaired", (mutant,), {method: getattr(Cake, method)})
        if not compared(seed, repaired).difference:
            return f"{difference} ({CLAUSES[method]})"
    return difference
