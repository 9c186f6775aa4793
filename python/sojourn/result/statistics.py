"""Means and quantiles with confidence intervals, and tests: over seeds, in one series, of differences.

Batch means, MSER-5 and sequential stopping are those of A. Law, Simulation Modeling and Analysis, chapter 9.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.errors import InputError
from sojourn.kinds import shown


@dataclass(frozen=True)
class Estimate:
    """Mean over `n` seeds and its 95 % interval; the interval is None for a single seed."""

    n: int
    mean: float
    low: float | None
    high: float | None

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def _numbers(name: str, values: Sequence[float]) -> list[float]:
    """Values of an argument as numbers. Raises `InputError` for one that is none."""
    found = []
    for value in values:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            raise InputError(f"{name}: {shown(value)} is no number; expected numbers alone")
        found.append(number)
    return found


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and 95 % interval by Student's t, taking the seeds as independent samples.

    `values` must not be empty. Sums are exact (`math.fsum`), so that the result does not depend on the order
    of the runs or on the machine.

    >>> found = estimate([1.0, 2.0, 3.0])
    >>> f"{found.mean} from {found.low:.3f} to {found.high:.3f}"
    '2.0 from -0.484 to 4.484'
    """
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return Estimate(1, mean, None, None)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    half = student_t95(n - 1) * math.sqrt(variance / n)
    return Estimate(n, mean, mean - half, mean + half)


def estimates(
    samples: Sequence[Sequence[float]],
) -> tuple[list[float], list[float | None], list[float | None]]:
    """Means, and ends of the 95 % intervals, of many samples at once: those of `estimate` but for rounding.

    Sums are compensated (D. Knuth's two-sum, step by step), so that they are the same on any machine. No
    sample may be empty.

    >>> estimates([[1.0, 2.0, 3.0], [5.0]])[0]
    [2.0, 5.0]
    """
    import numpy as np

    means: list[float] = [0.0] * len(samples)
    lows: list[float | None] = [None] * len(samples)
    highs: list[float | None] = [None] * len(samples)
    by_size: dict[int, list[int]] = {}
    for place, values in enumerate(samples):
        by_size.setdefault(len(values), []).append(place)
    for n, places in by_size.items():
        rows = np.array([samples[place] for place in places], dtype=np.float64)
        mean = _sums(rows) / n
        half = None
        if n > 1:
            half = student_t95(n - 1) * np.sqrt(_sums((rows - mean[:, None]) ** 2) / (n - 1) / n)
        for at, place in enumerate(places):
            means[place] = float(mean[at])
            if half is not None:
                lows[place], highs[place] = float(mean[at] - half[at]), float(mean[at] + half[at])
    return means, lows, highs


def _sums(rows: Any) -> Any:
    """Sums of the rows of a matrix, with the rounding of each step added at the end."""
    total, lost = rows[:, 0].copy(), 0.0 * rows[:, 0]
    for column in rows.T[1:]:
        now = total + column
        part = now - total
        lost = lost + ((total - (now - part)) + (column - part))
        total = now
    return total + lost


def difference(left: Mapping[int, float], right: Mapping[int, float]) -> Estimate | None:
    """Mean of ``left - right`` over the seeds that both have.

    Laws under one seed have the same arrivals, so the difference is taken seed by seed. None if no seed is
    common.
    """
    common = [left[seed] - right[seed] for seed in left if seed in right]
    return estimate(common) if common else None


#: Batches of a series, unless another number is given.
BATCHES = 5


def batch_means(values: Sequence[float], batches: int = BATCHES) -> Estimate:
    """Mean of one stationary series and its 95 % interval, by the means of equal batches.

    Batches must be long against the series' correlation, so that their means are independent and symmetric:
    of M/M/1 at load 0.8 intervals of 20 000 waiting times contain the mean in 94 % of cases with 5 batches,
    and in 92 % with 10. Values that fill no batch are left out at the
    beginning. Raises `InputError` for less than two batches, or fewer values than batches.

    >>> found = batch_means([0.0, 2.0] * 10, batches=5)
    >>> found.mean, found.low, found.n
    (1.0, 1.0, 5)
    """
    if batches < 2:
        raise InputError(f"batches: {shown(batches)} are no batches; expected at least 2")
    length = len(values) // batches
    if length < 1:
        count = f"{len(values)} {'is' if len(values) == 1 else 'are'} too few for {batches} batches"
        raise InputError(f"values: {count}; expected at least {batches}")
    used = values[len(values) - batches * length :]
    return estimate([math.fsum(used[at : at + length]) / length for at in range(0, len(used), length)])


def mser5(values: Sequence[float]) -> int:
    """Number of values at the beginning that belong to the warm-up, by MSER-5.

    Means of five values each are left out at the beginning such that the squared standard error of the mean
    of the others is least, and at most half of them (K. White, M. Cobb, S. Spratt, Proc. Winter Simulation
    Conference, 2000).

    >>> mser5([100.0] * 10 + [1.0, 2.0] * 50)
    10
    """
    means = [math.fsum(values[at : at + 5]) / 5 for at in range(0, len(values) - 4, 5)]
    best, found = math.inf, 0
    # Mean and sum of squares about it from the end, so that each step costs one mean and cancels no digits
    # (B. P. Welford 1962).
    mean = squares = 0.0
    for place in reversed(range(len(means))):
        n = len(means) - place
        step = means[place] - mean
        mean += step / n
        squares += step * (means[place] - mean)
        if place <= len(means) // 2 and (error := squares / (n * n)) <= best:
            best, found = error, place
    return 5 * found


#: Replications from which on the width of an interval ends them: intervals of fewer stop too early (A. Law,
#: W. D. Kelton, C. Koenig, 1981).
LEAST_REPLICATIONS = 20


def further(found: Estimate, relative: float, most: int, least: int = LEAST_REPLICATIONS) -> int:
    """Number of replications to estimate a mean with next, `found.n` where those suffice.

    They suffice when the half-width of the 95 % interval is at most `relative` times the mean, from `least`
    on, and `most` at the latest. Else as many are needed as the present variance says, and at most twice as
    many at once.

    >>> further(Estimate(20, 10.0, 9.0, 11.0), relative=0.05, most=100)
    40
    """
    if found.n < least:
        return min(least, most)
    if found.n >= most or found.half is None or found.half <= relative * abs(found.mean):
        return found.n
    if found.mean == 0:
        return min(most, 2 * found.n)
    wanted = math.ceil(found.n * (found.half / (relative * abs(found.mean))) ** 2)
    return min(most, 2 * found.n, max(found.n + 1, wanted))


def sequential(
    draw: Callable[[int], float], relative: float, least: int = LEAST_REPLICATIONS, most: int = 10_000
) -> Estimate:
    """Mean of replications ``draw(0), draw(1), ...``, as many as a precision needs by the rule of `further`.

    Raises `InputError` for a precision that is not above 0, no replications, or one that is no number.

    >>> sequential(lambda seed: 10.0 + seed % 2, relative=0.05).n
    20
    """
    (share,) = _numbers("relative", [relative])
    if share <= 0:
        raise InputError(f"relative: {shown(relative)} is no share of a mean; expected more than 0")
    if least < 1 or most < 1:
        raise InputError(f"least, most: {least} and {most}; expected 1 replication or more")
    values = _numbers("draw", [draw(place) for place in range(min(least, most))])
    while (wanted := further(found := estimate(values), share, most, least)) > len(values):
        values += _numbers("draw", [draw(place) for place in range(len(values), wanted)])
    return found


def paired_p(differences: Sequence[float]) -> float | None:
    """Two-sided p of Student's paired test: that differences as large arise where their mean is 0.

    None for fewer than two differences; for equal ones 0, or 1 if all are 0.

    >>> f"{paired_p([1.0, 2.0, 3.0]):.4f}"
    '0.0742'
    """
    n = len(differences)
    if n < 2:
        return None
    from scipy.special import stdtr

    mean = math.fsum(differences) / n
    variance = math.fsum((value - mean) ** 2 for value in differences) / (n - 1)
    if variance == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * stdtr(n - 1, -abs(mean) / math.sqrt(variance / n)))


def greater_p(differences: Sequence[float]) -> float | None:
    """One-sided p of Student's paired test: that differences as large arise where their mean is at most 0.

    None for fewer than two differences; for equal ones 0 if they are above 0, else 1.

    >>> f"{greater_p([1.0, 2.0, 3.0]):.4f}"
    '0.0371'
    """
    both = paired_p(differences)
    if both is None:
        return None
    if max(differences) == min(differences):
        return 0.0 if differences[0] > 0 else 1.0
    return both / 2 if math.fsum(differences) > 0 else 1 - both / 2


#: From here on the mean's own error is nothing beside that of the deviation, and the inversion of the
#: noncentral t may not end.
LARGE_T = 100.0


def standardized(differences: Sequence[float]) -> Estimate | None:
    """Mean of paired differences over their standard deviation, and its 95 % interval.

    The effect size d of paired samples; its interval is that of the noncentral t (J. C. Goulet-Pelletier, D.
    Cousineau, Quant. Methods Psychol. 14, 2018). None for fewer than two differences, or for equal ones.

    >>> found = standardized([1.0, 2.0, 3.0])
    >>> f"{found.mean:.2f} from {found.low:.2f} to {found.high:.2f}"
    '2.00 from -0.14 to 4.11'
    """
    n = len(differences)
    found = estimate(differences) if n > 1 else None
    if found is None or not found.half:
        return None
    from scipy.special import chdtri, nctdtrinc

    t, freedom = student_t95(n - 1) * found.mean / found.half, n - 1
    d = abs(t) / math.sqrt(n)
    if abs(t) > LARGE_T:
        low, high = (d * math.sqrt(float(chdtri(freedom, q)) / freedom) for q in (0.975, 0.025))
    else:
        low, high = (float(nctdtrinc(freedom, q, abs(t))) / math.sqrt(n) for q in (0.975, 0.025))
    return Estimate(n, d, low, high) if t >= 0 else Estimate(n, -d, -high, -low)


def holm(values: Sequence[float]) -> list[float]:
    """Values of p of several tests, corrected for their number (S. Holm, Scand. J. Statist. 6, 1979).

    Rejecting those below 0.05 has a probability of at most 0.05 that any true hypothesis is among them.
    Raises `InputError` for a value that is no probability.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    values = _numbers("values", values)
    for value in values:
        if not 0 <= value <= 1:
            raise InputError(f"values: {shown(value)} is no p; expected 0 to 1")
    order = sorted(range(len(values)), key=lambda place: values[place])
    found, largest = [0.0] * len(values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        found[place] = largest
    return found


@dataclass(frozen=True)
class Quantile:
    """Quantile of `n` samples and its 95 % interval; an end that no sample bounds is None."""

    n: int
    value: float
    low: float | None
    high: float | None


def quantile_interval(values: Sequence[float], quantile: float) -> Quantile:
    """Quantile of independent samples and its 95 % interval by order statistics, whatever their distribution.

    The number of samples below the quantile is binomial, so that the k-th smallest values on both sides
    contain it with a probability of at least 0.95 (H. A. David, H. N. Nagaraja, Order Statistics, section
    7.1). `value` is the quantile by linear interpolation. Raises `InputError` for no values, one that is no
    number, or a quantile that is not between 0 and 1.

    >>> found = quantile_interval([float(value) for value in range(1, 101)], 0.5)
    >>> found.value, found.low, found.high
    (50.5, 40.0, 61.0)
    """
    if not len(values) or not 0 < quantile < 1:
        raise InputError(
            f"quantile: {shown(quantile)} of {len(values)} values; expected 0 < quantile < 1 of one at least"
        )
    from scipy.special import bdtr

    ordered, n = sorted(_numbers("values", values)), len(values)
    below = [float(bdtr(number, n, quantile)) for number in range(n)]
    # The k-th smallest value is above the quantile if fewer than k are below it.
    low = max((k for k in range(1, n + 1) if below[k - 1] <= 0.025), default=0)
    high = next((k for k in range(1, n + 1) if below[k - 1] >= 0.975), 0)
    at = quantile * (n - 1)
    left = math.floor(at)
    middle = ordered[left] + (at - left) * (ordered[min(left + 1, n - 1)] - ordered[left])
    return Quantile(n, middle, ordered[low - 1] if low else None, ordered[high - 1] if high else None)


@dataclass(frozen=True)
class Regression:
    """A straight line by least squares, and the rank correlation."""

    n: int
    slope: float
    intercept: float
    #: Share of the variance that the line explains.
    r_squared: float
    #: Spearman's, and the two-sided p that it arises without one.
    rank_correlation: float
    p: float


def regress(x: Sequence[float], y: Sequence[float]) -> Regression | None:
    """The line through points by least squares, and Spearman's rank correlation (C. Spearman 1904).

    None for fewer than three points, or where x or y has one value alone. Raises `InputError` for unequal
    numbers of x and y, or one that is no number.

    >>> found = regress([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 9.0])
    >>> f"{found.slope:.1f} x {found.intercept:+.1f}, {found.rank_correlation:.1f}"
    '2.3 x -0.5, 1.0'
    """
    n = len(x)
    if n != len(y):
        raise InputError(f"x, y: {n} and {len(y)} values; expected as many of both")
    x, y = _numbers("x", x), _numbers("y", y)
    if n < 3 or min(x) == max(x) or min(y) == max(y):
        return None
    from scipy.stats import linregress, spearmanr

    line, ranks = linregress(x, y), spearmanr(x, y)
    return Regression(
        n,
        float(line.slope),
        float(line.intercept),
        float(line.rvalue**2),
        float(ranks.statistic),
        float(ranks.pvalue),
    )


def equivalence_p(differences: Sequence[float], bound: float) -> float | None:
    """Value of p of two one-sided tests that a mean is within `bound` of 0 (D. J. Schuirmann 1987).

    Below 0.05 two plants, or a simulation and a measurement, agree within the bound; that a test finds no
    difference does not say so. None for fewer than two differences; for equal ones 0 if they are within the
    bound, else 1. Raises `ValueError` for a bound that is not above 0.

    >>> f"{equivalence_p([0.1, -0.2, 0.0, 0.1], bound=0.5):.4f}"
    '0.0029'
    """
    if not bound > 0:
        raise ValueError(f"a bound of {bound}; expected more than 0")
    found = estimate(differences) if len(differences) > 1 else None
    if found is None:
        return None
    if not found.half:
        return 0.0 if abs(found.mean) < bound else 1.0
    from scipy.special import stdtr

    error = found.half / student_t95(found.n - 1)
    return float(stdtr(found.n - 1, (abs(found.mean) - bound) / error))


def ratio_p(
    left: Sequence[float], right: Sequence[float], share: float, *, paired: bool
) -> tuple[float, float]:
    """Values of p that the mean of `right` is not below, and not above, that of `left` by a share of it.

    Two one-sided tests of ``right < (1 + share) left`` and ``right > (1 - share) left``, each of a linear
    contrast (S. Sasabuchi 1980; D. Hauschke and others, Statistics in Medicine 18, 1999), so that the bound
    has the error of `left`: both below 0.05 show that the means agree within the share. Samples in pairs, as
    of common seeds, are compared pair by pair (equal pairs agree), others by B. L. Welch's test (1947). A
    single value has no error. Raises `ValueError` for no values, or pairs of unlike numbers.

    >>> below, above = ratio_p([10.0, 11.0, 12.0], [10.1, 11.2, 11.9], 0.05, paired=True)
    >>> f"{below:.3f} {above:.3f}"
    '0.024 0.007'
    """
    if not left or not right or (paired and len(left) != len(right)):
        raise ValueError(f"{len(left)} and {len(right)} values; expected some, and pairs of like numbers")
    if paired and list(left) == list(right):
        return 0.0, 0.0
    sign = -1.0 if math.fsum(left) < 0 else 1.0
    upper, lower = 1 + share, 1 - share
    if paired:
        pairs = list(zip(left, right, strict=True))
        below = [[sign * (two - upper * one) for one, two in pairs]]
        above = [[sign * (lower * one - two) for one, two in pairs]]
    else:
        below = [[sign * two for two in right], [-sign * upper * one for one in left]]
        above = [[-sign * two for two in right], [sign * lower * one for one in left]]
    return _less_p(below), _less_p(above)


def _less_p(samples: Sequence[Sequence[float]]) -> float:
    """One-sided p that a sum of means is at most 0; without variance 0 if it is, else 1."""
    from scipy.special import stdtr

    mean = squares = weights = 0.0
    for values in samples:
        found = estimate(values)
        mean += found.mean
        error = 0.0 if not found.half else found.half / student_t95(found.n - 1)
        squares += error**2
        weights += error**4 / max(1, found.n - 1)
    if squares == 0:
        return 0.0 if mean <= 0 else 1.0
    return float(stdtr(squares**2 / weights, mean / math.sqrt(squares)))


@functools.cache
def student_t95(freedom: int) -> float:
    """The 97.5 % point of Student's t, to 12 digits (the last ones differ between machines)."""
    from scipy.special import stdtrit

    return float(f"{stdtrit(freedom, 0.975):.12g}")
