"""Pictures of a sweep hold the numbers of its summary."""

import numpy as np
import pytest

import sojourn as sj


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    grid = {
        "scenario": "dumbbell",
        "set": {"duration": "41 s", "at": []},
        "axes": {
            "qdisc": ["pi", "codel"],
            "flows": {"key": "flows[0].count", "values": [5, 20, 80]},
            "delay": {"key": "bottleneck.delay", "values": ["5 ms", "50 ms"]},
        },
        "seeds": "1..2",
    }
    return sj.sweep(grid, out=tmp_path_factory.mktemp("sweep") / "plots.sweep")


def means(swept, metric, **at):
    rows = swept.summary(metric).to_dicts()
    return [row["mean"] for row in rows if all(row[name] == value for name, value in at.items())]


def test_curves_are_means_over_an_axis(swept):
    ax = swept.plot.curve("queue_mean_packets", "flows", qdisc="pi")
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert set(lines) == {"5 ms", "50 ms"}
    for name, delay in (("5 ms", 0.005), ("50 ms", 0.05)):
        assert lines[name].get_xdata().tolist() == [5, 20, 80]
        assert lines[name].get_ydata().tolist() == means(swept, "queue_mean_packets", qdisc="pi", delay=delay)
    assert ax.get_xlabel() == "flows"
    over_delay = swept.plot.curve("utilization", "delay", qdisc="pi")
    assert over_delay.get_xlabel() == "delay, ms"
    assert over_delay.get_lines()[0].get_xdata().tolist() == [5, 50]
    assert ax.get_xscale() == "log"
    # Over names, and in the caller's axes.
    named = swept.plot.curve("utilization", "qdisc", flows=20, delay=0.05, ax=swept.plot.cloud())
    assert [tick.get_text() for tick in named.get_xticklabels()] == ["pi", "codel"]


def test_many_curves_have_the_colours_of_one_axis(swept, monkeypatch):
    monkeypatch.setattr("sojourn.sweep.plots.MOST_NAMED", 3)
    ax = swept.plot.curve("utilization", "flows")
    assert len(ax.get_lines()) == 4
    (legend,) = ax.get_figure().legends
    assert [text.get_text() for text in legend.get_texts()] == ["pi", "codel"]
    assert len({line.get_color() for line in ax.get_lines()}) == 2
    assert {line.get_linewidth() for line in ax.get_lines()} == {0.7}


def test_a_map_has_the_means_and_the_border_of_a_claim(swept):
    ax = swept.plot.map("queue_mean_packets", "flows", "delay", qdisc="codel")
    (mesh,) = ax.collections
    found = means(swept, "queue_mean_packets", qdisc="codel")
    # Rows of the map are delays; in the summary delays are the inner axis.
    assert mesh.get_array().reshape(2, 3).T.flatten().tolist() == found
    assert {text.get_text() for text in ax.texts} == {f"{value:.3g}" for value in found}
    assert not ax.get_lines()
    middle = float(np.median(found))
    border = swept.plot.map("queue_mean_packets", "flows", "delay", qdisc="codel", most=middle)
    assert border.get_lines()
    assert not swept.plot.map("queue_mean_packets", "flows", "delay", qdisc="pi", least=0.0).get_lines()


def test_a_cloud_has_a_mark_for_each_point(swept):
    ax = swept.plot.cloud("queue_mean_packets", "utilization")
    pi, codel = ax.get_lines()
    assert (pi.get_label(), codel.get_label()) == ("pi", "codel")
    assert pi.get_xdata().tolist() == means(swept, "queue_mean_packets", qdisc="pi")
    assert np.asarray(pi.get_ydata()) == pytest.approx(
        100 * np.array(means(swept, "utilization", qdisc="pi"))
    )


@pytest.mark.parametrize(
    ("draw", "line"),
    [
        (lambda plot: plot.curve("nothing", "flows"), "metrics: 'nothing' is no metric with one value"),
        (lambda plot: plot.curve("utilization", "rtt"), "rtt: is no axis; expected one of qdisc, flows"),
        (
            lambda plot: plot.map("utilization", "flows", "delay"),
            "qdisc: has several values, and a map is of one",
        ),
        (
            lambda plot: plot.map("utilization", "flows", "delay", qdisc="red"),
            "qdisc: 'red' is not on the axis; expected one of ['pi', 'codel']",
        ),
        (lambda plot: plot.cloud(link="x"), "link: 'x' has no values; expected one of ['bottleneck']"),
    ],
)
def test_a_wrong_picture_is_one_line(swept, draw, line):
    with pytest.raises(sj.InputError) as error:
        draw(swept.plot)
    (only,) = error.value.lines
    assert only.startswith(line)
