"""Lines of `sojourn design --emit ns3`, compiled into ns-3 and run by it.

Marked `peers`: skipped by name without ns-3. `make peers` runs it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import sojourn as sj
from simulators import as_counted, peers

ROOT = Path(__file__).resolve().parents[2]
NS3 = peers()["ns3-3.37"]

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(NS3.command is None, reason=f"ns-3 is not installed: {NS3.remedy}"),
    pytest.mark.skipif("LONG" not in os.environ, reason="a minute of ns-3: make peers"),
]

#: Box of each design, and a point of it: flows, base RTT, s, and times of the run, s.
DESIGNS = {
    "pie:derandomize=false": (
        {"flows": (5, 10), "rtt_s": (0.025, 0.035), "capacity_pps": 1250, "target": "15ms"},
        (8, 0.03, 50, 200),
    ),
    "red": (
        {"flows": (20, 80), "rtt_s": (0.13, 0.28), "capacity_pps": 1250, "target": "80ms"},
        (40, 0.2, 150, 500),
    ),
}
SEEDS = (1, 2, 3)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ns-3's dumbbell with the designs."""
    folder = tmp_path_factory.mktemp("ns3")
    lines = folder / "emitted.h"
    lines.write_text(
        "".join(
            f'if (law == "{law}") {{ {sj.design(law, **box).emit("ns3")} }} else\n'
            for law, (box, _) in DESIGNS.items()
        )
    )
    subprocess.run(
        ["sh", ROOT / "peers/ns3/build.sh", folder],
        env=os.environ | {"EMITTED": str(lines)},
        check=True,
        capture_output=True,
    )
    return folder / "3.37" / "dumbbell"


@pytest.mark.parametrize("law", DESIGNS)
def test_ns3_holds_the_queue_of_the_design(law: str, program: Path) -> None:
    """The mean queue of ns-3 with the line is that of our packets with the spec."""
    box, (flows, rtt, warmup, duration) = DESIGNS[law]
    found = sj.design(law, **box)
    ours = sj.run(scenario(flows, rtt, (warmup, duration)), qdiscs=[found.spec], seeds=SEEDS)
    means = {
        name: sum(ours.values(ours.qdiscs[0], name).values()) / len(SEEDS)
        for name in ("queue_mean_packets", "queue_empty_ratio")
    }
    expected = as_counted(NS3, "queue_mean_packets", means)
    words = {
        "law": law,
        "flows": flows,
        "delay": rtt / 4,
        "access_from": rtt / 8,
        "access_to": rtt / 8,
        "packet": 1000,
        "ecn": 1,
        "warmup": warmup,
        "duration": duration,
    }
    seen = [queue(program, words | {"seed": seed}) for seed in SEEDS]
    print(f"{law}: ns-3 {seen}, ours {expected:.1f} packets")
    assert sum(seen) / len(seen) == pytest.approx(expected, rel=0.1)


def queue(program: Path, words: dict[str, object]) -> float:
    """Mean queue of a run, packets."""
    given = [str(word) for pair in words.items() for word in pair]
    done = subprocess.run([program, *given], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[1])


def scenario(flows: int, rtt: float, times: tuple[int, int]) -> sj.Scenario:
    """A point of a box as the dumbbell of ns-3 has it."""
    return sj.Scenario.from_dict(
        {
            "title": "A point of the box",
            "warmup": f"{times[0]} s",
            "duration": f"{times[1]} s",
            "bottleneck": {
                "rate": "10 Mbit/s",
                "delay": f"{rtt / 4} s",
                "buffer": "1000 packets",
                "qdisc": "tail_drop",
            },
            "flows": [
                {
                    "count": flows,
                    "app": "bulk",
                    "cc": "newreno",
                    "ecn": True,
                    "profile": NS3.settings["profile"],
                    "segment": "1000 B",
                    "start": {"spread": ["0 s", "1 s"]},
                    "access": {"delay": f"{rtt / 4} s"},
                }
            ],
        }
    )
