"""Our TCP and qdiscs against those of a Debian kernel, tests/reference/kernel_tcp.csv.

`./ci.sh kernel_tcp` boots the kernel and compares anew.
"""

from __future__ import annotations

import gzip
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bounds import Sample
from kernel.tcp_cases import CASES, HOSTS, METRICS, TcpCase, TcpRecord, read_tcp_record
from kernel.vm import Failed
from kernel_tcp import SEEDS, Row, check, kept, our_samples, page_line

PAGE = Path(__file__).resolve().parents[2] / "docs/deviations/linux_qdiscs.md"


def named(name: str) -> TcpCase:
    (case,) = [case for case in CASES if case.name == name]
    return case


@cache
def ours(name: str) -> dict[str, Sample]:
    return our_samples(named(name), SEEDS)


def test_the_table_has_every_case_with_its_replicates() -> None:
    kernel, samples = kept()
    assert kernel.startswith("6.1.")
    assert list(samples) == [case.name for case in CASES]
    for case in CASES:
        assert set(samples[case.name]) == {(host, metric) for host in HOSTS for metric in METRICS}
        assert {sample.n for sample in samples[case.name].values()} == {case.replicates}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_our_hosts_have_the_goodputs_of_the_kernel_s(case: TcpCase) -> None:
    _, samples = kept()
    rows = [Row(case, host, samples[case.name][host, "goodput_bps"], ours(case.name)[host]) for host in HOSTS]
    for row in rows:
        assert row.agrees == case.agrees, row.text()
    assert page_line(case, rows) in PAGE.read_text().splitlines()


@pytest.mark.slow
def test_ours_is_below_the_mean_of_the_kernel_s_three_sets() -> None:
    """cake at 10 Mbit/s: the page has the means of its sets of eight replicates, the table the last set."""
    _, samples = kept()
    sets = (1.54, 1.80, 2.62)
    assert samples["cake_cubic_10"]["one", "goodput_bps"].mean == pytest.approx(sets[-1] * 1e6, abs=5e3)
    pooled = sum(sets) / len(sets) * 1e6
    counts = {f"flows.{flow}.tcp.cubic_counts_segments": "true" for flow in (0, 1)}
    case = named("cake_cubic_10")
    whole = our_samples(replace(case, settings={**case.settings, **counts}), SEEDS)["one"]
    assert ours(case.name)["one"].interval()[1] < pooled < whole.interval()[0], f"{ours(case.name)}, {whole}"


@pytest.mark.slow
def test_a_host_with_one_flow_has_less_than_its_half_in_both() -> None:
    """1 and 32 flows at 10 Mbit/s: the half is 4.78 Mbit/s; at 20 Mbit/s both come near to theirs."""
    _, samples = kept()
    for rate, low, high in ((10, 0.1, 0.8), (20, 0.7, 0.9)):
        name = f"cake_cubic_{rate}"
        for found in (samples[name]["one", "goodput_bps"], ours(name)["one"]):
            assert low < found.mean / (rate * 1e6 * 1448 / 1514 / 2) < high, f"{name}: {found}"


@pytest.mark.slow
def test_without_prr_after_an_echo_ours_is_outside() -> None:
    case = named("fq_codel_10_80_80")
    settings = {key: value for key, value in case.settings.items() if not key.endswith("ecn_prr")}
    assert len(settings) == len(case.settings) - 2
    found = our_samples(replace(case, settings=settings), SEEDS[:2])
    _, samples = kept()
    assert not any(
        Row(case, host, samples[case.name][host, "goodput_bps"], found[host]).agrees for host in HOSTS
    )


def test_the_output_of_the_vm_becomes_a_record() -> None:
    text = "6.1.0\ncase pair\nflow 2 3000 5 40000 1\nflow 1 6000 7 20000 0\nstate\nqdisc cake 1:\nend\n"
    kernel, record = read_tcp_record(gzip.compress(text.encode()))
    assert kernel == "6.1.0"
    assert record.flows == [(2, 3000, 5, 40000, 1), (1, 6000, 7, 20000, 0)]
    assert record.state == ["qdisc cake 1:"]
    case = replace(CASES[0], name="pair", flows=(1, 1), duration_s=40, warmup_s=10)
    check(case, record)
    found = record.metrics(case)
    assert found["one", "goodput_bps"] == 8 * 6000 / 30
    assert found["other", "srtt_mean_s"] == 0.04
    with pytest.raises(Failed, match=r"a record of \[1, 1\] flows of the hosts, not of \[1, 2\]"):
        check(replace(case, flows=(1, 2)), record)
    with pytest.raises(Failed, match="other: the VM has run pair"):
        check(replace(case, name="other"), record)


def test_an_error_in_the_vm_is_its_line() -> None:
    with pytest.raises(ValueError, match="output of the VM: bulk: connect"):
        read_tcp_record(gzip.compress(b"6.1.0\ncase pair\nbulk: connect: no route\n"))


def test_a_line_of_the_vm_has_delays_commands_and_flows() -> None:
    name, delays, commands, arguments = named("fq_codel_10_160_10").line().strip().split("|")
    assert (name, delays) == ("fq_codel_10_160_10", "160ms 10ms")
    assert commands.endswith("fq_codel")
    assert arguments == "180 120 1:1:cubic:ecn 2:1:cubic:ecn"
    assert TcpRecord("x").flows == []
