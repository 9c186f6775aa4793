"""Behaviour of every law on three links: the runs of docs/behaviour.md and of pictures of the laws.

They run once while the pages are built; `make behaviour` prints their tables.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

import sojourn as sj
from sojourn import catalogue
from sojourn.plot import bands
from sojourn.result.statistics import Estimate, estimate

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios" / "behaviour"
SEEDS = range(1, 11)
#: Time by which the load has doubled, s: a second after the step, in which all new flows start.
STEP_S = 81.0
#: Length of the steady state at the end of the run, s.
STEADY_S = 30.0
#: Averaging of the queue for the settling time, s.
SMOOTHING_S = 4.0
#: Averaging of the queue for pictures, s.
TRACE_S = 0.2


@dataclass(frozen=True)
class Link:
    """Scenario, and the targets of laws there."""

    name: str
    target: str
    target_packets: float
    #: Transmission time of a full packet, ms.
    packet_ms: float
    #: Thresholds of the laws that have them, about the target.
    thresholds: str


LINKS = {
    link.name: link
    for link in (
        Link("arm_pfc_like", "100 packets", 100.0, 0.8, "min=50 packets,max=150 packets"),
        Link("pi_pd_like", "200 packets", 200.0, 8 / 30, "min=100 packets,max=300 packets"),
        Link("home", "15 ms", 12.5, 1.2, "min=6 packets,max=18 packets"),
    )
}

#: Laws with a target for the mean queue.
TARGETED = ("pi", "pid", "rem", "pi_pd", "cpc", "arm_pfc", "fb_ocq")
#: Laws with a target delay of their own, ms.
DELAYED = {"pie": 15.0, "docsis_pie": 10.0, "pi2": 15.0}
#: Laws with two thresholds.
BETWEEN = ("red", "ared", "choke")


Line = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Row:
    """Results of a law on a link; each quantity is a list of the seeds' values."""

    qdisc: str
    queue: list[float]
    queue_sd: list[float]
    sojourn_ms: list[float]
    utilization: list[float]
    loss: list[float]
    acted: list[float]
    #: Seconds; only of the seeds in which the queue settled.
    settling: list[float]
    #: True if the law misses its target by more than a tenth and five packets.
    misses: bool
    #: Time, s, and the queue then, packets, a row a seed.
    times: Line
    traces: Line
    #: Delay, ms, and the share of packets that wait longer, a row a seed.
    delays: Line
    longer: Line


@functools.cache
def row(law: str, link: Link) -> Row:
    """Run a law on a link."""
    result = sj.run(sj.load(SCENARIOS / f"{link.name}.toml"), qdiscs=[spec(law, link)], seeds=SEEDS)

    def values(metric: str, scale: float = 1.0) -> list[float]:
        return [scale * row.metrics[metric] for row in result.rows()]

    queue = values("queue_mean_packets")
    settled = [settling(result.series.filter(pl.col("seed") == row.seed)) for row in result.rows()]
    sojourn_ms = values("sojourn_mean_s", 1e3)
    return Row(
        qdisc=result.qdiscs[0],
        queue=queue,
        queue_sd=values("queue_std_packets"),
        sojourn_ms=sojourn_ms,
        utilization=values("utilization", 100),
        loss=values("drop_ratio", 100),
        acted=[
            100 * (row.metrics["mark_ratio"] + row.metrics["drop_ratio"] - row.metrics["overflow_ratio"])
            for row in result.rows()
        ],
        settling=[time for time in settled if time is not None],
        misses=misses(law, link, estimate(queue).mean, estimate(sojourn_ms).mean),
        **_lines(result),
    )


def _lines(result: sj.Result) -> dict[str, Line]:
    """The lines of pictures."""
    (sampled,) = bands.samples(result, "queue_packets").values()
    several = [bands.binned({result.variants[0]: [run]}, TRACE_S)[0] for run in sampled]
    found = result.distributions.filter(pl.col("name") == "sojourn_s")
    parts = found.partition_by("seed", maintain_order=True)
    delays = np.linspace(0.0, max(part["value"].max() for part in parts), 500)
    waited = [np.interp(delays, part["value"], part["cumulative"], left=0.0, right=1.0) for part in parts]
    return {
        "times": several[0].x,
        "traces": np.vstack([band.mean for band in several]),
        "delays": 1e3 * delays,
        "longer": 1 - np.vstack(waited),
    }


def misses(law: str, link: Link, queue: float, sojourn_ms: float) -> bool:
    """True if these means differ from the law's target by more than a tenth of it and five packets."""
    if law in TARGETED:
        return abs(queue - link.target_packets) > max(0.1 * link.target_packets, 5.0)
    if law in DELAYED:
        return abs(sojourn_ms - DELAYED[law]) > max(0.1 * DELAYED[law], 5.0 * link.packet_ms)
    return False


def spec(law: str, link: Link) -> str:
    """SPEC of the law with its target or thresholds for this link."""
    if law in TARGETED:
        return f"{law}:target={link.target}"
    if law in BETWEEN:
        return f"{law}:{link.thresholds}"
    return law


def settling(series: pl.DataFrame) -> float | None:
    """Seconds from `STEP_S` until the smoothed queue stays near its steady state; None: never.

    Near is within a fifth or five packets of the mean over the last half minute.
    """
    queue = series.filter(pl.col("name") == "queue_packets").sort("time")
    time, packets = queue["time"].to_numpy(), queue["value"].to_numpy()
    width = max(1, round(SMOOTHING_S / (time[1] - time[0])))
    smooth = np.convolve(packets, np.full(width, 1 / width), mode="valid")
    steady = packets[time > time[-1] - STEADY_S].mean()
    outside = time[width - 1 :][np.abs(smooth - steady) > max(steady / 5, 5.0)]
    last = outside[-1] if len(outside) else 0.0
    return None if last > time[-1] - STEADY_S else max(0.0, float(last) - STEP_S)


HEAD = (
    "law",
    "queue, packets",
    "sd, packets",
    "sojourn, ms",
    "used, %",
    "loss, %",
    "p, %",
    "settles in, s",
)


def table(name: str) -> list[list[str]]:
    """Head and rows, as text; an asterisk follows a law that misses its target."""
    link = LINKS[name]
    return [list(HEAD), *(_cells(row(entry["name"], link)) for entry in catalogue.entries("laws"))]


def _cells(found: Row) -> list[str]:
    return [
        f"{found.qdisc} *" if found.misses else found.qdisc,
        short(estimate(found.queue)),
        f"{estimate(found.queue_sd).mean:.3g}",
        short(estimate(found.sojourn_ms)),
        f"{estimate(found.utilization).mean:.2f}",
        short(estimate(found.loss)),
        short(estimate(found.acted)),
        _settled(found),
    ]


def short(found: Estimate) -> str:
    """Mean and half-width with one digit of the half-width, for rows of many.

    >>> short(Estimate(10, 271.83, 271.21, 272.45))
    '271.8 ± 0.6'
    """
    half = found.half or 0.0
    digits = min(2, max(0, -math.floor(math.log10(half)))) if half else 1
    return f"{found.mean:.{digits}f} ± {half:.{digits}f}" if half else f"{found.mean:.4g}"


def _settled(found: Row) -> str:
    """Mean settling time, with the number of seeds that settled unless all did."""
    of = len(found.queue)
    if not found.settling:
        return "never"
    mean = f"{estimate(found.settling).mean:.1f}"
    return mean if len(found.settling) == of else f"{mean} ({len(found.settling)}/{of})"


def main() -> None:
    """Print all tables."""
    for name in LINKS:
        rows = table(name)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        print(f"\n{name}")
        for cells in rows:
            print("  ".join(text.rjust(width) for text, width in zip(cells, widths, strict=True)))


if __name__ == "__main__":
    main()
