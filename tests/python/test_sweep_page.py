"""Campaigns: Sobol's indices, certificates beside packets, the pictures of a grid, and its page."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
import sys
import tomllib

import numpy as np
import polars as pl
import pytest
from scipy import stats

import sojourn as sj
from sojourn.result.sensitivity import sobol
from sojourn.scenario import campaigns
from sojourn.sweep import load
from sojourn.sweep.answers import answers, pictures
from sojourn.sweep.axes import Sample, axis, points
from sojourn.sweep.grid import read
from sojourn.sweep.pictures import KINDS, Picture
from sojourn.sweep.plots import Plots

SHORT = {"duration": "41 s", "at": []}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("campaigns")


# ---- Sobol's indices --------------------------------------------------------------------------------


def ishigami(row, a=7.0, b=0.1):
    return math.sin(row["x1"]) + a * math.sin(row["x2"]) ** 2 + b * row["x3"] ** 4 * math.sin(row["x1"])


def test_indices_of_ishigami_are_the_analytic_ones():
    pytest.importorskip("SALib", reason="the extra sensitivity is not installed")
    # T. Ishigami and T. Homma, ISUMA 1990; the variances by integration, as in Sobol and Levitan 1999.
    a, b, pi = 7.0, 0.1, math.pi
    of_1 = 0.5 * (1 + b * pi**4 / 5) ** 2
    of_2, of_13 = a**2 / 8, 8 * b**2 * pi**8 / 225
    whole = of_1 + of_2 + of_13
    first = [of_1 / whole, of_2 / whole, 0.0]
    total = [(of_1 + of_13) / whole, of_2 / whole, of_13 / whole]
    axes = [axis(name, {"from": -pi, "to": pi}, name) for name in ("x1", "x2", "x3")]
    values = [ishigami(row) for row in points(axes, Sample("saltelli", 4096, 1))]
    for one, alone, of_all in zip(sobol(values, ["x1", "x2", "x3"]), first, total, strict=True):
        assert abs(one.first - alone) < min(0.01, one.first_half)
        assert abs(one.total - of_all) < min(0.01, one.total_half)


def test_saltelli_has_the_blocks_that_salib_reads():
    sample = pytest.importorskip("SALib.sample.sobol", reason="the extra sensitivity is not installed")
    problem = {"num_vars": 3, "names": list("abc"), "bounds": [[0.0, 1.0]] * 3}
    theirs = sample.sample(problem, 8, calc_second_order=False, seed=1).reshape(8, 5, 3)
    axes = [axis(name, {"from": 0.0, "to": 1.0}, name) for name in "abc"]
    ours = np.array([list(row.values()) for row in points(axes, Sample("saltelli", 8, 1))]).reshape(8, 5, 3)
    for block in (*theirs, *ours):
        own, *mixed, other = block
        for place, row in enumerate(mixed):
            expected = own.copy()
            expected[place] = other[place]
            assert row.tolist() == expected.tolist()
    assert len({tuple(row) for row in ours[:, 0]}) == 8


def test_indices_need_their_sample(place):
    found = sj.sweep({"scenario": "dumbbell", "set": SHORT, "axes": {"qdisc": ["pi"]}}, place / "no.sweep")
    with pytest.raises(sj.InputError, match=r"^sensitivity: .*saltelli"):
        found.sensitivity("queue_mean_packets")
    with pytest.raises(ValueError, match="7 values of 2 parameters"):
        sobol([0.0] * 7, ["a", "b"])
    assert [one.total for one in sobol([1.0] * 8, ["a", "b"])] == [0.0, 0.0]


def test_indices_of_a_sweep_are_those_of_its_means(place):
    pytest.importorskip("SALib", reason="the extra sensitivity is not installed")
    axes = {
        "target": {"key": "bottleneck.qdisc.target", "from": "40 packets", "to": "160 packets"},
        "count": {"key": "flows[0].count", "from": 20, "to": 60},
        "bottleneck.delay": ["5 ms", "20 ms"],
    }
    grid = {"scenario": "dumbbell", "set": SHORT, "axes": axes, "seeds": [1, 2]}
    grid |= {"sample": {"method": "saltelli", "points": 8}}
    found = sj.sweep(grid, place / "indices.sweep")
    assert found.plan.height == 8 * 4 * 2 * 2
    indices = found.sensitivity("queue_mean_packets")
    assert indices.select("bottleneck.delay", "axis").rows() == list(
        itertools.product([0.005, 0.02], ["target", "count"])
    )
    # PI holds its target: all of the variance is that of the target.
    assert indices.filter(axis="target")["total"].min() > 0.9
    assert indices.filter(axis="count")["total"].max() < 0.1
    rows = found.summary("queue_mean_packets").filter(pl.col("bottleneck.delay") == 0.02)
    assert rows.height == 32
    expected = sobol(rows["mean"].to_list(), ["target", "count"])
    assert indices.filter(pl.col("bottleneck.delay") == 0.02)["first"].to_list() == [
        one.first for one in expected
    ]
    ax = found.plot.sensitivity("queue_mean_packets", **{"bottleneck.delay": 0.02})
    assert [bar.get_width() for bar in ax.patches] == [
        *(one.first for one in expected),
        *(one.total for one in expected),
    ]
    with pytest.raises(sj.InputError, match="one point"):
        found.plot.sensitivity("queue_mean_packets")


# ---- Theory -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certified(place):
    grid = {
        "scenario": "dumbbell",
        "set": SHORT,
        "axes": {"qdisc": ["pi", "codel"], "flows": {"key": "flows[0].count", "values": [30, 50, 70]}},
        "theory": True,
        "pictures": [{"regression": "mark_ratio", "on": "p"}],
    }
    return sj.sweep(grid, place / "theory.sweep")


def test_certificates_stand_beside_the_points(certified):
    found = certified.theory()
    assert found["verdict"].to_list() == ["stable"] * 3 + ["not proven"] * 3
    proof = sj.prove(sj.load("dumbbell", {"at": [], "duration": "41 s", "flows[0].count": 70}), "pi")
    row = found.row(2, named=True)
    assert row["phase_margin_deg"] == proof.margins["phase_margin_deg"]
    assert row["p"] == proof.equilibrium["p"]
    assert row["queue_std_packets"] == proof.noise["queue_sd_packets"]


def test_regressions_are_those_of_scipy(certified):
    (row,) = certified.regression("mark_ratio", "p").to_dicts()
    assert (row["qdisc"], row["n"]) == ("pi", 3)
    x = certified.theory()["p"].to_list()[:3]
    y = certified.summary("mark_ratio")["mean"].to_list()[:3]
    line = stats.linregress(x, y)
    assert row["slope"] == pytest.approx(line.slope, rel=1e-12)
    # Marks are those of the calibrated p to a tenth.
    assert 0.9 < row["slope"] < 1.2
    ax = certified.plot.regression("mark_ratio", "p")
    assert ax.get_lines()[0].get_xdata().tolist() == x
    assert ax.get_xlabel() == "predicted p"
    with pytest.raises(sj.InputError, match="three at least"):
        _of_one(certified)


def test_regressions_have_a_line_for_each_plant(place):
    axes = {"flows": {"key": "flows[0].count", "values": [30, 50, 70]}}
    both = {"scenario": "dumbbell", "set": SHORT, "axes": axes, "theory": True, "plants": ["packet", "fluid"]}
    both["pictures"] = [{"regression": "mark_ratio", "on": "p"}]
    found = sj.sweep(both, place / "plants.sweep")
    rows = found.regression("mark_ratio", "p")
    assert rows["plant"].to_list() == ["packet", "fluid"]
    assert rows["n"].to_list() == [3, 3]
    # The fluid rests at the p of the certificate.
    assert rows["slope"][1] == pytest.approx(1, abs=0.05)
    assert ", fluid: R² " in answers(found)[0]


def _of_one(certified):
    alone = certified.plan.filter(flows=30)
    type(certified)(certified.folder, alone, 0, 0, certified.about).regression("mark_ratio", "p")


def test_certificates_are_made_once(certified, monkeypatch):
    monkeypatch.setattr("sojourn.sweep.theory._certified", lambda _: pytest.fail("certified again"))
    assert load(certified.folder).theory().equals(certified.theory())
    grid = {
        "scenario": "dumbbell",
        "set": SHORT,
        "axes": {"qdisc": ["pi", "codel"], "flows": {"key": "flows[0].count", "values": [30, 50, 70]}},
        "theory": True,
    }
    assert sj.sweep(grid, certified.folder).theory().equals(certified.theory())


def test_theory_is_of_a_grid_that_names_it(place):
    found = sj.sweep({"scenario": "dumbbell", "set": SHORT, "axes": {"qdisc": ["pi"]}}, place / "no.sweep")
    with pytest.raises(sj.InputError, match="theory = true"):
        found.theory()


# ---- Pictures and the page ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"pictures": [{"pie": "utilization"}]}, r"pictures\[0\]: .* is no picture"),
        ({"pictures": [{"map": "utilization", "x": "qdisc"}]}, r"pictures\[0\].y: is missing"),
        ({"pictures": [{"curve": "speed", "x": "qdisc"}]}, r"pictures\[0\].curve: .*speed.* is no metric"),
        ({"pictures": [{"curve": "utilization", "x": "load"}]}, r"pictures\[0\].x: .*load.* is unknown"),
        ({"pictures": [{"curve": "utilization", "x": "qdisc", "most": 1}]}, r"pictures\[0\]: .*most"),
        ({"pictures": [{"regression": "mark_ratio", "on": "p"}]}, r"pictures\[0\]: .*theory = true"),
        ({"pictures": [{"sensitivity": "mark_ratio"}]}, r"pictures\[0\]: .*saltelli"),
        ({"pictures": [{"curve": "utilization", "x": "qdisc", "at": {"z": 1}}]}, r"pictures\[0\].at: "),
        ({"theory": "yes"}, "theory: "),
        ({"question": 5}, "question: "),
    ],
)
def test_wrong_pictures_are_one_line(keys, message):
    with pytest.raises(sj.InputError, match=f"^{message}") as raised:
        read({"scenario": "dumbbell", "axes": {"qdisc": ["pi"]}} | keys)
    assert len(raised.value.lines) == 1


def test_each_kind_of_pictures_is_drawn_and_has_a_caption():
    for name, kind in KINDS.items():
        one = Picture(name, "utilization", on="p")
        assert kind.caption(one).endswith(".")
        assert callable(getattr(Plots, name))
        assert set(kind.needed + kind.allowed) <= {field.name for field in dataclasses.fields(one)}


def test_indices_are_stated_for_each_point_of_the_other_axes(place, monkeypatch):
    axes = {"target": {"key": "bottleneck.qdisc.target", "from": "40 packets", "to": "60 packets"}}
    axes |= {"delay": {"key": "bottleneck.delay", "values": ["5 ms", "20 ms"]}}
    grid = {"scenario": "dumbbell", "set": SHORT, "axes": axes}
    grid |= {"sample": {"method": "saltelli", "points": 2}}
    found = sj.sweep(grid | {"pictures": [{"sensitivity": "utilization"}]}, place / "stated.sweep")
    rows = pl.DataFrame(
        {
            "delay": [0.005, 0.02],
            "link": ["bottleneck"] * 2,
            "axis": ["target"] * 2,
            **{name: [0.9, 0.1] for name in ("first", "first_half", "total", "total_half")},
        }
    )
    monkeypatch.setattr(type(found), "sensitivity", lambda _, __: rows)
    assert answers(found) == [
        f"Shares of the variance of utilisation (delay {delay}), alone (with interactions): "
        f"target {share} ± {share} % ({share} ± {share} %)."
        for delay, share in (("5 ms", 90), ("20 ms", 10))
    ]


def test_all_points_of_saltelli_run():
    axes = {"target": {"key": "bottleneck.qdisc.target", "from": "40 packets", "to": "60 packets"}}
    keys = {"scenario": "dumbbell", "axes": axes, "sample": {"method": "saltelli", "points": 2}}
    with pytest.raises(sj.InputError, match=r"^where: leaves points out"):
        read(keys | {"where": ["target > 50"]})


def test_completion_times_over_sizes_are_logarithmic(place):
    grid = {
        "scenario": "traffic/incast",
        "axes": {"size": {"key": "flows[0].app.transfer.size", "values": ["8 kB", "64 kB", "512 kB"]}},
        "pictures": [{"completion": "fct_mean_s", "x": "size"}],
    }
    found = sj.sweep(grid, place / "sizes.sweep")
    ax = found.plot.completion("fct_mean_s", "size")
    (line,) = ax.get_lines()
    assert line.get_xdata().tolist() == [8, 64, 512]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    # No faster than the link sends all flows' bytes in the mean over them.
    rate = sj.load("traffic/incast").contexts[0].rate_bps
    assert (line.get_ydata() > 8 * line.get_xdata() / rate).all()
    assert "Completion mean" in page_of(found, place / "sizes.html")


def page_of(found, path):
    text = found.report(path).read_text()
    # Nothing is loaded: no script, no address.
    assert "<script" not in text
    assert not re.search(r'(?:src|href)="(?!#)', re.sub(r'xlink:href="#[^"]*"', "", text))
    assert text.count("<main>") == text.count("</main>") == 1
    return text


def test_the_page_has_the_question_its_answer_and_the_points(place):
    grid = {
        "scenario": "dumbbell",
        "question": "Does <it> hold?",
        "set": SHORT,
        "axes": {
            "qdisc": ["pi:target=20packets", "codel"],
            "flows": {"key": "flows[0].count", "values": [4, 60]},
            "path": {"key": "bottleneck.delay", "values": ["5 ms", "50 ms"]},
        },
        "seeds": "1..3",
        "pictures": [{"map": "sojourn_p95_s", "x": "flows", "y": "path", "most": "20 ms"}],
    }
    found = sj.sweep(grid, place / "page.sweep")
    (answer,) = answers(found)
    for qdisc in ("pi:target=20packets", "codel"):
        rows = found.summary("sojourn_p95_s").filter(qdisc=qdisc)
        assert f"{qdisc} holds at {(rows['ci95_high'] <= 0.02).sum()} of 4 points" in answer
    text = page_of(found, place / "page.html")
    assert "<h1>Does &lt;it&gt; hold?</h1>" in text
    assert answer.partition(":")[0].replace(" ms", "&nbsp;ms") in text
    assert text.count("<figure id=") == 2
    assert len(re.findall(r'<tr><th scope="row">', text)) == 8
    # The same page from the store alone.
    assert page_of(load(found.folder), place / "again.html") == text


def test_pages_hold_one_curve_and_fifty(place):
    for name, laws in (("one", ["pi"]), ("fifty", [f"pi:target={50 + 2 * n}packets" for n in range(50)])):
        grid = {
            "scenario": "dumbbell",
            "set": SHORT | {"bottleneck.rate": "1 Mbit/s", "flows[0].count": 4},
            "axes": {"qdisc": laws, "bottleneck.delay": ["5 ms", "20 ms", "80 ms"]},
        }
        found = sj.sweep(grid, place / f"{name}.sweep")
        assert [one.kind for one in pictures(found)] == ["curve", "curve", "curve", "cloud"]
        text = page_of(found, place / f"{name}.html")
        assert text.count("<figure id=") == 4
        ax = found.plot.curve("queue_mean_packets", "bottleneck.delay")
        assert len(ax.get_lines()) == len(laws)
        # Fifty curves: no legend of fifty names.
        legends = ax.get_figure().legends
        assert sum(len(one.get_texts()) for one in legends) <= 14
    assert len(text) < 2_000_000


def test_a_page_lists_failures(place):
    axes = {"qdisc": ["pi:target=100packets", "pi:target=900packets"]}
    found = sj.sweep({"scenario": "dumbbell", "set": SHORT, "axes": axes}, place / "failed.sweep")
    text = page_of(found, place / "failed.html")
    assert "1 of 2 cells failed" in text
    assert found.failures()["error"][0].partition(";")[0].split(" ")[0] in text


@pytest.mark.parametrize("name", campaigns())
def test_campaigns_run_and_answer(name, place):
    if name == "red":
        pytest.importorskip("SALib", reason="the extra sensitivity is not installed")
    keys = tomllib.loads(campaigns()[name].read_text())
    assert keys["question"].endswith("?")
    # Shortened: a run is 8 s, and a sample the least one.
    keys["set"] |= {"duration": "8 s", "warmup": "2 s"}
    keys["seeds"] = [1]
    if "sample" in keys:
        keys["sample"]["points"] = 4
    found = sj.sweep(keys, place / f"{name}.sweep")
    assert found.failures().height == 0
    parts = answers(found)
    assert parts
    text = page_of(found, place / f"{name}.html")
    assert text.count("<figure id=") >= len(keys["pictures"])


@pytest.mark.slow
def test_commands_write_pages(sojourn, folder):
    (folder / "grid.toml").write_text(
        'scenario = "dumbbell"\nset = { duration = "41 s" }\n[axes]\nqdisc = ["pi", "codel"]\n'
    )
    done = sojourn("sweep", "grid.toml", "--page", "deep/page.html")
    assert done.returncode == 0
    assert "wrote deep/page.html" in done.stderr
    page = (folder / "deep" / "page.html").read_text()
    assert "[axes]" in page
    done = sojourn("report", "grid.sweep")
    assert done.stdout.strip() == "grid.sweep/report.html"
    assert (folder / "grid.sweep" / "report.html").read_text() == page
    # The page in the store is no obstacle.
    assert "2 found" in sojourn("sweep", "grid.toml").stdout
    refused = sojourn("report", "grid.sweep", "--baseline", "pi")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert sojourn("sweep", "grid.toml", "--page", "page").returncode == 2
    listed = json.loads(sojourn("list", "campaigns", "--json").stdout)
    assert [one["name"] for one in listed] == list(campaigns())
    missing = sojourn("sweep", "nothing")
    assert missing.returncode == 2
    assert "list campaigns" in missing.stderr


def test_without_salib_a_sweep_runs_and_its_page_is_refused_before(place, monkeypatch, capsys):
    from sojourn.cli import main

    monkeypatch.setitem(sys.modules, "SALib.analyze.sobol", None)
    grid = place / "indices.toml"
    grid.write_text(
        'scenario = "dumbbell"\nset = { duration = "2 s", warmup = "1 s", at = [] }\n'
        'sample = { method = "saltelli", points = 2 }\n'
        'pictures = [{ sensitivity = "queue_mean_packets" }]\n'
        '[axes]\n"bottleneck.qdisc.target" = { from = "50 packets", to = "90 packets" }\n'
    )
    out = ["--out", str(place / "salib.sweep")]
    assert main(["sweep", str(grid), *out, "--page", str(place / "salib.html")]) == 3
    assert "pip install sojourn[sensitivity]" in capsys.readouterr().err
    assert not (place / "salib.sweep").exists()
    assert main(["sweep", str(grid), *out]) == 0
    assert "pip install sojourn[sensitivity]" in capsys.readouterr().out


def test_a_picture_without_values_says_why(place):
    keys = {
        "scenario": "dumbbell",
        "set": SHORT,
        "axes": {"qdisc": ["pi", "codel"]},
        "theory": True,
        "pictures": [{"regression": "mark_ratio", "on": "p"}],
    }
    found = sj.sweep(keys, place / "few.sweep")
    (answer,) = answers(found)
    assert answer.startswith("Regression: no qdisc has p and mark_ratio at three points")
    assert "three points" in page_of(found, place / "few.html")
