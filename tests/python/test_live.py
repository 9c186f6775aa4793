"""Live runs: the machine's own TCP through our qdiscs. Where the machine forbids them, they are skipped."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from lab import LIVE, SHORT, children_of, interrupted, sent

import sojourn as sj
from sojourn.report.page import page
from sojourn.result import Row, trust


def test_a_live_run_has_the_rows_and_the_series_of_the_packet_plant(live, sojourn, folder):
    done = live("--json", "--out", "out")
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    first = document["runs"][0]
    assert first["plant"] == "live"
    assert first["trust"]["verdict"] in ("good", "degraded")
    kept = first["conservation"]
    assert kept["offered"] == kept["delivered"] + kept["dropped"] + kept["held"]
    packets = json.loads(sojourn("run", "live.toml", "--json").stdout)["runs"]
    for ours, theirs in zip(document["runs"], packets, strict=True):
        assert ours.get("class") == theirs.get("class")
        assert list(ours["metrics"]) == list(theirs["metrics"])
        lacking = {
            name
            for name, value in theirs["metrics"].items()
            if value is not None and ours["metrics"][name] is None
        }
        assert not lacking, ours.get("class")
    least = 0.9 if first["trust"]["verdict"] == "good" else 0.3
    assert least * 20e6 <= first["metrics"]["goodput_bps"] <= 20e6
    ping = next(row for row in document["runs"] if row.get("class") == "probe")
    assert ping["metrics"]["rtt_p50_s"] >= 0.04
    result = sj.Result.read(folder / "out")
    assert result.runs[0].trust == first["trust"]
    assert set(result.series["name"].unique()) >= {"queue_packets", "sojourn_s", "p"}
    assert "live, seed 1" in trust.lines(result)[0]


def test_bbr_runs_live_and_no_other_plant_has_it(live, sojourn, folder):
    shorter = ("--set", "duration=3s", "--set", "warmup=1s", "--set", "flows[0].count=2", "--cc", "bbr")
    here = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    done = live(*shorter, "--json")
    if "bbr" not in here:
        assert done.returncode == 2
        assert "bbr is not in net.ipv4.tcp_available_congestion_control" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["runs"][0]["metrics"]["goodput_bps"] > 10e6
    line = "flows[0].cc: bbr runs live only (sojourn lab FILE); expected one of reno, newreno, cubic, dctcp,"
    for plants in ("packet", "packet,live", "fluid"):
        done = sojourn("run", "live.toml", "--plant", plants, *shorter)
        assert done.returncode == 2
        assert line in done.stderr
        assert "no fluid model" not in done.stderr
    assert "2 x bbr (live runs only) bulk" in sojourn("check", "live.toml", *shorter[4:]).stdout
    assert line in sojourn("prove", "live.toml", "--set", "flows[0].cc=bbr").stderr
    (folder / "grid.toml").write_text(
        'scenario = "live.toml"\nseeds = [1]\n[axes]\ncc = ["bbr"]\n[set]\nduration = "1 s"\nwarmup = "0 s"\n'
    )
    assert line in sojourn("check", "grid.toml").stderr


@pytest.mark.parametrize("protocol", ["icmp", "udp"])
def test_pings_come_back_after_the_base_rtt(live, protocol):
    alone = ("--set", "flows[0].count=1", "--set", "flows[0].start=2.9s")
    shorter = ("--set", "duration=3s", "--set", "warmup=0.5s", "--set", "flows[1].start=0s")
    ping = ("--set", f"flows[1].app.ping.protocol={protocol}", "--set", "flows[1].app.ping.every=50ms")
    done = live(*alone, *shorter, *ping, "--set", "flows[1].dscp=EF", "--json")
    assert done.returncode == 0, done.stderr
    first, *_ = rows = json.loads(done.stdout)["runs"]
    found = next(row["metrics"] for row in rows if row.get("class") == "probe")
    assert found["rtt_p50_s"] >= 0.04
    # One way is half of it, and 84 B at 20 Mbit/s.
    assert found["one_way_p50_s"] >= 0.02
    if first["trust"]["verdict"] == "good":
        assert found["rtt_p50_s"] < 0.06
        assert found["one_way_p50_s"] < 0.03
        assert found["datagram_loss_ratio"] == 0.0


def test_the_page_lays_live_beside_packets(live, sojourn, folder):
    live()
    done = sojourn("run", "live.toml", "--plant", "packet,live", "--out", "both", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "pi2 live, seed 1: " in done.stdout
    page = sj.Result.read(folder / "both").report(folder / "page.html").read_text()
    assert "packet by packet and live by the kernel" in page
    assert "pi2 live, seed 1: " in page
    assert "Broad and pale: what packets did; dotted: live packets." in page


def test_the_verdicts_of_a_live_qdisc_replay_bit_for_bit(live, sojourn, folder):
    live("--qdisc", "fq_codel", "--record", "trace", "--out", "out", "--quiet")
    path = folder / "out" / "trace.fq_codel.seed1.jsonl"
    done = sojourn("replay", path, "--qdisc", "tail_drop", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["difference"] is None
    own, other = found["passages"]["fq_codel"], found["passages"]["tail_drop"]
    assert own["offered"] == other["offered"] > 1000
    lines = path.read_text().splitlines()
    place = next(place for place, line in enumerate(lines) if '"sent":0' in line)
    lines[place] = lines[place].replace('"sent":0', '"sent":1')
    path.write_text("\n".join(lines) + "\n")
    done = sojourn("replay", path)
    assert done.returncode == 1
    assert f"line {place + 1}: answers sent 0, expected 1" in done.stderr


#: What begins long after an interrupt.
LATER = """
[[flows]]
name = "late"
start = "50 s"
access = { rate = "1 Gbit/s", delay = "5 ms" }
[[at]]
time = "40 s"
set = { "bottleneck.rate" = "10 Mbit/s" }
"""

WINDOWS = ("--window", "3s..4s", "--window", "50s..55s", "--window", "every 1 s")


@pytest.mark.parametrize(("stop", "windows"), [(sent(signal.SIGINT), WINDOWS), (sent(signal.SIGTERM), ())])
def test_an_interrupted_run_keeps_what_it_measured(live, sojourn, folder, stop, windows):
    live("--set", "duration=3s", "--quiet")
    text = LIVE + LATER
    (folder / "long.toml").write_text(text.replace('duration = "5 s"', 'duration = "60 s"'))
    done = interrupted(folder, stop, 4.5, "lab", "long.toml", *windows, "--out", "out")
    assert done.returncode == 130, done.stderr
    assert re.search(
        r"interrupted; the run is kept up to \d+(\.\d+)? s of 60 s: printed and written", done.stderr
    )
    result = sj.Result.read(folder / "out")
    end = float(result.scenario["duration"].removesuffix(" s"))
    assert 5.0 < end < 30.0
    assert result.scenario["at"] == []
    assert result.series["time"].max() == pytest.approx(end)
    (goodput,) = result.values("pi2", "goodput_bps").values()
    assert goodput > 10e6
    assert result.values("pi2", "goodput_bps", traffic_class="late") in ({}, {1: 0.0})
    if windows:
        spans = result.windows.filter(window="3 s..4 s").select("from_s", "until_s").unique().rows()
        assert spans == [(3.0, 4.0)]
        assert result.windows["until_s"].max() <= end
        assert "50 s..55 s" not in result.scenario["windows"]
    assert sojourn("report", "out").returncode == 0


def test_a_run_interrupted_beside_finished_ones_or_in_its_warm_up_is_left_out(live, folder):
    live("--set", "duration=3s", "--quiet")
    done = interrupted(
        folder, sent(signal.SIGINT), 0.5, "lab", "live.toml", "--set", "warmup=4s", "--out", "out"
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        130,
        "sojourn lab: interrupted; none of 1 runs had finished",
    )
    assert not (folder / "out").exists()
    qdiscs = ("--qdisc", "pi2", "--qdisc", "codel")
    done = interrupted(folder, sent(signal.SIGINT), 6.5, "lab", "live.toml", *qdiscs, "--out", "out")
    assert "interrupted; 1 of 2 runs had finished" in done.stderr
    assert sj.Result.read(folder / "out").qdiscs == ["pi2"]


def _checked(document, kind):
    """The trust in the first run, whose packets went over devices of a kind."""
    first = document["runs"][0]
    trust_in = first["trust"]
    assert trust_in["device"] == kind
    assert trust_in["verdict"] in ("good", "degraded")
    assert trust_in["checksum_errors"] == 0
    least = 0.5 if trust_in["verdict"] == "good" else 0.3
    assert least * 20e6 <= first["metrics"]["goodput_bps"] <= 20e6
    return trust_in


@pytest.mark.parametrize(("kind", "drops"), [("tun", "device drops 0; "), ("packet", "0 (AF_PACKET); ")])
def test_a_live_run_has_the_device_that_is_demanded(live, monkeypatch, kind, drops):
    monkeypatch.setenv("SOJOURN_LIVE_DEVICE", kind)
    done = live(*SHORT, "--json")
    assert done.returncode == 0, done.stderr
    assert drops in trust.line(_checked(json.loads(done.stdout), kind))


def test_a_device_that_there_is_not_is_named(sojourn, folder, monkeypatch):
    (folder / "live.toml").write_text(LIVE)
    monkeypatch.setenv("SOJOURN_LIVE_DEVICE", "tap")
    done = sojourn("lab", "live.toml")
    assert done.returncode == 2
    assert 'SOJOURN_LIVE_DEVICE: is "tap"; expected tun or packet' in done.stderr


#: A mount namespace whose /dev/net has no device, or one that is none, in front of a command.
CLOSED = {
    "missing": "mount -t tmpfs none /dev/net",
    "other": "mount --bind /dev/null /dev/net/tun",
}


@pytest.mark.skipif(os.geteuid() != 0, reason="hides /dev/net/tun, which needs root")
@pytest.mark.parametrize(("user", "how"), [(0, "other"), (65534, "missing")])
def test_a_packet_socket_takes_the_place_of_tun_where_that_is_closed(user, how, refused):
    python = sys.executable
    environment = {name: value for name, value in os.environ.items() if name != "SOJOURN_LIVE_DEVICE"}
    packages = [
        str(Path(sj.__file__).parent.parent),
        *(one for one in sys.path if one.endswith("site-packages")),
    ]
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chmod(place, 0o755)
        (Path(place) / "live.toml").write_text(LIVE)
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        if user and not _runs([*become, "sh", "-c", f"{python} -c 0"], place):
            # The one of this version that all may start.
            python = "/usr/bin/python3." + str(sys.version_info.minor)
            if not _runs([*become, "sh", "-c", f"{python} -c 0"], place):
                pytest.skip(f"{sys.executable} is not for user {user}")
        hide = ["unshare", "--mount", "sh", "-c", f'{CLOSED[how]} && exec "$@"', "sh"]
        if not _runs([*hide, "true"], place):
            pytest.skip("no mount namespace")
        done = subprocess.run(
            [*hide, *become, python, "-m", "sojourn", "lab", "live.toml", *SHORT, "--json"],
            cwd=place,
            check=False,
            env=environment | {"PYTHONPATH": os.pathsep.join(packages)},
            capture_output=True,
            text=True,
            timeout=120,
        )
    if done.returncode == 3:
        refused(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    _checked(json.loads(done.stdout), "packet")


def _runs(command, place):
    try:
        return (
            subprocess.run(command, check=False, cwd=place, capture_output=True, timeout=60).returncode == 0
        )
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("part", ["command", "run"])
def test_nothing_is_left_after_a_kill(live, folder, part):
    """Of the command or of the process of its run, at random moments from its start on."""
    live()
    command = [sys.executable, "-m", "sojourn", "lab", "live.toml", "--set", "duration=60s", "--out", "out"]
    before = _left(folder)
    moments = random.Random(part)
    for _ in range(int(os.environ.get("KILLS", "1"))):
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            children = children_of(process.pid)
            assert children
            time.sleep(moments.uniform(0, 3))
            made = _namespaces(children) - _namespaces([str(os.getpid())])
            if part == "command":
                process.send_signal(signal.SIGKILL)
            else:
                for child in children:
                    os.kill(int(child), signal.SIGKILL)
                _, errors = process.communicate(timeout=60)
                assert process.returncode == 1
                assert "the process of the run ended" in errors.decode()
        end = time.monotonic() + 20
        while (
            any(Path(f"/proc/{child}/cmdline").exists() for child in children)
            or made & _namespaces(one.name for one in Path("/proc").iterdir() if one.name.isdigit())
            or _left(folder) != before
        ):
            assert time.monotonic() < end, f"left: {_left(folder)}, before: {before}"
            time.sleep(0.05)


def _left(folder):
    """Devices of this namespace, and files of the folder."""
    places = (Path("/sys/class/net"), folder)
    return [sorted(one.name for one in place.iterdir()) for place in places]


def _namespaces(processes):
    """Network namespaces of all threads of some processes."""
    found = set()
    for process in processes:
        with contextlib.suppress(OSError):
            found |= {os.readlink(one / "ns" / "net") for one in Path(f"/proc/{process}/task").iterdir()}
    return found


def test_a_run_imports_nothing_of_the_users_folder(live, folder):
    for name in ("pickle", "json", "sojourn"):
        (folder / f"{name}.py").write_text('open("imported", "w").close()\nraise SystemExit(9)\n')
    done = live(*SHORT)
    assert done.returncode == 0, done.stderr
    assert not (folder / "imported").exists()


def test_what_no_live_run_carries_is_named(sojourn, folder):
    (folder / "live.toml").write_text(LIVE.replace('cc = "cubic"', 'cc = "cubic:hystart=false"'))
    done = sojourn("lab", "live.toml")
    assert done.returncode == 2
    expected = (
        "sojourn lab: --plant live: flows[0].cc: cubic:hystart=false is no congestion control of the kernel"
    )
    assert expected.removeprefix("sojourn lab: ") in done.stderr


def test_a_record_of_one_plant_needs_that_plant(sojourn):
    done = sojourn("run", "small.toml", "--record", "trace", "--out", "out")
    assert done.returncode == 2
    assert "--record: trace is of the plant live alone; expected --plant live, or sojourn lab" in done.stderr
    done = sojourn("lab", "small.toml", "--record", "flows", "--out", "out")
    assert done.returncode == 2
    assert "--record: flows is of the plant packet alone; expected the plant packet, too" in done.stderr


def _live_result(seeds, verdicts):
    """A result of packets, as if its runs were live ones with these verdicts."""
    numbers = dict.fromkeys(trust.NUMBERS, 1.0)
    result = sj.run(sj.load("dumbbell", {"duration": "2 s", "warmup": "1 s", "at": "[]"}), seeds=seeds)
    runs = tuple(
        replace(row, plant="live", trust=numbers | {"verdict": verdict, "scheduling": "SCHED_OTHER"})
        for row, verdict in zip(result.runs, verdicts, strict=True)
    )
    return replace(result, runs=runs)


def test_the_page_has_the_worst_runs_first_and_warns_of_these_alone():
    verdicts = ["good"] * 10 + ["void", "degraded"]
    written = page(_live_result(range(12), verdicts))
    lines = re.findall(r'<p class="(warning|note)">[^<]* live, seed (\d+): (\w+);', written)
    assert lines[:3] == [("warning", "10", "void"), ("warning", "11", "degraded"), ("note", "0", "good")]
    assert len(lines) == 8
    assert '<p class="note">and 4 more</p>' in written


def test_the_page_promises_no_repetition_of_live_runs():
    promise = "Live runs do not repeat: their numbers depend on the machine and its load."
    live = _live_result([1], ["good"])
    assert f'<p class="note">{promise}</p>' in page(live)
    packets = sj.run(sj.load("dumbbell", {"duration": "2 s", "warmup": "1 s", "at": "[]"}))
    assert promise not in page(packets)
    both = page(replace(live, runs=live.runs + packets.runs))
    assert f"in the other plants, on any machine and with any number of workers. {promise}" in both


def test_a_void_run_is_named_with_its_remedy():
    row = Row("live", "pi2", 3, "bottleneck", {}, {}, trust={"verdict": "void", "device_drops": 7})
    assert trust.void_line([row]).startswith("void: pi2 live, seed 3: a device dropped packets")
