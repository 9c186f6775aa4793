"""The golden traces, read by Python and replayed through the laws and qdiscs as users do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.conform import TracedLaw, compare, replay

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
TRACES = sorted(VECTORS.glob("*/*.jsonl"))


@pytest.mark.parametrize("path", TRACES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_trace_replays(path: Path) -> None:
    assert replay(path) == []


def test_a_difference_is_reported_with_file_and_line(tmp_path: Path) -> None:
    lines = (VECTORS / "codel" / "overload_idle.jsonl").read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if '"verdict":"mark"' in line)
    lines[place] = lines[place].replace('"mark"', '"drop"')
    path = tmp_path / "changed.jsonl"
    path.write_text("\n".join(lines) + "\n")
    assert replay(path) == [f"{path}:{place + 1}: answers mark, expected drop"]


def test_a_trace_that_was_made_for_a_clause_names_it(tmp_path: Path) -> None:
    lines = (VECTORS / "codel" / "control_law.jsonl").read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if '"verdict":"drop"' in line)
    lines[place] = lines[place].replace('"drop"', '"pass"')
    path = tmp_path / "changed.jsonl"
    path.write_text("\n".join(lines) + "\n")
    clause = "RFC 8289, section 5.6: the next drop is due at t + interval/sqrt(count)"
    assert replay(path) == [f"{path}:{place + 1}: answers drop, expected pass ({clause})"]


def test_verdicts_of_others_are_compared_one_by_one() -> None:
    path = VECTORS / "tail_drop" / "rate_stall.jsonl"
    count = path.read_text().count('"verdict"')
    assert compare(path, ["pass"] * count) == []
    assert [line.split(": ", 1)[1] for line in compare(path, ["drop"] + ["pass"] * (count - 2))] == [
        "answers drop, expected pass",
        f"{count - 1} verdicts, expected {count}",
    ]
    assert compare(path, ["pass"] * (count + 1)) == [f"{path}: {count + 1} verdicts, expected {count}"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", r":1: the file is empty; expected a JSON object on each line"),
        (b"\n", r":1: is not JSON \(Expecting value"),
        (b"{HEADER\n", r":1: is not JSON \(Expecting property name"),
        (b"[]\n", r":1: is not an object; expected"),
        (b"\xff\n", r": is not text in UTF-8; expected"),
        (b"{}\n", r":1: trace: is not 1"),
        (b"HEADER\n3\n", r":2: is not an object; expected"),
        (b'HEADER\n{"call": "idle", "now_ns": 0}\n{"call"\n', r":3: is not JSON \(Expecting ':'"),
        (b'HEADER\n{"call": "idle", "now_ns": 0}\n{"call": "odle", "now_ns": 1}\n', r":3: call: "),
    ],
)
def test_an_invalid_trace_is_reported_with_file_and_line(tmp_path: Path, text: bytes, message: str) -> None:
    header = (VECTORS / "codel" / "overload_idle.jsonl").read_bytes().splitlines()[0]
    path = tmp_path / "wrong.jsonl"
    path.write_bytes(text.replace(b"HEADER", header))
    with pytest.raises(sj.InputError, match=f"^{re.escape(str(path))}{message}") as caught:
        replay(path)
    assert len(caught.value.lines) == 1


def test_a_trace_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(sj.InputError, match=r"none\.jsonl: cannot be read \(No such file"):
        replay(tmp_path / "none.jsonl")


def test_an_invalid_law_or_call_is_one_line() -> None:
    header = json.loads((VECTORS / "red" / "overload_idle.jsonl").read_text().splitlines()[0])
    with pytest.raises(sj.InputError, match=r'^law: "rde" is not a law; did you mean "red"\?'):
        TracedLaw(header | {"law": "rde"})
    with pytest.raises(sj.InputError, match=r"^max: 12 packets is above the buffer of 5 packets"):
        TracedLaw(header | {"link": header["link"] | {"limit_packets": 5}})
    with pytest.raises(sj.InputError, match=r"^call: is not text$"):
        TracedLaw(header).answer({"now_ns": 1})
