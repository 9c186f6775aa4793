"""Pictures of captures: goodputs and pings over time, boxes of both, and the distribution of the pings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sojourn.flent.capture import DIRECTIONS, Capture, Numbers
from sojourn.plot import style

#: Width and height of a picture, inches.
SIZE = (7.4, 3.6)
#: Most flows of a capture that have lines of their own, and most pings.
MOST_FLOWS, MOST_PINGS = 24, 8


def goodput(captures: Sequence[Capture], names: Sequence[str], direction: str) -> Axes | None:
    """Goodput of a direction over time: the sum, and of a capture alone each flow; None without any."""
    drawn = [(place, one) for place, one in enumerate(captures) if one.flows(direction)]
    if not drawn:
        return None
    ax = _axes("time, s", f"{direction}, Mbit/s")
    for place, one in drawn:
        flows = one.flows(direction)
        if len(captures) == 1 and 1 < len(flows) <= MOST_FLOWS:
            for flow in flows:
                of = one.samples(flow)
                ax.plot(of.times, of.values, color=style.MUTED, linewidth=style.THIN, alpha=0.55)
        times, values = one.total(direction)
        ax.plot(times, values, label=names[place], **_look(place))
    ax.set_ylim(bottom=0)
    return _finished(ax)


def pings(captures: Sequence[Capture], names: Sequence[str]) -> Axes | None:
    """Pings over time: each series of a capture alone, of several all pings of each."""
    if not any(one.pings for one in captures):
        return None
    ax = _axes("time, s", "ping, ms")
    if len(captures) == 1:
        (one,) = captures
        for place, series in enumerate(one.pings[:MOST_PINGS]):
            of = one.samples(series)
            ax.plot(of.times, of.values, label=series.removeprefix("Ping (ms) "), **_look(place))
    else:
        for place, one in enumerate(captures):
            if one.pings:
                every = [one.samples(series) for series in one.pings]
                times = np.concatenate([of.times for of in every])
                order = np.argsort(times, kind="stable")
                values = np.concatenate([of.values for of in every])
                ax.plot(times[order], values[order], label=names[place], **_look(place))
    ax.set_ylim(bottom=0)
    return _finished(ax)


def cdf(captures: Sequence[Capture], names: Sequence[str]) -> Axes | None:
    """Distribution of the pings while flows send."""
    ax = _axes("ping, ms", "share of the pings")
    for place, one in enumerate(captures):
        values = np.sort(one.loaded_pings())
        if len(values):
            shares = np.arange(1, len(values) + 1) / len(values)
            ax.step(values, shares, where="post", label=names[place], **_look(place))
    if not ax.lines:
        return None
    ax.set_ylim(0, 1.02)
    ax.set_xlim(left=0)
    return _finished(ax)


def boxes(captures: Sequence[Capture]) -> list[Axes]:
    """Boxes of the totals of both directions and of the pings, a panel each."""
    panels: list[tuple[str, list[Numbers]]] = [
        (f"{direction}, Mbit/s", [_loaded_total(one, direction) for one in captures])
        for direction in DIRECTIONS
    ]
    panels.append(("ping, ms", [one.loaded_pings() for one in captures]))
    shown = [(title, values) for title, values in panels if any(map(len, values))]
    _, axes = style.figure(SIZE, 1, max(1, len(shown)), apart=0.08)
    for ax, (title, values) in zip(axes, shown, strict=False):
        style.quieten(ax)
        found = ax.boxplot(values, widths=0.5, patch_artist=True, showfliers=False)
        for place, box in enumerate(found["boxes"]):
            box.set(facecolor=style.colour(place), alpha=0.35, edgecolor=style.colour(place))
        for part in ("whiskers", "caps", "medians"):
            for line in found[part]:
                line.set(color=style.INK, linewidth=1)
        ax.set_xticks(range(1, len(captures) + 1), [str(place + 1) for place in range(len(captures))])
        style.label(ax, "" if len(captures) == 1 else "capture", title)
        ax.set_ylim(bottom=0)
        if len(captures) == 1:
            ax.set_xticks([])
    return axes if shown else []


def _loaded_total(capture: Capture, direction: str) -> Numbers:
    """Total of a direction while flows send, at the times of the series."""
    times, values = capture.total(direction)
    begin, end = capture.loaded
    return values[(times >= begin) & (times <= end) & ~np.isnan(values)]


def _axes(x: str, y: str) -> Axes:
    _, (ax,) = style.figure(SIZE)
    style.quieten(ax)
    style.label(ax, x, y)
    return ax


def _look(place: int) -> dict[str, Any]:
    look = style.Look(place)
    return look.line | {"linestyle": look.dash}


def _finished(ax: Axes) -> Axes:
    if len(ax.get_legend_handles_labels()[1]) > 1:
        style.legend(ax, above=True)
    return ax
