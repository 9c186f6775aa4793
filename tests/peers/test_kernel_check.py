"""Our qdiscs against the records of a Debian kernel, tests/reference/kernel_check.csv.

`make kernel-check` boots the kernel and compares anew.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bounds import Sample
from kernel.arrivals import ECT_0, RATE_BPS, TRACES, Packet, recorded
from kernel.cases import BURST, CASES, Case
from kernel.ours import replay
from kernel.outcome import Fate, metrics, read_records
from kernel_check import TOLERANCE, Failed, Row, check, kept, our_samples, page_line

PAGE = Path(__file__).resolve().parents[2] / "docs/deviations/linux_qdiscs.md"
#: Seeds of ours; those without draws need one.
SEEDS = range(1, 5)
WITHOUT_DRAWS = {"codel", "fq_codel"}
#: Drops and marks together that each case has at least.
FEWEST = 400
#: SHA-256 of the traces that the kernel's records are of, the first digits.
DIGESTS = {"drops": "f99b88272142d316", "marks": "9ad97d3aaea4dc72", "sizes": "8da96df42b6e1fbc"}


@cache
def packets(trace: str) -> list[Packet]:
    return list(TRACES[trace].packets())


def named(name: str) -> Case:
    (case,) = [case for case in CASES if case.name == name]
    return case


@pytest.mark.parametrize("trace", TRACES)
def test_a_trace_is_the_recorded_one(trace):
    digest = hashlib.sha256(recorded(packets(trace)).encode()).hexdigest()
    assert digest.startswith(DIGESTS[trace])
    assert len(DIGESTS[trace]) == 16


def test_the_load_of_a_trace_is_that_of_its_phases():
    sent = sum(packet.size for packet in packets("drops") if packet.time_ns < 2e9)
    assert sent * 8 / 2 / RATE_BPS == pytest.approx(1.15, abs=0.03)
    assert {packet.flow for packet in packets("marks")} == set(range(8))
    assert {packet.ecn for packet in packets("marks")} == {ECT_0}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_our_qdisc_is_that_of_the_kernel(case):
    _, samples = kept()
    ours = our_samples(case, SEEDS[:1] if case.law in WITHOUT_DRAWS else SEEDS)
    found = [Row(case, metric, samples[case.name, metric], ours[metric]) for metric in case.metrics]
    for row in found:
        assert row.agrees, row.text()
    assert page_line(case, found) in PAGE.read_text().splitlines()


@pytest.mark.slow
def test_with_the_period_of_tc_pie_is_outside():
    case, metric = named("pie drops"), "sojourn_p50_s"
    assert "period=20ms" in case.spec
    ours = our_samples(replace(case, spec=case.spec.replace("20ms", "16ms")), SEEDS)[metric]
    assert not Row(case, metric, kept()[1][case.name, metric], ours).agrees


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "metric", "setting", "other", "values"),
    [
        # Newton's roots, and exact ones.
        ("codel drops", "drops", "newton=true", "newton=false", [1158, 1154]),
        ("codel marks", "marks", "newton=true", "newton=false", [1941, 1935]),
        ("fq_codel sizes", "marks", "newton=true", "newton=false", [2454, 2716]),
        # An exempt MTU of all queues, and one of each.
        ("fq_codel drops", "sojourn_p95_s", "mtu=1B", "mtu=1514B", [0.184, 0.223]),
    ],
)
def test_the_kernel_s_choice_is_nearer_to_the_kernel(name, metric, setting, other, values):
    case = named(name)
    assert setting in case.spec
    changed = replace(case, spec=case.spec.replace(setting, other))
    found = [our_samples(spec, SEEDS[:1])[metric].mean for spec in (case, changed)]
    assert found == pytest.approx(values, rel=0.004)
    kernel = kept()[1][name, metric].mean
    assert abs(found[0] - kernel) < abs(found[1] - kernel)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_records_are_of_eight_replicates_and_enough_events(case):
    _, samples = kept()
    drops, marks = samples[case.name, "drops"], samples[case.name, "marks"]
    assert drops.n == 8
    assert drops.mean + marks.mean >= FEWEST


def test_the_output_of_the_vm_becomes_records():
    text = (
        "6.1.0\ncase red drops\n10 -\n20 2020 3\n30 1030 2\nstate\nqdisc red (dropped 1, overlimits 2)\nend\n"
    )
    kernel, (record,) = read_records(gzip.compress(text.encode()))
    assert kernel == "6.1.0"
    assert record.fates == [Fate(10, None, None), Fate(20, 2020, 3), Fate(30, 1030, 2)]
    assert record.reported_drops() == 1
    trace = [Packet(time, 1000, 0, ECT_0) for time in (5, 20, 30)]
    assert record.lateness_ns(trace) == 5
    check(record, trace)
    with pytest.raises(Failed, match="a record of 3 packets, not of 2"):
        check(record, trace[:2])
    record.fates[0] = Fate(300_000, None, None)
    with pytest.raises(Failed, match="a packet came 299995 ns late"):
        check(record, trace)
    record.fates[0] = Fate(10, 11, 0)
    with pytest.raises(Failed, match="0 packets are missing, tc reports 1"):
        check(record, trace)


def test_an_error_in_the_vm_is_its_line():
    text = "6.1.0\ncase red drops\nfailed tc qdisc add\n"
    with pytest.raises(ValueError, match="output of the VM: failed tc qdisc add"):
        read_records(gzip.compress(text.encode()))


def test_quantiles_are_of_the_packets_that_left():
    fates = [Fate(0, None, None), *(Fate(0, sojourn * 1_000_000, 2) for sojourn in range(1, 101))]
    found = metrics(fates)
    assert (found["drops"], found["marks"]) == (1, 0)
    assert [found[f"sojourn_p{part}_s"] for part in (50, 95, 99)] == [0.050, 0.095, 0.099]


def test_marks_that_pie_cannot_have_spaced_are_left_out():
    marked = {3, 20, 21, 22, 40}
    found = metrics([Fate(0, 1, 3 if number in marked else 2) for number in range(50)])
    assert (found["marks"], found["spaced_marks"]) == (5, 3)


def test_an_interval_agrees_if_both_of_its_ends_do():
    case, ours = CASES[0], Sample(1, 100.0, 0.0)
    assert Row(case, "drops", Sample(1, 114.0, 0.0), ours).agrees
    assert not Row(case, "drops", Sample(1, 116.0, 0.0), ours).agrees
    # 2.365 x 20 / sqrt(8) is 16.7.
    assert not Row(case, "drops", Sample(8, 100.0, 20.0), ours).agrees
    assert Row(case, "drops", Sample(8, 100.0, 15.0), ours).agrees
    assert TOLERANCE == 0.15
    # Few events say nothing.
    assert Row(case, "drops", Sample(1, 10.0, 0.0), Sample(1, 40.0, 0.0)).agrees


def test_the_bucket_holds_the_packet_on_the_wire():
    """Worked by hand: 1000 B take 800 us; 1600 B of tokens let one packet pass, and 480 us of a second."""
    case = Case("codel", "drops", "", "drr:law=tail_drop,by=class")
    fates = replay(case, [Packet(0, 1000, 0, 0)] * 3, seed=0)
    full_ns, wire_ns = BURST * 8e9 / RATE_BPS, 800_000
    assert full_ns == 1_280_000
    first = 2 * wire_ns - full_ns
    assert [fate.departed_ns for fate in fates] == [0, first, first + wire_ns]


def test_draws_follow_the_seed():
    first, again, other = (
        metrics(replay(named("red drops"), packets("drops")[:3000], seed)) for seed in (1, 1, 2)
    )
    assert first == again != other
