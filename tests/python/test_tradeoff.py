"""Delay against utilisation: the front, the ellipses, the names, and the ranking."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from invented import about, invented, measured
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.text import Text

import sojourn as sj
from sojourn.plot import labels, tradeoff
from sojourn.report import tradeoff as section
from sojourn.result import metrics

LAWS = {
    "codel": about(0.02, 0.93),
    "red": about(0.2, 0.9),
    "pie": about(0.04, 0.97),
    "pi": about(0.15, 0.999),
}


def points(result):
    return tradeoff.points(result, metrics.SOJOURN_P95_S, metrics.UTILIZATION)


def test_the_front_has_the_qdiscs_that_none_beats():
    assert [one.variant.qdisc for one in tradeoff.front(points(invented(LAWS)))] == ["codel", "pie", "pi"]


def test_a_thousandth_of_utilisation_is_no_reason_for_more_delay():
    laws = {"pie": about(0.04, 0.97), "pi": about(0.15, 0.9705)}
    assert [one.variant.qdisc for one in tradeoff.front(points(invented(laws)))] == ["pie"]


def two_plants(*delays):
    """Two qdiscs as fluids and packet by packet."""
    laws = {"pie": about(delays[0], 0.96), "pi": about(delays[1], 0.98)}
    once = {name: {key: some[:1] for key, some in law.items()} for name, law in laws.items()}
    fluid = invented(once, plant="fluid")
    packet = invented(laws)
    none = pl.DataFrame(schema={"plant": pl.String})
    runs = (*fluid.runs, *packet.runs)
    return replace(packet, runs=runs, series=none, distributions=none, windows=none)


def test_the_caption_is_true_of_points_within_a_thousandth_and_of_two_plants():
    laws = {"pie": about(0.04, 0.9995), "pi": about(0.15, 0.9999), "red": about(0.2, 1.0006)}
    found = points(invented(laws))
    assert [one.variant.qdisc for one in tradeoff.front(found)] == ["pie", "red"]
    note = section.section(invented(laws))
    assert "no qdisc has less delay at as much utilisation." in note
    assert "Grey: another has no more delay and no less utilisation, within 0.1\u00a0%." in note
    assert "no qdisc of the same plant has less delay" in section.section(two_plants(0.03, 0.05))


def test_an_ellipse_has_one_standard_deviation_of_the_runs():
    rng = np.random.default_rng(3)
    delays = 0.05 + 0.01 * rng.normal(size=40)
    uses = 0.9 + 0.5 * (delays - 0.05) + 0.002 * rng.normal(size=40)
    (one,) = points(invented({"pie": measured(delays.tolist(), uses.tolist())}))
    corners = one.ellipse()
    inverse = np.linalg.inv(np.cov(np.array([one.delays, one.uses]), ddof=0))
    away = corners - np.array(one.centre)
    assert np.einsum("ij,jk,ik->i", away, inverse, away) == pytest.approx(1)
    assert np.ptp(corners[:, 0]) == pytest.approx(2 * np.std(one.delays), rel=0.01)


def test_two_runs_have_no_ellipse():
    (one,) = points(invented({"pie": measured([0.1, 0.2], [0.9, 0.8])}))
    assert one.ellipse() is None


@pytest.mark.parametrize("laws", [LAWS, {"pie": about(0.04, 0.97), "pi": about(0.05, 0.98)}])
def test_delay_falls_to_the_right_and_no_point_is_outside(laws):
    axes = invented(laws).plot.delay_utilization()
    left, right = axes.get_xlim()
    assert left > right
    assert axes.get_xscale() == ("log" if len(laws) > 2 else "linear")
    for line in axes.get_lines():
        if line.get_gid():
            assert right < line.get_xdata()[0] < left
            assert axes.get_ylim()[0] < line.get_ydata()[0] < axes.get_ylim()[1]
    assert {text.get_text() for text in axes.texts} == set(laws)


def test_an_interval_ends_where_the_metric_does():
    laws = LAWS | {"pi": measured([0.1, 0.11, 0.12], [1.0, 1.0, 0.97])}
    axes = invented(laws).plot.delay_utilization()
    assert max(np.max(line.get_ydata()) for line in axes.get_lines()) <= 100


def spread(delay, use, seed, runs=50, deviation=0.05):
    """Metrics of many seeds whose delays deviate by a share."""
    rng = np.random.default_rng(seed)
    delays = delay * (1 + deviation * rng.normal(size=runs))
    return measured(delays.tolist(), np.minimum(1.0, use + 0.001 * rng.normal(size=runs)).tolist())


@pytest.mark.parametrize("slowest", [0.06, 0.6])
def test_ellipses_of_many_seeds_are_whole_and_ellipses(slowest):
    """The interval of fifty seeds is a quarter of their ellipse, which sets the limits."""
    laws = {"codel": spread(0.05, 0.945, 1), "pie": spread(slowest, 0.97, 2)}
    result = invented(laws)
    axes = result.plot.delay_utilization()
    right, left = sorted(axes.get_xlim())
    low, high = axes.get_ylim()
    drawn = [patch.get_xy() for patch in axes.patches if isinstance(patch, Polygon)]
    for corners, one in zip(drawn, points(result), strict=True):
        whole = one.ellipse()
        assert right < whole[:, 0].min() < whole[:, 0].max() < left
        assert low < whole[:, 1].min() < whole[:, 1].max() < high
        assert np.ptp(corners, axis=0) == pytest.approx(np.ptp(whole, axis=0), rel=1e-9)


def test_an_ellipse_is_cut_at_the_metric_s_bound_alone():
    laws = {"pi": spread(0.05, 0.9999, 3), "pie": spread(0.04, 0.97, 4)}
    result = invented(laws)
    (cut, _) = [
        patch.get_xy() for patch in result.plot.delay_utilization().patches if isinstance(patch, Polygon)
    ]
    whole = points(result)[0].ellipse()
    assert whole[:, 1].max() > 100
    assert cut[:, 1].max() == pytest.approx(100)
    below = whole[whole[:, 1] < 100]
    for corner in below:
        assert np.min(np.abs(cut - corner).sum(axis=1)) < 1e-9, "the rest is the ellipse"


def test_another_use_and_an_unknown_one():
    axes = invented(LAWS).plot.delay_utilization("sojourn_mean_s", "goodput_bps")
    assert axes.get_ylabel() == "goodput, Mbit/s"
    with pytest.raises(sj.InputError, match="nonsense"):
        invented(LAWS).plot.delay_utilization(use="nonsense")


def test_names_of_points_apart_do_not_overlap():
    axes = Figure(figsize=(6, 4)).subplots()
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 10)
    labels.beside(axes, [labels.Name(f"name {x}", (5 + x / 10, 5 + x / 10)) for x in range(6)])
    canvas = FigureCanvasAgg(axes.figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    boxes = [Text.get_window_extent(text, renderer) for text in axes.texts]  # without lines to the points
    assert not any(one.overlaps(other) for one in boxes for other in boxes if one is not other)


def test_a_tie_is_on_the_front():
    tied = invented({"pi": about(0.15, 0.999), "red": about(0.15, 0.999), "pie": about(0.04, 0.9)})
    assert {one.variant.qdisc for one in tradeoff.front(points(tied))} == {"pi", "red", "pie"}


def test_names_of_a_pile_overlap_neither_each_other_nor_other_points():
    axes = Figure(figsize=(5, 4)).subplots()
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 10)
    names = [labels.Name(f"law {place}", (3 + place / 8, 10)) for place in range(9)]
    labels.beside(axes, names)
    canvas = FigureCanvasAgg(axes.figure)
    canvas.draw()
    boxes = [Text.get_window_extent(text, canvas.get_renderer()) for text in axes.texts]
    assert not any(one.overlaps(other) for one in boxes for other in boxes if one is not other)
    centres = axes.transData.transform([name.point for name in names])
    covered = [
        (place, index)
        for place, box in enumerate(boxes)
        for index, at in enumerate(centres)
        if box.contains(*at)
    ]
    assert covered == []


def test_the_page_begins_with_the_picture_and_the_ranking(made, tmp_path):
    page = made.report(tmp_path / "page.html").read_text()
    assert page.index('id="tradeoff"') < page.index('id="summary"')
    ranking = page[page.index('<table class="ranking compact sortable">') :]
    ranking = ranking[: ranking.index("</table>")]
    delays = [made.values(qdisc, "sojourn_p95_s") for qdisc in made.qdiscs]
    lowest_first = sorted(range(2), key=lambda place: sum(delays[place].values()))
    assert [int(place) for place in re.findall(r'<tr data-law="(\d)"', ranking)] == lowest_first
    titles = re.findall(r'<g id="tradeoff-wide-law-\d" data-law="(\d)"><title>(\w+): sojourn p95 ', page)
    assert sorted(titles) == [("0", "tail_drop"), ("1", "red")]


def test_the_best_is_ringed_and_marked(made):
    page = section.section(made)
    (row,) = re.findall(r"<tr [^>]*>(?:(?!</tr>).)*best here</span>.*?</tr>", page, re.S)
    assert "red" in row
    assert "Ringed: best here." in page
