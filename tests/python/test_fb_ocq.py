"""FB-OCQ in packets: its target, and what its forms miss, against predictions."""

from __future__ import annotations

from statistics import mean

import pytest

import sojourn as sj

#: 1 Gbit/s, 1 ms, a buffer of 50 packets: the page's example.
NEAR = {
    "at": "[]",
    "duration": "4 s",
    "warmup": "2 s",
    "bottleneck": '{ rate = "1 Gbit/s", delay = "200 us", buffer = "50 packets" }',
    "flows[0]": '{ count = 20, ecn = true, access = { rate = "10 Gbit/s", delay = "150 us" } }',
}


def forty(flows: int, ecn: bool) -> sj.Scenario:
    return sj.load("fb_ocq/forty", {"flows[0].count": flows, "flows[0].ecn": ecn, "warmup": "20 s"})


def measured(scenario: sj.Scenario, qdisc: str, metric: str = "queue_mean_packets") -> float:
    """Mean over three seeds."""
    runs = sj.run(scenario, qdisc, seeds=[1, 2, 3]).runs
    return mean(run.metrics[metric] for run in runs)


@pytest.mark.parametrize("ecn", [False, True])
@pytest.mark.parametrize("flows", [20, 40, 80])
def test_sqrt_holds_its_target_under_half_and_double_the_load(flows, ecn):
    queue = measured(forty(flows, ecn), "fb_ocq:target=40packets")
    assert queue == pytest.approx(40, rel=0.15)


def test_sqrt_holds_its_target_on_a_short_path_and_counts_miss_it_by_the_idle_share():
    near = sj.load("dumbbell", NEAR)
    assert measured(near, "fb_ocq:target=10packets") == pytest.approx(10, rel=0.15)
    counts = "fb_ocq:target=10packets,load=virtual"
    # The mean of u is that of the departures: kappa (q - x_s) = mu (1 - utilization), 1/t_c = 2/R = 200 1/s.
    capacity, kappa = 1e9 / 12000, 100.0
    idle = 1 - measured(near, counts, "utilization")
    assert measured(near, counts) == pytest.approx(10 + idle * capacity / kappa, rel=0.15)


@pytest.mark.parametrize("flows", [5, 20])
def test_light_loads_on_a_long_path_hold_the_target(flows):
    long = {
        "at": "[]",
        "duration": "150 s",
        "warmup": "50 s",
        "bottleneck": '{ rate = "20 Mbit/s", delay = "50 ms", buffer = "400 packets" }',
        "flows[0]": f'{{ count = {flows}, ecn = true, access = {{ rate = "1 Gbit/s", delay = "25 ms" }} }}',
    }
    scenario = sj.load("dumbbell", long)
    assert measured(scenario, "fb_ocq:target=100packets") == pytest.approx(100, rel=0.15)
    assert measured(scenario, "fb_ocq:target=100packets,load=virtual") < 60


@pytest.mark.parametrize("flows", [20, 40])
def test_the_fluid_predicts_mean_and_amplitude_of_deadbeat_with_drops(flows):
    scenario, deadbeat = forty(flows, ecn=False), "fb_ocq:target=40packets,form=deadbeat"
    fluid = sj.run(scenario, deadbeat, plants="fluid").runs[0].metrics
    for metric in ("queue_mean_packets", "queue_std_packets"):
        assert measured(scenario, deadbeat, metric) == pytest.approx(fluid[metric], rel=0.15)


@pytest.mark.parametrize("flows", [40, 80])
def test_profile_is_where_its_curve_has_the_measured_p(flows):
    scenario, profile = forty(flows, ecn=False), "fb_ocq:target=40packets,form=profile"
    p = measured(scenario, profile, "drop_ratio")
    assert measured(scenario, profile) == pytest.approx(20 + 40 * (p / 0.1) ** 2, rel=0.15)
