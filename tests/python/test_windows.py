"""Windows of time: against numpy on the series and the metrics of runs, in files, tables and pictures."""

import json
import tomllib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn.cli import main
from sojourn.plot import Canvas, Plots
from sojourn.report.page import page as whole_page
from sojourn.result import windows

SCENARIO = """\
title    = "Two classes on a small link"
duration = "10 s"
warmup   = "2 s"
sample   = "50 ms"

[bottleneck]
rate   = "2 Mbit/s"
delay  = "5 ms"
buffer = "40 packets"
qdisc  = { law = "pi", target = "10 packets" }

[[flows]]
count   = 8
cc      = "newreno"
segment = "1000 B"
access  = { rate = "20 Mbit/s", delay = { spread = ["8 ms", "12 ms"] } }

[[flows]]
app    = { cbr = { rate = "100 kbit/s" } }
access = { rate = "20 Mbit/s", delay = "8 ms" }

[[at]]
time = "6 s"
set  = { "bottleneck.rate" = "1 Mbit/s" }
"""
FOUR = [{"count": 4, "access": {"delay": "8 ms"}}]
LISTED = ["phases", "3 s..7 s", "run", "measured", "every 500 ms"]


def scenario(listed=LISTED, **changes):
    """The scenario with windows, or with None of them, and other values of some keys."""
    given = {} if listed is None else {"windows": listed}
    return sj.Scenario.from_dict(tomllib.loads(SCENARIO) | given | changes)


@pytest.fixture(scope="module")
def result():
    return sj.run(scenario(), seeds=[1, 2])


def series(result, name, seed=1):
    of = result.series.filter((pl.col("name") == name) & (pl.col("seed") == seed)).sort("time")
    return of["time"].to_numpy(), of["value"].to_numpy()


def within(result, name, span, seed=1):
    """Steps of a series in a window whose ends are ends of steps."""
    time, values = series(result, name, seed)
    return values[(time > span[0] + 1e-9) & (time <= span[1] + 1e-9)]


def spans(result):
    return result.windows.select("window", "from_s", "until_s").unique(maintain_order=True).rows()


def test_windows_are_those_of_the_scenario(result):
    found = spans(result)
    assert found[:5] == [
        ("phases", 0.0, 6.0),
        ("phases", 6.0, 10.0),
        ("3 s..7 s", 3.0, 7.0),
        ("run", 0.0, 10.0),
        ("measured", 2.0, 10.0),
    ]
    assert found[5:] == [("every 500 ms", place / 2, (place + 1) / 2) for place in range(20)]
    assert windows.names(result) == LISTED


def test_a_run_without_windows_has_the_same_bytes_and_no_new_ones(result, tmp_path):
    """The scenario's key, the JSON document and the folder have windows only if they are selected."""
    plain = sj.run(scenario(None), seeds=[1, 2])
    with_them, without = json.loads(result.to_json()), json.loads(plain.to_json())
    assert "windows" not in without
    assert "windows" not in without["scenario"]
    assert with_them["scenario"].pop("windows") == LISTED
    assert with_them.pop("windows")
    assert with_them == without
    result.write(tmp_path / "with")
    plain.write(tmp_path / "without")
    for name in ("series.parquet", "distributions.parquet"):
        assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()
    assert {file.name for file in (tmp_path / "with").iterdir()} - {
        file.name for file in (tmp_path / "without").iterdir()
    } == {"windows.parquet"}


def test_the_measured_window_has_the_metrics_of_the_run(result):
    for traffic_class in (None, *result.classes):
        for row in result.rows(traffic_class=traffic_class):
            for name, value in row.metrics.items():
                if isinstance(value, list):
                    continue
                found = result.values(row.qdisc, name, traffic_class=traffic_class, window="measured").get(
                    row.seed
                )
                assert found == value, (traffic_class, name)


def test_numpy_on_the_series_gives_the_same(result):
    (qdisc,) = result.qdiscs
    for window, start, end in spans(result):
        of = f"{start:g} s..{end:g} s"
        one = lambda name, of=of: result.values(qdisc, name, window=of)[1]  # noqa: E731
        span = (start, end)
        queue = within(result, "queue_packets", span)
        assert one("queue_mean_packets") == pytest.approx(queue.mean(), rel=1e-9), window
        offered = within(result, "offered_packets", span).sum()
        dropped = within(result, "dropped_packets", span).sum()
        assert one("drop_ratio") == pytest.approx(dropped / offered, rel=1e-12)
        assert (one("offered_packets"), one("dropped_packets")) == (offered, dropped)
        # The rate is constant in a phase; utilisation is the mean over its steps there.
        if not start < 6 < end:
            used = within(result, "utilization", span).mean()
            assert one("utilization") == pytest.approx(used, rel=1e-9)
        for traffic_class in result.classes:
            goodput = within(result, f"goodput_bps.{traffic_class}", span).mean()
            found = result.values(qdisc, "goodput_bps", traffic_class=traffic_class, window=of)[1]
            assert found == pytest.approx(goodput, rel=1e-9, abs=1e-9)


def test_control_is_judged_from_the_start_of_a_window_and_from_each_change(result):
    """Target 10 packets at 2 Mbit/s: overshoot and ITAE from the means over steps, by numpy."""
    (qdisc,) = result.qdiscs
    stretches = {
        "0 s..6 s": [(0, 6)],
        "6 s..10 s": [(6, 10)],
        "3 s..7 s": [(3, 6), (6, 7)],
        "run": [(0, 6), (6, 10)],
    }
    for window, parts in stretches.items():
        for place, (start, end) in enumerate(parts):
            time, queue = series(result, "queue_packets")
            inside = (time > start + 1e-9) & (time <= end + 1e-9)
            ends, queue = time[inside] - start, queue[inside]
            starts = np.concatenate([[0.0], ends[:-1]])
            itae = np.sum((ends**2 - starts**2) / 2 * np.abs(queue - 10))
            found = result.values(qdisc, f"itae_packets_s2[{place}]", window=window)[1]
            assert found == pytest.approx(itae, rel=1e-9)
            over = result.values(qdisc, f"overshoot_packets[{place}]", window=window)[1]
            assert over == pytest.approx(max(0.0, queue.max() - 10), rel=1e-9)
    qacd = result.values(qdisc, "qacd_packets", window="3 s..7 s")[1]
    mean, spread = (
        result.values(qdisc, name, window="3 s..7 s")[1]
        for name in ("queue_mean_packets", "queue_std_packets")
    )
    # Formula (17) of the PI-PD paper as the root of variance and squared distance.
    assert qacd == pytest.approx(np.hypot(spread, mean - 10), rel=1e-9)


def test_a_longer_window_is_the_sum_of_shorter_ones(result):
    (qdisc,) = result.qdiscs
    for name in ("bottleneck_packets", "offered_packets", "dropped_packets", "loss_events"):
        whole = result.values(qdisc, name, window="run")
        each = result.windows.filter(
            (pl.col("window") == "every 500 ms") & (pl.col("name") == name) & pl.col("class").is_null()
        )
        sums = dict(each.group_by("seed").agg(pl.col("value").sum()).iter_rows())
        assert sums == whole, name


def test_classes_have_windows_even_where_there_is_one():
    alone = sj.run(scenario(["phases"], flows=FOUR))
    assert alone.classes == []
    found = alone.windows["class"].unique(maintain_order=True).to_list()
    assert found == [None, "bulk"]
    (qdisc,) = alone.qdiscs
    for name in ("goodput_bps", "rtt_p95_s", "drop_ratio", "queue_mean_packets", "sojourn_p99_s"):
        window = "0 s..6 s"
        both = [alone.values(qdisc, name, traffic_class=one, window=window) for one in (None, "bulk")]
        assert both[0] == both[1], name


def test_datagrams_have_a_delay_variation_and_tcp_has_round_trips(result):
    (qdisc,) = result.qdiscs
    cbr = {
        name: result.values(qdisc, name, traffic_class="cbr", window="run")
        for name in ("one_way_pdv_p95_s", "one_way_ipdv_mean_s", "rtt_p50_s")
    }
    assert cbr["one_way_pdv_p95_s"].keys() == {1, 2}
    assert 0 < cbr["one_way_ipdv_mean_s"][1] < cbr["one_way_pdv_p95_s"][1]
    assert not cbr["rtt_p50_s"]
    at = [
        "rtt_min_s",
        "rtt_p05_s",
        "rtt_p25_s",
        "rtt_p50_s",
        "rtt_p75_s",
        "rtt_p95_s",
        "rtt_p99_s",
        "rtt_max_s",
    ]
    values = [result.values(qdisc, name, window="run")[1] for name in at]
    assert values == sorted(values)
    assert values[0] <= result.values(qdisc, "rtt_geomean_s", window="run")[1]
    assert (
        result.values(qdisc, "rtt_geomean_s", window="run")[1]
        <= result.values(qdisc, "rtt_mean_s", window="run")[1]
    )


def test_a_folder_reads_back_and_a_damaged_one_is_refused(result, tmp_path):
    folder = result.write(tmp_path / "out")
    again = sj.Result.read(folder)
    assert again.windows.equals(result.windows)
    assert again.to_json() == result.to_json()
    file = folder / "windows.parquet"
    whole = pl.read_parquet(file)
    damaged = {
        "is out of range": whole.with_columns(until_s=pl.col("until_s") + 100),
        "is no run": whole.with_columns(seed=pl.lit(7, pl.UInt64)),
        "twice": pl.concat([whole, whole.head(1)]),
        "has no column value": whole.drop("value"),
        "has no value": whole.with_columns(name=pl.lit(None, pl.String)),
    }
    for line, table in damaged.items():
        table.write_parquet(file)
        with pytest.raises(sj.InputError, match=line) as error:
            sj.Result.read(folder)
        assert len(error.value.lines) == 1
    file.unlink()
    with pytest.raises(sj.InputError, match=r"windows\.parquet: is missing"):
        sj.Result.read(folder)


def test_the_document_has_the_windows_that_are_named(result):
    rows = json.loads(result.to_json())["windows"]
    assert {row["window"] for row in rows} == set(LISTED) - {"every 500 ms"}
    row = rows[0]
    assert (row["window"], row["from_s"], row["until_s"], row["link"]) == ("phases", 0.0, 6.0, "bottleneck")
    assert row["metrics"]["rtt_p95_s"] > 0
    assert "class" not in row


def test_the_mean_over_the_seeds_is_that_of_the_values(result):
    (qdisc,) = result.qdiscs
    table = result.summary("phases")
    found = table.filter(
        (pl.col("metric") == "rtt_p95_s") & (pl.col("from_s") == 6) & pl.col("class").is_null()
    )
    values = list(result.values(qdisc, "rtt_p95_s", window="6 s..10 s").values())
    assert (found["n"].item(), found["mean"].item()) == (2, pytest.approx(np.mean(values)))
    half = 12.7062047 * np.std(values, ddof=1) / np.sqrt(2)  # Student's t of one degree of freedom
    assert found["ci95_high"].item() == pytest.approx(np.mean(values) + half)


@pytest.fixture(scope="module")
def fluid():
    return sj.run(scenario(), plants=["fluid"])


def test_the_measured_window_of_a_fluid_run_has_its_metrics(fluid):
    for traffic_class in (None, *fluid.classes):
        for row in fluid.rows(traffic_class=traffic_class):
            known = {name: value for name, value in row.metrics.items() if isinstance(value, float)}
            found = {
                name: fluid.values(row.qdisc, name, traffic_class=traffic_class, window="measured")
                for name in known
            }
            assert {name: list(values.values()) for name, values in found.items()} == {
                name: [value] for name, value in known.items()
            }
            assert len(known) >= 5


def test_windows_of_a_fluid_run_are_parts_of_its_series(fluid):
    for text, from_s, until_s in spans(fluid):
        of = fluid.windows.filter(
            (pl.col("window") == text) & (pl.col("from_s") == from_s) & pl.col("class").is_null()
        )
        values = dict(of.select("name", "value").iter_rows())
        for name, series_name in (("queue_mean_packets", "queue_packets"), ("utilization", "utilization")):
            inside = within(fluid, series_name, (from_s, until_s))
            # The rate is constant between 6 s and 10 s, and before.
            if name == "queue_mean_packets" or not from_s < 6 < until_s:
                assert values[name] == pytest.approx(inside.mean(), rel=1e-9, abs=1e-12), (text, name)
        if text in {"run", "measured"}:
            assert values["queue_p05_packets"] <= values["queue_p50_packets"] <= values["queue_p95_packets"]
            assert 0.026 <= values["rtt_min_s"] < values["rtt_geomean_s"] < values["rtt_p99_s"]
    offered = fluid.windows.filter(pl.col("name") == "offered_packets", pl.col("class").is_null())
    of = dict(offered.group_by("window").agg(pl.col("value").sum()).iter_rows())
    assert of["phases"] == pytest.approx(of["run"], rel=1e-12)
    assert of["every 500 ms"] == pytest.approx(of["run"], rel=1e-12)


def test_windows_leave_a_fluid_run_as_it_is(fluid):
    plain = sj.run(scenario(None), plants=["fluid"])
    assert plain.rows()[0].metrics == fluid.rows()[0].metrics
    assert plain.series.equals(fluid.series)
    # A bound within a step ends a step of the integration there.
    off = sj.run(scenario(["1.234567 s..7.7654321 s"]), plants=["fluid"])
    for name, value in plain.rows()[0].metrics.items():
        if isinstance(value, float):
            assert off.rows()[0].metrics[name] == pytest.approx(value, rel=1e-3, abs=1e-6), name


def test_windows_of_both_plants_agree_where_the_plants_do():
    """PI at rest before and after the link halves its rate: the packets are the judge of the fluid."""
    halved = [{"time": "60 s", "set": {"bottleneck.rate": "1 Mbit/s"}}]
    changed = scenario(["20 s..60 s", "80 s..120 s"], duration="120 s", warmup="20 s", at=halved)
    both = sj.run(changed, plants=["fluid", "packet"], seeds=[1, 2, 3])
    for window in ("20 s..60 s", "80 s..120 s"):
        for name in ("rtt_mean_s", "utilization", "goodput_bps", "offered_packets"):
            means = {
                plant: np.mean(
                    list(both.for_plant(plant).values("pi:target=10 packets", name, window=window).values())
                )
                for plant in ("fluid", "packet")
            }
            assert means["fluid"] == pytest.approx(means["packet"], rel=0.1), (window, name, means)


@pytest.mark.parametrize(
    ("listed", "line"),
    [
        (["4 s..3 s"], "ends before it has begun"),
        (["4 s..11 s"], "ends after the run of 10 s"),
        (["run", "run"], "is given twice"),
        (["every 0 s"], "is empty"),
        (["every 1 ms"], "is too short"),
        (["sometimes"], "is no window of time"),
    ],
)
def test_a_window_that_is_wrong_is_refused_in_one_line(listed, line):
    with pytest.raises(sj.InputError, match=line) as error:
        scenario(listed)
    assert len(error.value.lines) == 1
    assert "windows" in error.value.lines[0]


def test_errors_of_values_name_what_there_is(result):
    (qdisc,) = result.qdiscs
    for arguments, line in (
        ({"window": "phases"}, "is 2 windows"),
        ({"window": "1 s..2 s"}, "is no window here"),
    ):
        with pytest.raises(sj.InputError, match=line):
            result.values(qdisc, "rtt_p95_s", **arguments)
    with pytest.raises(sj.InputError, match=r'did you mean "rtt_p95_s"'):
        result.values(qdisc, "rtt_p95", window="run")
    with pytest.raises(sj.InputError, match="the scenario has none"):
        sj.run(scenario(None)).summary("phases")


def test_a_box_has_the_quantiles_of_its_window(result):
    (qdisc,) = result.qdiscs
    ax = result.plot.boxes("rtt", "phases")
    (low, high) = ax.lines[0].get_ydata()  # the lower whisker of the first box
    assert ax.get_ylabel() == "round-trip time, ms"
    quantile = lambda name: np.mean(list(result.values(qdisc, name, window="0 s..6 s").values()))  # noqa: E731
    assert sorted([low, high]) == pytest.approx([1e3 * quantile("rtt_p05_s"), 1e3 * quantile("rtt_p25_s")])
    across = result.plot.boxes("goodput_bps", "every 500 ms", "bulk")
    values = result.windows.filter(
        (pl.col("window") == "every 500 ms") & (pl.col("name") == "goodput_bps") & (pl.col("class") == "bulk")
    )["value"].to_numpy()
    medians = [
        line for line in across.lines if len(set(line.get_ydata())) == 1 and line.get_linewidth() == 2.0
    ]
    assert medians[0].get_ydata()[0] == pytest.approx(np.median(values) * 1e-6)


def test_no_two_boxes_have_one_colour_and_hatch(result):
    """Colours repeat after seven qdiscs."""
    names = [f"qdisc{place}" for place in range(9)]
    runs = tuple(replace(row, qdisc=name) for name in names for row in result.runs)
    table = pl.concat([result.windows.with_columns(pl.lit(name).alias("qdisc")) for name in names])
    ax = replace(result, runs=runs, windows=table).plot.boxes("rtt", "0 s..6 s")
    boxes = [(patch.get_edgecolor(), patch.get_hatch()) for patch in ax.patches]
    assert len(boxes) == len(set(boxes)) == 9
    legend = [(patch.get_edgecolor(), patch.get_hatch()) for patch in ax.get_legend().get_patches()]
    assert legend == boxes


def test_a_line_over_windows_has_their_values(result):
    (qdisc,) = result.qdiscs
    values = result.values(qdisc, "drop_ratio", window="6.5 s..7 s")
    assert len(values) > 1
    for one_seed, value in ((True, values[min(values)]), (False, np.mean(list(values.values())))):
        plots = Plots(result, Canvas(one_seed=one_seed))
        line = plots.over_windows("drop_ratio", "every 500 ms").lines[0]
        at = np.searchsorted(line.get_xdata(), 6.75)
        assert line.get_ydata()[at] == pytest.approx(100 * value)


def test_the_page_has_tables_and_boxes_of_windows(result):
    page = whole_page(result)
    assert "Windows of time" in page
    assert "0 to 6 s" in page
    assert "Round-trip times in each window" in page


@pytest.mark.usefixtures("undrawn")
def test_the_page_of_a_result_without_windows_has_none():
    assert "Windows of time" not in whole_page(sj.run(scenario(None)))


def test_pictures_refuse_what_is_not_measured(result):
    for draw in (result.plot.boxes, result.plot.over_windows):
        with pytest.raises(sj.InputError, match="is no metric of these windows"):
            draw("nothing", "phases")


def test_the_command_prints_a_table_of_each_list_of_windows(capsys):
    """Windows of one length are counted."""
    arguments = ["run", "dumbbell", "--quiet", "--set", "duration=45s"]
    listed = ["--window", "phases", "--window", "every 5 s"]
    assert main([*arguments, *listed]) == 0
    text = capsys.readouterr().out
    assert "40 to 45 s" in text
    assert "every 5 s: 9 windows" in text
    assert main([*arguments, *listed, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["windows"]
    assert [(row["window"], row["until_s"]) for row in found if "class" not in row] == [
        ("phases", 40.0),
        ("phases", 45.0),
    ]


def test_an_error_names_the_option(capsys):
    for arguments, line in (
        (["--window", "4 s..3 s"], "--window: 4 s..3 s ends before it has begun"),
        (["--window", "run", "--set", 'windows=["run"]'], "--window: --set windows is given, too"),
        (["--set", 'windows=["soon"]'], "--set windows[0]: soon is no window of time"),
    ):
        assert main(["run", "dumbbell", "--quiet", *arguments]) == 2
        found = capsys.readouterr().err.splitlines()
        assert len(found) == 1
        assert line in found[0]
