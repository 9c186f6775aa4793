"""Runs of a certificate's scenario in the fluid and the packet plant: at rest, and under steps of the rate.

The schedule of the scenario is left out, as in the certificate. Lengths follow from the loop: at least a
hundred cycles of its oscillation and thirty of the windows, after a warm-up of several.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sojourn.errors import InputError
from sojourn.resolve import Setup
from sojourn.scenario import Scenario
from sojourn.simulate import Plan, check_plant

if TYPE_CHECKING:
    from sojourn.prove import Certificate

Array = npt.NDArray[np.float64]

#: Share of the link's rate that a step takes, and most steps.
STEP = 0.2
STEPS = 8
#: Packets of a run that are enough for the figures: fast links have shorter runs.
PACKETS = 5e6
#: Oscillations and cycles of the windows in a run, and its greatest length, s, unless the scenario's is.
OSCILLATIONS, SAWTEETH, LONGEST_S = 100, 30, 1000.0
#: Longest interval of samples, s, their number in a cycle, and most in a run.
COARSEST_S, PER_CYCLE, MOST_SAMPLES = 0.05, 24, 1e6


@dataclass(frozen=True)
class Times:
    """Lengths of the runs, s."""

    #: A cycle of the loop's oscillation, and of the windows.
    cycle: float
    #: Time in which the linear loop settles.
    horizon: float
    rtt: float
    sample: float
    warmup: float
    duration: float
    #: Falls of the rate in the run with steps.
    falls: int

    @property
    def segment(self) -> int:
        """Samples of a segment of the spectrum, twelve cycles; of a short run fewer."""
        return int(min(12 * self.cycle, self.duration - self.warmup) / self.sample)

    @property
    def half(self) -> float:
        """Time from one step of the rate to the next."""
        return self.sample * math.ceil(max(1.2 * self.horizon, 10 * self.rtt, 4 * self.cycle) / self.sample)

    @property
    def steps(self) -> list[float]:
        """Times at which the rate falls; it rises half-way between them."""
        return [self.warmup + (2 * place + 1) * self.half for place in range(self.falls)]

    @property
    def alternating(self) -> float:
        """Duration of a run with steps."""
        return self.warmup + (2 * self.falls + 1) * self.half


def times_of(certificate: Certificate, own: Scenario, frequency: float, horizon: float) -> Times:
    """Lengths for an oscillation of a frequency, rad/s, and a horizon, s."""
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    rtt = equilibrium["rtt_s"]
    window = max(one["window_packets"] for one in equilibrium["classes"])
    cycle, sawtooth = 2 * math.pi / frequency, max(window / 2, 1.0) * rtt
    sample = interval_of(min(COARSEST_S, cycle / PER_CYCLE, rtt / 4))
    most = MOST_SAMPLES * sample
    given = min(_warmup_s(own), most / 4)
    longest = max(min(LONGEST_S, PACKETS / equilibrium["capacity_pps"]), 4 * horizon)
    warmup = max(given, last_start_s(own) + min(longest / 4, max(2 * horizon, 5 * cycle, 5 * sawtooth)))
    measured = min(longest, max(20 * horizon, OSCILLATIONS * cycle, SAWTEETH * sawtooth))
    if warmup > most / 2:
        raise InputError(
            f"check: flows that start until {last_start_s(own):.6g} s, of a round trip of {rtt:.6g} s, "
            f"have a warm-up of {warmup:.6g} s; expected at most {most / 2:.6g} s, "
            f"for samples of {sample:.6g} s"
        )
    duration = warmup + max(measured, min(own.duration_s - given, most / 4))
    # Steps of the rate begin with a sample.
    warmup = sample * math.ceil(warmup / sample)
    times = Times(cycle, horizon, rtt, sample, warmup, duration, falls=1)
    return replace(times, falls=max(1, min(STEPS, int(longest / (2 * times.half)))))


def interval_of(most: float) -> float:
    """The longest interval of samples of one significant digit, s, up to `most`: whole ms from 1 ms on."""
    step = min(1e-3, 10.0 ** math.floor(math.log10(most)))
    return float(f"{step * math.floor(most / step * (1 + 1e-9)):.6g}")


def _warmup_s(own: Scenario) -> float:
    from sojourn.prove.region import seconds

    found = json.loads(own.to_json()).get("warmup")
    return (seconds(found) if found else None) or 0.0


def last_start_s(own: Scenario) -> float:
    """Time by which all classes of traffic have started, s: a certificate has them all."""
    from sojourn.prove.region import seconds

    def latest(value: object) -> float:
        if isinstance(value, str):
            return seconds(value) or 0.0
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return max(map(latest, parts), default=0.0)

    return max((latest(group.get("start")) for group in json.loads(own.to_json())["flows"]), default=0.0)


def at_rest(setup: Setup, times: Times) -> Setup:
    """The scenario without its schedule, long enough to measure its queue."""
    return _with(setup, "[]", times.duration, times)


def under_steps(setup: Setup, link: str, times: Times) -> Setup:
    """The scenario with a rate that falls and rises again."""
    rate = rate_bps(setup.scenario, link)
    changes = []
    for fall in times.steps:
        changes += [(fall, (1 - STEP) * rate), (fall + times.half, rate)]
    key = f"{link}.rate"
    schedule = ", ".join(
        f'{{ time = "{at:.9g} s", set = {{ "{key}" = "{bps:.15g} bit/s" }} }}' for at, bps in changes
    )
    return _with(setup, f"[{schedule}]", times.alternating, times)


def _with(setup: Setup, schedule: str, duration: float, times: Times) -> Setup:
    changes: dict[str, Any] = {
        "at": schedule,
        "warmup": f"{times.warmup:.9g} s",
        "duration": f"{duration:.9g} s",
        "sample": f"{times.sample:.9g} s",
    }
    return replace(setup, scenario=setup.scenario.with_(**changes))


def rate_bps(scenario: Scenario, link: str) -> float:
    """Rate of the link that is certified, bit/s."""
    return float(scenario.contexts[_place(scenario, link)].rate_bps)


def limit_packets(scenario: Scenario, link: str) -> float:
    """Limit of its buffer, packets."""
    return float(scenario.contexts[_place(scenario, link)].limit_packets)


def _place(scenario: Scenario, link: str) -> int:
    keys = json.loads(scenario.to_json())
    names = [one["name"] for one in keys.get("links", []) if one.get("qdisc")]
    return names.index(link) if link in names else 0


def has_fluid(setup: Setup) -> bool:
    """True if the fluid plant has a model of the scenario."""
    try:
        check_plant(setup.scenario, "fluid", own_law=setup.law is not None)
    except InputError:
        return False
    return True


def plan_of(setup: Setup, seeds: Sequence[int], workers: int) -> Plan:
    """Runs of a scenario in both plants, or in packets where the fluid has no model."""
    plants = ("fluid", "packet") if has_fluid(setup) else ("packet",)
    return Plan(setup.scenario, (setup,), plants, tuple(seeds), workers, ())


def epochs(time: Array, queue: Array, times: Times) -> Array:
    """Backlog after each fall of the rate, less its mean over whole cycles before: a row for each fall."""
    count = round(times.half / times.sample)
    base = round(times.cycle * max(1, int(times.half / 2 / times.cycle)) / times.sample)
    firsts = [int(np.searchsorted(time, fall + times.sample / 2)) for fall in times.steps]
    return np.array([queue[at : at + count] - queue[at - base : at].mean() for at in firsts])
