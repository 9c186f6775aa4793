"""Changes during a run: parsed, described, run, and applied to laws written in Python."""

import json

import pytest

import sojourn as sj
from sojourn.conform import TracedLaw
from sojourn.errors import InputError

TEXT = """
title = "A target that falls"
duration = "60 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "300 packets"
qdisc = "pi:target=120packets"
[[flows]]
count = 50
ecn = true
segment = "1000 B"
access = { rate = "100 Mbit/s", delay = "40 ms" }
"""
FALLS = '[[at]]\ntime = "30 s"\nset = { "bottleneck.qdisc.target" = "50 packets" }\n'


@pytest.fixture
def scenario(tmp_path):
    def written(at, duration="60 s"):
        path = tmp_path / "changes.toml"
        path.write_text(TEXT.replace("60 s", duration) + at)
        return sj.load(path, {"plant.fluid.model": "mgt"})

    return written


def mean_queue(result, begin_s, end_s):
    rows = result.series.filter(name="queue_packets")
    inside = (rows["time"] > begin_s) & (rows["time"] <= end_s)
    return rows.filter(inside)["value"].mean()


def test_a_new_target_is_held(scenario):
    result = sj.run(scenario(FALLS))
    assert mean_queue(result, 15, 30) == pytest.approx(120, abs=10)
    assert mean_queue(result, 45, 60) == pytest.approx(50, abs=10)
    metrics = result.runs[0].metrics
    assert len(metrics["settling_s"]) == len(metrics["overshoot_packets"]) == 2
    assert 50 < metrics["overshoot_packets"][1] < 120, "about the target of the time"


def test_the_schedule_is_described(scenario):
    at = FALLS.replace("set", 'every = "5 s"\nuntil = "45 s"\nset')
    text = scenario(at).describe()
    assert "changes     at 30 s and every 5 s until 45 s: bottleneck.qdisc.target = 50 packets\n" in text
    (change,) = json.loads(scenario(at).to_json())["at"]
    assert change == {
        "time": "30 s",
        "every": "5 s",
        "until": "45 s",
        "set": {"bottleneck.qdisc.target": "50 packets"},
    }


def test_an_invalid_change_is_one_line(scenario):
    with pytest.raises(
        InputError, match=r'no parameter of pi; did you mean "target"\? \(expected target, a, b, rate\)$'
    ):
        scenario(FALLS.replace("qdisc.target", "qdisc.taget"))
    with pytest.raises(InputError, match=r"^qdiscs: pie: does not take the change at 30 s: target: "):
        sj.run(scenario(FALLS), "pie")


class Line(sj.Controller):
    """A probability in proportion to the backlog."""

    period = "10 ms"
    full = 2000

    def reset(self):
        self.updates = 0

    def update(self, seen):
        self.updates += 1
        assert self.updates > 1 or seen.time_s < 1, "the state stays"
        if isinstance(self.full, str):
            raise TypeError(self.full)
        return min(1.0, seen.backlog_packets / self.full)


AT = '[[at]]\ntime = "5 s"\nset = { "bottleneck.qdisc.KEY" = VALUE }\n'


def law_at(scenario, *settings):
    """The scenario, 10 s long; its law has these settings from 5 s, 6 s ... on."""
    at = "".join(
        AT.replace("5 s", f"{5 + place} s").replace("KEY", key).replace("VALUE", value)
        for place, (key, value) in enumerate(settings)
    )
    return scenario(at, "10 s")


def test_a_law_in_python_gets_its_parameters_by_name(scenario):
    class Known(Line):
        target = "100 packets"

        def set_params(self, **parameters):
            seen.append((self.updates, parameters))
            super().set_params(**parameters)

    seen = []
    scheduled = law_at(scenario, ("target", '"50 packets"'), ("target", '"60 packets"'))
    sj.run(scheduled, Known())
    # First on a copy, before the run; then at 5 s and 6 s, after 499 or 500 updates and 100 more.
    assert [parameters["target"] for _, parameters in seen] == ["50 packets", "60 packets"] * 2
    assert [updates for updates, _ in seen[:2]] == [0, 0]
    assert seen[3][0] - seen[2][0] == 100


@pytest.mark.parametrize("plant", ["packet", "fluid"])
def test_a_law_in_python_is_changed_in_each_plant(scenario, plant):
    class Sloped(Line):
        a, b = 0.0002, 0

        def set_params(self, **parameters):
            changes.append(parameters)
            super().set_params(**parameters)

        def update(self, seen):
            return min(1.0, self.a * seen.backlog_packets)

    changes = []
    steeper = FALLS.replace('target" = "50 packets"', 'a" = 0.0005, "bottleneck.qdisc.b" = 0.0001')
    result = sj.run(scenario(steeper), Sloped(), plants=plant)
    assert changes == [{"a": 0.0005, "b": 0.0001}] * 2, "without those of the scenario's own qdisc"
    before, after = mean_queue(result, 15, 30), mean_queue(result, 45, 60)
    assert after < 0.8 * before
    if plant == "fluid":
        # W = R C / N and W^2 p = 2 with p = a q.
        assert [before, after] == pytest.approx([153.53, 87.69], rel=0.01)


def test_a_qdisc_beside_a_law_in_python_needs_a_model(tmp_path):
    path = tmp_path / "fixed.toml"
    path.write_text(TEXT)
    scenario = sj.load(path, {"bottleneck.qdisc": "choke"})
    with pytest.raises(InputError, match=r"^bottleneck.qdisc.law: "):
        sj.run(scenario, plants="fluid")
    assert sj.run(
        sj.load(path, {"bottleneck.qdisc": "choke", "duration": "1 s"}), Line(), plants="fluid"
    ).runs


def test_period_and_target_are_read_again(scenario):
    class Paced(Line):
        rate = "100 Hz"
        target_packets = 100

        def set_params(self, **parameters):
            self.period = parameters["rate"]
            self.target_packets = 7

        def update(self, seen):
            times.append(seen.time_s)
            return super().update(seen)

    times = []
    result = sj.run(law_at(scenario, ("rate", '"10 Hz"')), "pi:rate=20Hz")
    assert len(result.runs) == 1
    with pytest.raises(InputError, match=r'Paced: period: "10 Hz"|Paced: period: '):
        sj.run(law_at(scenario, ("rate", '"10 Hz"')), Paced())

    class Slower(Paced):
        def set_params(self, **parameters):
            self.period = "100 ms" if parameters["rate"] == "10 Hz" else "10 ms"
            self.target_packets = 7

    times.clear()
    sj.run(law_at(scenario, ("rate", '"10 Hz"')), Slower())
    before = [time for time in times if time < 4.995]
    after = [time for time in times if time > 5.005]
    assert (len(before), len(after)) == (499, 50)


def test_a_new_period_leaves_the_time_that_an_update_returned(scenario):
    class Chooses(sj.Law):
        period = "10 ms"

        def set_params(self, rate):
            self.period = "2 s"
            assert rate == "10 Hz"

        def on_update(self, seen):
            times.append(seen.time_s)
            return {0.01: 7.0, 7.0: 7.5}.get(seen.time_s)

    times: list[float] = []
    sj.run(law_at(scenario, ("rate", '"10 Hz"')), Chooses())
    assert times == [0.01, 7.0, 7.5, 9.5]


def test_a_law_in_python_may_refuse(scenario):
    scheduled = law_at(scenario, ("target", '"50 packets"'))
    with pytest.raises(
        InputError,
        match=r"Line does not take what .*has no parameter target; did you mean target_packets\? expected ",
    ) as error:
        sj.run(scheduled, Line())
    assert "\n" not in str(error.value)

    class Proud(Line):
        def set_params(self, **parameters):  # noqa: ARG002
            raise ValueError("my parameters are my own")

    with pytest.raises(
        InputError, match=r'test_changes.py:\d+: ValueError: my parameters are my own, in "raise'
    ):
        sj.run(scheduled, Proud())


def test_a_law_that_refuses_later_ends_the_run(scenario):
    class Later(Line):
        target = ""

        def set_params(self, **parameters):  # noqa: ARG002
            if self.updates > 0:
                raise ValueError("not now")

    # A controller gets no time with its parameters: the error names that of the last update.
    with pytest.raises(sj.LawFailed, match=r"ValueError: not now, .* at 4.99 s of the run"):
        sj.run(law_at(scenario, ("target", '"50 packets"')), Later())


def test_a_trace_changes_parameters():
    link = {
        "rate_bps": 1e7,
        "packet_bytes": 1000,
        "limit_packets": 300,
        "flows": 50,
        "base_rtt_ns": 200_000_000,
    }
    law = TracedLaw({"trace": 1, "law": "pie", "params": {"period": "30 ms"}, "about": "", "link": link})
    answer = law.answer(
        {"call": "set_params", "now_ns": 10_000_000, "params": {"period": "20 ms"}, "link": link}
    )
    assert answer == {"p": 0.0, "next_ns": 20_000_000}
