"""Tails of the delay: the share of packets that wait longer, on logarithmic axes."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from sojourn.plot import bands, style
from sojourn.plot.bands import Band, Line
from sojourn.result import Result

#: Shares of packets that wait longer, and the quantile of each.
LEVELS = {0.5: "p50", 0.1: "p90", 0.05: "p95", 0.01: "p99", 0.001: "p99.9"}
#: Lowest share drawn: below p99.9.
LEAST = 0.0007
#: Share of packets that exceed the shortest delay drawn, in the fastest run.
FIRST = 0.75
#: Longest delay over the shortest, at most.
WIDEST = 1e4
#: Label of the axis of shares.
LABEL = "quantile of the packets"


def grid(result: Result, longest_s: float, points: int) -> Line:
    """`points` delays up to `longest_s`, seconds, at equal ratios, from one that most packets exceed."""
    table = result.distributions.filter((pl.col("name") == "sojourn_s") & (pl.col("cumulative") >= 1 - FIRST))
    reached = table.group_by("plant", "qdisc", "seed").agg(pl.col("value").min())["value"].min()
    shortest = reached if isinstance(reached, int | float) else 0.0
    return np.geomspace(min(max(shortest, longest_s / WIDEST), longest_s / 2), longest_s, points)


def tails(result: Result, delays: Line) -> list[Band]:
    """The share of packets, 0 to 1, that wait longer than each delay, s: mean and range of the seeds."""
    return [
        Band(band.variant, band.x, 1 - band.mean, 1 - band.high, 1 - band.low)
        for band in bands.distribution(result, "sojourn_s", delays)
    ]


def scale(ax: Axes, delays: Line) -> None:
    """Logarithmic axes over the delays and the shares, which are named by their quantiles."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(float(delays[0]), float(delays[-1]))
    ax.set_ylim(LEAST, 1.0)
    style.plain_numbers(ax.xaxis)
    ax.yaxis.set_major_locator(FixedLocator(list(LEVELS)))
    ax.yaxis.set_major_formatter(FixedFormatter(list(LEVELS.values())))
    ax.yaxis.set_minor_locator(NullLocator())
