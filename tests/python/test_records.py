"""Records of runs, judged by the tools that read them: tshark for captures, a JSON Schema for logs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import fastjsonschema
import polars as pl
import pytest

import sojourn as sj
from sojourn.result import Result

#: One flow over an access link that adds nothing: the sender is where the link begins.
ONE = {
    "duration": "20 s",
    "warmup": "0 s",
    "at": "[]",
    "bottleneck": '{ rate = "10 Mbit/s", delay = "20 ms", buffer = "60 packets", qdisc = "codel" }',
    "flows": '[{ count = 1, profile = "ns2", access = { rate = "1 Tbit/s", delay = "0 s" } }]',
}
#: Five flows of CUBIC (SACK, timestamps), with ECN or without.
FIVE = {
    "duration": "10 s",
    "warmup": "0 s",
    "at": "[]",
    "bottleneck": '{ rate = "10 Mbit/s", delay = "20 ms", buffer = "100 packets", qdisc = "codel" }',
    "flows": '[{ count = 5, ecn = true, cc = "cubic", tcp = { timestamps = true, delayed_ack = false }, '
    'access = { rate = "1 Gbit/s", delay = "5 ms" } }]',
}
DROPS = FIVE | {"flows": FIVE["flows"].replace("ecn = true", "ecn = false")}


@pytest.fixture(scope="module")
def tshark() -> Callable[..., list[list[str]]]:
    """Rows of fields that tshark reads from a capture, checksums verified; it prints nothing else."""
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed: apt-get install tshark")

    def read(path: Path, *fields: str, only: str = "") -> list[list[str]]:
        checked = [f"{name}.check_checksum:TRUE" for name in ("ip", "tcp", "udp")]
        words = ["tshark", "-r", str(path), "-T", "fields"]
        words += [word for one in checked for word in ("-o", one)]
        words += [word for one in fields for word in ("-e", one)]
        done = subprocess.run(
            words + (["-Y", only] if only else []), capture_output=True, text=True, check=True
        )
        noise = [line for line in done.stderr.splitlines() if not line.startswith("Running as user")]
        assert noise == []
        return [line.split("\t") for line in done.stdout.splitlines()]

    return read


def recorded(changes: dict[str, str], folder: Path, *record: str, seed: int = 1) -> Result:
    """A run of a dumbbell with its records in the folder."""
    return sj.run(sj.load("dumbbell", changes), seeds=[seed], record=record, into=folder)


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Result, Path, Path]]:
    """Result, capture behind the qdisc and capture in front of it, of ONE, FIVE or DROPS."""
    known: dict[str, tuple[Result, Path, Path]] = {}

    def find(name: str) -> tuple[Result, Path, Path]:
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            result = recorded(globals()[name], folder, "pcap=bottleneck", "arrivals=bottleneck")
            names = ("bottleneck.codel.seed1.pcapng", "bottleneck.arrivals.codel.seed1.pcapng")
            assert sorted(os.listdir(folder)) == sorted(names)
            known[name] = (result, *(folder / one for one in names))
        return known[name]

    return find


@pytest.mark.parametrize("name", ["ONE", "FIVE", "DROPS"])
def test_tshark_reads_captures_without_a_remark(
    tshark: Callable[..., Any], captured: Callable[..., Any], name: str
) -> None:
    """Expert information is on sequences alone, as losses cause it; checksums are right."""
    _, *files = captured(name)
    for path in files:
        rows = tshark(path, "_ws.expert.group", "_ws.malformed", "tcp.checksum.status", "ip.checksum.status")
        sequence = str(0x02000000)
        assert {group for row in rows for group in row[0].split(",")} <= {"", sequence}
        assert {row[1] for row in rows} == {""}
        # 1: good; 2: payload not captured, unverified.
        assert {row[2] for row in rows} == {"1", "2"}
        assert {row[3] for row in rows} == {"1"}


def test_captures_are_in_order_of_time(tshark: Callable[..., Any], captured: Callable[..., Any]) -> None:
    for path in captured("FIVE")[1:]:
        times = [float(row[0]) for row in tshark(path, "frame.time_epoch")]
        assert times == sorted(times)
        assert 0 < times[0] < times[-1] <= 10


@pytest.mark.parametrize("name", ["ONE", "FIVE", "DROPS"])
def test_packets_and_marks_are_those_of_the_result(
    tshark: Callable[..., Any], captured: Callable[..., Any], name: str
) -> None:
    result, behind, before = captured(name)
    (row,) = result.rows("bottleneck")
    outbound = "ip.src < 10.128.0.0"
    sent = tshark(behind, "ip.dsfield.ecn", only=outbound)
    assert len(sent) == row.conservation["delivered"]
    assert len(tshark(before, "ip.src", only=outbound)) == row.conservation["offered"]
    marks = row.metrics["mark_ratio"] * row.conservation["offered"]
    assert sum(ecn == "3" for (ecn,) in sent) == pytest.approx(marks, abs=1e-6)
    assert (marks > 0) == (name == "FIVE")
    losses = row.metrics["drop_ratio"] * row.conservation["offered"]
    assert losses == pytest.approx(row.conservation["dropped"], abs=1e-6)


def test_marks_are_echoed(tshark: Callable[..., Any], captured: Callable[..., Any]) -> None:
    """RFC 3168: the receiver echoes marks until the sender says that it has reduced its window."""
    _, behind, _ = captured("FIVE")
    echoes = tshark(behind, "frame.number", only="tcp.flags.ece == 1 && tcp.flags.syn == 0")
    reduced = tshark(behind, "frame.number", only="tcp.flags.cwr == 1 && tcp.flags.syn == 0")
    assert len(echoes) >= len(reduced) > 0


def test_options_of_the_handshake(tshark: Callable[..., Any], captured: Callable[..., Any]) -> None:
    """MSS, SACK permitted, timestamps and window scale, as Linux sends them; data has timestamps alone."""
    _, behind, _ = captured("FIVE")
    kinds = ("tcp.options.mss_val", "tcp.options.sack_perm", "tcp.option_kind", "tcp.hdr_len")
    syns = tshark(behind, *kinds, only="tcp.flags.syn == 1")
    assert len(syns) == 10
    for mss, permitted, kind, length in syns:
        assert (mss, permitted, kind, length) == ("1460", "0402", "2,4,8,1,3", "40")
    data = tshark(behind, "tcp.option_kind", "ip.len", only="tcp.len > 0")
    assert {tuple(row) for row in data} == {("1,1,8", "1500")}


def test_blocks_of_sack_are_of_data_above_the_acknowledgment(
    tshark: Callable[..., Any], captured: Callable[..., Any]
) -> None:
    _, behind, _ = captured("DROPS")
    fields = ("tcp.ack", "tcp.options.sack_le", "tcp.options.sack_re")
    rows = tshark(behind, *fields, only="tcp.options.sack_le")
    assert rows
    for _, left, right in rows:
        pairs = zip(left.split(","), right.split(","), strict=True)
        assert all(int(one) < int(other) for one, other in pairs)


#: Filters that the how-to names.
OF_ROUND_TRIPS = "tcp.analysis.ack_rtt && ip.src >= 10.128.0.0"
OF_RETRANSMISSIONS = "tcp.len > 0 && (tcp.analysis.retransmission || tcp.analysis.out_of_order)"


@pytest.mark.parametrize("name", ["ONE", "FIVE"])
def test_round_trips_are_those_of_the_result(
    tshark: Callable[..., Any], captured: Callable[..., Any], name: str
) -> None:
    """tshark's time from data to its ACK, at the sender or behind an access link that adds its delay alone.

    Not under many losses: tshark times what a cumulative ACK covers, the result every packet.
    """
    result, _, before = captured(name)
    (row,) = result.rows("bottleneck")
    rows = tshark(before, "tcp.analysis.ack_rtt", only=OF_ROUND_TRIPS)
    measured = [float(rtt) for (rtt,) in rows]
    access = 0.0 if name == "ONE" else 0.010
    assert len(measured) > 1000
    assert median(measured) == pytest.approx(row.metrics["rtt_p50_s"] - access, rel=0.01)


def test_recording_changes_no_result(tmp_path: Path) -> None:
    plain = sj.run(sj.load("dumbbell", FIVE), seeds=[1])
    result = recorded(FIVE, tmp_path / "records", "pcap=bottleneck", "arrivals=bottleneck.back")
    assert result.to_json() == plain.to_json()
    assert result.series.equals(plain.series)
    assert result.distributions.equals(plain.distributions)


def test_a_capture_is_a_function_of_its_run(tmp_path: Path) -> None:
    for place in ("one", "two"):
        recorded(FIVE, tmp_path / place, "pcap=bottleneck")
    (one,), (two,) = (list((tmp_path / place).iterdir()) for place in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("name", ["home/evening", "links/wifi", "traffic/voices"])
def test_other_traffic_is_read_too(name: str, tshark: Callable[..., Any], tmp_path: Path) -> None:
    """Requests, calls, games and lossy links of the gallery."""
    known = json.loads(sj.load(name).to_json())
    links = [link["name"] for link in known.get("links", [])] or ["bottleneck"]
    scenario = sj.load(name, {"duration": "4 s", "warmup": "1 s"})
    sj.run(scenario, record=f"pcap={links[0]}", into=tmp_path)
    (path,) = tmp_path.iterdir()
    rows = tshark(path, "_ws.expert.group", "tcp.checksum.status", "udp.checksum.status", "ip.proto")
    assert len(rows) > 100
    assert {group for row in rows for group in row[0].split(",")} <= {"", str(0x02000000)}
    assert {row[1] for row in rows} | {row[2] for row in rows} <= {"", "1", "2"}


def test_the_command_writes_records_into_its_folder(sojourn: Callable[..., Any], folder: Path) -> None:
    flags = ("--seeds", "1..2", "--qdisc", "pi:target=20packets", "--out", "out")
    assert sojourn("run", "small.toml", *flags, "--record", "pcap=bottleneck").returncode == 0
    records = sorted(path.name for path in (folder / "out").glob("*.pcapng"))
    assert records == [f"bottleneck.pi-target-20-packets.seed{seed}.pcapng" for seed in (1, 2)]
    # The folder is a result like any other, and the next one replaces all of it.
    assert sojourn("report", "out").returncode == 0
    assert sojourn("run", "small.toml", *flags).returncode == 0
    assert not list((folder / "out").glob("*.pcapng"))
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (["pcap=nowhere", "--out", "out"], '--record pcap: "nowhere" is no link (expected bottleneck'),
        (["pcap", "--out", "out"], '--record: "pcap" names no LINK; expected pcap=LINK'),
        (["film=bottleneck", "--out", "out"], '--record: "film=bottleneck" is no record; expected pcap=LINK'),
        (["pcap=bottleneck"], "--record: no folder for its files is given; expected --out DIR, too"),
        (
            ["pcap=bottleneck", "--plant", "fluid", "--out", "out"],
            "--record: pcap is of the plant packet alone",
        ),
        (
            ["pcap=bottleneck", "--record", "pcap=bottleneck", "--out", "out"],
            '--record: "pcap=bottleneck" is given twice',
        ),
    ],
)
def test_a_wrong_record_is_one_line(
    sojourn: Callable[..., Any], folder: Path, flags: list[str], line: str
) -> None:
    done = sojourn("run", "small.toml", "--record", *flags)
    assert done.returncode == 2
    (found,) = done.stderr.splitlines()
    assert found.startswith(f"sojourn run: {line}")
    assert not (folder / "out").exists()


def test_arguments_in_python_go_together() -> None:
    scenario = sj.load("dumbbell")
    with pytest.raises(
        sj.InputError, match=r"^record: no folder for the files is given; expected it as into="
    ):
        sj.run(scenario, record="pcap=bottleneck")
    with pytest.raises(sj.InputError, match=r"^into: no record is given; expected record="):
        sj.run(scenario, into="out")
    with pytest.raises(sj.InputError, match=r"^record: 7 is no text"):
        sj.run(scenario, record=[7], into="out")  # type: ignore[list-item]


def test_records_replace_earlier_ones_when_their_runs_have_ended(tmp_path: Path) -> None:
    """Captures and logs as tables; a run that fails, and files of others, change nothing there."""
    record, folder = ("pcap=bottleneck", "qlog=bulk", "flows"), tmp_path / "into"
    once = {"duration": "2 s", "warmup": "0 s", "at": "[]"}
    recorded(once, folder, *record)
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(first) == 3
    (folder / "notes.txt").write_text("mine")
    recorded(once | {"flows[0].count": "2"}, folder, *record)
    assert {path.name for path in folder.iterdir()} == {*first, "notes.txt"}
    second = {name: (folder / name).read_bytes() for name in first}
    assert all(first[name] != second[name] for name in first)

    class Failing(sj.Law):
        name = "pi"

        def on_arrival(self, *_: Any) -> Any:
            raise ValueError("no")

    capture = next(name for name in first if name.endswith("pcapng"))
    (folder / "bottleneck.pi.seed1.pcapng").write_bytes((folder / capture).read_bytes())
    with pytest.raises(sj.LawFailed):
        sj.run(sj.load("dumbbell", once), Failing(), record=record, into=folder)
    assert {path.name for path in folder.iterdir()} == {*first, "notes.txt", "bottleneck.pi.seed1.pcapng"}
    assert all((folder / name).read_bytes() == second[name] for name in first)
    (folder / "flows.parquet").unlink()
    (folder / "flows.parquet").mkdir()
    with pytest.raises(sj.InputError, match=r"^into: .*flows.parquet is a folder; expected a file"):
        recorded(once, folder, *record)
    assert (folder / capture).read_bytes() == second[capture]


def test_a_full_disk_is_one_line_and_keeps_what_is_finished(
    sojourn: Callable[..., Any], folder: Path
) -> None:
    """A limit of the size of files (setrlimit(2)) stands for the disk."""
    import resource
    import signal

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    done = sojourn("run", "small.toml", "--record", "pcap=bottleneck", "--out", "out", preexec_fn=small)
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert "pcapng: cannot be written (File too large)" in line
    assert not list(folder.glob(".*"))


def test_a_table_that_cannot_be_written_leaves_its_rows_and_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk that is full while packets are put together."""
    from sojourn.cli import main

    whole = pl.LazyFrame.sink_parquet

    def sink(frame: pl.LazyFrame, path: Path, **more: Any) -> None:
        if path.name == "packets.parquet":
            path.write_bytes(b"PAR1")
            raise OSError(28, "No space left on device")
        whole(frame, path, **more)

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", sink)
    monkeypatch.chdir(folder)
    words = ["run", "small.toml", "--seeds", "1..2", "--out", "out", "--quiet"]
    for record in ("packets=bottleneck", "flows"):
        words += ["--record", record]
    assert main(words) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "the table of packets cannot be written (" in line
    assert "No space left on device); its rows are kept in files *.rows" in line
    names = sorted(path.name for path in (folder / "out").iterdir())
    assert "flows.parquet" in names
    assert "packets.parquet" not in names
    assert len([name for name in names if name.endswith(".rows")]) == 2
    assert sorted(pl.read_parquet(folder / "out" / "flows.parquet")["seed"].unique()) == [1, 2]
    assert Result.read(folder / "out").seeds == [1, 2]


# ---- Tables and logs --------------------------------------------------------------------------------

#: The flows stop, and all that is under way has arrived by the end.
STOPPED = DROPS | {"flows": DROPS["flows"].replace("{ count", '{ stop = "8 s", count')}
ALL = (
    "packets=bottleneck",
    "flows",
    "gauges=bulk/1",
    "qlog=bulk/1",
    "arrivals=bottleneck",
    "pcap=bottleneck",
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """A run whose flows stop, and the folder with all its records."""
    folder = tmp_path_factory.mktemp("tables")
    return recorded(STOPPED, folder, *ALL), folder


def test_packets_have_their_fates(tables: tuple[Result, Path]) -> None:
    result, folder = tables
    (row,) = result.rows("bottleneck")
    packets = pl.read_parquet(folder / "packets.parquet")
    fates = dict(packets.group_by("fate").len().iter_rows())
    assert fates.pop("sent") == row.conservation["delivered"]
    assert sum(fates.values()) == row.conservation["dropped"] > 0
    assert fates["overflow"] == pytest.approx(row.metrics["overflow_ratio"] * row.conservation["offered"])
    assert packets["time_s"].is_sorted()
    sent = packets.filter(fate="sent")["sojourn_s"]
    assert sent.mean() == pytest.approx(row.metrics["sojourn_mean_s"], rel=1e-6)
    assert packets.filter(pl.col("fate") != "sent")["sojourn_s"].null_count() == sum(fates.values())


def test_packets_are_those_of_the_capture(tables: tuple[Result, Path], tshark: Callable[..., Any]) -> None:
    _, folder = tables
    fields = ("frame.time_epoch", "frame.len", "tcp.len", "tcp.seq_raw")
    path = folder / "bottleneck.codel.seed1.pcapng"
    rows = tshark(path, *fields, only="ip.src < 10.128.0.0 && tcp.flags.syn == 0")
    sent = pl.read_parquet(folder / "packets.parquet").filter(~pl.col("syn"), fate="sent")
    assert [int(row[1]) for row in rows] == sent["size_bytes"].to_list()
    assert [int(row[2]) for row in rows] == sent["payload_bytes"].to_list()
    assert [int(row[3]) - 1 for row in rows] == sent["seq"].to_list()
    for (time, *_), ours in zip(rows, sent["time_s"], strict=True):
        assert float(time) == pytest.approx(ours, abs=1e-8)


def test_acknowledgments_are_those_of_the_capture(tmp_path: Path, tshark: Callable[..., Any]) -> None:
    recorded(FIVE, tmp_path, "packets=bottleneck.back", "pcap=bottleneck.back")
    rows = tshark(tmp_path / "bottleneck.back.codel.seed1.pcapng", "tcp.ack_raw", only="ip.src >= 10.128.0.0")
    packets = pl.read_parquet(tmp_path / "packets.parquet")
    assert [int(ack) - 1 for (ack,) in rows] == packets["ack"].to_list()
    assert packets["syn"].sum() == 5
    assert not packets["forward"].any()
    assert packets["ece"].sum() > 5


def test_retransmissions_are_those_that_tshark_finds(
    tables: tuple[Result, Path], tshark: Callable[..., Any]
) -> None:
    """By flow. tshark calls one that follows the highest number within a round trip out of order."""
    _, folder = tables
    path = folder / "bottleneck.arrivals.codel.seed1.pcapng"
    suspected = Counter(row[0] for row in tshark(path, "ip.src", only=OF_RETRANSMISSIONS))
    all_data = Counter(row[0] for row in tshark(path, "ip.src", only="ip.src < 10.128.0.0"))
    flows = pl.read_parquet(folder / "flows.parquet")
    assert flows["retransmitted"].sum() > 100
    for row in flows.iter_rows(named=True):
        address = f"10.0.0.{row['flow'] + 1}"
        assert suspected[address] == row["retransmitted"]
        assert all_data[address] == row["packets"]
        assert row["bytes"] - row["retransmitted_bytes"] <= row["acked_bytes"] <= row["bytes"]


def test_the_how_to_says_what_tshark_finds(tshark: Callable[..., Any], tmp_path: Path, root: Path) -> None:
    """On the dumbbell SYNs are lost, and access links have a delay that a capture in the middle misses."""
    text = (root / "docs" / "howto" / "record-a-run.md").read_text()
    assert f"`{OF_ROUND_TRIPS}`" in text
    assert f"`{OF_RETRANSMISSIONS}`" in text
    result = sj.run(
        sj.load("dumbbell", {"duration": "15 s", "warmup": "1 s", "at": "[]"}),
        "codel",
        record=("arrivals=bottleneck", "flows"),
        into=tmp_path,
    )
    (row,), path = result.rows("bottleneck"), tmp_path / "bottleneck.arrivals.codel.seed1.pcapng"
    again = pl.read_parquet(tmp_path / "flows.parquet")["retransmitted"].sum()
    assert len(tshark(path, "ip.src", only=OF_RETRANSMISSIONS)) == again
    others = OF_RETRANSMISSIONS.replace("tcp.len > 0", "tcp.len == 0")
    syns = tshark(path, "tcp.flags.syn", only=others)
    assert syns
    assert {flag for (flag,) in syns} <= {"1", "True"}
    trips = tshark(path, "tcp.analysis.ack_rtt", only=f"{OF_ROUND_TRIPS} && frame.time_epoch > 1")
    assert median(float(trip) for (trip,) in trips) < row.metrics["rtt_p50_s"] - 0.05


@pytest.mark.usefixtures("tshark")
def test_the_how_to_compares_captures(tmp_path: Path, root: Path) -> None:
    """Runs under two seeds agree."""
    text = (root / "docs" / "howto" / "record-a-run.md").read_text()
    (block,) = (one for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "exceedance" in one)
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    shares = [float(one) for one in re.findall(r"([0-9]+)%", done.stdout)]
    p = float(re.search(r"p (\S+) of", done.stdout)[1])  # type: ignore[index]
    assert shares[0] == pytest.approx(shares[1], abs=10)
    assert p < 0.05, done.stdout


def test_every_byte_is_sent_once_or_again(tables: tuple[Result, Path]) -> None:
    """Full segments: what was acknowledged is what was sent for the first time."""
    _, folder = tables
    for row in pl.read_parquet(folder / "flows.parquet").iter_rows(named=True):
        first = row["bytes"] - row["retransmitted_bytes"]
        assert row["acked_bytes"] == pytest.approx(first, abs=1)
        assert 0 < row["start_s"] < row["end_s"] <= 10


def records_of(path: Path) -> list[dict[str, Any]]:
    """Records of a JSON text sequence (RFC 7464)."""
    start, *texts = path.read_text().split("\x1e")
    assert start == ""
    assert all(text.endswith("\n") for text in texts)
    return [json.loads(text) for text in texts]


def test_logs_follow_the_schema_of_the_draft(tables: tuple[Result, Path], root: Path) -> None:
    _, folder = tables
    schema = json.loads((root / "tests" / "reference" / "qlog.schema.json").read_text())
    check = fastjsonschema.compile(schema)
    header, *events = records_of(folder / "bulk-1.codel.seed1.sqlog")
    check(header)
    assert header["title"] == "bulk/1"
    assert "trace" in header
    for event in events:
        check(event)
        assert "name" in event
    times = [event["time"] for event in events]
    assert times == sorted(times)
    for wrong in ({}, events[0] | {"time": "1"}, events[0] | {"name": "segment_sent"}, {"trace": {}}):
        with pytest.raises(fastjsonschema.JsonSchemaException):
            check(wrong)


def test_logs_have_the_segments_of_the_flow(tables: tuple[Result, Path]) -> None:
    _, folder = tables
    events = records_of(folder / "bulk-1.codel.seed1.sqlog")[1:]
    flow = pl.read_parquet(folder / "flows.parquet").row(1, named=True)
    sent = [event["data"] for event in events if event["name"] == "sojourn-tcp:segment_sent"]
    assert len(sent) == flow["packets"]
    assert sum("trigger" in data for data in sent) == flow["retransmitted"]
    assert sum(data["raw"]["payload_length"] for data in sent) == flow["bytes"]
    received = [event["data"] for event in events if event["name"] == "sojourn-tcp:segment_received"]
    assert len(received) == flow["acks"]
    assert max(data["header"]["ack"] for data in received) == flow["acked_bytes"]
    # Nothing is sent into the window of the sender.
    assert not any("window" in data["header"] for data in sent)
    assert all(data["header"]["window"] > 0 for data in received)


def test_gauges_are_the_metrics_of_the_log(tables: tuple[Result, Path]) -> None:
    _, folder = tables
    events = records_of(folder / "bulk-1.codel.seed1.sqlog")[1:]
    gauges = pl.read_parquet(folder / "gauges.parquet")
    assert set(gauges["flow"]) == {"bulk/1"}
    updates = [event for event in events if event["name"] == "sojourn-tcp:metrics_updated"]
    assert [event["time"] for event in updates] == pytest.approx((gauges["time_s"] * 1e3).to_list())
    windows = [
        event["data"]["congestion_window"] for event in updates if "congestion_window" in event["data"]
    ]
    changed = gauges.filter(pl.col("cwnd_bytes").ne_missing(pl.col("cwnd_bytes").shift()))
    assert windows == changed["cwnd_bytes"].to_list()


def test_a_paced_flow_has_its_rate(tmp_path: Path) -> None:
    """RFC 9002, section 7.7: twice a window per round trip in slow start, 1.25 times afterwards."""
    paced = FIVE | {"flows": FIVE["flows"].replace("timestamps = true", "pacing = true")}
    recorded(paced, tmp_path, "gauges=bulk")
    gauges = pl.read_parquet(tmp_path / "gauges.parquet").drop_nulls(["srtt_s", "pacing_bps"])
    factors = gauges["pacing_bps"] * gauges["srtt_s"] / gauges["cwnd_bytes"] / 8
    assert len(gauges) > 1000
    assert set(factors.round(6)) == {1.25, 2.0}


def test_tables_have_all_runs(tmp_path: Path) -> None:
    scenario = sj.load("dumbbell", FIVE | {"duration": "2 s"})
    result = sj.run(
        scenario, ["codel", "pi"], seeds=[1, 2], record=["packets=bottleneck", "flows"], into=tmp_path
    )
    assert sorted(os.listdir(tmp_path)) == ["flows.parquet", "packets.parquet"]
    packets = pl.read_parquet(tmp_path / "packets.parquet").filter(fate="sent")
    counts = {
        (qdisc, seed): count for qdisc, seed, count in packets.group_by("qdisc", "seed").len().iter_rows()
    }
    rows = result.rows("bottleneck")
    assert counts == {(row.qdisc, row.seed): row.conservation["delivered"] for row in rows}


@pytest.mark.parametrize(
    ("record", "line"),
    [
        ("qlog=nobody", 'record qlog: "nobody" is no class of flows'),
        ("qlog=bulk/x", 'record qlog: "x" is no number of a flow'),
        ("qlog=bulk/50", 'record qlog: "bulk/50" does not exist; expected bulk/0 to bulk/49'),
        ("gauges=bulk/999", 'record gauges: "bulk/999" does not exist; expected bulk/0 to bulk/49'),
        ("flows=bulk", 'record: "flows=bulk" names "bulk"; expected flows alone'),
    ],
)
def test_a_wrong_flow_is_one_line(record: str, line: str) -> None:
    with pytest.raises(sj.InputError) as error:
        sj.run(sj.load("dumbbell"), record=record, into="out")
    assert str(error.value).startswith(line)


def test_a_class_that_grows_has_further_flows(tmp_path: Path) -> None:
    grows = {"duration": "3 s", "warmup": "1 s", "at": '[{ time = "1 s", set = { "bulk.count" = 4 } }]'}
    recorded(grows | {"flows[0].count": "2"}, tmp_path, "gauges=bulk/3")
    assert pl.read_parquet(tmp_path / "gauges.parquet").height > 0
    with pytest.raises(sj.InputError, match=r'gauges: "bulk/1" does not exist; expected bulk/0$'):
        recorded(grows | {"flows[0].count": "1", "at": "[]"}, tmp_path, "gauges=bulk/1")
