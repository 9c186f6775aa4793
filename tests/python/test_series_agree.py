"""Whether two series agree: dynamic time warping and exceedance, beside others' figures and known truths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from sojourn.result.series import exceedance, time_warping


def cases():
    random = np.random.default_rng(7)
    walk, other = (np.cumsum(random.standard_normal(300)) for _ in range(2))
    wave, late = (50 * np.sin((np.arange(400) - lag) / 20.0) + 100 for lag in (0, 9))
    short = np.cumsum(random.standard_normal(120))
    return {"walks": (walk, other), "waves": (wave, late), "lengths": (walk, short)}


@pytest.mark.parametrize(
    ("name", "band", "distance"),
    [
        # By dtaidistance 2.5.1, dtw.distance(inner_dist="euclidean"), whose window is the band and 1.
        ("walks", None, 411.5712429811939),
        ("walks", 25, 2221.459113526709),
        ("waves", None, 187.60335250931467),
        ("waves", 5, 2704.7225206734147),
        ("lengths", None, 6019.24938932456),
    ],
)
def test_distances_are_those_of_another_program(name, band, distance):
    left, right = cases()[name]
    found = time_warping(left, right, band)
    assert found.distance == pytest.approx(distance, rel=1e-11)
    assert time_warping(right, left, band).distance == pytest.approx(distance, rel=1e-11)
    assert found.mean == found.distance / len(found.path)
    if band is not None:
        assert max(abs(row - column) for row, column in found.path) == found.shift == band


def ways(n, m):
    """All paths from corner to corner."""
    if n == 1 and m == 1:
        return [[(0, 0)]]
    found = []
    for step in ((1, 1), (1, 0), (0, 1)):
        if n > step[0] and m > step[1]:
            found += [[*way, (n - 1, m - 1)] for way in ways(n - step[0], m - step[1])]
    return found


def test_no_path_is_better_than_the_one_found():
    random = np.random.default_rng(8)
    for n, m in itertools.product((1, 2, 3, 5), (1, 2, 4, 5)):
        left, right = random.standard_normal(n), random.standard_normal(m)
        found = time_warping(left, right)
        best = min(sum(abs(left[row] - right[column]) for row, column in way) for way in ways(n, m))
        assert found.distance == pytest.approx(best, rel=1e-12)
        assert found.path in ways(n, m)


def test_a_late_series_is_the_same_within_its_lag():
    left, right = cases()["waves"]
    aligned, rigid = time_warping(left, right, 9), time_warping(left, right, 0)
    assert rigid.distance == pytest.approx(np.abs(left - right).sum(), rel=1e-12)
    assert (rigid.shift, aligned.shift) == (0, 9)
    # But for the beginning and the end.
    inner = [abs(left[row] - right[column]) for row, column in aligned.path[30:-30]]
    assert max(inner) < 1e-9
    assert time_warping(left, left).distance == 0


def test_memory_and_input_are_bounded():
    with pytest.raises(ValueError, match="too many pairs"):
        time_warping(np.zeros(20_000), np.zeros(20_000))
    assert time_warping(np.zeros(20_000), np.zeros(20_000), 10).distance == 0
    for left, band in (([], None), ([float("nan")], None), ([1.0], -1)):
        with pytest.raises(ValueError, match="expected"):
            time_warping(left, [1.0], band)


def autoregressive(random, rows, n=4000, memory=0.9):
    """Stationary AR(1) series of variance 1."""
    found = np.empty((rows, n))
    found[:, 0] = random.standard_normal(rows)
    steps = np.sqrt(1 - memory**2) * random.standard_normal((rows, n))
    for at in range(1, n):
        found[:, at] = memory * found[:, at - 1] + steps[:, at]
    return found


def test_intervals_contain_the_difference_of_the_shares():
    random = np.random.default_rng(23)
    number = 400
    left, right = (autoregressive(random, number) for _ in range(2))
    # The right one is lower by 0.3: the shares above 1 are those of the normal distribution.
    truth = stats.norm.sf(1.0) - stats.norm.sf(1.3)
    found = [exceedance(one, other - 0.3, 1.0) for one, other in zip(left, right, strict=True)]
    # Within four standard errors of 95 %.
    assert 0.906 <= np.mean([one.low <= truth <= one.high for one in found]) <= 0.994
    assert np.mean([one.left - one.right for one in found]) == pytest.approx(truth, abs=0.005)
    same = [exceedance(one, other, 1.0, bound=0.1) for one, other in zip(left, right, strict=True)]
    assert np.mean([one.p < 0.05 for one in same]) <= 0.094
    assert np.mean([one.p_within < 0.05 for one in same]) > 0.9


def test_agreement_is_not_claimed_where_shares_differ_by_the_bound():
    random = np.random.default_rng(24)
    left, right = (autoregressive(random, 400) for _ in range(2))
    lower = 1.0 - stats.norm.isf(stats.norm.sf(1.0) - 0.05)
    found = [exceedance(one, other + lower, 1.0, bound=0.05) for one, other in zip(left, right, strict=True)]
    assert np.mean([one.p_within < 0.05 for one in found]) <= 0.094


def test_p_is_that_of_welch():
    left, right = autoregressive(np.random.default_rng(25), 2)
    found = exceedance(left, right, 0.5, batches=8)
    batches = [(one > 0.5).reshape(8, -1).mean(axis=1) for one in (left, right)]
    theirs = stats.ttest_ind(*batches, equal_var=False)
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-9)
    interval = theirs.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
    with pytest.raises(ValueError, match="bound"):
        exceedance(left, right, 0.5, bound=0.0)
