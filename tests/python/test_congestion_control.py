"""Congestion controls written in Python: the same window as the built-in ones, copies, errors, files."""

from __future__ import annotations

import json
import re
import threading
from typing import ClassVar

import pytest

import sojourn as sj

#: CUBIC beside Reno in the default profile.
TWO_GROUPS = """
title    = "two groups on 4 Mbit/s"
duration = "12 s"
warmup   = "2 s"

[bottleneck]
rate   = "4 Mbit/s"
delay  = "10 ms"
buffer = "25 packets"

[[flows]]
count = 3
cc    = "newreno"

[[flows]]
cc    = "cubic"

[[flows]]
app = { cbr = { rate = "200 kbit/s" } }
"""


# -- begin twenty lines
class Reno(sj.CongestionControl):
    """RFC 5681: slow start, congestion avoidance, half of the flight at a loss."""

    recovery = "newreno"

    def on_ack(self, ack):
        if self.cwnd < self.ssthresh:
            self.cwnd += min(ack.acked_bytes, self.mss)
        else:
            self.cwnd += self.mss * self.mss / self.cwnd

    def on_signal(self, signal):
        if not signal.again:
            self.ssthresh = max(signal.flight_bytes / 2, 2 * self.mss)
        self.cwnd = self.mss if signal.kind == "timeout" else self.ssthresh


# -- end twenty lines


@pytest.fixture
def scenario(tmp_path):
    def made(**overrides):
        file = tmp_path / "two.toml"
        file.write_text(TWO_GROUPS)
        return sj.load(file, overrides)

    return made


def figures(result):
    """All measurements of a run, bit by bit."""
    runs = [(run.qdisc, run.seed, run.metrics, run.conservation) for run in result.runs]
    return runs, result.series.to_dicts()


def test_reno_in_twenty_lines_is_the_built_in_newreno_to_the_last_bit(scenario):
    # The windows of RFC 5681's equations, by ACKs and not by bytes.
    built_in = sj.run(scenario(**{"flows[0].tcp.byte_counting": 0}), seeds=range(1, 3))
    ours = sj.run(scenario(), seeds=range(1, 3), cc={0: Reno()})
    assert figures(ours) == figures(built_in)
    assert ours.runs[0].conservation["dropped"] > 20
    assert [group["cc"] for group in ours.scenario["flows"]] == ["Reno", "cubic", None]
    assert "class Reno" in ours.provenance["ccs"]["Reno"]


def test_the_number_of_workers_changes_nothing(scenario):
    sc = scenario(duration="8 s")
    one, two = (sj.run(sc, ["pi", "red"], range(1, 4), jobs, cc=Reno()) for jobs in (1, 2))
    assert figures(one) == figures(two)
    assert [group["cc"] for group in one.scenario["flows"]] == ["Reno", "Reno", None]


class Counting(Reno):
    """Counts its ACKs in a mutable list of the class, which each flow must copy."""

    seen: ClassVar[list[float]] = []
    most = 10_000

    def on_ack(self, ack):
        super().on_ack(ack)
        self.seen.append(ack.time_s)
        assert self.seen == sorted(self.seen), "another flow's ACKs are among them"
        assert ack.smoothed_rtt_s > 0
        assert 0 < ack.acked_to <= ack.sent_to
        assert len(self.seen) < self.most


def test_each_flow_has_a_copy_of_its_own(scenario):
    template = Counting()
    sj.run(scenario(duration="6 s"), cc=template)
    assert template.seen == []
    assert Counting.seen == []
    assert not hasattr(template, "cwnd")


def test_parameters_are_set_by_name_and_described(scenario):
    result = sj.run(scenario(duration="6 s"), cc={0: Counting(most=9000)})
    assert result.scenario["flows"][0]["cc"] == "Counting:most=9000"
    with pytest.raises(TypeError, match="Counting has no parameter mots; did you mean most"):
        Counting(mots=1)


def noting():
    """A class that records the kinds of its signals outside of its copies."""
    kinds = []

    class Noting(Reno):
        def on_signal(self, signal):
            kinds.append(signal.kind)
            super().on_signal(signal)

    return Noting, kinds


def test_marks_are_signalled_as_marks(scenario):
    control, kinds = noting()
    sc = scenario(**{"duration": "8 s", "flows[0].ecn": True, "bottleneck.qdisc": "codel"})
    sj.run(sc, cc={0: control()})
    assert set(kinds) <= {"ecn", "loss", "timeout"}
    assert kinds.count("ecn") > 3


class Marked(Reno):
    """Counts marks segment by segment."""

    feedback = "per_segment"

    def reset(self):
        self.acks = 0

    def on_feedback(self, ack):
        self.acks += 1
        if ack.marked and self.acks > 20:
            raise RuntimeError("marked")


def test_per_segment_feedback_turns_ecn_on(scenario):
    """As the built-in dctcp does, without a setting."""
    marking = scenario(duration="6 s", **{"bottleneck.qdisc": "codel"})
    with pytest.raises(sj.LawFailed, match="RuntimeError: marked"):
        sj.run(marking, cc={0: Marked()})
    classic = sj.run(marking, cc={0: Marked(feedback="classic")})
    assert [group["ecn"] for group in classic.scenario["flows"]] == [False, False, False]
    refused = scenario(**{"flows[0].ecn": False})
    line = 'cc: flows[0].ecn: is false, and cc = "Marked" needs ECN marks; expected true, or another cc'
    with pytest.raises(sj.InputError, match=f"^{re.escape(line)}$"):
        sj.run(refused, cc={0: Marked()})


def test_settings_that_a_control_contradicts_are_refused(scenario):
    """With the errors of the built-in one."""
    of_sack = "{ prr = true, loss_detection = 'rack', tail_loss_probe = true }"
    sc = scenario(**{"flows[1].tcp": of_sack})
    for control, name in [("newreno", "newreno"), (Reno(), "Reno")]:
        with pytest.raises(sj.InputError) as caught:
            sj.run(sc, cc={1: control})
        assert caught.value.lines == tuple(
            f'cc: flows[1].tcp.{setting}: needs selective acknowledgments, which cc = "{name}" goes without; '
            "expected sack = true with it"
            for setting in ("loss_detection", "tail_loss_probe", "prr")
        )
    sc = scenario(**{"flows[1].tcp.fast_convergence": True})
    line = 'flows[1].tcp.fast_convergence: applies to CUBIC only, and here cc = "Reno"; expected cc = "cubic"'
    with pytest.raises(sj.InputError, match=re.escape(line)):
        sj.run(sc, cc=Reno())


def test_a_control_of_the_catalogue_is_requested_by_name(scenario):
    sc = scenario(duration="6 s")
    result = sj.run(sc, cc={0: "cubic:hystart=false", 1: Reno()})
    assert [group["cc"] for group in result.scenario["flows"]] == ["cubic:hystart=false", "Reno", None]
    written = sj.run(scenario(duration="6 s", **{"flows[0].cc": "cubic", "flows[1].cc": "cubic"}))
    assert figures(sj.run(sc, cc="cubic")) == figures(written)


def named_alike():
    """Two classes of one name."""

    class Reno2(Reno):
        pass

    other = type("Reno2", (Reno,), {"on_ack": lambda _self, _ack: None})
    return Reno2, other


def test_a_label_stands_for_one_control(scenario):
    one, other = named_alike()
    with pytest.raises(
        sj.InputError, match=r'^cc: two congestion controls are called "Reno2"; expected a label'
    ):
        sj.run(scenario(), cc={0: one(), 1: other()})
    sc = scenario(duration="6 s")
    labelled = sj.run(sc, cc={0: one(), 1: other(label="mine")}).provenance["ccs"]
    assert list(labelled) == ["Reno2", "mine"]
    assert list(sj.run(sc, cc={0: one(), 1: one()}).provenance["ccs"]) == ["Reno2"]
    for label in ("cubic", "cubic:hystart=false"):
        with pytest.raises(
            sj.InputError,
            match=f'^cc: Reno: "{label}" is the name of a congestion control of the catalogue; ',
        ):
            sj.run(sc, cc=Reno(label=label))


class Idle(Reno):
    def on_unused(self, ack):
        if ack.acked_bytes > 0 and ack.flight_bytes < self.cwnd:
            raise RuntimeError("unused")


def test_on_unused_is_called_for_an_unused_window(scenario):
    """The receive window is four segments, so the window of ten is never used."""
    sc = scenario(**{"duration": "3 s", "flows[0].tcp.receive_window": 4})
    with pytest.raises(sj.LawFailed, match="RuntimeError: unused"):
        sj.run(sc, cc={0: Idle()})
    sj.run(sc, cc={0: Reno()})


class Falls(Reno):
    def on_ack(self, _ack):
        self.cwnd = 1 / (self.cwnd - self.cwnd)


class Shrinks(Reno):
    def on_ack(self, _ack):
        self.cwnd = 10.5


class Forgets(Reno):
    def on_signal(self, _signal):
        self.ssthresh = float("nan")


class Answers(Reno):
    def on_ack(self, _ack):
        return self.cwnd


class Unset(Reno):
    def reset(self):
        self.share = 1 / len(self.label or "")


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (
            Falls(),
            'ZeroDivisionError: float division by zero, in "self.cwnd = 1 / (self.cwnd - self.cwnd)", at ',
        ),
        (Shrinks(), "on_ack left cwnd at 10.5"),
        (Shrinks(), "; expected a number of bytes, 1460 (one segment) or more"),
        (Forgets(), "on_signal left ssthresh at nan"),
        (Answers(), "on_ack gave 14600.0"),
    ],
)
def test_an_error_names_its_line(scenario, control, message):
    with pytest.raises(sj.LawFailed) as caught:
        sj.run(scenario(), seeds=[3], cc={0: control})
    line = str(caught.value)
    assert line.startswith(f"tail_drop, seed 3: {__file__}:")
    assert message in line, line


class Locked(Reno):
    def reset(self):
        self.lock = threading.Lock()


class NoCurve(sj.CongestionControl):
    def on_ack(self, ack):
        pass


class Misnamed(Reno):
    def on_signl(self, signal):
        pass


class Uncopied(Reno):
    def __deepcopy__(self, memo):
        raise ValueError("no")


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (NoCurve(), "cc: NoCurve has no on_signal; expected def on_signal(self, ...)"),
        (Misnamed(), 'cc: Misnamed: "on_signl" is never called; did you mean'),
        (Reno, "cc: Reno is a class; expected an object of it, Reno()"),
        (
            Reno(recovery="tahoe"),
            'cc: Reno: recovery: \'tahoe\' is none of the words; expected "reno", "newreno", "sack"',
        ),
        (Reno(feedback=1), 'cc: Reno: feedback: 1 is none of the words; expected "classic", "per_segment"'),
        (
            Uncopied(),
            "cc: Uncopied cannot be copied for each run (ValueError: no); expected what copy.deepcopy can ",
        ),
        (Unset(), "cc: Unset cannot be set up for a run: "),
        ({2: Reno()}, "cc: 2 is no group of flows that use TCP; expected 0, 1"),
        (
            Locked(),
            f"cc: Locked cannot be copied after reset, as before each reduction: {__file__}:",
        ),
        ("cubik", 'cc: "cubik" is not a congestion control; did you mean "cubic"? (expected reno, '),
        (
            "cubic:histart=false",
            'cc: cubic.histart: unknown key; did you mean "hystart"? (expected hystart, abe)',
        ),
        (
            7,
            'cc: 7 is no congestion control; expected a text such as "cubic" or "FILE.py:CLASS", or an ',
        ),
        ("no.py:Cc", "cc: no.py: cannot be read (No such file or directory); expected FILE.py:CLASS"),
    ],
)
def test_an_invalid_control_is_refused_in_one_line(scenario, given, line):
    with pytest.raises(sj.InputError) as caught:
        sj.run(scenario(), cc=given)
    assert str(caught.value).startswith(line)
    assert len(caught.value.lines) == 1


SLOW = """
import sojourn as sj


class Slow(sj.CongestionControl):
    gain = 0.5

    def on_ack(self, ack):
        self.cwnd += self.gain * self.mss * self.mss / self.cwnd

    def on_signal(self, signal):
        self.cwnd = self.mss
"""


@pytest.mark.slow
def test_a_file_on_the_command_line(sojourn, tmp_path):
    (tmp_path / "mycc.py").write_text(SLOW)
    (tmp_path / "two.toml").write_text(TWO_GROUPS)
    done = sojourn("run", "two.toml", "--cc", "mycc.py:Slow:gain=0.25", "--json", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)["scenario"]["flows"]
    assert [group["cc"] for group in groups] == ["Slow:gain=0.25", "Slow:gain=0.25", None]
    one = sojourn("run", "two.toml", "--cc", "flows[1]=mycc.py:Slow", "--json", "--quiet", cwd=tmp_path)
    groups = json.loads(one.stdout)["scenario"]["flows"]
    assert [group["cc"] for group in groups] == ["newreno", "Slow", None]
    for spec, line in [
        (
            "mycc.py:Slwo",
            'sojourn run: --cc: mycc.py: "Slwo" is not a congestion control in it; did you mean "Slow"',
        ),
        ("flows[2]=mycc.py:Slow", "sojourn run: --cc: 2 is no group of flows that use TCP; expected 0, 1"),
        ("flows[x]=mycc.py:Slow", "sojourn run: --cc: "),
        ("cubik", 'sojourn run: --cc: "cubik" is not a congestion control; did you mean "cubic"?'),
    ]:
        done = sojourn("run", "two.toml", "--cc", spec, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith(line), done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_one_of_the_catalogue_on_the_command_line(sojourn, tmp_path):
    (tmp_path / "two.toml").write_text(TWO_GROUPS)
    (tmp_path / "mycc.py").write_text(SLOW)
    flags = ("--cc", "flows[0]=mycc.py:Slow", "--cc", "flows[1]=cubic:hystart=false")
    done = sojourn("run", "two.toml", *flags, "--json", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)["scenario"]["flows"]
    assert [group["cc"] for group in groups] == ["Slow", "cubic:hystart=false", None]
    checked = sojourn("check", "two.toml", *flags, cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "3 x Slow bulk, default profile" in checked.stdout
    assert "1 x cubic:hystart=false bulk" in checked.stdout
    refused = sojourn("check", "two.toml", "--cc", "cubic", "--set", "flows[0].tcp.prr=false", cwd=tmp_path)
    assert refused.returncode == 0, refused.stderr
    refused = sojourn("check", "two.toml", "--cc", "reno", "--set", "flows[1].tcp.prr=true", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith(
        "sojourn check: --cc: flows[1].tcp.prr: needs selective acknowledgments"
    ), refused.stderr
