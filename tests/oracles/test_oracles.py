"""Whole verdict sequences, beside slow implementations from the sources alone.

A golden trace says that a law is unchanged; an oracle says that it was right. Random traces come on top:
ORACLE_TRACES sets how many for each law.
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
SITE = {
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
        header = {"trace": 1, "law": law, "params": params, "about": "random", "site": SITE}
        calls = trace(header, seed, oracle.first_update_ms(params), rates=oracle.rates)
        assert first_difference(oracle, header, calls) == "none", f"seed {seed}: {params}"
        acts += sum(call.get("verdict", "pass") != "pass" for call in calls)
    assert acts * 25 > oracle.acts * count, acts


def first_difference(oracle: Oracle, header: dict[str, Any], calls: list[dict[str, Any]]) -> str:
    """Between an oracle and what stands in a trace: in the verdicts, and in p where the oracle says it."""
    said = oracle.says(header, calls)
    verdicts, probabilities = said if isinstance(said, tuple) else (said, None)
    if probabilities is not None:
        traced = [call["p"] for call in calls if call["call"] == "update"]
        assert probabilities == pytest.approx(traced, abs=1e-9)
    expected = [call["verdict"] for call in calls if "verdict" in call]
    assert len(verdicts) == len(expected)
    pairs = enumerate(zip(verdicts, expected, strict=True))
    return next((f"verdict {place}: {a}, trace {b}" for place, (a, b) in pairs if a != b), "none")


def test_an_oracle_sees_a_changed_verdict() -> None:
    header, *calls = map(json.loads, (VECTORS / "codel" / "rate_stall.jsonl").read_text().splitlines())
    next(call for call in calls if call.get("verdict") == "drop")["verdict"] = "pass"
    assert first_difference(Oracle(codel.verdicts, lambda _: {}), header, calls) != "none"


@pytest.mark.parametrize(("window", "limit"), [(1.5, 5.863), (2.5, 2.619), (3.0, 1.4875)])
def test_the_limit_of_alpha_is_where_the_fluid_model_of_avq_begins_to_swing(
    window: float, limit: float
) -> None:
    rtt = 0.28
    assert avq.largest_alpha(window, rtt) == pytest.approx(limit, rel=1e-3)
    assert avq.swing(window, rtt, 0.85 * limit) < 0.8
    assert avq.swing(window, rtt, 1.15 * limit) > 1.25
