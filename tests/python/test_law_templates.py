"""Laws in Python as templates: a copy for every run, parameters, labels, and immediate refusals."""

import math
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from python_laws import TenLines

import sojourn as sj

HERE = Path(__file__).name


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
    assert sj.run(scenario, law).qdiscs == ["TenLines"]
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
def test_the_label_is_the_class_and_the_parameters_off_their_defaults(scenario, law, label):
    assert sj.run(scenario, law, seeds=[1]).qdiscs == [label]


def test_the_metrics_use_the_target(scenario):
    result = sj.run(scenario, qdiscs=[TenLines(), TenLines(target_packets=20)])
    without, with_target = (run.metrics for run in result.runs)
    assert without["qacd_packets"] is None
    assert with_target["qacd_packets"] > 0
    assert without["queue_mean_packets"] == with_target["queue_mean_packets"]


def test_a_wrong_parameter_names_the_expected_ones():
    message = (
        r"^TenLines has no parameter gian; did you mean gain\? expected gain, label, period, target_packets$"
    )
    with pytest.raises(TypeError, match=message):
        TenLines(gian=3)


class Wordy(TenLines):
    word = ""


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


class LeavesInReset(TenLines):
    def reset(self):
        sys.exit(3)


class Speechless(Exception):
    def __str__(self):
        raise ValueError("no words")


class SpeechlessReset(TenLines):
    def reset(self):
        raise Speechless


class NeverReset(TenLines):
    def reset(self):
        self.mean = 0.0
        yield


class BadCopy(TenLines):
    def __deepcopy__(self, memo):
        return None


class LeavesInCopy(TenLines):
    def __deepcopy__(self, memo):
        sys.exit(3)


class NotAMethod(sj.Law):
    on_arrival = "drop"


class NoneUpdate(sj.Controller):
    period = "10 ms"
    update = None


class BadLabel(TenLines):
    label = "two\nlines"


class Labelled(TenLines):
    def __init__(self, label):
        self.label = label


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (
            BadProperty(),
            rf"^qdiscs: BadProperty cannot be set up .*{HERE}:\d+: ZeroDivisionError: division by zero",
        ),
        (Labelled(" "), r"^qdiscs: Labelled: label: ' ' is not a name; expected text on one line"),
        (Labelled("\0"), r"^qdiscs: Labelled: label: '\\x00' is not a name"),
        (Labelled("\ud800"), r"^qdiscs: Labelled: label: '\\ud800' is not a name"),
        (
            LeavesInReset(),
            rf"^qdiscs: LeavesInReset cannot be set up .*{HERE}:\d+: SystemExit: 3, in \"sys.exit",
        ),
        (
            SpeechlessReset(),
            rf"^qdiscs: SpeechlessReset cannot be set up .*{HERE}:\d+: Speechless, in \"raise",
        ),
        (NeverReset(), r"^qdiscs: NeverReset cannot be set up .*: reset gave <generator .*; expected None"),
        (BadCopy(), r"^qdiscs: BadCopy: its copy is a NoneType; expected a BadCopy$"),
        (LeavesInCopy(), r"^qdiscs: LeavesInCopy cannot be copied for each run \(SystemExit: 3\)"),
        (NotAMethod(), r"^qdiscs: NotAMethod: on_arrival is a str; expected def on_arrival\(self"),
        (NoneUpdate(), r"^qdiscs: NoneUpdate has no update; expected def update\(self, seen\)"),
        (BadLabel(), r"^qdiscs: BadLabel: label: 'two\\nlines' is not a name; expected text on one line"),
        (
            Labelled("x" * 61),
            r"^qdiscs: Labelled: label: 'x+'\.\.\. has 61 letters; expected .* at most 60 letters",
        ),
        (
            Wordy(word="y" * 60),
            r"^qdiscs: Wordy: its name and parameters: .* has 71 letters; expected label",
        ),
        (TenLines, r"^qdiscs: TenLines is a class; expected an object of it, TenLines\(\)"),
        (NoUpdate(), r"^qdiscs: NoUpdate has no update; expected def update\(self, seen\)"),
        (
            NoPeriod(),
            r"^qdiscs: NoPeriod: period: is missing; expected a time of 1 us or more such as \"10 ms\"",
        ),
        (TenLines(period=10), r"^qdiscs: TenLines: period: 10 is not a time with a unit; expected a time"),
        (TenLines(period="10"), r'^qdiscs: TenLines: period: "10" needs a unit \(expected ns, us, ms'),
        (TenLines(period="10 packets"), r"^qdiscs: TenLines: period: \"packets\" is not a unit of a time"),
        (
            TenLines(period="999 ns"),
            r"^qdiscs: TenLines: period: \"999 ns\" is too short; expected a time of 1 us",
        ),
        (TenLines(period="0 s"), r"^qdiscs: TenLines: period: \"0 s\" is too short"),
        (TenLines(period="-1 ms"), r"^qdiscs: TenLines: period: \"-1 ms\" is negative"),
        (
            TenLines(target_packets="20 packets"),
            r"target_packets: '20 packets' is not a number of packets; expected",
        ),
        (TenLines(target_packets=math.nan), "target_packets: nan is not a number of packets"),
        (TenLines(target_packets=-1), "target_packets: -1 is not a number of packets"),
        (
            Locked(),
            r"^qdiscs: Locked cannot be copied for each run "
            r"\(TypeError: cannot pickle '_thread.lock' object\); expected what copy.deepcopy can copy$",
        ),
        (
            BadReset(),
            rf"^qdiscs: BadReset cannot be set up .*{HERE}:\d+: KeyError: 'gain', in \"raise KeyError",
        ),
        (object(), "is not a qdisc; expected "),
    ],
)
def test_a_law_that_cannot_run_is_refused_in_one_line_before_any_run(scenario, law, message):
    with pytest.raises(sj.InputError, match=message) as caught:
        sj.run(scenario, qdiscs=[law, "tail_drop"])
    assert len(caught.value.lines) == 1
    assert "\n" not in caught.value.lines[0]


def test_two_laws_of_one_label_are_refused(scenario):
    with pytest.raises(
        sj.InputError, match=r"TenLines is given twice; .*or a label of its own for a law in Python"
    ):
        sj.run(scenario, qdiscs=[TenLines(), TenLines()])
