"""Every row of tests/reference/peers.csv that Sojourn must meet, with ten seeds of ours or more.

The rows S8, queues of known theory, are met in Rust: crates/sim/tests/queueing_theory.rs.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import sojourn as sj
from bounds import LAWS, NETWORKS, TRANSPORTS, Bounds, Sample, verdict
from simulators import as_counted, peers

ROOT = Path(__file__).resolve().parents[2]
#: Parts of Sojourn under comparison, and the bounds of each.
ISSUES: Mapping[str, Bounds] = {
    "spine": LAWS,
    "spine_finished": LAWS,
    "laws": LAWS,
    "transports": TRANSPORTS,
    "qdiscs": NETWORKS,
}
#: Transports that are not here yet.
ABSENT = {"bbr"}
#: ns-3's CoDel spares a queue of less than 1500 B, ours one of at most mtu; a turn is the device's MTU. Its
#: hash is that of every run, and puts no two of these flows into one queue: so do more buckets.
FQ_CODEL = "law.mtu=1499B,law.newton=true,quantum=1500B,buckets=65536"
#: Names of the rows' qdiscs here.
QDISCS = {
    ("S1", "droptail"): "tail_drop",
    ("S1", "red_50_150"): "red:min=50packets,max=150packets,mark_below_p=0.1",
    ("S1", "red_50_150_nogentle"): "red:min=50packets,max=150packets,mark_below_p=0.1,gentle=false",
    ("S1", "pi_1.822e-5_160hz"): "pi:target=100packets,a=1.822e-5,b=1.816e-5,rate=160Hz",
    ("S1", "ared_50_150"): "ared:min=50packets,max=150packets,weight=0.002,mark_below_p=0.1,steps=arrivals",
    ("S1", "rem_default"): "rem:target=100packets",
    ("S6", "red"): "red:min=125packets,max=417packets",
    ("S6", "droptail"): "tail_drop",
    # ns-3 holds a packet behind the qdisc, in its device; ours waits in the qdisc. Its CoDel has Newton's
    # root, its PIE draws for each packet.
    ("S6", "codel"): "codel:target=5.12ms,newton=true",
    ("S6", "pie"): "pie:target=15.12ms,derandomize=false",
    ("S6", "fqcodel"): f"fq_codel:law.target=5.12ms,{FQ_CODEL}",
    ("S7", "fqcodel"): f"fq_codel:law.target=6.2ms,{FQ_CODEL}",
    ("S7", "red"): "red:min=6packets,max=16packets",
    ("S7", "codel"): "codel:target=6.2ms,newton=true",
    ("S7", "pie"): "pie:target=16.2ms,derandomize=false",
}
#: Differences of the rows' transports from the scenarios' own.
TRANSPORT: Mapping[str, dict[str, str]] = {
    "reno": {"flows.0.cc": "reno"},
    "newreno": {"flows.0.cc": "newreno"},
    "cubic": {"flows.0.cc": "cubic"},
    "sack": {"flows.0.cc": "newreno", "flows.0.tcp.sack": "true"},
}
#: ns-3 3.37 ran S6 with SACK and an ACK for every packet; its PRR does not count twice yet.
NS3_S6 = {
    "flows.0.profile": "ns3",
    "flows.0.tcp.prr_counts_twice": "false",
    "flows.0.tcp.sack": "true",
    "flows.0.tcp.timestamps": "false",
    "flows.0.tcp.delayed_ack": "false",
}
#: Approximate packets offered a seed after the warm-up: the denominator of ratios.
OFFERED = {"S1": 90_000, "S6": 125_000, "S7": 16_000}

#: Delays in the rows of qdiscs, and the backlogs that they are computed from, at the link's rate.
DELAYS = {"sojourn_mean_s": "queue_mean_packets", "sojourn_p95_s": "queue_p95_packets"}
#: Transmission time of a packet, s.
PACKET = {"S6": 1.2e-4, "S7": 1.2e-3}

NS3_ITSELF = "ns-3 itself differs under more seeds: docs/deviations/ns3.md"
#: scenario, peer's first word, qdisc, transport, metric -> reason for a row not met.
NOT_MET: dict[tuple[str, str, str, str, str], str] = {
    ("S6_100M", "ns2", "droptail", "sack", "utilization"): "ns-2 itself differs: docs/deviations/ns2.md",
    ("S6_100M", "ns3", "droptail", "newreno", "jain_index"): NS3_ITSELF,
    ("S6_100M", "ns3", "codel", "newreno", "queue_mean_packets"): NS3_ITSELF,
    ("S6_100M", "ns3", "droptail", "newreno", "drop_ratio"): "ours drops more: docs/deviations/ns3.md",
    ("S7_10M_rtt100ms_n1", "ns3", "red", "newreno", "utilization"): NS3_ITSELF,
}


@dataclass(frozen=True)
class Run:
    """Identity of a run, as given in a row."""

    scenario: str
    peer: str
    qdisc: str
    transport: str

    @property
    def family(self) -> str:
        return self.scenario.partition("_")[0]

    @cache  # noqa: B019  # a handful of runs, for as long as the tests take
    def ours(self) -> sj.Result:
        place = {"S1": "s1", "S6": "s6_100m", "S7": "s7"}[self.family]
        more = NS3_S6 if self.family == "S6" and self.peer == "ns3" else {}
        settings = {"bottleneck.qdisc": "tail_drop", **TRANSPORT[self.transport], **more, **self.point()}
        loaded = sj.load(ROOT / f"scenarios/peers/{place}.toml", settings)
        return sj.run(loaded, qdiscs=[QDISCS[self.family, self.qdisc]], seeds=range(1, 1 + self.runs()))

    def runs(self) -> int:
        """Number of runs: a lone flow loses a few packets at random; ten runs give its mean to 1.4 points
        only, and that of ten flows in queues of their own to 1.2.
        """
        if self.scenario.endswith("_n1"):
            return 360 if (self.qdisc, self.transport) == ("pie", "newreno") else 60
        return 40 if self.qdisc == "fqcodel" else 10

    def value(self, metric: str, ours: Mapping[str, float]) -> float:
        """A metric of ours as the peer counts it."""
        return as_counted(peers()["ns2" if self.peer == "ns2" else "ns3-3.44"], metric, ours)

    def point(self) -> dict[str, str]:
        """Round trip and flows from the scenario's name."""
        if self.family != "S7":
            return {}
        found = re.fullmatch(r"S7_10M_rtt(\d+)ms_n(\d+)", self.scenario)
        assert found
        rtt, flows = int(found[1]), found[2]
        return {
            "flows.0.profile": "ns3",
            "flows.0.count": flows,
            "bottleneck.delay": f"{rtt / 4} ms",
            "flows.0.access.delay": f"{rtt / 8} ms",
        }


def run_of(row: Mapping[str, str]) -> Run:
    return Run(row["scenario"], row["peer"].partition(" ")[0], row["qdisc"], row["transport"])


def required_rows() -> list[dict[str, str]]:
    with (ROOT / "tests/reference/peers.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["issue"] in ISSUES]
    return [row for row in rows if row["transport"] not in ABSENT]


def rows() -> list[dict[str, str]]:
    return [row for row in required_rows() if not row["scenario"].startswith("S8")]


def in_packets(row: dict[str, str]) -> dict[str, str]:
    """The row; of a delay that is a backlog over the link's rate, that backlog."""
    if row["issue"] != "qdiscs" or row["metric"] not in DELAYS:
        return row
    packet = PACKET[run_of(row).family]
    mean, sd = (f"{float(row[key] or 0) / packet:.6g}" for key in ("mean", "sd"))
    return {**row, "metric": DELAYS[row["metric"]], "mean": mean, "sd": sd}


def judged(row: dict[str, str]) -> bool:
    return in_packets(row)["metric"] in ISSUES[row["issue"]]


def marked(row: dict[str, str]) -> object:
    run = run_of(row)
    name = (run.scenario, run.peer, run.qdisc, run.transport, row["metric"])
    marks = [pytest.mark.xfail(strict=True, reason=NOT_MET[name])] if name in NOT_MET else []
    return pytest.param(row, id="-".join(name), marks=marks)


def test_the_rows_left_out_are_those_that_rust_meets() -> None:
    left_out = {row["scenario"] for row in required_rows()} - {row["scenario"] for row in rows()}
    assert left_out == {f"S8_{queue}_rho{load}" for queue in ("md1", "mm1") for load in ("0.5", "0.8", "0.9")}
    assert "peers.csv" in (ROOT / "crates/sim/tests/queueing_theory.rs").read_text()


def test_every_row_of_qdiscs_is_judged() -> None:
    of_qdiscs = [row for row in rows() if row["issue"] == "qdiscs"]
    assert (len(of_qdiscs), all(map(judged, of_qdiscs))) == (90, True)


def test_every_qdisc_of_the_rows_is_run() -> None:
    assert {(run_of(row).family, row["qdisc"]) for row in rows()} == set(QDISCS)


@pytest.mark.slow
@pytest.mark.parametrize("row", [marked(row) for row in rows() if judged(row)])
def test_row(row: dict[str, str]) -> None:
    row = in_packets(row)
    metric, run = row["metric"], run_of(row)
    # The spread of a single run is unknown.
    peer = Sample(int(row["n"]), float(row["mean"]), float(row["sd"] or 0.0))
    values = [run.value(metric, ours.metrics) for ours in run.ours().rows()]
    events = peer.mean * OFFERED[run.family]
    found = verdict(metric, Sample.of(values), peer, events=events, bounds=ISSUES[row["issue"]])
    print(found.line())
    assert found.agrees, found.line()
