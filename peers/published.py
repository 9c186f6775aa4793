"""Published measurements of Linux beside Sojourn: the rows of `tests/reference/published` with CUBIC alone.

    .venv/bin/python peers/published.py [--seeds 20] [--jobs 2]    # tests/peers/published_bounds.csv anew

A published row is one run. It agrees if it lies in the interval that holds a further run of ours with 99 %:
the mean over our seeds, and Student's t times their standard deviation times sqrt(1 + 1/n), and half a unit
of the last published digit.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scipy.special import stdtrit

import sojourn as sj
from bounds import Sample
from simulators import ROOT

#: Paths of the published rows, and of the bounds.
FOLDER = ROOT / "tests/reference/published"
BOUNDS = ROOT / "tests/peers/published_bounds.csv"
COLUMNS = ("row", "metric", "published", "n", "mean", "sd", "low", "high")
#: Probability of an interval.
SURE = 0.99
#: Error of a goodput of the lone flows: that at 20 Mbit/s and 5 ms is 0.016 % above the wire's.
OFF = 0.00016
#: Qdiscs under two flows. The hosts of those runs use ECN (net.ipv4.tcp_ecn is 3), which pfifo ignores.
SHARED: Mapping[str, Mapping[str, str]] = {
    "pfifo": {"bottleneck.qdisc": "tail_drop"},
    "fq_codel": {"bottleneck.qdisc": "fq_codel", "flows.0.ecn": "true", "flows.1.ecn": "true"},
}
#: Resolution of their times in the queue, us: 32, 65, 98.
TICK_US = 32.768


@dataclass(frozen=True)
class Value:
    """A published number and its counterpart in a run of ours: `scale` times a metric."""

    metric: str
    published: float
    #: Half a unit of the last digit, or the error of the measurement.
    rounding: float
    traffic_class: str | None = None
    scale: float = 1.0

    @property
    def name(self) -> str:
        """The metric, and its class."""
        return f"{self.metric} of {self.traffic_class}" if self.traffic_class else self.metric


@dataclass(frozen=True)
class Row:
    """A published run, as one of our scenarios."""

    name: str
    file: str
    settings: Mapping[str, str]
    values: tuple[Value, ...] = field(default=())

    def under(self, settings: Mapping[str, str]) -> Row:
        """The same run under further settings."""
        return replace(self, settings={**self.settings, **settings})

    def run(self, seeds: Sequence[int], jobs: int | None = None) -> dict[str, list[float]]:
        """Our numbers for each value, seed by seed."""
        result = sj.run(
            sj.load(ROOT / f"scenarios/peers/{self.file}.toml", self.settings), seeds=seeds, jobs=jobs
        )
        qdisc = result.qdiscs[0]
        ours: dict[str, list[float]] = {}
        for value in self.values:
            found = result.values(qdisc, value.metric, traffic_class=value.traffic_class)
            ours[value.name] = [value.scale * found[seed] for seed in seeds]
        return ours


def rows() -> list[Row]:
    """Every published run with CUBIC alone whose queue one of our qdiscs can be."""
    return [*shares(), *lone(), *requests()]


def shares() -> Iterator[Row]:
    """Two flows over pfifo or fq_codel: the goodput of each in the last minute of three."""
    for row in read("s1_rtt_fairness"):
        name, _, limit = row["qdisc"].rstrip(")").partition("(")
        if (row["cc1"], row["cc2"]) != ("cubic", "cubic") or name not in SHARED:
            continue
        rate, one, other = row["rate"].removesuffix("Mbit"), row["rtt1_ms"], row["rtt2_ms"]
        settings = {
            **SHARED[name],
            "bottleneck.rate": f"{rate} Mbit/s",
            "bottleneck.buffer": f"{limit or 10240} packets",
            "flows.0.access.delay": access(one),
            "flows.1.access.delay": access(other),
        }
        values = tuple(
            Value("goodput_bps", float(row[f"dss{number}_mbit"]), 0.005, name, scale=1e-6)
            for number, name in ((1, "one"), (2, "other"))
        )
        yield Row(f"{name} {rate} Mbit/s {one} and {other} ms", "two_cubic", settings, values)


def lone() -> Iterator[Row]:
    """One flow with ECN over CoDel: goodput and queue in the second half."""
    for row in read("l4steam_overload"):
        kind, _, point = row["test"].partition("__")
        if row["set"] != "iccrg" or kind != "Cubic":
            continue
        rate, rtt = point.split("_")
        settings = {"bottleneck.rate": f"{rate} Mbit/s", "flows.0.access.delay": access(rtt)}
        goodput = float(row["c1_mbit_2nd_half"])
        values = [Value("goodput_bps", goodput, OFF * goodput, scale=1e-6)]
        if row["s1_qd_mean2_us"]:
            values.append(Value("sojourn_mean_s", float(row["s1_qd_mean2_us"]), TICK_US / 2, scale=1e6))
        yield Row(f"codel {rate} Mbit/s {rtt} ms", "one_cubic", settings, tuple(values))


def requests() -> Iterator[Row]:
    """900 requests over CoDel, alone or beside a flow with ECN that began 20 s before."""
    for row in read("ccafct"):
        if row["competitor"] not in ("-", "cubic"):
            continue
        rtt = row["rtt"].removesuffix("ms")
        settings = {"flows.0.access.delay": access(rtt)}
        if row["competitor"] == "cubic":
            settings["flows.1.access.delay"] = access(rtt)
        columns = {"fct_geomean_s": "geomean_ms", "fct_p50_s": "median_ms", "fct_p95_s": "p95_ms"}
        traffic_class = "requests" if len(settings) > 1 else None
        values = tuple(
            Value(metric, float(row[column]), 0.05, traffic_class, scale=1e3)
            for metric, column in columns.items()
        )
        file, beside = ("requests_beside", "beside cubic") if len(settings) > 1 else ("requests", "alone")
        yield Row(f"requests {rtt} ms {beside}", file, settings, values)


def read(name: str) -> list[dict[str, str]]:
    """A published table."""
    with (FOLDER / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def access(rtt_ms: str) -> str:
    """One-way delay on each side of the bottleneck, whose own delay is 1 ms."""
    return f"{(float(rtt_ms) / 2 - 1) / 2:g} ms"


def bounds(row: Row, ours: Mapping[str, Sequence[float]]) -> Iterator[dict[str, object]]:
    """Lines of the file for a row."""
    for value in row.values:
        sample = Sample.of(ours[value.name])
        half = (
            float(stdtrit(sample.n - 1, (1 + SURE) / 2)) * sample.sd * math.sqrt(1 + 1 / sample.n)
            + value.rounding
        )
        numbers = (sample.mean, sample.sd, sample.mean - half, sample.mean + half)
        columns = (row.name, value.name, value.published, sample.n, *(f"{number:.6g}" for number in numbers))
        yield dict(zip(COLUMNS, columns, strict=True))


def main() -> None:
    """Write the bounds anew, and print the values outside."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20, help="how many (default 20)")
    parser.add_argument("--jobs", type=int, default=None, help="runs at a time (default: one a processor)")
    options = parser.parse_args()
    lines: list[dict[str, object]] = []
    for row in rows():
        for line in bounds(row, row.run(range(1, options.seeds + 1), options.jobs)):
            inside = float(str(line["low"])) <= float(str(line["published"])) <= float(str(line["high"]))
            print("within " if inside else "OUTSIDE", *(str(line[column]) for column in COLUMNS), flush=True)
            lines.append(line)
    with BOUNDS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    print(BOUNDS.relative_to(ROOT))


if __name__ == "__main__":
    main()
