"""Four flows of the kernel's TCP beside four simulated ones: `./ci.sh live`.

A long check, for a machine that does nothing else: LIVE_RUNS has the number of live runs under each qdisc.
"""

import os

import numpy as np
import pytest

import sojourn as sj
from sojourn import conform

RUNS = int(os.environ.get("LIVE_RUNS", "0"))
QDISCS = ("tail_drop", "pi2", "codel", "fq_codel", "arm_pfc")
#: Largest difference of the means, as a fraction of the packet plant's.
GOODPUT, DELAY = 0.03, 0.20

pytestmark = pytest.mark.skipif(RUNS == 0, reason="long: LIVE_RUNS=5, on an idle machine")


def compared(scenario: sj.Scenario, qdisc: str, cc: str) -> None:
    """Assert that live runs and packets agree, and print both."""
    live = sj.run(scenario, qdiscs=[qdisc], seeds=range(1, RUNS + 1), plants="live")
    verdicts = {row.trust["verdict"] for row in live.runs if row.trust}
    packets = sj.run(scenario, qdiscs=[qdisc], seeds=range(1, 21))
    means = {}
    for metric, unit, scale in (("goodput_bps", "Mbit/s", 1e-6), ("sojourn_mean_s", "ms", 1e3)):
        ours, theirs = (np.array(list(one.values(qdisc, metric).values())) * scale for one in (packets, live))
        means[metric] = theirs.mean() / ours.mean() - 1
        spread = theirs.std(ddof=1) if RUNS > 1 else 0.0
        print(
            f"{cc} {qdisc} {metric}: packets {ours.mean():.2f}, live {theirs.mean():.2f} "
            f"(sd {spread:.2f}) {unit}, {100 * means[metric]:+.1f} %; {', '.join(sorted(verdicts))}"
        )
    assert verdicts == {"good"}
    assert abs(means["goodput_bps"]) <= GOODPUT
    assert abs(means["sojourn_mean_s"]) <= DELAY


@pytest.mark.parametrize("cc", ["newreno", "cubic"])
@pytest.mark.parametrize("qdisc", QDISCS)
def test_goodput_and_delay_are_those_of_the_packet_plant(qdisc, cc):
    scenario = sj.load("live/four_flows", overrides={"flows[0].cc": cc})
    compared(scenario, qdisc, cc)


#: A link that a hundred thousand packets pass in 13 s.
FAST = {
    "title": "Fast",
    "duration": "13 s",
    "warmup": "2 s",
    "bottleneck": {"rate": "100 Mbit/s", "delay": "10 ms", "buffer": "1000 packets", "qdisc": "pi2"},
    "flows": [
        {
            "count": 8,
            "cc": "cubic",
            "segment": "1500 B",
            "access": {"rate": "1 Gbit/s", "delay": "5 ms"},
        }
    ],
}


def test_a_million_live_packets_replay_bit_for_bit(tmp_path):
    scenario = sj.Scenario.from_dict(FAST)
    offered = 0
    for qdisc in QDISCS:
        sj.run(scenario, qdiscs=[qdisc], seeds=[1, 2], plants="live", record="trace", into=tmp_path)
        for seed in (1, 2):
            text = (tmp_path / f"trace.{qdisc}.seed{seed}.jsonl").read_text()
            assert conform.replayed(text) is None
            packets = text.count('"call":"enqueue"')
            print(f"{qdisc}, seed {seed}: {packets} packets, each answer the same")
            offered += packets
    print(f"{offered} packets in all")
    assert offered >= 1_000_000


def test_64_flows_at_100_mbit_s_are_in_time():
    flows = [FAST["flows"][0] | {"count": 64}]
    found = sj.run(sj.Scenario.from_dict(FAST | {"flows": flows}), qdiscs=["tail_drop"], plants="live")
    trust = found.runs[0].trust
    print(f"p99 lateness {1e6 * trust['lateness_p99_s']:.0f} us of {1e6 * trust['packet_time_s']:.0f} us")
    assert trust["verdict"] == "good"
    assert found.runs[0].metrics["goodput_bps"] > 90e6
