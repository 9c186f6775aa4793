"""Intervals contain the truth as often as they claim; MSER-5, Holm and stopping rules hold to their sources.

`./ci.sh long` has 2 000 repetitions; here are fewer, with bounds of four standard errors about 95 %.
"""

from __future__ import annotations

import math
import os
import re

import numpy as np
import pytest
from scipy import stats

from sojourn.errors import InputError
from sojourn.result.factors import effects
from sojourn.result.series import exceedance
from sojourn.result.statistics import (
    batch_means,
    equivalence_p,
    estimate,
    estimates,
    greater_p,
    holm,
    mser5,
    paired_p,
    quantile_interval,
    regress,
    sequential,
)

LONG = os.environ.get("LONG") == "1"
REPETITIONS = 2_000 if LONG else 400
CUSTOMERS = 20_000
#: Shares of intervals that contain the truth.
LEAST, MOST = (0.93, 0.97) if LONG else (0.906, 0.994)


def waits(load, random, n=CUSTOMERS, rows=1):
    """Waiting times of an M/M/1 queue with mean service 1, by Lindley's recursion from an empty queue."""
    steps = random.exponential(1.0, (rows, n)) - random.exponential(1.0 / load, (rows, n))
    sums = np.concatenate([np.zeros((rows, 1)), np.cumsum(steps, axis=1)], axis=1)
    return (sums - np.minimum.accumulate(sums, axis=1))[:, :-1]


def contains(found, truth):
    return found.low <= truth <= found.high


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.5, 0.8])
def test_batch_means_contain_the_mean_wait_of_mm1(load):
    random = np.random.default_rng(23)
    truth = load / (1 - load)
    held = [contains(batch_means(waits(load, random)[0].tolist()), truth) for _ in range(REPETITIONS)]
    assert LEAST <= np.mean(held) <= MOST, np.mean(held)


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.5, 0.8])
def test_replications_contain_the_mean_wait_of_mm1(load):
    random = np.random.default_rng(24)
    truth = load / (1 - load)
    held = [
        contains(estimate(waits(load, random, rows=5).mean(axis=1).tolist()), truth)
        for _ in range(REPETITIONS)
    ]
    assert LEAST <= np.mean(held) <= MOST, np.mean(held)


def coverage(load, customers, repetitions):
    """Shares of intervals that contain the mean wait of M/M/1: of 5 and 10 batches, and of 5 replications."""
    truth, held = load / (1 - load), [0, 0, 0]
    random, others = np.random.default_rng(31), np.random.default_rng(32)
    for _ in range(repetitions):
        one = waits(load, random, customers)[0].tolist()
        runs = waits(load, others, customers, rows=5).mean(axis=1).tolist()
        found = batch_means(one), batch_means(one, batches=10), estimate(runs)
        held = [number + contains(own, truth) for number, own in zip(held, found, strict=True)]
    return [number / repetitions for number in held]


def table_of_coverage(root):
    """Rows of the page: load, customers, and the three shares."""
    page = (root / "docs" / "howto" / "run-a-campaign.md").read_text()
    found = re.findall(
        r"^\| (0\.\d) \| ([\d ]+) \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|$", page, re.MULTILINE
    )
    return [
        (float(load), int(customers.replace(" ", "")), [float(share) for share in shares])
        for load, customers, *shares in found
    ]


@pytest.mark.slow
def test_the_coverage_on_the_page(root):
    """`./ci.sh long` repeats each figure; here those of short runs, within four standard errors."""
    rows = table_of_coverage(root)
    assert len(rows) == 5
    for load, customers, shares in rows:
        if LONG:
            found = [round(100 * share, 1) for share in coverage(load, customers, 2_000)]
            assert found == shares, (load, customers, found)
        elif customers <= 2_000:
            for found, share in zip(coverage(load, customers, 300), shares, strict=True):
                error = np.sqrt(share * (100 - share) * (1 / 300 + 1 / 2_000))
                assert abs(100 * found - share) <= 4 * error, (load, customers, found, share)


@pytest.mark.slow
def test_batch_means_contain_the_mean_of_ar1():
    from scipy.signal import lfilter

    random = np.random.default_rng(25)
    held = []
    for _ in range(REPETITIONS):
        # x' = 0.9 x + e about 10, from its stationary distribution.
        start = random.normal(0, 1 / np.sqrt(1 - 0.81))
        series, _ = lfilter([1], [1, -0.9], random.normal(size=5_000), zi=[0.9 * start])
        held.append(contains(batch_means((10 + series).tolist()), 10))
    assert LEAST <= np.mean(held) <= MOST, np.mean(held)


@pytest.mark.slow
def test_sequential_stopping_contains_the_mean():
    random = np.random.default_rng(26)
    repetitions = 500 if LONG else 40
    held, numbers = [], []
    for _ in range(repetitions):
        found = sequential(lambda _: float(waits(0.5, random, n=2_000).mean()), relative=0.02)
        held.append(contains(found, 1.0))
        numbers.append(found.n)
        assert found.half <= 0.02 * found.mean
    assert np.mean(held) >= (0.92 if LONG else 0.8), np.mean(held)
    assert np.mean(numbers) > 20


def test_mser5_is_the_least_squared_error():
    random = np.random.default_rng(27)
    values = random.normal(size=403) + 20 * np.exp(-np.arange(403) / 20)
    means = values[:400].reshape(-1, 5).mean(axis=1)
    # Straight from the definition.
    errors = [np.var(means[d:]) / (len(means) - d) for d in range(len(means) // 2 + 1)]
    assert mser5(values.tolist()) == 5 * int(np.argmin(errors))
    assert 40 <= mser5(values.tolist()) <= 160


@pytest.mark.parametrize("origin", [0, 1e6, 1e8, 1e9, -1e9])
def test_mser5_is_the_same_about_any_origin(origin):
    random = np.random.default_rng(1)
    values = np.concatenate([np.linspace(20, 0, 100), random.normal(size=400)])
    assert mser5((values + origin).tolist()) == mser5(values.tolist()) == 100


def test_paired_p_is_that_of_scipy():
    left, right = np.random.default_rng(28).normal(size=(2, 12))
    assert paired_p((left - right).tolist()) == pytest.approx(stats.ttest_rel(left, right).pvalue, rel=1e-12)
    assert paired_p([1.0]) is None
    assert (paired_p([0.0, 0.0]), paired_p([1.0, 1.0])) == (1.0, 0.0)


def test_greater_p_is_that_of_scipy():
    values = np.random.default_rng(31).normal(size=12)
    for sign in (1, -1):
        one_sided = stats.ttest_1samp(sign * values, 0, alternative="greater").pvalue
        assert greater_p((sign * values).tolist()) == pytest.approx(one_sided, rel=1e-12)
    assert greater_p([1.0]) is None
    assert greater_p([-1.0, 1.0]) == 0.5
    assert [greater_p([one, one]) for one in (-1.0, 0.0, 1.0)] == [1.0, 1.0, 0.0]


def test_holm_rejects_what_the_step_down_procedure_rejects():
    random = np.random.default_rng(29)
    for _ in range(200):
        values = (random.random(8) ** 3).tolist()
        rejected = set()
        # Holm 1979: the smallest against 0.05 / 8, the next against 0.05 / 7, until one is not rejected.
        for rank, place in enumerate(np.argsort(values)):
            if values[place] > 0.05 / (8 - rank):
                break
            rejected.add(int(place))
        assert {place for place, p in enumerate(holm(values)) if p <= 0.05} == rejected


def test_many_estimates_are_those_of_each():
    random = np.random.default_rng(29)
    samples = [(1e6 + random.normal(size=random.integers(1, 30))).tolist() for _ in range(500)]
    for *found, values in zip(*estimates(samples), samples, strict=True):
        one = estimate(values)
        assert found[0] == pytest.approx(one.mean, rel=3e-16)
        if one.low is None:
            assert found[1:] == [None, None]
        else:
            assert found[1:] == pytest.approx([one.low, one.high], rel=3e-16)


def test_too_few_values_make_no_batches():
    with pytest.raises(ValueError, match="values: 2 are too few for 5 batches; expected at least 5"):
        batch_means([1.0, 2.0], batches=5)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: quantile_interval([1.0, math.nan], 0.5), "values: nan is no number; expected"),
        (lambda: quantile_interval(np.array([1.0, 2.0]), 1.5), "quantile: 1.5 of 2 values; expected"),
        (lambda: holm([0.01, None, 0.5]), "values: None is no number; expected numbers alone"),
        (lambda: holm([0.01, math.nan]), "values: nan is no number; expected numbers alone"),
        (lambda: holm([2.0, -1.0]), "values: 2.0 is no p; expected 0 to 1"),
        (lambda: sequential(lambda _: math.nan, 0.1), "draw: nan is no number; expected"),
        (lambda: sequential(lambda _: 1.0, -1), "relative: -1 is no share of a mean; expected more than 0"),
        (lambda: sequential(lambda _: 1.0, 0.1, least=0), "least, most: 0 and 10000; expected"),
        (lambda: regress([1, 2, 3], [2, 4]), "x, y: 3 and 2 values; expected as many of both"),
        (lambda: regress([1, 2, math.nan], [2, 4, 5]), "x: nan is no number; expected"),
        (lambda: batch_means([1.0] * 9, batches=1), "batches: 1 are no batches; expected at least 2"),
        (lambda: exceedance([], [], 10), "left: 0 are too few for 5 batches; expected at least 5"),
        (lambda: exceedance([1.0] * 9, [1.0], 10), "right: 1 is too few for 5 batches; expected at least 5"),
        (lambda: exceedance([1.0], [1.0], 10, bound=-1), "bound: -1 is no bound; expected more than 0"),
        (lambda: effects([1, 2, 3], {"a": [1, 1, 2, 2]}), "a: 4 levels of 3 values; expected one level"),
        (
            lambda: effects([1.0, 2.0], {"a": [1, 2]}, blocks=("seed", [1])),
            "seed: 1 levels of 2 values; expected one level of each value",
        ),
    ],
)
def test_wrong_values_are_one_line(call, line):
    with pytest.raises(InputError) as error:
        call()
    assert error.value.lines[0].startswith(line)
    assert len(error.value.lines) == 1


def test_quantiles_are_of_arrays_too():
    values = np.arange(1.0, 101.0)
    assert quantile_interval(values, 0.5) == quantile_interval(values.tolist(), 0.5)


@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.99])
def test_intervals_of_quantiles_contain_them(quantile):
    random = np.random.default_rng(int(100 * quantile))
    truth = -np.log(1 - quantile)
    held = [
        contains(quantile_interval(random.exponential(size=500).tolist(), quantile), truth)
        for _ in range(400)
    ]
    # Of whole numbers of samples the probability is 0.95 at least.
    assert np.mean(held) >= 0.906


def test_quantiles_that_few_samples_do_not_bound_have_no_limit():
    few = quantile_interval([3.0, 1.0, 2.0], 0.9)
    assert (few.value, few.low, few.high) == (pytest.approx(2.8), 1.0, None)
    with pytest.raises(ValueError, match="expected 0 < quantile < 1"):
        quantile_interval([], 0.5)


def test_equivalence_is_found_at_its_level():
    """At the bound itself it is found in one of twenty cases, within it nearly always."""
    random = np.random.default_rng(9)
    draws = {mean: random.normal(mean, 1, (2_000, 20)) for mean in (1.0, 0.0)}
    found = {
        mean: np.mean([equivalence_p(row.tolist(), 1.0) < 0.05 for row in rows])
        for mean, rows in draws.items()
    }
    assert 0.03 <= found[1.0] <= 0.07
    assert found[0.0] >= 0.95
    assert equivalence_p([1.0], 1.0) is None
    # Equal differences, as of two plants without randomness.
    assert [equivalence_p([one, one], 1.0) for one in (0.0, 0.5, -0.5, 1.0, 3.0)] == [0, 0, 0, 1, 1]


#: Ozone by a monitor and by NIST's: NIST StRD, Norris.
NORRIS = """
0.1 338.8 118.1 888.0 9.2 228.1 668.5 998.5 449.1 778.9 559.2 0.3 0.1 778.1 668.8 339.3 448.9 10.8 557.7 228.3
998.0 888.8 119.6 0.3 0.6 557.6 339.3 888.0 998.5 778.9 10.2 117.6 228.9 668.4 449.2 0.2
"""
STANDARD = """
0.2 337.4 118.2 884.6 10.1 226.5 666.3 996.3 448.6 777.0 558.2 0.4 0.6 775.5 666.9 338.0 447.5 11.6 556.0
228.1 995.8 887.6 120.2 0.3 0.3 556.8 339.1 887.2 999.0 779.0 11.1 118.3 229.2 669.1 448.9 0.5
"""


def test_a_line_has_the_certified_digits():
    y, x = ([float(one) for one in text.split()] for text in (NORRIS, STANDARD))
    found = regress(x, y)
    assert found.n == 36
    assert found.slope == pytest.approx(1.00211681802045, rel=1e-12)
    assert found.intercept == pytest.approx(-0.262323073774029, rel=1e-11)
    assert found.r_squared == pytest.approx(0.999993745883712, rel=1e-14)
    # Ranks turned around have the opposite correlation.
    assert regress([-one for one in x], y).rank_correlation == pytest.approx(-found.rank_correlation)
    assert regress([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is regress([1.0, 2.0], [1.0, 2.0]) is None
