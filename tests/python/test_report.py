"""Pictures and the report: they show the result's numbers, and load nothing."""

import base64
import hashlib
import json
import os
import re
import sys
import threading
import warnings
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib
import numpy as np
import polars as pl
import pytest
from invented import columns, invented, partly
from matplotlib.figure import Figure
from scipy.stats import ttest_rel

import sojourn as sj
from sojourn import catalogue
from sojourn.cli import running
from sojourn.plot import bands, style
from sojourn.report import columns as packing
from sojourn.report import comparison, differing, setting
from sojourn.report.document import NIGHT
from sojourn.report.figures import svg
from sojourn.result import metrics, words
from sojourn.result.statistics import Estimate

RED = "red:min=5packets,max=15packets"


FIGURES = {
    "queue": "queue, packets",
    "delay": "sojourn, ms",
    "cdf": "packets that wait no longer, %",
    "delay_ccdf": "quantile of the packets",
    "drops": "drops, %",
    "marks": "marks, %",
    "utilization": "utilisation, %",
    "window": "congestion window, packets",
}


@pytest.mark.parametrize(("name", "label"), FIGURES.items())
def test_a_plot_has_a_line_and_a_band_for_each_qdisc_and_one_legend(made, name, label):
    axes = getattr(made.plot, name)()
    assert axes.get_ylabel() == label
    assert axes.get_xlabel().endswith(("s", "ms"))
    labels = [str(line.get_label()) for line in axes.get_lines()]
    assert [label for label in labels if not label.startswith("_")] == ["tail_drop", "red"]
    assert len(axes.collections) == len(made.qdiscs)
    assert len(axes.figure.legends) == 1


@pytest.mark.parametrize("name", [*FIGURES, "summary", "differences", "delay_utilization", "network"])
def test_a_plot_draws_into_the_callers_axes_and_is_saved_as_svg(made, name, tmp_path):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert getattr(made.plot, name)(ax=right) is right
    assert not left.has_data()
    assert not figure.legends
    figure.savefig(tmp_path / "both.svg")
    ElementTree.parse(tmp_path / "both.svg")


def test_drops_and_marks_have_one_scale(made):
    assert made.plot.drops().get_ylim() == made.plot.marks().get_ylim()


def test_single_flows_are_thin_lines_under_the_mean(made):
    alone = ~pl.col("name").cast(pl.String).str.starts_with("window_packets.flow_")
    made = replace(made, series=made.series.filter(alone))
    flow = made.series.filter((pl.col("name") == "window_packets") & (pl.col("seed") == 1))
    flow = flow.with_columns(pl.lit("window_packets.flow_3").alias("name"), pl.col("value") * 2)
    mean, single = made.plot.window(), with_series(made, flow).plot.window()
    assert len(single.get_lines()) == len(mean.get_lines()) + len(made.qdiscs)
    thin = single.get_lines()[-1]
    assert thin.get_linewidth() < single.get_lines()[0].get_linewidth()
    assert np.nanmax(thin.get_ydata()) > np.nanmax(mean.get_lines()[-1].get_ydata())


def with_series(result, more):
    """The same result with more samples."""
    return replace(result, series=pl.concat([result.series, more], how="vertical_relaxed"))


def contrast(colour, paper):
    """Contrast of two colours (WCAG 2, relative luminance)."""

    def luminance(text):
        parts = [int(text[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        light = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
        return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]

    low, high = sorted((luminance(colour), luminance(paper)))
    return (high + 0.05) / (low + 0.05)


def test_lines_stand_out_from_the_paper():
    day = {colour: contrast(colour, style.PAPER) for colour in style.PALETTE}
    night = {colour: contrast(colour, NIGHT["paper"]) for colour in style.PALETTE_ON_DARK}
    assert {colour for colour, found in (day | night).items() if found < 3} == set()


def test_28_laws_differ_in_colour_or_dash():
    looks = [style.Look(place) for place in range(28)]
    assert len({(look.colour, look.pattern) for look in looks}) == 28
    assert len({look.colour for look in looks}) == 7
    for one, next_one in pairwise(looks):
        assert one.pattern != next_one.pattern, "neighbours differ without colour too"


def test_many_long_names_leave_space_for_the_picture(made):
    qdiscs = [f"red:min={low} packets,max={low + 60} packets,gentle=false" for low in range(9)]
    runs = tuple(replace(made.runs[0], qdisc=qdisc) for qdisc in qdiscs)
    one = made.series.filter((pl.col("qdisc") == "tail_drop") & (pl.col("seed") == 1))
    series = pl.concat([one.with_columns(pl.lit(qdisc).alias("qdisc")) for qdisc in qdiscs])
    axes = replace(made, runs=runs, series=series).plot.queue()
    axes.figure.draw_without_rendering()
    assert axes.get_position().height * axes.figure.get_figheight() > 2, "inches"


def test_a_microsecond_run_is_shown_in_microseconds(folder):
    fast = {
        "duration": "200 us",
        "warmup": "20 us",
        "sample": "500 ns",
        "bottleneck.rate": "50 Gbit/s",
        "bottleneck.delay": "500 ns",
        "flows.0.access.rate": "50 Gbit/s",
        "flows.0.access.delay": "300 ns",
        "flows.0.start": "0 s",
    }
    result = sj.run(sj.load(folder / "small.toml", fast))
    axes = result.plot.delay()
    assert axes.get_xlabel() == "time, µs"
    assert axes.get_xlim() == pytest.approx((0, 200))
    assert axes.get_ylabel() in ("sojourn, µs", "sojourn, ns")
    assert words.fitted(result, metrics.SOJOURN_MEAN_S).unit in ("µs", "ns")
    assert words.fitted(result, metrics.GOODPUT_BPS).unit == "Gbit/s"
    page = result.report(folder / "page.html").read_text()
    assert "The run lasts 200&nbsp;µs, the first 20&nbsp;µs not measured." in page
    assert re.search(r"mean delay of [0-9.]+&nbsp;(µs|ns)", page)


def test_the_network_names_every_group_and_the_link(made):
    texts = {text.get_text() for text in made.plot.network().texts}
    assert {"8 × bulk (newreno)", "ECN, 1000 B", "20 Mbit/s, 8 to 12 ms", "8 receivers"} <= texts
    assert {"40 packets", "2 Mbit/s", "5 ms"} <= texts
    groups = [{"count": 1, "cc": "reno"}, *({"count": 2, "cc": "newreno"} for _ in range(6))]
    many = replace(made, scenario={**made.scenario, "flows": groups})
    texts = {text.get_text() for text in many.plot.network().texts}
    assert {"1 × reno", "1 receiver", "8 more flows"} <= texts


def test_a_result_without_any_packets_has_a_page(folder):
    sc = sj.load(folder / "small.toml", {"flows.0.start": "5.9999 s", "duration": "6 s"})
    page = sj.run(sc).report(folder / "page.html").read_text()
    assert "The runs delivered no packets after the warm-up." in page


def test_plots_leave_pyplot_alone(made, monkeypatch):
    # Other tests, and SALib, may have imported it.
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    made.plot.queue()
    assert "matplotlib.pyplot" not in sys.modules


def test_the_line_is_the_mean_of_the_seeds_and_the_band_their_range(made):
    found = bands.over_time(made, "queue_packets", 10)[0]
    step = bands.step_s(made, 10)
    table = made.series.filter(
        (pl.col("name") == "queue_packets")
        & (pl.col("qdisc") == found.variant.qdisc)
        & (pl.col("time") < step + 1e-9)
    )
    means = table.group_by("seed").agg(pl.col("value").mean())["value"]
    assert found.mean[0] == pytest.approx(means.mean())
    assert found.low[0] == pytest.approx(means.min())
    assert found.high[0] == pytest.approx(means.max())
    assert np.all(found.low[1:] <= found.high[1:])


@pytest.mark.parametrize("law", [entry["name"] for entry in catalogue.entries("laws")])
def test_bins_of_drops_and_marks_are_shares_of_the_packets_offered(folder, law):
    changed = {"sample": "10 ms", "bottleneck.buffer": "150 packets", "flows.0.count": "25"}
    result = sj.run(sj.load(folder / "small.toml", changed), qdiscs=law)
    (run,) = result.runs
    warmup, step = 1.0, 0.25
    rows = result.series.filter((pl.col("name") == "offered_packets") & (pl.col("time") > warmup + 1e-9))
    edges = np.arange(warmup, 6 + step, step) + 1e-6  # a step belongs to the bin in which it ends
    packets = np.histogram(rows["time"], edges, weights=rows["value"])[0]
    assert packets.max() > 1.2 * packets.min(), "or weights would not matter"
    for ratio in ("drop_ratio", "mark_ratio"):
        (band,) = bands.binned(bands.samples(result, ratio), step)
        found = np.nan_to_num(band.mean[band.x > warmup])
        assert np.average(found, weights=packets) == pytest.approx(run.metrics[ratio], rel=1e-9), ratio
    assert run.metrics["drop_ratio"] + run.metrics["mark_ratio"] > 0, "a law that does nothing proves nothing"


COUNTS = ["offered_packets", "dropped_packets", "marked_packets"]


def test_an_older_result_without_the_packets_offered_has_bins_too(made):
    older = replace(made, series=made.series.filter(~pl.col("name").is_in(COUNTS)))
    assert np.nanmax(older.plot.drops().get_lines()[0].get_ydata()) > 0


def test_the_delay_curve_rises_to_one(made):
    for band in bands.distribution(made, "sojourn_s", np.linspace(0, 10, 100)):
        assert np.all(np.diff(band.mean) >= 0)
        assert band.mean[-1] == 1.0


def test_the_tails_are_those_of_the_distribution(made):
    axes = made.plot.delay_ccdf()
    for line, qdisc in zip(axes.get_lines(), made.qdiscs, strict=True):
        delays, shares = line.get_xdata() / 1000, line.get_ydata()
        assert np.all(np.diff(shares) <= 0)
        assert shares[0] > 0.5, "the median is in the picture"
        p99 = np.mean(list(made.values(qdisc, "sojourn_p99_s").values()))
        assert np.interp(-0.01, -shares, delays) == pytest.approx(p99, rel=0.1)


def test_what_is_equal_under_every_law_is_one_line():
    laws = {"pie": columns(0.02, 0.0), "pi": columns(0.05, 0.001)}
    varied, same = differing.split(invented(laws), metrics.SUMMARY)
    assert same == "The same under every qdisc: utilisation 99.0 %, marks 0.0 %."
    assert metrics.DROP_RATIO in varied
    assert metrics.JAIN_INDEX not in varied, "nobody has it"
    varied, same = differing.split(invented({"pie": columns(0.02, 0.0)}), metrics.SUMMARY)
    assert same == ""
    assert metrics.MARK_RATIO in varied


def test_the_page_leaves_out_the_columns_that_the_terminal_leaves_out(made):
    laws = {"pie": columns(0.02, 0.0), "pi": columns(0.05, 0.001)}
    laws["pie"]["jain_index"], laws["pi"]["jain_index"] = [0.977, 0.99, 0.96], [0.982, 0.97, 0.98]
    result = replace(made, runs=invented(laws).runs)
    shown, (line,) = differing.differing(result)
    assert "Not distinguished by 3 seeds: Jain index 0.976 to 0.977." in line
    summary = comparison.summary(result)
    heads = re.findall(r'<th scope="col">([^<]+)<span', summary)
    assert heads == [column.short for column in shown]
    assert line.removesuffix(" --all has all metrics.") in summary.replace("&nbsp;", " ")


class Page(HTMLParser):
    """Collects a page's external references, its ids, and its text."""

    def __init__(self, text):
        super().__init__()
        self.outside, self.ids, self.words, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "action") and not (value or "").startswith("#"):
                self.outside.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def page(made, tmp_path_factory):
    """The page's text."""
    return made.report(tmp_path_factory.mktemp("page") / "report.html").read_text()


def test_the_page_loads_nothing(page):
    seen = Page(page)
    assert seen.outside == []
    assert "link" not in seen.tags
    assert "default-src 'none'" in page, "the browser itself refuses to load anything"
    assert "@import" not in page
    assert not re.findall(r"url\((?!#)", page)
    hosts = set(re.findall(r"https?://[^\s\"'<>]+", page))
    assert hosts <= {"http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg"}


def test_the_page_runs_no_script_but_those_that_its_policy_names(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    assert rules["script-src"].split() == [f"'sha256-{found}'" for found in hashes]
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert not re.search(r"<[^>]* on[a-z]+=", page), "no handler in an attribute"


def test_the_page_carries_uplot_once_with_its_licence(page):
    assert page.count("var uPlot=") == 1
    assert page.count("Permission is hereby granted, free of charge") == 1
    assert "Copyright (c) 2022 Leon Sorokin" in page


def test_ids_are_unique_and_references_find_them(page):
    ids = Page(page).ids
    assert len(ids) == len(set(ids))
    for name in re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", page):
        assert (name[0] or name[1]) in ids


def test_every_figure_is_well_formed_and_follows_the_theme(page):
    pictures = re.findall(r"<svg (?!class=\"chip).*?</svg>", page, flags=re.S)
    assert len(pictures) == 7 + 1 + 3 * 3, "charts, the network, and three for three widths"
    for picture in pictures:
        ElementTree.fromstring(picture.replace("<svg ", '<svg xmlns:xlink="x" ', 1))
        assert "var(--qdisc-" in picture
        assert "var(--muted)" in picture
        assert "<style" not in picture
        assert 'role="img"' in picture
        colours = set(re.findall(r"#[0-9a-f]{6}\b", picture))
        assert colours <= {"#000000"}, "every visible colour comes from the style sheet"


def test_numbers_in_pictures_keep_their_digits():
    figure = Figure()
    figure.text(0.5, 0.5, "99.975 %")
    assert ">99.975 %<" in svg(figure, "x", "spoken")


def test_the_page_shows_the_table_the_command_and_the_scenario(page, made):
    text = " ".join(" ".join(Page(page).words).split())
    assert "Eight flows on a small link" in text
    flows = "8 long flows (newreno, access links of 8 ms to 12 ms one way, with ECN, packets of 1000 B)"
    assert f"{flows} share a link of 2 Mbit/s" in text
    for variant in made.variants:
        mean, _, half = words.cell(made, variant, metrics.QUEUE_MEAN_PACKETS).partition(" ± ")
        assert mean in text
        assert f"± {half}" in text
    for section in (
        "network",
        "tradeoff",
        "summary",
        "differences",
        "queue",
        "delay",
        "marks",
        "use",
        "repeat",
    ):
        assert f'id="{section}"' in page
    for chart in ("queue", "delay", "ccdf", "drops", "marks", "utilization", "window"):
        assert f'data-chart="{chart}"' in page
    assert "1 to 3" in text
    assert "prefers-color-scheme: dark" in page
    assert 'data-theme="dark"' in page
    assert "@media print" in page


def test_differences_are_paired_by_seed(made, page):
    other, first = (made.values(qdisc, "queue_mean_packets") for qdisc in reversed(made.qdiscs))
    paired = ttest_rel(list(other.values()), list(first.values()))
    interval = paired.confidence_interval(0.95)
    found = words.difference_to(made, made.variants[1], made.qdiscs[0], metrics.QUEUE_MEAN_PACKETS)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    text = page[page.index('id="differences"') : page.index('id="queue"')]
    mean, _, half = words.with_half(found).partition(" ± ")
    assert f'{mean.replace("-", "−")}<span class="half">± {half}</span>' in text
    assert "Differences to tail_drop" in text


def test_differences_of_percentages_are_percentage_points(made, page):
    assert made.plot.differences("utilization").get_xlabel() == "utilisation, pp more than tail_drop"
    assert (
        made.plot.differences("queue_mean_packets").get_xlabel() == "queue mean, packets more than tail_drop"
    )
    start = page.index('id="differences"')
    before, after = page[:start], page[start : page.index('id="queue"')]
    assert 'utilisation<span class="unit">pp</span>' in after
    assert 'data-name="drops, pp"' in after
    assert "pp: percentage points." in after
    assert ">pp<" not in before


def test_intervals_end_where_the_metric_does():
    wide = columns(0.02, 0.0, 0.99)
    wide |= {"utilization": [0.9, 0.99, 0.999], "drop_ratio": [0.0, 0.0, 0.02]}
    result = invented({"red": wide, "pi": columns(0.02, 0.01)})
    assert words.scaled(result, result.variants[0], metrics.UTILIZATION).high > 100
    assert words.scaled(result, result.variants[0], metrics.DROP_RATIO).low < 0
    assert result.plot.summary("utilization").get_xlim()[1] == 100
    assert result.plot.summary("drop_ratio").get_xlim()[0] == 0
    assert result.plot.differences("utilization", baseline="pi").get_xlim()[0] < 0


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_differences_may_be_taken_to_another_law(sojourn, refused, folder):
    sojourn("run", "small.toml", "--qdisc", "tail_drop", "--qdisc", RED, "--seeds", "1..2", "--out", "out")
    assert sojourn("report", "out", "--baseline", "red").returncode == 0
    assert "<h2>Differences to red</h2>" in (folder / "out" / "report.html").read_text()
    (line,) = refused("report", "out", "--baseline", "pie")
    assert line == (
        'sojourn report: --baseline: "pie" is not a qdisc here; '
        "expected tail_drop or red:min=5 packets,max=15 packets"
    )


def test_a_single_law_has_no_differences(scenario, tmp_path):
    page = sj.run(scenario, seeds=[1]).report(tmp_path / "page.html").read_text()
    assert "Differences to" not in page
    assert "One seed: no intervals." in page
    assert page.count("at a mean delay of") == 1, "a sentence stands once"
    assert 'id="means"' not in page
    assert 'Tails of the delay<span class="unit"></span>' in page


@pytest.mark.parametrize(
    "values",
    [
        [],
        [np.nan],
        [5.0, 5.0],
        [np.nan, 1.0, np.nan, -3.5, 1e9, np.nan],
        *(np.cumsum(np.random.default_rng(seed).normal(size=5000)) * 10.0**seed for seed in (0, 3, 6)),
    ],
)
def test_packed_columns_are_read_back_to_half_a_quantum(values):
    values = np.array(values, dtype=np.float64)
    packed = packing.pack(values)
    back = packing.unpack(packed)
    assert np.array_equal(np.isnan(back), np.isnan(values))
    kept = np.isfinite(values)
    assert np.all(np.abs(back[kept] - values[kept]) <= 0.51 * packed[1])
    assert packed[1] <= (np.ptp(values[kept]) if kept.any() else 0) / 16000


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_the_command_to_repeat_it_is_on_the_page(sojourn, folder):
    sojourn(
        "run", "small.toml", "--qdisc", "red:min=5 packets,max=15 packets", "--seeds", "1..2", "--out", "out"
    )
    done = sojourn("report", "out", "-o", "page.html")
    assert done.stdout == "page.html\n"
    text = " ".join(Page((folder / "page.html").read_text()).words)
    assert (
        "sojourn run small.toml \\\n    --qdisc 'red:min=5 packets,max=15 packets' \\\n"
        "    --seeds 1..2 \\\n    --out out"
    ) in text


class Timid(sj.Controller):
    """Marks one packet in a hundred where there are <b>any</b>."""

    period = "10 ms"

    def update(self, obs):
        return 0.01 if obs.backlog_packets > 0 else 0.0


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_the_page_of_a_result_of_python_has_the_calls_and_the_laws(scenario, tmp_path):
    result = sj.run(scenario, qdiscs=["tail_drop", Timid()], seeds=[1, 2, 3])
    page = result.report(tmp_path / "page.html").read_text()
    text = "".join(Page(page[page.index('id="repeat"') :]).words)
    assert (
        'scenario = sj.load("scenario.toml")  # the one below\n'
        "law = ...  # Timid: its source is below\n"
        'result = sj.run(scenario, qdiscs=["tail_drop", law], seeds=range(1, 4))\n'
    ) in text
    assert "The source of Timid" in text
    assert "where there are <b>any</b>" in text
    assert "<b>any" not in page
    alone = replace(result, provenance={**result.provenance, "laws": {"Timid": None}})
    assert "Python had no source of it." in alone.report(tmp_path / "page.html").read_text()
    written = sj.Result.read(result.write(tmp_path / "out"))
    assert "The source of Timid" in written.report(tmp_path / "page.html").read_text()


def test_the_calls_are_python_that_gives_the_result_again(made, page, folder, monkeypatch):
    text = "".join(Page(page[page.index('id="repeat"') :]).words)
    (folder / "small.toml").rename(folder / "scenario.toml")
    monkeypatch.chdir(folder)
    names = {}
    exec(text[text.index("import sojourn") : text.index("result.report")], names)
    assert names["result"].runs == made.runs


@pytest.mark.slow
def test_an_unwritable_home_is_no_error(made, sojourn, folder):
    made.write(folder / "out")
    nowhere = {"HOME": "/proc/nowhere", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "MPLCONFIGDIR": ""}
    done = sojourn("report", "out", env=nowhere)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("undrawn")
def test_the_page_may_go_into_a_new_folder(made, sojourn, refused, folder):
    made.write(folder / "out")
    assert sojourn("report", "out", "-o", "deep/er/x.html").returncode == 0
    assert (folder / "deep" / "er" / "x.html").is_file()
    refused("report", "out", "-o", "other/x.html", "--baseline", "codel")
    assert not (folder / "other").exists()


@pytest.mark.usefixtures("undrawn")
def test_the_report_goes_into_the_folder_by_default(sojourn, folder):
    sojourn("run", "small.toml", "--out", "out")
    assert sojourn("report", "out").stdout == "out/report.html\n"
    assert (folder / "out" / "report.html").is_file()


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_a_page_that_is_renewed_keeps_its_baseline(made, tmp_path):
    place = made.write(tmp_path / "out")
    made.report(place / "report.html", baseline=made.qdiscs[1])
    made.write(place)
    assert "<h2>Differences to red</h2>" in (place / "report.html").read_text()
    one = partly(made, {"tail_drop": (1, 2), RED.replace("packets", " packets"): ()})
    one.write(place)
    assert "<h2>Differences" not in (place / "report.html").read_text(), "the qdisc is gone"


def test_a_page_is_the_same_each_time(made, page, tmp_path):
    assert made.report(tmp_path / "again.html").read_text() == page


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("place", ["out", "small.toml/page.html", "small.toml/deeper/page.html"])
def test_an_unwritable_page_is_one_line(sojourn, refused, place):
    sojourn("run", "small.toml", "--out", "out")
    (line,) = refused("report", "out", "-o", place)
    assert line.startswith(f"{place}: ")
    assert "expected " in line


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_texts_of_the_user_cannot_break_the_page(sojourn, folder):
    path = folder / "small.toml"
    path.write_text(path.read_text().replace("Eight flows", "<script>alert(1)</script> & flows"))
    sojourn("run", "small.toml", "--out", "out")
    sojourn("report", "out")
    page = (folder / "out" / "report.html").read_text()
    assert "<script>alert" not in page
    assert page.count("<script") == 3, "the numbers, uPlot and our own"
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; flows" in page


def test_two_variants_of_a_law_are_named_by_their_differences():
    assert words.short_names(["pi", "red:min=1,gentle=false", "red:min=2,gentle=false"]) == {
        "pi": "pi",
        "red:min=1,gentle=false": "red:min=1",
        "red:min=2,gentle=false": "red:min=2",
    }
    assert list(words.short_names(["pi", "pi:target=2"]).values()) == ["pi", "pi:target=2"]


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (285.844, 1.33, "285.8 ± 1.3"),
        (0.98823, 0.00034, "0.988"),
        (12345.6, 987.0, "12346 ± 987"),
        (0.0, 0.0, "0"),
        (100.00000000001428, 2e-13, "100.0"),
        (99.95, None, "99.95"),
        (0.0, None, "0"),
    ],
)
def test_numbers_have_the_digits_of_their_accuracy(mean, half, text):
    low, high = (None, None) if half is None else (mean - half, mean + half)
    assert words.with_half(Estimate(3, mean, low, high)) == text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([40.0, 100.0], "70.00"),
        ([60.0, 90.0, 99.0], "83, 32 to 100"),
        ([60.0, 61.0, 62.0], "61.0 ± 2.5"),
        ([50.0], "50.00"),
    ],
)
def test_a_score_has_no_interval_beyond_its_bounds(values, text):
    result = invented({"pi": {"r_factor": values}})
    assert words.cell(result, result.variants[0], metrics.R_FACTOR) == text


def test_the_setting_describes_the_schedule():
    sentences = setting.sentences(
        {
            "duration": "60 s",
            "warmup": "0 s",
            "bottleneck": {"rate": "10 Mbit/s"},
            "flows": [{"count": 1, "cc": "reno"}],
            "at": [{"time": "40 s", "set": {"bottleneck.rate": "6 Mbit/s"}}],
        }
    )
    assert sentences == [
        "1 long flow (reno, without ECN) shares a link of 10 Mbit/s.",
        "The run lasts 60 s.",
        "At 40 s, bottleneck.rate becomes 6 Mbit/s.",
    ]


ODD = ["$x^2$", "_hidden", "<script>alert(1)</script>", 'it\'s "so"', "[b]bold[/b]", "队列"]


@pytest.fixture(scope="module")
def odd(made):
    """A result whose laws have labels with special characters of Matplotlib, HTML or a terminal."""
    base = made.series.filter((pl.col("qdisc") == "tail_drop") & (pl.col("seed") == 1))
    spread = made.distributions.filter((pl.col("qdisc") == "tail_drop") & (pl.col("seed") == 1))
    return replace(
        made,
        runs=tuple(replace(made.runs[0], qdisc=qdisc) for qdisc in ODD),
        series=pl.concat([base.with_columns(pl.lit(qdisc).alias("qdisc")) for qdisc in ODD]),
        distributions=pl.concat([spread.with_columns(pl.lit(qdisc).alias("qdisc")) for qdisc in ODD]),
    )


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_shown_as_they_were_written(odd, tmp_path):
    drawn = odd.plot.queue()
    (legend,) = drawn.figure.legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert [name.replace("\\$", "$").lstrip("\u200b") for name in shown] == ODD
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        drawn.figure.savefig(tmp_path / "queue.svg")
        odd.plot.summary().figure.savefig(tmp_path / "summary.svg")
    for name in ("queue.svg", "summary.svg"):
        text = unescape((tmp_path / name).read_text())
        assert "$x^2$" in text, "letters, no formula"
        assert "_hidden" in text


def test_names_cannot_break_the_page_or_the_table(odd, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # fonts may lack glyphs
        page = odd.report(tmp_path / "page.html").read_text()
    assert "<script>alert" not in page
    assert page.count("<script") == 3, "the numbers, uPlot and our own"
    for picture in re.findall(r"<svg (?!class=\"chip).*?</svg>", page, flags=re.S):
        ElementTree.fromstring(picture.replace("<svg ", '<svg xmlns:xlink="x" ', 1))
    text = " ".join(Page(page).words)
    for name in ODD:
        assert name in text
    table = running.summary(odd)
    assert "[b]bold[/b]" in table.replace("\n", "")


def test_a_list_in_parameters_is_one_parameter():
    names = words.short_names(["arm_pfc:coincidence=[8,12],target=50 packets", "arm_pfc:coincidence=[8, 20]"])
    assert list(names.values()) == ["arm_pfc:coincidence=[8,12],target=50", "arm_pfc:coincidence=[8, 20]"]
    alike = ["pi:a=5 packets", "pi:a=5"]
    assert list(words.short_names(alike).values()) == alike, "two laws never share a name"


def test_bands_keep_their_opacity(page):
    assert f"opacity:{style.BAND_ALPHA}" in page


def test_the_caption_on_paper_is_that_of_the_still_picture(made, page):
    step = bands.step_s(made, 200)
    assert f'<span class="step">{step:g}</span><span class="paper">{step:g}</span> s.' in page


@pytest.mark.usefixtures("undrawn")
def test_a_pipe_is_written_into_and_stays_a_pipe(made, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")), daemon=True)
    reader.start()
    made.report(pipe)
    reader.join(timeout=10)
    assert pipe.is_fifo()
    assert read[0].startswith("<!DOCTYPE html>") or read[0].startswith("<!doctype html>")


def test_datagrams_are_described_with_their_rate():
    cbr = {"cbr": {"rate": "1 Mbit/s"}}
    group = {"count": 2, "app": cbr, "cc": None, "profile": None, "segment": "200 B"}
    sentences = setting.sentences({"flows": [group]})[0]
    assert sentences.startswith("2 cbr flows (1 Mbit/s, UDP, without ECN, packets of 200 B) share")
    ping = {"ping": {"every": "200 ms", "size": {"exponential": "84 B"}}}
    group = {"count": 1, "app": ping, "segment": None}
    sentences = setting.sentences({"flows": [group]})[0]
    assert sentences.startswith(
        "1 ping flow (one each 200 ms, UDP, without ECN, packets of exponential 84 B)"
    )
    bulk = {"count": 1, "app": "bulk", "cc": "cubic", "profile": "ns2"}
    group = bulk | {"tcp": {"sack": False, "timestamps": True}}
    sentences = setting.sentences({"flows": [group]})[0]
    assert "(cubic, without SACK, with timestamps, ns2 profile, without ECN)" in sentences


def test_a_class_without_a_name_is_described_without_its_stream(folder):
    groups = '[[flows]]\n\n[[flows]]\nfrom = "right"\nto = "left"\n'
    link = '[bottleneck]\nrate = "9 Mbit/s"\ndelay = "5 ms"\nbuffer = "40 packets"\n'
    (folder / "right.toml").write_text(f'title = "Right"\nduration = "2 s"\n{link}{groups}')
    scenario = json.loads(sj.load(folder / "right.toml").to_json())
    assert any(group.get("stream") for group in scenario["flows"])
    assert "stream" not in " ".join(setting.sentences(scenario))


@pytest.mark.slow
def test_the_pictures_of_many_links_and_classes_fit(tmp_path):
    result = sj.run(sj.load("networks/tree", {"duration": "4 s", "warmup": "2 s", "at": "[]"}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.report(tmp_path / "page.html")
