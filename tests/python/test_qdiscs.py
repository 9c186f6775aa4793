"""Qdiscs of several queues: their classes, labels, commands and runs."""

from __future__ import annotations

import json

import pytest

import sojourn as sj
from sojourn import catalogue
from sojourn.cli import main

HOME = """
title = "Two downloads and a call"
duration = "12 s"
warmup = "4 s"
[bottleneck]
rate = "8 Mbit/s"
delay = "10 ms"
buffer = "500 packets"
[[flows]]
name = "downloads"
count = 2
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


def p99(result, qdisc):
    rows = result.summary().rows(named=True)
    (value,) = [
        row["mean"]
        for row in rows
        if (row["qdisc"], row["class"], row["metric"]) == (qdisc, "call", "sojourn_p99_s")
    ]
    return value


def test_a_qdisc_is_an_object_a_text_or_a_table(home):
    law = sj.laws.Codel(target="7 ms")
    drr = sj.qdiscs.Drr(quantum="300 B", law=law)
    assert drr.spec() == "drr:law=codel,law.target=7 ms,quantum=300 B"
    assert drr.table() == {"drr": {"law": {"codel": {"target": "7 ms"}}, "quantum": "300 B"}}
    text = home.with_(**{"bottleneck.qdisc": drr.spec()})
    assert home.with_(**{"bottleneck.qdisc": drr}) == home.with_(**{"bottleneck.qdisc": drr.table()}) == text
    assert text.with_(**{"bottleneck.qdisc.law.target": "5 ms"}) != text
    shaper = sj.qdiscs.Shaper(rate="5 Mbit/s", qdisc=drr)
    assert shaper.spec().startswith("shaper:rate=5 Mbit/s,qdisc=drr,qdisc.law=codel,qdisc.law.target=7 ms")
    assert home.with_(**{"bottleneck.qdisc": shaper}) == home.with_(**{"bottleneck.qdisc": shaper.spec()})
    with pytest.raises(sj.InputError, match=r"Drr has no parameter quantm; did you mean quantum"):
        sj.qdiscs.Drr(quantm="300 B")


def test_fair_queueing_keeps_a_call_short(home):
    specs = ["codel", "fq_codel", sj.qdiscs.Wfq(by="class"), "prio", "shaper:rate=6 Mbit/s", "cake"]
    result = sj.run(home, qdiscs=specs, seeds=[1])
    assert result.qdiscs == ["codel", "fq_codel", "wfq:by=class", "prio", "shaper:rate=6 Mbit/s", "cake"]
    alone = p99(result, "codel")
    for qdisc in result.qdiscs[1:]:
        assert p99(result, qdisc) < 0.4 * alone, qdisc


@pytest.mark.parametrize(
    ("qdisc", "spec"),
    [
        (sj.qdiscs.Drr(by="class", weights={"call": 3}), "drr:by=class,weights.call=3"),
        (
            sj.qdiscs.Wfq(
                reserved={"classes": ["call"], "rate": "1 Mbit/s", "law": sj.laws.Codel(target="7 ms")}
            ),
            "wfq:reserved.classes=[call],reserved.rate=1 Mbit/s,reserved.law=codel,reserved.law.target=7 ms",
        ),
        (sj.qdiscs.Cake(framing={"overhead": "20 B"}), "cake:framing.overhead=20 B"),
        (sj.qdiscs.Drr(law={"codel": {"target": "7 ms"}}), "drr:law=codel,law.target=7 ms"),
        (sj.qdiscs.Drr(law={"law": "codel", "target": "7 ms"}), "drr:law=codel,law.target=7 ms"),
        (
            sj.qdiscs.Drr(
                reserved={"classes": ["call"], "rate": "1 Mbit/s", "law": {"pie": {"target": "9 ms"}}}
            ),
            "drr:reserved.classes=[call],reserved.rate=1 Mbit/s,reserved.law=pie,reserved.law.target=9 ms",
        ),
        (
            sj.qdiscs.Shaper(rate="9 Mbit/s", qdisc=sj.qdiscs.Drr(by="class", weights={"call": 3})),
            "shaper:rate=9 Mbit/s,qdisc=drr,qdisc.by=class,qdisc.weights.call=3",
        ),
    ],
)
def test_tables_of_an_object_run_as_those_of_a_text(home, qdisc, spec):
    rows = sj.run(home, qdiscs=[qdisc], seeds=[1]).rows()
    same = sj.run(home, qdiscs=[spec], seeds=[1]).rows()
    assert [row.metrics for row in rows] == [row.metrics for row in same]
    assert qdisc.spec() == spec
    link = home.with_(**{"bottleneck.qdisc": qdisc})
    assert sj.run(link, seeds=[1]).rows()[0].metrics == rows[0].metrics


@pytest.mark.parametrize("law", [{"codel": 5}, {"target": "5 ms"}, {"codel": None}, {}])
def test_a_table_that_names_no_law_has_no_spec(law):
    with pytest.raises(sj.errors.ArgumentError, match=r"^Drr: law: .* expected the name of an entry"):
        sj.qdiscs.Drr(law=law).spec()


def test_every_qdisc_has_a_class_and_an_explanation(capsys):
    for entry in catalogue.entries("qdiscs"):
        assert main(["explain", entry["name"]]) == 0
        assert entry["summary"][1:] in capsys.readouterr().out
        if entry["name"] != "fifo":
            name = "".join(part.capitalize() for part in entry["name"].split("_"))
            assert getattr(sj.qdiscs, name).stem == entry["name"]
    assert main(["list", "qdiscs", "--json"]) == 0
    names = [entry["name"] for entry in json.loads(capsys.readouterr().out)]
    assert {
        "fifo",
        "drr",
        "fq_codel",
        "fq_pie",
        "sfq_codel",
        "sfq",
        "wfq",
        "prio",
        "dual",
        "shaper",
        "cake",
    } <= set(names)


def test_explain_has_words_and_keys_within(capsys):
    for name, text in [
        ("drr.by", "Expected: flow, from_host, to_host, class, dscp, ecn."),
        ("wfq.clock", "Expected: gps, start_time."),
        ("drr.reserved", "Keys: classes, rate, law."),
        ("drr.reserved", "reserved.rate: rate, no default"),
        (
            "drr.reserved.rate",
            "A parameter of the table reserved of the qdisc drr: `bottleneck.qdisc.reserved.rate`.",
        ),
        (
            "fq_pie.law.target",
            "A parameter of the law pie, the default of law: `bottleneck.qdisc.law.target`.",
        ),
        ("shaper.qdisc.law.target", "A parameter of the law codel, the default of law:"),
    ]:
        assert main(["explain", name]) == 0
        assert text in " ".join(capsys.readouterr().out.split()), name
    for name in ("drr.reserved.rat", "drr.law.min", "drr.by.flow", "drr.reserved.rate.x"):
        assert main(["explain", name]) == 2


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "--qdisc", "drr:buckets=0"], "--qdisc: drr.buckets: 0 is out of range; expected 1 to 65536"),
        (["run", "--qdisc", "fq_codle"], '--qdisc: "fq_codle" is not a qdisc; did you mean "fq_codel"?'),
        (
            ["run", "--qdisc", "wfq:weights.cal=2"],
            '--qdisc: wfq.weights.cal: "cal" is no class of flows; did you mean',
        ),
        (["run", "--qdisc", "cake", "--plant", "fluid"], "bottleneck.qdisc: cake has no fluid model"),
        (["prove", "--qdisc", "cake"], "bottleneck.qdisc: cake has no linear model"),
    ],
)
def test_what_cannot_be_is_one_line(arguments, line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home.toml").write_text(HOME)
    command, *rest = arguments
    assert main([command, "home.toml", *rest]) == 2
    (text,) = capsys.readouterr().err.splitlines()
    assert line in text


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("drr:buckets=0", "buckets: 0 is out of range; expected 1 to 65536"),
        ("drr:quantum=1 B", 'quantum: "1 B" is out of range; expected 40 B to 1 MB'),
        ("drr:quantum=900 kB", "quantum: 900 kB is above the buffer of 500 packets"),
        ("drr:limit=10 packets,quantum=90 kB", "quantum: 90 kB is above the limit of 10 packets"),
        ("cake:memlimit=1 B", "memlimit: 1 B is below a packet of the link"),
        ("drr:limit=1.5packets", 'limit: "1.5packets" is not a whole number of packets; expected 1 to'),
        ("fq_codel:target=5ms", 'target: unknown key; did you mean "law.target"?'),
        ("fq_codel:flows=32", 'flows: unknown key; did you mean "buckets"?'),
        ("wfq:weights.call=-1", "weights.call: -1 is out of range; expected 0.001 to 1000"),
        ("drr:weights.cal=2", 'weights.cal: "cal" is no class of flows; did you mean "call"?'),
        ("drr:law=drr", 'law: "drr" is a qdisc, not a law'),
        ("drr:law=choke,law.min=10 packets,law.max=30 packets", "law: choke draws its victims from"),
        (
            "drr:reserved.classes=[call],reserved.rate=9 Mbit/s",
            "reserved.rate: 9 Mbit/s is not below the rate of the link, 8 Mbit/s",
        ),
        ("shaper:rate=5 Mbit/s,qdisc=drrr", 'qdisc: "drrr" is not a qdisc; did you mean "drr"?'),
        ("cake:ingress=true", "ingress: true counts drops for a shaper, and there is none"),
        ("cake:ack_filter=some", 'ack_filter: "some" is none of the words'),
    ],
)
def test_a_wrong_qdisc_is_one_line_from_file_option_flag_and_python(
    spec, line, home, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.toml").write_text(HOME.replace("buffer =", f"qdisc = '{spec}'\nbuffer ="))
    for arguments in (
        ["check", "wrong.toml"],
        ["run", "home.toml", "--set", f"bottleneck.qdisc='{spec}'"],
        ["run", "home.toml", "--qdisc", spec],
    ):
        assert main(arguments) == 2, arguments
        (text,) = capsys.readouterr().err.splitlines()
        assert line in text, arguments
    with pytest.raises(sj.InputError) as caught:
        sj.run(home, qdiscs=[spec])
    assert line in str(caught.value)
