"""Commands killed (SIGKILL) over a good result leave it, or the new one, whole and in its place.

`make kills` kills each at 15 random moments and at every step of its writing; here are a few of them.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sojourn as sj
from sojourn import files
from sojourn.result.folder import OURS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("undrawn")]

#: Number of random moments, and the steps: all of them with 15 moments or more.
MOMENTS = int(os.environ.get("KILLS", "1"))
STRIDE = 1 if MOMENTS >= 15 else 7
SEED = 16

COMMANDS = {
    "run": ["run", "small.toml", "--seed", "2", "--out", "out", "--quiet"],
    "report": ["report", "out", "--baseline", "tail_drop"],
    "prove": ["prove", "dumbbell", "--qdisc", "pi", "-o", "page.html"],
}

# Runs a command without pictures, and kills itself before a step of its writing: the one of this number.
MORTAL = """
import itertools, os, signal, sys
from sojourn.files import writing

number, steps = int(sys.argv[1]), itertools.count()

def mortal(step):
    def counted(*arguments, **more):
        if next(steps) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*arguments, **more)
    return counted

for name in ("fsync", "rename", "unlink", "rmdir", "mkdir"):
    setattr(os, name, mortal(getattr(os, name)))
writing._renameat2 = mortal(writing._renameat2)
from sojourn.cli import main
from sojourn.report import figures
figures.drawn = lambda figure: "<svg></svg>"
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def place(folder, scenario):
    """A folder with a good result, its page, and a certificate's page."""
    result = sj.run(scenario, qdiscs=["tail_drop", "codel"], seeds=[1])
    result.write(folder / "out")
    result.report(folder / "out" / "report.html", baseline="codel")
    sj.prove(sj.load("dumbbell"), "pi:target=50packets").report(folder / "page.html")
    shutil.copytree(folder, f"{folder}.good")
    return folder


def again(place: Path) -> None:
    """Restore the initial state."""
    shutil.rmtree(place)
    shutil.copytree(f"{place}.good", place)


def started(place: Path, words: list[str]) -> subprocess.Popen[bytes]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, *words], cwd=place, **quiet)


def state(place: Path) -> str:
    """The content there, which must be whole: the old or the new, of each of the three."""
    seeds = sj.Result.read(place / "out").seeds
    page = (place / "out" / "report.html").read_text()
    assert page.endswith("</html>\n")
    assert f"<dt>Seeds</dt><dd>{seeds[0]}</dd>" in page, "the page is that of the result"
    proven = (place / "page.html").read_text()
    assert proven.endswith("</html>\n")
    baseline = re.search(r'name="sojourn-baseline" content="([a-z_]+)', page)[1]
    return f"{seeds} {baseline} {'50 packets' in proven}"


#: Files of a result without windows and records.
WRITTEN = {"result.json", "provenance.json", "series.parquet", "distributions.parquet", "report.html"}


def cleaned(place: Path) -> None:
    """The next command finds the remnants, and none of them stays."""
    for path, ours in (("out", OURS), ("out/report.html", ()), ("page.html", ())):
        assert all("left by a process that was killed" in line for line in files.sweep(place / path, ours))
    assert sorted(os.listdir(place)) == ["out", "page.html", "small.toml"]
    assert set(os.listdir(place / "out")) == WRITTEN < set(OURS)


@pytest.mark.parametrize("command", COMMANDS)
def test_at_random_moments(place, command):
    words = ["-m", "sojourn", *COMMANDS[command]]
    before = state(place)
    rng = random.Random(f"{SEED} {command}")
    began = time.monotonic()
    assert started(place, words).wait() == 0
    took, after = time.monotonic() - began, state(place)
    assert after != before
    seen = []
    for number in range(MOMENTS):
        again(place)
        process = started(place, words)
        # Writing comes last, and is short.
        time.sleep(took * (rng.uniform(0, 1.1) if number % 3 == 0 else rng.uniform(0.8, 1.05)))
        process.send_signal(signal.SIGKILL)
        process.wait()
        seen.append(state(place))
        assert seen[-1] in (before, after)
        cleaned(place)
    print(f"{command}: killed at {MOMENTS} moments of {took:.1f} s: {seen.count(before)} times the old one")


@pytest.mark.parametrize("command", COMMANDS)
def test_at_the_steps_of_writing(place, command):
    before, number, seen = state(place), 0, []
    while True:
        process = started(place, ["-c", MORTAL, str(number), *COMMANDS[command]])
        code = process.wait()
        assert code in (0, -signal.SIGKILL)
        seen.append(state(place))
        cleaned(place)
        if code == 0:
            break
        again(place)
        number += STRIDE
    assert seen[0] == before
    assert seen[-1] != before
    assert sorted(seen, key=lambda one: one != before) == seen, "once it is new, it stays so"
    print(f"{command}: killed before {len(seen) - 1} steps of its writing")
