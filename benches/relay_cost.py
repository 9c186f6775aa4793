"""Cost of a packet in the relay of live runs, and its ceiling on one core.

Bulk flows of the kernel's own TCP through a link at several rates; a packet's cost is the CPU time of the
relay's thread over the packets that it has read, both ways. A link faster than a core carries has a ceiling.
A packet costs less the more of them come at once. Nothing is asserted: machines differ, and drift.

    python benches/relay_cost.py [--seconds 6] [--qdisc tail_drop] [--qdisc fq_codel]
"""

from __future__ import annotations

import argparse

import sojourn as sj

#: Rates of the link, Mbit/s, and flows at it; the last is more than a core carries.
POINTS = ((20, 4), (100, 4), (100, 64), (500, 16), (1000, 16), (4000, 16))
#: Ceiling that the relay is for, Mbit/s.
AIM = 1000


def scenario(rate: int, flows: int, seconds: int) -> sj.Scenario:
    """Flows through one link, with a base round trip of 10 ms and a buffer of 20 ms."""
    return sj.Scenario.from_dict(
        {
            "title": f"{flows} flows at {rate} Mbit/s",
            "duration": f"{seconds} s",
            "warmup": "2 s",
            "bottleneck": {
                "rate": f"{rate} Mbit/s",
                "delay": "2 ms",
                "buffer": f"{rate * 5 // 3 + 20} packets",
                "qdisc": "tail_drop",
            },
            "flows": [
                {
                    "count": flows,
                    "cc": "cubic",
                    "segment": "1500 B",
                    "access": {"rate": "10 Gbit/s", "delay": "3 ms"},
                }
            ],
        }
    )


def main() -> None:
    """Measure, and print a line for each point."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=6, help="of each run (default 6)")
    parser.add_argument("--qdisc", action="append", help="default: tail_drop and fq_codel")
    options = parser.parse_args()
    qdiscs = options.qdisc or ["tail_drop", "fq_codel"]
    ceiling: dict[str, float] = {}
    for rate, flows in POINTS:
        try:
            found = sj.run(scenario(rate, flows, options.seconds), qdiscs=qdiscs, plants="live")
        except sj.MissingError as missing:
            print(missing)
            return
        except sj.RunFailed as failed:
            # A void run is a measurement here: more than the machine carries.
            found = failed.result
        for row in found.runs:
            if not row.trust or not row.cost:
                continue
            packets, cpu_s = row.cost["events"], row.cost["cpu_s"]
            goodput = row.metrics["goodput_bps"] / 1e6
            late = row.trust["lateness_p99_s"]
            print(
                f"{rate} Mbit/s, {flows} flows, {row.qdisc}: goodput {goodput:.0f} Mbit/s, "
                f"{1e6 * cpu_s / packets:.2f} us a packet, {100 * cpu_s / options.seconds:.0f} % of a core, "
                f"p99 lateness {1e6 * late:.0f} us, {row.trust['verdict']}"
            )
            ceiling[str(row.qdisc)] = goodput
    for qdisc, goodput in ceiling.items():
        print(f"ceiling under {qdisc}: {goodput:.0f} Mbit/s of full packets and acknowledgments; aim {AIM}")


if __name__ == "__main__":
    main()
