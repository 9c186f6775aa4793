"""The references' numbers of the fluid plant, as a user runs it.

All rows are tested in crates/fluid/tests/laws; here one or more of each family go from a scenario to a
result.
"""

import math

import numpy as np
import pytest

import sojourn as sj


def network(flows, packets_per_s, base_rtt_s, buffer, **more):
    """Long flows that are marked on one link, all from 0 s on: packets of 1000 B."""
    settings = {
        "duration": "100 s",
        "warmup": "80 s",
        "sample": "4 ms",
        "at": "[]",
        "bottleneck.rate": f"{packets_per_s * 8e-3} Mbit/s",
        "bottleneck.delay": f"{round(base_rtt_s * 1e9) / 2e6:.6f} ms",
        "bottleneck.buffer": f"{buffer} packets",
        "flows[0].count": flows,
        "flows[0].start": "0 s",
        "flows[0].access": '{ rate = "10 Gbit/s" }',
    }
    return sj.load("dumbbell", {"fluid_window": "mgt"} | settings | more)


class Fluid:
    """A fluid run and its measurements."""

    def __init__(self, scenario, qdisc):
        result = sj.run(scenario, qdisc, plants="fluid")
        self.metrics = result.runs[0].metrics
        self.series = {
            name: result.series.filter(name=name)["value"].to_numpy()
            for name in ("queue_packets", "p", "window_packets")
        }
        self.times = result.series.filter(name="p")["time"].to_numpy()

    def queue_at(self, *times):
        """The mean over a step is the value in its middle."""
        middles = self.times - self.times[0] / 2
        return np.interp(times, middles, self.series["queue_packets"])

    def equilibrium(self):
        return [self.metrics["queue_mean_packets"], self.metrics["queue_std_packets"]]

    def settled(self, target, share):
        outside = np.abs(self.series["queue_packets"] - target) > share * target
        return self.times[np.flatnonzero(outside)[-1]]


def test_pi_of_hollot_as_it_is_printed(maths):
    found = Fluid(network(60, 3750, 0.2, 800), "pi:target=200packets,a=1.822e-5,b=1.816e-5")
    maths("hollot.PI.fluid.q@5,10,15,20,40", found.queue_at(5, 10, 15, 20, 40))
    maths("hollot.PI.fluid.peak", found.series["queue_packets"].max())
    maths("hollot.PI.fluid.p_end", found.series["p"][-1])


@pytest.mark.parametrize(("flows", "capacity"), [(100, 1250), (120, 1000), (50, 1250), (200, 1250)])
def test_arm_pfc(maths, flows, capacity):
    designed = "arm_pfc:adapt=none,coincidence=[7],flows=100,capacity=1250packets/s,rtt=280ms"
    found = Fluid(network(flows, capacity, 0.2, 300), designed)
    key = f"armpfc.indep.fluid.N={flows},C={capacity}"
    maths(f"{key}.[mean,std,p]", [*found.equilibrium(), found.series["p"][-1]])
    maths(f"{key}.q@1,2,3,5", found.queue_at(1, 2, 3, 5))
    maths(f"{key}.settle5%", found.settled(100, 0.05))


@pytest.mark.parametrize(("flows", "base_rtt"), [(60, 0.2), (40, 0.2), (120, 0.2), (60, 0.3)])
def test_cpc(maths, flows, base_rtt):
    designed = "cpc:target=175packets,adapt=none,flows=60,rtt=246.666667ms"
    found = Fluid(network(flows, 3750, base_rtt, 800), designed)
    maths(f"cpc.da.flight.fluid.N={flows},Tp={base_rtt}.[mean,std]", found.equilibrium())


@pytest.mark.parametrize("form", ["switch", "sum", "pd"])
@pytest.mark.parametrize("flows", [63, 126])
@pytest.mark.parametrize(("rtt", "name"), [(0.15, ".15"), (0.2533, ".2533")])
def test_pi_pd(maths, form, flows, rtt, name):
    scenario = network(flows, 3750, rtt - 200 / 3750, 800, warmup="50 s")
    found = Fluid(scenario, f"pi_pd:target=200packets,form={form},alpha=8e-4,period=50ms")
    maths(f"pipd.{form}.R0={name}.N={flows}.[mean,std]", found.equilibrium())


@pytest.mark.parametrize(("flows", "t_c"), [(40, 0.2), (80, 0.5)])
def test_fb_ocq(maths, flows, t_c):
    more = {"duration": "60 s", "warmup": "30 s", "fluid_window": "full", "flows[0].ecn": False}
    scenario = network(flows, 1250, 0.1, 100, **more)
    found = Fluid(scenario, f"fb_ocq:target=40packets,t_c={t_c}s,load=virtual")
    maths(f"ocq.aqm.fluid.N={flows},tc={t_c},tau_w=1.0.[mean,std]", found.equilibrium())


def test_a_constant_p(maths):
    class Constant(sj.Controller):
        period = "10 ms"

        def update(self, seen):  # noqa: ARG002
            return 0.02

    found = Fluid(network(60, 3750, 0.2, 800, duration="60 s", warmup="0 s"), Constant())
    last = [found.series[name][-1] for name in ("queue_packets", "window_packets")]
    maths("mgt.const p=.02: q(60),W(60)", last)


def test_reds_equilibrium_is_where_its_line_meets_the_windows():
    """No row has RED: p_b on the line signals 4 p_b / (6 - p_b) of the packets; W^2 p = 2 with W = R C /
    N.
    """
    low, high, steepest = 100.0, 700.0, 0.02
    short, long = low, high
    while long - short > 1e-9:
        queue = (short + long) / 2
        window = (0.2 + queue / 3750) * 3750 / 60
        p_b = steepest * (queue - low) / (high - low)
        below = 4 * p_b / (6 - p_b) < 2 / window**2
        short, long = (queue, long) if below else (short, queue)
    spec = f"red:min={low:.0f}packets,max={high:.0f}packets,max_p={steepest},weight=0.00002"
    found = Fluid(network(60, 3750, 0.2, 800, duration="200 s", warmup="180 s"), spec)
    assert found.equilibrium() == pytest.approx([short, 0], rel=1e-3, abs=1e-2)
    certificate = sj.prove(network(60, 3750, 0.2, 800), spec)
    assert certificate.equilibrium["backlog_packets"] == pytest.approx(short, rel=1e-9)
    assert certificate.verdict == "stable"
    assert math.isfinite(certificate.margins["phase_margin_deg"])


@pytest.mark.parametrize(("target", "rtt"), [("46 ms", "0.246000"), ("175 packets", "0.246667")])
def test_pis_gains_are_described(maths, target, rtt):
    scenario = network(60, 3750, 0.2, 800, **{"bottleneck.qdisc": f"pi:target={target.replace(' ', '')}"})
    for gain in "ab":
        (line,) = (line for line in scenario.describe().splitlines() if line.strip().startswith(f"{gain} = "))
        maths(f"hollot.PI.R={rtt}.{gain}", float(line.split()[2]))


def test_the_equilibrium_of_arm_pfcs_example(maths):
    found = sj.prove(network(100, 1250, 0.2, 300), "arm_pfc:target=100packets")
    equilibrium = found.equilibrium
    maths("armpfc.p0", equilibrium["p"])
    maths("armpfc.W0", equilibrium["classes"][0]["window_packets"])
    maths("armpfc.Tp", equilibrium["classes"][0]["base_rtt_s"])
    maths("armpfc.tau1", equilibrium["rtt_s"])
    maths("armpfc.Ts", found.loop("linearised", sampled=True)["period_s"])
    assert found.verdict == "stable"
