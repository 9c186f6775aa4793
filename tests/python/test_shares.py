"""Queues that share a link: the fluid plant beside the packets, certificates of each class at its share."""

import json
from pathlib import Path

import polars as pl
import pytest

import sojourn as sj
from sojourn.cli import main

PI = '{ pi = { target = "15 packets" } }'


def flows(name, count, delay_ms, rate="1 Gbit/s", *, ecn=True):
    """A class of bulk flows."""
    return (
        f'[[flows]]\nname = "{name}"\ncount = {count}\ncc = "newreno"\necn = {str(ecn).lower()}\n'
        f'segment = "1000 B"\naccess = {{ rate = "{rate}", delay = "{delay_ms} ms" }}\n'
    )


def scenario(folder: Path, qdisc, *classes, buffer=800):
    """A link of 20 Mbit/s under a qdisc."""
    path = folder / "shares.toml"
    path.write_text(
        'title = "t"\nduration = "70 s"\nwarmup = "30 s"\n[bottleneck]\nrate = "20 Mbit/s"\ndelay = "5 ms"\n'
        f'buffer = "{buffer} packets"\nqdisc = {qdisc}\n' + "".join(classes)
    )
    return sj.load(path)


def means(found, plant):
    """Mean over seeds of the metrics of each class; None: of the link."""
    rows = [
        row
        for row in json.loads(found.to_json())["runs"]
        if row["plant"] == plant and row.get("queue") is None
    ]
    names = {row.get("class") for row in rows}
    columns = ("utilization", "goodput_bps", "queue_mean_packets", "sojourn_mean_s", "drop_ratio")
    own = {name: [row["metrics"] for row in rows if row.get("class") == name] for name in names}
    return {
        name: {
            column: sum(one[column] for one in of) / len(of)
            for column in columns
            if of[0].get(column) is not None
        }
        for name, of in own.items()
    }


UNRESPONSIVE = (
    '[[flows]]\nname = "b"\napp = { cbr = { rate = "1 Mbit/s" } }\nsegment = "1000 B"\n'
    'access = { rate = "1 Gbit/s", delay = "10 ms" }\n'
)

#: Qdisc, classes, buffer, and the bounds on share and backlog of each class. A class without a queue in the
#: fluid has less than a packet in the other plant.
CASES = {
    "weights": (
        '{ drr = { by = "class", weights = { a = 3 }, law = { pi = { target = "60 packets" } } } }',
        (flows("a", 12, 10), flows("b", 12, 20)),
        800,
        (0.01, 0.03),
    ),
    "beside an unresponsive source": (
        f"{{ drr = {{ law = {PI} }} }}",
        (flows("a", 6, 10), UNRESPONSIVE),
        800,
        (0.01, 0.12),
    ),
    "below the share": (
        '{ wfq = { by = "class", law = { pie = { target = "20 ms" } } } }',
        (flows("a", 10, 10), flows("b", 5, 20, "1 Mbit/s")),
        800,
        (0.01, 0.1),
    ),
    "longest queue": (
        "{ sfq = { limit = 120 } }",
        (flows("a", 4, 10, ecn=False), flows("b", 4, 20, ecn=False)),
        800,
        (0.04, 0.3),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_fluid_agrees_with_the_packets(tmp_path, case):
    qdisc, classes, buffer, (share, backlog) = CASES[case]
    link = scenario(tmp_path, qdisc, *classes, buffer=buffer)
    found = sj.run(link, plants=["fluid", "packet"], seeds=range(1, 4))
    fluid, packet = means(found, "fluid"), means(found, "packet")
    assert fluid[None]["utilization"] == pytest.approx(packet[None]["utilization"], abs=0.01)
    for name in ("a", "b"):
        ours, theirs = fluid[name], packet[name]
        assert ours["goodput_bps"] == pytest.approx(theirs["goodput_bps"], rel=share), name
        if ours["queue_mean_packets"] == 0:
            assert theirs["queue_mean_packets"] < 1, name
        else:
            for column in ("queue_mean_packets", "sojourn_mean_s"):
                assert ours[column] == pytest.approx(theirs[column], rel=backlog), (name, column)


def test_the_queues_have_the_names_of_those_of_the_packets(tmp_path):
    reserved = f'reserved = {{ classes = ["a"], rate = "4 Mbit/s", law = {PI} }}'
    classes = (flows("a", 4, 10), flows("b", 4, 10), flows("c", 4, 20))
    path = scenario(tmp_path, f"{{ wfq = {{ law = {PI}, {reserved} }} }}", *classes)
    found = sj.run(path, plants=["fluid", "packet"], seeds=[1])
    rows = json.loads(found.to_json())["runs"]
    for plant in ("fluid", "packet"):
        own = [row for row in rows if row["plant"] == plant]
        assert [row["queue"] for row in own if row.get("queue")] == ["reserved", "b", "c"]
    fluid = {row.get("queue") or row.get("class"): row["metrics"] for row in rows if row["plant"] == "fluid"}
    assert fluid["reserved"]["queue_mean_packets"] == pytest.approx(15, rel=1e-3)
    assert fluid["b"]["queue_mean_packets"] == pytest.approx(60, rel=1e-3), "four queues"
    names = set(found.series.filter(found.series["plant"] == "fluid")["name"])
    assert {name for name in names if "reserved" in name}


def test_a_certificate_has_a_verdict_for_each_class(tmp_path, capsys):
    by_class = '{ drr = { by = "class", weights = { a = 3 }, law = { pi = { target = "60 packets" } } } }'
    found = sj.prove(scenario(tmp_path, by_class, flows("a", 12, 10), flows("b", 12, 20)))
    assert found.verdict == "stable"
    assert [(one["class"], one["queues"], one["capacity_pps"]) for one in found.classes] == [
        ("a", 1, 1875),
        ("b", 1, 625),
    ]
    assert [one["verdict"] for one in found.classes] == ["stable", "stable"]
    nearest = min(found.classes, key=lambda one: one["modulus_margin"])
    assert found.margins == {name: nearest[name] for name in found.margins}
    assert f"nearest to -1 is {nearest['class']}: phase margin" in str(found)
    assert any("Each queue is backlogged, so that its rate is its share" in one for one in found.assumptions)
    with pytest.raises(sj.InputError, match="map: the queues share the link"):
        found.region()
    page = found.report(tmp_path / "page.html").read_text()
    assert "Classes at their shares" in page
    assert main(["prove", str(tmp_path / "shares.toml")]) == 0
    assert "packets/s" in capsys.readouterr().out


def test_a_law_without_a_model_is_not_proven_in_a_scheduler_either(tmp_path, capsys):
    path = tmp_path / "shares.toml"
    scenario(tmp_path, '"fq_codel"', flows("a", 12, 10))
    assert main(["prove", str(path), "--json"]) == 4
    document = json.loads(capsys.readouterr().out)
    assert document["reason"].startswith("no model: codel")
    assert document["classes"][0]["queues"] == 12


def test_every_qdisc_without_a_fluid_model_is_named(capsys):
    qdiscs = [word for qdisc in ("prio", "drr:law=pi", "cake", "sred") for word in ("--qdisc", qdisc)]
    assert main(["run", "dumbbell", "--plant", "fluid,packet", *qdiscs]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" has no fluid model")[0] for line in lines] == [
        "prio: bottleneck.qdisc: prio",
        "cake: bottleneck.qdisc: cake",
        'sred: bottleneck.qdisc.law: "sred", which judges packets,',
    ]
    cubic = ["--set", "flows[0].cc=cubic", "--set", "fluid_window=mgt"]
    assert main(["run", "dumbbell", "--plant", "fluid", "--qdisc", "pi", "--qdisc", "red", *cubic]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith('flows[0].cc: "cubic" has no fluid model')


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "--qdisc", "dual", "--plant", "fluid"], "bottleneck.qdisc: dual has no fluid model"),
        (["run", "--qdisc", "drr:by=ecn", "--plant", "fluid"], "a queue for each ecn has no fluid model"),
        (["run", "--qdisc", "drr:law=choke", "--plant", "fluid"], "choke"),
        (["prove", "--qdisc", "cake"], "cake has no linear model"),
        (["prove", "--qdisc", "drr:law=pi,by=dscp"], 'expected by = "flow" or "class"'),
    ],
)
def test_what_has_no_model_says_so_in_one_line(arguments, line, capsys):
    verb, *options = arguments
    assert main([verb, "dumbbell", *options]) == 2
    error = capsys.readouterr().err
    assert line in error
    assert len(error.strip().splitlines()) == 1


def last_rates(result):
    """Packets/s of each class at the end of a fluid run of segments of 1000 B."""
    goodput = result.series.filter(pl.col("name").cast(pl.String).str.starts_with("goodput_bps."))
    last = goodput.filter(pl.col("time") == goodput["time"].max())
    names = (name.removeprefix("goodput_bps.") for name in last["name"])
    return {name: value / (8 * 960) for name, value in zip(names, last["value"], strict=True)}


def test_sqm_has_the_shares_of_figure_3():
    """Ye et al. 2022, figure 3: 120 and 80 packets/s at 50 s."""
    rates = last_rates(sj.run(sj.load("scenarios/sqm/figure3.toml"), plants="fluid"))
    assert rates == {f"f{flow}": pytest.approx(120 if flow < 5 else 80, rel=1e-3) for flow in range(10)}


def test_coordinators_of_sqm_have_the_optimum_on_the_papers_topology():
    """Two bottlenecks, w = 1, alpha = 2: of 5 flows over one and 5 over both 2 / a^2 = 1 / c^2."""
    both = 50e6 / 8 / 1000 / 5 / (1 + 2**0.5)
    for coordinator in ("centralised", "decentralised"):
        changes = {"flows[2].cc": "newreno", "flows[3].cc": "newreno", "duration": "80 s"}
        changes |= {f"flows[{place}].segment": "1000 B" for place in range(4)}
        changes |= {"flows[2].start": "0 s", "flows[3].start": "0 s"}
        sc = sj.load("scenarios/sqm/scenario2.toml", changes)
        qdisc = f"sqm:form=price,beta=5packets,utility=equal,period=1s,coordinator={coordinator}"
        rates = last_rates(sj.run(sc, qdisc, plants="fluid"))
        assert rates["cubic30"] / 2 == pytest.approx(both, rel=0.01)
        assert rates["cubic50"] / 3 == pytest.approx(both, rel=0.01)
        assert rates["r5-r6"] / 5 == pytest.approx(2**0.5 * both, rel=0.01)
        assert rates["r6-r4"] / 5 == pytest.approx(2**0.5 * both, rel=0.01)


def test_a_certificate_of_sqm_has_the_sigmas_of_the_theory(capsys):
    assert main(["prove", "scenarios/sqm/figure3.toml", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["classes"][0]
    theory = sj.theorems.sqm(1000, [3] * 5 + [2] * 5, [0.1 + 0.05 * flow / 9 for flow in range(10)])
    weight = 2 / 0.1**2
    for ours, theirs in (
        ("packets", "sigma_margin"),
        ("limit_packets", "sigma_limit"),
        ("theorem_3_packets", "sigma_theorem_3"),
        ("per_flow_packets", "sigma_per_flow"),
    ):
        assert first["sigma"][ours] == pytest.approx(theory[theirs][0] / weight, rel=1e-6)
    assert first["sigma"]["theorem_3_by_limit"] == pytest.approx(481, abs=0.1)
    assert main(["prove", "scenarios/sqm/figure3.toml"]) == 0
    assert "of  Theorem" in capsys.readouterr().out
    assert main(["prove", "scenarios/sqm/figure3.toml", "--qdisc", "sqm:form=pi", "--json"]) == 0
    classes = json.loads(capsys.readouterr().out)["classes"]
    assert classes[0]["sigma"] is None
    # docs/qdiscs/sqm.md: 40 to 42 degrees at T of 1/20 to 1/30 of D.
    assert all(39.5 <= one["phase_margin_deg"] < 42.5 for one in classes)


def test_a_certificate_of_a_prediction_is_of_the_links_backlog():
    """67.7 degrees, a gain of 5.7 and 6.0 harmonic mean round trips, docs/theory/sqm.md, equation (10)."""
    found = sj.prove(sj.load("scenarios/sqm/figure3.toml"), "sqm")
    assert (found.verdict, found.classes, found.headline) == ("stable", [], ("predicted", "whole"))
    assert found.margins["phase_margin_deg"] == pytest.approx(67.7, abs=0.1)
    assert found.margins["gain_margin"] == pytest.approx(5.7, abs=0.1)
    # Ten flows of 100 ms to 150 ms, evenly.
    mean = 10 / sum(1 / (0.1 + 0.05 * flow / 9) for flow in range(10))
    assert found.margins["delay_margin_s"] == pytest.approx(6.0 * mean, rel=0.005)
    with pytest.raises(sj.InputError, match="a map is of one queue"):
        found.region()
