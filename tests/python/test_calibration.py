"""The calibrated windows of the fluid beside those of packets: p at the same windows.

Packets meet a constant p, and their queue floats; a certificate of PI at that queue has the p of the
model at the same equilibrium. CALIBRATION=long runs the whole grid, as ./ci.sh calibration does.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

import sojourn as sj

LONG = os.environ.get("CALIBRATION") == "long"
CAPACITY = 2500.0
#: Signals of a run, whose number has a relative deviation of the inverse of its root; longest run, s.
WARMUP = 60 if LONG else 30
SIGNALS, LONGEST = (5000, 3000) if LONG else (1000, 400)

#: Keys of the flows, and packets by which a window grows in a round trip.
PROFILES = {
    "default, marks": ("ecn = true", 1.0),
    "default without delayed ACKs, marks": ("ecn = true\ntcp = { delayed_ack = false }", 1.0),
    "default, drops": ("ecn = false", 1.0),
    "default with SACK, drops": ("ecn = false\ntcp = { sack = true }", 1.0),
    "ns2, marks": ('ecn = true\nprofile = "ns2"', 1.0),
    "ns2, drops": ('ecn = false\nprofile = "ns2"', 1.0),
    "ns3, marks": ('ecn = true\nprofile = "ns3"', 0.5),
    "ns3, drops": ('ecn = false\nprofile = "ns3"', 0.5),
}
FLOWS = (5, 10, 20, 40, 80) if LONG else (20, 40)
ROUND_TRIPS_MS = (20, 50, 100, 200, 300) if LONG else (50, 150)

SCENARIO = """\
title    = "Long flows on 20 Mbit/s"
duration = "{seconds} s"
warmup   = "{warmup} s"
plant    = {{ fluid = {{ model = "calibrated" }} }}

[bottleneck]
rate   = "20 Mbit/s"
delay  = "1 ms"
buffer = "5000 packets"
qdisc  = "pi:target=50packets"

[[flows]]
count   = {count}
cc      = "newreno"
segment = "1000 B"
access  = {{ rate = "100 Mbit/s", delay = {{ spread = ["{short} ms", "{long} ms"] }} }}
{keys}
"""


class Constant(sj.Controller):
    """The same p at all times."""

    period = "50 ms"

    def __init__(self, p: float) -> None:
        self.p = p

    def update(self, _seen: sj.Observation) -> float:
        return self.p


@dataclass(frozen=True)
class Point:
    """Packets at one p, and the model at their queue."""

    name: str
    flows: int
    round_trip_ms: int
    window: float
    packets: float
    model: float

    @property
    def ratio(self) -> float:
        return self.model / self.packets

    def __str__(self) -> str:
        where = f"{self.name}: {self.flows} flows over {self.round_trip_ms} ms, W {self.window:.1f}"
        return f"{where}: p {self.packets:.5f}, model {self.model:.5f}, ratio {self.ratio:.3f}"


def _scenario(folder: Path, count: int, round_trip_ms: int, keys: str, p: float) -> sj.Scenario:
    one_way = (round_trip_ms / 2 - 1) / 2
    seconds = WARMUP + min(SIGNALS / (p * CAPACITY), LONGEST)
    text = SCENARIO.format(
        count=count,
        keys=keys,
        seconds=round(seconds),
        warmup=WARMUP,
        short=0.95 * one_way,
        long=1.05 * one_way,
    )
    path = folder / "flows.toml"
    path.write_text(text)
    return sj.load(path)


def _metric(result: sj.Result, name: str) -> float:
    value = result.rows()[0].metrics[name]
    assert isinstance(value, float)
    return value


def _point(folder: Path, name: str, count: int, round_trip_ms: int) -> Point | None:
    """None where the windows are below 3 packets, or the queue is empty at times."""
    keys, growth = PROFILES[name]
    usual = CAPACITY * (round_trip_ms / 1000 + 0.03) / count
    if usual < 3.2:
        return None
    p = 1.5 * growth / usual**2 / (1 + 1.4 / usual)
    scenario = _scenario(folder, count, round_trip_ms, keys, p)
    result = sj.run(scenario, qdiscs=[Constant(p)])
    if _metric(result, "utilization") < 0.99:
        return None
    backlog = _metric(result, "queue_mean_packets")
    model = sj.prove(scenario, f"pi:target={backlog}packets").equilibrium
    assert model is not None
    window = model["classes"][0]["window_packets"]
    signals = _metric(result, "mark_ratio") + _metric(result, "drop_ratio")
    return Point(name, count, round_trip_ms, window, signals, model["p"]) if window >= 3.0 else None


@pytest.mark.slow
@pytest.mark.parametrize("name", PROFILES)
def test_p_is_that_of_packets(name: str, tmp_path: Path) -> None:
    points = [
        point
        for count in FLOWS
        for round_trip in ROUND_TRIPS_MS
        if (point := _point(tmp_path, name, count, round_trip)) is not None
    ]
    assert len(points) >= 3
    if LONG:
        print("", *points, sep="\n")
    off = [str(point) for point in points if abs(point.ratio - 1) > 0.1]
    assert not off, "\n".join(off)
