"""A scenario, laws and commands of live runs, and signals to them."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

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

SHORT = ("--set", "duration=3s", "--set", "warmup=1s")

MINE = """
import sojourn
class Mine(sojourn.Controller):
    period = "10 ms"
    def update(self, seen):
        return 0.0
"""

#: Updates that do not return: in C with Python's lock, in Python, and in C without the lock.
STUCK = {
    "lock": "__import__('re').match('(a+)+$', 60 * 'a' + 'b')",
    "loop": "exec('while True: pass')",
    "sleep": "__import__('time').sleep(1e6)",
}


def stuck(folder, how):
    (folder / "stuck.py").write_text(MINE.replace("return 0.0", STUCK[how]))
    return "stuck.py:Mine"


def sent(number):
    return lambda process: os.kill(process, number)


def sent_to_the_group(number):
    return lambda process: os.killpg(process, number)


def interrupted(folder, stop, after_s, *arguments, ready=None):
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
    for child in children_of(command):
        with contextlib.suppress(OSError):
            names = [os.readlink(one) for one in Path(f"/proc/{child}/fd").iterdir()]
            if sum(name.startswith("net:[") for name in names) >= 2:
                return True
    return False


def children_of(process):
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
