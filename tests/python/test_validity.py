"""Theory beside packets: known-good and known-bad scenarios; linear responses beside the running fluid."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn.cli import main
from sojourn.validity import words
from sojourn.validity.figures import packet_in_queue, smoothed

CALIBRATED = {"plant.fluid.model": "calibrated"}
PUBLISHED = {"plant.fluid.model": "mgt"}
#: The same in the shell.
SET_PUBLISHED = ["--set", "plant.fluid.model=mgt"]


def checked(qdisc, seeds=(1, 2), name="dumbbell", **settings):
    return sj.prove(sj.load(name, CALIBRATED | settings), qdisc).check(seeds=seeds)


def causes(found):
    return {one.partition(":")[0] for one in found.causes}


def flows(count, **more):
    return {"flows[0].count": count, **more}


@pytest.mark.parametrize(
    ("qdisc", "settings", "most"),
    [
        ("pi:target=100packets", {}, 0.05),
        ("red", {}, 0.1),
        ("arm_pfc", {}, 0.05),
        ("pi:target=100packets", flows(50, **{"flows[0].ecn": False}), 0.15),
        ("pi:target=100packets", {"flows[0].cc": "cubic"}, 0.1),
    ],
)
def test_known_good(qdisc, settings, most):
    found = checked(qdisc, **settings)
    assert found.holds
    assert found.within < most
    assert found.certified == "stable"
    assert "timeouts" not in causes(found)
    assert set(found.plants) == {"linear", "fluid", "packet"}


def test_the_published_windows_are_named():
    """docs/theory/calibration.md: PI on the dumbbell needs p = 0.0219, mgt has 0.0408."""
    found = checked("pi:target=100packets", **{"plant.fluid.model": "mgt"})
    assert not found.holds
    assert found.model == "mgt"
    assert found.farthest == "p"
    assert found.errors["p"] == pytest.approx(0.0219 / 0.0408 - 1, abs=0.02)
    assert causes(found) == {"windows"}
    assert "does not hold here: p of the packets is 2.1" in str(found)


def test_two_flows_before_a_short_queue():
    """An empty queue 37 % of the time: windows stop to fill the link, and p is 1.4 times that of theory."""
    found = checked("pi:target=20packets", **flows(2))
    assert not found.holds
    assert {"few flows", "saturation"} <= causes(found)
    assert any("the queue is empty" in one for one in found.causes)


@pytest.mark.parametrize("count", [100, 150])
def test_a_cycle_is_that_of_the_fluid(count):
    """PI beyond its critical gain: amplitude and frequency of the packets' queue are those of the fluid."""
    found = checked("pi:target=100packets", **flows(count))
    assert found.certified == "unstable"
    assert found.oscillates
    assert found.holds
    assert found.within < 0.25
    assert set(found.errors) == {"oscillation_rad_s", "oscillation_packets"}
    assert ("timeouts" in causes(found)) == (count == 150)


def test_the_frequency_of_a_cycle_is_named_where_it_is_off():
    found = checked("pi:target=100packets", seeds=[1], **flows(100))

    def scaled(**factors):
        """The same with other figures of the fluid's cycle."""
        fluid = dict(found.plants["fluid"])
        for key, factor in factors.items():
            fluid[key] = replace(fluid[key], mean=factor * fluid[key].mean)
        return replace(found, plants=found.plants | {"fluid": fluid})

    assert found.holds
    fast, weak = scaled(oscillation_rad_s=0.5), scaled(oscillation_packets=0.5)
    assert not fast.holds
    assert not weak.holds
    times = 2 * (1 + found.errors["oscillation_rad_s"])
    assert f"), {times:.2f} times as fast" in str(fast)
    assert "as fast" not in str(weak)
    # A fluid that does not oscillate has no frequency, and there is nothing to compare.
    still = scaled(oscillation_rad_s=0.0, oscillation_packets=0.5)
    assert "as fast" not in str(still)


def test_a_barely_stable_loop_oscillates_at_its_poles():
    """Noise excites the poles that hardly decay: packets have their frequency."""
    found = checked("pi:target=100packets,a=0.0003,b=0.000295")
    linear, packet = found.plants["linear"], found.plants["packet"]
    assert packet["oscillation_rad_s"].mean == pytest.approx(linear["oscillation_rad_s"].mean, rel=0.05)
    assert packet["oscillation_packets"].mean > 40


def fluid_after(settings, change):
    """Times since a change and the fluid's backlog, less that before it; and the certificate."""
    at = [{"time": "100 s", "set": change}]
    overrides = {"duration": "130 s", "sample": "50 ms", "at": at, **settings}
    scenario = sj.load("dumbbell", overrides)
    series = sj.run(scenario, qdiscs=["pi:target=100packets"], plants=["fluid"]).series
    queue = series.filter(pl.col("name") == "queue_packets")
    time, values = queue["time"].to_numpy() - 100 - 0.025, queue["value"].to_numpy()
    before = values[(time < 0) & (time > -5)].mean()
    return time, values - before, sj.prove(scenario, "pi:target=100packets")


@pytest.mark.parametrize("model", ["mgt", "full", "calibrated"])
@pytest.mark.parametrize(
    ("change", "step"),
    [
        ({"bottleneck.rate": "9.8 Mbit/s"}, ("capacity", -25.0)),
        ({"bulk.count": 51}, ("flows", 0.02)),
    ],
)
def test_the_linear_response_is_that_of_the_fluid(model, change, step):
    """Another integrator: steps of 2 % of rate and flows in the running plant, every 50 ms for 10 s."""
    time, queue, certificate = fluid_after({"plant.fluid.model": model}, change)
    later = (time > 0) & (time < 10)
    linear = np.interp(time[later], *certificate._proof.disturbed(*step))
    assert np.abs(linear - queue[later]).max() < 0.05 * np.abs(queue[later]).max()


TCP = """
title = "Datagrams join"
duration = "130 s"
sample = "50 ms"
plant = { fluid = { model = "calibrated" } }
[bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "300 packets"
qdisc = "pi:target=100packets"
[[flows]]
count = 50
cc = "newreno"
ecn = true
segment = "1000 B"
access = { rate = "10 Mbit/s", delay = "40 ms" }
"""
UDP = """
[[flows]]
app = { cbr = { rate = "200 kbit/s" } }
start = "100 s"
segment = "1000 B"
access = { rate = "10 Mbit/s", delay = "0 ms" }
"""


def test_the_linear_response_to_datagrams_is_that_of_the_fluid(tmp_path):
    """UDP of 2 % of the link joins, 20 ms before its bottleneck."""
    path = tmp_path / "udp.toml"
    path.write_text(TCP + UDP)
    series = sj.run(sj.load(path), plants=["fluid"]).series.filter(pl.col("name") == "queue_packets")
    time, queue = series["time"].to_numpy() - 100 - 0.025, series["value"].to_numpy()
    queue = queue - queue[(time < 0) & (time > -5)].mean()
    later = (time > 0) & (time < 10)
    path.write_text(TCP)
    linear = np.interp(time[later], *sj.prove(sj.load(path))._proof.disturbed("arrivals", 25.0))
    assert np.abs(linear - queue[later]).max() < 0.05 * np.abs(queue[later]).max()


def test_the_table_and_the_document():
    found = checked("pi:target=100packets", seeds=[1])
    names = [name for name, _ in words.rows(found)]
    assert names[:4] == ["p, %", "mean window, packets", "queue, packets", "queue sd, packets"]
    document = json.loads(found.to_json())
    assert document["verdict"] == "holds"
    assert document["model"] == "calibrated"
    assert document["plants"]["packet"]["p"] == found.plants["packet"]["p"].mean
    assert document["errors"].keys() == {"p", "window_packets", "queue_packets"}


def test_the_verdict_names_what_it_is_about_and_what_is_far_off():
    """docs/theory/validity.md: packets peak higher than the fluid, and random signals move their queue."""
    found = checked("pi:target=100packets")
    assert "at rest within 2 % in p, the mean window and the mean queue; " in str(found)
    assert found.beyond["peak_packets"] > 0.2
    assert found.beyond["oscillation_packets"] == math.inf
    assert "the peak after -20 % of rate (1." in str(found)
    # 1.57 times the fluid's over forty seeds: 51.3 ± 2.6 packets.
    peak = found.plants["packet"]["peak_packets"]
    assert peak.n == 2 * found.times.falls
    assert peak.low < 51.3 < peak.high
    assert found.plants["fluid"]["peak_packets"].half is None
    assert "an oscillation of 21.3 packets, which theory without random signals lacks" in str(found)
    beyond = json.loads(found.to_json())["beyond"]
    assert beyond["peak_packets"] == found.beyond["peak_packets"]
    assert beyond["oscillation_packets"] is None
    cycle = checked("pi:target=100packets", seeds=(1,), **flows(100))
    assert "in frequency and amplitude of the cycle" in str(cycle)
    assert cycle.beyond == {}
    assert "Peak" not in words.about(cycle)
    assert "Steps of the rate are left out: the verdict is unstable." in words.about(cycle)


def test_a_frequency_of_one_bin_has_no_interval():
    """Five flows wander more slowly than the spectrum resolves: its slowest bin in both seeds."""
    found = checked("pi:target=100packets", **flows(5))
    swing = found.plants["packet"]["oscillation_rad_s"]
    assert (swing.n, swing.half) == (2, None)
    assert "± 0" not in " ".join(cell for _, cells in words.rows(found) for cell in cells).replace("± 0.", "")
    bins = 2 * math.pi / (found.times.segment * found.times.sample)
    assert f"in bins of {bins:.3g} rad/s" in words.about(found)
    assert swing.mean / bins == pytest.approx(round(swing.mean / bins))


def test_one_peak_of_a_response_is_one_number():
    """In the table of --check, that of --deviations, and both pictures."""
    certificate = sj.prove(sj.load("dumbbell", CALIBRATED), "pi")
    found, large = certificate.check(seeds=[1]), certificate.deviations(iterations=1)
    linear, fluid = (found.plants[plant]["peak_packets"].mean for plant in ("linear", "fluid"))
    assert large.responses[0].linear_peak_packets == linear
    assert large.responses[0].fluid_peak_packets == pytest.approx(fluid, rel=0.005)
    assert drawn(found.plot.response())["linear"].max() == linear
    assert drawn(certificate.plot.disturbances())["a fifth of the rate lost"].max() == linear


def test_smoothing_is_the_mean_over_that_time():
    """A response that grows as t from 0 on, in intervals of 0.5, smoothed over 0.8."""
    time = np.arange(20) * 0.5 + 0.25
    at, mean = smoothed(time, time, 0.8)
    assert mean[1:] == pytest.approx(at[1:], abs=0.05)
    assert mean[0] == pytest.approx(0.65 * 0.325 / 0.8, abs=0.05)


def test_dust_is_no_swing():
    found = checked("pi:target=100packets", seeds=(1,))
    assert 0 < found.plants["fluid"]["oscillation_packets"].mean < 1e-3
    assert dict(words.rows(found))["its amplitude, packets"][1] == "0"


def test_seeds_have_intervals():
    found = checked("pi:target=100packets", seeds=[1, 2, 3])
    assert found.seeds == (1, 2, 3)
    assert found.plants["packet"]["queue_packets"].half > 0
    assert found.plants["fluid"]["queue_packets"].half is None


def test_a_check_is_a_function_of_scenario_and_seed():
    assert checked("pi:target=100packets", seeds=[3]).to_json() == checked("pi", seeds=[3]).to_json()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 0),
        (SET_PUBLISHED, 1),
        (["--qdisc", "codel"], 4),
        (["--qdisc", "pi", "--qdisc", "codel"], 4),
    ],
)
def test_exit_codes(arguments, code, capsys):
    assert main(["prove", "dumbbell", "--check", "--seeds", "1", *arguments]) == code
    out = capsys.readouterr().out
    assert ("of pi at bottleneck with" in out) == (arguments != ["--qdisc", "codel"])


def test_the_document_has_the_check(capsys):
    assert main(["prove", "dumbbell", "--check", "--seeds", "1", "--json", *SET_PUBLISHED]) == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["check"]["verdict"] == "does not hold"
    assert document["verdict"] == "stable"
    assert captured.err == "sojourn prove: the theory does not hold: pi:target=100 packets at bottleneck\n"


def test_the_page_has_the_check_and_its_pictures(tmp_path):
    page = tmp_path / "page.html"
    assert main(["prove", "dumbbell", "--check", "--seeds", "1", "-o", str(page)]) == 0
    text = page.read_text()
    assert "Theory beside packets" in text
    for title in ("Plants at rest", "Plants after a step", "Spectrum"):
        assert f"<h3>{title}</h3>" in text


def test_pictures_lay_the_plants_over_each_other():
    found = checked("pi", seeds=(1,))
    assert found.plot.kinds == ["backlog", "response", "spectrum"]
    at_rest = drawn(found.plot.backlog())
    equilibrium = found.plants["linear"]["queue_packets"].mean
    assert np.all(at_rest["equilibrium"] == equilibrium)
    assert at_rest["fluid"] == pytest.approx(equilibrium, rel=0.01)
    assert at_rest["packets"].std() > 10
    # The peaks are those of the table.
    after = drawn(found.plot.response())
    for name, plant in (("packets", "packet"), ("fluid", "fluid"), ("linear", "linear")):
        assert after[name].max() == pytest.approx(found.plants[plant]["peak_packets"].mean, rel=0.05)
    of_noise = drawn(found.plot.spectrum())
    assert {"packets", "predicted"} == set(of_noise)
    ax = found.plot.backlog()
    assert found.plot.response(ax) is ax


def drawn(ax):
    """Heights of the lines of a picture by their names."""
    return {
        line.get_label(): np.asarray(line.get_ydata())
        for line in ax.get_lines()
        if not line.get_label().startswith("_")
    }


#: Two links that no flow joins.
APART = {
    "title": "apart",
    "duration": "60 s",
    "links": [
        {
            "name": name,
            "from": ends[0],
            "to": ends[1],
            "rate": rate,
            "delay": "5 ms",
            "buffer": "1000 packets",
            "qdisc": {"law": "pi", "target": target},
        }
        for name, ends, rate, target in (
            ("a", ("r0", "r1"), "10 Mbit/s", "50 packets"),
            ("b", ("r1", "r2"), "8 Mbit/s", "120 packets"),
        )
    ],
    "flows": [
        {
            "name": f"over_{place}",
            "count": 20,
            "app": "bulk",
            "cc": "newreno",
            "ecn": True,
            "segment": "1000 B",
            "from": f"r{place}",
            "to": f"r{place + 1}",
            "access": {"delay": "20 ms"},
        }
        for place in range(2)
    ],
}


def test_a_link_is_compared_with_its_own_packets():
    certificate = sj.prove(sj.Scenario.from_dict(APART), link="b")
    found = certificate.check(seeds=[1])
    assert found.holds
    for plant in ("linear", "fluid", "packet"):
        assert found.plants[plant]["queue_packets"].mean == pytest.approx(120, rel=0.02)
    assert drawn(found.plot.backlog())["fluid"] == pytest.approx(120, rel=0.02)
    (lost, *_) = certificate.deviations(iterations=1).responses
    assert lost.fluid_peak_packets == pytest.approx(lost.linear_peak_packets, rel=0.1)


def test_links_congested_together_are_each_compared(capsys, tmp_path):
    page = tmp_path / "page.html"
    arguments = ["prove", "networks/two_bottlenecks", "--check", "--seeds", "1"]
    assert main([*arguments, "-o", str(page)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for link in ("r2-r3", "r3-r4"):
        assert f"The theory of pie at {link} with calibrated windows holds here at rest" in text
        assert f"The theory of pie at {link} with" in page.read_text()
    assert "Links congested together with r3-r4 at rest alone (r2-r3: --link has steps of the rate)." in text
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["check"]
    (other,) = document["others"]
    assert (document["link"], other["link"]) == ("r3-r4", "r2-r3")
    # The figures are those of a check of that link.
    alone = sj.prove(sj.load("networks/two_bottlenecks"), link="r2-r3").check(seeds=[1])
    assert other["plants"]["linear"]["p"] == alone.plants["linear"]["p"].mean
    assert other["plants"]["packet"]["p"] == pytest.approx(alone.plants["packet"]["p"].mean, rel=0.1)
    assert other["plants"]["packet"] != document["plants"]["packet"]


def test_a_loop_of_microseconds_has_samples_as_fine():
    """Figures of a queue that turns within 20 us, in samples of 2 us."""
    scenario = sj.load(
        "dumbbell",
        {
            "bottleneck.rate": "100 Gbit/s",
            "bottleneck.delay": "1 us",
            "bottleneck.buffer": "2000 packets",
            "flows[0].count": 10,
            "flows[0].access": '{ delay = "0 s", rate = "1 Tbit/s" }',
            "flows[0].start": "0 s",
        },
    )
    found = sj.prove(scenario, "pi:target=100packets").check(seeds=[1])
    assert found.times.sample == pytest.approx(2e-6)
    assert found.plants["packet"]["queue_packets"].mean == pytest.approx(100, rel=0.2)


def test_a_spectrum_without_a_peak_has_a_frequency_of_its_own():
    """Two flows wander more slowly than the segments of the spectrum are long."""
    settings = flows(2, **{"bottleneck.rate": "100 kbit/s"})
    assert checked("pi", seeds=(1,), **settings).plants["packet"]["oscillation_rad_s"].mean > 0


def test_an_unstable_equilibrium_has_a_picture_of_its_cycle_alone():
    found = checked("pi:target=100packets", seeds=(1,), **flows(100))
    assert found.certified == "unstable"
    assert found.plot.kinds == ["backlog"]
    cycle = drawn(found.plot.backlog())
    assert np.ptp(cycle["fluid"]) > found.plants["fluid"]["oscillation_packets"].mean
    with pytest.raises(sj.InputError, match=r"^plot: this comparison has no response; expected backlog$"):
        found.plot.response()
    point = found.of.check_map((100, 150), (0.15, 0.2), points=2, seeds=[1]).cells[0][0]
    assert point.plot.kinds == []


def test_flows_that_start_too_late_are_named():
    line = r"check: flows that start until 36000 s, of a round trip of 0\.28 s, have a warm-up of 36\d+"
    with pytest.raises(sj.InputError, match=line):
        checked("pi:target=100packets", **{"flows[0].start": "10 h", "duration": "11 h"})


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--seeds", "1"], "--seeds: belongs to a check; expected --check with it"),
        (["--jobs", "1"], "--jobs: belongs to a check; expected --check with it"),
        (["--check", "--seeds", "a"], '--seeds: "a" is not a range; expected A..B such as 1..5, or a list'),
        (
            ["--check", "--qdisc", "drr:law=pi,law.target=2packets"],
            "check: the queues share the link, and theory and packets are compared in one queue",
        ),
    ],
)
def test_errors_are_one_line(arguments, line, capsys):
    assert main(["prove", "dumbbell", *arguments]) == 2
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1


def test_a_certificate_without_a_loop_has_no_check():
    with pytest.raises(sj.InputError, match="check: there is no theory to compare with: no model"):
        sj.prove(sj.load("dumbbell"), "codel").check()
    with pytest.raises(sj.InputError, match="seeds: 'x' is no list of seeds"):
        sj.prove(sj.load("dumbbell"), "pi").check(seeds="x")
    with pytest.raises(sj.InputError, match="jobs: 0 is not a number of workers"):
        sj.prove(sj.load("dumbbell"), "pi").check(jobs=0)


def test_a_map_is_the_check_of_each_point():
    """The point of the scenario itself has the errors of its own check; all cells, whatever the workers."""
    certificate = sj.prove(sj.load("dumbbell", CALIBRATED), "pi")
    found = certificate.check_map((25, 50), (0.1, 0.2), points=2, seeds=[1], jobs=1)
    assert found.flows.tolist() == [25, 50]
    assert found.rtt_s.tolist() == pytest.approx([0.1, 0.2])
    assert found.here == pytest.approx((50, 0.2))
    assert found.cells[1][1].errors == certificate.check(seeds=[1]).errors
    assert found.cells[0][0].plants["linear"]["queue_packets"].mean == 100
    again = certificate.check_map((25, 50), ("100 ms", "200 ms"), points=2, seeds=[1])
    assert again.to_dict() == found.to_dict()
    assert found.within[1, 1] == found.cells[1][1].within
    assert not np.isnan(found.within).any()


#: Parameters that are gains alone, and the page's figures at 1.3 times the critical gain: mean queue by its
#: target, and share of its variance in one oscillation.
BEYOND = {
    "pi": (("a", "b"), 0.85, 0.71),
    "rem": (("gamma",), 0.86, 0.71),
    "pid": (("kp", "ki", "kd"), 0.78, 0.20),
    "pi_pd": (("alpha",), 0.97, 0.94),
    "pie": (("alpha", "beta"), 1.12, 0.91),
    "pi2": (("alpha", "beta"), 0.93, 0.94),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", BEYOND)
def test_packets_leave_the_target_beyond_the_critical_gain(law):
    """docs/theory/validity.md. At half of that gain they stay."""
    keys, queue, share = BEYOND[law]
    box = {"flows": (40, 60), "rtt_s": (0.18, 0.22), "capacity_pps": 1250, "target": "80ms"}
    spec = sj.design(law, **box).spec
    own = sj.load("dumbbell", {"bottleneck.buffer": "600 packets"})
    critical = sj.prove(own, spec).margins["gain_margin"]
    below = sj.prove(own, scaled(spec, keys, 0.5 * critical))
    assert below.margins["gain_margin"] == pytest.approx(2, rel=1e-3)
    stays = below.check(seeds=(1, 2, 3))
    assert stays.plants["packet"]["queue_packets"].mean == pytest.approx(100, rel=0.01)
    assert stays.of_one_oscillation < 0.8
    beyond = sj.prove(own, scaled(spec, keys, 1.3 * critical))
    assert beyond.margins["gain_margin"] is None
    leaves = beyond.check(seeds=(1, 2, 3))
    mean = leaves.plants["packet"]["queue_packets"].mean / 100
    assert abs(mean - 1) > 0.1 or leaves.of_one_oscillation > 0.9
    assert (mean, leaves.of_one_oscillation) == pytest.approx((queue, share), abs=0.03)


def scaled(spec, keys, factor):
    """The spec with these parameters times a factor."""
    law, _, items = spec.partition(":")
    values = dict(item.split("=", 1) for item in items.split(","))
    values |= {key: repr(float(values[key]) * factor) for key in keys}
    return f"{law}:{','.join(f'{key}={value}' for key, value in values.items())}"


@pytest.mark.slow
def test_the_map_of_the_page():
    """docs/theory/validity.md: at all points with calibrated windows, with the published ones at one."""
    ends = {"flows": (5, 80), "rtt_s": ("20 ms", "300 ms"), "points": 5}
    certificate = sj.prove(sj.load("dumbbell", CALIBRATED), "pi")
    found = certificate.check_map(**ends)
    assert found.holds.all()
    unstable = np.array([[one.certified == "unstable" for one in row] for row in found.cells])
    assert found.within[~unstable].max() < 0.1
    assert unstable.sum() == 6
    published = sj.prove(sj.load("dumbbell", PUBLISHED), "pi").check_map(**ends).holds
    assert published.sum() == 1
    assert published[-1, 0]


def test_a_point_without_an_equilibrium_has_its_reason():
    """800 flows on 20 ms would have windows of less than a packet."""
    certificate = sj.prove(sj.load("dumbbell", CALIBRATED), "pi")
    found = certificate.check_map((50, 800), (0.01, 0.2), points=2, seeds=[1])
    assert isinstance(found.cells[0][1], str)
    assert found.to_dict()["cells"][0][1]["verdict"] == "no theory"
    assert words.rows_of_map(found)[0][1][1] == "-"
    assert any(line.startswith("- ") for line in words.of_map(found))


def test_a_map_in_the_shell(capsys, tmp_path):
    page = tmp_path / "page.html"
    over = ["--map", "N,R", "--flows", "40..60", "--rtt", "100ms..200ms", "--points", "2", "--seeds", "1"]
    assert main(["prove", "dumbbell", "--check", *over, "--json", "-o", str(page), *SET_PUBLISHED]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["check_map"]["flows"] == [40, 60]
    assert document["check_map"]["cells"][0][0]["causes"] != []
    assert "Where the theory holds" in page.read_text()
    assert main(["prove", "dumbbell", "--check", *over, *SET_PUBLISHED]) == 1
    text = capsys.readouterr().out
    assert "! it does not hold, S saturation, B bursts, W windows." in text
    assert " !SBW" in text or " !BW" in text or " !W" in text


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--points", "3"], "--points: belongs to a check; expected --check with it"),
        (["--check", "--points", "3"], "--points: belongs to a map; expected --map N,R with it"),
        (["--check", "--map", "N,R", "--points", "1"], '--points: "1" is not a number of points; expected 2'),
    ],
)
def test_errors_of_a_map_are_one_line(arguments, line, capsys):
    assert main(["prove", "dumbbell", *arguments]) == 2
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1


def test_an_oscillation_that_is_no_cycle_has_the_share_of_one():
    found = checked("pi:target=100packets,a=0.01,b=0.0099", seeds=(1,), at=[])
    assert found.certified == "unstable"
    assert not found.oscillates
    assert re.search(r"with \d+ % of its variance; a cycle has at least 60 %\.", str(found))


def test_the_window_of_a_law_that_drops_counts_what_it_drops() -> None:
    """A flow's packets in a round trip, dropped ones too: in the fluid at rest those of the equilibrium."""
    scenario = sj.load("dumbbell", {"flows[0].count": 120, "flows[0].ecn": False})
    found = sj.prove(scenario, "pi").check(seeds=[1])
    linear, fluid = (found.plants[plant]["window_packets"].mean for plant in ("linear", "fluid"))
    assert found.plants["linear"]["p"].mean > 0.05
    assert fluid == pytest.approx(linear, rel=0.01)


BOTH_WAYS = {"count": 30, "cc": "newreno", "ecn": True, "segment": "1000 B", "start": "0 s"}


def test_queues_with_acknowledgments_among_data_are_counted_in_packets_of_data():
    """Both directions hold 15 ms, 37.5 packets of data at most: with ACKs there are more packets."""
    loads = {f"flows[{place}].{key}": value for place in (0, 1) for key, value in BOTH_WAYS.items()}
    back = {"bottleneck.back.qdisc": "pi2:target=15ms", "bottleneck.back.buffer": "1000 packets"}
    times = {"duration": "30 s", "warmup": "10 s", "bottleneck.buffer": "1000 packets"}
    times |= {"bottleneck.qdisc": "pi2:target=15ms"}
    scenario = sj.load("networks/both_ways", loads | back | times)
    certificate = sj.prove(scenario, link="bottleneck")
    (row, *_) = sj.run(scenario, seeds=[1]).rows("bottleneck")
    size = packet_in_queue(row, certificate)
    assert 0.5 < size < 0.9
    held = row.metrics["sojourn_mean_s"] * certificate.equilibrium["capacity_pps"]
    assert size * row.metrics["queue_mean_packets"] == pytest.approx(held, rel=0.1)
    assert any("packets bunch them (ACK compression" in one for one in certificate.warnings)
    alone = sj.prove(sj.load("dumbbell"), "pi")
    assert packet_in_queue(row, alone) == 1
