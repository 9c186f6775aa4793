"""Sweeps killed (SIGKILL) before any step of their writing, and disks that fill up at any of them.

A sweep has designs, certificates, windows and rounds of --until, and its journal becomes files all the time.
`make kills` tries each step; here are some of them.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.errors import NotWritten
from sojourn.sweep import store
from sojourn.sweep.journal import Journal
from sojourn.sweep.store import opened

pytestmark = pytest.mark.slow

#: All steps with 15 kills or more.
MANY = int(os.environ.get("KILLS", "1")) >= 15
#: Cells of a file while they run.
BATCH = 20
GRID = """\
scenario = "dumbbell"
set = { duration = "2 s", warmup = "1 s", at = [], windows = ["1 s..2 s"], "flows[0].count" = 20 }
theory = true
[axes]
qdisc = [{ design = "pi", target = "80 ms" }, "codel"]
"""
UNTIL = {"until": "queue_mean_packets=1%", "most_seeds": 30}
WORDS = ["sweep", "g.toml", "--out", "store", "--quiet", "--jobs", "2"]
WORDS += ["--until", UNTIL["until"], "--most-seeds", "30"]
#: Steps of writing.
STEPS = ("fsync", "rename", "unlink", "pwrite", "ftruncate")

# Runs a sweep and kills itself before a step of its writing, the one of this number, or in the middle of it.
# Cells are noted in a file once the store has them.
MORTAL = f"""
import itertools, os, signal, sys
from sojourn.sweep import store

number, steps = int(sys.argv[1]), itertools.count()
noted = os.open("noted", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
store._BATCH = {BATCH}

def mortal(name, step):
    def counted(*arguments, **more):
        if next(steps) == number:
            if name == "pwrite":
                step(arguments[0], arguments[1][: len(arguments[1]) // 2], *arguments[2:])
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*arguments, **more)
    return counted

for name in {STEPS!r}:
    setattr(os, name, mortal(name, getattr(os, name)))

add = store.Store.add
def noting(self, record):
    add(self, record)
    os.write(noted, record.cell.encode() + b"\\n")
store.Store.add = noting

from sojourn.cli import main
code = main(sys.argv[2:])
print(next(steps))
sys.exit(code)
"""


@pytest.fixture
def good(folder, monkeypatch):
    """The files of an undisturbed sweep; the grid is in this folder."""
    monkeypatch.chdir(folder)
    (folder / "g.toml").write_text(GRID)
    found = sj.sweep("g.toml", "good", **UNTIL)
    assert 40 < found.ran <= 60, "one point at least has a second round"
    return found


def files_of(place):
    return {path.name: path.read_bytes() for path in place.iterdir()}


def lived(number):
    """Run a sweep that dies before this step; True if it did, else the number of its steps."""
    words = [sys.executable, "-c", MORTAL, str(number), *WORDS]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    # Its points do not reach the precision of --until, which is exit code 1.
    assert done.returncode in (1, -signal.SIGKILL), done.stderr
    has_ended = done.returncode == 1
    return has_ended, int(done.stdout.split()[-1]) if has_ended else number


def noted():
    return set(Path("noted").read_text().split())


def test_killed_before_each_step(good):
    wanted = files_of(good.folder)
    assert {*wanted} > {"cells-all.parquet", "windows-all.parquet", "designs.json", "theory.parquet"}
    ended, steps = lived(-1)
    assert ended
    assert files_of(good.folder.parent / "store") == wanted
    assert steps > 2 * BATCH
    seen = 0
    for number in range(0, steps, 1 if MANY else steps // 5):
        shutil.rmtree("store", ignore_errors=True)
        (good.folder.parent / "noted").unlink(missing_ok=True)
        ended, _ = lived(number)
        # Threads end in any order, and the last steps may have been fewer.
        seen += not ended
        with opened(good.folder.parent / "store") as left:
            finished = set(left.finished())
        # One may be in the journal and not yet noted.
        assert noted() <= finished
        assert len(finished - noted()) <= 1
        again = sj.sweep("g.toml", "store", **UNTIL)
        assert (again.found, again.ran) == (len(finished), good.ran - len(finished)), f"step {number}"
        assert files_of(again.folder) == wanted, f"step {number}"
    assert seen > 3


def test_killed_again_and_again(good):
    """Each life has some steps, enough to recover and to go on: the sweep ends, and no cell is run twice."""
    for lives in itertools.count(1):
        ended, _ = lived(25 if MANY else 40)
        if ended:
            break
        assert lives < 100, "it gets nowhere"
    assert lives > 2
    cells = (good.folder.parent / "noted").read_text().split()
    # A kill between a line of the journal and its note leaves the line.
    assert len(cells) == len(set(cells))
    assert good.ran - lives <= len(cells) <= good.ran
    assert files_of(good.folder.parent / "store") == files_of(good.folder)


FULL = "(No space left on device); the cells that had finished are kept there"


def outcome_of(call):
    """The line of an error of writing; None: there was none."""
    try:
        call()
    except NotWritten as error:
        (line,) = error.lines
        return line
    return None


def test_a_disk_that_fills_up_at_any_step_keeps_what_is_acknowledged(good, monkeypatch):
    wanted, number = files_of(good.folder), 0
    monkeypatch.setattr(store, "_BATCH", BATCH)
    stride = 1 if MANY else 11
    while True:
        shutil.rmtree("store", ignore_errors=True)
        acknowledged, steps, full = [], itertools.count(), []
        with monkeypatch.context() as patch:

            def failing(step, steps=steps, full=full, number=number):
                def counted(*arguments, **more):
                    if next(steps) >= number:
                        full.append(step)
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    return step(*arguments, **more)

                return counted

            whole = Journal.append

            def append(journal, document, whole=whole, acknowledged=acknowledged):
                whole(journal, document)
                # A cell, and no design or certificate.
                if isinstance(document, list) and len(document) == 5:
                    acknowledged.append(document[0])

            for name in ("fsync", "rename", "pwrite"):
                patch.setattr(os, name, failing(getattr(os, name)))
            patch.setattr(Journal, "append", append)
            outcome = outcome_of(lambda: sj.sweep("g.toml", "store", **UNTIL))
        # The last step is that of an entry in its folder, whose loss is none of the writing.
        assert FULL in (outcome or (FULL if len(full) < 2 else ""))
        again = sj.sweep("g.toml", "store", **UNTIL)
        assert again.found == len(acknowledged) == len(set(acknowledged))
        assert again.found + again.ran == good.ran
        assert files_of(again.folder) == wanted
        if not full:
            break
        number += stride
    assert number > 2 * BATCH
