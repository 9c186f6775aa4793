"""Intervals contain the truth as often as they claim; MSER-5, Holm and stopping rules hold to their sources.

`./ci.sh long` has 2 000 repetitions; here are fewer, with bounds of four standard errors about 95 %.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import stats

from sojourn.result.statistics import batch_means, estimate, holm, mser5, paired_p, sequential

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


def test_paired_p_is_that_of_scipy():
    left, right = np.random.default_rng(28).normal(size=(2, 12))
    assert paired_p((left - right).tolist()) == pytest.approx(stats.ttest_rel(left, right).pvalue, rel=1e-12)
    assert paired_p([1.0]) is None
    assert (paired_p([0.0, 0.0]), paired_p([1.0, 1.0])) == (1.0, 0.0)


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


def test_too_few_values_make_no_batches():
    with pytest.raises(ValueError, match="expected at least 2"):
        batch_means([1.0, 2.0], batches=5)
