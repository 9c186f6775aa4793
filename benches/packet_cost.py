"""Marginal CPU time of one bottleneck packet, Sojourn beside ns-2 and ns-3, in one run.

Two scenarios, every link of them simulated: S6, 100 NewReno flows on 100 Mbit/s, and ten times as much of
everything. The cost is the slope between a short and a long run, so that no start-up counts. The simulators
run in turn, several times, because machines drift (ns-3 once: it is slow). The output has medians; nothing is
asserted.

    python benches/packet_cost.py [--rounds 5] [--only s6_1g]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sojourn as sj

ROOT = Path(__file__).resolve().parents[1]
FEW_FLOWS, MANY_FLOWS = 100, 10_100
#: Events pending in the bare loop: about as many as S6 has.
PENDING = 300
#: CPU seconds and bottleneck packets of a run of this many simulated seconds.
Measure = Callable[[float], tuple[float, float]]
#: Simulated seconds of the short and of the long run.
Durations = tuple[float, float]


@dataclass(frozen=True)
class Case:
    """A scenario, `factor` times as large as S6, and its durations in each simulator."""

    name: str
    factor: int
    ours: Durations
    ns2: Durations
    ns3: Durations

    @property
    def file(self) -> Path:
        """The scenario."""
        return ROOT / f"scenarios/peers/{self.name}.toml"

    @property
    def rate(self) -> float:
        """Rate of the bottleneck and of each access link, bit/s."""
        return 100e6 * self.factor

    def words(self, duration: float) -> dict[str, object]:
        """The scenario as options that ns-2's and ns-3's dumbbell share."""
        queue = {1: (833, 125, 417), 10: (8333, 1250, 4170)}[self.factor]
        return {
            "flows": 100 * self.factor, "rate": self.rate, "delay": 0.02, "packet": 1500,
            "access_rate": self.rate, "access_from": 0.014, "access_to": 0.016, "cc": "newreno", "ecn": 0,
            "law": "red", **dict(zip(("buffer", "min", "max"), queue, strict=True)), "duration": duration,
        }  # fmt: skip


CASES = [
    Case("s6_100m", 1, ours=(20, 100), ns2=(20, 100), ns3=(3, 6)),
    Case("s6_1g", 10, ours=(10, 30), ns2=(10, 20), ns3=(1.5, 2)),
]


def main() -> None:
    """Measure, and print medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (default 5)")
    names = [case.name for case in CASES]
    parser.add_argument("--only", choices=names, help="one scenario instead of all")
    arguments = parser.parse_args()
    for case in CASES:
        if arguments.only in (None, case.name):
            compare(case, arguments.rounds)
    more = memory_bytes(MANY_FLOWS) - memory_bytes(FEW_FLOWS)
    print(f"{more / (MANY_FLOWS - FEW_FLOWS):.0f} bytes per flow")


def compare(case: Case, rounds: int) -> None:
    """Run one scenario in all installed simulators."""
    title = sj.load(case.file).title
    print(title)
    contenders: dict[str, tuple[Measure, Durations]] = {
        "sojourn": (partial(measure_sojourn, case), case.ours)
    }
    if ns2 := shutil.which("ns"):
        contenders["ns-2"] = (partial(measure_ns2, ns2, case), case.ns2)
    else:
        print("  skipped: ns-2 (apt-get install ns2)")
    costs: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds):
        print(f"  round {number + 1} of {rounds}", flush=True)
        for name, (measure, durations) in contenders.items():
            costs[name].append(slope(measure, durations))
    ours = costs["sojourn"]
    for name, values in costs.items():
        report(name, values, ours)
    for version in ("3.37", "3.44"):
        program = ROOT / f"build/ns3/{version}/dumbbell"
        if program.is_file():
            theirs = slope(partial(measure_ns3, program, case), case.ns3)
            report(f"ns-3 {version} as packaged", [theirs], [statistics.median(ours)])
        else:
            print(f"  skipped: ns-3 {version} (make peers)")
    if case.factor == 1:
        report_events(case, statistics.median(ours))


def report(name: str, costs: Sequence[float], ours: Sequence[float]) -> None:
    """Print the cost of a packet in a simulator, and its ratio to ours, round by round."""
    line = f"  {name}: {statistics.median(costs):.0f} ns per bottleneck packet"
    if len(costs) > 1:
        line += f" (min {min(costs):.0f}, max {max(costs):.0f})"
    if costs is not ours:
        ratios = [theirs / mine for theirs, mine in zip(costs, ours, strict=True)]
        line += f", {statistics.median(ratios):.1f} times as much"
        if len(ratios) > 1:
            line += f" (median of the rounds' ratios, min {min(ratios):.1f}, max {max(ratios):.1f})"
    print(line, flush=True)


def report_events(case: Case, ours: float) -> None:
    """Print the cost of the bare events beside ours."""
    run = sj.run(sj.load(case.file), seeds=[1]).runs[0]
    per_packet = float(run.cost["events"] or 0) / run.conservation["delivered"]
    print(f"  {per_packet:.2f} events and arrivals per bottleneck packet, {ours / per_packet:.0f} ns each; "
          f"bare pop, touch and push: {bare_loop():.0f} ns")  # fmt: skip
    print(f"  {1e9 / ours:.3g} bottleneck packets per CPU second")


def bare_loop() -> float:
    """Nanoseconds to pop an event, touch its component and push it again."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "sojourn-sim", "--example", "event_queue"]
    table = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    rows = [line.split() for line in table.splitlines()]
    return next(float(wheel) for pending, wheel, _ in rows if pending == str(PENDING))


def memory_bytes(flows: int) -> float:
    """Peak memory of a process that runs this many flows for a second."""
    code = (
        "import resource, sys, sojourn as sj\n"
        "sc = sj.load(sys.argv[1], {'duration': '1 s', 'warmup': '0 s', 'flows.0.count': sys.argv[2]})\n"
        "sj.run(sc, seeds=[1], jobs=1)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, str(CASES[0].file), str(flows)]
    return 1024 * float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def slope(measure: Measure, durations: Durations) -> float:
    """Nanoseconds of CPU for one more packet."""
    (short_cpu, short_packets), (long_cpu, long_packets) = map(measure, durations)
    return (long_cpu - short_cpu) / (long_packets - short_packets) * 1e9


def measure_sojourn(case: Case, seconds: float) -> tuple[float, float]:
    """CPU seconds and bottleneck packets of a run of ours."""
    run = sj.run(sj.load(case.file, {"duration": f"{seconds} s"}), seeds=[1], jobs=1).runs[0]
    return float(run.cost["cpu_s"] or 0), run.conservation["delivered"]


def measure_ns2(binary: str, case: Case, seconds: float) -> tuple[float, float]:
    """CPU seconds of a run of ns-2 and the packets it had acknowledged."""
    command = [binary, str(ROOT / "peers/ns2/dumbbell.tcl")]
    cpu, output = spent(command, {**case.words(seconds), "mark_below_p": 1.1, "quiet": 1})
    return cpu, float(output.split()[1])


def measure_ns3(program: Path, case: Case, seconds: float) -> tuple[float, float]:
    """CPU seconds of a run of ns-3, and its packets, from the utilisation of the bottleneck."""
    warmup = case.ns3[0] / 2
    cpu, output = spent([str(program)], {**case.words(seconds), "warmup": warmup})
    metrics = dict(line.split() for line in output.splitlines())
    sent_bits = float(metrics["utilization"]) * case.rate * (seconds - warmup)
    return cpu, sent_bits / (8 * 1500)


def spent(command: Sequence[str], words: dict[str, object]) -> tuple[float, str]:
    """CPU seconds of a program with these options, and its output."""
    given = [str(word) for pair in words.items() for word in pair]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [*command, *given], capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, run.stdout


if __name__ == "__main__":
    main()
