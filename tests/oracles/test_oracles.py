"""Whole verdict sequences of the golden traces, beside slow implementations from the sources alone.

A trace says that a law is unchanged; an oracle says that it was right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import codel
import pi
import pytest
import red

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


def test_an_oracle_sees_a_changed_verdict() -> None:
    header, calls, expected = read(VECTORS / "codel" / "rate_stall.jsonl")
    expected[expected.index("drop")] = "pass"
    assert first_difference(codel.verdicts(header, calls), expected) != "none"
