"""Figures and tables of a made-up paper, and the faults of their keys."""

import re
from html import unescape

import numpy as np
import pytest

from sojourn.errors import InputError
from sojourn.reproduce import Reproduction
from sojourn.reproduce.drawing import column, draw
from sojourn.reproduce.figures import KINDS
from sojourn.reproduce.page import page
from sojourn.reproduce.paper import names, parse, read, split
from sojourn.reproduce.runs import Samples, carry_out, figure_command

LAWS = {
    "own": {
        "marks": {"qdisc": "pi:target=20packets", "origin": "printed"},
        "drops": {"qdisc": "pi:target=20packets", "origin": "no ECN", "set": {"flows[0].ecn": False}},
    },
    "plain": {"only": {"qdisc": "tail_drop", "origin": "none"}},
}
EXPERIMENT = {
    "scenario": "arm_pfc/exp1",
    "laws": ["own", "plain"],
    "set": {"duration": "4 s", "warmup": "1 s"},
    "windows": {"late": "3 s..4 s", "each": "every 1 s"},
    "controls": {"tail_drop": "tail_drop", "pi_rule": "pi:target=20packets"},
    "seeds": 2,
    "quick_seeds": 1,
}
QUEUE = {"laws": ["own.marks", "own.drops"], "metrics": ["queue_mean_packets"], "title": "Queue."}
AT = {"few": "v.few", "many": "v.many"}
FIGURES = [
    QUEUE | {"item": "Fig. 1", "kind": "over", "at": AT, "x": "load", "paper": {"own": [20, 30]}},
    QUEUE
    | {"item": "Fig. 2", "kind": "laws", "of": "e", "paper": {"own": [20]}, "metrics": ["late.mark_ratio"]},
    QUEUE | {"item": "Fig. 3", "kind": "boxes", "at": AT, "x": "load", "metrics": ["each.goodput_bps"]},
    QUEUE | {"item": "Fig. 4", "kind": "cdf", "of": "e", "metrics": ["each.queue_mean_packets"]},
    QUEUE | {"item": "Fig. 5", "kind": "series", "of": "e", "every": "0.5 s", "level": 20},
    QUEUE | {"item": "Fig. 6", "kind": "series", "at": AT, "x": "load", "every": "1 s"},
    QUEUE | {"item": "Fig. 7", "kind": "series", "of": "e", "every": "1 s", "quick": False},
]
TABLES = [
    {
        "item": "Table 1",
        "title": "Queues.",
        "settings": {"own": "drops"},
        "rows": [{"of": "sum", "paper": "40", "ours": "both(e) + 1"}],
    }
]


def paper(figures=FIGURES, tables=TABLES, **experiment):
    return parse(
        "made_up",
        {
            "title": "T",
            "reference": "R",
            "laws": LAWS,
            "experiments": {
                "e": EXPERIMENT | experiment,
                "v": EXPERIMENT | {"variants": {"few": {"flows[0].count": 10}, "many": {}}},
            },
            "measures": {"both": "{}.own.queue_mean_packets + {}.plain.queue_mean_packets"},
            "claims": [],
            "figures": figures,
            "tables": tables,
        },
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    of, out = paper(), tmp_path_factory.mktemp("stores")
    return Reproduction(of, [], carry_out(of, out, 1), quick=False), out


def test_each_kind_has_a_picture_with_its_laws(ran):
    of, _ = ran
    text = page(of)
    assert {figure.kind for figure in of.paper.figures} == set(KINDS) - {"curves"}
    for figure in of.paper.figures:
        assert f'aria-label="{figure.item}: Queue."' in text
        axes = draw(of, figure).axes
        assert all(ax.get_xlabel() or ax.get_ylabel() for ax in axes)
    assert text.count("<svg") == len(FIGURES)


def test_captions_have_seeds_window_and_the_papers_values(ran):
    of, _ = ran
    text = page(of)
    assert "2 seeds; window: the time after 1 s; means with 95 % intervals; diamonds" in text
    assert "window: 3 s..4 s" in text
    assert "Seed 1, means of 0.5 s each; pale" in text
    assert "dashed: 20" in text


def test_the_claims_are_as_wide_as_the_page(ran):
    """Names and grades are narrow columns, and the reasons have the most room."""
    text = page(ran[0])
    assert "main { max-width: 1760px;" in text
    head = re.search(r'<section id="claims">.*?<thead><tr>(.*?)</tr>', text, re.DOTALL)[1]
    widths = dict(re.findall(r'<th(?: class="(\w+)")?>(\w+)</th>', head))
    assert widths == {"name": "id", "": "ours", "few": "grade", "most": "why"}


def test_experiments_have_their_setting_and_what_is_measured(ran):
    of, _ = ran
    text = page(of)
    assert "The run lasts 4 s, the first 1 s not measured." in unescape(text).replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert "Windows of predicates: late: 3 s..4 s; each: every 1 s." in text


def test_the_papers_values_are_diamonds(ran):
    of, _ = ran
    (ax,) = draw(of, of.paper.figures[1]).axes
    diamonds = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "D"]
    # In the unit of the axis: per cent.
    assert diamonds == [2000, 2000]


def test_a_series_is_of_one_seed_and_follows_the_windows(ran):
    of, out = ran
    times, values = of.samples.series["fig__5", "", of.paper.laws["own"][0].key, "queue_mean_packets"]
    assert times.tolist() == [0.25 + 0.5 * place for place in range(8)]
    assert values.max() > 0
    assert "made_up.fig__5.sweep" in {one.name for one in out.iterdir()}
    first, second = figure_command(of.paper, of.paper.figures[4], quick=False).splitlines()
    assert first.endswith("--window 'every 0.5 s'")
    assert "--seeds 1..1" in first
    assert "ecn=false" in second


def test_a_series_at_several_places_has_a_panel_each(ran):
    of, out = ran
    figure = of.paper.figures[5]
    axes = draw(of, figure).axes
    titles = [
        "own, marks; load: few",
        "own, drops; load: few",
        "own, marks; load: many",
        "own, drops; load: many",
    ]
    assert [ax.get_title(loc="left") for ax in axes] == titles
    few, many = (
        of.samples.series["fig__6", at, of.paper.laws["own"][0].key, "queue_mean_packets"] for at in AT
    )
    # In the first second.
    assert few[1][0] < many[1][0]
    assert {f"made_up.fig__6.{at}.sweep" for at in AT} <= {one.name for one in out.iterdir()}
    assert (
        sum(
            "flows[0].count=10" in line for line in figure_command(of.paper, figure, quick=False).splitlines()
        )
        == 2
    )


def test_curves_may_be_points_or_have_logarithmic_axes():
    found = read("cpc")
    magnitude, poles = (
        one for one in found.figures if one.name in ("fig__2_b___magnitude", "fig__2_b___poles")
    )
    of = Reproduction(found, [], Samples(), quick=False)
    (ax,) = draw(of, magnitude).axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    (ax,) = draw(of, poles).axes
    assert [line.get_marker() for line in ax.lines[:3]] == ["o", "x", "+"]


def test_commands_of_a_figure_are_those_of_its_experiments(ran):
    of, _ = ran
    lines = figure_command(of.paper, of.paper.figures[0], quick=True).splitlines()
    assert len(lines) == 4
    assert sum("flows[0].count=10" in line for line in lines) == 2


def test_with_quick_costly_series_are_left_out(tmp_path):
    of = paper(figures=[FIGURES[-1]], tables=[])
    found = Reproduction(of, [], carry_out(of, tmp_path, 1, quick=True), quick=True)
    assert not found.samples.series
    assert "Queue. Left out with few seeds." in page(found)


def test_with_quick_what_did_not_run_is_a_line_and_no_row(tmp_path):
    """Settings without a sample, and rows of a table that have no number."""
    rows = [*TABLES[0]["rows"], {"of": "spread", "paper": "3", "ours": "std(e.own.queue_mean_packets)"}]
    of = paper(figures=[], tables=[TABLES[0] | {"rows": rows}])
    samples = carry_out(of, tmp_path, 1, quick=True)
    gone = of.laws["own"][1].key
    samples._found = {
        key: found for key, found in samples._found.items() if (key[0], key[1]) != ("v.few", gone)
    }
    text = page(Reproduction(of, [], samples, quick=True))
    few, many = (
        re.search(rf'<section id="{name}">.*?</section>', text, re.DOTALL)[0] for name in AT.values()
    )
    assert '<p class="note">Did not run in --quick: own, drops.</p>' in few
    assert '<th scope="row">own, drops</th>' not in few
    assert "Did not run" not in many
    assert '<th scope="row">own, drops</th>' in many
    assert '<th scope="row">spread</th>' not in text
    assert "Left out with few seeds: spread." in text


def test_a_table_has_ours_beside_the_papers(ran):
    of, _ = ran
    text = page(of)
    row = re.search(r"<th scope=\"row\">sum</th><td>40</td><td>([\d.]+)</td><td>([\d.]+) to", text)
    assert row
    assert float(row[1]) > float(row[2])


def test_a_row_that_is_a_median_has_the_interval_of_order_statistics(tmp_path):
    """Of six seeds it is their range."""
    rows = [{"of": "median", "paper": "20", "ours": "quantile(e.plain.queue_mean_packets, 0.5)"}]
    of = paper(figures=[], tables=[TABLES[0] | {"rows": rows}], laws=["plain"], seeds=6)
    samples = carry_out(of, tmp_path, 1)
    values = samples.of(split("e.plain.queue_mean_packets", of.name, of.experiments), "tail_drop")
    cells = (f"{np.median(values):.4g}", f"{min(values):.4g} to {max(values):.4g}", "6")
    row = "".join(f"<td>{cell}</td>" for cell in ("20", *cells))
    assert f'<th scope="row">median</th>{row}' in page(Reproduction(of, [], samples, quick=False))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "pie"}, "Fig. 2.kind: 'pie' is no kind; expected over, laws"),
        ({"colour": "red"}, "Fig. 2: colour is no key of it"),
        ({"of": "g"}, 'Fig. 2: "g" is no experiment; expected e, v.few'),
        ({"laws": ["own.best"]}, '"own.best" is no setting of a law; expected some of own.marks'),
        ({"metrics": ["early.mark_ratio"]}, "Fig. 2: .* is no sample"),
        ({"metrics": ["mark_rate"]}, '"mark_rate" is no metric'),
    ],
)
def test_faults_of_a_figure_are_one_line(change, words):
    with pytest.raises(InputError, match=words) as found:
        paper(figures=[FIGURES[1] | change])
    assert len(found.value.lines) == 1


def test_curves_are_drawn_without_runs():
    found = read("pi_pd")
    (figure,) = [one for one in found.figures if one.kind == "curves"]
    (ax,) = draw(Reproduction(found, [], Samples(), quick=False), figure).axes
    assert ax.get_xlabel() == "time, s"
    assert max(ax.lines[0].get_ydata()) > 1.9
    assert figure_command(found, figure, quick=True) == (
        "python3 -c 'from sojourn.reproduce.calculations import pi_pd as of; print(of.CURVES[\"figure3\"]())'"
    )


def test_unknown_curves_are_one_line():
    lines = {"item": "Fig. 7", "title": "T.", "kind": "curves", "of": "none", "x": "t", "y": "q"}
    with pytest.raises(InputError, match=r'Fig. 7.of: "none" are no curves'):
        paper(figures=[lines])


def test_an_item_is_drawn_once():
    with pytest.raises(InputError, match="fig__2 is there twice"):
        paper(figures=[FIGURES[1], FIGURES[1]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"note": "?"}, "Table 1: expected item, title and rows"),
        ({"rows": [{"of": "x", "paper": "1"}]}, "expected of, paper and ours"),
        ({"rows": [{"of": "x", "paper": "1", "ours": "e.own.nothing"}]}, "is no metric"),
        ({"rows": [{"of": "x", "paper": "1", "ours": "1 > 2"}]}, "is no expression"),
    ],
)
def test_faults_of_a_table_are_one_line(change, words):
    with pytest.raises(InputError, match=words):
        paper(tables=[TABLES[0] | change])


def test_all_papers_have_figures_with_units():
    for name in names():
        of = read(name)
        assert of.figures
        for figure in of.figures:
            assert all(column(metric).unit or metric.endswith("index") for metric in figure.metrics)
