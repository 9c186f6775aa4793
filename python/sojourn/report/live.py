"""Data of the page's script: every line at several resolutions.

Each resolution comes from `plot.bands`, as in the still pictures: a coarse one is a mean over longer bins,
never a choice of points. So a picture of 200 000 samples costs no more to draw than one of 400, and zooming
in resolves the bins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sojourn.plot import COARSE, GOODPUT, ROUND_TRIP, Canvas, Plots, bands, ccdf, style
from sojourn.plot.bands import Band
from sojourn.report.columns import pack
from sojourn.result import Result, Variant, metrics, tables, words

#: Approximate number of points of the coarsest resolution, and factors of the finer ones: close to each other
#: first, where a reader sees the difference, then farther apart.
FIRST, FINER, CLOSE, FARTHER = 400, 2, 1600, 5
#: Least factor of the finest one: below it its points are not worth their bytes.
LEAST_FINER = 1.5
#: Most values of a page's finest resolutions together, without the few of single flows: some 2 MB with the
#: coarser ones.
VALUES = 800_000
#: The same of a page of several links, whose still pictures are as many times as long.
VALUES_OF_SEVERAL = 400_000
#: Still pictures, for paper and for readers without scripts; the page shows 72 units an inch, so that their
#: text is about 10 pixels high.
STILL = Canvas(size=(7.4, 3.2), points=200, one_seed=True)
#: Most charts of classes of a link.
MOST_CLASSES = 10
#: Prefixes of the charts of classes: of their goodput, and of the round trips of those that ping.
OF_CLASS, OF_PINGS = "goodput-", "ping-"


@dataclass(frozen=True)
class Chart:
    """One picture over time or over the delay: its source and its name."""

    name: str
    title: str
    draw: Callable[[Plots], Axes]
    #: Column of the series; None for the tails of the delay.
    series: str | None
    #: Factor of the values; None: the unit of the delay.
    scale: float | None = 1.0
    #: True for noisy ratios of few packets, with fewer points than the others.
    coarse: bool = False
    #: True if its vertical axis starts at zero.
    from_zero: bool = True


CHARTS = (
    Chart("queue", "Queue", Plots.queue, "queue_packets"),
    Chart("delay", "Delay over time", Plots.delay, "sojourn_s", scale=None),
    Chart("ccdf", "Tails of the delay", Plots.delay_ccdf, None, from_zero=False),
    Chart("drops", "Drops", Plots.drops, "drop_ratio", scale=100, coarse=True),
    Chart("marks", "Marks", Plots.marks, "mark_ratio", scale=100, coarse=True),
    Chart("utilization", "Utilisation", Plots.utilization, "utilization", 100, coarse=True, from_zero=False),
    Chart("window", "Congestion windows", Plots.window, "window_packets"),
)

#: Charts of qdiscs that share their link by utility, where there are any.
OF_UTILITY = (
    Chart("regret", "Regret", Plots.regret, "regret", from_zero=False),
    Chart("utility", "Utility", Plots.utility, "utility", from_zero=False),
    Chart("price", "Price of the link", Plots.price, "price", from_zero=False),
)


@dataclass(frozen=True)
class Sight:
    """One link on the page: its measurements, its charts, and their still pictures by name.

    Or the classes that cross no link with a qdisc: their view has no link.
    """

    place: int
    view: Result
    charts: tuple[Chart, ...]
    axes: dict[str, Axes]
    #: Prefix of ids on the page; empty for a single link.
    ids: str
    #: Most values of the finest resolutions of its charts together.
    values: int

    def finest_s(self, chart: Chart) -> float:
        """Shortest step of the chart on the page, seconds."""
        return self.steps(chart)[-1]

    def steps(self, chart: Chart) -> list[float]:
        """Steps of the chart's resolutions, seconds, coarsest first; none is finer than the samples."""
        thinner = COARSE if chart.coarse else 1
        points, most = FIRST // thinner, max(FIRST, self._most_points()) // thinner
        steps = [bands.step_s(self.view, points)]
        while points < most:
            finer = min(points * (FINER if points < CLOSE else FARTHER), most)
            if finer < LEAST_FINER * points:
                break
            points = finer
            step = bands.step_s(self.view, points)
            if step < steps[-1] * (1 - 1e-9):
                steps.append(step)
        return steps

    def _most_points(self) -> int:
        """Most points of a line at its finest, so that the page stays small."""
        columns = sum(_lines_of(self.view, variant) for variant in self.view.variants)
        shares = sum(1 / COARSE if chart.coarse else 1 for chart in self.charts if chart.series is not None)
        return int(self.values / (columns * shares))


def sights(result: Result) -> list[Sight]:
    """The links of a result, each with its charts; last the classes that cross no qdisc, if any.

    A single link is shown whole, of many links the busiest are shown.
    """
    found = []
    shown = {*_busiest(result), None}
    places = [link for link in result.places if link in shown]
    views = [result] if len(result.links) == 1 else [result.for_link(link) for link in places]
    values = VALUES if len(views) == 1 else VALUES_OF_SEVERAL
    for place, view in enumerate(views):
        of_utility = OF_UTILITY if "utility" in view.series["name"] else ()
        charts = (*(CHARTS if view.links else ()), *of_utility, *_of_classes(view))
        axes = {chart.name: chart.draw(Plots(view, STILL)) for chart in charts}
        ids = f"link-{place}-" if len(views) > 1 else ""
        found.append(Sight(place, view, charts, axes, ids, values // len(views)))
    return found


def _busiest(result: Result) -> list[str]:
    """Links of the page, as many as a summary has: the busiest by mean utilisation over the runs."""
    if len(result.links) <= tables.MOST_LINKS:
        return result.links
    used: dict[str, list[float]] = {link: [] for link in result.links}
    for row in result.runs:
        value = row.metrics.get(metrics.UTILIZATION.metric)
        if row.link is not None and isinstance(value, int | float):
            used[row.link].append(value)
    mean = {link: sum(values) / len(values) if values else 0.0 for link, values in used.items()}
    return sorted(result.links, key=lambda link: -mean[link])[: tables.MOST_LINKS]


def _of_classes(view: Result) -> Iterator[Chart]:
    """Charts over time of each class of traffic: its goodput, or the round trips of its pings."""
    plots, series = Plots(view), set(view.series["name"].unique())
    for place, name in enumerate(view.classes[:MOST_CLASSES]):
        round_trip = f"{ROUND_TRIP}{name}"
        if round_trip in series:
            draw = partial(Plots.ping, traffic_class=name)
            scale = plots.ping_unit(name)[1]
            yield Chart(f"{OF_PINGS}{place}", name, draw, round_trip, scale, coarse=True)
        else:
            draw = partial(Plots.goodput, traffic_class=name)
            scale = plots.goodput_unit(name)[1]
            yield Chart(f"{OF_CLASS}{place}", name, draw, f"{GOODPUT}{name}", scale, coarse=True)


def data(sights: list[Sight]) -> dict[str, Any]:
    """All data of the script."""
    result = sights[0].view
    plots = Plots(result)
    unit, times = plots.time_unit()
    called = words.variant_names(result)
    return {
        "qdiscs": list(words.short_names(result.qdiscs).values()),
        "laws": [_law(called[variant], look) for variant, look in style.looks(result).items()],
        "time": {
            "unit": unit,
            "warmup": plots.warmup_s() * times,
            "changes": [change * times for change in plots.changes_s()],
        },
        "charts": [_chart(sight, chart) for sight in sights for chart in sight.charts],
    }


def _law(name: str, look: style.Look) -> dict[str, Any]:
    """A law in one plant for the script, with the style of its lines."""
    law = {"name": name, "qdisc": look.place, "colour": look.slot, "dash": look.pattern}
    if look.stroke == style.Stroke():
        return law
    return law | {"width": look.stroke.width, "alpha": look.stroke.alpha}


def _chart(sight: Sight, chart: Chart) -> dict[str, Any]:
    result, ax = sight.view, sight.axes[chart.name]
    plots = Plots(result)
    scale = plots.delay_unit()[1] if chart.scale is None else chart.scale
    if chart.series is None:
        x_unit = plots.delay_unit()[0]
        levels = [_tails(plots)]
    else:
        x_unit, x_scale = plots.time_unit()
        levels = []
        sampled, flows = bands.samples(result, chart.series), _flows(result, chart)
        for step in sight.steps(chart):
            lines = [band.scaled(x_scale, scale) for band in bands.binned(sampled, step)]
            level = _level(result, lines, step * x_scale)
            level["y"] = _limits(lines, plots.warmup_s() * x_scale, ax.get_ylim())
            level["flows"] = [
                {"law": place, "line": pack(band.mean)}
                for flow in flows
                for place, band in enumerate(bands.binned(flow, step))
                if band.x.size  # a fluid has no single flows
            ]
            levels.append(level)
    return {
        "name": f"{sight.ids}{chart.name}",
        "overTime": chart.series is not None,
        "xUnit": x_unit,
        "unit": unit(ax),
        "x": ax.get_xlim() if chart.series is not None else np.log10(ax.get_xlim()).tolist(),
        "fromZero": chart.from_zero,
        "pixelsPerPoint": COARSE * COARSE if chart.coarse else COARSE,
        "levels": levels,
    }


def unit(ax: Axes) -> str:
    """Unit of the vertical axis; empty if its label has none."""
    _, comma, found = ax.get_ylabel().rpartition(", ")
    return found if comma else ""


def _tails(plots: Plots) -> dict[str, Any]:
    """The tails of the delay: logarithms of the delays and of the shares that wait longer."""
    result, scale = plots.result, plots.delay_unit()[1]
    delays = plots.tail_grid(2 * FIRST)
    least = math.log10(ccdf.LEAST)

    def logarithm(share: bands.Line, empty: float) -> bands.Line:
        return np.log10(share, out=np.full(share.size, empty), where=share >= ccdf.LEAST)

    def falling(share: bands.Line) -> bands.Line:
        # To the bottom where it ends, and nothing behind.
        line = logarithm(share, np.nan)
        line[np.flatnonzero(share < ccdf.LEAST)[:1]] = least
        return line

    lines = [
        Band(
            band.variant,
            np.log10(band.x * scale),
            falling(band.mean),
            logarithm(band.low, least),
            logarithm(band.high, least),
        )
        for band in ccdf.tails(result, delays)
    ]
    step = math.log10(delays[1] / delays[0])
    ticks = [[math.log10(share), name] for share, name in ccdf.LEVELS.items()]
    return _level(result, lines, step) | {"y": (least, 0.0), "ticks": ticks}


def _flows(result: Result, chart: Chart) -> list[bands.Samples]:
    """Single flows' windows, if the chart shows windows and the result has such samples."""
    names = bands.flows(result) if chart.name == "window" else []
    return [bands.samples(result, name, [min(result.seeds)]) for name in names]


def _limits(lines: list[Band], warmup: float, still: tuple[float, float]) -> tuple[float, float]:
    """Vertical range of a resolution: the still picture's, widened for finer steps.

    The warm-up may exceed it.
    """
    low, high = still
    for band in lines:
        for column in (band.low, band.high):
            kept = column[(band.x >= warmup) & np.isfinite(column)]
            if kept.size:
                low, high = min(low, float(kept.min())), max(high, float(kept.max()))
    return low, high


def _level(result: Result, lines: list[Band], step: float) -> dict[str, Any]:
    """One resolution: the positions of its points, and the lines."""
    longest = max(lines, key=lambda band: band.x.size)
    return {
        "start": float(longest.x[0]) if longest.x.size else 0.0,
        "step": step,
        "points": int(longest.x.size),
        "laws": [
            [pack(column) for column in _columns(band)[: _lines_of(result, band.variant)]] for band in lines
        ],
    }


def _columns(band: Band) -> tuple[bands.Line, bands.Line, bands.Line]:
    """The line, and the lowest and the highest of the seeds."""
    return band.mean if band.first is None else band.first, band.low, band.high


def _lines_of(result: Result, variant: Variant) -> int:
    """Number of lines: one and, with several seeds, the lowest and the highest."""
    return 3 if variant.seeded and len(result.seeds) > 1 else 1
