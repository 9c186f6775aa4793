"""Large networks: set-up time, memory at two durations, CPU per packet.

A hundred thousand flows on 10 Gbit/s; a chain of a thousand links, each with a qdisc and traffic of its own
that crosses flows over ten; an hour of S6. Each runs in a process of its own for two durations: peak memory
should be the same but for noise. Nothing is asserted.

    python benches/scale.py [--only flows] [--hour]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "target/release/examples/packet_cost"
HOUR_S = 3600.0
LINKS = 1000
#: Links crossed by a long flow.
AFAR = 10


@dataclass(frozen=True)
class Case:
    """A network, and its durations, simulated seconds."""

    name: str
    title: str
    scenario: Callable[[], str]
    short: float
    long: float


@dataclass(frozen=True)
class Spent:
    """Cost of a run."""

    cpu_s: float
    memory_mb: float
    #: Packets that left the links with a qdisc.
    packets: int


def flows() -> str:
    """A dumbbell for 100 000 flows."""
    return """
title = "A hundred thousand flows on 10 Gbit/s"
duration = "1 s"
warmup = "0 s"
[bottleneck]
rate = "10 Gbit/s"
delay = "20 ms"
buffer = "83333 packets"
qdisc = { law = "red", min = "12500 packets", max = "41700 packets" }
[[flows]]
count = 100_000
cc = "newreno"
access = { rate = "1 Gbit/s", delay = { spread = ["14 ms", "16 ms"] } }
"""


def links() -> str:
    """A chain of links, with flows over each of them and flows over ten."""
    parts = ['title = "A chain of a thousand links"\nduration = "1 s"\nwarmup = "0 s"\n']
    for link in range(LINKS):
        parts.append(
            f'[[links]]\nfrom = "n{link}"\nto = "n{link + 1}"\nrate = "10 Mbit/s"\ndelay = "1 ms"\n'
            'buffer = "100 packets"\nqdisc = { law = "red", min = "10 packets", max = "40 packets" }\n'
        )
    for link in range(LINKS):
        parts.append(
            f'[[flows]]\nname = "cross{link}"\ncount = 4\nfrom = "n{link}"\nto = "n{link + 1}"\n'
            'access = { rate = "100 Mbit/s", delay = "5 ms" }\n'
        )
    for link in range(0, LINKS, AFAR):
        parts.append(f'[[flows]]\nname = "afar{link}"\ncount = 2\nfrom = "n{link}"\nto = "n{link + AFAR}"\n')
    return "".join(parts)


def hour() -> str:
    """The bench's small scenario."""
    return (ROOT / "scenarios/peers/s6_100m.toml").read_text()


CASES = [
    Case("flows", "100 000 flows on 10 Gbit/s", flows, 2, 6),
    Case("links", f"{LINKS} links with a qdisc each, {4 * LINKS + 2 * LINKS // AFAR} flows", links, 2, 6),
    Case("hour", "100 flows on 100 Mbit/s", hour, HOUR_S / 4, HOUR_S),
]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=[case.name for case in CASES], help="one network instead of all")
    parser.add_argument("--hour", action="store_true", help="long runs of an hour: some hours in all")
    arguments = parser.parse_args()
    build = ["cargo", "build", "--release", "--quiet", "-p", "sojourn-sim", "--example", "packet_cost"]
    subprocess.run(build, check=True, cwd=ROOT)
    for case in CASES:
        if arguments.only in (None, case.name):
            measure(case, HOUR_S if arguments.hour else case.long)


def measure(case: Case, long_s: float) -> None:
    """Print the cost of one network."""
    print(case.title, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{case.name}.toml"
        file.write_text(case.scenario())
        # Up to the first packet, or a little longer.
        built = run(file, 0.0001 if case.name != "hour" else 5.1)
        print(f"  set-up: {built.cpu_s:.2f} s of CPU", flush=True)
        short, long = run(file, case.short), run(file, long_s)
    for seconds, spent in ((case.short, short), (long_s, long)):
        print(f"  {seconds:g} s: {spent.memory_mb:.0f} MB at most, {spent.packets} packets, "
              f"{spent.cpu_s:.1f} s of CPU")  # fmt: skip
    more = (long.cpu_s - short.cpu_s) / (long.packets - short.packets)
    print(f"  {more * 1e9:.0f} ns for a packet more", flush=True)


def run(file: Path, seconds: float) -> Spent:
    """Run a scenario in a process of its own."""
    with subprocess.Popen([PROGRAM, file, f"{seconds:f}"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{file.name}: the run failed")
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, int(output.split()[0]))


if __name__ == "__main__":
    main()
