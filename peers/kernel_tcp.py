"""TCP of a Debian kernel through its cake and fq_codel, and ours in the same network.

    .venv/bin/python peers/kernel_tcp.py [--jobs 2] [--only CASE]... [--keep] [--records]

The kernel runs under QEMU in virtual time: peers/kernel/README.md describes the network. A replicate has
draws of its own, among them the times at which its flows begin. `--keep` writes
tests/reference/kernel_tcp.csv anew; `--records` compares what the last run has
recorded. Exit code 1: a number is outside its bound.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import sojourn as sj
from bounds import Sample
from kernel.tcp_cases import CASES, HOSTS, METRICS, TcpCase, TcpRecord, read_tcp_record
from kernel.vm import BUILD, ROOT, Failed, Vm

KEPT = ROOT / "tests/reference/kernel_tcp.csv"
COLUMNS = ("kernel", "case", "host", "metric", "n", "mean", "sd")
TCP = ROOT / "peers/kernel/tcp"
MODULES = ("veth", "sch_netem", "sch_htb", "sch_fq_codel", "sch_cake")
#: Largest difference of a mean, as a part of it.
TOLERANCE = 0.03
#: Seeds of ours.
SEEDS = range(1, 9)
#: Host and metric.
Key = tuple[str, str]


@dataclass(frozen=True)
class Row:
    """A goodput: the kernel's replicates and our seeds."""

    case: TcpCase
    host: str
    kernel: Sample
    ours: Sample

    @property
    def agrees(self) -> bool:
        """Means within the tolerance, or 95 % intervals that overlap: some cases hardly vary, and some do."""
        (low, high), (our_low, our_high) = self.kernel.interval(), self.ours.interval()
        is_close = abs(self.ours.mean - self.kernel.mean) <= TOLERANCE * self.kernel.mean
        return is_close or (low <= our_high and our_low <= high)

    def cell(self) -> str:
        """The kernel's mean and standard deviation, and ours, as the page shows them, Mbit/s."""
        return "; ".join(
            f"{sample.mean / 1e6:.2f} ± {sample.sd / 1e6:.2f}" for sample in (self.kernel, self.ours)
        )

    def text(self) -> str:
        """One line of the output."""
        verdict = "" if self.agrees else "  OUTSIDE, as known" if not self.case.agrees else "  OUTSIDE"
        kernel, ours = (
            f"{sample.mean / 1e6:7.3f} +- {sample.sd / 1e6:5.3f} ({sample.n})"
            for sample in (self.kernel, self.ours)
        )
        return f"{self.case.name:20} {self.host:6} {kernel}  ours {ours} Mbit/s{verdict}"


def sampled(values: Sequence[Mapping[Key, float]]) -> dict[Key, Sample]:
    """Mean and spread of each number."""
    return {key: Sample.of([value[key] for value in values]) for key in values[0]}


def recorded(case: TcpCase) -> tuple[str, dict[Key, Sample]]:
    """The kernel, and its samples in a case; raises `Failed`."""
    found: list[dict[Key, float]] = []
    kernel = ""
    for seed in seeds_of(case):
        try:
            kernel, record = read_tcp_record(vm(case).records(f"replicate{seed}").read_bytes())
        except (ValueError, EOFError, OSError) as error:
            raise Failed(f"{case.name}: {error}") from None
        check(case, record)
        found.append(record.metrics(case))
    return kernel, sampled(found)


def check(case: TcpCase, record: TcpRecord) -> None:
    """The record is that of the case, and has every flow."""
    if record.name != case.name:
        raise Failed(f"{case.name}: the VM has run {record.name}")
    flows = [sum(flow[0] == host for flow in record.flows) for host in (1, 2)]
    if tuple(flows) != case.flows:
        raise Failed(f"{case.name}: a record of {flows} flows of the hosts, not of {list(case.flows)}")


def seeds_of(case: TcpCase) -> range:
    """The words of its replicates."""
    return range(1, case.replicates + 1)


def vm(case: TcpCase) -> Vm:
    """The VM of a case alone: its draws depend on no other."""
    return Vm(BUILD / "tcp" / case.name, TCP / "init", TCP / "bulk.c", MODULES)


def our_samples(case: TcpCase, seeds: Sequence[int]) -> dict[str, Sample]:
    """Our goodput of each host."""
    scenario = sj.load(ROOT / f"scenarios/peers/{case.scenario}.toml", case.settings)
    result = sj.run(scenario, seeds=seeds)
    values = {host: result.values(result.qdiscs[0], "goodput_bps", traffic_class=host) for host in HOSTS}
    return {host: Sample.of([of_host[seed] for seed in seeds]) for host, of_host in values.items()}


def kept() -> tuple[str, dict[str, dict[Key, Sample]]]:
    """The kernel of the reference table, and its samples by case, host and metric."""
    samples: dict[str, dict[Key, Sample]] = {}
    with KEPT.open(newline="") as file:
        table = list(csv.DictReader(file))
    for line in table:
        sample = Sample(int(line["n"]), float(line["mean"]), float(line["sd"]))
        samples.setdefault(line["case"], {})[line["host"], line["metric"]] = sample
    return table[0]["kernel"], samples


def keep(kernel: str, samples: Mapping[str, Mapping[Key, Sample]]) -> None:
    """Writes the reference table."""
    with KEPT.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for name, of_case in samples.items():
            for host in HOSTS:
                for metric in METRICS:
                    sample = of_case[host, metric]
                    numbers = (sample.n, f"{sample.mean:.6g}", f"{sample.sd:.3g}")
                    table.writerow((kernel, name, host, metric, *numbers))


def rows(cases: Sequence[TcpCase], samples: Mapping[str, Mapping[Key, Sample]]) -> Iterator[Row]:
    """The kernel's goodputs beside ours."""
    for case in cases:
        ours = our_samples(case, SEEDS)
        for host in HOSTS:
            yield Row(case, host, samples[case.name][host, "goodput_bps"], ours[host])


def page_line(case: TcpCase, rows: Sequence[Row]) -> str:
    """A case's line of the table in docs/deviations/linux_qdiscs.md."""
    return f"| {' | '.join([case.title, *(row.cell() for row in rows)])} |"


def boot_all(cases: Sequence[TcpCase], jobs: int) -> None:
    """Every replicate, and the first one again."""
    for case in cases:
        folder = vm(case).folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cases").write_text(case.line())
        vm(case).build([folder / "cases"])
    runs = [(case, f"replicate{seed}", seed) for case in cases for seed in seeds_of(case)]
    runs.append((cases[0], "again", 1))
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda run: vm(run[0]).boot(*run[1:]), runs))


def check_repeat(case: TcpCase) -> None:
    """Two equal runs have written the same bytes; raises `Failed`."""
    first, again = (vm(case).records(name).read_bytes() for name in ("replicate1", "again"))
    if first != again:
        raise Failed(f"{case.name}: two equal runs differ: see {vm(case).folder.relative_to(ROOT)}")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="VMs at a time (2)")
    parser.add_argument("--only", action="append", help="a case", choices=[case.name for case in CASES])
    parser.add_argument("--keep", action="store_true", help=f"write {KEPT.relative_to(ROOT)}")
    parser.add_argument("--records", action="store_true", help="compare what the last run has recorded")
    given = parser.parse_args()
    if given.jobs < 1:
        parser.error("expected at least one job")
    if given.keep and given.only:
        parser.error("--keep writes every case; expected no --only beside it")
    cases = [case for case in CASES if given.only is None or case.name in given.only]
    kernel, samples = "", {}
    try:
        if not given.records:
            boot_all(cases, given.jobs)
        for case in cases:
            kernel, samples[case.name] = recorded(case)
        check_repeat(cases[0])
    except Failed as error:
        print(f"kernel_tcp: {error}", file=sys.stderr)
        return 1
    if given.keep:
        keep(kernel, samples)
    print(f"Linux {kernel}: means and standard deviations of goodputs, and how many")
    found = list(rows(cases, samples))
    for row in found:
        print(row.text())
    return 0 if all(row.agrees == row.case.agrees for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
