"""Large deviations of a certified loop: limit cycles, changes of the law's slope, responses to large steps.

The definitions are in docs/theory/deviations.md.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sojourn import stops
from sojourn.deviations.fluid import FARTHEST, OUTWARDS, Bench, largest
from sojourn.errors import InputError
from sojourn.kinds import whole_of
from sojourn.validity import runs
from sojourn.validity.figures import linear_response, settled, smoothed

if TYPE_CHECKING:
    from sojourn.prove import Certificate
    from sojourn.simulate import Watch

__all__ = ["Cycle", "Deviations", "Response", "SlopeChange", "deviations"]

#: Harmonics of a limit cycle; a describing function has one.
HARMONICS = 7
#: Bisections of a largest step, by default and at most.
ITERATIONS, MOST_ITERATIONS = 12, 40
#: Farthest change of the slope, relative to the equilibrium.
SLOPES = 100.0
#: Least time after a step, and beyond settling before it, s, or so many round trips if that is less:
#: integrals may have far to go.
LEAST_S, LEAST_BEFORE_S, LEAST_RTTS = 100.0, 5.0, 5000.0
#: Frequencies of a sensitivity, relative to the loop's, from, to, and their number.
BELOW, ABOVE, POINTS = 1e-2, 1e2, 2000


@dataclass(frozen=True)
class Cycle:
    """A limit cycle of the fluid."""

    #: First harmonic of the backlog, packets, and the period, s.
    amplitude_packets: float
    period_s: float
    #: Least and greatest backlog, packets, and p.
    queue_packets: tuple[float, float]
    p: tuple[float, float]
    #: True if windows fall below a packet, or p stops at a limit in a way that the law's model lacks.
    approximate: bool


@dataclass(frozen=True)
class SlopeChange:
    """The nearest point on one side of the equilibrium where the law's slope or kind of signal changes."""

    #: p, or the backlog in packets if the law is a curve; and relative to the equilibrium.
    at: float
    unit: str
    relative: float
    #: Gain beyond over that before; None: the law has no transfer function on one side.
    gain: float | None
    #: True if packets that can be marked are marked beyond, and not dropped.
    marks: bool


@dataclass(frozen=True)
class Response:
    """Peak and settling of the backlog after a step, smoothed over a round trip; None: the plant has none."""

    step: str
    linear_peak_packets: float | None
    linear_settling_s: float | None
    fluid_peak_packets: float | None
    fluid_settling_s: float | None


@dataclass(frozen=True)
class Deviations:
    """Large deviations; made by `Certificate.deviations`."""

    law: str
    link: str
    verdict: str
    #: The loop is of a part of the law.
    of_a_part: bool
    #: The loop's own limit cycle, by harmonic balance and as a describing function; None: none was found.
    limit_cycle: Cycle | None
    describing_function: Cycle | None
    #: Factor of the loop's gain at which oscillations begin; True if they begin softly, growing from 0.
    critical_gain: float | None
    soft: bool | None
    slope_changes: tuple[SlopeChange, ...]
    responses: tuple[Response, ...]
    #: Greatest magnitudes of S = 1 / (1 + L) and T = L / (1 + L), at which frequency, rad/s; None: unstable.
    sensitivity: tuple[float, float] | None
    complementary_sensitivity: tuple[float, float] | None
    #: Largest factors by which the flows grow or fall, or the rate falls, from which the fluid comes back to
    #: rest, and True each if it is the farthest one that was tried; None: unstable, or no model.
    largest_growth_of_flows: tuple[float, bool] | None
    largest_fall_of_flows: tuple[float, bool] | None
    largest_fall_of_rate: tuple[float, bool] | None
    iterations: int

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""

        def cycle(of: Cycle | None) -> dict[str, Any] | None:
            return None if of is None else dict(vars(of))

        def step(of: tuple[float, bool] | None) -> dict[str, Any] | None:
            return None if of is None else {"factor": of[0], "is_farthest": of[1]}

        def peak(of: tuple[float, float] | None) -> dict[str, Any] | None:
            return None if of is None else {"peak": of[0], "frequency_rad_s": of[1]}

        return {
            "of_a_part": self.of_a_part,
            "limit_cycle": cycle(self.limit_cycle),
            "describing_function": cycle(self.describing_function),
            "critical_gain": self.critical_gain,
            "soft": self.soft,
            "slope_changes": [dict(vars(one)) for one in self.slope_changes],
            "responses": [dict(vars(one)) for one in self.responses],
            "sensitivity": peak(self.sensitivity),
            "complementary_sensitivity": peak(self.complementary_sensitivity),
            "largest_growth_of_flows": step(self.largest_growth_of_flows),
            "largest_fall_of_flows": step(self.largest_fall_of_flows),
            "largest_fall_of_rate": step(self.largest_fall_of_rate),
            "iterations": self.iterations,
        }

    def to_json(self) -> str:
        """`to_dict` as a JSON document.

        >>> import sojourn as sj
        >>> "critical_gain" in sj.prove(sj.load("dumbbell"), "pi").deviations(iterations=2).to_json()
        True
        """
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    def __str__(self) -> str:
        from sojourn.deviations.words import sentences

        return " ".join(sentences(self))

    def __repr__(self) -> str:
        return f"<Deviations {self.law} at {self.link}: {self.verdict}>"


def deviations(
    certificate: Certificate, iterations: int = ITERATIONS, watch: Watch | None = None
) -> Deviations:
    """Large deviations of a certificate's loop; of `Certificate.deviations`, with a watch of its runs.

    Raises `InputError`.
    """
    iterations = whole_of("iterations", iterations)
    if not 1 <= iterations <= MOST_ITERATIONS:
        expected = f"expected 1 to {MOST_ITERATIONS}"
        raise InputError(f"iterations: {iterations} is not a number of bisections; {expected}")
    if certificate.classes:
        message = "the queues share the link, and deviations are of one queue"
        raise InputError(f"deviations: {message}; expected a law alone")
    if certificate.links:
        names = ", ".join(one["link"] for one in certificate.links)
        raise InputError(f"deviations: {names} are congested together, and deviations are of one link")
    if certificate.equilibrium is None or not certificate.loops:
        raise InputError(f"deviations: there is no loop: {certificate.reason}")
    stable = certificate.verdict == "stable"
    bench = replace(_bench(certificate), ran=_counting(watch, 3 * (OUTWARDS + iterations) + len(STEPS)))
    cycle, soft, critical = _cycle(certificate, HARMONICS)
    has_fluid = runs.has_fluid(bench.setup)
    steps = _largest_steps(bench, iterations) if stable and has_fluid else (None, None, None)
    peaks = _peaks(certificate) if stable else (None, None)
    return Deviations(
        law=certificate.law,
        link=certificate.link,
        verdict=certificate.verdict,
        of_a_part=certificate.of_a_part,
        limit_cycle=cycle,
        describing_function=_cycle(certificate, 1)[0],
        critical_gain=critical,
        soft=soft,
        slope_changes=_slopes(certificate),
        responses=_responses(certificate, bench if has_fluid else None) if stable else (),
        sensitivity=peaks[0],
        complementary_sensitivity=peaks[1],
        largest_growth_of_flows=steps[0],
        largest_fall_of_flows=steps[1],
        largest_fall_of_rate=steps[2],
        iterations=iterations,
    )


def _counting(watch: Watch | None, most: int) -> Callable[[], None]:
    """Progress by runs, of which there are so many at most."""
    done = itertools.count(1)

    def ran() -> None:
        if watch is not None:
            number = next(done)
            watch(number, min(1.0, number / most))

    return ran


#: A largest factor, and whether it is the farthest that was tried; None: there is no step.
Step = tuple[float, bool] | None


def _largest_steps(bench: Bench, iterations: int) -> tuple[Step, Step, Step]:
    """The largest growth and fall of the flows and fall of the rate from which the fluid comes back."""

    def of_flows(way: int, end: float) -> Step:
        if end <= 1:
            return None
        comes_back = bench.comes_back_from(lambda factor: bench.flows(factor**way))
        factor, is_farthest = largest(comes_back, end, iterations)
        return bench.realised(factor**way) ** way, is_farthest

    fewest = 1 / bench.realised(1 / FARTHEST)
    rate = largest(bench.comes_back_from(lambda factor: bench.rate(1 / factor)), FARTHEST, iterations)
    return of_flows(1, FARTHEST), of_flows(-1, fewest), rate


def _cycle(certificate: Certificate, harmonics: int) -> tuple[Cycle | None, bool | None, float | None]:
    """The loop's own cycle, whether oscillations begin softly, and the gain at which they do."""
    if certificate._law is None:
        found = stops.interruptible(lambda: certificate._proof.cycles(harmonics))
    else:
        # A law in Python is interrupted where it runs.
        found = certificate._proof.cycles(harmonics)
    if found is None or not len(found[0]):
        return None, None, None
    rows, has_own, soft = found
    critical = float(rows[0][0])
    if not has_own:
        return None, soft, critical
    _, amplitude, period, low, high, least, most, limited = map(float, rows[-1])
    return Cycle(amplitude, period, (low, high), (least, most), limited > 0), soft, critical


def _slopes(certificate: Certificate) -> tuple[SlopeChange, ...]:
    found = certificate._proof.slope_changes(SLOPES)
    if found is None:
        return ()
    own, unit, changes = found
    return tuple(SlopeChange(at, unit, at / own, gain, marks) for at, gain, marks in changes)


def _bench(certificate: Certificate) -> Bench:
    """Times for the loop: until it has settled six times over, before and after a step."""
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    rtt, backlog = equilibrium["rtt_s"], equilibrium["backlog_packets"]
    window = max(one["window_packets"] for one in equilibrium["classes"])
    slowest = -certificate.poles[0].real if certificate.poles and certificate.poles[0].real < 0 else math.inf
    six_times = min(max(12 / slowest, 40 * rtt, 5 * window * rtt), 600.0)
    slopes = certificate._proof.slope_changes(2.0)
    sample = runs.interval_of(min(runs.COARSEST_S, rtt / 8))
    before = six_times + min(LEAST_BEFORE_S, LEAST_RTTS * rtt)
    return Bench(
        setup=certificate._setup,
        link=certificate.link,
        backlog=backlog,
        limit=runs.limit_packets(certificate._setup.scenario, certificate.link),
        holds_target=slopes is not None and slopes[1] == "p",
        before=sample * math.ceil(before / sample),
        after=max(2 * six_times, min(LEAST_S, LEAST_RTTS * rtt)),
        sample=sample,
    )


#: Steps of the table: their names, what they step, and by which share of it.
STEPS = (
    ("a fifth of the rate lost", "capacity", -0.2),
    ("a fifth more flows", "flows", 0.2),
    ("datagrams of a tenth of the rate", "arrivals", 0.1),
)


def _responses(certificate: Certificate, bench: Bench | None) -> tuple[Response, ...]:
    """Responses to STEPS; of flows to the whole number nearest to the step, one at least."""
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    found = []
    for name, of, share in STEPS:
        step, by, change = name, share, None
        if of == "flows" and bench is not None:
            factor = max(1 + share, 1 + 1 / equilibrium["flows"])
            by, change = bench.realised(factor) - 1, bench.flows(factor)
            if abs(by - share) > 0.02:
                more = round(by * equilibrium["flows"])
                step = f"{more} more flow{'s' * (more != 1)}"
        elif of == "capacity" and bench is not None:
            change = bench.rate(1 + share)
        size = by if of == "flows" else by * equilibrium["capacity_pps"]
        linear = linear_response(certificate, of, size)
        running = None
        if change is not None and bench is not None:
            running = smoothed(*bench.response(change), equilibrium["rtt_s"])
        found.append(Response(step, *_peak(linear), *_peak(running)))
    return tuple(found)


def _peak(
    response: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None,
) -> tuple[float | None, float | None]:
    """Peak and settling of a response; None: there is none."""
    return (None, None) if response is None else settled(*response)


def sensitivities(
    certificate: Certificate,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.complex128], npt.NDArray[np.complex128]]:
    """Frequencies, rad/s, S = 1 / (1 + L) and T = L / (1 + L) of the loop of the verdict."""
    loop = certificate.loops[-1]
    about = loop.get("modulus_frequency_rad_s") or 1.0
    most = ABOVE * about
    if loop["period_s"]:
        most = min(most, math.pi / loop["period_s"])
    frequencies = np.geomspace(BELOW * about, most, POINTS)
    real, imaginary = certificate._proof.response(len(certificate.loops) - 1, frequencies)
    response: npt.NDArray[np.complex128] = real + 1j * imaginary
    sensitivity: npt.NDArray[np.complex128] = 1 / (1 + response)
    return frequencies, sensitivity, response * sensitivity


def _peaks(certificate: Certificate) -> tuple[tuple[float, float], tuple[float, float]]:
    """Greatest magnitudes of S and T with their frequencies."""
    frequencies, sensitivity, complementary = sensitivities(certificate)

    def peak(of: npt.NDArray[np.complex128]) -> tuple[float, float]:
        place = int(np.abs(of).argmax())
        return float(np.abs(of[place])), float(frequencies[place])

    return peak(sensitivity), peak(complementary)
