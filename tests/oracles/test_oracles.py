"""Whole verdict sequences, compared with slow implementations from the sources alone.

A golden trace shows that a law is unchanged; an oracle shows that it was right. Random traces are added:
ORACLE_TRACES of them for each law.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import avq
import codel
import pytest
from random_traces import trace
from registry import ORACLES, Oracle

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
LINK = {
    "rate_bps": 2e6,
    "packet_bytes": 1000.0,
    "limit_packets": 40.0,
    "flows": 10.0,
    "base_rtt_ns": 100_000_000,
}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=f"{law}-{path.stem}")
        for law in ORACLES
        for path in sorted((VECTORS / law).glob("*.jsonl"))
    ],
)
def test_golden_traces(path: Path) -> None:
    header, *calls = map(json.loads, path.read_text().splitlines())
    assert header["law"] == path.parent.name
    assert first_difference(ORACLES[header["law"]], header, calls) == "none"


@pytest.mark.parametrize("law", ORACLES)
def test_random_traces(law: str) -> None:
    oracle, acts, count = ORACLES[law], 0, int(os.environ.get("ORACLE_TRACES", "25"))
    for seed in range(count):
        params = oracle.drawn(random.Random(seed))
        header = {"trace": 1, "law": law, "params": params, "about": "random", "link": LINK}
        calls = trace(header, seed, oracle.first_update_ms(params), rates=oracle.rates)
        assert first_difference(oracle, header, calls) == "none", f"seed {seed}: {params}"
        acts += sum(call.get("verdict", "pass") != "pass" for call in calls)
    assert acts * 25 > oracle.acts * count, acts


def first_difference(oracle: Oracle, header: dict[str, Any], calls: list[dict[str, Any]]) -> str:
    """First difference between an oracle and a trace: in the verdicts, and in p if the oracle has it."""
    answers = oracle.replay(header, calls)
    verdicts, probabilities = answers if isinstance(answers, tuple) else (answers, None)
    if probabilities is not None:
        traced = [call["p"] for call in calls if call["call"] == "update"]
        assert probabilities == pytest.approx(traced, abs=1e-9)
    expected = [call["verdict"] for call in calls if "verdict" in call]
    assert len(verdicts) == len(expected)
    pairs = enumerate(zip(verdicts, expected, strict=True))
    return next((f"verdict {place}: {a}, trace {b}" for place, (a, b) in pairs if a != b), "none")


def test_an_oracle_detects_a_changed_verdict() -> None:
    header, *calls = map(json.loads, (VECTORS / "codel" / "rate_stall.jsonl").read_text().splitlines())
    next(call for call in calls if call.get("verdict") == "drop")["verdict"] = "pass"
    assert first_difference(Oracle(codel.verdicts, lambda _: {}), header, calls) != "none"


@pytest.mark.parametrize(("window", "limit"), [(1.5, 5.863), (2.5, 2.619), (3.0, 1.4875)])
def test_the_fluid_model_of_avq_oscillates_from_the_limit_of_alpha_on(window: float, limit: float) -> None:
    rtt = 0.28
    assert avq.largest_alpha(window, rtt) == pytest.approx(limit, rel=1e-3)
    assert avq.swing(window, rtt, 0.85 * limit) < 0.8
    assert avq.swing(window, rtt, 1.15 * limit) > 1.25
