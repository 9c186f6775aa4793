"""Laws in files of users: FILE.py:CLASS on the command line and in Python."""

import json
import re

import pytest
from python_laws import TenLines, in_the_users_folder

import sojourn as sj
from sojourn.custom.files import law_named

MY_LAW = """
class MyLaw(sj.Controller):
    period = "10 ms"
    gain = 1e-3

    def update(self, seen):
        return min(1.0, self.gain * seen.backlog_packets)
"""

LIMIT = """
class Limit(sj.Law):
    limit_s = 0.05

    def on_departure(self, departure):
        if departure.sojourn_s > self.limit_s:
            return sj.Verdict.DROP
"""


@pytest.mark.slow
def test_a_law_of_a_file_runs_beside_built_in_ones(sojourn, folder):
    in_the_users_folder(folder, MY_LAW)
    qdiscs = (
        "--qdisc",
        "mylaw.py:MyLaw",
        "--qdisc",
        "mylaw.py:MyLaw:gain=2e-3,period=5 ms",
        "--qdisc",
        "tail_drop",
    )
    done = sojourn("run", "small.toml", *qdiscs, "--seeds", "1..2", "--json", "--out", "out")
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [run["qdisc"] for run in runs[::2]] == ["MyLaw", "MyLaw:period=5 ms,gain=0.002", "tail_drop"]
    assert sojourn("report", "out").returncode == 0
    result = sj.run(sj.load(folder / "small.toml"), "tail_drop", seeds=[1, 2])
    assert [run.metrics for run in result.runs] == [run["metrics"] for run in runs[4:]]


HOME = """
title = "A home"
duration = "2 s"
[home]
up = { rate = "2 Mbit/s", delay = "5 ms", buffer = "50 packets" }
down = { rate = "4 Mbit/s", delay = "5 ms", buffer = "50 packets", qdisc = "pie" }
[[flows]]
count = 2
[[flows]]
from = "isp"
to = "lan"
"""


def test_a_law_replaces_the_qdisc_of_one_link(sojourn, folder):
    in_the_users_folder(folder, MY_LAW)
    (folder / "home.toml").write_text(HOME)
    scenario = sj.load(folder / "home.toml")
    qdiscs = [{"up": TenLines()}, {"up": sj.laws.Pi(target="10 packets")}, "down=codel", "codel"]
    result = sj.run(scenario, qdiscs)
    assert result.qdiscs == ["up=TenLines", "up=pi:target=10 packets", "down=codel", "codel"]
    assert list(result.provenance["laws"]) == ["up=TenLines"]

    def queue(link, qdisc):
        return result.for_link(link).values(qdisc, "queue_mean_packets")[1]

    # The other link keeps its own law.
    assert queue("up", "up=TenLines") != queue("up", "up=pi:target=10 packets") != queue("up", "codel")
    assert sj.run(scenario, {"up": "codel"}).qdiscs == ["up=codel"]
    for qdiscs, message in (
        ({"upp": "codel"}, 'qdiscs: "upp" is no link with a qdisc; did you mean "up"?'),
        ({"up": "codel", "down": "pie"}, "is not one link with its qdisc; expected "),
        ({"up": 5}, "qdiscs: up: 5 is not a qdisc"),
        (["up=codel", "up=codel"], "qdiscs: up=codel is given twice"),
    ):
        with pytest.raises(sj.InputError) as error:
            sj.run(scenario, qdiscs)
        assert message in str(error.value)
    text = sojourn("check", "home.toml", "--qdisc", "up=mylaw.py:MyLaw").stdout
    assert "fifo under MyLaw, at up\n" in text
    assert "fifo under pie, at down\n" in text


def test_a_law_that_judges_packets_runs_from_a_file(sojourn, folder):
    in_the_users_folder(folder, LIMIT)
    qdiscs = ("--qdisc", "mylaw.py:Limit", "--qdisc", "mylaw.py:Limit:limit_s=0.02", "--qdisc", "tail_drop")
    runs = {}
    for jobs in ("1", "2"):
        done = sojourn(
            "run", "small.toml", *qdiscs, "--seeds", "1..2", "--jobs", jobs, "--json", "--out", "out"
        )
        assert done.returncode == 0, done.stderr
        runs[jobs] = json.loads(done.stdout)["runs"]
    assert [run["qdisc"] for run in runs["1"][::2]] == ["Limit", "Limit:limit_s=0.02", "tail_drop"]
    for one, other in zip(runs["1"], runs["2"], strict=True):
        assert one["metrics"] == other["metrics"]
    waits = [run["metrics"]["sojourn_p95_s"] for run in runs["1"][::2]]
    assert waits[1] <= 0.02 < waits[0] <= 0.05 < waits[2]
    assert "class Limit(sj.Law):" in sj.Result.read(folder / "out").provenance["laws"]["Limit"]
    done = sojourn("check", "small.toml", "--qdisc", "mylaw.py:Limit:overflow=head")
    assert done.returncode == 0, done.stderr
    assert "  overflow = head\n" in done.stdout
    assert "  limit_s = 0.05 (default)\n" in done.stdout


def test_output_of_a_law_is_no_part_of_the_document(sojourn, folder):
    text = 'print("read")\n' + MY_LAW.replace("return min", 'print("called"); return min')
    in_the_users_folder(folder, text)
    command = ("run", "small.toml", "--qdisc", "mylaw.py:MyLaw", "--seeds", "1..2", "--jobs", "1")
    done = sojourn(*command, "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["runs"]) == 2
    assert set(done.stderr.split()) == {"read", "called"}
    assert sojourn(*command, env={}).stdout.startswith("read\ncalled\n"), "a process reads it anew"


def test_a_law_of_a_file_is_the_same_law_in_python(folder, monkeypatch):
    in_the_users_folder(folder, MY_LAW)
    monkeypatch.chdir(folder)
    scenario = sj.load("small.toml")
    by_text = sj.run(scenario, "mylaw.py:MyLaw:gain=1e-4")
    assert by_text.runs[0].metrics == sj.run(scenario, TenLines()).runs[0].metrics


def test_an_edited_file_is_read_again(folder, monkeypatch):
    monkeypatch.chdir(folder)
    scenario = sj.load("small.toml")
    before, after = MY_LAW.replace("1e-3", "1e-4"), MY_LAW.replace("1e-3", "1e-2")
    queues = []
    for text in (before, after, before):
        in_the_users_folder(folder, text)
        queues.append(sj.run(scenario, "mylaw.py:MyLaw").runs[0].metrics["queue_mean_packets"])
    assert queues[0] == queues[2] > queues[1]


def test_a_file_may_import_its_neighbours_and_hold_dataclasses(sojourn, folder):
    (folder / "laws").mkdir()
    (folder / "laws" / "beside.py").write_text("GAIN = 1e-3\n")
    (folder / "laws" / "mine.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "import sojourn\n"
        "from beside import GAIN\n"
        "@dataclass\n"
        "class Mine(sojourn.Controller):\n"
        "    gain: float = GAIN\n"
        '    period: str = "10 ms"\n'
        "    def update(self, seen: sojourn.Observation) -> float:\n"
        "        return min(1.0, self.gain * seen.backlog_packets)\n"
    )
    done = sojourn("run", "small.toml", "--qdisc", "laws/mine.py:Mine:gain=5e-4", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["qdisc"] == "Mine:gain=0.0005"


def test_check_shows_a_law_of_a_file_with_its_parameters(sojourn, folder):
    in_the_users_folder(folder, MY_LAW)
    done = sojourn("check", "small.toml", "--qdisc", "mylaw.py:MyLaw:gain=0.5")
    assert done.returncode == 0, done.stderr
    assert "fifo under MyLaw:gain=0.5\n" in done.stdout
    assert re.search(r"^  bottleneck .* 40 packets +MyLaw ", done.stdout, re.MULTILINE)
    assert "  gain = 0.5\n" in done.stdout
    assert "  period = 10 ms (default)\n" in done.stdout


def test_a_law_of_a_file_that_fails_is_one_line_and_exit_1(sojourn, folder):
    in_the_users_folder(folder, MY_LAW.replace("min(1.0, ", "max(2.0, "))
    done = sojourn("run", "small.toml", "--qdisc", "mylaw.py:MyLaw")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "sojourn run: MyLaw, seed 1: mylaw.py:8: update gave 2.0, "
        'in "return max(2.0, self.gain * seen.backlog_packets)", at 0.01 s of the run; '
        "expected a probability, a number from 0 to 1\n"
    )


@pytest.mark.parametrize(
    ("base", "method", "message"),
    [
        ("Controller", "update(self, seen)", "update gave <coroutine"),
        ("Controller", "reset(self)", "reset gave <coroutine"),
        ("Law", "on_arrival(self, arrival)", "on_arrival gave <coroutine"),
        ("Law", "on_idle(self, time_s)", "on_idle gave <coroutine"),
        ("Law", "gauges(self)", "gauges gave <coroutine"),
    ],
)
def test_a_method_that_is_a_coroutine_is_refused_in_one_line_without_a_warning(
    sojourn, folder, base, method, message
):
    text = (
        MY_LAW[: MY_LAW.index("class")] + f"class Waits(sj.{base}):\n    async def {method}:\n        pass\n"
    )
    if base == "Controller":
        text += '\n    period = "10 ms"\n'
    if method.startswith("reset"):
        text += "\n    def update(self, seen):\n        return 0.0\n"
    in_the_users_folder(folder, text)
    done = sojourn("run", "small.toml", "--qdisc", "mylaw.py:Waits")
    assert done.returncode != 0
    assert message in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize(
    ("spec", "text", "message"),
    [
        (
            "nowhere.py:MyLaw",
            MY_LAW,
            "nowhere.py: cannot be read (No such file or directory); expected FILE.py",
        ),
        ("mylaw.py", MY_LAW, "mylaw.py names no class of it; write mylaw.py:MyLaw (expected MyLaw)"),
        ("mylaw.py:", MY_LAW, "mylaw.py names no class of it; write mylaw.py:MyLaw (expected MyLaw)"),
        (
            "mylaw.py:Mylaw",
            MY_LAW,
            'mylaw.py: "Mylaw" is not a law or qdisc in it; did you mean "MyLaw"? (expected MyLaw)',
        ),
        ("mylaw.py:sj", MY_LAW, 'mylaw.py: "sj" is not a law or qdisc in it (expected MyLaw)'),
        (
            "mylaw.py:MyLaw",
            "x = 1\n",
            "mylaw.py: holds no law or qdisc; expected a class on sojourn.Controller",
        ),
        ("mylaw.py:MyLaw", "class MyLaw(sj.Controller)\n", "mylaw.py:2: SyntaxError: "),
        ("mylaw.py:MyLaw", "import nothing_such\n", "mylaw.py:2: ModuleNotFoundError: No module named"),
        ("mylaw.py:MyLaw", "import sys\nsys.exit(4)\n", "mylaw.py:3: SystemExit: 4"),
        (
            "mylaw.py:MyLaw:gian=3",
            MY_LAW,
            "mylaw.py:MyLaw: MyLaw has no parameter gian; did you mean gain? expected gain, label, ",
        ),
        ("mylaw.py:MyLaw:gain", MY_LAW, '"gain" is not KEY=VALUE; expected FILE.py:CLASS'),
        ("mylaw.py:MyLaw:gain=1,gain=2", MY_LAW, '"gain" is given twice; expected each key once'),
        ("mylaw.py:MyLaw:period=5", MY_LAW, "MyLaw: period: 5 is not a time with a unit; expected "),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_wrong_spec_of_a_file_is_one_line(refused, folder, spec, text, message, command):
    in_the_users_folder(folder, text)
    (line,) = refused(command, "small.toml", "--qdisc", spec)
    assert line.startswith(f"sojourn {command}: --qdisc: {message}"), line


def test_a_file_that_is_too_large_is_not_run_in_part(folder, monkeypatch):
    monkeypatch.setattr("sojourn.custom.files._MOST_BYTES", 1_000_000)
    in_the_users_folder(folder, f"{MY_LAW}\n{'#' * 1_000_000}\nraise ValueError\n")
    monkeypatch.chdir(folder)
    with pytest.raises(
        sj.InputError, match=r"^--qdisc: mylaw\.py: is too large; expected a file of at most 1 MB$"
    ):
        law_named("mylaw.py:MyLaw")


def test_a_law_of_a_file_replaces_an_invalid_qdisc(sojourn, folder):
    in_the_users_folder(folder, MY_LAW)
    wrong = ("--set", "bottleneck.buffer=1 packet", "--set", "bottleneck.qdisc=pi:target=50packets")
    assert sojourn("run", "small.toml", *wrong, "--qdisc", "mylaw.py:MyLaw", "--quiet").returncode == 0
