"""Qdiscs written in Python, and laws in Python within the qdiscs of several queues."""

# ruff: noqa: ARG001, ARG002

from __future__ import annotations

import json
import re
import textwrap
from collections import deque

import polars as pl
import pytest

import sojourn as sj
from sojourn.cli import main
from sojourn.custom.qdisc import QDISC_CALLS
from sojourn.entries import written_in_python

HOME = """
title = "Two downloads and a call"
duration = "12 s"
warmup = "4 s"
[bottleneck]
rate = "8 Mbit/s"
delay = "10 ms"
buffer = "60 packets"
[[flows]]
name = "downloads"
count = 2
ecn = true
[[flows]]
name = "call"
app = "voip"
dscp = "EF"
"""


@pytest.fixture
def home(tmp_path):
    file = tmp_path / "home.toml"
    file.write_text(HOME)
    return sj.load(file)


class Fifo(sj.Qdisc):
    def reset(self):
        self.queue = deque()

    def enqueue(self, now, packet):
        self.queue.append(packet)

    def dequeue(self, now):
        return self.queue.popleft() if self.queue else None


class Bands(sj.Qdisc):
    """The call first, then the downloads."""

    def reset(self):
        self.bands = [deque(), deque()]

    def enqueue(self, now, packet):
        self.bands[packet.class_name != "call"].append(packet)

    def dequeue(self, now):
        return next((band.popleft() for band in self.bands if band), None)


class Rounds(sj.Qdisc):
    """Deficit round robin as Shreedhar and Varghese have it, over the flows."""

    quantum = 1500  # bytes

    def reset(self):
        self.queues = {}
        self.turns = deque()
        self.deficit = {}

    def enqueue(self, now, packet):
        queue = self.queues.setdefault(packet.flow, deque())
        if not queue:
            self.turns.append(packet.flow)
            self.deficit[packet.flow] = self.quantum
        queue.append(packet)

    def dequeue(self, now):
        while self.turns:
            flow = self.turns[0]
            queue = self.queues[flow]
            if queue[0].len_bytes <= self.deficit[flow]:
                packet = queue.popleft()
                self.deficit[flow] -= packet.len_bytes
                if not queue:
                    self.turns.popleft()
                return packet
            self.deficit[flow] += self.quantum
            self.turns.rotate(-1)
        return None


def rows(result, name):
    """The rows of all traffic and of each class; those of the queues of a built-in qdisc are apart."""
    return [run for run in result.runs if run.qdisc == name and run.queue is None]


def same(result, one, other):
    """The two have the same series and metrics."""
    series = [result.series.filter(qdisc=name) for name in (one, other)]
    common = set(series[0]["name"]) & set(series[1]["name"])
    assert {"queue_packets", "sojourn_s", "utilization"} <= common
    series = [some.filter(pl.col("name").is_in(common)).drop("qdisc") for some in series]
    assert series[0].height > 100
    assert series[0].equals(series[1])
    metrics = [[run.metrics for run in rows(result, name)] for name in (one, other)]
    assert metrics[0] == metrics[1]


def test_a_fifo_in_python_is_the_built_in_one(home):
    same(sj.run(home, [Fifo(), "tail_drop"], seeds=[1, 2]), "Fifo", "tail_drop")


def test_strict_priority_in_python_is_the_built_in_one(home):
    roomy = home.with_(**{"bottleneck.buffer": "10000 packets"})
    result = sj.run(roomy, [Bands(), "prio:order=[call]"], seeds=[1])
    same(result, "Bands", "prio:order=[call]")


def test_round_robin_in_python_shares_as_drr_does(home):
    roomy = home.with_(**{"bottleneck.buffer": "10000 packets"})
    result = sj.run(roomy, [Rounds(), "drr:law=tail_drop,new_first=false,quantum=1500 B", "tail_drop"])
    p99 = {run.qdisc: run.metrics["sojourn_p99_s"] for run in result.runs if run.traffic_class == "call"}
    ours, built_in, alone = p99.values()
    assert ours < 0.05 * alone
    assert abs(ours - built_in) < 0.003


class Marks(Fifo):
    """A share of the packets is marked, or dropped where it cannot be."""

    p = 0.02

    def enqueue(self, now, packet):
        assert (len(packet.u), packet.arrival_s) == (2, now)
        if packet.u[0] < self.p and not packet.mark():
            packet.drop()
        else:
            self.queue.append(packet)


class Constant(sj.Controller):
    """The same as a law."""

    period = "10 ms"

    def reset(self):
        pass

    def update(self, seen):
        return 0.02


def test_marks_and_drops_are_those_of_a_law(home):
    result = sj.run(home, [Marks()], seeds=[1])
    row = result.runs[0]
    assert 0.01 < row.metrics["mark_ratio"] < 0.03
    assert (
        row.conservation["offered"]
        == row.conservation["delivered"] + row.conservation["dropped"] + row.conservation["held"]
    )


class OldestFirst(Fifo):
    def on_overflow(self, now, packet):
        self.queue.popleft().drop()


def test_an_overflow_may_drop_another_packet(home):
    same(sj.run(home, [OldestFirst(), "head_drop"]), "OldestFirst", "head_drop")


class Clears(Fifo):
    """Drops all packets in every update."""

    period = "20 ms"

    def on_update(self, now):
        while self.queue:
            self.queue.pop().drop()


class ClearsAndOverflows(Clears):
    def on_overflow(self, now, packet):
        pass


def test_what_an_update_drops_has_made_room_for_the_next_arrival(tmp_path):
    # In 20 ms 26.7 packets arrive and 13.3 are sent; an update drops 10 of the others, and 3.3 do not fit.
    file = tmp_path / "overload.toml"
    file.write_text(
        """
        title = "Twice the rate"
        duration = "12 s"
        warmup = "4 s"
        [bottleneck]
        rate = "8 Mbit/s"
        delay = "10 ms"
        buffer = "10 packets"
        [[flows]]
        app = { cbr = { rate = "16 Mbit/s", size = "1500 B" } }
        """
    )
    result = sj.run(sj.load(file), [Clears(), ClearsAndOverflows()], seeds=[1])
    same(result, "Clears", "ClearsAndOverflows")
    overflowed, dropped = (result.runs[0].metrics[name] for name in ("overflow_ratio", "drop_ratio"))
    assert overflowed == pytest.approx(1 / 8, abs=0.01)
    assert dropped == pytest.approx(1 / 2, abs=0.01)


class Paced(Fifo):
    """One packet every 2 ms."""

    def reset(self):
        super().reset()
        self.next = 0.0

    def dequeue(self, now):
        if now < self.next or not self.queue:
            return None
        self.next = now + 0.002
        return super().dequeue(now)

    def not_before(self, now):
        return self.next


def test_a_qdisc_may_wait(home):
    result = sj.run(home, [Paced()])
    row = result.runs[0]
    assert row.conservation["delivered"] == pytest.approx(12 / 0.002, rel=0.1)


class Holds(sj.Qdisc):
    """The downloads wait for 50 ms, the call does not."""

    def reset(self):
        self.held, self.call = deque(), deque()

    def enqueue(self, now, packet):
        (self.call if packet.class_name == "call" else self.held).append(packet)

    def dequeue(self, now):
        if self.call:
            return self.call.popleft()
        return self.held.popleft() if self.held and now >= self.not_before(now) else None

    def not_before(self, now):
        return self.held[0].arrival_s + 0.05


def test_an_arrival_ends_a_wait(home):
    result = sj.run(home.with_(**{"bottleneck.buffer": "1000 packets"}), [Holds()], seeds=[1])
    p99 = {run.traffic_class: run.metrics["sojourn_p99_s"] for run in result.runs}
    assert p99["downloads"] >= 0.05
    assert p99["call"] < 0.002, "a packet of 1500 B, which may be on its way, takes 1.5 ms"


class Reacts(Fifo):
    period = "50 ms"

    def reset(self):
        super().reset()
        self.p, self.updates, self.rates = 0.0, 0, []

    def on_update(self, now):
        self.updates += 1
        self.p = min(1.0, self.updates / 1000)

    def on_link_change(self, now, rate_bps):
        self.rates.append(rate_bps)

    def gauges(self):
        assert self.rates in ([], [4e6])
        return {"p": self.p}


def test_updates_changes_and_gauges(home, tmp_path):
    file = tmp_path / "changes.toml"
    file.write_text(HOME + '[[at]]\ntime = "6 s"\nset = { "bottleneck.rate" = "4 Mbit/s" }\n')
    result = sj.run(sj.load(file), [Reacts()])
    assert result.series.filter(name="p")["value"].max() == pytest.approx(0.24, abs=0.01)


def test_a_new_period_counts_from_the_last_update(tmp_path):
    # As that of a law: the next update of 100 s would be after the end.
    file = tmp_path / "period.toml"
    text = HOME.replace('buffer = "60 packets"', 'buffer = "60 packets"\nqdisc = "dual"')
    file.write_text(text + '[[at]]\ntime = "6 s"\nset = { "bottleneck.qdisc.period" = "50 ms" }\n')
    result = sj.run(sj.load(file), [Reacts(period="100 s")], seeds=[1])
    assert result.series.filter(name="p")["value"].max() == pytest.approx(0.12, abs=0.01)


def test_a_new_period_leaves_the_time_that_an_update_returned(tmp_path):
    class Chooses(Reacts):
        def on_update(self, now):
            times.append(now)
            return {0.05: 8.0, 8.0: 9.0}.get(now)

    file = tmp_path / "period.toml"
    text = HOME.replace('buffer = "60 packets"', 'buffer = "60 packets"\nqdisc = "dual"')
    file.write_text(text + '[[at]]\ntime = "6 s"\nset = { "bottleneck.qdisc.period" = "2 s" }\n')
    times: list[float] = []
    sj.run(sj.load(file), [Chooses()], seeds=[1])
    assert times == [0.05, 8.0, 9.0, 11.0]


class Fails(Fifo):
    def dequeue(self, now):
        return self.queue[0].missing if self.queue else None


class Forgets(Fifo):
    def enqueue(self, now, packet):
        pass


class Twice(Fifo):
    def dequeue(self, now):
        return self.queue[0] if self.queue else None


class Dropped(Fifo):
    def dequeue(self, now):
        packet = super().dequeue(now)
        if packet:
            packet.drop()
        return packet


class DropsTwice(Fifo):
    def enqueue(self, now, packet):
        packet.drop()
        packet.drop()


class Number(Fifo):
    def dequeue(self, now):
        return len(self.queue)


class Answers(Fifo):
    def enqueue(self, now, packet):
        return True


class WaitsForThePast(Paced):
    def not_before(self, now):
        return now - 1


@pytest.mark.parametrize(
    ("qdisc", "message"),
    [
        (Fails(), 'AttributeError: .* has no attribute .missing.*, in "return self.queue.0..missing'),
        (Forgets(), "dequeue gave None while a packet is held, .*; expected one of them, or def not_before"),
        (Twice(), "dequeue gave Packet.*; expected a packet that it holds, not one that it returned before"),
        (Dropped(), "dequeue gave Packet.*; expected a packet that it holds, not one that was dropped"),
        (DropsTwice(), 'ValueError: drop of a packet that was dropped before; .*, in "packet.drop'),
        (Number(), r"dequeue gave \d, .*; expected one of the packets that were passed to enqueue, or None"),
        (Answers(), "enqueue gave True, a truth value, .*; expected None"),
        (WaitsForThePast(), "not_before gave .*; expected the time of the next packet, s since the start"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, sj.Qdisc) else "",
)
def test_a_fault_ends_the_run_with_its_line(home, qdisc, message):
    name = type(qdisc).__name__
    with pytest.raises(
        sj.LawFailed, match=rf"^{name}, seed 1: .*test_qdisc_in_python.py:\d+: {message}"
    ) as caught:
        sj.run(home, qdisc)
    assert "\n" not in str(caught.value)


def test_what_cannot_run_is_one_line(home):
    class Lacks(sj.Qdisc):
        def enqueue(self, now, packet):
            pass

    class Misspelt(Fifo):
        def on_overflows(self, now, packet):
            pass

    for qdisc, message in [
        (Lacks(), r"Lacks has no dequeue; expected def dequeue\(self, now\)"),
        (Misspelt(), r'Misspelt: "on_overflows" is never called; did you mean "on_overflow"\?'),
        (Fifo, r"Fifo is a class; expected an object of it, Fifo\(\)"),
        (Fifo(period="10 ms"), r"period: '10 ms' is given, but there is no on_update"),
        (sj.qdiscs.Shaper(rate="5 Mbit/s", qdisc=Lacks()), r"qdisc: Lacks has no dequeue"),
        (sj.qdiscs.Drr, r"qdiscs: Drr is a class; expected an object of it, Drr\(\)"),
    ]:
        with pytest.raises(sj.InputError, match=message) as caught:
            sj.run(home, qdisc)
        assert len(caught.value.lines) == 1
    with pytest.raises(sj.InputError, match=r"Fifo is a qdisc in Python, and the fluid plant has no packets"):
        sj.run(home, Fifo(), plants="fluid")
    with pytest.raises(sj.InputError, match=r"Fifo is a qdisc in Python, and a certificate is of a law"):
        sj.prove(home, Fifo())


# ---- Laws in Python within qdiscs


class PythonPi(sj.Controller):
    """Hollot's PI as the built-in one computes it."""

    period = "6.25 ms"
    target_packets = 10
    a, b = 1.822e-3, 1.816e-3

    def reset(self):
        self.p, self.error = 0.0, -self.target_packets

    def update(self, seen):
        error = seen.backlog_packets - self.target_packets
        p = self.p + self.a * error - self.b * self.error
        self.p, self.error = min(1.0, max(0.0, p)), error
        return self.p


class Late(sj.Law):
    """Drops what waited for more than a time, but the last packet."""

    limit_s = 0.03

    def reset(self):
        self.seen = []

    def on_departure(self, departure):
        self.seen.append(departure.flow)
        assert len(set(self.seen)) == 1, "a copy for each queue"
        late = departure.sojourn_s > self.limit_s and departure.backlog_packets > 0
        return sj.Verdict.DROP if late else None


PI = "pi:target=10 packets,a=1.822e-3,b=1.816e-3,rate=160 Hz"


@pytest.mark.parametrize("qdisc", ["Drr", "Wfq", "Prio"])
def test_a_controller_in_every_queue_is_the_built_in_law(home, qdisc):
    kind = getattr(sj.qdiscs, qdisc)
    built_in = kind(law=sj.laws.Pi(target="10 packets", a=1.822e-3, b=1.816e-3, rate="160 Hz"))
    result = sj.run(home, [kind(law=PythonPi()), built_in], seeds=[1, 2])
    same(result, *result.qdiscs)
    assert result.qdiscs[0] == f"{qdisc.lower()}:law=PythonPi"
    marks = [run.metrics["mark_ratio"] for run in result.runs if run.traffic_class is run.queue is None]
    assert min(marks) > 0.001


def test_a_shaper_has_a_law_in_python_within_its_qdisc(home):
    drr = sj.qdiscs.Drr(law=PythonPi(target_packets=5), quantum="300 B")
    inner = sj.qdiscs.Drr(
        law=sj.laws.Pi(target="5 packets", a=1.822e-3, b=1.816e-3, rate="160 Hz"), quantum="300 B"
    )
    shapers = [sj.qdiscs.Shaper(rate="5 Mbit/s", qdisc=one) for one in (drr, inner)]
    result = sj.run(home, shapers)
    same(result, *result.qdiscs)
    assert result.qdiscs[0] == (
        "shaper:rate=5 Mbit/s,qdisc=drr,qdisc.law=PythonPi,qdisc.law.target_packets=5,qdisc.quantum=300 B"
    )
    key, outer, law = written_in_python(shapers[0])
    assert (key, outer.qdisc.law, type(law)) == ("qdisc.law", "tail_drop", PythonPi)


def test_a_shaper_takes_from_a_qdisc_in_python(home, monkeypatch, tmp_path):
    shapers = [sj.qdiscs.Shaper(rate="5 Mbit/s", burst="3000 B", qdisc=one) for one in (Fifo(), "tail_drop")]
    result = sj.run(home, shapers, seeds=[1, 2])
    same(result, *result.qdiscs)
    assert result.qdiscs[0] == "shaper:rate=5 Mbit/s,qdisc=Fifo,burst=3000 B"
    assert max(row.metrics["utilization"] or 0 for row in rows(result, result.qdiscs[0])) < 0.63

    # The rate of the shaper changes, and that of the qdisc's link with it.
    class Noting(Fifo):
        rates = ()

        def on_link_change(self, now, rate_bps):
            self.rates = (*self.rates, rate_bps)

        def gauges(self):
            return {"p": len(self.rates) / 10}

    monkeypatch.chdir(tmp_path)
    (tmp_path / "shaped.toml").write_text(
        HOME.replace("buffer =", 'qdisc = { shaper = { rate = "5 Mbit/s" } }\nbuffer =')
        + '[[at]]\ntime = "8 s"\nset = { "bottleneck.qdisc.rate" = "2 Mbit/s" }\n'
    )
    inner = (Fifo(), "tail_drop", Noting())
    result = sj.run(sj.load("shaped.toml"), [sj.qdiscs.Shaper(rate="5 Mbit/s", qdisc=one) for one in inner])
    same(result, *result.qdiscs[:2])
    p = result.series.filter(name="p", qdisc=result.qdiscs[2])
    assert p["value"].to_list()[-1] == pytest.approx(0.1), "one change of its link"


def test_every_queue_has_a_copy_of_its_own(home):
    result = sj.run(home, [sj.qdiscs.Drr(law=Late()), sj.qdiscs.Drr(law=Late(limit_s=0.02))], seeds=[1, 2])
    assert result.qdiscs == ["drr:law=Late", "drr:law=Late,law.limit_s=0.02"]
    assert result.runs[0].metrics["drop_ratio"] > 0


def test_a_law_that_cannot_be_of_each_queue_is_one_line(home):
    class Chokes(sj.Law):
        wants_victim = True

        def on_arrival(self, arrival):
            return None

    class Opens(Late):
        def reset(self):
            super().reset()
            self.lines = (line for line in ())

    for law, message in [
        (Chokes(), r"law: Chokes draws its victims from the queue of all flows"),
        (Opens(), r"law: Opens cannot be copied after reset, for each queue"),
        (object(), r"Drr: law: .* is not a parameter"),
        (Late, r"Drr: law: .*Late'> is a class; expected an object of it, Late\(\)"),
        (Fifo(), r"Drr: law: .*Fifo.* is a qdisc, and a queue has a law"),
        (sj.qdiscs.Drr(), r"Drr: law: Drr.* is a qdisc, and a queue has a law"),
    ]:
        with pytest.raises(sj.InputError, match=message):
            sj.run(home, sj.qdiscs.Drr(law=law))
    with pytest.raises(sj.InputError, match=r"has no place in a text or a file"):
        home.with_(**{"bottleneck.qdisc": sj.qdiscs.Drr(law=Late())})
    with pytest.raises(
        sj.InputError, match=r"drr:law=Late has a law in Python in each queue, as the packet plant"
    ):
        sj.run(home, sj.qdiscs.Drr(law=Late()), plants="fluid")
    with pytest.raises(
        sj.InputError, match=r"drr:law=Late has a law in Python in each queue, for which there is no"
    ):
        sj.prove(home, sj.qdiscs.Drr(law=Late()))
    with pytest.raises(sj.InputError, match=r"quantum: .* is not a parameter"):
        sj.qdiscs.Drr(quantum=Late())


def test_the_command_line_takes_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home.toml").write_text(HOME)
    (tmp_path / "mine.py").write_text(
        textwrap.dedent(
            """
            from collections import deque

            import sojourn as sj

            class Rounds(sj.Qdisc):
                most = 10

                def reset(self):
                    self.queues = {}

                def enqueue(self, now, packet):
                    queue = self.queues.setdefault(packet.flow, deque())
                    if len(queue) == self.most:
                        packet.drop()
                    else:
                        queue.append(packet)

                def dequeue(self, now):
                    for flow, queue in list(self.queues.items()):
                        self.queues[flow] = self.queues.pop(flow)
                        if queue:
                            return queue.popleft()

            class Late(sj.Law):
                limit_s = 0.03
                last = False

                def on_departure(self, departure):
                    if departure.sojourn_s > self.limit_s:
                        return sj.Verdict.DROP
            """
        )
    )
    specs = [
        "mine.py:Rounds:most=20",
        "drr:law=mine.py:Late,law.limit_s=0.02,quantum=300 B",
        "drr:law=mine.py:Late:limit_s=0.04,law.last=true",
        "bottleneck=wfq:by=class,law=mine.py:Late",
        "shaper:rate=5 Mbit/s,qdisc=mine.py:Rounds,qdisc.most=20",
    ]
    arguments = [part for spec in specs for part in ("--qdisc", spec)]
    assert main(["run", "home.toml", *arguments, "--quiet", "--json", "--out", "result"]) == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert list(dict.fromkeys(row["qdisc"] for row in rows)) == [
        "Rounds:most=20",
        "drr:law=Late,law.limit_s=0.02,quantum=300 B",
        "drr:law=Late,law.limit_s=0.04,law.last=true",
        "bottleneck=wfq:law=Late,by=class",
        "shaper:rate=5 Mbit/s,qdisc=Rounds,qdisc.most=20",
    ]
    for spec, line in [
        ("drr:law=mine.py:Lat", '--qdisc: law: mine.py: "Lat" is not a law in it; did you mean "Late"?'),
        ("drr:law=mine.py:Rounds", '--qdisc: law: mine.py: "Rounds" is not a law in it'),
        ("drr:law=mine.py:Late,law.limt_s=1", "--qdisc: law: mine.py:Late: Late has no parameter limt_s"),
        (
            "drr:law=mine.py:Late,reserved.law=mine.py:Late",
            "--qdisc: reserved.law: is a second law or qdisc in Python; expected one",
        ),
        ("mine.py:Round", '--qdisc: mine.py: "Round" is not a law or qdisc in it; did you mean "Rounds"?'),
        ("cake:law=mine.py:Late", "--qdisc: cake.law: unknown key"),
        ("drr:law=mine.py:Late,quantm=3", "--qdisc: drr.quantm: unknown key"),
    ]:
        assert main(["run", "home.toml", "--qdisc", spec]) == 2
        (text,) = capsys.readouterr().err.splitlines()
        assert text.startswith(f"sojourn run: {line}")


# ---- Its page


@pytest.fixture
def page(root):
    return (root / "docs" / "howto" / "qdisc-in-python.md").read_text()


@pytest.mark.slow
def test_the_pages_example_runs_as_described(root, page, monkeypatch):
    monkeypatch.chdir(root)
    (block,) = re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    names = {"__name__": "page"}
    exec(block, names)
    result = names["result"]
    assert result.qdiscs == ["RoundRobin", "RoundRobin:most=20", "drr:law=tail_drop"]
    ours, built_in = (result.values(name, "jain_index")[1] for name in result.qdiscs[::2])
    assert ours == pytest.approx(built_in, abs=0.1)


def test_the_page_lists_all_methods_and_attributes(page):
    firsts = [re.findall(r"`(\w+)", line.split("|")[1]) for line in page.splitlines() if line[:1] == "|"]
    listed = {name for first in firsts for name in first}
    public = {name for name in vars(sj.Packet) if not name.startswith("_")}
    assert listed == {*QDISC_CALLS, "reset", "set_params", *public}


def test_a_packet_says_where_it_comes_from(home, tmp_path):
    class Sees(Fifo):
        def enqueue(self, now, packet):
            assert packet.len_bytes <= 1500
            assert packet.ecn_capable == (packet.ecn != "not_ect")
            KNOWN.add((packet.class_name, packet.dscp, packet.from_host, packet.to_host))
            super().enqueue(now, packet)

    KNOWN.clear()
    file = tmp_path / "hosts.toml"
    file.write_text(HOME.replace('name = "call"', 'name = "call"\nfrom_host = "a"\nto_host = "b"'))
    sj.run(sj.load(file), Sees())
    assert {name for name, *_ in KNOWN} == {"downloads", "call"}
    assert ("call", 46, 0, 1) in KNOWN
    assert len({host for name, _, host, _ in KNOWN if name == "downloads"}) == 2


#: What `Sees` has seen, in all runs.
KNOWN = set()
