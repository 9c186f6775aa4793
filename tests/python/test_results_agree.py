"""Agreement of results and plants: equivalence at its level, the command, and the warm-up that a run has."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn.cli import main
from sojourn.result.equivalence import share_of
from sojourn.result.statistics import mser5, ratio_p


@pytest.mark.parametrize("paired", [True, False])
def test_agreement_is_found_at_its_level(paired):
    """At the bound itself in one of twenty cases, of equal means nearly always."""
    random = np.random.default_rng(9)
    for ratio, least, most in ((1.1, 0.03, 0.07), (0.9, 0.03, 0.07), (1.0, 0.95, 1.0)):
        found = []
        for _ in range(1_500):
            common = random.normal(0, 1, 20) if paired else 0.0
            left = 10 + 0.5 * random.normal(size=20) + common
            right = ratio * (10 + 0.5 * random.normal(size=20) + common)
            found.append(max(ratio_p(left.tolist(), right.tolist(), 0.1, paired=paired)) < 0.05)
        assert least <= np.mean(found) <= most, (ratio, np.mean(found))


def test_single_values_have_no_error():
    # A fluid beside packets: the one-sample test of each bound.
    from scipy import stats

    packets = [9.0, 10.0, 10.5, 11.0]
    below, above = ratio_p([10.0], packets, 0.1, paired=False)
    assert below == pytest.approx(stats.ttest_1samp(packets, 11.0, alternative="less").pvalue)
    assert above == pytest.approx(stats.ttest_1samp(packets, 9.0, alternative="greater").pvalue)
    assert ratio_p([1.0], [1.04], 0.05, paired=False) == (0, 0)
    assert ratio_p([1.0], [1.06], 0.05, paired=False) == (1, 0)
    assert ratio_p([0.0, 0.0], [0.0, 0.0], 0.05, paired=True) == (0, 0)
    assert ratio_p([-1.0], [-1.04], 0.05, paired=False) == (0, 0)
    with pytest.raises(ValueError, match="pairs of like numbers"):
        ratio_p([1.0], [1.0, 2.0], 0.1, paired=True)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    place = tmp_path_factory.mktemp("compared")
    scenario = sj.load("dumbbell", {"duration": "60 s", "at": []})
    sj.run(scenario, ["pi", "red"], seeds=range(1, 5)).write(place / "a")
    sj.run(scenario, ["pi"], seeds=range(5, 10)).write(place / "b")
    sj.run(scenario, ["pi:target=150packets"], seeds=range(1, 5)).write(place / "c")
    sj.run(scenario, ["pi"], seeds=[1], plants=["packet"]).write(place / "one")
    plants = sj.run(scenario, ["pi"], seeds=range(1, 6), plants=["fluid", "packet"])
    plants.write(place / "plants")
    return place


def test_other_seeds_agree_and_another_target_does_not(results, capsys):
    a, b, c = (sj.Result.read(results / name) for name in "abc")
    same = a.agreement(b, "10%", ["utilization", "queue_mean_packets", "sojourn_p95_s"])
    assert same.metrics["verdict"].to_list() == ["agrees"] * 3
    assert same.metrics["n_right"].to_list() == [5] * 3
    assert same.metrics["left"].unique().to_list() == ["pi (packet)"]
    assert b.agreement(c, metrics=["queue_mean_packets"]).metrics["verdict"].to_list() == ["differs"]
    # Two qdiscs in A, and none of them in C.
    assert main(["compare", str(results / "a"), str(results / "c")]) == 2
    assert "B: no qdisc is in both" in capsys.readouterr().err
    # One in each: whatever their names.
    code = main(["compare", str(results / "b"), str(results / "c"), "--metric", "queue_mean_packets"])
    shown = capsys.readouterr()
    assert code == 1
    assert "differs" in shown.out
    assert "not shown to agree within 5 %: " in shown.err
    document_code = main(["compare", str(results / "a"), str(results / "a"), "--tolerance", "20%", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document_code == 0, document
    assert (document["schema"], document["tolerance"], document["agrees"]) == (1, 0.2, True)
    # The same series: nothing apart, nothing shifted.
    assert [(one["apart_packets"], one["shift_s"]) for one in document["series"]] == [(0, 0)] * 2


def test_shares_and_p_of_backlogs_are_of_the_same_runs(results, tmp_path, capsys):
    scenario = sj.load("dumbbell", {"duration": "60 s", "at": []})
    a, one = (sj.Result.read(results / name) for name in ("a", "one"))
    two = sj.run(scenario, ["pi"], seeds=[1, 2])
    mixed = sj.run(scenario, ["pi"], seeds=[3, 4, 9])
    for other, runs in ((two, 2), (mixed, 2), (one, 1)):
        for pair in ((a, other), (other, a)):
            (row,) = pair[0].agreement(pair[1]).series.to_dicts()
            assert row["above_left"] == row["above_right"], pair
            assert (row["n"], row["p"], row["verdict"]) == (runs, 0, "agrees")
    # Not those of all runs: of 5 to 9, no seed is common, and one run of each is compared.
    (row,) = a.agreement(sj.Result.read(results / "b")).series.to_dicts()
    assert row["n"] == 1
    warmup = float(a.scenario["warmup"].removesuffix(" s"))
    first = a.series.filter(pl.col("time") > warmup, name="queue_packets", qdisc="pi", seed=1)["value"]
    assert row["level_packets"] == first.median()
    two.write(tmp_path / "two")
    main(["compare", str(results / "a"), str(tmp_path / "two")])
    assert "agrees (p <0.001, 2 runs each)" in capsys.readouterr().out


def test_an_entry_of_a_list_is_compared(tmp_path, capsys):
    scenario = sj.load("dumbbell", {"duration": "45 s"})
    found = sj.run(scenario, ["pi"], seeds=[1, 2, 3])
    found.write(tmp_path / "a")
    overshoots = [row.metrics["overshoot_packets"][0] for row in found.runs]
    (row,) = found.agreement(found, metrics=["overshoot_packets[0]"]).metrics.to_dicts()
    assert row["mean_left"] == pytest.approx(sum(overshoots) / 3)
    assert (row["n_left"], row["p"], row["verdict"]) == (3, 0, "agrees")
    words = ["compare", str(tmp_path / "a"), str(tmp_path / "a"), "--metric"]
    assert main([*words, "overshoot_packets[0]"]) == 0
    assert "overshoot_packets[0], packets" in capsys.readouterr().out
    for name, line in (
        ("settling_s", '--metric: "settling_s" has a value for each scheduled change; expected one of them'),
        ("settling_s[7]", "--metric: settling_s[7] has no value on one side under every seed; expected"),
        ("utilization[0]", '--metric: "utilization[0]" is not a metric'),
    ):
        assert main([*words, name]) == 2
        error = capsys.readouterr().err
        assert line in error
        assert error.count("\n") == 1


def test_plants_of_one_result(results):
    found = sj.Result.read(results / "plants")
    rows = {row["metric"]: row for row in found.agreement(tolerance=0.1).metrics.to_dicts()}
    assert (rows["queue_mean_packets"]["n_left"], rows["queue_mean_packets"]["n_right"]) == (1, 5)
    queue = found.values("pi", "queue_mean_packets", plant="packet")
    fluid = found.values("pi", "queue_mean_packets", plant="fluid")[1]
    expected = max(ratio_p([fluid], list(queue.values()), 0.1, paired=False))
    assert rows["queue_mean_packets"]["p"] == expected
    assert rows["queue_mean_packets"]["verdict"] == ("agrees" if expected < 0.05 else "undecided")


def test_one_seed_shows_nothing_of_a_mean(results, capsys):
    assert main(["compare", str(results / "one"), str(results / "one")]) == 1
    shown = capsys.readouterr()
    assert "one seed" in shown.out
    assert "of one seed" in shown.err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["a", "--tolerance", "0"], "--tolerance: "),
        (["a", "b", "--metric", "speed"], '--metric: "speed" is not a metric'),
        (["a"], "B: one result has one plant (packet); expected two results, or two plants"),
        (["a", "none"], "none"),
    ],
)
def test_wrong_comparisons_are_one_line(results, words, line, capsys, monkeypatch):
    monkeypatch.chdir(results)
    assert main(["compare", *words]) == 2
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1


def test_shares():
    assert share_of("2.5 %") == 0.025
    for wrong in ("x", "0", "100%", True, None, 5):
        with pytest.raises(sj.InputError, match=r"^tolerance: "):
            share_of(wrong)


def test_the_warm_up_of_a_run_is_that_of_mser5(capsys):
    scenario = sj.load("dumbbell", {"duration": "60 s", "warmup": "100 ms"})
    found = sj.run(scenario, "pi", seeds=[1, 2])
    rows = found.warm_up()
    # To the change of the rate at 40 s.
    series = found.series.filter(pl.col("time") <= 40, name="queue_packets", seed=2).sort("time")
    dropped = mser5(series["value"].to_list())
    assert rows["found_s"][1] == series["time"][dropped - 1]
    assert rows["verdict"].to_list() == ["short", "short"]
    flags = ["--set", "warmup=100ms", "--set", "duration=60s", "--qdisc", "pi", "--seeds", "1..2"]
    assert main(["run", "dumbbell", *flags, "--warm-up", "--quiet"]) == 0
    assert "(longest of 2 runs); the scenario has 0.1 s, which is too short" in capsys.readouterr().err
    assert main(["run", "dumbbell", *flags, "--quiet"]) == 0
    assert "MSER-5" not in capsys.readouterr().err
