"""Delay against use: a point for each qdisc, the spread of its seeds, and the front of the best.

The picture of RFC 7928, section 2.7: delay falls to the right, so that better is up and to the right. An
ellipse has one standard deviation of the Gaussian of maximum likelihood that explains the runs of a qdisc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from sojourn.errors import InputError
from sojourn.plot import labels, style
from sojourn.plot.style import Look
from sojourn.result import Result, Variant, words
from sojourn.result.column import Column
from sojourn.result.statistics import Estimate, estimate

#: Ratio of the longest to the shortest mean delay from which on the axis of delays is logarithmic.
WIDE = 4.0
#: Fewest runs of an ellipse: two of them lie on a line.
LEAST_RUNS = 3
#: Points of an ellipse.
CORNERS = 60
#: Number of qdiscs beyond which their names are smaller.
MANY = 12
#: Least span of the axis of use, as a fraction of the largest: less than that looks like more than it is.
LEAST_SPAN = 0.05
#: Padding about the points, as a fraction of the axis.
PADDING = 0.08
#: Size of a ring, pt.
RING = 14
#: Prefix of the ids of points in a file.
ID = "law-"


@dataclass(frozen=True)
class Point:
    """A qdisc's delay and use in each of its runs that measured both, in the columns' units."""

    #: Index of the variant in its result.
    place: int
    variant: Variant
    delays: tuple[float, ...]
    uses: tuple[float, ...]

    @cached_property
    def delay(self) -> Estimate:
        """Mean delay and its interval."""
        return estimate(self.delays)

    @cached_property
    def use(self) -> Estimate:
        """Mean use and its interval."""
        return estimate(self.uses)

    @property
    def centre(self) -> tuple[float, float]:
        """Means of both."""
        return self.delay.mean, self.use.mean

    def ellipse(self) -> npt.NDArray[np.float64] | None:
        """Corners of the contour of one standard deviation, (`CORNERS`, 2): delays and uses.

        In the columns' units; None for fewer than three runs.
        """
        if len(self.delays) < LEAST_RUNS:
            return None
        runs = np.array([self.delays, self.uses])
        variances, axes = np.linalg.eigh(np.cov(runs, ddof=0))
        turn = np.linspace(0.0, 2 * np.pi, CORNERS)
        circle = np.array([np.cos(turn), np.sin(turn)])
        corners = axes @ (np.sqrt(np.maximum(variances, 0.0))[:, None] * circle)
        return np.asarray(corners.T + np.array(self.centre), dtype=np.float64)

    def extent(self, side: int) -> tuple[float, ...]:
        """Mean, ends of the interval and ends of the ellipse: of the delay (0) or of the use (1)."""
        found, corners = (self.delay, self.use)[side], self.ellipse()
        ends = [end for end in (found.low, found.mean, found.high) if end is not None]
        if corners is not None:
            ends += [float(corners[:, side].min()), float(corners[:, side].max())]
        return tuple(ends)


def points(result: Result, delay: Column, use: Column) -> list[Point]:
    """The qdiscs that have both metrics under some seed, in the order of the result."""
    found = []
    for place, variant in enumerate(result.variants):
        delays, uses = (
            result.values(variant.qdisc, column.metric, plant=variant.plant) for column in (delay, use)
        )
        common = [seed for seed in delays if seed in uses]
        if common:
            found.append(
                Point(
                    place,
                    variant,
                    tuple(delays[seed] * delay.scale for seed in common),
                    tuple(uses[seed] * use.scale for seed in common),
                )
            )
    return found


def front(found: Sequence[Point]) -> list[Point]:
    """The points that none of the same plant beats, by their means; shortest delay first.

    A point has more use than those of less delay, by a thousandth at least, or is equal to one in both.
    """
    best: dict[str, list[Point]] = {}
    for one in sorted(found, key=lambda one: (one.delay.mean, -one.use.mean)):
        kept = best.setdefault(one.variant.plant, [])
        more = not kept or one.use.mean > kept[-1].use.mean * (1 + 1 / words.EXACT)
        if more or one.centre == kept[-1].centre:
            kept.append(one)
    return [one for kept in best.values() for one in kept]


def draw(ax: Axes, result: Result, delay_metric: str, use_metric: str) -> Axes:
    """The picture; raises `InputError` for an unknown metric, or if no run has both."""
    delay, use = words.column_of(result, delay_metric), words.column_of(result, use_metric)
    found = points(result, delay, use)
    if not found:
        raise InputError(f"delay, use: no run has both {delay_metric} and {use_metric}")
    _scale(ax, found, use)
    best, looks = front(found), style.looks(result)
    lines = [line for one in found for line in _cross(ax, one, use.most)]
    for plant in result.plants:
        lines += _draw_front(ax, [one for one in best if one.variant.plant == plant])
    for one in found:
        _draw_point(ax, one, looks[one.variant], use.most)
    called = words.variant_names(result)
    labels.beside(
        ax,
        [labels.Name(called[one.variant], one.centre, one in best) for one in found],
        size=style.FONT_PT - (1 if len(found) > MANY else 0),
        lines=lines,
    )
    style.label(ax, f"{delay.long} (better to the right)", use.long)
    return ax


def ring(ax: Axes, chosen: Sequence[Point]) -> None:
    """Draw rings around points of a picture, below them: a pointer meets the points."""
    for one in chosen:
        ax.plot(
            *one.centre,
            marker="o",
            markersize=RING,
            fillstyle="none",
            color=style.INK,
            markeredgewidth=1.2,
            zorder=1.3,
        )


def _scale(ax: Axes, found: Sequence[Point], use: Column) -> None:
    """Limits about means, intervals and ellipses, within the metric's bounds; delays fall to the right."""
    slow = [value for one in found for value in one.extent(0) if value > 0]
    means = [one.delay.mean for one in found]
    if min(means) > 0 and max(means) > WIDE * min(means):
        slow = [max(value, min(means) / 2) for value in slow]
        low, high = np.log10(min(slow)), np.log10(max(slow))
        padding = PADDING * (high - low)
        ax.set_xscale("log")
        ax.set_xlim(10 ** (high + padding), 10 ** (low - padding))
        style.plain_numbers(ax.xaxis)
    else:
        low, high = min(slow, default=0.0), max(slow, default=1.0)
        padding = PADDING * (high - low) or 0.1 * high
        ax.set_xlim(high + padding, max(0.0, low - padding))
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    used = [value for one in found for value in one.extent(1)]
    least, most = min(used), max(used) if use.most is None else min(max(used), use.most)
    least = min(least, (1 - LEAST_SPAN) * most)
    padding = PADDING * (most - least) or 1.0
    ax.set_ylim(max(0.0, least - padding), most + padding)


def _draw_front(ax: Axes, best: Sequence[Point]) -> list[labels.Line]:
    """The front as steps, which are returned: below and to the left of it a qdisc is beaten in both."""
    if not best:
        return []
    slowest, lowest = ax.get_xlim()[0], ax.get_ylim()[0]
    x = [best[0].delay.mean, *(one.delay.mean for one in best), slowest]
    y = [lowest, *(one.use.mean for one in best), best[-1].use.mean]
    ax.plot(x, y, drawstyle="steps-post", color=style.MUTED, linewidth=1.0, alpha=0.7, zorder=1.2)
    ax.fill_between(x, y, lowest, step="post", color=style.RULE, alpha=0.3, linewidth=0, zorder=0.5)
    corners = list(zip(x, y, strict=True))
    level = [((left, below), (right, below)) for (left, below), (right, _) in pairwise(corners)]
    steep = [((right, below), (right, above)) for (_, below), (right, above) in pairwise(corners)]
    return level + steep


def _cross(ax: Axes, one: Point, most: float | None) -> list[labels.Line]:
    """The intervals of both means within the axes, as a cross; `most` is the largest possible use."""
    (x, y), (slow, fast), (low, high) = one.centre, ax.get_xlim(), ax.get_ylim()
    high = high if most is None else most
    arms: list[labels.Line] = []
    if one.delay.low is not None and one.delay.high is not None:
        arms.append(((max(one.delay.low, fast), y), (min(one.delay.high, slow), y)))
    if one.use.low is not None and one.use.high is not None:
        arms.append(((x, max(one.use.low, low)), (x, min(one.use.high, high))))
    return arms


def _draw_point(ax: Axes, one: Point, look: Look, most: float | None) -> None:
    """The mean, its intervals, and the ellipse of its runs."""
    x, y = one.centre
    corners = one.ellipse()
    if corners is not None:
        inside = _inside(ax, corners, most)
        ax.fill(*inside.T, color=look.colour, alpha=style.BAND_ALPHA, linewidth=0, zorder=1.5)
    for start, end in _cross(ax, one, most):
        ax.plot(*zip(start, end, strict=True), color=look.colour, linewidth=1.2, zorder=1.8)
    ax.plot(
        [x],
        [y],
        color=look.colour,
        marker=look.marker,
        markersize=7,
        linestyle="",
        zorder=3,
        clip_on=False,
        gid=f"{ID}{one.place}",
    )


def _inside(ax: Axes, corners: npt.NDArray[np.float64], most: float | None) -> npt.NDArray[np.float64]:
    """The part of an ellipse within the axes, and not beyond the largest possible use."""
    (slow, fast), (low, high) = ax.get_xlim(), ax.get_ylim()
    limits = Bbox.from_extents(fast, low, slow, high if most is None else most)
    return np.asarray(Path(corners).clip_to_bbox(limits).vertices, dtype=np.float64)
