"""Means over seeds, with confidence intervals."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


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


def difference(left: Mapping[int, float], right: Mapping[int, float]) -> Estimate | None:
    """Mean of ``left - right`` over the seeds that both have.

    Laws under one seed have the same arrivals, so the difference is taken seed by seed. None if no seed is
    common.
    """
    common = [left[seed] - right[seed] for seed in left if seed in right]
    return estimate(common) if common else None


@functools.cache
def student_t95(freedom: int) -> float:
    """The 97.5 % point of Student's t, to 12 digits (the last ones differ between machines)."""
    from scipy.special import stdtrit

    return float(f"{stdtrit(freedom, 0.975):.12g}")
