"""Laws in Python that fail or never return: the line to blame, and the runs that are kept."""

import json
import math
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy
import pytest
from python_laws import in_the_users_folder

import sojourn as sj
from sojourn.conform import replay
from sojourn.custom.parameters import label_of

# ---- Failures -----------------------------------------------------------------------------------


class Failing(sj.Controller):
    """Calls a given function, from one second on."""

    period = "10 ms"
    answer = None

    def update(self, seen):
        if seen.time_s < 1:
            return 0.5
        return self.answer() if callable(self.answer) else self.answer


def quotient():
    return 1 / 0


def silence():
    raise RuntimeError


def lines():
    raise ValueError("two\nlines")


def leave():
    sys.exit(3)


class Speechless(Exception):
    def __str__(self):
        raise ValueError("no words")


def speechless():
    raise Speechless


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
    """Number of the first line of this file with this text."""
    source = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(source, 1) if line.strip() == text)


@pytest.mark.parametrize(
    ("law", "line", "error"),
    [
        (Failing(answer=math.nan), "def update(self, seen):", "update gave nan"),
        (Failing(answer=1.0000001), "def update(self, seen):", "update gave 1.0000001"),
        (Failing(answer=-1e-9), "def update(self, seen):", "update gave -1e-09"),
        (Failing(answer=math.inf), "def update(self, seen):", "update gave inf"),
        (Failing(answer="0.5"), "def update(self, seen):", "update gave '0.5'"),
        (Failing(answer=[0.5]), "def update(self, seen):", "update gave [0.5]"),
        (Failing(answer=True), "def update(self, seen):", "update gave True, a truth value"),
        (Failing(answer=numpy.True_), "def update(self, seen):", "update gave np.True_, a truth value"),
        (Failing(answer=2j), "def update(self, seen):", "update gave 2j"),
        (Failing(answer=quotient), "return 1 / 0", "ZeroDivisionError: division by zero"),
        (Failing(answer=silence), "raise RuntimeError", "RuntimeError"),
        (Failing(answer=lines), 'raise ValueError("two\\nlines")', "ValueError: two lines"),
        (Failing(answer=leave), "sys.exit(3)", "SystemExit: 3"),
        (OneReturn(), "return 1e9 * seen.backlog_packets", "update gave "),
        (NoReturn(), "self.p = seen.backlog_packets", "update gave None"),
        (NoArgument(), "def update(self):", "TypeError: "),
        (Deep(), "return math.sqrt(number)", "ValueError: math domain error"),
    ],
)
def test_a_failure_names_the_law_the_seed_and_the_line(scenario, law, line, error):
    with pytest.raises(sj.LawFailed) as caught:
        sj.run(scenario, qdiscs=[law], seeds=[7])
    (message,) = caught.value.lines
    assert "\n" not in message
    assert message.startswith(f"{label_of(law)}, seed 7: {Path(__file__)}:"), message
    assert error in message
    assert f'in "{line}", at ' in message
    assert "s of the run" in message
    if not isinstance(law, Failing):
        assert f":{line_with(line)}: " in message
    if "update gave" in error:
        assert message.endswith("; expected a probability, a number from 0 to 1")
        assert caught.value.__cause__ is None
    else:
        assert type(caught.value.__cause__).__name__ in error


class Judging(sj.Law):
    """Returns a given answer for each packet, from one second on."""

    answer = None

    def on_departure(self, departure):
        if departure.time_s < 1:
            return None
        return self.answer() if callable(self.answer) else self.answer


class Arriving(sj.Law):
    def on_arrival(self, arrival):
        return sj.Verdict.DROP_BOTH if arrival.time_s > 1 else None


class Comparing(Arriving):
    wants_victim = True

    def on_arrival(self, arrival):
        return arrival.victim if arrival.time_s > 1 else None


class Timed(sj.Law):
    period = "10 ms"
    next: object = 0.0

    def on_update(self, seen):
        return self.next if seen.time_s > 1 else None


class Gauging(sj.Law):
    overflow = "head"
    shown = None

    def gauges(self):
        return self.shown


class Idling(sj.Law):
    def on_idle(self):
        """Without the time."""


class Generating(sj.Law):
    """As a generator the method would never be run."""

    def on_idle(self, time_s):
        yield time_s


class Answering(sj.Law):
    """An overflow takes no verdict."""

    def on_overflow(self, time_s):  # noqa: ARG002
        return sj.Verdict.MARK


class Following(sj.Law):
    def on_link_change(self, time_s, rate_bps):  # noqa: ARG002
        return rate_bps


class Overflowing(sj.Law):
    def on_overflow(self, time_s):
        return {}[time_s]


A_VERDICT = "Verdict.PASS, Verdict.MARK or Verdict.DROP, or None to let the packet pass"
A_TIME = (
    "the time of the next update, s since the start and 1 us away or more; None for the next after a period"
)
GAUGES = 'a dict such as {"p": 0.01}, with p from 0 to 1'


@pytest.mark.parametrize(
    ("law", "line", "error", "expected"),
    [
        (
            Judging(answer=True),
            "def on_departure(self, departure):",
            "on_departure gave True, a truth",
            A_VERDICT,
        ),
        (Judging(answer="drop"), "def on_departure(self, departure):", "on_departure gave 'drop'", A_VERDICT),
        (Judging(answer=1), "def on_departure(self, departure):", "on_departure gave 1", A_VERDICT),
        (
            Judging(answer=sj.Verdict.DROP_BOTH),
            "def on_departure(self, departure):",
            "on_departure gave Verdict.DROP_BOTH",
            A_VERDICT,
        ),
        (Judging(answer=quotient), "return 1 / 0", "ZeroDivisionError: division by zero", None),
        (Judging(answer=leave), "sys.exit(3)", "SystemExit: 3", None),
        (
            Arriving(),
            "return sj.Verdict.DROP_BOTH if arrival.time_s > 1 else None",
            "on_arrival gave Verdict.DROP_BOTH",
            f"{A_VERDICT}; with wants_victim = True also Verdict.DROP_BOTH",
        ),
        (
            Comparing(),
            "return arrival.victim if arrival.time_s > 1 else None",
            "on_arrival gave ",
            "a sojourn.Verdict, or None to let the packet pass",
        ),
        (Timed(), "return self.next if seen.time_s > 1 else None", "on_update gave 0.0", A_TIME),
        (Timed(next=math.nan), "return self.next if seen.time_s > 1 else None", "on_update gave nan", A_TIME),
        (
            Timed(next=True),
            "return self.next if seen.time_s > 1 else None",
            "on_update gave True, a tr",
            A_TIME,
        ),
        (Timed(next="2 s"), "return self.next if seen.time_s > 1 else None", "on_update gave '2 s'", A_TIME),
        (Gauging(), "return self.shown", "gauges gave None", GAUGES),
        (Gauging(shown={"p": 1.5}), "return self.shown", "gauges gave {'p': 1.5}", GAUGES),
        (Judging(answer=speechless), "raise Speechless", "Speechless", None),
        (Generating(), "yield time_s", "on_idle gave <generator", "None"),
        (Answering(), "return sj.Verdict.MARK", "on_overflow gave Verdict.MARK", "None"),
        (Idling(), "def on_idle(self):", "TypeError: ", None),
        (Overflowing(), "return {}[time_s]", "KeyError: ", None),
    ],
)
def test_a_law_that_judges_packets_fails_with_its_line(scenario, law, line, error, expected):
    with pytest.raises(sj.LawFailed) as caught:
        sj.run(scenario, qdiscs=[law], seeds=[7])
    (message,) = caught.value.lines
    assert message.startswith(f"{label_of(law)}, seed 7: {Path(__file__)}:"), message
    assert error in message
    assert f'in "{line}", at ' in message
    assert f":{line_with(line)}: " in message or isinstance(law, Judging)
    assert "s of the run" in message
    assert message.endswith(f"; expected {expected}") if expected else caught.value.__cause__ is not None


@pytest.mark.parametrize("jobs", [1, 2])
def test_after_a_failure_at_a_packet_python_is_not_called_again(scenario, jobs):
    calls = []

    class Once(sj.Law):
        def on_arrival(self, arrival):
            calls.append(arrival.time_s)
            raise RuntimeError("no")

        def on_departure(self, departure):
            calls.append(departure.time_s)

    with pytest.raises(sj.LawFailed, match="RuntimeError: no"):
        sj.run(scenario, Once(), jobs=jobs)
    assert len(calls) == 1


def test_a_trace_through_a_law_that_fails_names_its_line(root):
    with pytest.raises(
        sj.LawFailed, match=rf"Judging:answer=3: {__file__}:\d+: on_departure gave 3, in .*; expected Verdict"
    ):
        replay(root / "vectors" / "codel" / "overload_idle.jsonl", Judging(answer=3))


def test_an_answer_to_a_change_of_the_link_is_refused(root):
    with pytest.raises(sj.LawFailed, match=r"on_link_change gave .*; expected None"):
        replay(root / "vectors" / "codel" / "rate_stall.jsonl", Following())


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
        sj.run(scenario, qdiscs=[Seldom()], seeds=[1, 2, 3, 4], jobs=1)
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
def test_any_number_from_0_to_1_is_a_probability(scenario, answer):
    wrapped = numpy.float32(answer) if isinstance(answer, float) else answer
    assert sj.run(scenario, Failing(answer=wrapped)).runs


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


BLOCKING = """
import pathlib


def begun(time_s):
    # Half a second into the run.
    if 0.5 < time_s < 0.6:
        pathlib.Path("begun").touch()


class Endless(sj.Controller):
    period = "10 ms"

    def update(self, seen):
        begun(seen.time_s)
        while seen.time_s > 1:
            try:
                pass
            except Exception:
                pass
        return 0.0


class Frequent(sj.Controller):
    period = "1 us"

    def update(self, seen):
        begun(seen.time_s)
        return 0.0


class Stuck(sj.Law):
    def on_departure(self, departure):
        begun(departure.time_s)
        while departure.time_s > 1:
            try:
                pass
            except Exception:
                pass


class EveryPacket(sj.Law):
    def on_arrival(self, arrival):
        begun(arrival.time_s)

    def on_departure(self, departure):
        return None
"""


@pytest.mark.slow
@pytest.mark.parametrize("law", ["Endless", "Frequent", "Stuck", "EveryPacket"])
def test_ctrl_c_ends_endless_custom_laws(folder, law):
    in_the_users_folder(folder, BLOCKING)
    # A shell's background jobs ignore SIGINT, and so would their children: restore it.
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from sojourn.cli import main; sys.exit(main())"
    )
    command = ["run", "small.toml", "--qdisc", f"mylaw.py:{law}", "--seeds", "1..3", "--out", "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", start, *command, "--set", "duration=100000 s"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while not (folder / "begun").exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert err == "sojourn run: interrupted; none of 3 runs had finished\n"
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


def test_a_second_ctrl_c_abandons_a_sleeping_law(folder):
    in_the_users_folder(folder, ASLEEP)
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from sojourn.__main__ import main; sys.exit(main())"
    )
    qdiscs = ("--qdisc", "tail_drop", "--qdisc", "mylaw.py:Asleep")
    process = subprocess.Popen(
        [sys.executable, "-c", start, "run", "small.toml", *qdiscs, "--jobs", "1", "--json", "--out", "out"],
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
        "sojourn run: interrupted; 1 of 2 runs had finished: printed and written to out",
    ]
    assert [run["qdisc"] for run in json.loads(out)["runs"]] == ["tail_drop"]
    assert sj.Result.read(folder / "out").qdiscs == ["tail_drop"]


def test_an_endless_law_does_not_delay_the_failure_of_another(scenario, monkeypatch):
    from sojourn.simulate import pool

    monkeypatch.setattr(pool, "STALL_TIMEOUT_S", 0.5)

    class Waiting(sj.Controller):
        period = "10 ms"

        def update(self, seen):
            while seen.time_s > 1:
                pass
            return 0.0

    with pytest.raises(sj.LawFailed, match="OneReturn, seed 1"):
        sj.run(scenario, qdiscs=[Waiting(), OneReturn()], seeds=[1], jobs=2)


def test_runs_that_would_begin_after_a_failed_one_do_not(scenario):
    """They begin seed by seed, so that the other qdisc has run under one seed alone."""

    class Broken(sj.Controller):
        period = "10 ms"

        def update(self, seen):
            raise ValueError(seen.time_s)

    with pytest.raises(sj.LawFailed) as stop:
        sj.run(scenario, qdiscs=["pi2", Broken()], seeds=range(1, 7), jobs=1)
    assert [(row.qdisc, row.seed) for row in stop.value.result.runs] == [("pi2", 1)]
    assert "Broken, seed 1: " in str(stop.value)
