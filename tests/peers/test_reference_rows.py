"""Every row of tests/reference/peers.csv that the spine and the laws must meet, with ten seeds of ours.

The rows S8, queues of known theory, are met in Rust: crates/sim/tests/queueing_theory.rs.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

import sojourn as sj
from bounds import LAWS, Sample, verdict

ROOT = Path(__file__).resolve().parents[2]
#: The parts of Sojourn whose rows these are.
ISSUES = ("spine", "spine_finished", "laws")
#: What the rows' scenarios and discs are called here.
SCENARIOS = {"S1": "scenarios/peers/s1.toml", "S6_100M": "scenarios/peers/s6_100m.toml"}
DISCS = {
    ("S1", "droptail"): "tail_drop",
    ("S1", "red_50_150"): "red:min=50packets,max=150packets,mark_below_p=0.1",
    ("S1", "red_50_150_nogentle"): "red:min=50packets,max=150packets,mark_below_p=0.1,gentle=false",
    ("S1", "pi_1.822e-5_160hz"): "pi:target=100packets,a=1.822e-5,b=1.816e-5,rate=160Hz",
    ("S1", "ared_50_150"): "ared:min=50packets,max=150packets,weight=0.002,mark_below_p=0.1,steps=arrivals",
    ("S1", "rem_default"): "rem:target=100packets",
    ("S6_100M", "red"): "red:min=125packets,max=417packets",
    ("S6_100M", "droptail"): "tail_drop",
}
#: What the rows' transports differ in from the scenarios' own.
TRANSPORTS = {"reno": {}, "newreno": {}, "sack": {"flows.0.sack": "true"}}
#: Rows that ns-2 itself does not meet: docs/deviations/ns2.md has the figures.
NOT_NS2S = {("S6_100M", "droptail", "sack", "utilization")}
#: Packets offered a seed after the warm-up, about: what a ratio is a ratio of.
OFFERED = {"S1": 90_000, "S6_100M": 125_000}


def asked() -> list[dict[str, str]]:
    with (ROOT / "tests/reference/peers.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["issue"] in ISSUES]


def rows() -> list[dict[str, str]]:
    return [row for row in asked() if row["scenario"] in SCENARIOS]


@cache
def ours(scenario: str, disc: str, transport: str) -> sj.Result:
    loaded = sj.load(ROOT / SCENARIOS[scenario], {"bottleneck.disc": "tail_drop", **TRANSPORTS[transport]})
    return sj.run(loaded, discs=[DISCS[scenario, disc]], seeds=range(1, 11))


def marked(row: dict[str, str]) -> object:
    name = (row["scenario"], row["disc"], row["transport"], row["metric"])
    marks = [pytest.mark.xfail(strict=True, reason="ns-2 itself differs")] if name in NOT_NS2S else []
    return pytest.param(row, id="-".join(name), marks=marks)


def test_the_rows_left_out_are_those_that_rust_meets() -> None:
    left_out = {row["scenario"] for row in asked()} - set(SCENARIOS)
    assert left_out == {f"S8_{queue}_rho{load}" for queue in ("md1", "mm1") for load in ("0.5", "0.8", "0.9")}
    assert "peers.csv" in (ROOT / "crates/sim/tests/queueing_theory.rs").read_text()


def test_every_disc_of_the_rows_is_run() -> None:
    assert {(row["scenario"], row["disc"]) for row in rows()} == set(DISCS)


@pytest.mark.parametrize("row", [marked(row) for row in rows() if row["metric"] in LAWS])
def test_row(row: dict[str, str]) -> None:
    metric, peer = row["metric"], Sample(int(row["n"]), float(row["mean"]), float(row["sd"]))
    values = [run.metrics[metric] for run in ours(row["scenario"], row["disc"], row["transport"]).runs]
    events = peer.mean * OFFERED[row["scenario"]]
    judged = verdict(metric, Sample.of(values), peer, events=events, bounds=LAWS)
    print(judged.line())
    assert judged.agrees, judged.line()
