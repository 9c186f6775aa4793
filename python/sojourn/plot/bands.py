"""From sampled columns to lines: the mean over the seeds, and the band that the seeds span."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from sojourn.result import Arm, Result

Line = npt.NDArray[np.float64]
#: The ratios of the packets offered, and what each counts.
COUNTED = {"drop_ratio": "dropped_packets", "mark_ratio": "marked_packets"}
OFFERED = "offered_packets"


class Sampled(NamedTuple):
    """A quantity sampled in one run, without the samples in which nothing happened."""

    times: Line
    values: Line
    #: Where the values are counts, what they are counted of; None: the mean is theirs.
    whole: Line | None = None


#: Arm -> what was sampled in each of its runs.
Samples: TypeAlias = dict[Arm, list[Sampled]]


@dataclass(frozen=True)
class Band:
    """One arm's line: `x` with the mean, lowest and highest of the seeds at each point (NaN: nothing)."""

    arm: Arm
    x: Line
    mean: Line
    low: Line
    high: Line

    def scaled(self, x: float = 1.0, y: float = 1.0) -> Band:
        """The same band in other units."""
        return Band(self.arm, self.x * x, self.mean * y, self.low * y, self.high * y)


def step_s(result: Result, points: int) -> float:
    """The width of the bins when time is cut into about `points` of them: 1, 2 or 5 times a power of ten.

    It is never shorter than the step of the samples: there is nothing in between.
    """
    span, sample = end_s(result), sample_s(result)
    if span <= 0:
        return 1.0
    raw = span / points
    if sample >= raw * (1 - 1e-9):
        return sample
    power = 10.0 ** math.floor(math.log10(raw))
    nice = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * (1 - 1e-9))
    return max(nice, sample)


def sample_s(result: Result) -> float:
    """The step of the samples, seconds; 0 where there is none. Of several plants it is the longest."""
    if "time" not in result.series.columns:
        return 0.0
    if len(result.plants) > 1:
        return max(sample_s(result.within(plant)) for plant in result.plants)
    first = result.series["time"].head(1000).unique().sort().head(2).to_list()
    return float(f"{first[1] - first[0]:.9g}") if len(first) == 2 else 0.0


def end_s(result: Result) -> float:
    """The time of the last sample, seconds; 0 where there is none."""
    last = result.series["time"].max() if "time" in result.series.columns else None
    return float(last) if isinstance(last, int | float) else 0.0


def over_time(result: Result, name: str, points: int) -> list[Band]:
    """A sampled quantity over time in about `points` bins, one band for each arm."""
    return binned(samples(result, name), step_s(result, points))


def samples(result: Result, name: str, seeds: Collection[int] | None = None) -> Samples:
    """A sampled quantity under the given seeds, or under all.

    Ratios of the packets offered are given as counts, so that a bin of several steps has what was dropped or
    marked of all that was offered in them; a result of an older version has the ratios alone.
    """
    counted = COUNTED.get(name)
    if counted is None or not result.series["name"].is_in([counted]).any():
        return {arm: list(_by_seed(result, name, arm, seeds).values()) for arm in result.arms}
    found = {}
    for arm in result.arms:
        offered = _by_seed(result, OFFERED, arm, seeds)
        runs = _by_seed(result, counted, arm, seeds)
        if runs:
            found[arm] = [run._replace(whole=offered[seed].values) for seed, run in runs.items()]
        else:
            # A fluid has ratios and no packets to count.
            found[arm] = list(_by_seed(result, name, arm, seeds).values())
    return found


def binned(sampled: Samples, step: float) -> list[Band]:
    """One band for each arm, in bins of `step` seconds.

    Each point is the mean over the seeds of the means of one bin; low and high are the extremes of the
    seeds' bin means.
    """
    return [_band(arm, runs, step) for arm, runs in sampled.items()]


def flows(result: Result) -> list[str]:
    """The single flows that are drawn, such as ``window_packets.flow_3``.

    Of one arm all that were sampled, of several one each: saw-teeth hide each other.
    """
    if "name" not in result.series.columns:
        return []
    names = result.series["name"].unique().to_list()
    found = sorted((name for name in names if name.startswith(FLOW)), key=lambda name: (len(name), name))
    return found if len(result.arms) == 1 else found[:1]


def distribution(result: Result, name: str, grid: Line) -> list[Band]:
    """The fraction of samples at or below each value of `grid`, one band for each arm."""
    table = result.distributions.filter(pl.col("name") == name)
    return [_spread(arm, table.filter(_of_arm(result, arm)), grid) for arm in result.arms]


#: What the series of one flow's congestion window begins with.
FLOW = "window_packets.flow_"


def _of_arm(result: Result, arm: Arm) -> pl.Expr:
    """The rows of an arm."""
    chosen = pl.col("disc") == arm.disc
    return chosen & (pl.col("plant") == arm.plant) if len(result.plants) > 1 else chosen


def _spread(arm: Arm, rows: pl.DataFrame, grid: Line) -> Band:
    curves = [
        np.interp(grid, one["value"].to_numpy(), one["cumulative"].to_numpy(), left=0.0, right=1.0)
        for one in rows.partition_by("seed", maintain_order=True)
    ]
    stack = np.vstack(curves) if curves else np.full((1, len(grid)), np.nan)
    mean = np.asarray(stack.mean(axis=0), dtype=np.float64)
    return Band(arm, grid, mean, stack.min(axis=0), stack.max(axis=0))


def _by_seed(result: Result, name: str, arm: Arm, seeds: Collection[int] | None) -> dict[int, Sampled]:
    """What was sampled under each seed of one arm."""
    chosen = (pl.col("name") == name) & _of_arm(result, arm) & pl.col("value").is_not_null()
    if seeds is not None:
        chosen &= pl.col("seed").is_in(seeds)
    rows = result.series.filter(chosen).select("seed", "time", "value")
    return {
        one["seed"][0]: Sampled(one["time"].to_numpy(), one["value"].to_numpy())
        for one in rows.partition_by("seed", maintain_order=True)
    }


def _band(arm: Arm, runs: list[Sampled], step: float) -> Band:
    means = [_means(run, step) for run in runs]
    points = max((column.size for column in means), default=0)
    seeds = np.full((max(1, len(means)), points), np.nan)
    for row, column in zip(seeds, means, strict=False):
        row[: column.size] = column
    x = np.asarray((np.arange(points) + 0.5) * step, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a bin in which no seed has anything is NaN
        mean = np.asarray(np.nanmean(seeds, axis=0), dtype=np.float64)
        return Band(arm, x, mean, np.nanmin(seeds, axis=0), np.nanmax(seeds, axis=0))


def _means(run: Sampled, step: float) -> Line:
    """The mean of each bin, or its share of the whole; NaN where it is empty."""
    # A sample's time is the end of its step: one that ends where a bin ends belongs to that bin.
    places = np.maximum(np.ceil(run.times / step - 1e-6).astype(np.int64) - 1, 0)
    totals = np.bincount(places, weights=run.whole)
    sums = np.bincount(places, weights=run.values)
    found = np.full(totals.size, np.nan)
    np.divide(sums, totals, out=found, where=totals > 0)
    return found
