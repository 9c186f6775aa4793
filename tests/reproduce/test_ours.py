"""The numbers of "ours": what predicates compare, case by case."""

import pytest
from test_grades import made_up

from sojourn.reproduce.grades import grade
from sojourn.reproduce.ours import Measured, of_claim, texts


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


def test_a_statistic_over_the_seeds_is_a_number_with_the_range_that_it_is_of():
    (median,) = ours("quantile(e.own.queue_mean_packets, 0.5) < 30", settings={"own": ["small"]})
    assert (median.mean, median.low, median.n) == (pytest.approx(20.1), None, 10)
    assert (median.least, median.most) == (20.0, 20.2)
    assert dict(texts([median])) == {
        "quantile(e.own.queue_mean_packets, 0.5)": ["20.1 (of n = 10 from 20 to 20.2)"]
    }


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


def test_a_variant_and_a_window_are_named_where_they_matter():
    keys = {"settings": {"own": ["small"]}}
    found = ours("v.own.queue_mean_packets < 30", variants=["near", "far"], **keys)
    assert [one.variant for one in found] == ["near", "far"]
    assert next(iter(dict(texts(found)).values()))[0].startswith("near: 20.1 (")
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
