"""Cost of each law of the catalogue by itself: ns per packet and per update, and bytes.

The laws take turns in one process, several rounds. The output has least values and medians beside the
targets. Nothing is asserted: machines differ, and drift.

    python benches/law_cost.py [--rounds 11]
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Target of a packet's cost over tail drop, ns.
PACKET_NS = 60.0
#: Target of an update's cost, ns, and exceptions.
UPDATE_NS = 1_000.0
LONGER_UPDATES_NS = {"fb_ocq": 10_000.0}


def main() -> None:
    """Measure, and print the table with the missed targets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=11, help="how often each is measured (default 11)")
    rounds = parser.parse_args().rounds
    command = ["cargo", "run", "--release", "--quiet", "-p", "sojourn-aqm", "--example", "law_cost"]
    table = subprocess.run(
        [*command, "--", str(rounds)], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    head, *rows = table.splitlines()
    print(head)
    for row in rows:
        print(f"{row}  {judgement(row)}".rstrip())
    longer = "".join(f" ({law}: {ns:.0f})" for law, ns in LONGER_UPDATES_NS.items())
    print(f"targets: {PACKET_NS:.0f} ns a packet over tail drop, {UPDATE_NS:.0f} ns an update{longer}")


def judgement(row: str) -> str:
    """Missed targets of a row."""
    law, _, _, packet, _, update, *_ = row.split()
    missed = [f"packet above {PACKET_NS:.0f} ns"] if float(packet) > PACKET_NS else []
    most = LONGER_UPDATES_NS.get(law, UPDATE_NS)
    if update != "-" and float(update) > most:
        missed.append(f"update above {most:.0f} ns")
    return ", ".join(missed)


if __name__ == "__main__":
    main()
