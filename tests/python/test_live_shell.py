"""`sojourn lab --shell`: programs of the user over the links of a scenario."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from lab import LIVE, MINE, SHORT, children_of, interrupted, sent, sent_to_the_group, stuck

import sojourn as sj
from sojourn import live as live_process
from sojourn import stops
from sojourn._core import Cancelled

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


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("command", "stop", "code"),
    [("exec sleep 60", None, 1), ("true", None, 1), ("exec sleep 60", signal.SIGTERM, 130)],
)
def test_a_law_that_does_not_return_ends_with_the_shell(live, folder, command, stop, code):
    live(*SHORT)
    arguments = ("lab", "live.toml", "--qdisc", stuck(folder, "loop"), "--shell", "--server", "true")
    stopping = sent(stop) if stop else lambda _process: None
    done = interrupted(folder, stopping, 0.5, *arguments, "--command", command)
    assert done.returncode == code, done.stderr
    line = "interrupted; the command was ended" if stop else "sojourn lab: Mine: does not return in time"
    assert line in done.stderr


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
        (sent(signal.SIGTERM), "TERM", 130),
        (sent_to_the_group(signal.SIGTERM), "TERM", 130),
        (sent(signal.SIGINT), "on", 0),
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
    done = interrupted(folder, stop, 0.0, *arguments, ready=folder / "ready")
    assert done.returncode == code, done.stderr
    assert (folder / "wrote").read_text().strip() == written
    assert "packets delivered" in done.stdout
    assert ("interrupted; the command was ended" in done.stderr) == (code == 130)


def test_a_stop_of_the_shell_at_any_moment_ends_it_as_an_interrupt(live, folder):
    live(*SHORT)
    command = [sys.executable, "-m", "sojourn", "lab", "live.toml", "--shell", "--command", "exec sleep 500"]
    pipe = subprocess.PIPE
    for stop in (sent(signal.SIGTERM), sent_to_the_group(signal.SIGTERM)):
        for after_s in (0.0, 0.05, 0.1, 0.2, 0.4):
            with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, process_group=0) as process:
                assert children_of(process.pid)
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
            assert children_of(process.pid)
            time.sleep(after_s)
            os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        assert process.returncode == 130, (after_s, errors)
        assert b"sojourn lab: interrupted; " in errors
        assert b"Traceback" not in errors


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


@pytest.mark.parametrize("stop", [None, sent(signal.SIGTERM)], ids=["ends", "SIGTERM"])
def test_nothing_that_a_command_has_started_is_left(live, folder, stop):
    """A child of the command's shell, and one in a session of its own."""
    live(*SHORT)
    mark = f"5{os.getpid()}"
    script = f"setsid sleep {mark}1 & touch ready; " + (f"sleep {mark}2" if stop else "sleep 1")
    arguments = ("lab", "live.toml", "--shell", "--server", "true", "--command", script)
    done = interrupted(folder, stop or (lambda _process: None), 0.0, *arguments, ready=folder / "ready")
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
