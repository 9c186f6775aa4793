"""A `Law` in Python: the same verdicts as the built-in ones, packet by packet, and no unused method
called.
"""

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from python_laws import MyCoDel, PiByPackets

import sojourn as sj
from sojourn.conform import TracedLaw, replay
from sojourn.custom.law import CALLS
from sojourn.custom.parameters import defaults_of

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


class HeadDrop(sj.Law):
    overflow = "head"


# ---- The same law -------------------------------------------------------------------------------


def same(result, seeds):
    """Check that all measurements of two qdiscs are the same, to the last bit."""
    one, other = result.qdiscs
    for seed in seeds:
        ours, theirs = (run for run in result.runs if run.seed == seed)
        assert ours.metrics == theirs.metrics
        assert ours.conservation == theirs.conservation
        assert ours.cost["events"] == theirs.cost["events"]
    for table in (result.series, result.distributions):
        both = [table.filter(pl.col("qdisc") == qdisc).drop("qdisc") for qdisc in (one, other)]
        assert both[0].height > 100
        assert_frame_equal(*both, check_exact=True)


@pytest.mark.parametrize("jobs", [1, 2])
def test_codel_in_python_gives_exactly_the_verdicts_of_the_built_in_one(root, jobs):
    scenario = sj.load(root / "scenarios" / "arm_pfc" / "exp1.toml")
    result = sj.run(scenario, qdiscs=[MyCoDel(), "codel"], seeds=[1, 2], jobs=jobs)
    same(result, [1, 2])
    assert result.runs[0].metrics["mark_ratio"] > 0
    assert result.runs[0].metrics["qacd_packets"] is not None


def test_codel_drops_where_it_cannot_mark_as_the_built_in_one_does(root):
    scenario = sj.load(root / "scenarios" / "dumbbell.toml", {"duration": "45 s", "flows[0].ecn": False})
    result = sj.run(scenario, qdiscs=[MyCoDel(), "codel"], seeds=[1, 2])
    same(result, [1, 2])
    run = result.runs[0]
    assert run.conservation["dropped"] > 100
    assert run.metrics["mark_ratio"] == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_pi_as_a_law_gives_exactly_the_verdicts_of_the_built_in_one(root, jobs):
    scenario = sj.load(root / "scenarios" / "arm_pfc" / "exp1.toml")
    built_in = sj.laws.Pi(target="100 packets", a=PiByPackets.a, b=PiByPackets.b)
    result = sj.run(scenario, qdiscs=[PiByPackets(), built_in], seeds=[1, 2], jobs=jobs)
    same(result, [1, 2])
    assert result.series.filter(pl.col("name") == "p")["value"].max() > 0


def test_head_drop_needs_only_its_overflow(scenario):
    result = sj.run(scenario, qdiscs=[HeadDrop(), "head_drop"], seeds=[1, 2])
    same(result, [1, 2])
    assert result.runs[0].conservation["dropped"] > 0
    tail = sj.run(scenario, "tail_drop").runs[0]
    assert tail.metrics != result.runs[0].metrics


@pytest.mark.parametrize("trace", sorted((VECTORS / "codel").glob("*.jsonl")), ids=lambda path: path.stem)
def test_codel_in_python_passes_its_golden_traces(trace):
    given = json.loads(trace.read_text().splitlines()[0])["params"]
    seconds = {
        name: float(given[name].removesuffix(" ms")) / 1000
        for name in ("target", "interval")
        if name in given
    }
    law = MyCoDel(
        ecn=given.get("ecn", True), mtu_bytes=int(given.get("mtu", "0 B").removesuffix(" B")), label="here"
    )
    law.target_s, law.interval_s = seconds.get("target", 0.005), seconds.get("interval", 0.1)
    assert replay(trace, law) == []


def test_another_law_fails_a_trace():
    assert replay(VECTORS / "codel" / "overload_idle.jsonl", MyCoDel(target_s=0.001, ecn=False)) != []


@pytest.mark.parametrize("name", ["overload_idle", "rate_stall"])
def test_a_trace_replays_a_controller(name):
    class Still(sj.Controller):
        period = "6.25 ms"

        def update(self, seen):  # noqa: ARG002
            return 0.25

    different = replay(VECTORS / "pi" / f"{name}.jsonl", Still())
    assert different
    answers = [line.split(": ", 1)[1] for line in different]
    updates = [line for line in answers if line.startswith("answers next_ns ")]
    assert len(updates) > 5
    assert all(", p 0.25, expected next_ns " in line for line in updates)
    assert all(
        line.startswith(("answers pass, ", "answers mark, ", "answers drop, "))
        for line in answers
        if line not in updates
    )


#  ---- Its inputs -------------------------------------------------------------------------------


def test_a_law_gets_all_attributes_of_packets(folder):
    text = (folder / "small.toml").read_text()
    (folder / "mixed.toml").write_text(
        text.replace("count   = 8", "count   = 5")
        + text[text.index("[[flows]]") :].replace("count   = 8", "count   = 3").replace("true", "false")
        + '\n[[at]]\ntime = "3 s"\nset = { "bottleneck.rate" = "1 Mbit/s" }\n'
    )
    calls = {"arrival": [], "departure": [], "idle": [], "overflow": [], "rate": [], "link": []}

    class Watcher(sj.Law):
        def reset(self):
            for kind in calls.values():
                kind.clear()
            calls["link"].append(self.link)

        def on_arrival(self, arrival):
            calls["arrival"].append(arrival)

        def on_departure(self, departure):
            calls["departure"].append(departure)

        def on_idle(self, time_s):
            calls["idle"].append(time_s)

        def on_overflow(self, time_s):
            calls["overflow"].append(time_s)

        def on_link_change(self, time_s, rate_bps):
            calls["rate"].append((time_s, rate_bps))

    result = sj.run(sj.load(folder / "mixed.toml"), qdiscs=["tail_drop", Watcher()])
    plain, run = result.rows()
    assert run.metrics == plain.metrics
    count = run.conservation
    assert len(calls["arrival"]) == count["offered"]
    assert len(calls["departure"]) == count["delivered"]
    assert len(calls["overflow"]) == count["dropped"] > 0
    assert calls["rate"] == [(3.0, 1e6)]
    assert 0 < calls["idle"][0] < 1
    (link,) = calls["link"]
    assert (link.rate_bps, link.packet_bytes, link.limit_packets, link.flows) == (2e6, 1000, 40, 8)
    assert link.base_rtt_s == pytest.approx(0.05)
    for arrival in calls["arrival"]:
        # Neither a SYN nor a retransmission is ECN-capable (RFC 3168, sections 6.1.1 and 6.1.5).
        assert arrival.ecn == "not_ect" or (arrival.ecn, arrival.len_bytes, arrival.flow < 5) == (
            "ect0",
            1000,
            True,
        )
        assert arrival.ecn_capable is (arrival.ecn == "ect0")
        assert (
            40 * arrival.backlog_packets <= arrival.backlog_bytes <= 1000 * arrival.backlog_packets <= 40_000
        )
        assert arrival.victim is None
        assert all(0 <= draw < 1 for draw in arrival.u)
    assert {(packet.len_bytes, packet.ecn_capable) for packet in calls["arrival"]} == {
        (40, False),
        (1000, False),
        (1000, True),
    }
    draws = [draw for packet in calls["arrival"] + calls["departure"] for draw in packet.u]
    assert len(set(draws)) == len(draws)
    assert math.isclose(sum(draws) / len(draws), 0.5, abs_tol=3 / math.sqrt(12 * len(draws)))
    assert {packet.flow for packet in calls["departure"]} == set(range(8))
    by_time = [packet.time_s for packet in calls["arrival"]]
    assert by_time == sorted(by_time)
    for departure in calls["departure"]:
        assert 0 <= departure.sojourn_s <= 41 * 1000 * 8 / 1e6
        assert departure.ecn_capable is (departure.ecn == "ect0")
        assert departure.backlog_bytes <= 1000 * departure.backlog_packets <= 39_000


def test_whole_nanoseconds_come_back_from_its_seconds():
    """The clock of a run counts them; a law that compares times to the last bit can recover them."""
    for trace in sorted(VECTORS.glob("*/*.jsonl")):
        header, *calls = map(json.loads, trace.read_text().splitlines())
        if "law" not in header:
            continue
        times = []

        class Clock(sj.Law):
            def on_arrival(self, arrival):
                times.append(arrival.time_s)  # noqa: B023

        law = TracedLaw(header, Clock())
        arrivals = [call for call in calls if call["call"] == "arrival"]
        for call in arrivals:
            law.answer(call | {"now_ns": call["now_ns"] + 10**15})
        assert [round(time_s * 1e9) - 10**15 for time_s in times] == [call["now_ns"] for call in arrivals]


def test_updates_come_at_the_period_or_at_the_requested_time(scenario):
    calls = []

    class Updated(sj.Law):
        period = "500 ms"

        def reset(self):
            calls.clear()

        def on_update(self, seen):
            calls.append((round(seen.time_s, 9), round(seen.elapsed_s, 9)))
            if seen.time_s == 1:
                return 1.2
            return math.inf if seen.time_s > 4 else None

    sj.run(scenario, Updated())
    assert calls[:4] == [(0.5, 0.5), (1.0, 0.5), (1.2, 0.2), (1.7, 0.5)]
    assert calls[-1] == (4.2, 0.5)


def test_after_a_stall_there_is_one_update_with_the_true_time_elapsed():
    seen = []

    class Stalled(sj.Law):
        period = "10 ms"

        def on_update(self, observation):
            seen.append(observation.elapsed_s)

    header = json.loads((VECTORS / "pi" / "rate_stall.jsonl").read_text().splitlines()[0])
    update = next(
        json.loads(line) for line in (VECTORS / "pi" / "rate_stall.jsonl").open() if '"update"' in line
    )
    late = update | {"due_ns": 10_000_000, "now_ns": 37_000_000, "elapsed_s": 0.037}
    assert TracedLaw(header, Stalled()).answer(late) == {"p": None, "next_ns": 40_000_000}
    assert seen == [0.037]


def test_drop_both_takes_the_victim_too(scenario):
    """CHOKe's comparison (Pan, Prabhakar, Psounis 2000): of one flow, both go."""
    taken = []

    class Choke(sj.Law):
        wants_victim = True
        least = 10

        def reset(self):
            taken.clear()

        def on_arrival(self, arrival):
            assert (arrival.victim is None) == (arrival.backlog_packets == 0)
            if arrival.backlog_packets > self.least and arrival.victim == arrival.flow:
                taken.append(arrival.flow)
                return sj.Verdict.DROP_BOTH
            return None

        def on_overflow(self, time_s):
            taken.append(time_s)

    run = sj.run(scenario, Choke()).runs[0]
    overflows = sum(isinstance(one, float) for one in taken)
    assert run.conservation["dropped"] == 2 * (len(taken) - overflows) + overflows
    assert len(taken) > overflows


def test_a_mark_passes_packets_that_are_not_ecn_capable(folder):
    text = (folder / "small.toml").read_text().replace("ecn     = true", "ecn     = false")
    (folder / "deaf.toml").write_text(text)

    class Marks(sj.Law):
        def on_departure(self, departure):  # noqa: ARG002
            return sj.Verdict.MARK

    one, other = sj.run(sj.load(folder / "deaf.toml"), qdiscs=["tail_drop", Marks()]).runs
    assert one.metrics == other.metrics


def test_its_probability_is_in_the_series(scenario):
    class Shows(sj.Law):
        p = 0.0

        def on_departure(self, departure):
            self.p = min(1.0, departure.sojourn_s)

        def gauges(self):
            return {"p": self.p, "other": "whatever"}

    result = sj.run(scenario, qdiscs=[Shows(), HeadDrop()])
    p = result.series.filter(pl.col("name") == "p").partition_by("qdisc", as_dict=True)
    assert p["Shows",]["value"].max() > 0.05
    assert p["HeadDrop",]["value"].null_count() == p["HeadDrop",].height


def test_inputs_of_a_law_are_frozen_and_documented(scenario):
    kept = []

    class Keeper(sj.Law):
        def reset(self):
            self.last = None

        def on_arrival(self, arrival):
            self.last = arrival
            kept[:1] = [arrival]

        def on_departure(self, departure):
            kept[1:] = [departure, self.link]

    sj.run(scenario, Keeper())
    for one in kept:
        names = [name for name in dir(type(one)) if not name.startswith("_") and name != "of_trace"]
        assert all(getattr(type(one), name).__doc__ for name in names)
        text = repr(one)
        assert text.startswith(f"{type(one).__name__}(")
        assert sorted(re.findall(r"(\w+)=", text)) == names
        with pytest.raises(AttributeError):
            setattr(one, names[0], 3)
        with pytest.raises(TypeError):
            type(one)()


#  ---- Undefined methods ------------------------------------------------------------------------


def test_undefined_methods_are_never_called(scenario, monkeypatch):
    def called(*_):
        raise AssertionError("a method that the law does not have")

    class Leaves(sj.Law):
        def on_link_change(self, time_s, rate_bps):
            """There is no such change in this scenario."""

    for name in ("on_arrival", "on_departure", "on_idle", "on_overflow", "on_update", "gauges"):
        monkeypatch.setattr(sj.Law, name, called)
    one, other = sj.run(scenario, qdiscs=["tail_drop", Leaves()]).runs
    assert one.metrics == other.metrics


def test_the_state_of_a_law_is_the_run_s_own(scenario):
    class Counting(sj.Law):
        held = []  # noqa: RUF012 - a list of the class is what a beginner writes

        def on_arrival(self, arrival):
            self.held.append(arrival)
            return sj.Verdict.DROP if len(self.held) % 50 == 0 else None

    law = Counting()
    alone = [sj.run(scenario, law, seeds=[seed]).runs[0] for seed in (1, 2, 3)]
    assert list(sj.run(scenario, law, seeds=[3, 2, 1], jobs=2).runs) == alone
    assert Counting.held == []


def test_it_is_tried_by_hand():
    law = MyCoDel()
    law.reset()
    packet = {"len_bytes": 1000, "sojourn_s": 0.05, "backlog_bytes": 20_000, "ecn_capable": True}
    # RFC 8289: above the target from 1 ms on, so the first mark is an interval later.
    acts = [
        millis
        for millis in range(1, 280)
        if law.on_departure(SimpleNamespace(time_s=millis / 1000, **packet)) == sj.Verdict.MARK
    ]
    assert acts == [101, 201, 272]


#  ---- Refusals ---------------------------------------------------------------------------------


class Nothing(sj.Law):
    """No method, no overflow."""


class Update(sj.Law):
    period = "10 ms"

    def update(self, seen):
        return seen.time_s


class Departue(sj.Law):
    def on_departue(self, departure):
        return departure


class Periodic(sj.Law):
    def on_update(self, seen):
        """A period is missing."""


class Own(HeadDrop):
    def helper(self):
        """Not a call of a law's."""


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (
            Nothing(),
            r"^qdiscs: Nothing does nothing; expected a method such as on_arrival or on_departure, or ov",
        ),
        (
            Update(),
            r"^qdiscs: Update does nothing; did you mean on_update, or a sojourn.Controller\? expected a ",
        ),
        (
            Departue(),
            r'^qdiscs: Departue: "on_departue" is never called; did you mean "on_departure"\? \(expected ',
        ),
        (Periodic(), r"^qdiscs: Periodic: period: is missing; expected a time of 1 us or more"),
        (Periodic(period="9 ns"), r"^qdiscs: Periodic: period: \"9 ns\" is too short; expected a time"),
        (
            HeadDrop(period="9 ms"),
            r"^qdiscs: HeadDrop: period: '9 ms' is given, but there is no on_update; expected",
        ),
        (
            HeadDrop(overflow="middle"),
            r"^qdiscs: HeadDrop: overflow: 'middle' names no end of the queue; expected ",
        ),
        (
            HeadDrop(wants_victim="yes"),
            r"^qdiscs: HeadDrop: wants_victim: 'yes' is not a truth value; expected True",
        ),
        (HeadDrop(target_packets=-1), r"target_packets: -1 is not a number of packets; expected"),
        (HeadDrop, r"^qdiscs: HeadDrop is a class; expected an object of it"),
    ],
)
def test_a_law_that_cannot_run_is_refused_in_one_line_before_any_run(scenario, law, message):
    with pytest.raises(sj.InputError, match=message) as caught:
        sj.run(scenario, qdiscs=[law, "tail_drop"])
    assert len(caught.value.lines) == 1
    assert "\n" not in caught.value.lines[0]


def test_helper_methods_are_allowed(scenario):
    assert sj.run(scenario, Own()).qdiscs == ["Own"]


def test_a_trace_refuses_the_laws_that_a_run_refuses():
    trace = VECTORS / "codel" / "overload_idle.jsonl"
    with pytest.raises(sj.InputError, match=r"overload_idle\.jsonl:1: Nothing does nothing; expected"):
        replay(trace, Nothing())


# ---- Its page -----------------------------------------------------------------------------------


@pytest.fixture
def page(root):
    """The section on a `Law`."""
    text = (root / "docs" / "howto" / "law-in-python.md").read_text()
    return text.split("## A law that judges packets")[1].split("\n## ")[0]


def test_the_pages_example_runs_as_described(root, page, monkeypatch):
    monkeypatch.chdir(root)
    (block,) = re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    names = {"__name__": "page"}
    exec(block, names)
    result = names["result"]
    assert result.qdiscs == ["Patience", "Patience:interval_s=0.02", "codel"]
    marked = {qdisc: result.values(qdisc, "mark_ratio") for qdisc in result.qdiscs}
    for seed in (1, 2, 3):
        assert 0 < marked["Patience"][seed] < marked["Patience:interval_s=0.02"][seed]


def test_the_page_lists_all_attributes_and_methods(page):
    firsts = [
        [line.split("|")[1] for line in part.splitlines() if line[:1] == "|"] for part in page.split("\n\n")
    ]
    tables = [re.findall(r"`(\w+)[`(]", " ".join(cells)) for cells in firsts if cells]
    methods, packets, values = tables
    # `set_params` is a method of every law, with a page of its own there.
    assert [method for method in methods if method != "set_params"] == list(CALLS)
    fields = {name for kind in (sj.Arrival, sj.Departure) for name in dir(kind) if not name.startswith("_")}
    assert set(packets) == fields
    assert {"label", "target_packets", *values} == set(defaults_of(sj.Law))


#  ---- Cost -------------------------------------------------------------------------------------


def test_the_cost_of_a_packet_is_printed(root, capsys):
    scenario = sj.load(root / "scenarios" / "dumbbell.toml", {"duration": "41 s"})

    class Null(sj.Law):
        def on_departure(self, departure):
            return sj.Verdict.DROP if departure.sojourn_s > 1e9 else None

    of_python, built_in = sj.run(scenario, qdiscs=[Null(), "tail_drop"], seeds=range(1, 9), jobs=1).runs[::8]
    each = (of_python.cost["cpu_s"] - built_in.cost["cpu_s"]) / of_python.conservation["delivered"]
    with capsys.disabled():
        print(
            f"\n  a packet through a law in Python that looks at departures: {each * 1e6:.2f} us of CPU more"
        )
