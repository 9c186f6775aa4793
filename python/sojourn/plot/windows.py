"""Windows of time: distributions as boxes, and metrics over a row of windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch

from sojourn.plot import style
from sojourn.result import Result, Variant, windows, words
from sojourn.result.column import Column
from sojourn.result.metrics import UNITS

#: Distributions of a window: their metrics from the 5 % to the 95 % quantile, and the mean.
DISTRIBUTIONS = {
    "rtt": ("rtt_{}_s", "round-trip time", "s"),
    "sojourn": ("sojourn_{}_s", "sojourn time", "s"),
    "queue": ("queue_{}_packets", "queue", "packets"),
}
#: Keys of a box in Matplotlib, by the part of the metric's name.
_PARTS = {"p05": "whislo", "p25": "q1", "p50": "med", "p75": "q3", "p95": "whishi", "mean": "mean"}
#: Fraction of the room of a group for its boxes.
_SHARE = 0.8
#: Most windows whose times stand at the axis.
_MOST_NAMED = 12


def boxes(ax: Axes, result: Result, found: pl.DataFrame, kind: str) -> Axes:
    """A box for each window and variant: quartiles, whiskers from 5 to 95 %, a dot at the mean.

    Each quantile is the mean of that quantile over the seeds.
    """
    pattern, label, unit = DISTRIBUTIONS[kind]
    shown, scale = _unit(found, [pattern.format(part) for part in ("p95", "mean")], unit)
    times = windows.spans(found)
    groups = []
    for variant in result.variants:
        stats = [_box(found, variant, span, pattern, scale=scale) for span in times]
        groups.append((variant, stats))
    _draw(ax, result, groups, [windows.span(*span) for span in times])
    style.label(ax, "window of time", f"{label}, {shown}")
    return ax


def across(ax: Axes, result: Result, found: pl.DataFrame, metric: str) -> Axes:
    """A box for each variant: the values of a metric in all windows and seeds.

    Quartiles, whiskers from the least to the largest value, a dot at the mean; the quartiles are linear
    between values (numpy's default).
    """
    column = column_of(found, metric)
    groups: list[tuple[Variant, list[dict[str, Any] | None]]] = []
    for variant in result.variants:
        values = _values(found, variant, metric) * column.scale
        groups.append((variant, [_of_values(values) if len(values) else None]))
    _draw(ax, result, groups, [""])
    style.label(ax, "", column.long)
    return ax


def series(
    ax: Axes, result: Result, found: pl.DataFrame, metric: str, *, times: float, one_seed: bool
) -> Axes:
    """A metric window by window over time, in a band from the lowest seed to the highest.

    The line is of the first seed if `one_seed`, else the mean over the seeds.
    """
    column = column_of(found, metric)
    looks, called = style.looks(result), words.variant_names(result)
    for variant in result.variants:
        of = _of(found, variant).filter(pl.col("name") == metric)
        if not len(of):
            continue
        first = pl.col("value").filter(pl.col("seed") == of["seed"].min()).first()
        bins = of.group_by("from_s", "until_s").agg(
            (first if one_seed else pl.col("value").mean()).alias("line"),
            pl.col("value").min().alias("low"),
            pl.col("value").max().alias("high"),
        )
        bins = bins.sort("from_s")
        # Each window has its own value: a step from its start to its end.
        x = np.ravel(bins.select("from_s", "until_s").to_numpy()) * times
        low, line, high = (
            np.repeat(bins[name].to_numpy(), 2) * column.scale for name in ("low", "line", "high")
        )
        look = looks[variant]
        ax.fill_between(x, low, high, color=look.colour, alpha=style.BAND_ALPHA, linewidth=0)
        ax.plot(x, line, linestyle=look.dash, label=style.plain(called[variant]), **look.line)
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    style.label(ax, "", column.long)
    return ax


def column_of(found: pl.DataFrame, metric: str) -> Column:
    """A metric's column, in a unit that fits its values."""
    unit = UNITS.get(metric.partition("[")[0], "")
    known = words.column_named(metric)
    if known.unit in ("%", "packets", "flows"):
        return known
    shown, scale = _unit(found, [metric], unit)
    short = (
        known.short
        if known.short != metric
        else metric.removesuffix("_s").removesuffix("_bps").replace("_", " ")
    )
    return Column(metric, short, shown, scale, least=None)


def _unit(found: pl.DataFrame, metrics: Sequence[str], unit: str) -> tuple[str, float]:
    """Displayed unit and its factor, for the largest value of some metrics."""
    choices = {"s": words.TIMES, "bit/s": words.RATES}.get(unit)
    if choices is None:
        return ("" if unit == "1" else unit), 1.0
    largest = found.filter(pl.col("name").is_in(metrics))["value"].abs().max()
    return words.unit_for(float(largest) if isinstance(largest, int | float) else 0.0, choices)


def _of(found: pl.DataFrame, variant: Variant) -> pl.DataFrame:
    return found.filter((pl.col("qdisc") == variant.qdisc) & (pl.col("plant") == variant.plant))


def _values(found: pl.DataFrame, variant: Variant, metric: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return _of(found, variant).filter(pl.col("name") == metric)["value"].to_numpy()


def _box(
    found: pl.DataFrame, variant: Variant, span: tuple[float, float], pattern: str, *, scale: float
) -> dict[str, Any] | None:
    """Matplotlib's statistics of a box; None without values."""
    here = _of(found, variant).filter((pl.col("from_s") == span[0]) & (pl.col("until_s") == span[1]))
    stats: dict[str, Any] = {"fliers": []}
    for part, key in _PARTS.items():
        value = here.filter(pl.col("name") == pattern.format(part))["value"].mean()
        if not isinstance(value, int | float):
            return None
        stats[key] = float(value) * scale
    return stats


def _of_values(values: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75])
    return {
        "fliers": [],
        "whislo": float(values.min()),
        "q1": float(q1),
        "med": float(median),
        "q3": float(q3),
        "whishi": float(values.max()),
        "mean": float(values.mean()),
    }


def _draw(
    ax: Axes,
    result: Result,
    groups: list[tuple[Variant, list[dict[str, Any] | None]]],
    names: list[str],
) -> None:
    """Boxes side by side, one group for each window."""
    looks, called = style.looks(result), words.variant_names(result)
    width = _SHARE / max(1, len(groups))
    handles = []
    for place, (variant, stats) in enumerate(groups):
        colour, hatch = looks[variant].colour, looks[variant].hatch or None
        shift = (place + 0.5) * width - _SHARE / 2
        kept = [(group + shift, one) for group, one in enumerate(stats) if one is not None]
        line = {"color": colour, "linewidth": 1.2}
        if kept:
            ax.bxp(
                [one for _, one in kept],
                positions=[at for at, _ in kept],
                widths=0.85 * width,
                showmeans=True,
                showfliers=False,
                patch_artist=True,
                boxprops={"facecolor": to_rgba(colour, 0.3), "edgecolor": colour, "hatch": hatch},
                medianprops={"color": colour, "linewidth": 2.0},
                whiskerprops=line,
                capprops=line,
                meanprops={
                    "marker": "o",
                    "markersize": 4,
                    "markerfacecolor": colour,
                    "markeredgecolor": colour,
                },
                manage_ticks=False,
            )
        face = to_rgba(colour, 0.5)
        name = style.plain(called[variant])
        handles.append(Patch(facecolor=face, edgecolor=colour, linewidth=0, hatch=hatch, label=name))
    step = -(-len(names) // _MOST_NAMED)
    ticks = range(0, len(names), step)
    ax.set_xticks(list(ticks), [names[place] for place in ticks], color=style.INK, fontsize=style.FONT_PT - 1)
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    if len(groups) > 1:
        ax.legend(
            handles=handles,
            frameon=False,
            fontsize=style.FONT_PT - 1,
            labelcolor=style.INK,
            loc="upper right",
        )
