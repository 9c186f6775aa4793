"""Delay against utilisation: the front, the ellipses, and the sentence on the lowest delay of a busy link."""

import re

import numpy as np
import pytest
from invented import invented
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

import sojourn as sj
from sojourn.plot import labels, tradeoff
from sojourn.report.tradeoff import demands
from sojourn.result import metrics


def measured(delays, uses):
    """Metrics of a qdisc: p95 delays and utilisations of its seeds."""
    return {
        "sojourn_p95_s": delays,
        "sojourn_mean_s": [delay / 2 for delay in delays],
        "utilization": uses,
        "drop_ratio": [0.01] * len(delays),
        "goodput_bps": [8e6] * len(delays),
    }


def about(delay, use):
    """Three seeds about a delay and a utilisation."""
    return measured([delay - 0.001, delay, delay + 0.001], [use - 0.0005, use, use + 0.0005])


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


@pytest.mark.parametrize(
    ("laws", "sentence"),
    [
        (
            LAWS,
            "codel has the lowest p95 delay: 20 ms, with the link 93.0 % busy. "
            "Of those that keep it at least 95 % busy, pie has 40 ms at 97.0 %. "
            "Of those that keep it at least 99 % busy, pi has 150 ms at 99.9 %.",
        ),
        (
            {"pie": about(0.04, 0.97), "pi": about(0.15, 0.999), "red": about(0.2, 0.9)},
            "pie has the lowest p95 delay: 40 ms, with the link 97.0 % busy. "
            "Of those that keep it at least 99 % busy, pi has 150 ms at 99.9 %.",
        ),
        (
            {"pie": about(0.04, 0.995), "pi": about(0.15, 0.999)},
            "pie has the lowest p95 delay: 40 ms, with the link 99.5 % busy.",
        ),
        (
            {"pie": about(0.04, 0.97), "codel": measured([0.03, 0.05, 0.045], [0.97, 0.98, 0.97])},
            "pie has the lowest p95 delay measured: 40 ms, with the link 97.0 % busy; 3 seeds do not "
            "distinguish it from 41.7 ms under codel.",
        ),
        (
            {"pie": measured([0.04], [0.94]), "pi": measured([0.15], [0.96])},
            "pie has the lowest p95 delay measured: 40 ms, with the link 94.0 % busy. "
            "Of those that keep it at least 95 % busy, pi has 150 ms at 96.0 %. "
            "One seed has no error bars: run five or more.",
        ),
    ],
)
def test_the_sentence_has_the_lowest_delay_for_each_demand(laws, sentence):
    assert demands(invented(laws)) == sentence


def test_loss_is_part_of_the_price_and_a_tie_is_on_the_front(made):
    assert re.search(r"busy, and drops 1\.\d %\. .* tail_drop has .*, and drops \d\.\d %\.", demands(made))
    assert "drops" not in demands(invented(LAWS))
    tied = invented({"pi": about(0.15, 0.999), "red": about(0.15, 0.999), "pie": about(0.04, 0.9)})
    found = tradeoff.points(tied, metrics.SOJOURN_P95_S, metrics.UTILIZATION)
    assert {one.variant.qdisc for one in tradeoff.front(found)} == {"pi", "red", "pie"}


def test_a_demand_that_only_the_mean_meets_is_not_met():
    laws = {"pie": about(0.02, 0.9), "pi": measured([0.1, 0.11, 0.12], [0.999, 0.999, 0.9])}
    assert "95 % busy" not in demands(invented(laws))


def test_the_page_begins_with_the_picture_and_the_ranking(made, tmp_path):
    page = made.report(tmp_path / "page.html").read_text()
    assert page.index('id="tradeoff"') < page.index('id="summary"')
    ranking = page[page.index('<table class="ranking sortable">') :]
    ranking = ranking[: ranking.index("</table>")]
    delays = [made.values(qdisc, "sojourn_p95_s") for qdisc in made.qdiscs]
    lowest_first = sorted(range(2), key=lambda place: sum(delays[place].values()))
    assert [int(place) for place in re.findall(r'<tr data-law="(\d)"', ranking)] == lowest_first
    titles = re.findall(r'<g id="tradeoff-wide-law-\d" data-law="(\d)"><title>(\w+): sojourn p95 ', page)
    assert sorted(titles) == [("0", "tail_drop"), ("1", "red")]
