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

import codel
import fb_ocq
import pi
import pytest
import red
from random_traces import trace

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


def traces(law: str) -> list[Any]:
    return [pytest.param(path, id=path.stem) for path in sorted((VECTORS / law).glob("*.jsonl"))]


def read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], list[str]]:
    """Header, calls, and the verdicts in them."""
    header, *calls = map(json.loads, path.read_text().splitlines())
    assert header["law"] == path.parent.name
    return header, calls, [call["verdict"] for call in calls if "verdict" in call]


def first_difference(ours: list[str], expected: list[str]) -> str:
    assert len(ours) == len(expected)
    pairs = enumerate(zip(ours, expected, strict=True))
    return next((f"verdict {place}: {a}, trace {b}" for place, (a, b) in pairs if a != b), "none")


@pytest.mark.parametrize("path", traces("codel"))
def test_codel_pulls_as_the_rfc_does(path: Path) -> None:
    header, calls, expected = read(path)
    assert first_difference(codel.verdicts(header, calls), expected) == "none"


@pytest.mark.parametrize("path", traces("red"))
def test_red_marks_as_the_paper_does(path: Path) -> None:
    header, calls, expected = read(path)
    assert first_difference(red.verdicts(header, calls), expected) == "none"


@pytest.mark.parametrize("path", traces("pi"))
def test_pi_integrates_as_the_paper_does(path: Path) -> None:
    header, calls, expected = read(path)
    said, probabilities = pi.verdicts(header, calls)
    assert first_difference(said, expected) == "none"
    traced = [call["p"] for call in calls if call["call"] == "update"]
    assert probabilities == pytest.approx(traced, abs=1e-12)


@pytest.mark.parametrize("path", traces("fb_ocq"))
def test_fb_ocq_lets_in_what_the_optimal_control_does(path: Path) -> None:
    header, calls, expected = read(path)
    said, probabilities = fb_ocq.verdicts(header, calls)
    assert first_difference(said, expected) == "none"
    traced = [call["p"] for call in calls if call["call"] == "update"]
    assert probabilities == pytest.approx(traced, abs=1e-9)


SITE = {
    "rate_bps": 2e6,
    "packet_bytes": 1000.0,
    "limit_packets": 40.0,
    "flows": 10.0,
    "base_rtt_ns": 100_000_000,
}


def header(law: str, seed: int) -> dict[str, Any]:
    """A law with parameters drawn by the seed."""
    dice = random.Random(seed)
    some = {
        "codel": lambda: {
            "target": f"{dice.randint(2, 30)} ms",
            "interval": f"{dice.randint(40, 200)} ms",
            "ecn": dice.random() < 0.5,
        },
        "red": lambda: {
            "min": f"{dice.randint(1, 8)} packets",
            "max": f"{dice.randint(9, 25)} packets",
            "weight": dice.choice([0.02, 0.1, 1.0]),
            "max_p": dice.choice([0.05, 0.3, 1.0]),
            **{key: dice.random() < 0.5 for key in ("gentle", "byte_mode", "wait")},
            "mark_below_p": dice.choice([0.1, 1.0]),
        },
        "pi": lambda: {"target": f"{dice.randint(3, 20)} packets", "a": 0.02, "b": 0.017, "rate": "50 Hz"},
    }
    return {"trace": 1, "law": law, "params": some[law](), "about": "random", "site": SITE}


@pytest.mark.parametrize("law", ["codel", "red", "pi"])
def test_random_traces(law: str) -> None:
    acts = 0
    for seed in range(int(os.environ.get("ORACLE_TRACES", "25"))):
        head = header(law, seed)
        calls = trace(head, seed, 20_000_000 if law == "pi" else None)
        expected = [call["verdict"] for call in calls if "verdict" in call]
        said = {"codel": codel.verdicts, "red": red.verdicts, "pi": lambda *told: pi.verdicts(*told)[0]}[law]
        assert first_difference(said(head, calls), expected) == "none", f"seed {seed}: {head['params']}"
        acts += len(expected) - expected.count("pass")
    assert acts > 500, acts


def test_an_oracle_sees_a_changed_verdict() -> None:
    header, calls, expected = read(VECTORS / "codel" / "rate_stall.jsonl")
    expected[expected.index("drop")] = "pass"
    assert first_difference(codel.verdicts(header, calls), expected) != "none"
