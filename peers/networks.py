"""ns-2 on networks of our choice: writes tests/reference/networks.csv.

    make peers ARGS=--networks

A parking lot, and a link whose rate changes. The second has drop-tail and PI only: ns-2's RED, REM and AVQ
use the rate that their link had at the start (docs/deviations/ns2.md).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bounds import Sample
from simulators import ROOT, Peer, Words, peers

#: Path of the rows.
ROWS = ROOT / "tests/reference/networks.csv"
COLUMNS = ("issue", "scenario", "peer", "qdisc", "transport", "metric", "n", "mean", "sd")
#: Relative spread of Jain's index under tail drop over the seeds: a tenth.
SEEDS = range(1, 21)

PI: Words = {"law": "pi", "target": 60, "a": 6e-5, "b": 5.9e-5, "hertz": 170, "ecn": 1}
RED: Words = {"law": "red", "min": 30, "max": 90, "ecn": 0}
#: Its queue holds one packet less than its limit (docs/deviations/ns2.md).
TAIL_DROP: Words = {"law": "tail_drop", "buffer": 151, "ecn": 0}
CAPACITY: Words = {
    "flows": 40,
    "rate": 10e6,
    "delay": 0.010,
    "buffer": 150,
    "changes": "40 6e6 70 10e6",
    "access_rate": 100e6,
    "access_from": 0.005,
    "access_to": 0.025,
}
#: The stretches between the changes, seconds.
STRETCHES = ((10, 40), (40, 70), (70, 100))
PARKING_LOT: Words = {
    "long": 10,
    "cross": "10 20 30",
    "rate": 10e6,
    "delay": 0.010,
    "buffer": 300,
    "access_rate": 100e6,
    "access_from": 0.005,
    "access_to": 0.015,
}


@dataclass(frozen=True)
class Network:
    """One point: the names of its rows, and the options of ns-2."""

    scenario: str
    qdisc: str
    script: str
    words: Words


def networks() -> Iterator[Network]:
    """Every point of the file."""
    for qdisc, law in (("red_30_90", RED), ("pi_6e-5_170hz", PI)):
        yield Network("parking_lot", qdisc, "parking_lot", {**PARKING_LOT, **law})
    for start, end in STRETCHES:
        for qdisc, law in (("droptail", TAIL_DROP), ("pi_6e-5_170hz", PI)):
            stretch = {"warmup": start, "duration": end}
            yield Network(f"capacity_{start}_{end}", qdisc, "dumbbell", {**CAPACITY, **law, **stretch})


def rows(network: Network, ns2: Peer, numbers: Sequence[int]) -> Iterator[dict[str, object]]:
    """Rows of the file for one point."""
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        runs = list(pool.map(lambda seed: ns2.run(network.words, seed, network.script), numbers))
    finally:
        pool.shutdown(cancel_futures=True)
    for name in runs[0]:
        place, _, metric = name.rpartition("/")
        if metric == "events":
            continue
        sample = Sample.of([run[name] for run in runs])
        scenario = f"{network.scenario}/{place}" if place else network.scenario
        names = ("networks", scenario, "ns2 2.35", network.qdisc, "reno", metric)
        yield dict(zip(COLUMNS, (*names, sample.n, f"{sample.mean:.6g}", f"{sample.sd:.3g}"), strict=True))


def write() -> None:
    """Write the file anew. Raises `LookupError` if ns-2 is not installed, and `Failed`."""
    ns2 = peers()["ns2"]
    if not ns2.command:
        raise LookupError(f"ns2 is not installed here; to get it: {ns2.remedy}")
    lines: list[dict[str, object]] = []
    for network in networks():
        print(f"{network.scenario}, {network.qdisc}", flush=True)
        lines += rows(network, ns2, SEEDS)
    lines.sort(key=lambda row: [str(row[column]) for column in COLUMNS[:6]])
    with ROWS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    print(ROWS.relative_to(ROOT))
