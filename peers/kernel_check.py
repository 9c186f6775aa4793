"""The qdiscs of a Debian kernel and ours under the same arrivals: kernel ground truth.

    .venv/bin/python peers/kernel_check.py [--replicates 8] [--jobs 2] [--keep] [--records]

The kernel runs under QEMU in virtual time, so that neither the speed nor the load of the machine changes a
number. Each replicate has a word of its own on the kernel's command line, on which the kernel's draws depend;
the first one runs twice, and both must be the same to the last byte. `--keep` writes
tests/reference/kernel_check.csv anew; `--records` compares what the last run has recorded. Exit code 1: a
number is outside its bound. peers/kernel/README.md describes the rig.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bounds import FEWEST_EVENTS, Sample
from kernel.arrivals import TRACES, Packet, recorded
from kernel.cases import CASES, Case
from kernel.ours import replay
from kernel.outcome import METRICS, Fate, Record, metrics, read_records
from kernel.vm import BUILD, ROOT, Failed, Vm

KEPT = ROOT / "tests/reference/kernel_check.csv"
COLUMNS = ("kernel", "law", "trace", "metric", "n", "mean", "sd")
#: Both ends of the kernel's 95 % interval are this close to the mean of ours, as a part of it.
TOLERANCE = 0.15
#: Most that a packet may come too late in the VM: a quarter of the time of 1000 B on the wire.
MOST_LATE_NS = 200_000
#: The replay, and the qdiscs in front of it.
VM = Vm(
    BUILD,
    ROOT / "peers/kernel/init",
    ROOT / "peers/kernel/replay.c",
    ("veth", "sch_tbf", "sch_red", "sch_pie", "sch_codel", "sch_fq_codel", "sch_cake"),
)


@dataclass(frozen=True)
class Row:
    """A metric of a case: the kernel's replicates and ours."""

    case: Case
    metric: str
    kernel: Sample
    ours: Sample

    @property
    def difference(self) -> float:
        """The largest distance of an end of the kernel's interval from our mean, as a part of it."""
        ends = (abs(end - self.ours.mean) for end in self.kernel.interval())
        return max(ends) / self.ours.mean if self.ours.mean else 0.0

    @property
    def binds(self) -> bool:
        """Few events have no mean that says anything."""
        is_delay = self.metric.endswith("_s")
        return is_delay or max(self.kernel.mean, self.ours.mean) >= FEWEST_EVENTS

    @property
    def agrees(self) -> bool:
        """Within the tolerance, or of few events."""
        return not self.binds or self.difference <= TOLERANCE

    def cell(self) -> str:
        """The kernel's interval and ours as the page shows them: counts, and delays in ms."""
        is_delay = self.metric.endswith("_s")
        scale, digits = (1e3, 1) if is_delay else (1, 0)
        low, high, ours = (
            f"{value * scale:.{digits}f}" for value in (*self.kernel.interval(), self.ours.mean)
        )
        return f"{low if low == high else f'{low} to {high}'}; {ours}"

    def text(self) -> str:
        """One line of the output."""
        low, high = self.kernel.interval()
        scale, unit = (1e3, "ms") if self.metric.endswith("_s") else (1, "")
        verdict = "" if self.agrees else "  OUTSIDE"
        return (
            f"{self.case.name:16} {self.metric:14} {low * scale:9.2f} to {high * scale:9.2f} {unit:2} "
            f"ours {self.ours.mean * scale:9.2f} {unit:2} {100 * self.difference:6.1f} %{verdict}"
        )


def build_image() -> None:
    """The initial RAM disk with cases and traces."""
    traces = BUILD / "traces"
    traces.mkdir(parents=True, exist_ok=True)
    for name, traffic in TRACES.items():
        (traces / name).write_text(recorded(list(traffic.packets())))
    (BUILD / "cases").write_text("".join(case.line() for case in CASES))
    VM.build([BUILD / "cases", traces])


def validated(data: bytes, traces: Mapping[str, Sequence[Packet]]) -> tuple[str, dict[str, list[Fate]]]:
    """The VM's kernel, and the fates of each case; raises `Failed` where a record cannot be relied on."""
    try:
        kernel, records = read_records(data)
    except (ValueError, EOFError, OSError) as error:
        raise Failed(str(error)) from None
    names = [record.name for record in records]
    if names != [case.name for case in CASES]:
        raise Failed(f"the VM has run {', '.join(names)}")
    for record in records:
        check(record, traces[record.trace])
    return kernel, {record.name: record.fates for record in records}


def check(record: Record, packets: Sequence[Packet]) -> None:
    """The record is complete, in time, and has the drops that the qdisc reports."""
    if len(record.fates) != len(packets):
        raise Failed(f"{record.name}: a record of {len(record.fates)} packets, not of {len(packets)}")
    late = record.lateness_ns(packets)
    if late > MOST_LATE_NS:
        raise Failed(f"{record.name}: a packet came {late} ns late; at most {MOST_LATE_NS} are valid")
    dropped = sum(fate.departed_ns is None for fate in record.fates)
    if dropped != record.reported_drops():
        raise Failed(f"{record.name}: {dropped} packets are missing, tc reports {record.reported_drops()}")


def boot_all(seeds: Sequence[int], jobs: int) -> None:
    """Every replicate, and the first one again."""
    runs = [*((f"replicate{seed}", seed) for seed in seeds), ("again", seeds[0])]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda run: VM.boot(*run), runs))


def replicates(seeds: Sequence[int]) -> tuple[str, dict[str, list[list[Fate]]]]:
    """The kernel, and its fates of each case in every replicate; raises `Failed`."""
    traces = {name: list(traffic.packets()) for name, traffic in TRACES.items()}
    found: dict[str, list[list[Fate]]] = {case.name: [] for case in CASES}
    kernel = ""
    for seed in seeds:
        kernel, fates = validated(VM.records(f"replicate{seed}").read_bytes(), traces)
        for name, of_case in fates.items():
            found[name].append(of_case)
    first, again = (VM.records(name).read_bytes() for name in (f"replicate{seeds[0]}", "again"))
    if first != again:
        raise Failed(f"two runs of replicate {seeds[0]} differ: see {BUILD.relative_to(ROOT)}/*.records.gz")
    print(f"two runs of replicate {seeds[0]} are the same: {len(first)} bytes")
    return kernel, found


def sampled(replicates: Sequence[Sequence[Fate]]) -> dict[str, Sample]:
    """Mean and spread of each metric."""
    values = [metrics(fates) for fates in replicates]
    return {metric: Sample.of([value[metric] for value in values]) for metric in METRICS}


def our_samples(case: Case, seeds: Sequence[int]) -> dict[str, Sample]:
    """The same of ours."""
    packets = list(TRACES[case.trace].packets())
    return sampled([replay(case, packets, seed) for seed in seeds])


def kept() -> tuple[str, dict[tuple[str, str], Sample]]:
    """The kernel of the reference table, and its samples by case and metric."""
    with KEPT.open(newline="") as file:
        lines = list(csv.DictReader(file))
    samples = {
        (f"{line['law']} {line['trace']}", line["metric"]): Sample(
            int(line["n"]), float(line["mean"]), float(line["sd"])
        )
        for line in lines
    }
    return lines[0]["kernel"], samples


def keep(kernel: str, samples: Mapping[str, Mapping[str, Sample]]) -> None:
    """Writes the reference table."""
    with KEPT.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for case in CASES:
            for metric, sample in samples[case.name].items():
                numbers = (sample.n, f"{sample.mean:.9g}", f"{sample.sd:.4g}")
                table.writerow((kernel, case.law, case.trace, metric, *numbers))


def rows(samples: Mapping[str, Mapping[str, Sample]], seeds: Sequence[int]) -> Iterator[Row]:
    """The kernel's samples beside ours."""
    for case in CASES:
        ours = our_samples(case, seeds)
        for metric in case.metrics:
            yield Row(case, metric, samples[case.name][metric], ours[metric])


def page_line(case: Case, rows: Sequence[Row]) -> str:
    """A case's line of the table in docs/deviations/linux_qdiscs.md: the kernel's intervals, and ours."""
    return f"| {' | '.join([case.law, case.trace, *(row.cell() for row in rows)])} |"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--replicates", type=int, default=8, help="boots of the kernel (8)")
    parser.add_argument("--jobs", type=int, default=2, help="of them at a time (2)")
    parser.add_argument("--keep", action="store_true", help=f"write {KEPT.relative_to(ROOT)}")
    parser.add_argument("--records", action="store_true", help="compare what the last run has recorded")
    given = parser.parse_args()
    if min(given.replicates, given.jobs) < 1:
        parser.error("expected at least one replicate and one job")
    seeds = range(1, given.replicates + 1)
    try:
        if not given.records:
            build_image()
            boot_all(seeds, given.jobs)
        kernel, fates = replicates(seeds)
    except Failed as error:
        print(f"kernel_check: {error}", file=sys.stderr)
        return 1
    samples = {name: sampled(of_case) for name, of_case in fates.items()}
    if given.keep:
        keep(kernel, samples)
    print(f"Linux {kernel}, {len(seeds)} replicates: 95 % intervals of the mean")
    found = list(rows(samples, seeds))
    for row in found:
        print(row.text())
    return 0 if all(row.agrees for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
