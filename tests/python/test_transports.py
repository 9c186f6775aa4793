"""The questions of the scenarios about transports, answered."""

from __future__ import annotations

import math

import pytest

import sojourn as sj


def run(name, seeds=(1,), **overrides):
    return sj.run(sj.load(f"transports/{name}", overrides), seeds=seeds)


def mean_window(result, flow):
    rows = result.series.filter(name=f"window_packets.flow_{flow}")
    return rows.filter(rows["time"] > 20)["value"].mean()


def sawtooth(flows, step):
    """Mean, standard deviation and marks of docs/ccs/dctcp.md, on the path of transports/dctcp."""
    window = (1e9 / 12000 * 2e-3 + step) / flows
    alpha = 0.2
    for _ in range(20):
        alpha = math.sqrt((2 * window + 1) / (window + 1) ** 2 / (1 - alpha / 4))
    height = flows * (window + 1) * alpha / 2
    return step + flows - height / 2, height / math.sqrt(12), alpha


@pytest.mark.parametrize(
    ("flows", "delayed_ack", "gentler"), [(1, False, 1.0), (4, False, 1.0), (4, True, 0.9)]
)
def test_dctcp_holds_the_queue_at_the_step(flows, delayed_ack, gentler):
    """Alizadeh et al. 2010: a link that stays busy, and a predicted sawtooth.

    More flows are less synchronised, and fewer are marked at once. ACKs for two let segments out in pairs,
    and only the second of the first pair finds the queue above the step: they are gentler.
    """
    given = {"flows[0].tcp.delayed_ack": delayed_ack, "flows[0].count": flows}
    mean, deviation, marks = sawtooth(flows, step=24)
    for one in run("dctcp", range(1, 11), duration="4 s", warmup="1.5 s", **given).runs:
        metrics = one.metrics
        assert metrics["utilization"] > 0.999
        assert metrics["queue_mean_packets"] == pytest.approx(mean, abs=1.5)
        assert metrics["queue_std_packets"] == pytest.approx(gentler * deviation, rel=0.1)
        assert metrics["mark_ratio"] == pytest.approx(gentler * marks, rel=0.15)
        assert metrics["queue_p99_packets"] <= 24 + 2 * flows
        assert metrics["drop_ratio"] == 0


def test_flows_of_dctcp_share_alike():
    assert run("dctcp", duration="4 s", warmup="1.5 s").runs[0].metrics["jain_index"] > 0.99


def test_cubic_takes_more_of_a_long_path_than_newreno():
    result = run("cubic_newreno", duration="100 s")
    cubic, newreno = (sum(mean_window(result, flow) for flow in group) for group in ((0, 1), (2, 3)))
    assert 1.5 < cubic / newreno < 6
    assert result.runs[0].metrics["utilization"] > 0.99


@pytest.mark.parametrize("seed", [1, 2])
def test_a_probe_for_a_lost_tail_saves_the_timer(seed):
    """Beside a constant 8 Mbit/s, so that the difference is the one flow's."""
    probes, none = (
        run("tail_loss", [seed], **{"flows[0].tcp.tail_loss_probe": on}).runs[0].metrics["goodput_bps"]
        for on in (True, False)
    )
    assert probes > none + 150e3
