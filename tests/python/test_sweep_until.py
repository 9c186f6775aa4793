"""Sequential stopping of a sweep: seeds until a mean is precise enough."""

import random

import pytest

import sojourn as sj
from sojourn.cli import main
from sojourn.result.statistics import estimate, further

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
