"""The slow qdiscs pass the golden traces; the trace of a clause rejects its mutants, with its number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dualpi2
import fair_queueing
import pytest
from qdisc_mutants import OF_CLAUSES

from sojourn.conform import compare

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
#: An oracle for each qdisc that has one.
ORACLES: dict[str, type] = {
    "fq_codel": fair_queueing.FqCoDel,
    "fq_pie": fair_queueing.FqPie,
    "dual": dualpi2.DualPi2,
}
#: Traces without parameters that change, which the oracles have not.
TRACES = [
    path
    for name in ORACLES
    for path in sorted((VECTORS / name).glob("*.jsonl"))
    if '"call":"set_params"' not in path.read_text()
]
CLAUSES = [path for path in TRACES if '"clause":' in path.open().readline()]


def params_of(spec: str) -> dict[str, Any]:
    """Parameters of a SPEC, as the oracles have them."""
    pairs = [item.split("=") for item in spec.partition(":")[2].split(",") if item]
    return {key: value_of(value) for key, value in pairs if key != "by"}


def value_of(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def answers(path: Path, kind: type) -> list[str]:
    """What an implementation does, a line for each enqueue and dequeue, as a program says it."""
    header, *calls = map(json.loads, path.read_text().splitlines())
    params, link = params_of(header["qdisc"]), header["link"]
    if issubclass(kind, dualpi2.DualPi2):
        oracle = kind(params, link["limit_packets"])
    else:
        params = {"limit": link["limit_packets"]} | params
        oracle = kind(params) if issubclass(kind, fair_queueing.FqCoDel) else kind(params, link)
    lines = []
    for call in calls:
        now, sent = call["now_ns"], None
        oracle.dropped, oracle.marked = [], []
        if call["call"] == "update":
            oracle.update(now)
        elif call["call"] == "enqueue":
            oracle.enqueue(now, dict(call))
        elif call["call"] == "dequeue":
            sent = (
                oracle.dequeue(now, call["u"]) if isinstance(oracle, dualpi2.DualPi2) else oracle.dequeue(now)
            )
        if call["call"] in ("enqueue", "dequeue"):
            lines.append(json.dumps({"sent": sent, "dropped": oracle.dropped, "marked": oracle.marked}))
    return lines


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", TRACES, ids=name)
def test_the_oracle_passes_every_trace(path: Path) -> None:
    assert compare(path, answers(path, ORACLES[path.parent.name])) == []


@pytest.mark.parametrize(
    ("path", "mutant"),
    [
        pytest.param(path, mutant, id=f"{name(path)}-{mutant.__name__}")
        for path in CLAUSES
        for mutant in OF_CLAUSES.get(name(path), [])
    ],
)
def test_the_trace_of_a_clause_rejects_its_mutants(path: Path, mutant: type) -> None:
    clause = json.loads(path.open().readline())["clause"]
    first, *_ = compare(path, answers(path, mutant))
    assert first.startswith(f"{path}:")
    assert first.endswith(f" ({clause})")


def test_every_clause_has_its_mutants() -> None:
    assert set(OF_CLAUSES) == {name(path) for path in CLAUSES}
