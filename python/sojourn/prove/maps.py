"""Maps over flows and base RTTs: areas of verdicts, borders of stability, contours of the phase margin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from sojourn.plot import style
from sojourn.prove.margins import MarginMap
from sojourn.prove.region import VERDICTS, Region

Line: TypeAlias = npt.NDArray[np.float64]

#: Index of the colour of each verdict's area in the palette, and its opacity.
AREAS = ((2, 0.25), (1, 0.3), (6, 0.2))
#: Opacities of the greys of points without a verdict, one for each reason.
GREYS = (0.35, 0.2, 0.5, 0.12)
#: Most letters in a line of a label.
LABEL = 60
#: Contours of phase margins, degrees, and the largest one that is drawn.
LEVELS, MOST_MARGIN = (0, 15, 30, 45, 60, 75), 180.0


def region(ax: Axes, found: Region, margins: MarginMap | None, *, above: bool) -> Axes:
    """The stability region of a law with its border, and contours of its phase margin if there are some."""
    areas(ax, found)
    border(ax, found, color=style.INK, linewidth=style.LINE)
    if margins is not None:
        contours(ax, margins, LEVELS[1:])
    return over_loads(found, ax, above=above)


def areas(ax: Axes, region: Region) -> None:
    """Fill the areas of the verdicts, and in greys those without one, named by their reasons."""
    shades = [to_rgba(style.colour(place), alpha) for place, alpha in AREAS]
    shades += [to_rgba(style.MUTED, GREYS[place % len(GREYS)]) for place in range(len(region.reasons))]
    names = [*VERDICTS, *region.reasons]
    for place, name in enumerate(names):
        if (region.cells == place).any():
            ax.add_patch(_area(region, place, color=shades[place], label=fill(name, LABEL)))


def border(ax: Axes, of: Region, label: str | None = None, **look: Any) -> None:
    """The curves between stable and unstable; those further into instability are left out."""
    for place, curve in enumerate(of.boundary):
        ax.plot(*_beside_stable(of, *curve[:2]), label=label if place == 0 else None, **look)


def _beside_stable(of: Region, flows: Line, rtt_s: Line) -> tuple[Line, Line]:
    """A curve without its points that have no stable cell beside them, where it is interrupted."""
    row, column = _nearest(of.rtt_s, rtt_s), _nearest(of.flows, flows)
    padded = np.pad(of.cells == 0, 1)
    beside = np.any([padded[row + down, column + right] for down in range(3) for right in range(3)], axis=0)
    return np.where(beside, flows, np.nan), np.where(beside, rtt_s, np.nan)


def _nearest(points: Line, values: Line) -> npt.NDArray[np.int64]:
    """Indices of the points nearest to values, by factors."""
    return np.searchsorted(_edges(points)[1:-1], values)


def borders(named: Sequence[tuple[str, Region]], ax: Axes, *, above: bool) -> Axes:
    """Borders of several laws over each other, and the area in which all of them are stable."""
    regions = [region for _, region in named]
    everywhere = np.all([region.cells == 0 for region in regions], axis=0)
    if everywhere.any():
        colour, alpha = AREAS[0]
        shade = to_rgba(style.colour(colour), alpha)
        ax.add_patch(_shape(regions[0], everywhere, color=shade, label="all stable"))
    for place, (name, region) in enumerate(named):
        look = style.Look(place)
        text = style.plain(name)
        if region.boundary:
            border(ax, region, text, color=look.colour, linestyle=look.dash, linewidth=2)
        else:
            only = next((one for one in region.shares() if one in VERDICTS), "without a verdict")
            ax.plot([], [], label=f"{text}: {only} wherever it is judged", color=look.colour)
    return over_loads(regions[0], ax, above=above)


def unstable_half(ax: Axes, found: MarginMap) -> None:
    """Shade negative phase margins."""
    margins = _clipped(found)
    if (margins < 0).any():
        shade = to_rgba(style.colour(AREAS[1][0]), AREAS[1][1])
        ax.contourf(found.flows, found.rtt_s, margins, levels=[-MOST_MARGIN - 1, 0], colors=[shade])


def contours(ax: Axes, found: MarginMap, levels: Sequence[int] = LEVELS) -> None:
    """Contours of the phase margin, degrees."""
    margins = _clipped(found)
    drawn = [level for level in levels if margins.min() < level < margins.max()]
    if drawn:
        look: dict[str, Any] = {"colors": [style.INK], "linewidths": 1, "zorder": 2}
        lines = ax.contour(found.flows, found.rtt_s, margins, levels=drawn, **look)
        ax.clabel(lines, fmt="%d\u00b0", inline_spacing=2)
        ax.plot([], [], color=style.INK, linewidth=1, label="phase margin, degrees")


def _clipped(found: MarginMap) -> Any:
    """Phase margins, clipped; masked where there is no loop."""
    return np.ma.masked_invalid(np.clip(found.phase_margin_deg, -MOST_MARGIN, MOST_MARGIN))


def over_loads(of: Region | MarginMap, ax: Axes, *, above: bool) -> Axes:
    """The axes of a map, with the scenario's own point."""
    ax.plot(*of.here, marker="o", color=style.INK, linestyle="none", label="the scenario")
    style.quieten(ax)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(of.flows[0], of.flows[-1])
    ax.set_ylim(of.rtt_s[0], of.rtt_s[-1])
    style.plain_numbers(ax.xaxis)
    style.plain_numbers(ax.yaxis)
    style.label(ax, "flows", "base RTT, s")
    style.legend(ax, above=above)
    return ax


def _area(region: Region, code: int, **look: Any) -> PathPatch:
    """Area of the cells of a map with this code."""
    return _shape(region, region.cells == code, **look)


def _shape(region: Region, inside: npt.NDArray[np.bool_], **look: Any) -> PathPatch:
    """Area of some cells of a map: one path, which scales and is small."""
    across, up = _edges(region.flows), _edges(region.rtt_s)
    corners = [
        corner
        for low, high, row in _alike(inside)
        for start, end in row
        for corner in (
            (across[start], up[low]),
            (across[end], up[low]),
            (across[end], up[high]),
            (across[start], up[high]),
            (across[start], up[low]),
        )
    ]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * (len(corners) // 5)
    # Without antialiasing no seams show between the rectangles.
    return PathPatch(Path(corners, codes), linewidth=0, antialiased=False, **look)


def _edges(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Edges of cells about points that grow by factors."""
    between = np.sqrt(points[1:] * points[:-1])
    return np.array([points[0], *between, points[-1]])


def _alike(inside: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Runs of cells shared by consecutive rows, with the first and last row."""
    rows = [_runs(row) for row in inside]
    low = 0
    for high in range(1, len(rows) + 1):
        if high == len(rows) or rows[high] != rows[low]:
            yield low, high, rows[low]
            low = high


def _runs(row: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Begins and ends of a row's runs of cells."""
    turns = np.flatnonzero(np.diff(np.concatenate(([False], row, [False])).astype(np.int8)))
    return list(zip(turns[::2].tolist(), turns[1::2].tolist(), strict=True))
