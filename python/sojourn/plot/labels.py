"""Names beside points, apart from each other and from the points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from matplotlib.axes import Axes

from sojourn.plot import style

#: Width of a character relative to the size of its font, and height of a line.
CHARACTER, LINE_HEIGHT = 0.56, 1.1
#: Distances of a name from its point, points; those beyond the first have a line between them.
DISTANCES = (7.0, 16.0, 28.0, 42.0)
#: Directions of a name from its point: to the right and the left first, then above, below and between.
DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
#: Half the side of the square that a point takes, and half the width of a line, points.
POINT, HALF_LINE = 5.0, 1.0

#: A straight line along an axis: its ends.
Line: TypeAlias = tuple[tuple[float, float], tuple[float, float]]


class Name(NamedTuple):
    """A name and its point, in the units of the axes; a strong one is bold."""

    text: str
    point: tuple[float, float]
    strong: bool = False


class Box(NamedTuple):
    """A rectangle, points."""

    left: float
    bottom: float
    right: float
    top: float

    def shared(self, other: Box) -> float:
        """Area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(0.0, width) * max(0.0, height)

    @property
    def area(self) -> float:
        """Its area."""
        return (self.right - self.left) * (self.top - self.bottom)


class Place(NamedTuple):
    """A place of a name: its box, its distance from the point, and the direction."""

    box: Box
    far: float
    across: int
    up: int


def beside(
    ax: Axes, names: Sequence[Name], *, size: float = style.FONT_PT, lines: Sequence[Line] = ()
) -> None:
    """Write each name where it covers least: names, points, `lines`, and what lies outside of the axes.

    The limits of the axes must be set. Strong names are placed first.
    """
    # The axes are those before the figure's layout, which is made when it is saved and widens them.
    per_point = 72 / ax.figure.dpi
    inside = Box(*(per_point * side for side in ax.bbox.extents))
    taken = [_about(_at(ax, name.point), _at(ax, name.point), POINT) for name in names]
    taken += [_about(_at(ax, start), _at(ax, end), HALF_LINE) for start, end in lines]
    for name in sorted(names, key=lambda name: not name.strong):
        width, height = CHARACTER * size * (len(name.text) + 1), LINE_HEIGHT * size
        places = _places(_at(ax, name.point), width, height)
        best = min(places, key=lambda place: _cost(place, taken, inside))
        taken.append(best.box)
        _write(ax, name, best, size)


def _at(ax: Axes, point: tuple[float, float]) -> tuple[float, float]:
    """Position of a point, points."""
    x, y = ax.transData.transform(point) * (72 / ax.figure.dpi)
    return float(x), float(y)


def _about(start: tuple[float, float], end: tuple[float, float], room: float) -> Box:
    """The box of two corners, with some room about it."""
    (x, y), (far_x, far_y) = start, end
    return Box(min(x, far_x) - room, min(y, far_y) - room, max(x, far_x) + room, max(y, far_y) + room)


def _places(centre: tuple[float, float], width: float, height: float) -> Iterator[Place]:
    """Places about a point, nearest first."""
    x, y = centre
    for far in DISTANCES:
        for across, up in DIRECTIONS:
            reach = far / math.hypot(across, up)
            left = x + across * reach - (width if across < 0 else 0 if across > 0 else width / 2)
            bottom = y + up * reach - (height if up < 0 else 0 if up > 0 else height / 2)
            yield Place(Box(left, bottom, left + width, bottom + height), far, across, up)


def _cost(place: Place, taken: Sequence[Box], inside: Box) -> float:
    """Area of what a name covers and of what leaves the axes; the nearest of equal ones is cheapest."""
    covered = sum(place.box.shared(other) for other in taken)
    outside = place.box.area - place.box.shared(inside)
    return 2 * covered + 3 * outside + place.far / 10


def _write(ax: Axes, name: Name, place: Place, size: float) -> None:
    """Write a name at its place, joined to its point if that is not the nearest."""
    reach = place.far / math.hypot(place.across, place.up)
    thin = {"arrowstyle": "-", "color": style.MUTED, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3}
    ax.annotate(
        style.plain(name.text),
        name.point,
        xytext=(place.across * reach, place.up * reach),
        textcoords="offset points",
        ha=("center", "left", "right")[place.across],
        va=("center", "bottom", "top")[place.up],
        color=style.INK if name.strong else style.MUTED,
        fontsize=size,
        fontweight="bold" if name.strong else "normal",
        arrowprops=thin if place.far > DISTANCES[0] else None,
    )
