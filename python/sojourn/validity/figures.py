"""Figures of a scenario in one plant: equilibrium, deviation, oscillation, response to a step of the rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from sojourn.result import Row
from sojourn.result.statistics import Estimate, estimate
from sojourn.validity.runs import STEP, Array, Times, epochs

if TYPE_CHECKING:
    from sojourn.prove import Certificate
    from sojourn.result import Result

#: Share of its peak within which a response has settled.
SETTLED = 0.25
#: Amplitude below which a fluid rests, packets.
AT_REST = 0.05
#: Share of a queue that packets of other sizes make longer, from which they count.
OTHERS = 0.02
#: Damping below which a linear loop oscillates visibly.
LIGHT = 0.2
#: Points of a linear response in a round trip, and most of them.
FINEST, MOST = 64, 1_000_000
#: A band of the spectrum about its peak: the factor of its ends.
BAND = math.sqrt(2)


@dataclass(frozen=True)
class Quantity:
    """A quantity of the table: its key, name and unit."""

    key: str
    name: str
    unit: str


#: Quantities of a plant.
QUANTITIES = (
    Quantity("p", "p", "%"),
    Quantity("window_packets", "mean window", "packets"),
    Quantity("queue_packets", "queue", "packets"),
    Quantity("queue_sd_packets", "queue sd", "packets"),
    Quantity("oscillation_rad_s", "oscillation", "rad/s"),
    Quantity("oscillation_packets", "its amplitude", "packets"),
    Quantity("peak_packets", "peak after -20 % of rate", "packets"),
    Quantity("settling_s", "settling after it", "s"),
)


@dataclass(frozen=True)
class Series:
    """A series of a result; of a link, or None: of flows."""

    name: str
    plant: str
    seed: int
    link: str | None


#: Figures of a plant, by the keys of `QUANTITIES`; those that it lacks are left out.
Figures = dict[str, Estimate]


def one(value: float) -> Estimate:
    """A figure without an interval."""
    return Estimate(1, value, None, None)


def of_linear(certificate: Certificate, frequency: float) -> Figures:
    """Figures of the certificate, for an oscillation at a frequency, rad/s."""
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    classes = equilibrium["classes"]
    flows = sum(each["flows"] for each in classes)
    window = sum(each["flows"] * each["window_packets"] for each in classes) / flows
    found = {
        "p": one(equilibrium["p"]),
        "window_packets": one(window),
        "queue_packets": one(equilibrium["backlog_packets"]),
    }
    if certificate.noise is not None:
        found["queue_sd_packets"] = one(certificate.noise["queue_sd_packets"])
    if certificate.verdict == "unstable":
        return found | {"oscillation_rad_s": one(frequency)}
    pole = slowest_to_decay(certificate)
    if pole is not None and -pole.real < LIGHT * abs(pole):
        found["oscillation_rad_s"] = one(pole.imag)
    found["oscillation_packets"] = one(0.0)
    response = linear_response(certificate, "capacity", -STEP * equilibrium["capacity_pps"])
    return found if response is None else found | _of_response(*response)


def linear_response(certificate: Certificate, of: str, by: float) -> tuple[Array, Array] | None:
    """Times since a step, s, and the linear backlog's change, packets, smoothed over a round trip.

    `of` and `by` are of `disturbed`: ``capacity`` and packets/s, ``flows`` and a share of them, or
    ``arrivals`` and packets/s. None: there is none, or links are congested together, whose responses act on
    each other.
    """
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    if certificate.links:
        return None
    response = certificate._proof.disturbed(of, by)
    if response is None:
        return None
    rtt, until = equilibrium["rtt_s"], float(response[0][-1])
    count = max(FINEST, min(MOST, math.ceil(FINEST * until / rtt)))
    time = (np.arange(count) + 0.5) * (until / count)
    return smoothed(time, np.interp(time, *response), rtt)


def slowest_to_decay(certificate: Certificate) -> complex | None:
    """The pole with the least damping, Im > 0, if any oscillates."""
    oscillating = [pole for pole in certificate.poles if pole.imag > 0]
    return max(oscillating, key=lambda pole: pole.real / abs(pole), default=None)


def of_rest(result: Result, plant: str, times: Times, certificate: Certificate) -> Figures:
    """Figures of a plant's runs without changes."""
    link = certificate.link
    rows = [row for row in result.rows(link) if row.plant == plant]
    named: dict[str, Callable[[Row], float]] = {
        "p": _signals,
        "window_packets": lambda row: _window(row, certificate),
        "queue_packets": lambda row: sizes[row.seed] * _metric(row, "queue_mean_packets"),
        "queue_sd_packets": lambda row: sizes[row.seed] * _metric(row, "queue_std_packets"),
    }
    sizes = {row.seed: packet_in_queue(row, certificate) for row in rows}
    found = {key: estimate([of(row) for row in rows]) for key, of in named.items()}
    swings = [
        _oscillation(samples(result, backlog(link, plant, row.seed), times.warmup)[1], times) for row in rows
    ]
    amplitudes = [sizes[row.seed] * amplitude for row, (_, amplitude) in zip(rows, swings, strict=True)]
    found["oscillation_packets"] = estimate(amplitudes)
    if found["oscillation_packets"].mean > AT_REST:
        found["oscillation_rad_s"] = frequency_of([frequency for frequency, _ in swings])
    return found


def frequency_of(peaks: Sequence[float]) -> Estimate:
    """Mean frequency of peaks, rad/s; without an interval where all are the same bin of their spectra."""
    found = estimate(peaks)
    return Estimate(found.n, found.mean, None, None) if found.half == 0 else found


def of_steps(result: Result, place: tuple[str, str], times: Times) -> Figures:
    """Peak and settling of the mean response to steps of the rate, of a link and a plant.

    The peak's interval is that of the mean at the peak's time, over falls and seeds.
    """
    falls = _falls(result, place, times)
    time, queue = _smoothed_mean(falls, times)
    found = _of_response(time, queue)
    if place[1] != "packet" or len(falls) < 2:
        return found
    at = int(np.abs(queue).argmax())
    up = float(np.sign(queue[at]))
    heights = [up * float(_smoothed_mean(fall[np.newaxis], times)[1][at]) for fall in falls]
    return found | {"peak_packets": estimate(heights)}


def response(result: Result, place: tuple[str, str], times: Times) -> tuple[Array, Array]:
    """Times since a fall of the rate, s, and the backlog's change, packets, of a link and a plant.

    It is the mean over falls and seeds, smoothed over a round trip.
    """
    return _smoothed_mean(_falls(result, place, times), times)


def _falls(result: Result, place: tuple[str, str], times: Times) -> Array:
    """The backlog's change after each fall under each seed, packets."""
    link, plant = place
    seeds = [row.seed for row in result.rows(link) if row.plant == plant]
    return np.concatenate(
        [epochs(*samples(result, backlog(link, plant, seed), 0.0), times) for seed in seeds]
    )


def _smoothed_mean(falls: Array, times: Times) -> tuple[Array, Array]:
    mean: Array = falls.mean(axis=0)
    return smoothed(_middles(len(mean), times), mean, times.rtt)


def samples(result: Result, of: Series, after: float) -> tuple[Array, Array]:
    """Times and values of a series after a time, s."""
    chosen = (pl.col("plant") == of.plant) & (pl.col("seed") == of.seed) & (pl.col("name") == of.name)
    if of.link is not None:
        chosen &= pl.col("link").cast(pl.String) == of.link
    found = result.series.filter(chosen & (pl.col("time") > after))
    return found["time"].to_numpy(), found["value"].fill_null(math.nan).to_numpy()


def backlog(link: str, plant: str, seed: int = 1) -> Series:
    """The backlog at a link in a run."""
    return Series("queue_packets", plant, seed, link)


def packet_in_queue(row: Row, certificate: Certificate) -> float:
    """Mean size of a packet in the queue by that of the data, the theory's unit: less with ACKs among them.

    By Little's law the queue holds what leaves in a mean sojourn time.
    """
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    if not certificate.links:
        return 1.0
    count = _metric(row, "queue_mean_packets")
    left = _metric(row, "sojourn_mean_s") * _metric(row, "utilization") * equilibrium["capacity_pps"]
    # Among data alone the two agree, but for what has not left at the end of the run.
    return left / count if abs(left - count) > OTHERS * count else 1.0


def _signals(row: Row) -> float:
    """Share of packets that the law marked or dropped."""
    return _metric(row, "mark_ratio") + _metric(row, "drop_ratio") - _metric(row, "overflow_ratio")


def _window(row: Row, certificate: Certificate) -> float:
    """Packets of a flow that are sent in a round trip, dropped ones too: what the theory calls its window."""
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    offered = _metric(row, "utilization") * equilibrium["capacity_pps"] / (1 - _metric(row, "drop_ratio"))
    responsive = offered - equilibrium["unresponsive_pps"]
    return float(responsive * _metric(row, "rtt_mean_s") / equilibrium["flows"])


def _metric(row: Row, name: str) -> float:
    value = row.metrics[name]
    return float(value) if isinstance(value, int | float) else math.nan


def _oscillation(queue: Array, times: Times) -> tuple[float, float]:
    """Frequency of the spectrum's peak, rad/s, and the amplitude of a sinusoid with the power about it."""
    from scipy.signal import welch

    length = min(len(queue), times.segment)
    frequencies, power = welch(queue, 1 / times.sample, nperseg=length, detrend="linear")
    # The first bins hold what wanders more slowly than the segments are long.
    slow = frequencies > 2.5 / (length * times.sample)
    place = int(np.argmax(np.where(slow, power, 0.0)))
    peak = frequencies[place]
    band = slow & (frequencies > peak / BAND) & (frequencies < peak * BAND)
    step = frequencies[1] - frequencies[0]
    return 2 * math.pi * float(_vertex(frequencies, power, place)), math.sqrt(
        2 * float(power[band].sum()) * step
    )


def _vertex(at: Array, height: Array, place: int) -> float:
    """Place of the maximum of the parabola through the logarithms about a peak; of no peak its own."""
    if not 0 < place < len(at) - 1 or height[place - 1 : place + 2].min() <= 0:
        return float(at[place])
    low, top, high = np.log(height[place - 1 : place + 2])
    if max(low, high) > top:
        return float(at[place])
    bend = low - 2 * top + high
    return float(at[place] + (0.5 * (low - high) / bend if bend < 0 else 0.0) * (at[1] - at[0]))


def _middles(count: int, times: Times) -> Array:
    """Times of samples since a step, s."""
    return np.linspace(0.5, count - 0.5, count, dtype=np.float64) * times.sample


def _of_response(time: Array, queue: Array) -> Figures:
    """Peak and settling of a response."""
    peak, at = settled(time, queue)
    return {"peak_packets": one(peak), "settling_s": one(at)}


def settled(time: Array, queue: Array) -> tuple[float, float]:
    """Greatest deviation, and the time from which on it is within a share of that about the end.

    The end is the mean of the last quarter of the samples.
    """
    end, peak = queue[3 * len(queue) // 4 :].mean(), float(np.abs(queue).max())
    outside = np.flatnonzero(np.abs(queue - end) > SETTLED * peak)
    last = int(outside[-1]) + 1 if len(outside) else 0
    return peak, float(time[min(last, len(time) - 1)])


def smoothed(time: Array, queue: Array, over_s: float) -> tuple[Array, Array]:
    """Times and means over a time about them, s, of a response that is 0 before time 0.

    `queue` has means over equal intervals about `time`, from 0 on. The end, where the time about it is not
    whole, is left out.
    """
    step = float(time[1] - time[0])
    over = max(over_s, step)
    edges = time[0] - step / 2 + step * np.arange(len(queue) + 1)
    total = np.concatenate([[0.0], np.cumsum(queue) * step])
    whole = time[time + over / 2 <= edges[-1]]
    mean: Array = (
        np.interp(whole + over / 2, edges, total) - np.interp(whole - over / 2, edges, total)
    ) / over
    return whole, mean
