"""The points of a bare `make peers`, run by installed peers and by Sojourn; and unsupported options.

Those that run a peer are marked `peers` and skipped by name if it is not installed.
"""

from __future__ import annotations

import pytest

from compare import DISAGREES, INEXPRESSIBLE, MISSING, POINTS, main
from simulators import Peer, as_counted, peers


@pytest.mark.peers
@pytest.mark.parametrize("options", POINTS, ids=" ".join)
def test_point(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    if not peers()[options[1]].command:
        pytest.skip(f"{options[1]} comparison ({peers()[options[1]].remedy})")
    code = main(options)
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--bogus", "unrecognized arguments: --bogus"),
        ("--peer=ns5", '"ns5" is no peer; expected ns2'),
        ("--seeds=5", '"5" is not a range'),
        ("--seeds=3..3", "not a range of two or more"),
        ("--rate=fast", '"fast" is in no unit of bit/s'),
        ("--qdisc=red", "red needs min, max"),
        ("--qdisc=", "--qdisc"),
        ("--qdisc=codel:target=1ms", "less than the packet that ns-3 holds"),
        ("--qdisc=arm_pfc", "ns-3 has no arm_pfc"),
        (
            "--peer=ns2 --scenario=scenarios/peers/capacity.toml --qdisc=avq",
            "avq uses the rate at the start",
        ),
        ("--set=foo", '"foo" is not KEY=VALUE'),
        ("--flows=0", "out of range"),
        ("--warmup=40s", "not below the duration"),
    ],
)
def test_an_invalid_option_is_one_line(
    options: str, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {name: Peer(name, peer.settings, peer.remedy, ("false",)) for name, peer in peers().items()}
    monkeypatch.setattr("compare.peers", lambda: here)
    try:
        code = main(options.split())
    except SystemExit as exit_:
        code = int(exit_.code or 0)
    output = capsys.readouterr()
    assert (code, output.out) == (INEXPRESSIBLE, "")
    assert words in output.err
    assert output.err.count("\n") == 1


def test_a_missing_peer_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "compare.peers", lambda: {"ns2": Peer("ns2", {"profile": "ns2"}, "apt-get install ns2", None)}
    )
    assert main(["--peer=ns2"]) == MISSING
    assert "apt-get install ns2" in capsys.readouterr().err
    assert main([]) == MISSING


def test_a_peer_that_fails_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = peers()["ns2"].settings
    broken = Peer("ns2", settings, "", ("sh", "-c", "echo broken >&2; exit 5"))
    monkeypatch.setattr("compare.peers", lambda: {"ns2": broken})
    short = ["--peer=ns2", "--duration=2s", "--warmup=1s", "--flows=1", "--seeds=1..2"]
    assert main(short) == DISAGREES
    assert capsys.readouterr().err == "compare: ns2, seed 1: broken\n"


def test_ns3_leaves_out_the_packet_in_its_device() -> None:
    ours = {"queue_mean_packets": 4.0, "queue_empty_ratio": 0.25}
    assert as_counted(peers()["ns3-3.44"], "queue_mean_packets", ours) == 3.25
    assert as_counted(peers()["ns2"], "queue_mean_packets", ours) == 4.0
