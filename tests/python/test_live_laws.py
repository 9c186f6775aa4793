"""Laws in Python in live runs: where they come from, how they fail, and that they end."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lab import MINE, SHORT, STUCK, children_of, interrupted, sent, stuck

import sojourn as sj


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

WITH_A_FUNCTION = (
    "from beside import Mine\ndef helper():\n    pass\n" + RUN.replace("Mine()", "Mine(helper)"),
    FROM_THE_PROGRAM[1].replace("(Mine is", "(helper is"),
)


@pytest.mark.parametrize(
    ("program", "printed"),
    [FROM_A_MODULE, FROM_THE_PROGRAM, WITH_A_FUNCTION],
    ids=["module", "program", "function"],
)
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


@pytest.mark.thinned(3)
@pytest.mark.parametrize("how", STUCK)
def test_one_interrupt_ends_a_law_in_python_that_does_not_return(live, folder, how):
    live(*SHORT)
    arguments = ("lab", "live.toml", "--qdisc", stuck(folder, how))
    done = interrupted(folder, sent(signal.SIGINT), 1.0, *arguments)
    assert done.returncode == 130, done.stderr
    assert "interrupted; none of 1 runs had finished" in done.stderr


def test_a_law_that_does_not_return_ends_with_the_command(live, folder):
    """Also where it holds Python's lock, and its parent is killed."""
    live(*SHORT)
    command = [sys.executable, "-m", "sojourn", "lab", "live.toml", "--qdisc", stuck(folder, "lock")]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        children = children_of(process.pid)
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


def test_a_law_slower_than_its_period_makes_a_run_void(live, folder):
    (folder / "slow.py").write_text(
        MINE.replace("return 0.0", "return __import__('time').sleep(0.05) or 0.0")
    )
    done = live(*SHORT, "--qdisc", "slow.py:Mine")
    assert done.returncode == 1, done.stdout
    assert "void: Mine live, seed 1: the network was seconds behind the clock; a law in" in done.stderr
