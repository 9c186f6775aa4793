"""Comparison of a law with ns-3: the peers' table beside runs made while the page is built."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import sojourn as sj
from sojourn.result.statistics import estimate

ROWS = Path(__file__).resolve().parents[2] / "tests" / "reference" / "peers.csv"
SCENARIO = "peers/s7"
PEER, TRANSPORT = "ns3 3.44", "newreno"
#: Our SPECs of ns-3's laws.
QDISCS = {"codel": "codel", "pie": "pie:derandomize=false,mark_below_p=0"}
SEEDS = range(1, 6)
#: Metric, title, factor, format.
SHARES = (("drop_ratio", "drop ratio", 1, ".2e"), ("utilization", "utilisation", 1, ".3f"))
DELAYS = (("sojourn_mean_s", "delay, ms", 1e3, ".1f"), ("queue_std_packets", "its sd, packets", 1, ".1f"))
#: Columns of each law. Our delay is that of packets, ns-3's that of its queue, too short under CoDel.
COLUMNS = {"codel": SHARES, "pie": (*DELAYS, *SHARES)}


def table(law: str) -> str:
    """A row for each round-trip time and number of flows."""
    theirs: dict[tuple[int, int], dict[str, float]] = {}
    with ROWS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            point = re.fullmatch(r"S7_10M_rtt(\d+)ms_n(\d+)", row["scenario"])
            if point and (row["peer"], row["qdisc"], row["transport"]) == (PEER, law, TRANSPORT):
                theirs.setdefault((int(point[1]), int(point[2])), {})[row["metric"]] = float(row["mean"])
    columns = COLUMNS[law]
    titles = [f"{title}: ours | ns-3" for _, title, _, _ in columns]
    lines = [f"| round trip, flows | {' | '.join(titles)} |", "|---" * (1 + 2 * len(columns)) + "|"]
    for (rtt_ms, flows), found in sorted(theirs.items()):
        mine = ours(law, rtt_ms, flows)
        cells = [
            f"{factor * mine[metric]:{form}} | {factor * found[metric]:{form}}"
            for metric, _, factor, form in columns
        ]
        lines.append(f"| {rtt_ms} ms, {flows} | {' | '.join(cells)} |")
    return "\n".join(lines)


def ours(law: str, rtt_ms: int, flows: int) -> dict[str, float]:
    """The means of our runs."""
    changes: dict[str, str | int] = {
        "flows[0].profile": "ns3",
        "flows[0].count": flows,
        "bottleneck.delay": f"{rtt_ms / 4} ms",
        "flows[0].access.delay": f"{rtt_ms / 8} ms",
    }
    result = sj.run(sj.load(SCENARIO, changes), qdiscs=[QDISCS[law]], seeds=SEEDS)
    return {
        metric: estimate([row.metrics[metric] for row in result.rows()]).mean for metric, *_ in COLUMNS[law]
    }
