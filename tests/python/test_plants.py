"""Several plants in one result: a variant is a qdisc in a plant, and is compared within its plant."""

import json
import re
from dataclasses import replace

import polars as pl
import pytest
from small import LONGER

import sojourn as sj
from sojourn import _core
from sojourn.catalogue import entries
from sojourn.cli import main, running
from sojourn.errors import Diagnostic
from sojourn.plot import bands, style
from sojourn.report import live, verdicts
from sojourn.result import Variant, metrics, words
from sojourn.result.agreement import gaps
from sojourn.result.statistics import Estimate

RED = "red:min=5packets,max=15packets"


@pytest.fixture
def plants(monkeypatch):
    """The packet plant in the place of the fluid one; returns the runs: plant, qdisc and seed."""
    real, done = _core.run, []

    def run(scenario, seed, ticket, law=None, plant="packet", records=None):
        done.append((plant, scenario.qdisc, seed))
        return real(scenario, seed, ticket, law, records=records)

    def check(scenario, _own_laws):
        if "cubic" in scenario.to_json():
            error = _core.ScenarioError("no model")
            line = "flows[0].cc: cubic has no fluid model; expected newreno, reno"
            parts = Diagnostic(line)._asdict() | {"place": "", "inside": "", "message": line}
            error.diagnostics = [{name: part for name, part in parts.items() if name != "text"}]
            raise error

    monkeypatch.setattr(_core, "run", run)
    monkeypatch.setattr(_core, "check_fluid", check, raising=False)
    return done


def test_a_variant_is_a_qdisc_in_a_plant(both, made):
    tail, red = made.qdiscs
    assert both.variants == tuple(
        Variant(qdisc, plant) for qdisc in (tail, red) for plant in ("fluid", "packet")
    )
    assert both.plants == ["fluid", "packet"]
    assert both.qdiscs == made.qdiscs
    assert both.run_count == 8
    assert made.variants == (Variant(tail, "packet"), Variant(red, "packet"))
    assert list(words.variant_names(both).values())[:2] == ["tail_drop, fluid", "tail_drop, packet"]
    assert list(words.variant_names(made).values()) == ["tail_drop", "red"]


def test_values_are_those_of_one_plant(both, made):
    tail = made.qdiscs[0]
    own = made.values(tail, "queue_mean_packets")
    assert both.values(tail, "queue_mean_packets", plant="packet") == own
    assert both.values(tail, "queue_mean_packets") == {1: LONGER * own[1]}, "of the first plant"
    assert both.for_plant("packet").to_json() == made.to_json()
    with pytest.raises(sj.InputError, match='plant: "live" is not a plant here; expected fluid or packet'):
        both.values(tail, "queue_mean_packets", plant="live")


def test_a_fluid_has_one_run_and_no_interval(both, made):
    table = both.summary().filter(pl.col("metric") == "queue_mean_packets")
    assert table["plant"].to_list() == ["fluid", "packet"] * 2
    assert table["n"].to_list() == [1, 3] * 2
    assert [low is None for low in table["ci95_low"]] == [True, False] * 2
    assert words.seed_count(both) == "3 seeds", "the fluid plant has none"
    assert words.seed_count(both.for_plant("fluid")) == "1 seed"
    note = "The fluid plant has no randomness: one run of each qdisc."
    seeds = f"3 seeds; mean ± half-width of the 95 % interval. {note}"
    assert seeds in " ".join(running.summary(both).split())
    assert running.summary(both.for_plant("fluid")).splitlines()[1] == note
    assert note not in running.summary(made)


def test_laws_are_compared_within_their_plant(both, made):
    tail, red = made.qdiscs
    fluid = words.difference_to(both, Variant(red, "fluid"), tail, metrics.QUEUE_MEAN_PACKETS)
    own = [made.values(qdisc, "queue_mean_packets")[1] for qdisc in (red, tail)]
    assert fluid.mean == pytest.approx(LONGER * (own[0] - own[1]))
    assert fluid.low is None
    assert words.differs(both, Variant(red, "fluid"), tail, metrics.QUEUE_MEAN_PACKETS), (
        "there is no chance in it"
    )
    packet = words.difference_to(both, Variant(red, "packet"), tail, metrics.QUEUE_MEAN_PACKETS)
    assert packet == words.difference_to(made, Variant(red, "packet"), tail, metrics.QUEUE_MEAN_PACKETS)
    assert len(both.plot.differences("queue_mean_packets").get_yticklabels()) == 2


def test_a_difference_below_the_solvers_accuracy_is_none(both, made):
    tail, red = made.qdiscs
    runs = tuple(
        replace(run, metrics=run.metrics | {"sojourn_mean_s": 0.1 if run.qdisc == tail else 0.10001})
        for run in both.runs
    )
    level = replace(both, runs=runs).for_plant("fluid")
    assert not words.differs(level, Variant(red, "fluid"), tail, metrics.SOJOURN_MEAN_S)


def test_the_fluid_is_compared_with_the_packets(both, made):
    tail = made.qdiscs[0]
    found = {(gap.qdisc, gap.column.metric): gap for gap in gaps(both)}
    gap = found[tail, "queue_mean_packets"]
    packet = words.scaled(made, Variant(tail, "packet"), metrics.QUEUE_MEAN_PACKETS)
    assert gap.packet == packet
    assert gap.difference.mean == pytest.approx(gap.fluid.mean - packet.mean)
    assert gap.difference.half == pytest.approx(packet.half), "a fluid has no interval"
    p = found[made.qdiscs[1], "p"]
    table = made.series.filter(
        (pl.col("name") == "p") & (pl.col("qdisc") == made.qdiscs[1]) & (pl.col("time") > 1)
    )
    seeds = table.group_by("seed").agg(pl.col("value").mean())["value"]
    assert p.packet.mean == pytest.approx(100 * seeds.mean())
    assert gaps(made) == []
    text = running.summary(both)
    assert "fluid against packets" in text
    assert "red: p mean, %" in text


def test_both_plants_have_the_colour_of_the_qdisc_and_strokes_of_their_own(both, made):
    looks = style.looks(both)
    for qdisc in made.qdiscs:
        fluid, packet = looks[Variant(qdisc, "fluid")], looks[Variant(qdisc, "packet")]
        assert fluid.colour == packet.colour
        assert fluid.stroke.width < packet.stroke.width
        assert fluid.stroke.above > packet.stroke.above, "the sharp line lies on the broad one"
    assert {look.stroke for look in style.looks(made).values()} == {style.Stroke()}
    drawn = both.plot.queue()
    lines = {line.get_label(): line for line in drawn.get_lines()}
    for name in ("tail_drop, fluid", "tail_drop, packet", "red, fluid", "red, packet"):
        assert name in lines
    band = next(band for band in bands.over_time(both, "queue_packets", 50) if band.variant.plant == "fluid")
    assert band.low.tolist() == band.mean.tolist() == band.high.tolist(), "one run spans nothing"


@pytest.mark.slow
def test_the_page_has_both_plants(both, tmp_path):
    page = both.report(tmp_path / "page.html").read_text()
    for part in ("2&nbsp;qdiscs, 3&nbsp;seeds, as a fluid and packet by packet<", 'id="agreement"'):
        assert part in page
    assert "As a fluid: " in page
    assert "in the same plant, seed by seed" in page
    assert "Not whole" not in page
    laws = live.data(live.sights(both))["laws"]
    assert [law["name"] for law in laws] == list(words.variant_names(both).values())
    assert laws[0]["colour"] == laws[1]["colour"] != laws[2]["colour"]
    lines = live.data(live.sights(both))["charts"][0]["levels"][0]["laws"]
    assert [len(law) for law in lines] == [1, 3, 1, 3], "a band for those that have seeds"


@pytest.mark.usefixtures("undrawn")
def test_the_page_of_packets_alone_has_no_agreement(made, tmp_path):
    plain = made.report(tmp_path / "plain.html").read_text()
    assert "agreement" not in plain
    assert "packet by packet<" in plain
    assert set(live.data(live.sights(made))["laws"][0]) == {"name", "qdisc", "colour", "dash"}


def test_a_verdict_has_a_sentence_for_each_plant(both, made):
    assert verdicts.by_plant(verdicts.queue, both) == (
        f"As a fluid: {verdicts.queue(both.for_plant('fluid'))} Packet by packet: {verdicts.queue(made)}"
    )
    assert verdicts.by_plant(verdicts.queue, made) == verdicts.queue(made)
    assert "seed" not in verdicts.headline(both.for_plant("fluid"))


@pytest.mark.usefixtures("undrawn")
def test_a_page_of_a_fluid_alone_mentions_no_seeds(both, tmp_path):
    page = both.for_plant("fluid").report(tmp_path / "page.html").read_text()
    assert "2&nbsp;qdiscs, as a fluid<" in page
    assert "One seed" not in page
    assert "The fluid plant has no randomness: one run of each qdisc." in page


def test_a_folder_of_both_reads_back(both, tmp_path):
    both.write(tmp_path / "out")
    again = sj.Result.read(tmp_path / "out")
    assert again.variants == both.variants
    assert again.to_json() == both.to_json()
    document = json.loads((tmp_path / "out" / "result.json").read_text())
    document["runs"].append(document["runs"][0])
    (tmp_path / "out" / "result.json").write_text(json.dumps(document))
    with pytest.raises(sj.InputError, match=r"runs\[8\]: tail_drop, fluid plant is runs\[0\] too"):
        sj.Result.read(tmp_path / "out")


def of_fluids(root):
    """Metrics that the catalogue declares for the fluid plant, too."""
    source = (root / "crates" / "measure" / "src" / "catalogue.rs").read_text(encoding="utf-8")
    declared = source.partition("METRICS: &[Metric] = &[")[2].partition("\n];")[0]
    found = re.findall(r'\bmetric\(\s*"(\w+)"((?:(?!\bmetric\().)*)', declared, flags=re.DOTALL)
    assert [name for name, _ in found] == [entry["name"] for entry in entries("metrics")]
    return {name for name, flags in found if ".of_fluids()" in flags}


@pytest.mark.usefixtures("undrawn")
def test_the_fluid_plant_itself(scenario, root, tmp_path):
    result = sj.run(
        scenario, qdiscs=["tail_drop", "pi:target=10packets"], seeds=[3, 4], plants=["fluid", "packet"]
    )
    assert [run.seed for run in result.runs] == [3, 3, 4] * 2
    fluid = result.for_plant("fluid")
    again = sj.run(scenario, qdiscs=fluid.qdiscs, seeds=[9], plants="fluid", jobs=1)
    assert [run.metrics for run in again.runs] == [run.metrics for run in fluid.runs], "seeds change nothing"
    measured = {name for run in fluid.runs for name, value in run.metrics.items() if value is not None}
    assert measured <= of_fluids(root)
    held = fluid.values(result.qdiscs[1], "queue_mean_packets")[3]
    assert held == pytest.approx(10, rel=0.3), "the law holds its target"
    assert {gap.qdisc for gap in gaps(result)} == set(result.qdiscs)
    read = sj.Result.read(result.write(tmp_path / "out"))
    assert read.to_json() == result.to_json()
    assert "fluid" in read.report(tmp_path / "page.html").read_text()


def test_differences_by_rounding_alone_are_drawn_as_equal(both):
    busy = {"fluid": 1 - 1e-14, "packet": 1.0}
    runs = (replace(run, metrics=run.metrics | {"utilization": busy[run.plant]}) for run in both.runs)
    level = replace(both, runs=tuple(runs))
    low, high = level.plot.summary("utilization").get_xlim()
    assert (low, high) == pytest.approx((99.5, 100))
    assert words.with_sign(Estimate(3, -1e-9, -2e-9, 1e-9)) == "0.000"


def test_every_qdisc_runs_once_as_a_fluid_and_with_every_seed_as_packets(scenario, plants):
    result = sj.run(scenario, qdiscs=["tail_drop", RED], seeds=[5, 3], plants=["fluid", "packet"], jobs=1)
    tail, red = result.qdiscs
    first = [(plant, qdisc, 3) for qdisc in (tail, red) for plant in ("fluid", "packet")]
    assert plants == [*first, ("packet", tail, 5), ("packet", red, 5)], "seed by seed"
    assert [(run.qdisc, run.plant, run.seed) for run in result.runs] == [
        (qdisc, plant, seed)
        for qdisc in (tail, red)
        for plant, seed in (("fluid", 3), ("packet", 3), ("packet", 5))
    ]
    assert result.provenance["runs_planned"] == result.run_count == 6
    alone = sj.run(scenario, seeds=[2, 7], plants="fluid")
    assert [(run.plant, run.seed) for run in alone.runs] == [("fluid", 2)]


@pytest.mark.usefixtures("plants")
def test_a_controller_in_python_runs_in_both_plants(scenario):
    class Half(sj.Controller):
        period = "10 ms"

        def update(self, seen):
            return 0.01 * min(seen.backlog_packets, 50)

    result = sj.run(scenario, qdiscs=[Half()], plants=["packet", "fluid"])
    assert result.variants == (Variant("Half", "packet"), Variant("Half", "fluid"))


def test_a_law_that_judges_packets_has_no_fluid(scenario, plants):
    class Judge(sj.Law):
        def on_arrival(self, arrival):
            return sj.Verdict.DROP if arrival.backlog_packets > 20 else sj.Verdict.PASS

    with pytest.raises(
        sj.InputError, match=r"^qdiscs: Judge judges packets, and the fluid plant has none; expected"
    ):
        sj.run(scenario, qdiscs=[Judge()], plants=["packet", "fluid"])
    assert plants == [], "before anything runs"


def test_a_scenario_without_a_model_is_refused_before_anything_runs(folder, plants, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert (
        main(["run", "small.toml", "--plant", "packet,fluid", "--set", "flows[0].cc=cubic", "--quiet"]) == 2
    )
    output = capsys.readouterr()
    assert output.err == "flows[0].cc: cubic has no fluid model; expected newreno, reno\n"
    assert output.out == ""
    assert plants == []


@pytest.mark.usefixtures("plants")
def test_the_command_carries_the_rows_of_both(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert (
        main(["run", "small.toml", "--plant", "fluid, packet", "--seeds", "1..2", "--json", "--quiet"]) == 0
    )
    document = json.loads(capsys.readouterr().out)
    assert [(run["plant"], run["seed"]) for run in document["runs"]] == [
        ("fluid", 1),
        ("packet", 1),
        ("packet", 2),
    ]
    assert {row["plant"] for row in document["summary"]} == {"fluid", "packet"}


def test_plants_are_named_in_errors(scenario):
    with pytest.raises(sj.InputError, match=r'^plants: "gas" does not exist; expected fluid, packet, live$'):
        sj.run(scenario, plants="gas")
    lines = r"^plants: 3 is no list of plants; expected fluid, packet, live$"
    with pytest.raises(sj.InputError, match=lines):
        sj.run(scenario, plants=3)


@pytest.mark.parametrize(
    ("setting", "value", "line"),
    [
        (
            "impairments",
            "{ bleach = 0.5 }",
            "impairments.bleach: a link that erases marks has no fluid model",
        ),
        ("impairments", '{ jitter = "1 ms" }', "impairments.jitter: a delay that varies by packet"),
        ("qdisc", "choke", 'qdisc.law: "choke", which judges packets, has no fluid model'),
    ],
)
def test_a_missing_fluid_model_is_one_line(folder, setting, value, line):
    scenario = sj.load(folder / "small.toml", {f"bottleneck.{setting}": value})
    with pytest.raises(sj.InputError) as error:
        sj.run(scenario, plants="fluid")
    assert len(error.value.lines) == 1
    assert error.value.lines[0].startswith(f"bottleneck.{line}")
    assert error.value.lines[0].endswith(", or --plant packet")


def test_a_wire_without_a_qdisc_needs_a_model_too(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(
        'title = "A wire before the queue"\nduration = "6 s"\n'
        '[[links]]\nfrom = "a"\nto = "b"\nrate = "20 Mbit/s"\ndelay = "5 ms"\n'
        'impairments = { reorder = { probability = 0.01, late = "20 ms" } }\n'
        '[[links]]\nfrom = "b"\nto = "c"\nrate = "2 Mbit/s"\ndelay = "5 ms"\nbuffer = "40 packets"\n'
        'qdisc = { law = "pi", target = "10 packets" }\n'
        '[[flows]]\nfrom = "a"\nto = "c"\ncount = 8\ncc = "newreno"\n'
    )
    scenario = sj.load(path)
    for run in (lambda: sj.run(scenario, plants="fluid"), lambda: sj.prove(scenario)):
        with pytest.raises(sj.InputError, match=r"impairments.reorder: a link that reorders packets"):
            run()


def test_a_signal_at_dequeue_skips_the_queue_in_the_fluid_and_has_no_certificate():
    scenario = sj.load(
        "dumbbell",
        {
            "at": "[]",
            "duration": "30 s",
            "warmup": "0 s",
            "bottleneck.rate": "40 Mbit/s",
            "bottleneck.delay": "1 ms",
            "flows.0.count": 5,
            "flows.0.access": '{ rate = "1 Gbit/s", delay = "2 ms" }',
        },
    )
    for law in ("pi2", "rem:target=100packets,gamma=0.05"):
        qdiscs = [law, f"{law}{',' if ':' in law else ':'}signal_at=dequeue"]
        runs = sj.run(scenario, qdiscs=qdiscs, plants=["fluid"]).rows()
        arrives, leaves = (run.metrics["queue_std_packets"] for run in runs)
        # With 10 ms of queue on a path of 10 ms the signal is half as old.
        assert leaves < arrives, law
        certificate = sj.prove(sj.load("peers/s1"), qdisc=qdiscs[1])
        assert certificate.verdict == "not proven"
