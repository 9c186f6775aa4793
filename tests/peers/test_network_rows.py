"""Every row about networks that Sojourn must meet: those of peers.csv, and ns-2's of networks.csv.

A scenario of networks.csv is called `parking_lot/r1-r2`, after a link or a class of it, or `capacity_40_70`,
after the measured seconds.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import sojourn as sj
from bounds import NETWORKS, Sample, verdict

ROOT = Path(__file__).resolve().parents[2]
#: Names of the rows' qdiscs here.
QDISCS = {
    ("S4", "droptail"): "tail_drop",
    ("S4", "red_70_200"): "red:min=70packets,max=200packets",
    ("S4", "red_70_200_nogentle"): "red:min=70packets,max=200packets,gentle=false",
    ("S4", "pi_1.822e-5_160hz"): "pi:target=200packets,a=1.822e-5,b=1.816e-5,rate=160Hz",
    ("capacity", "droptail"): "tail_drop",
    ("capacity", "pi_6e-5_170hz"): "pi:target=60packets,a=6e-5,b=5.9e-5,rate=170Hz",
    ("parking_lot", "red_30_90"): "red:min=30packets,max=90packets",
    ("parking_lot", "pi_6e-5_170hz"): "pi:target=60packets,a=6e-5,b=5.9e-5,rate=170Hz",
}
#: The links' rates after their changes, Mbit/s.
RATES = ((40, 6), (70, 10))
#: Approximate packets offered a second: the denominator of ratios.
OFFERED = {"S4": 4000, "capacity": 1000, "parking_lot": 1250}
#: Measured time, s.
MEASURED = {"S4": 90, "capacity": 30, "parking_lot": 90}
#: Relative spread of Jain's index under tail drop over the seeds: a tenth.
SEEDS = {"S4": range(1, 11), "capacity": range(1, 41), "parking_lot": range(1, 11)}
#: Metrics of the rows of S4 that cover the long flows alone.
OF_LONG = ("goodput_bps", "jain_index")
#: scenario, qdisc, metric -> reason for a row not met.
NOT_MET: dict[tuple[str, str, str], str] = {}


@dataclass(frozen=True)
class Network:
    """Identity of a run, as given in a row."""

    scenario: str
    qdisc: str

    @property
    def family(self) -> str:
        return next(family for family in OFFERED if self.scenario.startswith(family))

    @cache  # noqa: B019  # a handful of runs, for as long as the tests take
    def ours(self) -> sj.Result:
        place = {"S4": "s4"}.get(self.family, self.family)
        marks = str(self.qdisc.startswith("pi") and self.family != "S4").lower()
        loaded = sj.load(ROOT / f"scenarios/peers/{place}.toml", self.settings(marks))
        return sj.run(loaded, qdiscs=[QDISCS[self.family, self.qdisc]], seeds=SEEDS[self.family])

    def settings(self, marks: str) -> dict[str, str]:
        """Differences from the scenario's file."""
        if self.family == "S4":
            flows = int(self.scenario.removeprefix("S4_"))
            return {"flows.0.count": str(flows // 3), "flows.1.count": str(2 * flows // 3)}
        if self.family == "parking_lot":
            return {f"flows.{group}.ecn": marks for group in range(4)}
        warmup, duration = map(int, self.scenario.split("_")[1:])
        changes = (
            f'{{ time = "{time} s", set = {{ "bottleneck.rate" = "{rate} Mbit/s" }} }}'
            for time, rate in RATES
            if time < duration
        )
        return {
            "warmup": f"{warmup} s",
            "duration": f"{duration} s",
            "at": f"[{', '.join(changes)}]",
            "flows.0.ecn": marks,
        }


def rows() -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for name in ("peers", "networks"):
        with (ROOT / f"tests/reference/{name}.csv").open() as file:
            found += [row for row in csv.DictReader(file) if row["issue"] == "networks"]
    return found


def named(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row["scenario"], row["qdisc"], row["metric"]


def marked(row: dict[str, str]) -> object:
    why = NOT_MET.get(named(row))
    marks = [pytest.mark.xfail(strict=True, reason=why)] if why else []
    return pytest.param(row, id="-".join(named(row)), marks=marks)


def test_every_row_not_met_is_a_row() -> None:
    assert set(NOT_MET) <= {named(row) for row in rows()}


@pytest.mark.slow
@pytest.mark.parametrize("row", [marked(row) for row in rows() if row["metric"] in NETWORKS])
def test_row(row: dict[str, str]) -> None:
    scenario, _, place = row["scenario"].partition("/")
    network = Network(scenario, row["qdisc"])
    if network.family == "S4" and row["metric"] in OF_LONG:
        place = "long"
    peer = Sample(int(row["n"]), float(row["mean"]), float(row["sd"]))
    values = [run.metrics[row["metric"]] for run in seen_at(network.ours(), place)]
    events = peer.mean * OFFERED[network.family] * MEASURED[network.family]
    found = verdict(row["metric"], Sample.of(values), peer, events=events, bounds=NETWORKS)
    print(found.line())
    assert found.agrees, found.line()


def seen_at(result: sj.Result, place: str) -> list[sj.Row]:
    """Rows of this link, or of this class at its first link; without a name, of the only link."""
    of_link = [run for run in result.runs if run.link == place or not place]
    if of_link:
        return [run for run in of_link if run.traffic_class is None and run.queue is None]
    of_class = [run for run in result.runs if run.traffic_class == place]
    return [run for run in of_class if run.link == of_class[0].link]
