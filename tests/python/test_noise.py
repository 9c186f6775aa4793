"""Predicted noise of a loop beside that of packets: deviations, limits, the mean, spectra.

NOISE=long runs the whole grid, as ./ci.sh noise does.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.linalg import solve_discrete_lyapunov

import sojourn as sj
from sojourn.cli import main
from sojourn.prove import words

LONG = os.environ.get("NOISE") == "long"
CAPACITY = 2500.0
SCENARIO = """\
title    = "Long flows on 20 Mbit/s"
duration = "{seconds} s"
sample   = "10 ms"
warmup   = "60 s"
plant    = {{ fluid = {{ model = "calibrated" }} }}

[bottleneck]
rate   = "20 Mbit/s"
delay  = "1 ms"
buffer = "2000 packets"
qdisc  = "pi:target=150packets"

[[flows]]
count   = {count}
cc      = "{cc}"
segment = "1000 B"
access  = {{ rate = "100 Mbit/s", delay = {{ spread = ["{short} ms", "{long} ms"] }} }}
{keys}
"""
SIGNALS = {
    "marks": "ecn = true",
    "drops": "ecn = false",
    "ns2": 'ecn = true\nprofile = "ns2"',
    "cubic": "ecn = true\ntcp = { delayed_ack = false }",
}
#: Those of the grid.
OF_THE_GRID = ("marks", "drops", "ns2")
#: Laws with a certificate, but for PI-PD, whose model is of one side of its target.
LAWS = (
    "pi",
    "pi:target=150packets",
    "red",
    "red:min=50packets,max=350packets",
    "red:min=50packets,max=350packets,wait=false",
    "pid:target=150packets",
    "rem:target=150packets",
    "cpc:target=150packets",
    "arm_pfc:target=150packets",
    "pie:target=60ms",
    "pi2:target=60ms",
    "fb_ocq:target=150packets",
)
FLOWS = (5, 10, 20, 40, 80)
ROUND_TRIPS_MS = (20, 50, 100, 200, 300)
#: Points of the short run: law, signals, flows, round trip in ms.
SHORT = (
    ("pi:target=150packets", "marks", 10, 50),
    ("pi:target=150packets", "marks", 40, 100),
    ("pi:target=150packets", "drops", 20, 100),
    ("pi:target=150packets", "ns2", 40, 100),
    ("pi:target=150packets", "cubic", 10, 100),
    ("pi:target=150packets", "cubic", 40, 100),
    ("red:min=50packets,max=350packets", "marks", 20, 50),
    ("red:min=50packets,max=350packets,wait=false", "marks", 20, 20),
    ("arm_pfc:target=150packets", "marks", 40, 100),
    ("fb_ocq:target=150packets", "marks", 20, 100),
    ("rem:target=150packets", "marks", 40, 50),
    ("pid:target=150packets", "marks", 40, 100),
)
#: Domain of the deviations: least window, packets, of marks and of drops, least gain margin, and least phase
#: margin, degrees: a loop with little damping multiplies an error of the plant's phase.
LEAST_WINDOW, LEAST_DROPPED, LEAST_GAIN, LEAST_PHASE = 4.0, 5.0, 1.2, 20.0
#: Largest relative error there.
MOST = 0.25


def scenario(folder: Path, signals: str, of: tuple[int, int], seconds: int = 240) -> sj.Scenario:
    count, round_trip_ms = of
    one_way = (round_trip_ms / 2 - 1) / 2
    path = folder / "flows.toml"
    path.write_text(
        SCENARIO.format(
            seconds=seconds,
            count=count,
            short=0.95 * one_way,
            long=1.05 * one_way,
            cc="cubic" if signals == "cubic" else "newreno",
            keys=SIGNALS[signals],
        )
    )
    return sj.load(path)


@dataclass(frozen=True)
class Point:
    """A stable certificate, and its packets."""

    name: str
    certificate: sj.prove.Certificate
    metrics: dict[str, float]

    @property
    def ratio(self) -> float:
        """Predicted deviation of the queue by that of packets."""
        assert self.certificate.noise is not None
        return self.certificate.noise["queue_sd_packets"] / self.metrics["queue_std_packets"]

    @property
    def mean(self) -> float:
        """Mean queue of packets by that of the certificate."""
        assert self.certificate.equilibrium is not None
        return self.metrics["queue_mean_packets"] / self.certificate.equilibrium["backlog_packets"]

    @property
    def promises(self) -> bool:
        gain = self.certificate.margins["gain_margin"]
        return (gain is None or gain > 2) and not self.certificate.warnings

    @property
    def is_within_the_domain(self) -> bool:
        equilibrium, gain = self.certificate.equilibrium, self.certificate.margins["gain_margin"]
        assert equilibrium is not None
        phase = self.certificate.margins["phase_margin_deg"]
        window = equilibrium["classes"][0]["window_packets"]
        least = LEAST_DROPPED if equilibrium["signal"] == "drop" else LEAST_WINDOW
        noisy = any("oise" in one for one in self.certificate.warnings)
        damped = (gain is None or gain >= LEAST_GAIN) and (phase is None or phase >= LEAST_PHASE)
        return window >= least and not noisy and damped

    def __str__(self) -> str:
        return f"{self.name}: sd predicted / packets {self.ratio:.2f}, mean / equilibrium {self.mean:.2f}"


def point(folder: Path, law: str, signals: str, of: tuple[int, int], seconds: int = 240) -> Point | None:
    """None where there is no stable certificate."""
    flows = scenario(folder, signals, of, seconds)
    try:
        certificate = sj.prove(flows, law)
    except sj.InputError:
        return None
    if certificate.verdict != "stable":
        return None
    metrics = sj.run(flows, qdiscs=[law]).rows()[0].metrics
    name = f"{law}, {signals}, {of[0]} flows over {of[1]} ms"
    return Point(
        name, certificate, {key: metrics[key] for key in ("queue_std_packets", "queue_mean_packets")}
    )


def long_points(folder: Path, law: str, signals: str) -> Iterator[Point]:
    for count in FLOWS:
        for round_trip in ROUND_TRIPS_MS:
            found = point(folder, law, signals, (count, round_trip), 460)
            if found is not None:
                yield found


@pytest.mark.slow
@pytest.mark.parametrize("of", SHORT, ids=str)
def test_the_deviation_is_that_of_packets(of: tuple[str, str, int, int], tmp_path: Path) -> None:
    law, signals, *at = of
    found = point(tmp_path, law, signals, (at[0], at[1]))
    assert found is not None
    assert found.is_within_the_domain, found.certificate.warnings
    assert found.ratio == pytest.approx(1, abs=MOST), str(found)
    assert found.mean == pytest.approx(1, abs=0.2), str(found)


DATAGRAMS = """
[[flows]]
name   = "datagrams"
count  = 1
app    = {{ {app} = {{ rate = "10 Mbit/s", size = "1500 B" }} }}
access = {{ rate = "1 Gbit/s", delay = "5 ms" }}
"""


@pytest.mark.slow
def test_the_noise_that_pie_lacks_is_that_of_a_loop_with_little_damping(tmp_path: Path) -> None:
    # Two runs that differ in the gains alone: 13 and 29 degrees of phase margin.
    for gains, margin, ratio in (("", 13, 0.72), (",alpha=0.0625,beta=0.625", 29, 0.88)):
        found = point(tmp_path, f"pie:target=60ms{gains}", "marks", (40, 50))
        assert found is not None
        assert found.certificate.margins["phase_margin_deg"] == pytest.approx(margin, abs=1)
        assert found.ratio == pytest.approx(ratio, abs=0.02), found


def test_the_noise_that_red_lacks_is_not_that_of_its_spacing(tmp_path: Path) -> None:
    lacks = []
    for wait in ("true", "false"):
        law = f"red:min=50packets,max=350packets,wait={wait}"
        found = point(tmp_path, law, "ns2", (20, 50))
        assert found is not None
        seen = found.metrics["queue_std_packets"]
        lacks.append((seen**2 - (found.ratio * seen) ** 2) / 20)
    assert lacks == pytest.approx([0.87, 0.86], abs=0.15)


@pytest.mark.slow
def test_unlike_round_trips_move_the_queue(tmp_path: Path) -> None:
    """80 flows over 200 ms, less and more by a tenth of the access: the variance that this adds."""
    law, variances = "red:min=50packets,max=350packets", []
    for spread in (0.0, 0.05):
        scenario(tmp_path, "ns2", (80, 200), 460)
        one_way = (200 / 2 - 1) / 2
        delay = {"spread": [f"{one_way * (1 - spread)} ms", f"{one_way * (1 + spread)} ms"]}
        flows = sj.load(tmp_path / "flows.toml", {"flows[0].access.delay": delay})
        noise = sj.prove(flows, law).noise
        assert noise is not None
        rows = sj.run(flows, qdiscs=[law], seeds=[1, 2, 3, 4]).rows()
        packets = np.mean([np.square(row.metrics["queue_std_packets"]) for row in rows])
        variances.append([noise["queue_sd_packets"] ** 2, packets])
    predicted, seen = np.subtract(variances[1], variances[0])
    assert predicted == pytest.approx(75, rel=0.05)
    # A difference of two variances, each with the noise of four seeds.
    assert 60 < seen < 180


def test_datagrams_at_random_times_move_the_queue(tmp_path: Path) -> None:
    """Half of the link: under Poisson arrivals the variance of packets is larger by what is predicted."""
    variances = {}
    for app in ("cbr", "poisson"):
        scenario(tmp_path, "marks", (20, 50))
        path = tmp_path / "flows.toml"
        path.write_text(path.read_text() + DATAGRAMS.format(app=app))
        both = sj.load(path)
        noise = sj.prove(both, "pi:target=100packets").noise
        assert noise is not None
        rows = sj.run(both, qdiscs=["pi:target=100packets"], seeds=[1, 2]).rows()
        packets = float(np.mean([row.metrics["queue_std_packets"] for row in rows]))
        assert noise["queue_sd_packets"] == pytest.approx(packets, rel=0.15), app
        variances[app] = np.square([noise["queue_sd_packets"], packets])
    more = variances["poisson"] - variances["cbr"]
    assert more[0] == pytest.approx(more[1], rel=0.5)
    assert more[0] > 0.2 * variances["cbr"][0]


@pytest.mark.skipif(not LONG, reason="NOISE=long runs the grid")
@pytest.mark.parametrize("signals", OF_THE_GRID)
@pytest.mark.parametrize("law", LAWS)
def test_the_grid(law: str, signals: str, tmp_path: Path) -> None:
    """Deviations within the bounds in the domain; no promise of a mean that the packets do not hold."""
    points = list(long_points(tmp_path, law, signals))
    inside = [one for one in points if one.is_within_the_domain]
    promised = [one for one in points if one.promises]
    ratios = [one.ratio for one in inside] or [math.nan]
    print(
        f"\n{law}, {signals}: {len(points)} stable, {len(inside)} in the domain: "
        f"{min(ratios):.2f} to {max(ratios):.2f}; {len(promised)} promises"
    )
    off = [str(one) for one in inside if abs(one.ratio - 1) > MOST]
    broken = [f"promised: {one}" for one in promised if abs(one.mean - 1) > 0.2]
    assert not off + broken, "\n".join(off + broken)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "of"),
    [
        ("pi:target=150packets,a=5e-5,b=4.9e-5", (5, 50)),
        ("pi:target=150packets,a=2e-5,b=1.97e-5", (5, 50)),
        ("pi:target=150packets,a=2e-5,b=1.97e-5", (10, 100)),
        ("pid:form=velocity,target=150packets", (5, 20)),
    ],
)
def test_a_mean_that_noise_shifts(law: str, of: tuple[int, int], tmp_path: Path) -> None:
    """PI and PID whose p stops at 0: the shift is within a factor of 2, and the certificate warns."""
    found = point(tmp_path, law, "marks", of)
    assert found is not None
    noise, equilibrium = found.certificate.noise, found.certificate.equilibrium
    assert noise is not None
    assert equilibrium is not None
    shift = (found.mean - 1) * equilibrium["backlog_packets"]
    assert shift < -3
    assert 0.5 < noise["mean_shift_packets"] / shift < 2
    assert any("is within the noise of 0" in one for one in found.certificate.warnings)
    assert any("the mean backlog falls by about " in note for note in words.notes(found.certificate))


def test_a_limit_inside_a_law_is_named(tmp_path: Path) -> None:
    """CPC's reference of the flight is limited; noise passes its limits, and the loop is another one."""
    found = sj.prove(scenario(tmp_path, "marks", (20, 100)), "cpc:target=150packets")
    assert found.noise is not None
    assert found.noise["limited"]["name"] == "F_ref"
    assert found.noise["limited"]["beyond"] > 0.5
    assert any(one.startswith("Noise takes F_ref of cpc beyond its limits") for one in found.warnings)


def test_the_deviation_is_that_of_a_linear_system(tmp_path: Path) -> None:
    """PI on the lone lag of one class of senders without counts: the variance by Lyapunov's equation.

    The noise is taken as white; that a flight falls by degrees takes 2 % of it at most.
    """
    law, period = "pi:target=150packets,a=1e-4,b=9.9e-5,rate=160Hz", 1 / 160
    certificate = sj.prove(scenario(tmp_path, "ns2", (20, 100)), law)
    assert certificate.noise is not None
    # dq' = -r dq - g dp(t - d) + white noise: the high-frequency limits of the open loop and of the noise.
    free = sj.prove(scenario(tmp_path, "ns2", (20, 100)), "pi:target=150packets,a=1e-12,b=9.9e-13,rate=160Hz")
    assert free.equilibrium is not None
    low = np.array([1e-3, 0.8])
    spectrum = free._proof.noise_spectrum(low)
    assert spectrum is not None
    # S = D / (r^2 + w^2).
    rate = math.sqrt((low[1] ** 2 * spectrum[1] - low[0] ** 2 * spectrum[0]) / (spectrum[0] - spectrum[1]))
    density = spectrum[0] * (rate**2 + low[0] ** 2)
    delay = 1.25 * free.equilibrium["rtt_s"]
    re, im = free._proof.response(len(free.loops) - 1, np.array([0.5]))
    by_law = 1e-12 - 9.9e-13 * np.exp(-0.5j * period)
    by_law /= 1 - np.exp(-0.5j * period)
    gain = abs((re[0] + 1j * im[0]) / by_law) * abs(0.5j + rate)
    taps = round(delay / period)
    decay = math.exp(-rate * period)
    # q, q before, p and its past.
    size = 3 + taps
    system = np.zeros((size, size))
    system[0, 0], system[0, -1] = decay, -gain * (1 - decay) / rate
    system[1, 0] = 1
    system[2, :3] = (1e-4 * decay - 9.9e-5, 0, 1)
    system[2, -1] = 1e-4 * system[0, -1]
    system[3:, 2:-1] = np.eye(taps)
    drive = np.zeros((size, 1))
    drive[0], drive[2] = 1, 1e-4
    step = density * (1 - decay**2) / (2 * rate)
    variance = solve_discrete_lyapunov(system, step * drive @ drive.T)
    assert certificate.noise["queue_sd_packets"] == pytest.approx(math.sqrt(variance[0, 0]), rel=0.03)
    assert certificate.noise["p_sd"] == pytest.approx(math.sqrt(variance[2, 2]), rel=0.03)


def test_the_spectrum_has_the_variance(tmp_path: Path) -> None:
    certificate = sj.prove(scenario(tmp_path, "marks", (40, 100)), "pi:target=150packets")
    frequencies = np.geomspace(1e-3, 1e4, 5000)
    density = certificate._proof.noise_spectrum(frequencies)
    assert density is not None
    assert certificate.noise is not None
    variance = np.trapezoid(density, frequencies) / math.pi
    assert math.sqrt(variance) == pytest.approx(certificate.noise["queue_sd_packets"], rel=2e-3)


def test_the_spectrum_is_that_of_packets(tmp_path: Path) -> None:
    """In octaves from 1/8 to 2 by the round trip; the measured one has the variance of the samples."""
    flows = scenario(tmp_path, "marks", (20, 100), 460)
    certificate = sj.prove(flows, "pi:target=150packets")
    result = sj.run(flows, qdiscs=["pi:target=150packets"])
    ax = certificate.plot.spectrum(result)
    packets, predicted = (line.get_xydata() for line in ax.get_lines())
    assert certificate.equilibrium is not None
    rtt = certificate.equilibrium["rtt_s"]
    for octave in (1 / 8, 1 / 4, 1 / 2, 1):
        powers = [
            np.trapezoid(np.interp(at := np.linspace(octave, 2 * octave, 200) / rtt, *of.T), at)
            for of in (packets, predicted)
        ]
        assert powers[1] / powers[0] == pytest.approx(1, abs=0.35), octave
    queue = result.series.filter((pl.col("name") == "queue_packets") & (pl.col("time") > 60))["value"]
    variance = np.trapezoid(packets[:, 1], packets[:, 0]) / math.pi
    assert math.sqrt(variance) == pytest.approx(queue.std(), rel=0.1)


def test_a_spectrum_has_errors_of_one_line(tmp_path: Path) -> None:
    flows = scenario(tmp_path, "marks", (20, 100), 61)
    certificate = sj.prove(flows, "pi:target=150packets")
    other = sj.run(flows, qdiscs=["red"])
    with pytest.raises(
        sj.InputError, match=r"^result: has no backlog of packets under pi:target=150 packets at "
    ):
        certificate.plot.spectrum(other)
    with pytest.raises(sj.InputError, match=r"^result: 5 is not a result; expected what sojourn\.run"):
        certificate.plot.spectrum(5)
    few = sj.run(flows.with_(sample="50 ms"), qdiscs=["pi:target=150packets"])
    with pytest.raises(sj.InputError, match=r"^result: has \d+ samples of the backlog; expected 64 or more"):
        certificate.plot.spectrum(few)
    unstable = sj.prove(scenario(tmp_path, "marks", (80, 20)), "pi:target=150packets")
    with pytest.raises(sj.InputError, match=r"^plot: there is no noise about an equilibrium"):
        unstable.plot.spectrum()


def test_a_certificate_prints_its_noise(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "dumbbell", "--qdisc", "pi", "--set", "plant.fluid.model=calibrated"]) == 0
    assert "Noise: random signals move the backlog by " in " ".join(capsys.readouterr().out.split())
    assert main(["prove", "dumbbell", "--qdisc", "pi", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["noise"]
    assert found["queue_sd_packets"] > 10
    assert found["limited"] is None


def test_noise_is_that_of_a_stable_loop_of_one_link() -> None:
    unstable = sj.prove(sj.load("dumbbell", {"flows[0].count": 200}), "pi:target=100packets,a=0.01,b=0.0099")
    assert unstable.verdict == "unstable"
    assert unstable.noise is None
    assert not any(note.startswith("Noise") for note in words.notes(unstable))
