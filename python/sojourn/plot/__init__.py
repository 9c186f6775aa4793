"""Pictures of results. They read results only, and never run anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from sojourn.plot import bands, style
from sojourn.plot.bands import Band
from sojourn.result import Result
from sojourn.result.words import seconds

__all__ = ["Canvas", "Plots"]

#: Ratios of few packets jump: their lines have so many times fewer points.
COARSE = 4
#: What stands beside every time axis.
TIME = "time, s"


@dataclass(frozen=True)
class Canvas:
    """How large a picture is and how it is laid out."""

    #: Width and height, inches.
    size: tuple[float, float] = (9.0, 3.4)
    #: How many points a line has, about.
    points: int = 400
    #: Whether the picture carries its own legend.
    legend: bool = True
    #: Whether panels stand above each other rather than side by side.
    stacked: bool = False


@dataclass(frozen=True)
class Plots:
    """The pictures of one result: each draws the mean over the seeds and the band that they span.

    Every method returns Matplotlib axes; their figure is ``axes.figure`` and is saved with
    ``axes.figure.savefig("queue.svg")``. No pyplot state is touched.

    >>> import sojourn as sj
    >>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s"})
    >>> sj.run(sc).plot.queue().get_ylabel()
    'queue, packets'
    """

    result: Result
    canvas: Canvas = Canvas()

    def queue(self) -> Axes:
        """The backlog of the disc over time, packets."""
        return self._over_time("queue_packets", "queue, packets")

    def delay(self) -> Axes:
        """The distribution of the delay in the disc: sojourn in ms, and the share of packets, %."""
        _, (ax,) = style.figure(self.canvas.size)
        grid = np.linspace(0.0, self._longest_s(), 2 * self.canvas.points)
        for place, band in enumerate(bands.distribution(self.result, "sojourn_s", grid)):
            self._draw(ax, place, band.scaled(1e3, 100))
        ax.set_xlim(0, grid[-1] * 1e3)
        ax.set_ylim(0, 100)
        style.label(ax, "sojourn, ms", "packets that wait no longer, %")
        return self._finish(ax)

    def marks(self) -> tuple[Axes, Axes]:
        """Drops and marks over time, % of the packets offered: two axes, drops first."""
        _, (left, right) = style.figure(self.canvas.size, 2, stacked=self.canvas.stacked)
        for ax, name, label in ((left, "drop_ratio", "drops, %"), (right, "mark_ratio", "marks, %")):
            for place, band in enumerate(bands.over_time(self.result, name, self.canvas.points // COARSE)):
                self._draw(ax, place, band.scaled(1, 100))
            self._time_axis(ax)
            style.label(ax, TIME if ax is right or not self.canvas.stacked else "", label)
        top = 100 * max(self._measured("drop_ratio")[1], self._measured("mark_ratio")[1])
        for ax in (left, right):
            ax.set_ylim(0, 1.1 * top if top > 0 else 1.0)
        self._finish(left)
        return left, right

    def utilization(self) -> Axes:
        """The share of the link's rate that is used over time, %."""
        ax = self._over_time("utilization", "utilisation, %", scale=100, points=self.canvas.points // COARSE)
        lowest = min(98.0, 100 * self._measured("utilization")[0])
        ax.set_ylim(max(0.0, lowest - 0.1 * (100 - lowest)), 100 + 0.05 * (100 - lowest))
        return ax

    def window(self) -> Axes:
        """The mean congestion window of the flows over time, packets."""
        return self._over_time("window_packets", "congestion window, packets")

    def _over_time(self, name: str, label: str, *, scale: float = 1.0, points: int | None = None) -> Axes:
        _, (ax,) = style.figure(self.canvas.size)
        found = bands.over_time(self.result, name, points or self.canvas.points)
        for place, band in enumerate(found):
            self._draw(ax, place, band.scaled(1, scale))
        ax.set_ylim(bottom=0)
        self._time_axis(ax)
        style.label(ax, TIME, label)
        return self._finish(ax)

    def _draw(self, ax: Axes, place: int, band: Band) -> None:
        colour = style.colour(place)
        ax.fill_between(band.x, band.low, band.high, color=colour, alpha=style.BAND_ALPHA, linewidth=0)
        ax.plot(band.x, band.mean, style.dash(place), color=colour, linewidth=1.6, label=band.disc)

    def _time_axis(self, ax: Axes) -> None:
        """From the start to the end, with what is not measured shaded and every change marked."""
        last = self.result.series["time"].max()
        end = seconds(self.result.scenario.get("duration")) or (last if isinstance(last, int | float) else 0)
        if end > 0:
            ax.set_xlim(0, end)
        if self._warmup_s() > 0:
            style.warmup(ax, self._warmup_s())
        for change in self.result.scenario.get("at") or []:
            when = seconds(change.get("time"))
            if when is not None:
                style.change(ax, when)

    def _measured(self, name: str) -> tuple[float, float]:
        """The lowest and highest of the coarse bands after the warm-up: the start may leave the picture."""
        found = bands.over_time(self.result, name, self.canvas.points // COARSE)
        kept = [band.x >= self._warmup_s() for band in found]
        low = np.concatenate([band.low[keep] for band, keep in zip(found, kept, strict=True)])
        high = np.concatenate([band.high[keep] for band, keep in zip(found, kept, strict=True)])
        if np.all(np.isnan(low)):
            return 0.0, 0.0
        return float(np.nanmin(low)), float(np.nanmax(high))

    def _warmup_s(self) -> float:
        return seconds(self.result.scenario.get("warmup")) or 0.0

    def _longest_s(self) -> float:
        """The delay that one packet in a thousand exceeds, of the slowest run, seconds."""
        table = self.result.distributions.filter(pl.col("name") == "sojourn_s")
        reached = (
            table.filter(pl.col("cumulative") >= 0.999).group_by("disc", "seed").agg(pl.col("value").min())
        )
        longest = reached["value"].max()
        return longest * 1.02 if isinstance(longest, int | float) and longest > 0 else 1e-3

    def _finish(self, ax: Axes) -> Axes:
        if self.canvas.legend:
            style.legend(ax)
        return ax
