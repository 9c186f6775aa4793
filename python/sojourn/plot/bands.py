"""From sampled columns to lines: the mean over the seeds, and the band that the seeds span."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from sojourn.result import Result

Line = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Band:
    """One disc's line: `x` with the mean, lowest and highest of the seeds at each point (NaN: nothing)."""

    disc: str
    x: Line
    mean: Line
    low: Line
    high: Line

    def scaled(self, x: float = 1.0, y: float = 1.0) -> Band:
        """The same band in other units."""
        return Band(self.disc, self.x * x, self.mean * y, self.low * y, self.high * y)


def step_s(result: Result, points: int) -> float:
    """The width of the bins when time is cut into about `points` of them: 1, 2 or 5 times a power of ten.

    It is never shorter than the step of the samples: there is nothing in between.
    """
    span = end_s(result)
    if span <= 0:
        return 1.0
    raw = span / points
    power = 10.0 ** math.floor(math.log10(raw))
    nice = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * (1 - 1e-9))
    return max(nice, sample_s(result))


def sample_s(result: Result) -> float:
    """The step of the samples, seconds; 0 where there is none."""
    if "time" not in result.series.columns:
        return 0.0
    first = result.series["time"].head(1000).unique().sort().head(2).to_list()
    return float(f"{first[1] - first[0]:.9g}") if len(first) == 2 else 0.0


def end_s(result: Result) -> float:
    """The time of the last sample, seconds; 0 where there is none."""
    last = result.series["time"].max() if "time" in result.series.columns else None
    return float(last) if isinstance(last, int | float) else 0.0


def over_time(result: Result, name: str, points: int) -> list[Band]:
    """A sampled quantity over time in about `points` bins, one band for each disc."""
    return binned(result, name, step_s(result, points))


def binned(result: Result, name: str, step: float) -> list[Band]:
    """A sampled quantity over time, one band for each disc.

    Each point is the mean of a bin of `step` seconds; low and high are the extremes of the seeds' bin means.
    """
    table = (
        _binned(result.series.filter(pl.col("name") == name), step)
        .group_by("disc", "bin", maintain_order=True)
        .agg(
            pl.col("value").mean().alias("mean"),
            pl.col("value").min().alias("low"),
            pl.col("value").max().alias("high"),
        )
    )
    return [_band(disc, table.filter(pl.col("disc") == disc), step) for disc in result.discs]


def flows(result: Result) -> list[str]:
    """The names of the flows whose congestion window was sampled, such as ``window_packets.flow_3``."""
    if "name" not in result.series.columns:
        return []
    names = result.series["name"].unique().to_list()
    found = [name for name in names if name.startswith(FLOW)]
    return sorted(found, key=lambda name: (len(name), name))


def one_seed(result: Result, name: str, step: float) -> list[Band]:
    """A sampled quantity over time under the lowest seed alone, one line for each disc."""
    seed = min(result.seeds)
    chosen = result.series.filter((pl.col("name") == name) & (pl.col("seed") == seed))
    columns = [pl.col("value").alias(column) for column in ("mean", "low", "high")]
    table = _binned(chosen, step).with_columns(columns)
    return [_band(disc, table.filter(pl.col("disc") == disc), step) for disc in result.discs]


def distribution(result: Result, name: str, grid: Line) -> list[Band]:
    """The fraction of samples at or below each value of `grid`, one band for each disc."""
    table = result.distributions.filter(pl.col("name") == name)
    return [_spread(disc, table.filter(pl.col("disc") == disc), grid) for disc in result.discs]


#: What the series of one flow's congestion window begins with.
FLOW = "window_packets.flow_"


def _binned(rows: pl.DataFrame, step: float) -> pl.DataFrame:
    """The mean of each bin: disc, seed, bin, value."""
    # A sample's time is the end of its step: one that ends where a bin ends belongs to that bin.
    bins = (pl.col("time") / step - 1e-6).ceil().cast(pl.Int64).clip(1).sub(1).alias("bin")
    # Without nulls a mean over an empty bin does not exist: such bins stay out, and are NaN in the band.
    return (
        rows.filter(pl.col("value").is_not_null())
        .with_columns(bins)
        .group_by("disc", "seed", "bin", maintain_order=True)
        .agg(pl.col("value").mean())
    )


def _spread(disc: str, rows: pl.DataFrame, grid: Line) -> Band:
    curves = [
        np.interp(grid, one["value"].to_numpy(), one["cumulative"].to_numpy(), left=0.0, right=1.0)
        for one in rows.partition_by("seed", maintain_order=True)
    ]
    stack = np.vstack(curves) if curves else np.full((1, len(grid)), np.nan)
    mean = np.asarray(stack.mean(axis=0), dtype=np.float64)
    return Band(disc, grid, mean, stack.min(axis=0), stack.max(axis=0))


def _band(disc: str, rows: pl.DataFrame, step: float) -> Band:
    if rows.is_empty():
        nothing = np.full(0, np.nan)
        return Band(disc, nothing, nothing, nothing, nothing)
    places = rows["bin"].to_numpy()
    columns = {name: np.full(int(places.max()) + 1, np.nan) for name in ("mean", "low", "high")}
    for name, column in columns.items():
        column[places] = rows[name].to_numpy()
    x = np.asarray((np.arange(int(places.max()) + 1) + 0.5) * step, dtype=np.float64)
    return Band(disc, x, columns["mean"], columns["low"], columns["high"])
