"""Cost of a packet under fair queueing with more than 10 000 active queues, beside one queue: ns.

Deficit round robin over CoDel in 16 384 buckets and one queue under CoDel, each alone in a loop, several
rounds in turn. The output has the least value of each. Nothing is asserted: machines differ, and drift.

    python benches/qdisc_cost.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Target of a packet's cost over one queue, ns.
PACKET_NS = 100.0


def main() -> None:
    """Measure, and print the costs beside the target."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (default 5)")
    command = ["cargo", "run", "--release", "--quiet", "-p", "sojourn-aqm", "--example", "qdisc_cost"]
    costs: dict[str, list[float]] = defaultdict(list)
    for _ in range(parser.parse_args().rounds):
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        for name, ns in re.findall(r"(\w+): ([\d.]+) ns", done.stdout):
            costs[name].append(float(ns))
    fifo, drr = min(costs["fifo"]), min(costs["drr"])
    print(f"one queue {fifo:.1f} ns a packet, 10 000 queues {drr:.1f} ns: {drr - fifo:.1f} ns more")
    print(f"target: {PACKET_NS:.0f} ns a packet more than one queue")


if __name__ == "__main__":
    main()
