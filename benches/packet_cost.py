"""Marginal CPU time of one bottleneck packet, Sojourn beside ns-2, in one run.

The scenario is S6: 100 NewReno flows on 100 Mbit/s, every link of it simulated. The cost is the slope
between a short and a long run, so that nobody's start-up counts. The two run in turn, several times,
because machines drift; what is printed are medians, and nothing is asserted.

    python benches/packet_cost.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import sojourn as sj

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = ROOT / "scenarios/peers/s6_100m.toml"
SHORT_S, LONG_S = 20, 100
FEW_FLOWS, MANY_FLOWS = 100, 10_100
#: Events pending in the bare loop: about as many as the scenario has.
PENDING = 300
#: CPU seconds and bottleneck packets of a run of so many simulated seconds.
Measure = Callable[[int], tuple[float, float]]


def main() -> None:
    """Measure, and print medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (default 5)")
    rounds = parser.parse_args().rounds
    ns2 = shutil.which("ns")
    contenders: dict[str, Measure] = {"sojourn": measure_sojourn}
    if ns2:
        contenders["ns2"] = lambda seconds: measure_ns2(ns2, seconds)
    costs: dict[str, list[float]] = {name: [] for name in contenders}
    loops: list[float] = []
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", flush=True)
        for name, measure in contenders.items():
            costs[name].append(slope(measure))
        loops.append(bare_loop())
    for name, values in costs.items():
        print(f"{name}: {statistics.median(values):.0f} ns per bottleneck packet "
              f"(min {min(values):.0f}, max {max(values):.0f}, {rounds} rounds)")  # fmt: skip
    if ns2:
        ratios = [theirs / mine for mine, theirs in zip(costs["sojourn"], costs["ns2"], strict=True)]
        print(f"ns-2 takes {statistics.median(ratios):.1f} times as long "
              f"(median of the rounds' ratios, min {min(ratios):.1f}, max {max(ratios):.1f})")  # fmt: skip
    else:
        print("skipped: the comparison with ns-2 (ns2 is not installed: apt-get install ns2)")
    ours = statistics.median(costs["sojourn"])
    run = sj.run(sj.load(SCENARIO), seeds=[1]).runs[0]
    per_packet = float(run.cost["events"] or 0) / run.conservation["delivered"]
    print(f"{per_packet:.2f} events and arrivals per bottleneck packet, {ours / per_packet:.0f} ns each; "
          f"bare pop, touch and push: {statistics.median(loops):.0f} ns")  # fmt: skip
    print(f"{1e9 / ours:.3g} bottleneck packets per CPU second")
    more = memory_bytes(MANY_FLOWS) - memory_bytes(FEW_FLOWS)
    print(f"{more / (MANY_FLOWS - FEW_FLOWS):.0f} bytes per flow")


def bare_loop() -> float:
    """Nanoseconds to pop an event, touch its component and push it again, and nothing else."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "sojourn-sim", "--example", "event_queue"]
    table = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    rows = [line.split() for line in table.splitlines()]
    return next(float(wheel) for pending, wheel, _ in rows if pending == str(PENDING))


def memory_bytes(flows: int) -> float:
    """The most memory that a process took which ran so many flows for a second."""
    code = (
        "import resource, sys, sojourn as sj\n"
        "sc = sj.load(sys.argv[1], {'duration': '1 s', 'warmup': '0 s', 'flows.0.count': sys.argv[2]})\n"
        "sj.run(sc, seeds=[1], jobs=1)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, str(SCENARIO), str(flows)]
    return 1024 * float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def slope(measure: Measure) -> float:
    """Nanoseconds of CPU for one more packet."""
    (short_cpu, short_packets), (long_cpu, long_packets) = measure(SHORT_S), measure(LONG_S)
    return (long_cpu - short_cpu) / (long_packets - short_packets) * 1e9


def measure_sojourn(seconds: int) -> tuple[float, float]:
    """CPU seconds and bottleneck packets of a run of ours."""
    run = sj.run(sj.load(SCENARIO, {"duration": f"{seconds} s"}), seeds=[1], jobs=1).runs[0]
    return float(run.cost["cpu_s"] or 0), run.conservation["delivered"]


def measure_ns2(binary: str, seconds: int) -> tuple[float, float]:
    """CPU seconds of a run of ns-2 and the packets it had acknowledged."""
    settings = {
        "flows": 100, "rate": 100e6, "buffer": 833, "packet": 1500, "access_rate": 100e6,
        "access_from": 0.014, "access_to": 0.016, "cc": "newreno", "ecn": 0, "law": "red", "min": 125,
        "max": 417, "mark_below_p": 1.1, "quiet": 1, "duration": seconds,
    }  # fmt: skip
    words = [str(word) for pair in settings.items() for word in pair]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [binary, str(ROOT / "peers/ns2/dumbbell.tcl"), *words], capture_output=True, text=True, check=True,
        env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, float(run.stdout.split()[1])


if __name__ == "__main__":
    main()
