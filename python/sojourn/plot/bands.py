"""From sampled columns to lines: the mean over the seeds, and the range of the seeds."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from sojourn.result import Result, Variant

Line = npt.NDArray[np.float64]
#: Ratios of the packets offered, and the counts that they are made of.
COUNTED = {"drop_ratio": "dropped_packets", "mark_ratio": "marked_packets"}
OFFERED = "offered_packets"


class Sampled(NamedTuple):
    """A quantity sampled in one run, without the steps that have no sample."""

    times: Line
    values: Line
    #: Denominators, if the values are counts; None: the values are averaged.
    whole: Line | None = None


#: Variant -> samples of each of its runs.
Samples: TypeAlias = dict[Variant, list[Sampled]]


@dataclass(frozen=True)
class Band:
    """One variant's line: mean, lowest and highest of the seeds at each `x`; NaN: no sample.

    All are arrays of one length, in the units of what is drawn.
    """

    variant: Variant
    x: Line
    mean: Line
    low: Line
    high: Line
    #: The first seed alone, if it is at hand.
    first: Line | None = None

    def scaled(self, x: float = 1.0, y: float = 1.0) -> Band:
        """The same band in other units."""
        first = None if self.first is None else self.first * y
        return Band(self.variant, self.x * x, self.mean * y, self.low * y, self.high * y, first)


def step_s(result: Result, points: int) -> float:
    """Width of the bins if time is cut into about `points` of them: 1, 2 or 5 times a power of ten.

    Never shorter than the step of the samples.
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
    """Step of the samples, seconds, the longest of several plants; 0: no samples."""
    if "time" not in result.series.columns:
        return 0.0
    if len(result.plants) > 1:
        return max(sample_s(result.for_plant(plant)) for plant in result.plants)
    first = result.series["time"].head(1000).unique().sort().head(2).to_list()
    return float(f"{first[1] - first[0]:.9g}") if len(first) == 2 else 0.0


def end_s(result: Result) -> float:
    """Time of the last sample, seconds; 0: no samples."""
    last = result.series["time"].max() if "time" in result.series.columns else None
    return float(last) if isinstance(last, int | float) else 0.0


def over_time(result: Result, name: str, points: int) -> list[Band]:
    """A sampled quantity over time in about `points` bins, one band for each variant."""
    return binned(samples(result, name), step_s(result, points))


def samples(result: Result, name: str, seeds: Collection[int] | None = None) -> Samples:
    """A sampled quantity under the given seeds, or under all.

    Ratios of the packets offered are returned as counts, so that a bin of several steps divides all its drops
    or marks by all its offered packets; a result of an older version has only the ratios.
    """
    counted = COUNTED.get(name)
    if counted is None or not result.series["name"].is_in([counted]).any():
        return {variant: list(_by_seed(result, name, variant, seeds).values()) for variant in result.variants}
    found = {}
    for variant in result.variants:
        offered = _by_seed(result, OFFERED, variant, seeds)
        runs = _by_seed(result, counted, variant, seeds)
        if runs:
            found[variant] = [run._replace(whole=offered[seed].values) for seed, run in runs.items()]
        else:
            # A fluid has ratios and no packets to count.
            found[variant] = list(_by_seed(result, name, variant, seeds).values())
    return found


def binned(sampled: Samples, step: float) -> list[Band]:
    """One band for each variant, in bins of `step` seconds.

    Each point is the mean over the seeds of the means of one bin; low and high are the extremes of the seeds'
    bin means.
    """
    return [_band(variant, runs, step) for variant, runs in sampled.items()]


def flows(result: Result) -> list[str]:
    """Single flows to draw, such as ``window_packets.flow_3``.

    Of one variant all sampled ones, of several one each: saw-teeth would overlap.
    """
    if "name" not in result.series.columns:
        return []
    names = result.series["name"].unique().to_list()
    found = sorted((name for name in names if name.startswith(FLOW)), key=lambda name: (len(name), name))
    return found if len(result.variants) == 1 else found[:1]


def distribution(result: Result, name: str, grid: Line) -> list[Band]:
    """The fraction of samples at or below each value of `grid`, from 0 to 1, one band for each variant.

    A variant without a distribution of that name has NaN.
    """
    table = result.distributions.filter(pl.col("name") == name)
    return [_spread(variant, table.filter(of_variant(result, variant)), grid) for variant in result.variants]


#: Prefix of the series of one flow's congestion window.
FLOW = "window_packets.flow_"


def of_variant(result: Result, variant: Variant) -> pl.Expr:
    """Rows of a variant."""
    chosen = pl.col("qdisc") == variant.qdisc
    return chosen & (pl.col("plant") == variant.plant) if len(result.plants) > 1 else chosen


def _spread(variant: Variant, rows: pl.DataFrame, grid: Line) -> Band:
    curves = [
        np.interp(grid, one["value"].to_numpy(), one["cumulative"].to_numpy(), left=0.0, right=1.0)
        for one in rows.partition_by("seed", maintain_order=True)
    ]
    stack = np.vstack(curves) if curves else np.full((1, len(grid)), np.nan)
    mean = np.asarray(stack.mean(axis=0), dtype=np.float64)
    return Band(variant, grid, mean, stack.min(axis=0), stack.max(axis=0))


def _by_seed(
    result: Result, name: str, variant: Variant, seeds: Collection[int] | None
) -> dict[int, Sampled]:
    """Samples of each seed of one variant."""
    chosen = (pl.col("name") == name) & of_variant(result, variant) & pl.col("value").is_not_null()
    if seeds is not None:
        chosen &= pl.col("seed").is_in(seeds)
    rows = result.series.filter(chosen).select("seed", "time", "value")
    return {
        one["seed"][0]: Sampled(one["time"].to_numpy(), one["value"].to_numpy())
        for one in rows.partition_by("seed", maintain_order=True)
    }


def _band(variant: Variant, runs: list[Sampled], step: float) -> Band:
    means = [_means(run, step) for run in runs]
    points = max((column.size for column in means), default=0)
    seeds = np.full((max(1, len(means)), points), np.nan)
    for row, column in zip(seeds, means, strict=False):
        row[: column.size] = column
    x = np.asarray((np.arange(points) + 0.5) * step, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a bin without samples of any seed is NaN
        mean = np.asarray(np.nanmean(seeds, axis=0), dtype=np.float64)
        return Band(variant, x, mean, np.nanmin(seeds, axis=0), np.nanmax(seeds, axis=0), seeds[0])


def _means(run: Sampled, step: float) -> Line:
    """Mean of each bin, or its share of the whole; NaN: empty bin."""
    # A sample's time is the end of its step: one that ends with a bin belongs to that bin.
    places = np.maximum(np.ceil(run.times / step - 1e-6).astype(np.int64) - 1, 0)
    totals = np.bincount(places, weights=run.whole)
    sums = np.bincount(places, weights=run.values)
    found = np.full(totals.size, np.nan)
    np.divide(sums, totals, out=found, where=totals > 0)
    return found
