"""`sojourn design` as a user types it."""

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

import sojourn as sj
from sojourn.cli import main
from sojourn.cli.designing import designed
from sojourn.design import words as design_words
from sojourn.design.judge import watched

BOX = ["--flows", "20..80", "--rtt", "130ms..280ms", "--capacity", "10Mbit/s", "--target", "80ms"]


def test_the_answer_its_vertices_and_the_default_are_printed(sojourn):
    done = sojourn("design", "pi", *BOX)
    assert (done.returncode, done.stderr) == (0, "")
    words = " ".join(done.stdout.split())
    spec = sj.design("pi", flows=(20, 80), rtt_s=(0.13, 0.28), capacity_pps=1250, target="80ms").spec
    assert words.startswith(
        f"{spec} keeps a phase margin of 45 deg and a gain margin of 2 over 20 to 80 flows"
    )
    for vertex in ("20 flows, 130 ms", "20 flows, 280 ms", "80 flows, 130 ms", "80 flows, 280 ms"):
        assert vertex in done.stdout
    for part in (
        "Limiting: 20 flows, 280 ms",
        "Noise at that point: a standard deviation of ",
        "Rule: Hollot et al. 2002",
        "The least is at a vertex",
    ):
        assert part in words
    assert "Default parameters, pi:target=80ms, do not at " in words
    assert "points: worst 20 flows, 280 ms" in words


def test_json_has_all_of_it(sojourn):
    done = sojourn("design", "pi", *BOX, "--margin", "60deg", "--gain-margin", "3", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["met"] is True
    assert found["wanted"] == {"margin_deg": 60, "gain_margin": 3, "settling_s": None}
    assert len(found["corners"]) == 4
    assert found["limiting"]["phase_margin_deg"] >= 60
    assert found["proof"]["grid"] == 225
    assert list(found["gains"]) == ["target", "a", "b", "rate"]
    assert found["verdict"] == "stable"
    assert found["phase_margin_deg"] == pytest.approx(found["limiting"]["phase_margin_deg"], rel=1e-6)
    assert found["gain_margin"] == pytest.approx(found["limiting"]["gain_margin"], rel=1e-6)
    assert found["delay_margin_s"] > 0
    assert found["equilibrium"]["p"] == pytest.approx(found["limiting"]["p"], rel=1e-6)
    assert found["poles"]
    assert found["assumptions"]
    assert found["textbook"]["phase_margin_deg"] > 0
    assert found["noise"]["queue_sd_packets"] > 0
    assert found["proof"]["random"] == 300
    assert found["default"]["met"] is False


def test_a_rate_in_packets_and_drops(sojourn):
    bits = sojourn(
        "design", "pi", *BOX[:4], "--capacity", "12 Mbit/s", "--target", "80ms", "--segment", "1500B"
    )
    packets = sojourn(
        *("design", "pi", *BOX[:4], "--capacity", "1000packets/s", "--target", "80ms", "--segment", "1500")
    )
    assert bits.stdout == packets.stdout
    drops = sojourn("design", "pi", *BOX, "--drops", "--json")
    assert json.loads(drops.stdout)["ecn"] is False


@pytest.mark.parametrize(
    ("rate", "target"),
    [
        ("0.00001Tbit/s", "80ms"),
        ("1.25MB/s", "80000us"),
        ("10Mbps", "100packets"),
        ("1250 packets/s", "100 kB"),
    ],
)
def test_units_are_those_of_scenarios(rate, target):
    """The same link and the same queue in other units, as `bottleneck.rate` and `qdisc.target` may have."""
    given = {"flows": "20..80", "rtt_s": "0.13 s..280ms", "segment_bytes": "1kB"}
    found = designed("pi", given | {"capacity_pps": rate, "target": target}, drops=False)
    assert found.box.capacity_pps == (1250, 1250)
    assert found.box.target.in_packets(1250) == pytest.approx(100)
    assert found.box.rtt_s == (0.13, 0.28)
    assert found.box.segment_bytes == 1000
    sj.load("dumbbell", {"bottleneck.rate": rate, "bottleneck.qdisc": f"pi:target={target}"})


def test_the_settling_time_has_a_unit_too():
    given = {
        "flows": "20",
        "rtt_s": "280ms",
        "capacity_pps": "10Mbps",
        "target": "80ms",
        "settling_s": "1min",
    }
    assert designed("pi", given, drops=False).wanted.settling_s == 60


def test_the_limiting_point_has_its_certificates_warnings():
    found = sj.design("pi", flows=(20, 20), rtt_s=0.065, capacity_pps=2500, target="1packet")
    warning = (
        "Warning for that point: The equilibrium backlog of 1 packets is within the noise of an empty queue"
    )
    assert any(line.startswith(warning) for line in design_words.sentences(found))


def test_margins_of_a_part_of_a_law_are_called_that():
    found = sj.design("pi_pd", flows=(20, 20), rtt_s=0.115, capacity_pps=2500, target="15ms")
    assert "a gain margin of 2, as margins of a part of the law, over" in design_words.sentences(found)[0]


def test_one_flow_is_no_flows():
    found = sj.design("pi", flows=(1, 2), rtt_s=0.1, capacity_pps=250, target="20ms")
    assert design_words.at(found.corners[0]) == "1 flow, 100 ms, 250 packets/s"
    assert design_words.over(found.box).startswith("1 to 2 flows, ")
    assert design_words.over(replace(found.box, flows=(1.0, 1.0))).startswith("1 flow, ")


def test_rates_of_unlike_units_are_a_range(sojourn):
    rates = [
        sojourn("design", "pi", *BOX[:4], "--capacity", text, "--target", "100packets", "--json").stdout
        for text in ("10Mbit/s..2500packets/s", "1250packets/s..2500packets/s")
    ]
    assert json.loads(rates[0])["box"]["capacity_pps"] == [1250, 2500]
    assert rates[0] == rates[1]


def test_emit_prints_the_line_alone(sojourn):
    done = sojourn("design", "pi", *BOX, "--emit", "toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith('qdisc = { law = "pi", target = "80 ms", a = ')
    assert done.stdout.count("\n") == 1


def test_without_gains_to_emit_stdout_is_empty(sojourn):
    done = sojourn("design", "pi", *BOX, "--settling", "1s", "--emit", "toml")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no gains of pi's rule settle within 1 s" in done.stderr


def test_settling_that_no_gains_have_ends_with_1_and_one_line(sojourn):
    done = sojourn("design", "pi", *BOX, "--settling", "1s")
    assert done.returncode == 1
    assert done.stderr.startswith(
        "sojourn design: no gains of pi's rule settle within 1 s: the fastest take "
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_box_that_cannot_be_met_ends_with_1_and_the_largest_box(sojourn):
    wide = ["--flows", "50..500", "--rtt", "20ms..250ms", "--capacity", "500Mbit/s", "--target", "5ms"]
    done = sojourn("design", "cpc", *wide)
    assert done.returncode == 1
    assert done.stderr == "sojourn design: no gains of cpc's rule meet the box\n"
    assert "Largest boxes with one end moved: 50 to 500 flows, 20 to " in " ".join(done.stdout.split())


def test_progress_shows_at_a_terminal():
    """What is written to a terminal that stderr is; nothing to a pipe (above)."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "sojourn", "design", "pi", *BOX]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # Linux reports EIO when the other side has closed.
            while more := os.read(ours, 4096):
                seen += more
        process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    assert b" of at most 100000 evaluations" in seen
    assert b"interval bounds at rate 1 of 1" in seen


def test_a_design_reports_to_its_watch():
    seen = []
    with watched(lambda text, share: seen.append((text, share))):
        found = sj.design("pi", flows=50, rtt_s=0.18, capacity_pps=1250, target="80ms")
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1
    assert f"{found.evaluations} of at most 100000 evaluations" in dict(seen)
    count = len(seen)
    sj.design("pi", flows=50, rtt_s=0.18, capacity_pps=1250, target="80ms")
    assert len(seen) == count


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["pi"], "--flows: is missing; expected such as --flows 50..500 --rtt 20ms..250ms"),
        (["pi", *BOX[:6]], "--target: is missing; expected such as"),
        (["codel", *BOX], 'SPEC: "codel" has no rule of gains; expected one of arm_pfc,'),
        (
            ["pi", *BOX[:-1], "fast"],
            '--target: "fast" is not a number with a unit; write it like "300 packets"',
        ),
        (
            ["pi", *BOX[:-1], "5"],
            '--target: "5" needs a unit (expected packets, packet, B, kB, MB, GB, KiB, MiB, GiB, ns, us, ms',
        ),
        (["pi", *BOX[:-1], "0ms"], '--target: "0ms" is not above 0; expected such as 5ms or 100packets'),
        (
            ["pi", *BOX[:4], "--capacity", "10MBps", *BOX[6:]],
            '--capacity: "MBps" is not a unit of a rate; did you mean "Mbit/s" or, in bytes, "MB/s"? '
            "(expected bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, MB/s, GB/s, packets/s, packet/s)",
        ),
        (
            ["pi", *BOX[:4], "--capacity", "10", *BOX[6:]],
            '--capacity: "10" needs a unit (expected bit/s, kbit/s',
        ),
        (["pi", *BOX, "--margin", "wide"], '--margin: "wide" is no angle; expected degrees such as 45deg'),
        (
            ["pi", *BOX, "--margin", "95"],
            "--margin: 95 is out of range; expected more than 0 and less than 90",
        ),
        (["pi", *BOX, "--settling", "5"], '--settling: "5" needs a unit (expected ns, us, ms, s, min, h)'),
        (["pi", *BOX, "--segment", "9B"], '--segment: "9B" is no size of a packet; expected 100B to 65535B'),
        (["pi", *BOX, "--model", "exact"], '--model: "exact" is unknown; expected calibrated, mgt, full'),
        (["pi", *BOX, "--cc", "tahoe"], '--cc: "tahoe" is not a congestion control'),
        (["pi", "--flows", "60..20", *BOX[2:]], '--flows: "60..20" is no range; expected one value, or the'),
        (["pi", *BOX, "--emit", "csv"], '--emit: "csv" is no form; expected toml, tc, ns3'),
        (
            ["pi", *BOX, "--emit", "tc"],
            "--emit: Linux's tc has no pi; expected red or pie, or the form toml",
        ),
        (["foo", *BOX, "--emit", "tc"], 'SPEC: "foo" has no rule of gains; expected one of arm_pfc, cpc'),
        (["pi:x", *BOX, "--emit", "toml"], 'SPEC: "x" is no parameter; expected KEY=VALUE'),
        (
            ["pi", *BOX, "--cc", "dctcp", "--drops"],
            '--drops: is given, and cc = "dctcp" needs ECN marks; expected no --drops, or another cc',
        ),
        (["pi", *BOX, "--segment", "60"], '--segment: "60" is no size of a packet; expected 100B to 65535B'),
        (
            ["pi", *BOX, "--cc", "cubic", "--model", "mgt"],
            '--cc: "cubic" has no linear model; expected reno, newreno, --model calibrated',
        ),
        (
            ["pi", *BOX[:4], "--capacity", "5000packets/s..20Mbit/s", *BOX[6:]],
            '--capacity: "5000packets/s..20Mbit/s" is no range; expected the smaller rate and the larger, of',
        ),
        (["pi", "--flows", "0", *BOX[2:]], '--flows: "0" is not above 0; expected such as 50..500'),
        (
            ["pi", *BOX[:2], "--rtt", "0ms..9ms", *BOX[4:]],
            '--rtt: "0ms..9ms" is not above 0; expected such as 20ms..250ms',
        ),
        (["pi", *BOX, "--emit", "toml", "--json"], "--emit, --json: both are given; expected one of them"),
        (
            ["pi", "--flows", "9..x", *BOX[2:]],
            '--flows: "9..x" is no range; expected one value, or the smaller and the',
        ),
    ],
)
def test_each_error_is_one_line(words, line, capsys):
    assert main(["design", *words]) == 2
    (text,) = capsys.readouterr().err.splitlines()
    assert text.startswith(f"sojourn design: {line}")
