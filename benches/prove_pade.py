"""Certificates with the exact delay beside the common way, a Pade approximation in python-control.

First PI on the network of Hollot et al., then a case where the approximation of first order is wrong: a gain
between the true margin and the approximate one. The nonlinear plant decides. Ours is a whole certificate:
four loops, each with margins, count and poles; theirs is the margins and the poles of one, and their distance
from ours. The like comparison is one loop of ours alone: the first case's textbook loop, in Rust.

python-control is no dependency of ours, so it needs an environment of its own:

    python -m venv /tmp/control && /tmp/control/bin/pip install control
    .venv/bin/python benches/prove_pade.py --python /tmp/control/bin/python
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import sojourn as sj


@dataclass(frozen=True)
class Case:
    """One link, its flows and a law."""

    capacity_pps: int
    flows: int
    base_rtt_s: float
    #: At equilibrium, queueing included.
    rtt_s: float
    law: str
    #: The continuous law, K_I / s + K_P, as in its source.
    integral: float
    proportional: float


CASES = {
    # K (s / z + 1) / s with K = 9.781e-6, z = 0.5288 rad/s.
    "PI on the network of Hollot et al.": Case(
        3750, 60, 0.2, 0.246, "pi:target=172.5packets,rate=160Hz", 9.781079e-6, 1.849724e-5
    ),
    # The same with 8.95 times the gain.
    "PI with 8.95 times the gain": Case(
        3750,
        60,
        0.2,
        0.246,
        "pi:target=172.5packets,rate=160Hz,a=1.658239e-4,b=1.652768e-4",
        8.95 * 9.781079e-6,
        8.95 * 1.849724e-5,
    ),
}
ORDERS = (1, 2, 3, 4, 8, 16)
SCENARIO = """
title    = "One link"
duration = "120 s"
warmup   = "60 s"
[bottleneck]
rate   = "{capacity} packets/s"
delay  = "{delay} ms"
buffer = "800 packets"
qdisc   = {{ law = "tail_drop" }}
[[flows]]
count   = {flows}
app     = "bulk"
cc      = "reno"
ecn     = true
segment = "1000 B"
"""

#: Run by the other interpreter, on the plant, the law's numerator, the delay and the orders.
THEIRS = """
import json, sys, time, warnings
import control, numpy as np
warnings.simplefilter("ignore")
case = json.loads(sys.argv[1])
for order in case["orders"]:
    def work():
        plant = control.tf([case["gain"]], np.polymul([1, case["rates"][0]], [1, case["rates"][1]]))
        loop = plant * control.tf(case["law"], [1, 0]) * control.tf(*control.pade(case["delay"], order))
        gain, phase, _, _ = control.margin(loop)
        return float(gain), float(phase), float(max(control.feedback(loop, 1).poles().real))
    work()
    begun = time.perf_counter()
    gain, phase, right = work()
    print(json.dumps([order, gain, phase, right, time.perf_counter() - begun]))
"""


def main() -> None:
    """Print both results of each case, and their times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", type=Path, required=True, help="an interpreter that has control")
    python = parser.parse_args().python
    for name, case in CASES.items():
        print(name)
        theirs(python, case, ours(case))
    print("One loop alone, the one that they approximate first")
    alone()


def alone() -> None:
    """Print the time of margins, count and poles of one loop."""
    command = "cargo run --quiet --release -p sojourn-fluid --example linear_cost"
    done = subprocess.run(command.split(), capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        if line.startswith("PI"):
            print(f"  {line}")


def ours(case: Case) -> tuple[float, float]:
    """The certificate, and the nonlinear plant; returns the textbook's phase margin and rightmost pole."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "case.toml"
        delay_ms = 500 * case.base_rtt_s
        path.write_text(SCENARIO.format(capacity=case.capacity_pps, flows=case.flows, delay=delay_ms))
        scenario = sj.load(path)
    sj.prove(scenario, case.law)
    begun = time.perf_counter()
    certificate = sj.prove(scenario, case.law)
    seconds = time.perf_counter() - begun
    for one in certificate.loops:
        loop = f"{one['model']} {one['part']}{', sampled-data' * one['sampled']}: {one['verdict']}"
        phase, gain = one["phase_margin_deg"], one["gain_margin"]
        print(f"  ours, {loop}, phase margin {phase} degrees, gain margin {gain}")
    print(f"  all of them with poles and counts in {1e3 * seconds:.2f} ms")
    metrics = sj.run(scenario, qdiscs=[case.law], plants=["fluid"]).runs[0].metrics
    mean, sd = metrics["queue_mean_packets"], metrics["queue_std_packets"]
    print(f"  the nonlinear plant: {mean:.1f} +- {sd:.1f} packets")
    textbook = certificate.loop("textbook")
    return textbook["phase_margin_deg"], textbook["roots"][0][0]


def theirs(python: Path, case: Case, exact: tuple[float, float]) -> None:
    """The textbook's loop, with approximations of several orders, and their errors."""
    flows, capacity, rtt = case.flows, case.capacity_pps, case.rtt_s
    parameters = {
        "gain": capacity**2 / (2 * flows),
        "rates": [2 * flows / (rtt**2 * capacity), 1 / rtt],
        "law": [case.proportional, case.integral],
        "delay": rtt,
        "orders": ORDERS,
    }
    done = subprocess.run(
        [str(python), "-c", THEIRS, json.dumps(parameters)], capture_output=True, text=True, check=True
    )
    for order, gain, phase, right, seconds in map(json.loads, done.stdout.splitlines()):
        verdict = "stable" if right < 0 else "unstable"
        off = f"{abs(phase - exact[0]):.0e} degrees and {abs(right - exact[1]):.0e} 1/s off"
        loop = f"{verdict}, phase margin {phase:.2f} degrees, gain margin {gain:.3f}, {off}"
        print(f"  Pade of order {order}: {loop}; {1e3 * seconds:.2f} ms")


if __name__ == "__main__":
    main()
