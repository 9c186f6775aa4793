"""The golden traces reject the faults of published implementations, and name the broken clause."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import cobalt
import codel
import mutants
import pie
import pytest
import red

from sojourn.conform import compare

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
#: Traces of laws; those of whole qdiscs are in test_qdisc_clauses.py.
TRACES = [
    path
    for path in sorted(VECTORS.glob("*/*.jsonl"))
    if {"clause", "law"} <= json.loads(path.open().readline()).keys()
]

# Each law's oracle, and the function that replaces it with a mutant.
ORACLES: dict[str, Callable[..., list[str]]] = {
    "codel": codel.verdicts,
    "red": red.verdicts,
    "cobalt": cobalt.verdicts,
    "pie": pie.verdicts,
}

MUTANTS = [
    (
        mutants.NextFromZero,
        "codel/control_law",
        "RFC 8289, section 5.6: the next drop is due at t + interval/sqrt",
    ),
    (
        mutants.LosesTheNext,
        "codel/condemned_packet",
        "RFC 8289, section 5.5: the packet that is due is dropped",
    ),
    (mutants.RearmsFromNow, "codel/late_drops", "RFC 8289, section 5.5: while the due time has passed"),
    (mutants.NeverForgets, "codel/re_entry", "RFC 8289, section 5.5: back within 16 intervals"),
    (mutants.BeginsAnew, "codel/re_entry", "RFC 8289, section 5.5: back within 16 intervals"),
    (mutants.ForgetsTooSoon, "codel/re_entry", "RFC 8289, section 5.5: back within 16 intervals"),
    (mutants.IgnoresTheMtu, "codel/one_mtu", "RFC 8289, section 5.6: a backlog of at most one maxpacket"),
    (mutants.IgnoresTheLimit, "red/hard_limit", "RFC 7567, section 2: the buffer's limit holds whatever"),
    (mutants.NeverBelow, "red/below_min", "Floyd and Jacobson 1993, figure 2: below min_th"),
    (mutants.NoAverage, "red/below_min", "Floyd and Jacobson 1993, figure 2: below min_th"),
    (mutants.NoCount, "red/between", "Floyd and Jacobson 1993, section 4: between the thresholds p_a"),
    (mutants.GentleIsAll, "red/gentle", "Floyd 2000 (gentle): from max_th to 2 max_th"),
    (mutants.NeverAbove, "red/above", "Floyd and Jacobson 1993, figure 2: from max_th on every packet"),
    (mutants.BypassesByPackets, "pie/bypass_in_bytes", "RFC 8033, section 4.1: a packet is enqueued without"),
    (
        mutants.NeverCalm,
        "pie/calm",
        "RFC 8033, section 4.1: a packet is enqueued without a draw where the last",
    ),
    (
        mutants.AlwaysCalm,
        "pie/calm",
        "RFC 8033, section 4.1: a packet is enqueued without a draw where the last",
    ),
    (
        mutants.UpdatesOnArrival,
        "pie/updates_by_timer",
        "RFC 8033, section 4.2: the drop probability is updated",
    ),
    (mutants.ForgetsTheRamp, "cobalt/ramp_back", "Morton 2018: while the delay is in order the ramp"),
    (
        mutants.CountsFromZero,
        "cobalt/count_at_entry",
        "sch_cake.c, cobalt_should_drop: the count is at least 1",
    ),
    (
        mutants.LeavesOverflowToBlue,
        "cobalt/overflow_signals",
        "sch_cake.c, cobalt_queue_full: an overflow puts",
    ),
    (mutants.SparesAnMtu, "cobalt/four_mtu_times", "sch_cake.c, cobalt_should_drop: a delay of up to four"),
    (
        mutants.LateAtTheTarget,
        "cobalt/above_target",
        "sch_cake.c, cobalt_should_drop: a delay is out of order",
    ),
    (mutants.DropsTheLast, "cobalt/last_packet", "sch_cake.c, cake_dequeue: the last packet of a queue"),
    (
        mutants.MakesUpForMarks,
        "cobalt/late_steps",
        "sch_cake.c, cobalt_should_drop: steps whose time has passed",
    ),
    (
        mutants.ForgivesDrops,
        "cobalt/late_steps",
        "sch_cake.c, cobalt_should_drop: steps whose time has passed",
    ),
    (
        mutants.StepsBackFirst,
        "cobalt/step_due_at_entry",
        "sch_cake.c, cobalt_should_drop: a step that is due as",
    ),
    (
        mutants.WaitsAfterRest,
        "cobalt/out_of_order_after_rest",
        "sch_cake.c, cobalt_should_drop: where nothing",
    ),
    (mutants.ExemptsEcn, "cobalt/blue_is_blind_to_ecn", "Morton 2016: BLUE's half ignores ECN"),
    (mutants.NeverAges, "red/idle", "Floyd and Jacobson 1993, figure 2: after an idle time the average"),
]


def differences(path: Path, *mutant: type) -> list[str]:
    """Differences of the trace from its law's oracle, or from a mutant of it."""
    header, *calls = map(json.loads, path.read_text().splitlines())
    return compare(path, ORACLES[header["law"]](header, calls, *mutant))


@pytest.mark.parametrize("path", TRACES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_oracle_passes_every_clause(path: Path) -> None:
    assert differences(path) == []


@pytest.mark.parametrize(
    ("mutant", "trace", "clause"), [pytest.param(*row, id=row[0].__name__) for row in MUTANTS]
)
def test_a_mutant_is_rejected_by_the_clause_that_it_breaks(mutant: type, trace: str, clause: str) -> None:
    path = VECTORS / f"{trace}.jsonl"
    first, *_ = differences(path, mutant)
    assert first.startswith(f"{path}:")
    assert f" ({clause}" in first


def test_every_clause_has_its_mutant() -> None:
    traces = {f"{path.parent.name}/{path.stem}" for path in TRACES}
    assert {trace for _, trace, _ in MUTANTS} == traces
