"""Mechanisms by which the kernel's laws differ from ours: oracles of tests/oracles with one of them alone.

Each oracle stands behind the token bucket of the comparison, and its numbers become the kernel's:
docs/deviations/linux_qdiscs.md.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from kernel.arrivals import TRACES, Packet
from kernel.cases import CASES
from kernel.ours import Behind, Within, replay
from kernel.outcome import CE, Fate, metrics
from kernel_check import kept

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracles"))

from codel import CoDelQueue
from pie import Pie
from red import Red

pytestmark = pytest.mark.slow
LINK = {"rate_bps": 10_000_000, "packet_bytes": 1000, "limit_packets": 10_000}
PERIOD_NS = 20_000_000


def kernel(case: str, metric: str) -> float:
    _, samples = kept()
    return samples[case, metric].mean


def packets(trace: str) -> list[Packet]:
    return list(TRACES[trace].packets())


# ---- CoDel: square roots.


class KernelRoots(CoDelQueue):
    """interval * root / 2^16, with a step of Newton's method at each change of count.

    include/net/codel_impl.h (BSD, 3 clauses, or GPL)
    """

    root, of = 0xFFFF, 1

    def control_law(self, t: int, count: int) -> int:
        if count == 1:
            self.root = 0xFFFF
        elif count != self.of:
            self.root = newton(self.root, count)
        self.of = count
        return t + (self.interval * self.root >> 16)


def newton(root: int, count: int) -> int:
    """A step towards 1 / sqrt(count): x <- x (3 - count x^2) / 2, with x = root / 2^16."""
    x = root << 16
    return (((3 << 32) - count * (x * x >> 32) >> 2) * x >> 31) >> 16


class Departures:
    """An oracle that judges departures, called as a `TracedQdisc` is."""

    def __init__(self, codel: CoDelQueue) -> None:
        self.codel = codel

    def answer(self, call: Mapping[str, Any]) -> dict[str, Any]:
        answer = {"sent": None, "update_ns": None}
        if call["call"] == "enqueue":
            packet = {"len": call["len"], "ecn": call["ecn"], "tstamp": call["now_ns"], "id": call["id"]}
            self.codel.enqueue(packet)
            return answer
        waiting = list(self.codel.queue)
        fates = self.codel.dequeue(call["now_ns"])
        if fates and fates[-1] != "drop":
            last = waiting[len(fates) - 1]
            answer |= {"sent": last["id"], "ecn": "ce" if fates[-1] == "mark" else last["ecn"]}
        return answer


def test_a_step_of_newton_s_method():
    # From 1 the first step for 2 is to 1/2, where 1/sqrt(2) is 0.71.
    assert newton(0xFFFF, 2) == pytest.approx(0x8000, abs=1)
    assert newton(round(0x10000 / 10), 100) == pytest.approx(0x10000 / 10, abs=2)


@pytest.mark.parametrize("trace", ["drops", "marks"])
def test_codel_s_square_roots_alone_explain_its_counts(trace):
    arrivals = packets(trace)
    exact, rooted = (
        metrics(Behind(Departures(kind({"mtu": "1514 B"})), arrivals).run())
        for kind in (CoDelQueue, KernelRoots)
    )
    assert rooted[trace] == kernel(f"codel {trace}", trace) != exact[trace]
    assert rooted["sojourn_p50_s"] == pytest.approx(kernel(f"codel {trace}", "sojourn_p50_s"), rel=0.003)


# ---- RED and PIE: judged as they arrive.


class Arrivals:
    """A queue under an oracle that judges arrivals, called as a `TracedQdisc` is."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed).random
        self.waiting: deque[tuple[int, int, int, str]] = deque()
        self.bytes = 0
        self.update_ns: int | None = None

    def judge(self, call: dict[str, Any]) -> str:
        raise NotImplementedError

    def sent(self, sojourn_ns: int) -> None:
        """A packet left."""

    def idle(self, now_ns: int) -> None:
        """The queue is empty."""

    def update(self, now_ns: int) -> None:
        """An update is due."""

    def answer(self, call: Mapping[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = {"sent": None, "dropped": []}
        now = call["now_ns"]
        if call["call"] == "update":
            self.update(now)
        elif call["call"] == "enqueue":
            backlog = {"backlog_packets": len(self.waiting), "backlog_bytes": self.bytes}
            verdict = self.judge({**call, **backlog, "u": [self.draw()]})
            if verdict == "drop":
                answer["dropped"] = [call["id"]]
            else:
                ecn = "ce" if verdict == "mark" else call["ecn"]
                self.waiting.append((now, call["id"], call["len"], ecn))
                self.bytes += call["len"]
        elif self.waiting:
            since, answer["sent"], size, answer["ecn"] = self.waiting.popleft()
            self.bytes -= size
            self.sent(now - since)
        else:
            self.idle(now)
        return answer | {"update_ns": self.update_ns}


class TextSpacing(Red):
    """The spacing of the paper's text: the packet itself is not counted."""

    def p_a(self, p_b: float) -> float:
        self.count -= 1
        try:
            return super().p_a(p_b)
        finally:
            self.count += 1


class UnderRed(Arrivals):
    def __init__(self, kind: type[Red], seed: int) -> None:
        super().__init__(seed)
        params = {"min": "20 packets", "max": "60 packets", "weight": 1 / 64, "gentle": False, "wait": False}
        self.red = kind({**params, "mark_below_p": 2.0}, LINK)
        self.red.q_time = None

    def judge(self, call: dict[str, Any]) -> str:
        return self.red.arrival(call)


class UnderPie(Arrivals):
    def __init__(self, kind: type[Pie], seed: int) -> None:
        super().__init__(seed)
        self.pie = kind({"period": "20 ms", "packet": "1514 B"}, LINK)
        self.update_ns = PERIOD_NS

    def judge(self, call: dict[str, Any]) -> str:
        return self.pie.on_arrival(call, is_full=False)

    def sent(self, sojourn_ns: int) -> None:
        self.pie.on_departure({"sojourn_ns": sojourn_ns})

    def idle(self, now_ns: int) -> None:  # noqa: ARG002
        self.pie.on_idle()

    def update(self, now_ns: int) -> None:
        self.pie.on_update(now_ns, self.bytes)
        self.update_ns = now_ns + PERIOD_NS


class SlowerDecay(Pie):
    """A decay by 1/64, which RFC 8033, section 4.2, finds sufficient."""

    def calculate_drop_prob(self, now: int, backlog_bytes: float) -> None:
        decays = self.decays_below((self.current_qdelay or 0.0), self.qdelay_old)
        super().calculate_drop_prob(now, backlog_bytes)
        if decays:
            self.drop_prob *= (1 - 1 / 64) / 0.98


def mean(run: Callable[[int], list[Fate]], metric: str) -> float:
    return fmean(metrics(run(seed))[metric] for seed in range(4))


def test_red_s_spacing_alone_explains_its_marks():
    arrivals = packets("marks")
    counted, spaced = (
        mean(lambda seed, kind=kind: Within(UnderRed(kind, seed), arrivals).run(), "marks")
        for kind in (Red, TextSpacing)
    )
    assert spaced == pytest.approx(kernel("red marks", "marks"), rel=0.005)
    assert counted > 1.012 * spaced


def test_pie_s_decay_alone_explains_its_drops():
    arrivals = packets("marks")
    faster, slower = (
        mean(lambda seed, kind=kind: Behind(UnderPie(kind, seed), arrivals).run(), "drops")
        for kind in (Pie, SlowerDecay)
    )
    assert slower == pytest.approx(kernel("pie marks", "drops"), rel=0.02)
    assert faster < 0.96 * slower


#: First and last packet of the rows of at least 25 marks in the kernel's replicate 2, the first six.
ROWS = [(1134, 1580), (2997, 3554), (7175, 7223), (8965, 9323), (10547, 11606), (12361, 13345)]


def test_red_s_average_is_the_kernel_s():
    """Above max every packet is marked: where that begins and ends shows the average to the packet."""
    (case,) = [case for case in CASES if case.name == "red marks"]
    fates = replay(case, packets("marks"), seed=1)
    rows, first = [], None
    for number, fate in enumerate([*fates, Fate(0, None, None)]):
        if fate.ecn == CE:
            first = number if first is None else first
        elif first is not None:
            rows += [(first, number - 1)] if number - first >= 25 else []
            first = None
    # The packets at both ends may be hit by chance.
    assert rows[: len(ROWS)] == [pytest.approx(row, abs=3) for row in ROWS]
