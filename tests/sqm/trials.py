"""Runs of the measurements of `sqm`: networks, points, and how long they take.

`./ci.sh sqm` runs ten seeds at every point and prints the tables of docs/qdiscs/sqm.md; `make test` runs two
seeds at a few points. `SQM_SEEDS` is the number of seeds, and makes the long form.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import sojourn as sj
from sojourn.result.statistics import Estimate, estimate

IS_LONG = "SQM_SEEDS" in os.environ
SEEDS = range(1, int(os.environ.get("SQM_SEEDS", "2")) + 1)
#: Bytes of a packet, and of its payload under TCP and under UDP.
PACKET, PAYLOAD, DATAGRAM = 1500, 1460, 1472
MBIT = 1e6


@dataclass(frozen=True)
class Point:
    """A link in one run, after the warm-up."""

    utilisation: float
    #: Backlog over the rate of the link, ms: its mean, and what 99 % of the time it does not exceed.
    delay_ms: float
    delay_p99_ms: float
    #: Time of a packet in the queue, ms.
    sojourn_ms: float
    sojourn_p99_ms: float
    jain: float
    drops: float
    #: Goodput of each class, with the headers of TCP, packets/s.
    rates: Mapping[str, float] = field(default_factory=dict)
    #: Completion times of transfers, s.
    completion_s: float = 0.0
    completion_p95_s: float = 0.0


#: Points of a qdisc by seed.
Points = dict[int, Point]


def packets_per_second(rate_mbps: float) -> float:
    """Rate of a link in packets/s."""
    return rate_mbps * MBIT / (8 * PACKET)


def scenario(text: str) -> sj.Scenario:
    """A scenario of this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trial.toml"
        path.write_text(text, encoding="utf-8")
        return sj.load(path)


def points(
    of: sj.Scenario,
    qdiscs: Sequence[str],
    rate_mbps: float,
    *,
    link: str | None = None,
    seeds: Iterable[int] = SEEDS,
) -> dict[str, Points]:
    """The link under each qdisc and seed."""
    began = time.monotonic()
    found: dict[str, Points] = {}
    result = sj.run(of, qdiscs=list(qdiscs), seeds=list(seeds))
    link = link or result.links[0]
    names = dict(zip(result.qdiscs, qdiscs, strict=True))
    rows: dict[tuple[str, int], list[sj.Row]] = {}
    for row in result.runs:
        if row.link == link and row.queue is None:
            rows.setdefault((names[row.qdisc], row.seed), []).append(row)
    for (qdisc, seed), several in rows.items():
        found.setdefault(qdisc, {})[seed] = _point(several, packets_per_second(rate_mbps))
    print(f"  ({len(rows)} runs of {of.title}: {time.monotonic() - began:.0f} s)", flush=True)
    return found


def _point(rows: Sequence[sj.Row], capacity: float) -> Point:
    (whole,) = [row for row in rows if row.traffic_class is None]
    one = whole.metrics
    number = lambda name: float(one[name] or 0.0)  # noqa: E731 (a word for what follows)
    goodputs = {row.traffic_class or "": float(row.metrics["goodput_bps"] or 0.0) for row in rows}
    ended = next((row.metrics for row in rows if row.metrics.get("fct_mean_s") is not None), one)
    return Point(
        utilisation=number("utilization"),
        delay_ms=number("queue_mean_packets") / capacity * 1e3,
        delay_p99_ms=number("queue_p99_packets") / capacity * 1e3,
        sojourn_ms=number("sojourn_mean_s") * 1e3,
        sojourn_p99_ms=number("sojourn_p99_s") * 1e3,
        jain=number("jain_index"),
        drops=number("drop_ratio"),
        rates={name: bps / (8 * PAYLOAD) for name, bps in goodputs.items() if name},
        completion_s=float(ended.get("fct_mean_s") or 0.0),
        completion_p95_s=float(ended.get("fct_p95_s") or 0.0),
    )


def mean(of: Points, name: str) -> float:
    """Mean over the seeds of a field."""
    return estimate([getattr(point, name) for point in of.values()]).mean


def spread(of: Points, name: str) -> Estimate:
    """Mean and 95 % interval over the seeds of a field."""
    return estimate([getattr(point, name) for point in of.values()])


# ---- Networks -----------------------------------------------------------------------------------


def bottleneck(title: str, rate_mbps: float, buffer: int, times: tuple[float, float]) -> str:
    """Head of a scenario: a link of 0.25 ms, and the times (s) at which the run ends and the warm-up does."""
    duration, warmup = times
    return (
        f'title = "{title}"\nduration = "{duration} s"\nwarmup = "{warmup} s"\nsample = "1 s"\n[bottleneck]\n'
        f'rate = "{rate_mbps} Mbit/s"\ndelay = "{LINK_MS} ms"\nbuffer = "{buffer} packets"\nqdisc = "codel"\n'
    )


def flow(name: str, rtt_ms: float, rate_mbps: float, more: str = 'cc = "newreno"') -> str:
    """A class of one flow with this base RTT behind a link of ten times the rate of the bottleneck."""
    delay = (rtt_ms - 2 * LINK_MS) / 4
    access = f'access = {{ rate = "{10 * rate_mbps} Mbit/s", delay = "{delay:.6g} ms" }}'
    return f'[[flows]]\nname = "{name}"\n{more}\n{access}\n'


#: One-way delay of the bottleneck, ms.
LINK_MS = 0.25


# ---- Tables -------------------------------------------------------------------------------------


def rows_of(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Lines of a Markdown table."""
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"


def show(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table."""
    print("", *rows_of(columns, rows), "", sep="\n", flush=True)
