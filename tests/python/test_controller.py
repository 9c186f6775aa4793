"""Laws written in Python: the same verdicts as built-in ones, copies for every run, faults with the line."""

import inspect
import json
import math
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sojourn as sj
from sojourn.controller.parameters import label_of

HERE = Path(__file__).name


class TenLines(sj.Controller):
    """The law of the README."""

    period = "10 ms"
    gain = 1e-4

    def update(self, seen):
        return min(1.0, self.gain * seen.backlog_packets)


class PiInPython(sj.Controller):
    """The built-in PI, its floating-point operations in the same order (crates/aqm/src/laws/pi.rs)."""

    period = "6.25 ms"  # 160 Hz
    target_packets = 100.0
    a = 1.822e-5
    b = 1.816e-5

    def reset(self):
        self.p, self.error = 0.0, -self.target_packets

    def update(self, seen):
        error = seen.backlog_packets - self.target_packets
        p = self.p + self.a * error - self.b * self.error
        self.p, self.error = min(max(p, 0.0), 1.0), error
        return self.p


class Silent(sj.Controller):
    """Never acts: tail drop."""

    period = "10 ms"

    def update(self, seen):  # noqa: ARG002
        return 0


# ---- The same law -------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_pi_in_python_gives_exactly_the_verdicts_of_the_built_in_one(root, jobs):
    scenario = sj.load(root / "scenarios" / "arm_pfc" / "exp1.toml")
    built_in = sj.laws.Pi(target="100 packets", a=PiInPython.a, b=PiInPython.b)
    result = sj.run(scenario, discs=[built_in, PiInPython()], seeds=[1, 2], jobs=jobs)
    ours, theirs = result.discs
    for seed in (1, 2):
        one, other = (run for run in result.runs if run.seed == seed)
        assert other.metrics == one.metrics
        assert other.conservation == one.conservation
        assert other.cost["events"] == one.cost["events"]
        assert one.metrics["mark_ratio"] > 0, "a law that does nothing proves nothing"
    for table in (result.series, result.distributions):
        both = [table.filter(pl.col("disc") == disc).drop("disc") for disc in (ours, theirs)]
        assert both[0].height > 100
        assert_frame_equal(*both, check_exact=True)
    assert result.series.filter(pl.col("name") == "p")["value"].max() > 0


def test_a_law_that_never_acts_is_tail_drop(scenario):
    one, other = sj.run(scenario, discs=["tail_drop", Silent()], seeds=[5]).runs
    metrics = {name for name, value in one.metrics.items() if value != other.metrics[name]}
    assert metrics == set()


def test_the_ten_lines_run_beside_a_built_in_law_over_seeds(scenario):
    result = sj.run(scenario, discs=[TenLines(gain=1e-3), sj.laws.TailDrop()], seeds=range(1, 4), jobs=2)
    assert result.discs == ["TenLines:gain=0.001", "tail_drop"]
    queue = {disc: result.values(disc, "queue_mean_packets") for disc in result.discs}
    assert all(queue["TenLines:gain=0.001"][seed] < queue["tail_drop"][seed] for seed in (1, 2, 3))


def test_a_law_alone_needs_no_list(scenario):
    assert sj.run(scenario, TenLines()).discs == ["TenLines"]


def test_its_result_is_written_read_and_reported_as_any_other(scenario, tmp_path):
    result = sj.run(scenario, discs=[TenLines(), "tail_drop"], seeds=[1, 2])
    again = sj.Result.read(result.write(tmp_path / "out"))
    assert again.runs == result.runs
    assert "TenLines" in again.report(tmp_path / "page.html").read_text()


def test_a_result_keeps_the_source_of_its_laws(scenario, tmp_path):
    law = type("Sourceless", (TenLines,), {"__module__": "nowhere"})()
    result = sj.run(scenario, discs=[TenLines(gain=1e-3), law, "tail_drop"])
    again = sj.Result.read(result.write(tmp_path / "out"))
    assert list(again.provenance["laws"]) == ["TenLines:gain=0.001", "Sourceless"]
    assert again.provenance["laws"]["TenLines:gain=0.001"] == inspect.getsource(TenLines)
    assert again.provenance["laws"]["Sourceless"] is None
    assert "laws" not in sj.run(scenario).provenance


# ---- What it sees -------------------------------------------------------------------------------


def test_an_observation_tells_what_the_disc_counts(scenario):
    seen = []

    class Watcher(sj.Controller):
        period = "10 ms"

        def update(self, now):
            seen.append(now)
            return 0.01

    run = sj.run(scenario, discs=[Watcher()], seeds=[1]).runs[0]
    assert [one.time_s for one in seen] == pytest.approx([0.01 * (n + 1) for n in range(600)])
    assert {one.elapsed_s for one in seen} == {0.01}
    totals = {
        name: sum(getattr(one, name) for one in seen)
        for name in (
            "arrivals_packets",
            "arrivals_bytes",
            "departures_packets",
            "drops_packets",
            "marks_packets",
        )
    }
    count = run.conservation
    # The last update is at the end of the run, before the packets of that instant.
    assert count["offered"] - totals["arrivals_packets"] in (0, 1)
    assert count["delivered"] - totals["departures_packets"] in (0, 1)
    assert totals["drops_packets"] == count["dropped"]
    assert totals["marks_packets"] > 0
    for one in seen:
        assert one.capacity_bps == 2e6
        assert one.capacity_pps == 250
        assert one.base_rtt_s == pytest.approx(0.05)  # 2 (5 ms + 2 x 10 ms)
        assert one.mean_packet_bytes == 1000
        assert one.limit_packets == 40
        assert 0 <= one.backlog_packets <= 40
        assert 0 <= one.busy_s <= one.elapsed_s
        # A FIFO of n packets of 1000 B at 250 packets/s has a head that waited for some of them at most.
        assert 0 <= one.sojourn_s <= 41 / 250
        assert (one.sojourn_s > 0) <= (one.backlog_packets > 0)
        acted = one.applied_p * one.arrivals_packets
        assert acted == pytest.approx(one.marks_packets) or one.drops_packets > 0
    assert max(one.backlog_packets for one in seen) == 40


def test_the_capacity_follows_the_schedule_and_what_is_unknown_is_told(folder):
    (folder / "open.toml").write_text(
        (folder / "small.toml").read_text().replace('buffer = "40 packets"\n', "")
        + '\n[[at]]\ntime = "3 s"\nset = { "bottleneck.rate" = "1 Mbit/s" }\n'
    )
    seen = []

    class Watcher(sj.Controller):
        period = "500 ms"

        def update(self, now):
            seen.append((now.time_s, now.capacity_pps, now.limit_packets))
            return 0.1

    sj.run(sj.load(folder / "open.toml"), Watcher())
    # At one instant changes come before updates.
    assert [rate for time_s, rate, _ in seen if time_s < 3] == [250.0] * 5
    assert [rate for time_s, rate, _ in seen if time_s >= 3] == [125.0] * 7
    assert {limit for *_, limit in seen} == {math.inf}


def test_an_observation_is_frozen_documented_and_shows_itself(scenario):
    kept = []

    class Keeper(sj.Controller):
        period = "1 s"

        def update(self, seen):
            kept.append(seen)
            return 0.0

    sj.run(scenario, Keeper())
    names = [name for name in dir(sj.Observation) if not name.startswith("_")]
    assert len(names) == 18
    assert all(getattr(sj.Observation, name).__doc__ for name in names)
    with pytest.raises(AttributeError):
        kept[0].backlog_packets = 3
    with pytest.raises(TypeError):
        sj.Observation()
    text = repr(kept[0])
    assert text.startswith("Observation(time_s=1.0, elapsed_s=1.0, ")
    assert re.findall(r"(\w+)=", text)[:2] == ["time_s", "elapsed_s"]
    assert sorted(re.findall(r"(\w+)=", text)) == names


# ---- Templates, parameters, labels --------------------------------------------------------------


def test_every_run_has_its_own_copy(scenario):
    class Counting(sj.Controller):
        period = "10 ms"
        history = []  # noqa: RUF012 - a list of the class is what a beginner writes
        count = 0

        def __init__(self):
            self.own = {"updates": 0}

        def update(self, seen):
            assert len(self.history) == self.own["updates"] == self.count == round(seen.time_s / 0.01) - 1
            self.history.append(seen)
            self.own["updates"] += 1
            self.count += 1
            return 0.001 * min(1.0, len(self.history) / 100)

    law = Counting()
    alone = [sj.run(scenario, law, seeds=[seed]).runs[0] for seed in (1, 2, 3)]
    among = sj.run(scenario, law, seeds=[3, 2, 1], jobs=2).runs
    assert list(among) == alone
    assert (Counting.history, law.own, law.count) == ([], {"updates": 0}, 0)


def test_reset_is_called_once_a_run_before_the_first_update(scenario):
    calls = []

    class Resetting(sj.Controller):
        period = "2 s"

        def reset(self):
            self.started = True
            calls.append("reset")

        def update(self, seen):
            assert self.started
            calls.append(seen.time_s)
            return 0.0

    law = Resetting()
    sj.run(scenario, law, jobs=1)
    assert calls[-4:] == ["reset", 2.0, 4.0, 6.0]
    assert not hasattr(law, "started")


def test_a_law_that_is_changed_afterwards_changes_no_run(scenario):
    law = TenLines(gain=1e-3)
    before = sj.run(scenario, law).runs[0].metrics
    law.gain = 1e-4
    assert sj.run(scenario, law).discs == ["TenLines"]
    law.gain = 1e-3
    assert sj.run(scenario, law).runs[0].metrics == before


def test_a_law_that_is_changed_meanwhile_changes_no_run(scenario):
    class Meddling(TenLines):
        def update(self, seen):
            law.gain = 1.0
            return super().update(seen)

    law = Meddling()
    runs = sj.run(scenario, law, seeds=[1, 2], jobs=1).runs
    assert [run.metrics for run in runs] == [
        run.metrics for run in sj.run(scenario, TenLines(), seeds=[1, 2]).runs
    ]


@dataclass
class Data(sj.Controller):
    gain: float = 1e-4
    period: str = "20 ms"
    steep: bool = False
    seen: list = field(default_factory=list)

    def update(self, seen):
        return min(1.0, self.gain * seen.backlog_packets * (2 if self.steep else 1))


@dataclass(frozen=True)
class Frozen(sj.Controller):
    period: str = "20 ms"
    table = [0.0, 0.1]  # noqa: RUF012

    def update(self, seen):
        return self.table[seen.backlog_packets > 10]


class Own(sj.Controller):
    def __init__(self, gain, period="10 ms"):
        self.gain, self.period, self.p = gain, period, 0.0

    def update(self, seen):
        return min(1.0, self.gain * seen.backlog_packets)


class Named(TenLines):
    label = "my favourite"


@pytest.mark.parametrize(
    ("law", "label"),
    [
        (TenLines(), "TenLines"),
        (TenLines(gain=2e-4), "TenLines:gain=0.0002"),
        (TenLines(period="5 ms", target_packets=20), "TenLines:target_packets=20,period=5 ms"),
        (Data(), "Data"),
        (Data(gain=1, steep=True), "Data:gain=1,steep=true"),
        (Frozen(), "Frozen"),
        (Own(0.25), "Own:gain=0.25"),
        (Own(0.25, "20 ms"), "Own:gain=0.25,period=20 ms"),
        (Named(), "my favourite"),
        (TenLines(gain=3, label="steep"), "steep"),
    ],
)
def test_the_label_is_the_class_and_what_is_not_at_its_default(scenario, law, label):
    assert sj.run(scenario, law, seeds=[1]).discs == [label]


def test_the_target_is_what_the_metrics_are_about(scenario):
    result = sj.run(scenario, discs=[TenLines(), TenLines(target_packets=20)])
    without, with_target = (run.metrics for run in result.runs)
    assert without["qacd_packets"] is None
    assert with_target["qacd_packets"] > 0
    assert without["queue_mean_packets"] == with_target["queue_mean_packets"]


def test_a_wrong_parameter_names_the_legal_ones():
    with pytest.raises(
        TypeError, match=r"TenLines has no parameter gian; legal: gain, label, period, target_packets"
    ):
        TenLines(gian=3)


class NoUpdate(sj.Controller):
    period = "10 ms"


class NoPeriod(sj.Controller):
    def update(self, seen):  # noqa: ARG002
        return 0


class Locked(TenLines):
    def __init__(self):
        self.lock = threading.Lock()


class BadReset(TenLines):
    def reset(self):
        raise KeyError("gain")


class BadProperty(TenLines):
    @property
    def target_packets(self):
        return 1 / 0


class BadLabel(TenLines):
    label = "two\nlines"


class Labelled(TenLines):
    def __init__(self, label):
        self.label = label


@pytest.mark.parametrize(
    ("law", "says"),
    [
        (
            BadProperty(),
            rf"^discs: BadProperty cannot be set up .*{HERE}:\d+: ZeroDivisionError: division by zero",
        ),
        (BadLabel(), r"^discs: BadLabel: label: 'two\\nlines' is not a name; legal: text on one line"),
        (
            Labelled("x" * 61),
            r"^discs: Labelled: label: 'x+'\.\.\. has 61 letters; legal: .* at most 60 letters",
        ),
        (
            TenLines(gain="y" * 60),
            r"^discs: TenLines: its name and parameters: .* has 74 letters; legal: label",
        ),
        (TenLines, r"^discs: TenLines is a class; legal: an object of it, TenLines\(\)"),
        (NoUpdate(), r"^discs: NoUpdate has no update; legal: def update\(self, seen\)"),
        (
            NoPeriod(),
            r"^discs: NoPeriod: period: is missing; legal: a time of 1 us or more such as \"10 ms\"",
        ),
        (TenLines(period=10), r"^discs: TenLines: period: 10 is not a time with a unit; legal: a time"),
        (TenLines(period="10"), r'^discs: TenLines: period: "10" needs a unit: ns, us, ms'),
        (TenLines(period="10 packets"), r"^discs: TenLines: period: \"packets\" is not a unit of a time"),
        (
            TenLines(period="999 ns"),
            r"^discs: TenLines: period: \"999 ns\" is too short; legal: a time of 1 us",
        ),
        (TenLines(period="0 s"), r"^discs: TenLines: period: \"0 s\" is too short"),
        (TenLines(period="-1 ms"), r"^discs: TenLines: period: \"-1 ms\" is negative"),
        (
            TenLines(target_packets="20 packets"),
            r"target_packets: '20 packets' is not a number of packets; legal",
        ),
        (TenLines(target_packets=math.nan), "target_packets: nan is not a number of packets"),
        (TenLines(target_packets=-1), "target_packets: -1 is not a number of packets"),
        (
            Locked(),
            r"^discs: Locked cannot be copied for each run "
            r"\(TypeError: cannot pickle '_thread.lock' object\); legal: what copy.deepcopy can copy$",
        ),
        (
            BadReset(),
            rf"^discs: BadReset cannot be set up .*{HERE}:\d+: KeyError: 'gain', in \"raise KeyError",
        ),
        (object(), "is not a disc; legal: "),
    ],
)
def test_a_law_that_cannot_run_is_refused_in_one_line_before_any_run(scenario, law, says):
    with pytest.raises(sj.InputError, match=says) as caught:
        sj.run(scenario, discs=[law, "tail_drop"])
    assert len(caught.value.lines) == 1
    assert "\n" not in caught.value.lines[0]


def test_two_laws_of_one_label_are_refused(scenario):
    with pytest.raises(
        sj.InputError, match=r"TenLines is given twice; .*or a label of its own for a law in Python"
    ):
        sj.run(scenario, discs=[TenLines(), TenLines()])


# ---- Failures -----------------------------------------------------------------------------------


class Failing(sj.Controller):
    """Does what it is told, from one second on."""

    period = "10 ms"
    what = None

    def update(self, seen):
        if seen.time_s < 1:
            return 0.5
        return self.what() if callable(self.what) else self.what


def quotient():
    return 1 / 0


def silence():
    raise RuntimeError


def lines():
    raise ValueError("two\nlines")


def leave():
    sys.exit(3)


class OneReturn(sj.Controller):
    period = "10 ms"

    def update(self, seen):
        return 1e9 * seen.backlog_packets


class NoReturn(sj.Controller):
    period = "10 ms"

    def update(self, seen):
        self.p = seen.backlog_packets


class NoArgument(sj.Controller):
    period = "10 ms"

    def update(self):
        return 0.0


class Deep(sj.Controller):
    period = "10 ms"

    def update(self, seen):
        return self.root(seen.backlog_packets - 100)

    def root(self, number):
        return math.sqrt(number)


def line_with(text):
    """The number of the first line of this file that reads so."""
    source = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(source, 1) if line.strip() == text)


@pytest.mark.parametrize(
    ("law", "line", "what"),
    [
        (Failing(what=math.nan), "def update(self, seen):", "update gave nan"),
        (Failing(what=1.0000001), "def update(self, seen):", "update gave 1.0000001"),
        (Failing(what=-1e-9), "def update(self, seen):", "update gave -1e-09"),
        (Failing(what=math.inf), "def update(self, seen):", "update gave inf"),
        (Failing(what="0.5"), "def update(self, seen):", "update gave '0.5'"),
        (Failing(what=[0.5]), "def update(self, seen):", "update gave [0.5]"),
        (Failing(what=True), "def update(self, seen):", "update gave True, a truth value"),
        (Failing(what=numpy.True_), "def update(self, seen):", "update gave np.True_, a truth value"),
        (Failing(what=2j), "def update(self, seen):", "update gave 2j"),
        (Failing(what=quotient), "return 1 / 0", "ZeroDivisionError: division by zero"),
        (Failing(what=silence), "raise RuntimeError", "RuntimeError"),
        (Failing(what=lines), 'raise ValueError("two\\nlines")', "ValueError: two lines"),
        (Failing(what=leave), "sys.exit(3)", "SystemExit: 3"),
        (OneReturn(), "return 1e9 * seen.backlog_packets", "update gave "),
        (NoReturn(), "self.p = seen.backlog_packets", "update gave None"),
        (NoArgument(), "def update(self):", "TypeError: "),
        (Deep(), "return math.sqrt(number)", "ValueError: math domain error"),
    ],
)
def test_a_failure_names_the_law_the_seed_and_the_line(scenario, law, line, what):
    with pytest.raises(sj.LawFailed) as caught:
        sj.run(scenario, discs=[law], seeds=[7])
    (told,) = caught.value.lines
    assert "\n" not in told
    assert told.startswith(f"{label_of(law)}, seed 7: {Path(__file__)}:"), told
    assert what in told
    assert f'in "{line}", at ' in told
    assert "s of the run" in told
    if not isinstance(law, Failing):
        assert f":{line_with(line)}: " in told
    if "update gave" in what:
        assert told.endswith("; legal: a probability, a number from 0 to 1")
        assert caught.value.__cause__ is None
    else:
        assert type(caught.value.__cause__).__name__ in what


def test_a_failure_is_a_failed_run_and_keeps_the_others(scenario):
    starts = []

    class Seldom(sj.Controller):
        period = "10 ms"

        def reset(self):
            starts.append(self)
            self.armed = len(starts) == 4  # after a trial before all runs, and the first two of them

        def update(self, seen):
            return 1 / 0 if self.armed and seen.time_s > 5 else 0.01

    with pytest.raises(sj.RunFailed, match=r"Seldom, seed 3: .*ZeroDivisionError") as caught:
        sj.run(scenario, discs=[Seldom()], seeds=[1, 2, 3, 4], jobs=1)
    assert isinstance(caught.value, sj.LawFailed)
    assert caught.value.exit_code == 1
    assert [run.seed for run in caught.value.result.runs] == [1, 2]


def test_after_a_failure_python_is_not_called_again(scenario):
    calls = []

    class Once(sj.Controller):
        period = "10 ms"

        def update(self, seen):
            calls.append(seen.time_s)
            raise RuntimeError("no")

    with pytest.raises(sj.LawFailed):
        sj.run(scenario, Once())
    assert calls == [0.01]


@pytest.mark.parametrize("answer", [1, 0, 0.25])
def test_whatever_is_a_number_from_0_to_1_is_a_probability(scenario, answer):
    wrapped = numpy.float32(answer) if isinstance(answer, float) else answer
    assert sj.run(scenario, Failing(what=wrapped)).runs


# ---- Other threads ------------------------------------------------------------------------------


def test_runs_of_a_law_in_python_go_side_by_side(scenario):
    meeting = threading.Barrier(2)

    class Meeting(sj.Controller):
        period = "1 s"

        def update(self, seen):  # noqa: ARG002
            # Each run waits for the other: one after the other they would wait in vain.
            meeting.wait(timeout=20)
            return 0.01

    assert len(sj.run(scenario, Meeting(), seeds=[1, 2], jobs=2).runs) == 2


def in_the_users_folder(folder, text):
    """Write mylaw.py into the folder of small.toml."""
    (folder / "mylaw.py").write_text("import sojourn as sj\n" + text)


MY_LAW = """
class MyLaw(sj.Controller):
    period = "10 ms"
    gain = 1e-3

    def update(self, seen):
        return min(1.0, self.gain * seen.backlog_packets)
"""

BLOCKING = """
class Endless(sj.Controller):
    period = "10 ms"

    def update(self, seen):
        while seen.time_s > 1:
            try:
                pass
            except Exception:
                pass
        return 0.0


class Frequent(sj.Controller):
    period = "1 us"

    def update(self, seen):
        return 0.0
"""


@pytest.mark.parametrize("law", ["Endless", "Frequent"])
def test_ctrl_c_ends_laws_in_python_even_those_that_never_come_back(folder, law):
    in_the_users_folder(folder, BLOCKING)
    # A shell's background jobs ignore SIGINT, and so would their children: take it up again.
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from sojourn.cli import main; sys.exit(main())"
    )
    command = ["run", "small.toml", "--disc", f"mylaw.py:{law}", "--seeds", "1..3", "--out", "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", start, *command, "--set", "duration=1000 s"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert err == "sojourn run: interrupted; none of 3 runs had finished; nothing is kept\n"
    assert not (folder / "out").exists()


ASLEEP = """
import pathlib, time


class Asleep(sj.Controller):
    period = "10 ms"

    def update(self, seen):
        pathlib.Path("asleep").touch()
        time.sleep(1e6)
        return 0.0
"""


def test_a_second_ctrl_c_leaves_a_law_behind_that_cannot_be_woken(folder):
    in_the_users_folder(folder, ASLEEP)
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from sojourn.__main__ import main; sys.exit(main())"
    )
    discs = ("--disc", "tail_drop", "--disc", "mylaw.py:Asleep")
    process = subprocess.Popen(
        [sys.executable, "-c", start, "run", "small.toml", *discs, "--jobs", "1", "--json", "--out", "out"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        # With one worker tail_drop has finished when the law falls asleep.
        until = time.monotonic() + 30
        while not (folder / "asleep").exists() and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err.splitlines() == [
        "wrote out",
        "sojourn run: interrupted; kept the 1 of 2 runs that had finished",
    ]
    assert [run["disc"] for run in json.loads(out)["runs"]] == ["tail_drop"]
    assert sj.Result.read(folder / "out").discs == ["tail_drop"]


def test_a_law_that_never_comes_back_does_not_hold_up_the_failure_of_another(scenario, monkeypatch):
    from sojourn.simulate import pool

    monkeypatch.setattr(pool, "STILL_S", 0.5)

    class Waiting(sj.Controller):
        period = "10 ms"

        def update(self, seen):
            while seen.time_s > 1:
                pass
            return 0.0

    with pytest.raises(sj.LawFailed, match="OneReturn, seed 1"):
        sj.run(scenario, discs=[Waiting(), OneReturn()], seeds=[1], jobs=2)


# ---- On the command line ------------------------------------------------------------------------


def test_a_law_of_a_file_runs_beside_built_in_ones(sojourn, folder):
    in_the_users_folder(folder, MY_LAW)
    discs = (
        "--disc",
        "mylaw.py:MyLaw",
        "--disc",
        "mylaw.py:MyLaw:gain=2e-3,period=5 ms",
        "--disc",
        "tail_drop",
    )
    done = sojourn("run", "small.toml", *discs, "--seeds", "1..2", "--json", "--out", "out")
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [run["disc"] for run in runs[::2]] == ["MyLaw", "MyLaw:period=5 ms,gain=0.002", "tail_drop"]
    assert sojourn("report", "out").returncode == 0
    result = sj.run(sj.load(folder / "small.toml"), "tail_drop", seeds=[1, 2])
    assert [run.metrics for run in result.runs] == [run["metrics"] for run in runs[4:]]


def test_what_a_law_prints_is_no_part_of_the_document(sojourn, folder):
    text = 'print("read")\n' + MY_LAW.replace("return min", 'print("asked"); return min')
    in_the_users_folder(folder, text)
    command = ("run", "small.toml", "--disc", "mylaw.py:MyLaw", "--seeds", "1..2", "--jobs", "1")
    done = sojourn(*command, "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["runs"]) == 2
    assert set(done.stderr.split()) == {"read", "asked"}
    assert sojourn(*command).stdout.startswith("read\nasked\n")


def test_a_law_of_a_file_is_the_same_law_in_python(folder, monkeypatch):
    in_the_users_folder(folder, MY_LAW)
    monkeypatch.chdir(folder)
    scenario = sj.load("small.toml")
    by_text = sj.run(scenario, "mylaw.py:MyLaw:gain=1e-4")
    assert by_text.runs[0].metrics == sj.run(scenario, TenLines()).runs[0].metrics


def test_a_file_that_was_edited_is_read_anew(folder, monkeypatch):
    monkeypatch.chdir(folder)
    scenario = sj.load("small.toml")
    before = MY_LAW.replace("1e-3", "1e-4")
    queues = []
    for text in (before, MY_LAW, before):
        in_the_users_folder(folder, text)
        queues.append(sj.run(scenario, "mylaw.py:MyLaw").runs[0].metrics["queue_mean_packets"])
    assert queues[0] == queues[2] > queues[1]


def test_a_file_may_import_what_lies_beside_it_and_hold_dataclasses(sojourn, folder):
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
    done = sojourn("run", "small.toml", "--disc", "laws/mine.py:Mine:gain=5e-4", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["disc"] == "Mine:gain=0.0005"


def test_check_shows_a_law_of_a_file_with_its_parameters(sojourn, folder):
    in_the_users_folder(folder, MY_LAW)
    done = sojourn("check", "small.toml", "--disc", "mylaw.py:MyLaw:gain=0.5")
    assert done.returncode == 0, done.stderr
    assert "fifo under MyLaw:gain=0.5\n" in done.stdout
    assert "[ MyLaw | 40 packets ]" in done.stdout
    assert "  gain = 0.5\n" in done.stdout
    assert "  period = 10 ms (default)\n" in done.stdout


def test_a_law_of_a_file_that_fails_is_one_line_and_exit_1(sojourn, folder):
    in_the_users_folder(folder, MY_LAW.replace("min(1.0, ", "max(2.0, "))
    done = sojourn("run", "small.toml", "--disc", "mylaw.py:MyLaw")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "sojourn run: MyLaw, seed 1: mylaw.py:8: update gave 2.0, "
        'in "return max(2.0, self.gain * seen.backlog_packets)", at 0.01 s of the run; '
        "legal: a probability, a number from 0 to 1\n"
    )


@pytest.mark.parametrize(
    ("spec", "text", "says"),
    [
        (
            "nowhere.py:MyLaw",
            MY_LAW,
            "nowhere.py: cannot be read (No such file or directory); legal: FILE.py",
        ),
        ("mylaw.py", MY_LAW, 'mylaw.py: "" is not a law in it (legal: MyLaw)'),
        (
            "mylaw.py:Mylaw",
            MY_LAW,
            'mylaw.py: "Mylaw" is not a law in it; did you mean "MyLaw"? (legal: MyLaw)',
        ),
        ("mylaw.py:sj", MY_LAW, 'mylaw.py: "sj" is not a law in it (legal: MyLaw)'),
        ("mylaw.py:MyLaw", "x = 1\n", "mylaw.py: holds no law; legal: a class on sojourn.Controller"),
        ("mylaw.py:MyLaw", "class MyLaw(sj.Controller)\n", "mylaw.py:2: SyntaxError: "),
        ("mylaw.py:MyLaw", "import nothing_such\n", "mylaw.py:2: ModuleNotFoundError: No module named"),
        ("mylaw.py:MyLaw", "import sys\nsys.exit(4)\n", "mylaw.py:3: SystemExit: 4"),
        (
            "mylaw.py:MyLaw:gian=3",
            MY_LAW,
            "mylaw.py:MyLaw: MyLaw has no parameter gian; legal: gain, label, ",
        ),
        ("mylaw.py:MyLaw:gain", MY_LAW, '"gain" is not KEY=VALUE; legal: FILE.py:CLASS'),
        ("mylaw.py:MyLaw:gain=1,gain=2", MY_LAW, '"gain" is given twice; legal: each key once'),
        ("mylaw.py:MyLaw:period=5", MY_LAW, "MyLaw: period: 5 is not a time with a unit; legal: "),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_wrong_spec_of_a_file_is_one_line(refused, folder, spec, text, says, command):
    in_the_users_folder(folder, text)
    (line,) = refused(command, "small.toml", "--disc", spec)
    assert line.startswith(f"sojourn {command}: --disc: {says}"), line


def test_a_law_of_a_file_replaces_a_disc_that_does_not_fit(sojourn, folder):
    in_the_users_folder(folder, MY_LAW)
    wrong = ("--set", "bottleneck.buffer=1 packet", "--set", "bottleneck.disc=pi:target=50packets")
    assert sojourn("run", "small.toml", *wrong, "--disc", "mylaw.py:MyLaw", "--quiet").returncode == 0


# ---- Its page -----------------------------------------------------------------------------------


def test_the_page_s_example_runs_and_is_the_built_in_law(root, monkeypatch):
    monkeypatch.chdir(root)
    page = (root / "docs" / "howto" / "law-in-python.md").read_text()
    (block,) = re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    names = {"__name__": "page"}
    exec(block, names)
    result = names["result"]
    assert result.discs == ["MyPi", "MyPi:target_packets=50", "pi:a=2e-5,b=1.95e-5"]
    first, third = (result.values(disc, "queue_mean_packets") for disc in (result.discs[0], result.discs[2]))
    assert first == third


def test_the_page_lists_all_that_seen_tells(root):
    page = (root / "docs" / "howto" / "law-in-python.md").read_text()
    table = page.split("## What `seen` tells")[1].split("\n## ")[0]
    listed = re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line))
    assert sorted(listed) == [name for name in dir(sj.Observation) if not name.startswith("_")]


# ---- What it costs ------------------------------------------------------------------------------


def test_the_cost_of_an_update_is_printed(root, capsys):
    scenario = sj.load(root / "scenarios" / "dumbbell.toml", {"duration": "41 s"})

    class Null(sj.Controller):
        def update(self, seen):
            return 0.01 if seen.backlog_packets > 1 else 0.0

    often = sj.run(scenario, Null(period="100 us"), jobs=1).runs[0]
    seldom = sj.run(scenario, Null(period="1 s"), jobs=1).runs[0]
    each = (often.cost["cpu_s"] - seldom.cost["cpu_s"]) / (41 / 100e-6)
    with capsys.disabled():
        print(f"\n  one update of a law in Python: {each * 1e6:.2f} us of CPU")
