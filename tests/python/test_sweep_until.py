"""Sequential stopping of a sweep: seeds until a mean is precise enough."""

import itertools
import json
import random
import re

import polars as pl
import pytest

import sojourn as sj
from sojourn.cli import main
from sojourn.result.statistics import estimate, further
from sojourn.sweep.until import Until, imprecise

GRID = {
    "scenario": "dumbbell",
    "set": {"duration": "45 s", "at": []},
    "axes": {"qdisc": ["pi", "codel"]},
    "plants": ["packet", "fluid"],
    "seeds": [1, 2],
}


def test_each_point_has_the_seeds_that_it_needs(tmp_path):
    """Of PI's queue 2 % needs more than 20 seeds of 25 s, of its utilisation 20 suffice."""
    scenario = GRID | {"plants": ["packet"]}
    found = sj.sweep(scenario, tmp_path / "a.sweep", until={"queue_mean_packets": 0.03}, most_seeds=60)
    seeds = {law: own["seed"].to_list() for (law,), own in found.plan.group_by("qdisc")}
    means = {row["qdisc"]: row for row in found.summary("queue_mean_packets").iter_rows(named=True)}
    for law, own in seeds.items():
        assert own == [*range(1, len(own) + 1)]
        assert 20 <= len(own) <= 60
        half = (means[law]["ci95_high"] - means[law]["ci95_low"]) / 2
        assert half <= 0.03 * means[law]["mean"] or len(own) == 60
    assert seeds["pi"] != seeds["codel"]
    # The second time there is nothing to run, and the plan is the same.
    again = sj.sweep(scenario, tmp_path / "a.sweep", until="queue_mean_packets=3%", most_seeds=60)
    assert (again.ran, again.found) == (0, found.ran)
    assert again.plan.equals(found.plan)
    # From the grid's own two seeds on the rest is run.
    first = sj.sweep(scenario, tmp_path / "b.sweep")
    assert first.ran == 4
    rest = sj.sweep(scenario, tmp_path / "b.sweep", until="queue_mean_packets=3%", most_seeds=60)
    assert rest.ran == found.ran - 4
    assert rest.table().collect().equals(found.table().collect())


def test_a_plant_without_randomness_and_a_failed_point_have_no_further_seeds(tmp_path):
    grid = GRID | {"axes": {"qdisc": ["pi", "pi:target=400packets"]}, "set": {"duration": "41 s", "at": []}}
    found = sj.sweep(grid, tmp_path / "a.sweep", until="utilization=20%")
    counts = {(law, plant): own.height for (law, plant), own in found.plan.group_by("qdisc", "plant")}
    assert {count for (_, plant), count in counts.items() if plant == "fluid"} == {1}
    failed = set(found.failures()["qdisc"].to_list())
    assert failed == {"pi:target=400packets"}
    for (law, plant), count in counts.items():
        if plant == "packet":
            assert count == (2 if law in failed else 20)


@pytest.mark.parametrize(
    ("until", "most", "line"),
    [
        ("nothing=2%", None, "until: 'nothing' is no metric with one value"),
        ("utilization", None, "until: 'utilization' has no share between 0 and 1"),
        ("utilization=200%", None, "until: 'utilization=200%' has no share between 0 and 1"),
        ({"utilization": True}, None, "until: {'utilization': True} has no share between 0 and 1"),
        ({}, None, "until: {} is no precision; expected a metric and a share"),
        ("utilization=2%", 5, "most_seeds: 5 is not a number of seeds; expected 20 to 10000"),
        (None, 50, "most_seeds: belongs to a precision; expected until with it"),
    ],
)
def test_a_wrong_precision_is_one_line(tmp_path, until, most, line):
    with pytest.raises(sj.InputError) as error:
        sj.sweep(GRID, tmp_path / "a.sweep", until=until, most_seeds=most)
    (only,) = error.value.lines
    assert only.startswith(line)
    assert not (tmp_path / "a.sweep").exists()


def test_the_flags(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.toml").write_text(
        'scenario = "dumbbell"\nset = { duration = "41 s", at = [] }\naxes = { qdisc = ["pi"] }\n'
    )
    assert main(["sweep", "g.toml", "--until", "utilization=10%", "--quiet"]) == 0
    assert "20 cells: 20 run, 0 found, 0 failed" in capsys.readouterr().out
    for flags, line in (
        (["--until", "x=1%"], "--until: 'x' is no metric with one value"),
        (["--most-seeds", "30"], "--most-seeds: belongs to a precision; expected --until with it"),
        (["--until", "utilization=1%", "--most-seeds", "5"], '--most-seeds: "5" is not a number of seeds'),
    ):
        assert main(["sweep", "g.toml", *flags]) == 2
        assert line in capsys.readouterr().err


def test_intervals_that_end_by_their_width_contain_the_mean():
    """Exponential replications, 500 times: 95 % intervals of 10 % contain the mean in at least 92 %."""
    draw = random.Random(7)
    hits = 0
    for _ in range(500):
        values = [draw.expovariate(1) for _ in range(20)]
        while (size := further(estimate(values), 0.1, 10_000)) > len(values):
            values += [draw.expovariate(1) for _ in range(size - len(values))]
        found = estimate(values)
        assert found.half <= 0.1 * found.mean
        hits += found.low <= 1 <= found.high
    assert hits >= 0.92 * 500


TRANSFER = """\
title = "one transfer"
duration = "3.7 s"
warmup = "0 s"
[bottleneck]
rate = "2 Mbit/s"
delay = "5 ms"
buffer = "100 packets"
qdisc = "tail_drop"
[[flows]]
count = 1
app = { transfer = { size = "650 kB" } }
"""


def shown(page):
    """Text of a page, without its tags."""
    return re.sub(r"<[^>]*>", "", page.read_text()).replace("\u00a0", " ").replace("&nbsp;", " ")


def test_a_metric_without_a_value_under_some_seeds_ends(tmp_path, monkeypatch):
    """A transfer that ends in time under some seeds alone: values are fewer than seeds."""
    (tmp_path / "n.toml").write_text(TRANSFER)
    monkeypatch.chdir(tmp_path)
    axes = {"size": {"key": "flows[0].app.transfer.size", "values": ["650 kB", "3 MB"]}}
    grid = {"scenario": "n.toml", "axes": axes, "seeds": "1..20"}
    rounds, plans = [], []
    whole = sj.sweep.make

    def make(*given, **more):
        plans.append(whole(*given, **more))
        rounds.append(plans[-1].group_by("point").len().sort("point")["len"].to_list())
        assert len(rounds) < 20, "it does not end"
        return plans[-1]

    monkeypatch.setattr(sj.sweep, "make", make)
    found = sj.sweep(grid, "a.sweep", until="fct_mean_s=1%", most_seeds=30)
    values = found.table().collect().filter(point=0)["fct_mean_s"]
    assert 0 < values.null_count() < len(values), "some have a value and some have none"
    # One has as many seeds as it may have; the other never has a value, and keeps its own.
    assert rounds[-1] == [30, 20]
    assert all(
        a <= b for before, after in itertools.pairwise(rounds) for a, b in zip(before, after, strict=True)
    )
    missed = found.imprecise()
    assert missed["size"].to_list() == [650_000.0, 3e6]
    assert missed["n"].to_list() == [len(values) - values.null_count(), 0]
    assert missed["n"][0] < 20
    assert sj.sweep.load("a.sweep").imprecise().equals(missed)
    assert found.about["until"] == {"metric": "fct_mean_s", "relative": 0.01, "most": 30}
    assert (
        json.loads(found.to_json())["until"]
        == json.loads((tmp_path / "a.sweep/sweep.json").read_text())["about"]["until"]
    )
    text = shown(found.report(tmp_path / "a.html"))
    assert "50 cells: 2 points, 20 to 30 seeds" in text
    assert "is at most 1 % of the mean, 30 seeds at most. 2 of 2 points have not reached 1 %:" in text
    assert "size 3000 kB: no share, 0 values" in text
    # With more it has 20 values, and enough.
    found = sj.sweep(grid, "a.sweep", until="fct_mean_s=1%", most_seeds=60)
    assert 30 < rounds[-1][0] < 60
    assert found.imprecise()["size"].to_list() == [3e6]
    # A precision that all have reached, and none.
    found = sj.sweep(grid, "a.sweep", until="utilization=90%")
    assert found.imprecise().is_empty()
    assert "No point with a value has missed it." in shown(found.report(tmp_path / "a.html"))
    assert sj.sweep(grid, "a.sweep").imprecise().is_empty()


def test_a_mean_of_zero_has_no_share():
    """Half of an interval by a mean of 0 is no number of a JSON document."""
    points = pl.DataFrame({"qdisc": ["pi", "codel", "red"], "plant": ["packet"] * 3})
    ends = {"ci95_low": [-1.0, 0.0], "ci95_high": [1.0, 0.0]}
    summary = points[:2].with_columns(link=pl.lit("l"), n=pl.Series([20, 20], dtype=pl.UInt32), mean=0.0)
    summary = summary.with_columns(**{name: pl.Series(of) for name, of in ends.items()})
    found = imprecise(Until("x", 0.1), summary, points)
    assert found.rows() == [("pi", "packet", "l", 20, 0.0, None), ("red", "packet", None, 0, None, None)]


def test_points_that_miss_the_precision_are_named(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.toml").write_text(
        'scenario = "dumbbell"\nset = { duration = "2 s", warmup = "1 s", at = [] }\n'
        'axes = { qdisc = ["pi", "codel"] }\n'
    )
    assert (
        main(["sweep", "g.toml", "--until", "queue_mean_packets=0.001%", "--most-seeds", "20", "--quiet"])
        == 1
    )
    captured = capsys.readouterr()
    printed = captured.out
    assert re.fullmatch(
        r"sojourn sweep: 2 of 2 points have not reached 0.001 %: pi: .* values; codel: .* 20 values\n",
        captured.err,
    )
    assert "2 of 2 points have not reached 0.001 %:\n  pi: " in printed
    assert " %, 20 values\n  codel: " in printed


@pytest.mark.parametrize(
    ("seeds", "line"),
    [
        ("1..99999999999999999999", "seeds: '1..99999999999999999999' are no seeds"),
        (f"1..{2**64 - 1}", "seeds: '1..18446744073709551615' are no seeds"),
        (range(2**70), r"seeds: range\(0, 1180591620717411303424\) are no seeds"),
        ([2**64 - 5], "seeds: 100 seeds of a point after 18446744073709551611 are too many; expected"),
    ],
)
def test_seeds_out_of_range_are_one_line(tmp_path, seeds, line):
    with pytest.raises(sj.InputError, match=line) as error:
        sj.sweep(GRID | {"seeds": seeds}, tmp_path / "a.sweep", until="utilization=2%")
    assert len(error.value.lines) == 1
    assert not (tmp_path / "a.sweep").exists()
