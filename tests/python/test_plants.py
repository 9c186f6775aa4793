"""Several plants in one result: a disc in a plant is an arm, and arms are compared within their plant."""

import json
from dataclasses import replace

import polars as pl
import pytest
from conftest import LONGER

import sojourn as sj
from sojourn import _core
from sojourn.cli import main, printing
from sojourn.plot import bands, style
from sojourn.report import live, verdicts
from sojourn.result import Arm, words
from sojourn.result.agreement import gaps
from sojourn.result.statistics import Estimate

RED = "red:min=5packets,max=15packets"


@pytest.fixture
def plants(monkeypatch):
    """The packet plant in the place of the fluid one; gives what was run: plant, disc and seed."""
    real, done = _core.run, []

    def run(scenario, seed, ticket, laws=(), plant="packet"):
        done.append((plant, scenario.disc, seed))
        return real(scenario, seed, ticket, list(laws))

    def check(scenario, _own_laws):
        if "cubic" in scenario.to_json():
            fault = _core.ScenarioError("no model")
            fault.faults = ["flows[0].cc: cubic has no fluid model; legal: newreno, reno"]
            raise fault

    monkeypatch.setattr(_core, "run", run)
    monkeypatch.setattr(_core, "check_fluid", check, raising=False)
    return done


def test_an_arm_is_a_disc_in_a_plant(both, made):
    tail, red = made.discs
    assert both.arms == tuple(Arm(disc, plant) for disc in (tail, red) for plant in ("fluid", "packet"))
    assert both.plants == ["fluid", "packet"]
    assert both.discs == made.discs
    assert both.run_count == 8
    assert made.arms == (Arm(tail, "packet"), Arm(red, "packet"))
    assert list(words.arm_names(both).values())[:2] == ["tail_drop, fluid", "tail_drop, packet"]
    assert list(words.arm_names(made).values()) == ["tail_drop", "red"]


def test_values_are_those_of_one_plant(both, made):
    tail = made.discs[0]
    own = made.values(tail, "queue_mean_packets")
    assert both.values(tail, "queue_mean_packets", plant="packet") == own
    assert both.values(tail, "queue_mean_packets") == {1: LONGER * own[1]}, "of the first plant"
    assert both.within("packet").to_json() == made.to_json()
    with pytest.raises(sj.InputError, match='plant: "live" is not a plant here; legal: fluid or packet'):
        both.values(tail, "queue_mean_packets", plant="live")


def test_a_fluid_has_one_run_and_no_interval(both, made):
    table = both.summary().filter(pl.col("metric") == "queue_mean_packets")
    assert table["plant"].to_list() == ["fluid", "packet"] * 2
    assert table["n"].to_list() == [1, 3] * 2
    assert [low is None for low in table["ci95_low"]] == [True, False] * 2
    assert words.seeds_told(both) == "3 seeds", "the fluid plant has none"
    assert words.seeds_told(both.within("fluid")) == "1 seed"
    said = "The fluid plant has no randomness: one run of each law."
    assert printing.summary(both).splitlines()[1] == (
        f"3 seeds; mean ± half-width of the 95 % interval. {said}"
    )
    assert printing.summary(both.within("fluid")).splitlines()[1] == said
    assert said not in printing.summary(made)


def test_laws_are_compared_within_their_plant(both, made):
    tail, red = made.discs
    fluid = words.difference_to(both, Arm(red, "fluid"), tail, words.QUEUE)
    own = [made.values(disc, "queue_mean_packets")[1] for disc in (red, tail)]
    assert fluid.mean == pytest.approx(LONGER * (own[0] - own[1]))
    assert fluid.low is None
    assert words.differs(both, Arm(red, "fluid"), tail, words.QUEUE), "there is no chance in it"
    packet = words.difference_to(both, Arm(red, "packet"), tail, words.QUEUE)
    assert packet == words.difference_to(made, Arm(red, "packet"), tail, words.QUEUE)
    assert len(both.plot.differences("queue_mean_packets").get_yticklabels()) == 2


def test_what_equations_may_not_resolve_is_no_difference(both, made):
    tail, red = made.discs
    runs = tuple(
        replace(run, metrics=run.metrics | {"sojourn_mean_s": 0.1 if run.disc == tail else 0.10001})
        for run in both.runs
    )
    level = replace(both, runs=runs).within("fluid")
    assert not words.differs(level, Arm(red, "fluid"), tail, words.SOJOURN)


def test_the_fluid_stands_against_the_packets(both, made):
    tail = made.discs[0]
    found = {(gap.disc, gap.column.metric): gap for gap in gaps(both)}
    gap = found[tail, "queue_mean_packets"]
    packet = words.scaled(made, Arm(tail, "packet"), words.QUEUE)
    assert gap.packet == packet
    assert gap.difference.mean == pytest.approx(gap.fluid.mean - packet.mean)
    assert gap.difference.half == pytest.approx(packet.half), "a fluid has no interval"
    p = found[made.discs[1], "p"]
    table = made.series.filter(
        (pl.col("name") == "p") & (pl.col("disc") == made.discs[1]) & (pl.col("time") > 1)
    )
    seeds = table.group_by("seed").agg(pl.col("value").mean())["value"]
    assert p.packet.mean == pytest.approx(100 * seeds.mean())
    assert gaps(made) == []
    told = printing.summary(both)
    assert "fluid against packets" in told
    assert "red: p mean, %" in told


def test_both_plants_have_the_colour_of_the_disc_and_strokes_of_their_own(both, made):
    looks = style.looks(both)
    for disc in made.discs:
        fluid, packet = looks[Arm(disc, "fluid")], looks[Arm(disc, "packet")]
        assert fluid.colour == packet.colour
        assert fluid.stroke.width < packet.stroke.width
        assert fluid.stroke.above > packet.stroke.above, "the sharp line lies on the broad one"
    assert {look.stroke for look in style.looks(made).values()} == {style.Stroke()}
    drawn = both.plot.queue()
    lines = {line.get_label(): line for line in drawn.get_lines()}
    for name in ("tail_drop, fluid", "tail_drop, packet", "red, fluid", "red, packet"):
        assert name in lines
    band = next(band for band in bands.over_time(both, "queue_packets", 50) if band.arm.plant == "fluid")
    assert band.low.tolist() == band.mean.tolist() == band.high.tolist(), "one run spans nothing"


def test_the_page_has_both_plants(both, made, tmp_path):
    page = both.report(tmp_path / "page.html").read_text()
    for part in ("2&nbsp;laws, 3&nbsp;seeds; as a fluid and packet by packet.", 'id="agreement"'):
        assert part in page
    assert "As a fluid: " in page
    assert "in the same plant, seed by seed" in page
    assert "Not whole" not in page
    laws = live.data(live.sights(both))["laws"]
    assert [law["name"] for law in laws] == list(words.arm_names(both).values())
    assert laws[0]["colour"] == laws[1]["colour"] != laws[2]["colour"]
    lines = live.data(live.sights(both))["charts"][0]["levels"][0]["laws"]
    assert [len(law) for law in lines] == [1, 3, 1, 3], "a band for those that have seeds"
    plain = made.report(tmp_path / "plain.html").read_text()
    assert "agreement" not in plain
    assert "packet by packet." in plain
    assert set(live.data(live.sights(made))["laws"][0]) == {"name", "colour", "dash"}


def test_a_verdict_speaks_of_each_plant(both, made):
    said = verdicts.by_plant(verdicts.queue, both)
    assert said == (
        f"As a fluid: {verdicts.queue(both.within('fluid'))} Packet by packet: {verdicts.queue(made)}"
    )
    assert verdicts.by_plant(verdicts.queue, made) == verdicts.queue(made)
    assert "seed" not in verdicts.headline(both.within("fluid"))


def test_a_page_of_a_fluid_alone_speaks_of_no_seeds(both, tmp_path):
    page = both.within("fluid").report(tmp_path / "page.html").read_text()
    assert "2&nbsp;laws; as a fluid." in page
    assert "One seed" not in page
    assert "The fluid plant has no randomness: one run of each law." in page


def test_a_folder_of_both_reads_back(both, tmp_path):
    both.write(tmp_path / "out")
    again = sj.Result.read(tmp_path / "out")
    assert again.arms == both.arms
    assert again.to_json() == both.to_json()
    document = json.loads((tmp_path / "out" / "result.json").read_text())
    document["runs"].append(document["runs"][0])
    (tmp_path / "out" / "result.json").write_text(json.dumps(document))
    with pytest.raises(sj.InputError, match=r"runs\[8\]: tail_drop, fluid plant is runs\[0\] too"):
        sj.Result.read(tmp_path / "out")


def test_the_fluid_plant_itself(scenario, tmp_path):
    result = sj.run(
        scenario, discs=["tail_drop", "pi:target=10packets"], seeds=[3, 4], plants=["fluid", "packet"]
    )
    assert [run.seed for run in result.runs] == [3, 3, 4] * 2
    fluid = result.within("fluid")
    again = sj.run(scenario, discs=fluid.discs, seeds=[9], plants="fluid", jobs=1)
    assert [run.metrics for run in again.runs] == [run.metrics for run in fluid.runs], "seeds change nothing"
    held = fluid.values(result.discs[1], "queue_mean_packets")[3]
    assert held == pytest.approx(10, rel=0.3), "the law holds its target"
    assert {gap.disc for gap in gaps(result)} == set(result.discs)
    read = sj.Result.read(result.write(tmp_path / "out"))
    assert read.to_json() == result.to_json()
    assert "fluid" in read.report(tmp_path / "page.html").read_text()


def test_what_differs_by_rounding_alone_is_drawn_as_equal(both):
    busy = {"fluid": 1 - 1e-14, "packet": 1.0}
    runs = (replace(run, metrics=run.metrics | {"utilization": busy[run.plant]}) for run in both.runs)
    level = replace(both, runs=tuple(runs))
    low, high = level.plot.summary("utilization").get_xlim()
    assert (low, high) == pytest.approx((99.5, 100))
    assert words.with_sign(Estimate(3, -1e-9, -2e-9, 1e-9)) == "0.000 ± <0.001"


def test_every_disc_runs_once_as_a_fluid_and_with_every_seed_as_packets(scenario, plants):
    result = sj.run(scenario, discs=["tail_drop", RED], seeds=[5, 3], plants=["fluid", "packet"], jobs=1)
    tail, red = result.discs
    assert plants == [
        (plant, disc, seed)
        for disc in (tail, red)
        for plant, seed in (("fluid", 3), ("packet", 3), ("packet", 5))
    ]
    assert [(run.disc, run.plant, run.seed) for run in result.runs] == [(d, p, s) for p, d, s in plants]
    assert result.provenance["runs_asked"] == result.run_count == 6
    alone = sj.run(scenario, seeds=[2, 7], plants="fluid")
    assert [(run.plant, run.seed) for run in alone.runs] == [("fluid", 2)]


@pytest.mark.usefixtures("plants")
def test_a_controller_in_python_runs_in_both_plants(scenario):
    class Half(sj.Controller):
        period = "10 ms"

        def update(self, seen):
            return 0.01 * min(seen.backlog_packets, 50)

    result = sj.run(scenario, discs=[Half()], plants=["packet", "fluid"])
    assert result.arms == (Arm("Half", "packet"), Arm("Half", "fluid"))


def test_a_law_that_judges_packets_has_no_fluid(scenario, plants):
    class Judge(sj.Law):
        def on_arrival(self, arrival):
            return sj.Verdict.DROP if arrival.backlog_packets > 20 else sj.Verdict.PASS

    with pytest.raises(
        sj.InputError, match=r"^discs: Judge judges packets, and the fluid plant has none; legal"
    ):
        sj.run(scenario, discs=[Judge()], plants=["packet", "fluid"])
    assert plants == [], "before anything runs"


def test_a_scenario_without_a_model_is_refused_before_anything_runs(folder, plants, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert (
        main(["run", "small.toml", "--plant", "packet,fluid", "--set", "flows[0].cc=cubic", "--quiet"]) == 2
    )
    said = capsys.readouterr()
    assert said.err == "flows[0].cc: cubic has no fluid model; legal: newreno, reno\n"
    assert said.out == ""
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


def test_plants_are_named_as_they_are_called(scenario):
    with pytest.raises(sj.InputError, match=r'^plants: "gas" does not exist; legal: fluid, packet$'):
        sj.run(scenario, plants="gas")
    with pytest.raises(sj.InputError, match=r"^plants: 3 is no list of plants; legal: fluid, packet$"):
        sj.run(scenario, plants=3)


@pytest.mark.parametrize(
    ("setting", "value", "line"),
    [
        (
            "impairments",
            "{ bleach = 0.5 }",
            "impairments.bleach: a wire that erases marks has no fluid model",
        ),
        ("impairments", '{ jitter = "1 ms" }', "impairments.jitter: a delay that is another one for each"),
        ("disc", "choke", 'disc.law: "choke", which judges packets, has no fluid model'),
    ],
)
def test_what_has_no_fluid_model_is_one_line(folder, setting, value, line):
    scenario = sj.load(folder / "small.toml", {f"bottleneck.{setting}": value})
    with pytest.raises(sj.InputError) as fault:
        sj.run(scenario, plants="fluid")
    assert len(fault.value.lines) == 1
    assert fault.value.lines[0].startswith(f"bottleneck.{line}")
    assert fault.value.lines[0].endswith(", or --plant packet")


def test_a_wire_without_a_disc_needs_a_model_too(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(
        'title = "A wire before the queue"\nduration = "6 s"\n'
        '[[links]]\nfrom = "a"\nto = "b"\nrate = "20 Mbit/s"\ndelay = "5 ms"\n'
        'impairments = { reorder = { probability = 0.01, late = "20 ms" } }\n'
        '[[links]]\nfrom = "b"\nto = "c"\nrate = "2 Mbit/s"\ndelay = "5 ms"\nbuffer = "40 packets"\n'
        'disc = { law = "pi", target = "10 packets" }\n'
        '[[flows]]\nfrom = "a"\nto = "c"\ncount = 8\ncc = "newreno"\n'
    )
    scenario = sj.load(path)
    for run in (lambda: sj.run(scenario, plants="fluid"), lambda: sj.prove(scenario)):
        with pytest.raises(sj.InputError, match=r"impairments.reorder: a wire on which packets overtake"):
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
        discs = [law, f"{law}{',' if ':' in law else ':'}signal_at=dequeue"]
        runs = sj.run(scenario, discs=discs, plants=["fluid"]).seen()
        arrives, leaves = (run.metrics["queue_std_packets"] for run in runs)
        # With 10 ms of queue on a path of 10 ms the signal is half as old.
        assert leaves < arrives, law
        certificate = sj.prove(sj.load("peers/s1"), disc=discs[1])
        assert certificate.verdict == "not proven"
