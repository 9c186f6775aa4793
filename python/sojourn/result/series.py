"""Whether two series agree: dynamic time warping, and the shares of time above a level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sojourn.errors import InputError
from sojourn.kinds import shown
from sojourn.result.statistics import BATCHES, batch_means, student_t95

Array = npt.NDArray[np.float64]

#: Pairs of samples that are compared, at most.
MOST_PAIRS = 100_000_000


@dataclass(frozen=True)
class Warping:
    """The best alignment of two series in time."""

    #: Sum of the absolute differences along the path, and their mean, in the unit of the values.
    distance: float
    mean: float
    #: Pairs of samples of the path, their indices in the first and the second series.
    path: list[tuple[int, int]]
    #: Largest shift in time along the path, samples.
    shift: int


def time_warping(left: Sequence[float], right: Sequence[float], band: int | None = None) -> Warping:
    """Dynamic time warping with steps of one sample in either series or in both (H. Sakoe, S. Chiba 1978).

    The path with the least sum of absolute differences, without weights, from both beginnings to both ends;
    `band` is the largest shift in time that it may have, samples, counted along the diagonal for series of
    different lengths. Of equal paths that with most steps in both. Time and memory grow with the number of
    pairs within the band, of which 100 million are allowed. Raises `ValueError` for more, for an empty
    series, values that are not finite, and a band below 0.

    >>> found = time_warping([0.0, 0.0, 1.0, 2.0, 1.0], [0.0, 1.0, 2.0, 1.0, 1.0])
    >>> found.distance, found.shift, found.path
    (0.0, 1, [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (4, 4)])
    """
    first, second = (np.asarray(one, dtype=np.float64) for one in (left, right))
    n, m = len(first), len(second)
    if not n or not m or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError(f"series of {n} and {m} samples; expected finite values, one at least in each")
    if band is not None and band < 0:
        raise ValueError(f"a band of {band} samples; expected 0 or more")
    # Without a band all pairs; else those about the line from corner to corner, which is always within.
    slope = (m - 1) / (n - 1) if n > 1 else 0.0
    least = 0.0 if n == m else float(m) if n == 1 else max(1.0, slope)
    reach = float(max(n, m)) if band is None else max(float(band), least)
    if min(float(n) * m, n * (2 * reach + 1)) > MOST_PAIRS:
        raise ValueError(f"{n} by {m} samples are too many pairs; expected a band, or fewer samples")
    steps = _steps(first, second, slope, reach)
    path = [(n - 1, m - 1)]
    while path[-1] != (0, 0):
        row, column = path[-1]
        low, taken = steps[row + column]
        move = int(taken[row - low])
        path.append((row - (move != 1), column - (move != 2)))
    path.reverse()
    costs = [abs(float(first[row] - second[column])) for row, column in path]
    distance = math.fsum(costs)
    shift = max(abs(round(column - row * slope)) if n > 1 else 0 for row, column in path)
    return Warping(distance, distance / len(path), path, shift)


def _steps(
    first: Array, second: Array, slope: float, reach: float
) -> list[tuple[int, npt.NDArray[np.uint8]]]:
    """The last step of the best path to each pair, by anti-diagonals, each from its least row.

    0: in both; 1: in the second series alone; 2: in the first alone.
    """
    n, m = len(first), len(second)
    found: list[tuple[int, npt.NDArray[np.uint8]]] = []
    # Costs of the last two anti-diagonals by row, with a row before the first.
    before, last = np.full(n + 1, np.inf), np.full(n + 1, np.inf)
    for place in range(n + m - 1):
        low, high = max(0, place - m + 1), min(n - 1, place)
        # |column - slope row| <= reach, where column = place - row.
        low = max(low, math.ceil((place - reach) / (1 + slope) - 1e-9))
        high = min(high, math.floor((place + reach) / (1 + slope) + 1e-9))
        now = np.full(n + 1, np.inf)
        if low > high:
            found.append((low, np.zeros(0, dtype=np.uint8)))
            before, last = last, now
            continue
        rows = np.arange(low, high + 1)
        ways = np.stack([before[rows], last[rows + 1], last[rows]])
        if place == 0:
            ways[0] = 0.0
        taken = np.argmin(ways, axis=0).astype(np.uint8)
        now[rows + 1] = np.abs(first[rows] - second[place - rows]) + ways[taken, np.arange(len(rows))]
        found.append((low, taken))
        before, last = last, now
    return found


@dataclass(frozen=True)
class Exceedance:
    """Shares of time that two series are above a level."""

    level: float
    left: float
    right: float
    #: The 95 % interval of their difference, left less right.
    low: float
    high: float
    #: Two-sided p that the shares differ as much where they are equal; None without variance.
    p: float | None
    #: p of two one-sided tests that they differ by less than the bound; None without a bound or variance.
    p_within: float | None


def exceedance(
    left: Sequence[float],
    right: Sequence[float],
    level: float,
    *,
    bound: float | None = None,
    batches: int = BATCHES,
) -> Exceedance:
    """Whether two stationary series are above a level for the same share of time.

    Shares are means of batches of each series, which are independent where batches are long against its
    correlation; they are compared by B. L. Welch's test (1947), and with a `bound` by two one-sided tests
    (D. J. Schuirmann 1987), so that agreement within it is shown where `p_within` is below 0.05. Raises
    `InputError` for a series of fewer values than batches, and for a bound that is not above 0.

    >>> found = exceedance([0.0, 2.0] * 50, [0.0, 0.0, 2.0, 2.0] * 25, level=1.0, batches=5)
    >>> found.left, found.right, found.p
    (0.5, 0.5, None)
    """
    if bound is not None and not bound > 0:
        raise InputError(f"bound: {shown(bound)} is no bound; expected more than 0")
    for name, values in (("left", left), ("right", right)):
        if len(values) < batches:
            count = f"{len(values)} {'is' if len(values) == 1 else 'are'} too few for {batches} batches"
            raise InputError(f"{name}: {count}; expected at least {batches}")
    found = [batch_means([float(value > level) for value in one], batches) for one in (left, right)]
    above, other = found
    difference = above.mean - other.mean
    # Squared standard errors.
    squares = [((one.half or 0.0) / student_t95(batches - 1)) ** 2 for one in found]
    whole = math.fsum(squares)
    if whole == 0:
        return Exceedance(level, above.mean, other.mean, difference, difference, None, None)
    from scipy.special import stdtr, stdtrit

    freedom = whole**2 * (batches - 1) / math.fsum(one**2 for one in squares)
    error = math.sqrt(whole)
    half = float(stdtrit(freedom, 0.975)) * error
    within = None if bound is None else float(stdtr(freedom, (abs(difference) - bound) / error))
    return Exceedance(
        level,
        above.mean,
        other.mean,
        difference - half,
        difference + half,
        float(2 * stdtr(freedom, -abs(difference) / error)),
        within,
    )
