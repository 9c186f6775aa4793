"""Means and paired differences with their intervals, one row for each qdisc."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sojourn.plot import style
from sojourn.plot.style import Look
from sojourn.result import Result, Variant, metrics, words
from sojourn.result.column import Column
from sojourn.result.statistics import Estimate

#: Largest difference, in a column's unit, that is drawn as equal: rounding.
EQUAL = 1e-6
#: Fraction of a class's height for its qdiscs.
CLASS_SHARE = 0.62


def height_in(result: Result, variants: Sequence[Variant]) -> float:
    """Height of a picture with a row for each variant, inches; a qdisc's parameters stand below its name."""
    parts = words.name_parts(result)
    return 0.85 + (0.36 if any(parts[variant][1] for variant in variants) else 0.27) * max(1, len(variants))


def means(ax: Axes, result: Result, metric: str) -> Axes:
    """Mean of every qdisc, its interval, and each seed as a dot."""
    column = words.column_of(result, metric)
    looks = style.looks(result)
    for row, variant in enumerate(result.variants):
        _seeds(ax, row, _values(result, variant, column))
        _interval(ax, row, looks[variant], words.scaled(result, variant, column))
    _rows(ax, result, result.variants)
    # An interval may exceed the metric's bounds; the axis does not.
    low, high = ax.get_xlim()
    ax.set_xlim(
        low if column.least is None else max(low, column.least),
        high if column.most is None else min(high, column.most),
    )
    style.label(ax, column.long, "")
    return ax


def bars(
    ax: Axes,
    result: Result,
    column: Column,
    traffic_class: str | None,
    *,
    remark: Callable[[float], str] = lambda _: "",
    level: float | None = None,
    order: Sequence[Variant] = (),
) -> Axes:
    """Mean of every qdisc as a bar from zero, with its interval, its value, and a remark on it.

    `level` is drawn as a line across the bars, which have an `order` from the top, by default the result's.
    """
    looks = style.looks(result)
    variants = order or result.variants
    scaled = {one: words.scaled(result, one, column, traffic_class) for one in variants}
    found = {one: mean and words.bounded(column, mean) for one, mean in scaled.items()}
    largest = max((one.high or one.mean for one in found.values() if one is not None), default=1.0)
    for row, (variant, mean) in enumerate(found.items()):
        if mean is None:
            continue
        end = max(0.0, mean.mean)
        ax.barh(row, end, height=0.62, color=looks[variant].colour)
        if mean.low is not None and mean.high is not None:
            ax.plot([max(0.0, mean.low), max(0.0, mean.high)], [row, row], color=style.INK, linewidth=1.2)
            end = max(end, mean.high)
        digits = max(0, 2 - math.floor(math.log10(abs(mean.mean)))) if mean.mean else 0
        remarked = remark(mean.mean)
        ax.annotate(
            f"{mean.mean:.{digits}f}{f' ({remarked})' if remarked else ''}",
            (end, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=style.INK,
            fontsize=style.FONT_PT,
        )
    if level is not None:
        ax.axvline(level, color=style.INK, linewidth=1, linestyle=(0, (3, 2)))
    parts = words.name_parts(result)
    labels = [style.plain(" ".join(part for part in parts[variant] if part)) for variant in variants]
    ax.set_yticks(range(len(labels)), labels, color=style.INK, fontsize=style.FONT_PT)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    # Room for the numbers and remarks beside the bars.
    room = 2.1 if remark(largest) else 1.25
    ax.set_xlim(0, room * largest if largest > 0 else 1.0)
    ax.xaxis.set_visible(False)
    ax.spines["bottom"].set_visible(False)
    ax.grid(visible=False)
    return ax


def classes_height_in(result: Result) -> float:
    """Height of a picture with a row for each class and qdisc, inches."""
    return 0.85 + len(result.classes) * (0.2 * len(result.variants) + 0.16)


def by_class(ax: Axes, result: Result, metric: str) -> Axes:
    """Mean of every class under every qdisc, its interval, each seed as a dot; one colour for each qdisc."""
    column = words.column_of(result, metric, result.classes)
    called, looks = words.variant_names(result), style.looks(result)
    for group, traffic_class in enumerate(result.classes):
        for place, variant in enumerate(result.variants):
            row = group + CLASS_SHARE * ((place + 0.5) / len(looks) - 0.5)
            _seeds(ax, row, _values(result, variant, column, traffic_class))
            _interval(ax, row, looks[variant], words.scaled(result, variant, column, traffic_class))
    for variant, look in looks.items():
        # For the legend.
        ax.plot(
            [], [], color=look.colour, marker=look.marker, linewidth=2.2, label=style.plain(called[variant])
        )
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
    """The link of a class's values, if there are several and the metric is not end to end."""
    if len(result.links) < 2 or metric in metrics.END_TO_END:
        return ""
    link = result.rows(traffic_class=traffic_class)[0].link
    return ", no qdisc" if link is None else f", at {link}"


def differences(ax: Axes, result: Result, metric: str, baseline: str) -> Axes:
    """Excess of every other qdisc over the baseline; filled if the seeds show it.

    The unit pp is percentage points.
    """
    column = words.column_of(result, metric)
    looks = style.looks(result)
    others = [variant for variant in result.variants if variant.qdisc != baseline]
    for row, variant in enumerate(others):
        found = words.difference_to(result, variant, baseline, column)
        _interval(ax, row, looks[variant], found, hollow=not words.differs(result, variant, baseline, column))
    ax.axvline(0, color=style.MUTED, linewidth=1.0, zorder=1)
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, -0.08 * (high - low)), max(high, 0.08 * (high - low)))
    _rows(ax, result, others)
    style.label(ax, style.plain(_more_than(column.apart, words.short_names(result.qdiscs)[baseline])), "")
    return ax


def _values(
    result: Result, variant: Variant, column: Column, traffic_class: str | None = None
) -> list[float]:
    """Value of each seed, in the column's unit."""
    found = result.values(variant.qdisc, column.metric, traffic_class=traffic_class, plant=variant.plant)
    return [value * column.scale for value in found.values()]


def _seeds(ax: Axes, row: float, seeds: list[float]) -> None:
    if not seeds:
        # An unclipped empty line would lie in the figure's corner and shrink the axes to nothing.
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


def _interval(ax: Axes, row: float, look: Look, found: Estimate | None, *, hollow: bool = False) -> None:
    if found is None:
        return
    colour = look.colour
    if found.low is not None and found.high is not None:
        ax.plot([found.low, found.high], [row, row], color=colour, linewidth=2.2, solid_capstyle="round")
    ax.plot(
        [found.mean],
        [row],
        color=colour,
        marker=look.marker,
        markersize=5.5 if look.marker == "D" else 7,
        markerfacecolor=style.PAPER if hollow else colour,
        markeredgewidth=1.6,
        clip_on=False,
    )


def _rows(ax: Axes, result: Result, variants: Sequence[Variant]) -> None:
    """Laws by name, the first one on top."""
    parts = words.name_parts(result)
    ax.margins(x=0.08)
    ax.autoscale(axis="x")
    low, high = ax.get_xlim()
    if high - low < EQUAL:
        ax.set_xlim((low + high - 1) / 2, (low + high + 1) / 2)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    labels = [style.plain("\n".join(part for part in parts[variant] if part)) for variant in variants]
    size = style.FONT_PT - (2 if any(settings for _, settings in parts.values()) else 0)
    ax.set_yticks(range(len(variants)), labels, color=style.INK, fontsize=size)
    ax.set_ylim(len(variants) - 0.4, -0.6)


def _more_than(column: Column, baseline: str) -> str:
    unit = f"{column.unit} more" if column.unit else "more"
    return f"{column.short}, {unit} than {baseline}"
