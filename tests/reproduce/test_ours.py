"""The numbers of "ours": what predicates compare, case by case."""

import pytest
from test_grades import made_up

from sojourn.reproduce.grades import grade
from sojourn.reproduce.ours import Measured, of_claim, texts
from sojourn.reproduce.paper import read
from sojourn.reproduce.predicate import expression
from sojourn.reproduce.runs import Samples
from sojourn.reproduce.units import unit_of


def ours(test, **keys):
    paper, samples = made_up(test, **keys)
    return of_claim(paper, grade(paper, paper.claims[0], samples))


def test_a_mean_has_its_interval_and_number_under_each_setting():
    small, large = ours("e.own.queue_mean_packets < 2 * e.other.queue_mean_packets")[:2]
    assert [one.settings for one in (small, large)] == [{"own": "small"}, {"own": "large"}]
    assert (small.mean, small.n) == (pytest.approx(20.1), 10)
    assert small.low < 20.1 < small.high
    assert (small.least, small.most) == (20.0, 20.2)
    assert [one.quantity for one in (small, large)] == ["e.own.queue_mean_packets"] * 2


def test_a_median_over_the_seeds_has_its_interval_and_the_range_that_it_is_of():
    (median,) = ours("quantile(e.own.queue_mean_packets, 0.5) < 30", settings={"own": ["small"]})
    assert (median.mean, median.low, median.high, median.n) == (pytest.approx(20.1), 20.0, 20.2, 10)
    assert (median.least, median.most) == (20.0, 20.2)
    assert dict(texts([median])) == {
        "quantile(e.own.queue_mean_packets, 0.5)": ["20.1 packets (20 to 20.2, n = 10)"]
    }


def test_the_largest_of_the_seeds_is_a_number_with_their_range():
    (most,) = ours("quantile(e.own.queue_mean_packets, 1) < 30", settings={"own": ["small"]})
    assert (most.mean, most.low, most.high, most.n) == (20.2, None, None, 10)
    assert list(dict(texts([most])).values()) == [["20.2 packets (of n = 10 from 20 to 20.2)"]]


def test_windows_are_as_they_are_compared_and_not_their_mean():
    """The last of the windows of each seed, which are 18 and 19."""
    keys = {"settings": {"own": ["small"]}}
    (last,) = ours("quantile(e.own.seconds.queue_mean_packets, 1) > 18", **keys)
    assert (last.mean, last.low, last.high, last.n) == (19, 19, 19, 10)


def test_what_decides_a_partly_true_claim_is_there_too():
    found = ours(
        "e.own.queue_mean_packets < 10",
        partly="e.own.queue_mean_packets < e.other.queue_mean_packets",
    )
    assert {one.quantity for one in found} == {"e.own.queue_mean_packets", "e.other.queue_mean_packets"}


def test_an_uninformative_claim_has_the_numbers_of_its_controls():
    found = ours("near(e.own.utilization, 0.95, 0.01)", settings={"own": ["small"]})
    assert [(one.stand_in, one.mean) for one in found] == [(None, 0.95), ("tail drop", 0.95)]
    assert [lines for _, lines in texts(found)][1] == ["with tail drop in its place: 95 % (95 to 95, n = 10)"]
    assert [one.stand_in for one in ours("e.own.queue_mean_packets < 30")] == [None, None]


def test_a_variant_and_a_window_are_named_where_they_matter():
    keys = {"settings": {"own": ["small"]}}
    found = ours("v.own.queue_mean_packets < 30", variants=["near", "far"], **keys)
    assert [one.variant for one in found] == ["near", "far"]
    assert next(iter(dict(texts(found)).values()))[0].startswith("near: 20.1 packets (")
    found = ours("e.own.queue_mean_packets < 30", windows=["early", "late"], **keys)
    assert [(one.window, one.mean) for one in found] == [("early", 50), ("late", 15)]
    (named,) = ours("e.own.late.queue_mean_packets < 30", windows=["early", "late"], **keys)
    assert (named.window, named.variant) == (None, None)


def test_many_cases_are_a_range():
    found = ours("e.own.queue_mean_packets / e.rival.queue_mean_packets < 1")
    (lines,) = dict(texts(found)).values()
    assert len(lines) == len(found) == 4
    ((text,),) = dict(texts(found * 4)).values()
    assert text.startswith("0.1004 (")
    assert text.endswith(" in 16 cases")


def test_what_was_not_measured_has_no_number():
    keys = {"quick": True, "settings": {"own": ["small"]}}
    (none,) = ours("quantile(e.own.utilization, 1) > 0", **keys)
    assert none.mean is None
    assert list(dict(texts([none])).values()) == [["-"]]


def test_large_numbers_have_their_ones():
    found = Measured("x", {}, None, None, 54518.6, None, None, None, None, None)
    assert dict(texts([found])) == {"x": ["54518.6"]}


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("e.a.goodput_bps", "bit/s"),
        ("2 * (e.a.goodput_bps + e.b.goodput_bps) / 3", "bit/s"),
        ("max(e.a.sojourn_p95_s - 0.1, e.b.rtt_mean_s)", "s"),
        ("quantile(e.a.rtt_max_s, 0.5)", "s"),
        ("1 - e.a.utilization", "%"),
        ("e.a.drop_ratio / e.b.drop_ratio", ""),
        ("e.a.queue_mean_packets / e.b.queue_mean_packets - 1", ""),
        ("hypot(e.a.queue_mean_packets - 100, e.a.queue_std_packets)", "packets"),
        ("e.a.drop_ratio * e.a.goodput_bps", "bit/s"),
        ("anova_f(e.a.goodput_bps, e.b.goodput_bps)", ""),
        ("e.a.jain_index", ""),
        ("e.a.goodput_bps / e.a.rtt_mean_s", None),
        ("1 / e.a.rtt_mean_s", None),
        ("e.a.goodput_bps + e.a.rtt_mean_s", None),
        ("work.steps", None),
    ],
)
def test_the_unit_of_a_quantity_is_that_of_its_metrics(text, unit):
    assert unit_of(expression(text, "test").tree) == unit


@pytest.mark.parametrize(
    ("unit", "mean", "text"),
    [
        ("bit/s", 8371799.04, "8.372 Mbit/s (8.363 to 8.38, n = 10)"),
        ("s", 0.0534, "53.4 ms (53.35 to 53.45, n = 10)"),
        ("%", 0.9957, "99.57 % (99.47 to 99.67, n = 10)"),
        ("", 0.9957, "0.9957 (0.9947 to 0.9967, n = 10)"),
    ],
)
def test_numbers_are_in_units_that_a_person_reads(unit, mean, text):
    found = Measured("x", {}, None, None, mean, 0.999 * mean, 1.001 * mean, 10, None, None, unit)
    assert dict(texts([found])) == {"x": [text]}


def test_constants_that_were_measured_once_are_marked():
    """With the date, the libraries, and the command that repeats them, on the page and in the document."""
    paper = read("fb_ocq")
    claims = {claim.id: claim for claim in paper.claims}
    marked = {}
    for name in ("01", "02", "05"):
        graded = grade(paper, claims[f"fb_ocq.{name}"], Samples())
        marked[name] = [one for one in of_claim(paper, graded) if one.once]
        shown = [line for _, lines in texts(of_claim(paper, graded)) for line in lines]
        assert sum("(measured once, 2026-11-28 " in line for line in shown) == len(marked[name])
    assert {one.variant for one in marked["02"]} == {"seconds"}
    assert len(marked["02"]) == 3
    for name in ("01", "05"):
        assert [one.variant for one in marked[name]] == ["library"]
    notes = {one.once for several in marked.values() for one in several}
    assert all("`LONG=1 pytest tests/reproduce/test_fb_ocq.py`" in one for one in notes)
