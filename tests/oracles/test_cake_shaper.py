"""The clock of cake and of shaper against the manual page's words, packet by packet.

ORACLE_TRACES random traces of each. Mutants of each clause are rejected, with the clause: the one whose
repair makes the difference disappear.
"""

from __future__ import annotations

import os
import random
from typing import Any

import cake_shaper
import pytest

from sojourn.conform import TracedQdisc

COUNT = int(os.environ.get("ORACLE_TRACES", "40"))
LINK = {"rate_bps": 1e9, "packet_bytes": 1000.0, "limit_packets": 1000, "base_rtt_ns": 100_000_000}
#: Name of a framing; overhead, mpu and coding as tc-cake(8) has them.
FRAMINGS = {
    "ip": (0, 0, "none"),
    "ethernet": (38, 84, "none"),
    "docsis": (18, 64, "none"),
    "pppoe_llc": (40, 0, "atm"),
    "pppoa_vcmux": (10, 0, "atm"),
    "ptm": (22, 0, "ptm"),
    "pppoe_ptm": (30, 0, "ptm"),
}
#: Our times are whole nanoseconds, with the fraction carried over.
ROUNDED_NS = 2


def first_difference(qdisc: str, seed: int, kind: type[cake_shaper.Shaper] = cake_shaper.Shaper) -> str:
    """First packet that leaves at another time than the oracle's; empty: none."""
    dice = random.Random(seed)
    framing = dice.choice(list(FRAMINGS))
    bits = dice.randint(200_000, 50_000_000)
    rate = "rate" if qdisc == "shaper" else "bandwidth"
    inner = ",qdisc=tail_drop" if qdisc == "shaper" else ""
    spec = f"{qdisc}:{rate}={bits} bit/s,framing={framing}{inner}"
    ours, oracle = TracedQdisc({"qdisc": spec, "link": LINK}), kind(bits, *FRAMINGS[framing])
    lengths: dict[int, int] = {}
    now = 0
    for step in range(60):
        if dice.random() < 0.15:
            now += round(dice.random() * 100_000_000)
        for burst in range(dice.randint(0, 4)):
            number, length = 10 * step + burst, dice.randint(40, 1500)
            lengths[number] = length
            ours.answer(_enqueued(number, length, now))
        while True:
            answer: dict[str, Any] = ours.answer({"call": "dequeue", "now_ns": now})
            if answer["sent"] is None and answer["packets"] == 0:
                break
            if answer["sent"] is None:
                now = max(now, answer["not_before_ns"])
                continue
            due = oracle.send(now, lengths[answer["sent"]])
            if abs(answer["not_before_ns"] - due) > ROUNDED_NS:
                return f"{spec}: next at {answer['not_before_ns']}, the oracle {float(due)}"
    return ""


def _enqueued(number: int, length: int, now: int) -> dict[str, Any]:
    return {"call": "enqueue", "now_ns": now, "id": number, "len": length, "ecn": "not_ect", "flow": 0}


@pytest.mark.parametrize("qdisc", ["shaper", "cake"])
def test_departures_are_those_of_the_manual_page(qdisc: str) -> None:
    for seed in range(COUNT):
        assert not first_difference(qdisc, seed)


class NoOverhead(cake_shaper.Shaper):
    def size(self, length: int) -> int:
        return self.coded(max(length, self.mpu))


class MpuBeforeOverhead(cake_shaper.Shaper):
    def size(self, length: int) -> int:
        return self.coded(max(length, self.mpu) + self.overhead)


class PartsOfCells(cake_shaper.Shaper):
    def cells(self, frame: int) -> int:
        return frame // 48


class NoBlocks(cake_shaper.Shaper):
    def coded(self, frame: int) -> int:
        return frame if self.coding == "ptm" else super().coded(frame)


class SavesUp(cake_shaper.Shaper):
    def begin(self, now: int) -> Any:  # noqa: ARG002
        return self.next


#: The method that each clause is.
CLAUSES = {
    "size": "tc-cake(8), overhead compensation parameters: overhead is added, and then mpu is the least",
    "cells": "tc-cake(8), overhead compensation parameters, atm: whole cells",
    "coded": "tc-cake(8), overhead compensation parameters, ptm: a byte for each 64 begun",
    "begin": "tc-cake(8), shaper parameters: no bursts after a pause",
}
MUTANTS = [
    (NoOverhead, "size"),
    (MpuBeforeOverhead, "size"),
    (PartsOfCells, "cells"),
    (NoBlocks, "coded"),
    (SavesUp, "begin"),
]


@pytest.mark.parametrize("qdisc", ["shaper", "cake"])
@pytest.mark.parametrize(("mutant", "method"), MUTANTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_mutant_is_rejected_with_its_clause(
    qdisc: str, mutant: type[cake_shaper.Shaper], method: str
) -> None:
    difference = next(filter(None, (rejected(qdisc, seed, mutant) for seed in range(40))))
    assert difference.endswith(f"({CLAUSES[method]})")


def rejected(qdisc: str, seed: int, mutant: type[cake_shaper.Shaper]) -> str:
    """First difference of a mutant, with the clause that it breaks; empty: none."""
    difference = first_difference(qdisc, seed, mutant)
    if not difference:
        return ""
    for method, clause in CLAUSES.items():
        repaired = type("Repaired", (mutant,), {method: getattr(cake_shaper.Shaper, method)})
        if not first_difference(qdisc, seed, repaired):
            return f"{difference} ({clause})"
    return difference
