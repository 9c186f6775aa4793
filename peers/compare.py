"""Compare Sojourn with ns-2 or ns-3 at one point: the same dumbbell in both, and a table of their agreement.

Without options: at a few points, with every peer that is installed here.

    make peers ARGS="--peer ns3 --cc cubic --qdisc codel --rtt 100ms --flows 10 --seeds 1..5"
    make peers ARGS="--peer ns2 --qdisc red:min=20packets,max=60packets --rate '20 Mbit/s'"
    make peers ARGS="--peer ns2 --scenario scenarios/peers/s1.toml --set flows.0.count=60"
    make peers ARGS=--networks    # ns-2's rows of tests/reference/networks.csv, anew

Exit codes: 0 all within bounds, 1 something outside, 2 a point that the peer cannot express, 3 no such peer
here.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import networks
import sojourn as sj
from bounds import TRANSPORTS, Sample, Verdict, verdict
from simulators import ROOT, Failed, Inexpressible, Peer, Words, as_counted, peers, rate, seconds, words
from sojourn.errors import InputError

AGREES, DISAGREES, INEXPRESSIBLE, MISSING = range(4)
INTERRUPTED = 130
#: The default point, changed by the options.
PLAIN = ROOT / "scenarios/peers/s7.toml"
RED_ECN = "red:min=20packets,max=60packets,mark_below_p=2"
#: With the choices of ns-3.
FQ_CODEL = "fq_codel:quantum=1500B,law.mtu=1499B,law.newton=true"
FQ_CUBIC = ["--peer", "ns3-3.44", "--qdisc", FQ_CODEL, "--cc", "cubic"]
#: Points compared by default.
POINTS = [
    ["--peer", "ns2", "--qdisc", "red:min=5packets,max=15packets"],
    ["--peer", "ns2", "--qdisc", "tail_drop", "--buffer", "60 packets", "--flows", "20", "--rtt", "60 ms"],
    ["--peer", "ns3-3.44", "--qdisc", "codel"],
    ["--peer", "ns3-3.44", "--qdisc", "red:min=6packets,max=16packets", "--cc", "cubic"],
    ["--peer", "ns3-3.44", "--qdisc", "codel", "--cc", "cubic", "--flows", "1", "--rtt", "20 ms"],
    ["--peer", "ns3-3.44", "--qdisc", RED_ECN, "--cc", "cubic", "--ecn", "--flows", "60", "--rtt", "20 ms"],
    ["--peer", "ns3-3.44", "--qdisc", FQ_CODEL, "--rate", "15 Mbit/s", "--rtt", "50 ms", "--flows", "12"],
    [*FQ_CUBIC, "--rate", "5 Mbit/s", "--rtt", "60 ms", "--flows", "8"],
    [*FQ_CUBIC, "--rate", "40 Mbit/s", "--rtt", "40 ms", "--flows", "8", "--ecn"],
    ["--peer", "ns3-3.37", "--qdisc", "pie", "--flows", "20", "--rtt", "60 ms"],
]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    points = [list(argv)] if argv else standard()
    if not points:
        print("compare: no peer is installed here; to get them: make peers", file=sys.stderr)
        return MISSING
    try:
        if points == [["--networks"]]:
            networks.write()
            return AGREES
        return max([one(parser().parse_args(options)) for options in points])
    except Failed as error:
        print(f"compare: {error}", file=sys.stderr)
        return DISAGREES
    except LookupError as error:
        print(f"compare: {error.args[0]}", file=sys.stderr)
        return MISSING
    except KeyboardInterrupt:
        print("compare: interrupted", file=sys.stderr)
        return INTERRUPTED


def standard() -> list[list[str]]:
    """The points compared by default."""
    here = [name for name, peer in peers().items() if peer.command]
    return [options for options in POINTS if options[1] in here]


def one(options: argparse.Namespace) -> int:
    """One point; the exit code. Raises `LookupError` if the peer is not here, and `Failed`."""
    try:
        peer = chosen(options.peer)
    except Inexpressible as error:
        print(f"compare: {error}", file=sys.stderr)
        return INEXPRESSIBLE
    try:
        numbers = seeds(options.seeds)
        scenario = point(options, peer)
        point_words = words(peer, scenario)
    except (Inexpressible, InputError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return INEXPRESSIBLE
    title = f"{scenario.title}; " if options.scenario else ""
    print(f"{title}{scenario.qdisc}; seeds {options.seeds}\n{peer.name}: {listed(point_words)}\n", flush=True)
    verdicts = compare(peer, scenario, point_words, numbers)
    print(table(verdicts, peer.name), end="\n\n", flush=True)
    return AGREES if all(one.agrees for one in verdicts) else DISAGREES


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit as for a point that the peer cannot express."""
        self.exit(INEXPRESSIBLE, f"compare: {message}; --help lists the options\n")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    about, _, example = (__doc__ or "").partition("\n\n")
    made = Parser(
        prog="compare",
        description=about,
        epilog=example,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "--peer", default="ns3", help="ns2, ns3 (the newest that is here), ns3-3.44 or ns3-3.37"
    )
    made.add_argument("--scenario", help="a scenario file; without it, the dumbbell of the options below")
    made.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change one of its keys"
    )
    made.add_argument(
        "--qdisc",
        help="such as codel, or red:min=6packets,max=16packets (default: red:min=5packets,max=15packets)",
    )
    made.add_argument("--cc", help="newreno, cubic, reno, ... (default: newreno)")
    made.add_argument("--flows", help="how many (default: 10)")
    made.add_argument("--rate", help="of the bottleneck; access links have a hundred times as much")
    made.add_argument("--rtt", help="without queues (default: 100 ms)")
    made.add_argument("--buffer", help="such as '300 packets' (default: 1000)")
    made.add_argument("--ecn", action="store_true", help="flows use ECN")
    made.add_argument("--profile", help="of our flows (default: the peer's own)")
    made.add_argument("--duration", help="such as 60s (default: 30 s)")
    made.add_argument("--warmup", help="such as 20s (default: 10 s)")
    made.add_argument("--seeds", default="1..5", help="A..B (default: 1..5)")
    return made


def chosen(name: str) -> Peer:
    """The peer of that name. Raises `Inexpressible`, and `LookupError` if it is not here."""
    known = peers()
    wanted = [peer for peer in known.values() if peer.name == name or peer.name.startswith(f"{name}-")]
    if not wanted:
        raise Inexpressible(
            f'--peer: "{name}" is no peer; expected {", ".join(known)}, or ns3 for the newest that is here'
        )
    here = [peer for peer in wanted if peer.command]
    if not here:
        raise LookupError(f"{wanted[0].name} is not installed here; to get it: {wanted[0].remedy}")
    return here[0]


def point(options: argparse.Namespace, peer: Peer) -> sj.Scenario:
    """The scenario of the options. Raises `InputError` and `Inexpressible`."""
    settings: dict[str, str] = {}
    if not options.scenario:
        settings |= {f"flows.0.{key}": value for key, value in peer.settings.items()}
        if options.profile:
            # Sojourn's own settings, without the peer's.
            settings = {key: value for key, value in settings.items() if ".tcp." not in key}
    direct = {
        "flows.0.cc": options.cc,
        "flows.0.count": options.flows,
        "flows.0.profile": options.profile,
        "bottleneck.buffer": options.buffer,
        "duration": options.duration,
        "warmup": options.warmup,
    }
    settings |= {key: value for key, value in direct.items() if value}
    if options.ecn:
        settings["flows.0.ecn"] = "true"
    if options.rate:
        settings["bottleneck.rate"] = options.rate
        settings["flows.0.access.rate"] = f"{100 * rate(options.rate):.0f} bit/s"
    if options.rtt:
        quarter = seconds(options.rtt) / 4
        settings["bottleneck.delay"] = f"{quarter * 1e9:.0f} ns"
        settings["flows.0.access.delay"] = f"{quarter / 2 * 1e9:.0f} ns"
    for pair in options.set:
        key, equals, value = pair.partition("=")
        if not equals:
            raise Inexpressible(f'--set: "{pair}" is not KEY=VALUE')
        settings[key] = value
    if options.qdisc is not None:
        # The file's own qdisc need not be expressible.
        settings["bottleneck.qdisc"] = "tail_drop"
    scenario = sj.load(options.scenario or PLAIN, settings)
    return scenario if options.qdisc is None else sj.scenario.with_qdisc(scenario, options.qdisc)


def seeds(text: str) -> range:
    """A..B, both included. Raises `Inexpressible`."""
    first, dots, last = text.partition("..")
    if not (dots and first.isdigit() and last.isdigit() and int(first) < int(last)):
        raise Inexpressible(f'--seeds: "{text}" is not a range of two or more; expected A..B such as 1..5')
    return range(int(first), int(last) + 1)


def compare(peer: Peer, scenario: sj.Scenario, point_words: Words, numbers: Sequence[int]) -> list[Verdict]:
    """Both sides at one point, compared metric by metric."""
    ours = sj.run(scenario, seeds=numbers).rows()
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        theirs = list(pool.map(lambda seed: peer.run(point_words, seed), numbers))
    finally:
        # Interrupted, or one has failed: start no more.
        pool.shutdown(cancel_futures=True)
    events = min(run["events"] for run in theirs)
    return [
        verdict(
            metric,
            Sample.of([as_counted(peer, metric, run.metrics) for run in ours]),
            Sample.of([run[metric] for run in theirs]),
            events=events,
            bounds=TRANSPORTS,
        )
        for metric in TRANSPORTS
    ]


def listed(point_words: Words) -> str:
    """The point in the peer's keys."""
    return " ".join(f"{key} {value}" for key, value in point_words.items())


def table(verdicts: Sequence[Verdict], peer: str) -> str:
    """One line for each metric."""
    head = ("metric", "ours", peer, "difference", "verdict", "rule")
    body = [
        (
            one.metric,
            f"{one.ours.mean:.5g} +- {one.ours.sd:.2g}",
            f"{one.peer.mean:.5g} +- {one.peer.sd:.2g}",
            f"{one.difference:+.3g}",
            "within" if one.agrees else "OUTSIDE",
            one.rule,
        )
        for one in verdicts
    ]
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *body]
    ]
    return "\n".join(line.rstrip() for line in lines)


if __name__ == "__main__":
    sys.exit(main())
