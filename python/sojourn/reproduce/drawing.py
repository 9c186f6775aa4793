"""Pictures of a paper's figures: ours with 95 % intervals, and the paper's values as diamonds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from sojourn.plot import style
from sojourn.reproduce.calculations import curves
from sojourn.reproduce.figures import Figure
from sojourn.reproduce.paper import Setting, split
from sojourn.reproduce.predicate import over_windows
from sojourn.reproduce.runs import Sample, band_of, settings_of
from sojourn.result import words
from sojourn.result.column import Column
from sojourn.result.statistics import Estimate, estimate

if TYPE_CHECKING:
    from sojourn.reproduce import Reproduction

__all__ = ["column", "draw"]

#: Width of a picture, and height of a panel, inches.
WIDTH, HEIGHT, ROW = 10.0, 3.1, 1.75
#: Columns of metrics that the summary of a result has not.
FURTHER = (
    Column("rtt_mean_s", "round trip mean", "ms", 1000.0),
    Column("rtt_max_s", "round trip max", "ms", 1000.0),
    Column("qacd_packets", "QACD", "packets"),
)
#: Ratio of the largest place to the least above which an axis is logarithmic.
WIDE = 8
#: Part of the distance between places that the boxes of all laws take.
GROUP = 0.72


def column(metric: str) -> Column:
    """The column of a metric of a figure, which may have a window or a class before its name."""
    name = metric.rpartition(".")[2]
    return next((one for one in FURTHER if one.metric == name), words.column_named(name))


def draw(of: Reproduction, figure: Figure) -> Picture | None:
    """The picture of a figure; None where nothing of it ran."""
    kinds = {
        "over": _over,
        "laws": _by_law,
        "boxes": _boxes,
        "cdf": _cdf,
        "series": _series,
        "curves": _curves,
    }
    return kinds[figure.kind](of, figure)


def _label(figure: Figure, place: int) -> str:
    return style.plain(", ".join(figure.laws[place]))


def _sample(of: Reproduction, named: str, setting: Setting, metric: str) -> Sample | None:
    """Values of a metric in its display unit, by seed, or by seed and window."""
    name = split(f"{named}.{metric}", of.paper.name, of.paper.experiments)
    try:
        return np.atleast_1d(of.samples.of(name, setting.key)) * column(metric).scale
    except LookupError:
        return None


def _estimate(sample: Sample | None) -> Estimate | None:
    """Mean over the seeds, each the mean of its windows where there are several."""
    if sample is None:
        return None
    by_seed = over_windows(np.nanmean, sample) if sample.ndim > 1 else sample
    known = [float(one) for one in by_seed if not math.isnan(one)]
    return estimate(known) if known else None


def _places(at: Mapping[str, str]) -> dict[str, float]:
    """Positions on the axis: numbers as they are, others in turn."""
    try:
        return {name: float(name) for name in at}
    except ValueError:
        return {name: float(place) for place, name in enumerate(at)}


def _panels(columns: int, rows: int = 1, height: float = HEIGHT) -> tuple[Picture, list[Axes]]:
    return style.figure((WIDTH, height * rows + 0.35), rows, columns, apart=0.06, above=0.03)


def _finished(picture: Picture, ax: Axes) -> Picture:
    style.legend(ax, above=True)
    return picture


def _over(of: Reproduction, figure: Figure) -> Picture | None:
    picture, axes = _panels(len(figure.metrics))
    places, drawn = _places(figure.at), False
    for ax, metric in zip(axes, figure.metrics, strict=True):
        scale = column(metric).scale
        for number, ((law, _), setting) in enumerate(
            zip(figure.laws, settings_of(of.paper, figure), strict=True)
        ):
            found = {
                name: _estimate(_sample(of, f"{experiment}.{law}", setting, metric))
                for name, experiment in figure.at.items()
            }
            known = {places[name]: one for name, one in found.items() if one is not None}
            if not known:
                continue
            drawn = True
            look = style.Look(number)
            halves = [one.half or 0.0 for one in known.values()]
            means = [one.mean for one in known.values()]
            ax.errorbar(
                list(known), means, yerr=halves, linestyle=look.dash, marker="o", markersize=4, capsize=2,
                label=_label(figure, number), **look.line,
            )  # fmt: skip
            if law in figure.paper and metric == figure.metrics[-1]:
                _paper(ax, list(places.values()), [scale * one for one in figure.paper[law]], look.colour)
        _finish(ax, metric, figure.x)
        _across(ax, places)
    _level(figure, axes[0])
    return _finished(picture, axes[0]) if drawn else None


def _across(ax: Axes, places: Mapping[str, float]) -> None:
    """Ticks at the places, on a logarithmic axis where they are a wide range of numbers."""
    ticks = list(places.values())
    least, most = min(ticks), max(ticks)
    if least > 0 and most > WIDE * least:
        ax.set_xscale("log")
        ax.set_xlim(0.85 * least, most / 0.85)
    else:
        space = 0.05 * ((most - least) or 1)
        ax.set_xlim(least - space, most + space)
    ax.set_xticks(ticks, list(places))
    ax.minorticks_off()


def _paper(ax: Axes, x: list[float], y: list[float], colour: str) -> None:
    ax.plot(
        x, y, linestyle="none", marker="D", markersize=7, markerfacecolor="none", markeredgewidth=1.4,
        color=colour, zorder=4,
    )  # fmt: skip


def _finish(ax: Axes, metric: str, x: str) -> None:
    style.quieten(ax)
    style.label(ax, x, _long(metric))


def _long(metric: str) -> str:
    return column(metric).long


def _level(figure: Figure, ax: Axes) -> None:
    if figure.level is not None:
        ax.axhline(figure.level, color=style.MUTED, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)


def _by_law(of: Reproduction, figure: Figure) -> Picture | None:
    rows = len(figure.laws)
    picture, axes = _panels(len(figure.metrics), height=0.55 + 0.3 * rows)
    (experiment,) = figure.at.values()
    drawn = False
    for place, (ax, metric) in enumerate(zip(axes, figure.metrics, strict=True)):
        scale = column(metric).scale
        for number, ((law, _), setting) in enumerate(
            zip(figure.laws, settings_of(of.paper, figure), strict=True)
        ):
            found = _estimate(_sample(of, f"{experiment}.{law}", setting, metric))
            look = style.Look(number)
            if found is not None:
                drawn = True
                ax.errorbar(
                    [found.mean], [number], xerr=[found.half or 0.0], marker="o", markersize=5, capsize=3,
                    color=look.colour, linewidth=style.LINE,
                )  # fmt: skip
            values = figure.paper.get(law, ())
            if place < len(values):
                _paper(ax, [scale * values[place]], [number], look.colour)
        style.quieten(ax, grid="x")
        ax.margins(x=0.08)
        ax.set_ylim(rows - 0.4, -0.6)
        labels = [style.plain(", ".join(one)) for one in figure.laws] if place == 0 else [""] * rows
        ax.set_yticks(range(rows), labels, color=style.INK)
        style.label(ax, _long(metric), "")
        if len(figure.metrics) > 1 and "." in metric:
            ax.set_title(
                style.plain(metric.rpartition(".")[0]), loc="left", fontsize=style.FONT_PT, color=style.INK
            )
    return picture if drawn else None


def _boxes(of: Reproduction, figure: Figure) -> Picture | None:
    picture, axes = _panels(len(figure.metrics))
    drawn = False
    width = GROUP / len(figure.laws)
    for ax, metric in zip(axes, figure.metrics, strict=True):
        for number, ((law, _), setting) in enumerate(
            zip(figure.laws, settings_of(of.paper, figure), strict=True)
        ):
            colour = style.colour(number)
            for group, experiment in enumerate(figure.at.values()):
                sample = _sample(of, f"{experiment}.{law}", setting, metric)
                values = np.array([]) if sample is None else sample[np.isfinite(sample)]
                if not values.size:
                    continue
                drawn = True
                low, first, middle, third, high = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))
                box = {"med": middle, "q1": first, "q3": third, "whislo": low, "whishi": high}
                at = group + width * (number + 0.5) - GROUP / 2
                line = {"color": colour, "linewidth": 1.3}
                ax.bxp(
                    [box], [at], widths=0.8 * width, showfliers=False, boxprops=line, medianprops=line,
                    whiskerprops=line, capprops=line,
                )  # fmt: skip
            ax.plot([], [], color=colour, linewidth=2, label=_label(figure, number))
        _finish(ax, metric, figure.x)
        ax.set_xticks(range(len(figure.at)), list(figure.at))
        ax.set_xlim(-0.6, len(figure.at) - 0.4)
        ax.set_ylim(bottom=0)
    return _finished(picture, axes[0]) if drawn else None


def _cdf(of: Reproduction, figure: Figure) -> Picture | None:
    picture, axes = _panels(len(figure.metrics))
    (experiment,) = figure.at.values()
    drawn = False
    for ax, metric in zip(axes, figure.metrics, strict=True):
        for number, ((law, _), setting) in enumerate(
            zip(figure.laws, settings_of(of.paper, figure), strict=True)
        ):
            sample = _sample(of, f"{experiment}.{law}", setting, metric)
            if sample is None:
                continue
            drawn = True
            look = style.Look(number)
            shares = np.linspace(0, 1, 201)
            values = np.nanquantile(sample, shares)
            ax.plot(values, 100 * shares, linestyle=look.dash, label=_label(figure, number), **look.line)
        style.quieten(ax)
        ax.set_xlim(left=0)
        ax.set_ylim(0, 100)
        style.label(ax, _long(metric), "windows with no more, %")
    return _finished(picture, axes[0]) if drawn else None


def _series(of: Reproduction, figure: Figure) -> Picture | None:
    """A row of panels a law and place, a column a metric; panels of a metric have one scale."""
    columns = len(figure.metrics)
    rows = list(itertools.product(figure.at, range(len(figure.laws))))
    settings = settings_of(of.paper, figure)
    picture, axes = _panels(columns, len(rows), ROW)
    highest = [0.0] * columns
    end = 0.0
    for (row, (at, law)), column_number in itertools.product(enumerate(rows), range(columns)):
        metric, ax = figure.metrics[column_number], axes[row * columns + column_number]
        found = of.samples.series.get((figure.name, at, settings[law].key, metric))
        style.quieten(ax)
        if found is None:
            continue
        scale = column(metric).scale
        times, values = found
        end = max([end, *times])
        ax.plot(times, scale * values, color=style.colour(law), linewidth=1.1)
        highest[column_number] = max([highest[column_number], *(scale * values)])
        band = [
            of.samples.series.get((figure.name, at, settings[law].key, one)) for one, _ in band_of(metric)
        ]
        if band and band[0] is not None and band[1] is not None:
            ax.fill_between(
                band[0][0], band[0][1], band[1][1], color=style.colour(law), alpha=style.BAND_ALPHA,
                linewidth=0,
            )  # fmt: skip
            highest[column_number] = max([highest[column_number], *band[1][1]])
        if column_number == 0:
            _level(figure, ax)
    if not end:
        return None
    for (row, (at, law)), column_number in itertools.product(enumerate(rows), range(columns)):
        ax = axes[row * columns + column_number]
        ax.set_ylim(0, 1.05 * highest[column_number] or 1)
        ax.set_xlim(0, math.ceil(end))
        last = row == len(rows) - 1
        style.label(ax, "time, s" if last else "", _long(figure.metrics[column_number]))
        if not last:
            ax.set_xticklabels([])
        printed = figure.paper.get(figure.laws[law][0], ())
        if column_number < len(printed):
            scale = column(figure.metrics[column_number]).scale
            _paper(ax, [0.99 * end], [scale * printed[column_number]], style.colour(law))
        if column_number == 0:
            place = style.plain(f"; {figure.x}: {at}") if at else ""
            label = _label(figure, law) + place
            ax.set_title(label, loc="left", fontsize=style.FONT_PT, color=style.INK, pad=4)
    return picture


def _curves(of: Reproduction, figure: Figure) -> Picture | None:
    picture, (ax,) = _panels(1)
    for number, (name, (x, y)) in enumerate(curves(of.paper.name)[figure.at[""]]().items()):
        look = style.Look(number)
        if figure.points:
            kind: dict[str, Any] = {"linestyle": "none", "marker": "ox+sd"[number % 5], "fillstyle": "none"}
            ax.plot(x, y, color=look.colour, label=style.plain(name), **kind)
        else:
            ax.plot(x, y, linestyle=look.dash, label=style.plain(name), **(look.line | {"linewidth": 1.2}))
    if "x" in figure.log:
        ax.set_xscale("log")
    if "y" in figure.log:
        ax.set_yscale("log")
    style.quieten(ax)
    if figure.points:
        ax.margins(x=0.05)
        ax.axvline(0, color=style.MUTED, linewidth=0.9)
    if figure.level is not None:
        _level(figure, ax)
    for value in itertools.chain.from_iterable(figure.paper.values()):
        ax.axhline(value, color=style.MUTED, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    style.label(ax, figure.x, figure.y)
    return _finished(picture, ax)
