"""What the scenarios about transports ask, answered."""

from __future__ import annotations

import pytest

import sojourn as sj


def run(name, seeds=(1,), **overrides):
    return sj.run(sj.load(f"transports/{name}", overrides), seeds=seeds)


def mean_window(result, flow):
    rows = result.series.filter(name=f"window_packets.flow_{flow}")
    return rows.filter(rows["time"] > 20)["value"].mean()


def test_dctcp_holds_the_queue_at_the_step():
    """Alizadeh et al. 2010: the link stays busy, and the queue within a few packets of the step."""
    metrics = run("dctcp", duration="4 s", warmup="1.5 s").runs[0].metrics
    assert metrics["utilization"] > 0.999
    assert 18 < metrics["queue_mean_packets"] < 30
    assert metrics["queue_p99_packets"] < 40
    assert metrics["drop_ratio"] == 0
    assert metrics["jain_index"] > 0.99


def test_cubic_takes_more_of_a_long_path_than_newreno():
    result = run("cubic_newreno", duration="100 s")
    cubic, newreno = (sum(mean_window(result, flow) for flow in group) for group in ((0, 1), (2, 3)))
    assert 1.5 < cubic / newreno < 6
    assert result.runs[0].metrics["utilization"] > 0.99


@pytest.mark.parametrize("seed", [1, 2])
def test_a_probe_for_a_lost_tail_saves_the_timer(seed):
    """Beside 8 Mbit/s that do not change, so what is more is the one flow's."""
    probes, none = (
        run("tail_loss", [seed], **{"flows[0].tcp.tail_loss_probe": on}).runs[0].metrics["goodput_bps"]
        for on in (True, False)
    )
    assert probes > none + 150e3
