"""Live runs: the machine's own TCP through our qdiscs. Where the machine forbids them, they are skipped."""

import contextlib
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import replace
from pathlib import Path

import pytest

import sojourn as sj
from sojourn import live as live_process
from sojourn import stops
from sojourn._core import Cancelled
from sojourn.report.page import page
from sojourn.result import Row, trust

#: Four flows at 20 Mbit/s, seconds long.
LIVE = """
title = "Live"
duration = "5 s"
warmup = "2 s"
[bottleneck]
rate = "20 Mbit/s"
delay = "10 ms"
buffer = "200 packets"
qdisc = "pi2"
[[flows]]
name = "bulk"
count = 4
cc = "cubic"
access = { rate = "1 Gbit/s", delay = "5 ms" }
[[flows]]
name = "probe"
app = "ping"
access = { rate = "1 Gbit/s", delay = "5 ms" }
"""


@pytest.fixture
def live(folder, sojourn, refused):
    """`sojourn lab live.toml`, or a skip where the machine does not allow it."""
    (folder / "live.toml").write_text(LIVE)

    def lab(*arguments):
        done = sojourn("lab", "live.toml", *arguments)
        if done.returncode == 3:
            refused(done.stderr.strip())
        return done

    return lab


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


def test_a_law_in_python_runs_live(live, folder):
    (folder / "mine.py").write_text(
        "import sojourn\n\n"
        "class Mine(sojourn.Controller):\n"
        "    period = '10 ms'\n"
        "    def update(self, seen):\n"
        "        return min(1.0, 1e-4 * seen.backlog_packets)\n"
    )
    done = live("--qdisc", "mine.py:Mine", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["conservation"]["delivered"] > 1000


def _sent(number):
    return lambda process: os.kill(process, number)


def _sent_to_the_group(number):
    return lambda process: os.killpg(process, number)


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


@pytest.mark.parametrize(("stop", "windows"), [(_sent(signal.SIGINT), WINDOWS), (_sent(signal.SIGTERM), ())])
def test_an_interrupted_run_keeps_what_it_measured(live, sojourn, folder, stop, windows):
    live("--set", "duration=3s", "--quiet")
    text = LIVE + LATER
    (folder / "long.toml").write_text(text.replace('duration = "5 s"', 'duration = "60 s"'))
    done = _interrupted(folder, stop, 4.5, "lab", "long.toml", *windows, "--out", "out")
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
    done = _interrupted(
        folder, _sent(signal.SIGINT), 0.5, "lab", "live.toml", "--set", "warmup=4s", "--out", "out"
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        130,
        "sojourn lab: interrupted; none of 1 runs had finished",
    )
    assert not (folder / "out").exists()
    qdiscs = ("--qdisc", "pi2", "--qdisc", "codel")
    done = _interrupted(folder, _sent(signal.SIGINT), 6.5, "lab", "live.toml", *qdiscs, "--out", "out")
    assert "interrupted; 1 of 2 runs had finished" in done.stderr
    assert sj.Result.read(folder / "out").qdiscs == ["pi2"]


def _interrupted(folder, stop, after_s, *arguments, ready=None):
    """A command in a group of its own that `stop` ends some seconds after its first run has begun.

    Or after a file is there.
    """
    command = [sys.executable, "-m", "sojourn", *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, stdout=pipe, stderr=pipe, text=True, process_group=0
    ) as process:
        deadline = time.monotonic() + 30
        while not (_has_begun(process.pid) if ready is None else ready.exists()):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(after_s)
        stop(process.pid)
        out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _has_begun(command):
    """The process that a command has started has the namespaces of both ends."""
    for child in _children(command):
        with contextlib.suppress(OSError):
            names = [os.readlink(one) for one in Path(f"/proc/{child}/fd").iterdir()]
            if sum(name.startswith("net:[") for name in names) >= 2:
                return True
    return False


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


SHORT = ("--set", "duration=3s", "--set", "warmup=1s")


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


def test_the_failure_of_a_law_in_python_is_named_with_its_line(live, folder):
    (folder / "bad.py").write_text(
        "import sojourn\n\n"
        "class Bad(sojourn.Controller):\n"
        "    period = '10 ms'\n"
        "    def update(self, seen):\n"
        "        return 1 / 0\n"
    )
    done = live(*SHORT, "--qdisc", "bad.py:Bad")
    assert done.returncode == 1
    assert "sojourn lab: Bad, seed 1: bad.py:6: ZeroDivisionError: division by zero" in done.stderr
    scenario = sj.load(folder / "live.toml", {"duration": "2 s", "warmup": "1 s"})
    with pytest.raises(sj.LawFailed, match="ZeroDivisionError: division by zero"):
        sj.run(scenario, qdiscs=f"{folder / 'bad.py'}:Bad", plants="live")


#: Updates that do not return: in C with Python's lock, in Python, and in C without the lock.
STUCK = {
    "lock": "__import__('re').match('(a+)+$', 60 * 'a' + 'b')",
    "loop": "exec('while True: pass')",
    "sleep": "__import__('time').sleep(1e6)",
}


def _stuck(folder, how):
    (folder / "stuck.py").write_text(MINE.replace("return 0.0", STUCK[how]))
    return "stuck.py:Mine"


@pytest.mark.thinned(3)
@pytest.mark.parametrize("how", STUCK)
def test_one_interrupt_ends_a_law_in_python_that_does_not_return(live, folder, how):
    live(*SHORT)
    arguments = ("lab", "live.toml", "--qdisc", _stuck(folder, how))
    done = _interrupted(folder, _sent(signal.SIGINT), 1.0, *arguments)
    assert done.returncode == 130, done.stderr
    assert "interrupted; none of 1 runs had finished" in done.stderr


def test_a_law_that_does_not_return_ends_with_the_command(live, folder):
    """Also where it holds Python's lock, and its parent is killed."""
    live(*SHORT)
    command = [sys.executable, "-m", "sojourn", "lab", "live.toml", "--qdisc", _stuck(folder, "lock")]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        children = _children(process.pid)
        time.sleep(2)
        process.kill()
    end = time.monotonic() + 10
    while any(_is_running(child) for child in children):
        assert time.monotonic() < end
        time.sleep(0.05)


def _is_running(process):
    with contextlib.suppress(OSError):
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    return False


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("command", "stop", "code"),
    [("exec sleep 60", None, 1), ("true", None, 1), ("exec sleep 60", signal.SIGTERM, 130)],
)
def test_a_law_that_does_not_return_ends_with_the_shell(live, folder, command, stop, code):
    live(*SHORT)
    arguments = ("lab", "live.toml", "--qdisc", _stuck(folder, "loop"), "--shell", "--server", "true")
    stopping = _sent(stop) if stop else lambda _process: None
    done = _interrupted(folder, stopping, 0.5, *arguments, "--command", command)
    assert done.returncode == code, done.stderr
    line = "interrupted; the command was ended" if stop else "sojourn lab: Mine: does not return in time"
    assert line in done.stderr


MINE = """
import sojourn
class Mine(sojourn.Controller):
    period = "10 ms"
    def update(self, seen):
        return 0.0
"""
RUN = """
import sojourn as sj
scenario = sj.load("live.toml", {"duration": "2 s", "warmup": "1 s"})
try:
    print(sj.run(scenario, qdiscs=[Mine()], plants="live", jobs=1).qdiscs)
except sj.InputError as error:
    print(error)
"""
FROM_A_MODULE = ("from beside import Mine\n" + RUN, "['Mine']")
FROM_THE_PROGRAM = (
    MINE + RUN,
    "live: a law in Python cannot go to the process of the run (Mine is of the program itself); "
    "expected one of a file, as FILE.py:CLASS, or of a module",
)


@pytest.mark.parametrize(("program", "printed"), [FROM_A_MODULE, FROM_THE_PROGRAM], ids=["module", "program"])
def test_a_law_of_a_module_runs_live_and_one_of_the_program_is_named(live, folder, program, printed):
    live(*SHORT)
    with_init = "    def __init__(self, helper=None):\n        self.helper = helper\n"
    (folder / "beside.py").write_text(MINE + with_init)
    (folder / "program.py").write_text(program)
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, printed), done.stderr


def test_a_file_of_a_law_that_fails_in_the_process_of_the_run_is_named(live, folder):
    (folder / "mine.py").write_text(
        "import sys\nif 'sojourn.live.child' in sys.modules:\n    raise OSError('not here')\n" + MINE
    )
    done = live(*SHORT, "--qdisc", "mine.py:Mine")
    assert done.returncode == 1
    assert "mine.py:3: OSError: not here" in done.stderr


@pytest.mark.parametrize("part", ["command", "run"])
def test_nothing_is_left_after_a_kill(live, folder, part):
    """Of the command or of the process of its run, at random moments from its start on."""
    live()
    command = [sys.executable, "-m", "sojourn", "lab", "live.toml", "--set", "duration=60s", "--out", "out"]
    before = _left(folder)
    moments = random.Random(part)
    for _ in range(int(os.environ.get("KILLS", "1"))):
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            children = _children(process.pid)
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


def _children(process):
    """The processes of the run, once there are some."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = []
        for task in Path(f"/proc/{process}/task").iterdir():
            found += (task / "children").read_text().split()
        if found:
            return found
        time.sleep(0.05)
    return []


FETCH = """
import os, sys, time, urllib.request
place = f"http://{os.environ['SOJOURN_SERVER']}:8080/large"
for _ in range(100):
    try:
        size = len(urllib.request.urlopen(place, timeout=20).read())
        open("fetched", "w").write(str(size))
        break
    except OSError:
        time.sleep(0.1)
else:
    sys.exit("no server")
"""


def test_programs_of_the_user_run_over_the_links(live, sojourn, folder):
    live()
    (folder / "large").write_bytes(bytes(2_000_000))
    (folder / "fetch.py").write_text(FETCH)
    server = f"{sys.executable} -m http.server 8080 --bind 10.90.0.2"
    command = f"{sys.executable} fetch.py"
    done = sojourn("lab", "live.toml", "--shell", "--server", server, "--command", command)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"note: server 10.90.0.2 ({sys.executable}), this end 10.90.0.1; of IPv6")
    link, trust_line = done.stdout.splitlines()
    assert (folder / "fetched").read_text() == "2000000"
    # The server sends, so that its packets take the way back: requests and acknowledgments pass the qdisc.
    found = re.match(r"bottleneck, pi2: (\d+) packets delivered, 0 dropped, 0 marked; mean sojourn", link)
    assert int(found[1]) > 300
    assert trust_line.startswith(("good; ", "degraded; "))


@pytest.mark.parametrize("qdisc", ["mine.py:Mine", "bottleneck=mine.py:Mine"])
def test_a_law_in_python_serves_programs_of_the_user(live, sojourn, folder, qdisc):
    live()
    (folder / "mine.py").write_text(MINE)
    (folder / "large").write_bytes(bytes(2_000_000))
    (folder / "fetch.py").write_text(FETCH)
    server = f"{sys.executable} -m http.server 8080 --bind 10.90.0.2"
    arguments = ("--qdisc", qdisc, "--server", server, "--command", f"{sys.executable} fetch.py")
    done = sojourn("lab", "live.toml", "--shell", *arguments)
    assert done.returncode == 0, done.stderr
    assert (folder / "fetched").read_text() == "2000000"
    assert re.match(r"bottleneck, Mine: \d{3,} packets delivered, 0 dropped", done.stdout)


def test_a_law_in_python_that_fails_ends_the_shell(live, sojourn, folder):
    live()
    (folder / "mine.py").write_text(MINE.replace("return 0.0", "return 1 / (seen.time_s < 0.5)"))
    arguments = ("--qdisc", "mine.py:Mine", "--server", "true", "--command", "exec sleep 60")
    start = time.monotonic()
    done = sojourn("lab", "live.toml", "--shell", *arguments)
    assert time.monotonic() - start < 50
    assert done.returncode == 1
    assert "sojourn lab: Mine: mine.py:6: ZeroDivisionError: division by zero" in done.stderr


SEND = """
import os, socket, sys, time
stop = time.monotonic() + 20
while time.monotonic() < stop:
    try:
        to = socket.create_connection((os.environ["SOJOURN_SERVER6"], 5000))
        break
    except OSError:
        time.sleep(0.1)
else:
    sys.exit("no server")
assert to.getsockname()[0] == os.environ["SOJOURN_CLIENT6"]
stop = time.monotonic() + 3
sent = 0
while time.monotonic() < stop:
    sent += to.send(bytes(65536))
to.shutdown(socket.SHUT_WR)
assert int(to.recv(100)) == sent
"""

RECEIVE = """
import socket
connection, _ = socket.create_server(("fd90::2", 5000), family=socket.AF_INET6).accept()
received = 0
while data := connection.recv(1 << 20):
    received += len(data)
connection.sendall(str(received).encode())
connection.recv(1)
"""


@pytest.mark.parametrize("kind", ["tun", "packet"])
def test_programs_of_the_user_have_ipv6_and_its_marks(live, folder, monkeypatch, kind):
    monkeypatch.setenv("SOJOURN_LIVE_DEVICE", kind)
    live(*SHORT)
    if not Path("/proc/sys/net/ipv6").exists():
        pytest.skip("the kernel has no IPv6")
    (folder / "marked.toml").write_text(LIVE.replace('cc = "cubic"', 'cc = "cubic"\necn = true'))
    scenario = sj.load(folder / "marked.toml")
    served = live_process.shell(scenario, 1, [sys.executable, "-c", SEND], [[sys.executable, "-c", RECEIVE]])
    assert served.code == 0
    trust_in = served.trust
    assert trust_in["device"] == kind
    assert trust_in["verdict"] in ("good", "degraded")
    # Three seconds at 20 Mbit/s are 5000 packets, with an acknowledgment of each or of every other one.
    assert served.links[0]["delivered"] > 1000
    assert served.links[0]["marked"] > 0
    # Those of Ip6InCEPkts at the receivers' end.
    assert trust_in["ce_received"] == trust_in["ce_written"] > 0
    assert trust_in["checksum_errors"] == 0


def test_a_run_imports_nothing_of_the_users_folder(live, folder):
    for name in ("pickle", "json", "sojourn"):
        (folder / f"{name}.py").write_text('open("imported", "w").close()\nraise SystemExit(9)\n')
    done = live(*SHORT)
    assert done.returncode == 0, done.stderr
    assert not (folder / "imported").exists()


def test_a_command_of_the_shell_has_the_users_environment_and_signals(live, sojourn, folder, monkeypatch):
    live(*SHORT)
    monkeypatch.setenv("PYTHONPATH", "/of/the/user")
    command = 'grep SigIgn /proc/self/status > found; echo "$PYTHONPATH" >> found'
    done = sojourn("lab", "live.toml", "--shell", "--server", "true", "--command", command)
    assert done.returncode == 0, done.stderr
    ignored, path = (folder / "found").read_text().splitlines()
    mask = int(ignored.split()[1], 16)
    assert not [one for one in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ) if mask >> (one - 1) & 1]
    assert path == "/of/the/user"


@pytest.mark.parametrize(
    ("stop", "written", "code"),
    [
        (_sent(signal.SIGTERM), "TERM", 130),
        (_sent_to_the_group(signal.SIGTERM), "TERM", 130),
        (_sent(signal.SIGINT), "on", 0),
    ],
    ids=["SIGTERM", "SIGTERM to the group", "SIGINT"],
)
def test_a_stop_is_the_commands_and_the_lab_ends_with_it(live, folder, stop, written, code):
    """Terminated, the command may finish; an interrupt that is not from its terminal changes nothing."""
    live(*SHORT)
    script = (
        "trap 'echo TERM > wrote; exit 0' TERM; touch ready; "
        "for k in 1 2 3 4 5 6 7 8; do sleep 0.5; done; echo on > wrote"
    )
    arguments = ("lab", "live.toml", "--shell", "--server", "true", "--command", script)
    done = _interrupted(folder, stop, 0.0, *arguments, ready=folder / "ready")
    assert done.returncode == code, done.stderr
    assert (folder / "wrote").read_text().strip() == written
    assert "packets delivered" in done.stdout
    assert ("interrupted; the command was ended" in done.stderr) == (code == 130)


def test_a_stop_of_the_shell_at_any_moment_ends_it_as_an_interrupt(live, folder):
    live(*SHORT)
    command = [sys.executable, "-m", "sojourn", "lab", "live.toml", "--shell", "--command", "exec sleep 500"]
    pipe = subprocess.PIPE
    for stop in (_sent(signal.SIGTERM), _sent_to_the_group(signal.SIGTERM)):
        for after_s in (0.0, 0.05, 0.1, 0.2, 0.4):
            with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, process_group=0) as process:
                assert _children(process.pid)
                time.sleep(after_s)
                stop(process.pid)
                _, errors = process.communicate(timeout=60)
            assert process.returncode == 130, (after_s, errors)
            assert b"sojourn lab: interrupted; " in errors


def test_an_interrupt_before_the_command_begins_ends_the_lab(live, folder):
    live(*SHORT)
    command = [sys.executable, "-m", "sojourn", "lab", "live.toml", "--shell", "--command", "exec sleep 500"]
    pipe = subprocess.PIPE
    for after_s in (0.0, 0.05, 0.1):
        with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, process_group=0) as process:
            assert _children(process.pid)
            time.sleep(after_s)
            os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        assert process.returncode == 130, (after_s, errors)
        assert b"sojourn lab: interrupted; " in errors
        assert b"Traceback" not in errors


@pytest.mark.parametrize("stop", [None, _sent(signal.SIGTERM)], ids=["ends", "SIGTERM"])
def test_nothing_that_a_command_has_started_is_left(live, folder, stop):
    """A child of the command's shell, and one in a session of its own."""
    live(*SHORT)
    mark = f"5{os.getpid()}"
    script = f"setsid sleep {mark}1 & touch ready; " + (f"sleep {mark}2" if stop else "sleep 1")
    arguments = ("lab", "live.toml", "--shell", "--server", "true", "--command", script)
    done = _interrupted(folder, stop or (lambda _process: None), 0.0, *arguments, ready=folder / "ready")
    assert done.returncode == (130 if stop else 0), done.stderr
    names = []
    for one in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            names.append((one / "cmdline").read_text())
    assert not [name for name in names if mark in name]


LISTEN = """
import socket, time
time.sleep(1)
taken = socket.create_server(("10.90.0.2", 5000))
while True:
    taken.accept()
"""


def test_a_command_begins_when_its_servers_can_be_reached(live, sojourn, folder):
    live(*SHORT)
    (folder / "listen.py").write_text(LISTEN)
    reach = f"{sys.executable} -c 'import socket; socket.create_connection((\"10.90.0.2\", 5000), 5)'"
    server = f"{sys.executable} listen.py"
    done = sojourn("lab", "live.toml", "--shell", "--server", server, "--command", reach)
    assert done.returncode == 0, done.stderr


def test_a_server_that_has_ended_is_named(live, sojourn):
    live(*SHORT)
    arguments = ("--shell", "--server", "sh -c 'exit 3'", "--command", "sleep 1")
    done = sojourn("lab", "live.toml", *arguments)
    assert done.returncode == 0, done.stderr
    assert "note: --server: sh -c 'exit 3' had ended with code 3 before the command did" in done.stderr


def test_a_law_slower_than_its_period_makes_a_run_void(live, folder):
    (folder / "slow.py").write_text(
        MINE.replace("return 0.0", "return __import__('time').sleep(0.05) or 0.0")
    )
    done = live(*SHORT, "--qdisc", "slow.py:Mine")
    assert done.returncode == 1, done.stdout
    assert "void: Mine live, seed 1: the network was seconds behind the clock; a law in" in done.stderr


def test_a_stop_before_the_process_of_the_shell_is_there_is_kept(live, folder, monkeypatch):
    live(*SHORT)
    started = live_process.started

    def late(*arguments, **how):
        os.kill(os.getpid(), signal.SIGTERM)
        return started(*arguments, **how)

    monkeypatch.setattr(live_process, "started", late)
    scenario = sj.load(folder / "live.toml")
    with stops.all_raise(), pytest.raises(Cancelled):
        live_process.shell(scenario, 1, ["sleep", "500"], [])


def test_a_shell_that_ends_with_130_was_not_interrupted(live, folder, monkeypatch, sojourn):
    live(*SHORT)
    shell = folder / "sh130"
    shell.write_text("#!/bin/sh\nexit 130\n")
    shell.chmod(0o755)
    monkeypatch.setenv("SHELL", str(shell))
    done = sojourn("lab", "live.toml", "--shell", "--server", "true")
    assert done.returncode == 0, done.stderr


#: The program, whose stdin becomes its terminal.
AT_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "sojourn", *sys.argv[1:]])
"""


def test_the_terminal_is_as_before_where_a_shell_has_to_be_killed(live, folder):
    """The shell ignores the signals that would end it, and has changed the terminal."""
    live(*SHORT)
    shell = folder / "stubborn"
    shell.write_text("#!/bin/sh\ntrap '' HUP TERM\nstty -echo -icanon\ntouch ready\nsleep 500\n")
    shell.chmod(0o755)
    main, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    with subprocess.Popen(
        [sys.executable, "-c", AT_A_TERMINAL, "lab", "live.toml", "--shell", "--server", "true"],
        cwd=folder,
        stdin=terminal,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"SHELL": str(shell)},
        start_new_session=True,
    ) as process:
        end = time.monotonic() + 30
        while not (folder / "ready").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        assert termios.tcgetattr(terminal) != before
        process.terminate()
        assert process.wait(timeout=60) == 130
    assert termios.tcgetattr(terminal) == before
    os.close(main)
    os.close(terminal)


def test_a_command_has_no_stdin_where_that_is_closed(live, folder):
    live(*SHORT)
    lab = f"{sys.executable} -m sojourn lab live.toml --shell --server true --command 'cat; echo read'"
    done = subprocess.run(
        ["sh", "-c", f"{lab} <&-"], check=False, cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "read"), done.stderr


def test_the_shell_passes_the_code_of_its_command_on(live, sojourn):
    live()
    done = sojourn("lab", "live.toml", "--shell", "--server", "true", "--command", "exit 7")
    assert done.returncode == 1
    assert "--command: ended with code 7" in done.stderr
    for number, name in ((40, "signal 40"), (9, "SIGKILL")):
        killed = ("--server", "true", "--command", f"kill -{number} $$")
        assert f"--command: ended by {name}" in sojourn("lab", "live.toml", "--shell", *killed).stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--command", "true"], "--command, --server: belong to --shell; expected none without it"),
        (["--shell", "--command", ""], "--command: is empty; expected a command"),
        (["--shell", "--json"], "--json: belongs to a run; expected none with --shell"),
        (["--shell", "--qdisc", "pi", "--qdisc", "red"], "--qdisc: is given several times; expected one"),
        (["--shell", "--server", "nosuch x"], '--server: "nosuch" is not installed; expected a command'),
        (["--shell", "--server", "'"], '--server: "\'" is not a command (No closing quotation)'),
    ],
)
def test_options_of_the_shell_that_do_not_fit_are_named(folder, sojourn, arguments, error):
    (folder / "live.toml").write_text(LIVE)
    done = sojourn("lab", "live.toml", *arguments)
    assert done.returncode == 2
    assert error in done.stderr


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
