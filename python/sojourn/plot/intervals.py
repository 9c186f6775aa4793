"""Means and paired differences with their intervals, one row a law."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sojourn.plot import style
from sojourn.result import Result, words
from sojourn.result.statistics import Estimate
from sojourn.result.words import Column

#: How much of a class's height its laws take.
CLASS_SHARE = 0.62


def height_in(names: Sequence[str]) -> float:
    """The height of a picture with a row for each name, inches; what is set of a law stands under it."""
    return 0.85 + (0.36 if _two_lines(names) else 0.27) * max(1, len(names))


def means(ax: Axes, result: Result, metric: str) -> Axes:
    """The mean of every law, its interval, and each seed as a dot."""
    column = words.column_of(result, metric)
    for row, disc in enumerate(result.discs):
        _seeds(ax, row, [value * column.scale for value in result.values(disc, metric).values()])
        _interval(ax, row, row, words.scaled(result, disc, column))
    _rows(ax, result, result.discs)
    # An interval may reach beyond what can be; the axis does not.
    low, high = ax.get_xlim()
    ax.set_xlim(
        low if column.least is None else max(low, column.least),
        high if column.most is None else min(high, column.most),
    )
    style.label(ax, column.long, "")
    return ax


def classes_height_in(result: Result) -> float:
    """The height of a picture with a row for each class and law, inches."""
    return 0.85 + len(result.classes) * (0.2 * len(result.discs) + 0.16)


def by_class(ax: Axes, result: Result, metric: str) -> Axes:
    """The mean of every class under every law, its interval, each seed as a dot; the laws by colours."""
    column = words.column_of(result, metric, result.classes)
    called = words.short_names(result.discs)
    laws = len(result.discs)
    for group, traffic_class in enumerate(result.classes):
        for place, disc in enumerate(result.discs):
            row = group + CLASS_SHARE * ((place + 0.5) / laws - 0.5)
            found = result.values(disc, metric, traffic_class=traffic_class)
            _seeds(ax, row, [value * column.scale for value in found.values()])
            _interval(ax, row, place, words.scaled(result, disc, column, traffic_class))
    for place, disc in enumerate(result.discs):
        # For the legend.
        ax.plot([], [], color=style.colour(place), marker="o", linewidth=2.2, label=style.plain(called[disc]))
    ax.margins(x=0.08)
    ax.autoscale(axis="x")
    ax.xaxis.set_major_locator(MaxNLocator(4))
    labels = [style.plain(f"{one}{_where(result, one, metric)}") for one in result.classes]
    ax.set_yticks(range(len(labels)), labels, color=style.INK, fontsize=style.FONT_PT)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(left=max(0.0, ax.get_xlim()[0]))
    style.label(ax, column.long, "")
    return ax


def _where(result: Result, traffic_class: str, metric: str) -> str:
    """The link at which a class is seen, where there are several and the metric is not one of whole ways."""
    if len(result.links) < 2 or metric.startswith(words.WHOLE_WAY):
        return ""
    link = result.seen(traffic_class=traffic_class)[0].link
    return ", no disc" if link is None else f", at {link}"


def differences(ax: Axes, result: Result, metric: str, baseline: str) -> Axes:
    """What every other law has more than the baseline; filled where the seeds show it.

    The unit pp is percentage points.
    """
    column = words.column_of(result, metric)
    others = [disc for disc in result.discs if disc != baseline]
    for row, disc in enumerate(others):
        found = words.difference_to(result, disc, baseline, column)
        _interval(ax, row, result.discs.index(disc), found, hollow=not words.shown(found))
    ax.axvline(0, color=style.MUTED, linewidth=1.0, zorder=1)
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, -0.08 * (high - low)), max(high, 0.08 * (high - low)))
    _rows(ax, result, others)
    style.label(ax, style.plain(_more_than(column.apart, words.short_names(result.discs)[baseline])), "")
    return ax


def _seeds(ax: Axes, row: float, seeds: list[float]) -> None:
    if not seeds:
        # An empty line that is not clipped would lie in the figure's corner, and the axes shrink to nothing.
        return
    ax.plot(
        seeds,
        [row] * len(seeds),
        linestyle="",
        marker="o",
        markersize=3,
        color=style.MUTED,
        alpha=0.45,
        clip_on=False,
    )


def _interval(ax: Axes, row: float, place: int, found: Estimate | None, *, hollow: bool = False) -> None:
    if found is None:
        return
    colour = style.colour(place)
    if found.low is not None and found.high is not None:
        ax.plot([found.low, found.high], [row, row], color=colour, linewidth=2.2, solid_capstyle="round")
    ax.plot(
        [found.mean],
        [row],
        color=colour,
        marker="o",
        markersize=7,
        markerfacecolor=style.PAPER if hollow else colour,
        markeredgewidth=1.6,
        clip_on=False,
    )


def _rows(ax: Axes, result: Result, discs: list[str]) -> None:
    """The laws by name, the first one on top."""
    called = words.short_names(result.discs)
    ax.margins(x=0.08)
    ax.autoscale(axis="x")
    ax.xaxis.set_major_locator(MaxNLocator(4))
    labels = [style.plain(called[disc]).replace(":", "\n", 1) for disc in discs]
    size = style.FONT_PT - (2 if _two_lines(list(called.values())) else 0)
    ax.set_yticks(range(len(discs)), labels, color=style.INK, fontsize=size)
    ax.set_ylim(len(discs) - 0.4, -0.6)


def _more_than(column: Column, baseline: str) -> str:
    unit = f"{column.unit} more" if column.unit else "more"
    return f"{column.short}, {unit} than {baseline}"


def _two_lines(names: Sequence[str]) -> bool:
    return any(":" in name for name in names)
