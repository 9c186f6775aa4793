"""Whole qdiscs, packets in and packets out, compared with slow implementations from the sources alone.

ORACLE_TRACES random traces for each; every mutant of `qdisc_mutants.py` is rejected by one of them, too.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import dualpi2
import fair_queueing
import pytest
from qdisc_mutants import OF_CLAUSES

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


CASES: dict[str, tuple[Callable[[random.Random], Params], type]] = {
    "fq_codel": (of_fq_codel, fair_queueing.FqCoDel),
    "fq_pie": (of_fq_pie, fair_queueing.FqPie),
    "dual": (of_dual, dualpi2.DualPi2),
}


@pytest.mark.parametrize("name", CASES)
def test_random_traces(name: str) -> None:
    drawn, oracle = CASES[name]
    signals = 0
    for seed in range(COUNT):
        params = drawn(random.Random(seed))
        versus = Versus(made(oracle, params))
        signals += play(name, params if name == "dual" else fair(params), seed, versus)
        assert not versus.difference, f"seed {seed}, {params}: {versus.difference}"
    assert signals > 20 * COUNT, signals


@pytest.mark.parametrize(
    "mutant", [mutant for some in OF_CLAUSES.values() for mutant in some], ids=lambda kind: kind.__name__
)
def test_random_traces_reject_every_mutant(mutant: Any) -> None:
    name, drawn = next((name, drawn) for name, (drawn, kind) in CASES.items() if issubclass(mutant, kind))
    for seed in range(150):
        params = drawn(random.Random(seed))
        versus = Versus(made(mutant, params))
        play(name, params if name == "dual" else fair(params), seed, versus)
        if versus.difference:
            return
    pytest.fail("no trace rejects it")


def made(kind: Any, params: Params) -> Any:
    """An implementation beside our qdisc on `LINK`."""
    if issubclass(kind, dualpi2.DualPi2):
        return kind(params, LINK["limit_packets"])
    params = {"limit": LINK["limit_packets"]} | params
    return kind(params, LINK) if issubclass(kind, fair_queueing.FqPie) else kind(params)
