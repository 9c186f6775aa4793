"""Names beside points, apart from each other and from the points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from matplotlib.axes import Axes

from sojourn.plot import style

#: Width of a character relative to the size of its font, and height of a line.
CHARACTER, LINE_HEIGHT = 0.62, 1.1
#: Distances of a name from its point, points; those beyond the first have a line between them.
DISTANCES = (7.0, 16.0, 28.0, 42.0, 58.0, 76.0)
#: Directions of a name from its point: to the right and the left first, then above, below and between.
DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
#: Times that each name is placed again, beside the others as they are by then.
ROUNDS = 3
#: Cost of a line to a point for each other point or name that it crosses, as an area.
CROSSED = 60.0
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
    #: The line to the point, in short pieces; empty for the nearest places.
    leader: tuple[Box, ...] = ()


def beside(
    ax: Axes, names: Sequence[Name], *, size: float = style.FONT_PT, lines: Sequence[Line] = ()
) -> None:
    """Write each name where it covers least: names, points, `lines`, and what lies outside of the axes.

    The limits of the axes must be set. Strong names are placed first, and all again beside the others.
    """
    # The axes are those before the figure's layout, which is made when it is saved and widens them.
    per_point = 72 / ax.figure.dpi
    inside = Box(*(per_point * side for side in ax.bbox.extents))
    points = [_about(_at(ax, name.point), _at(ax, name.point), POINT) for name in names]
    drawn = [_about(_at(ax, start), _at(ax, end), HALF_LINE) for start, end in lines]
    order = sorted(range(len(names)), key=lambda index: not names[index].strong)
    placed: dict[int, Place] = {}
    for _ in range(ROUNDS):
        for index in order:
            others = [place for other, place in placed.items() if other != index]
            solid = [*points[:index], *points[index + 1 :], *(place.box for place in others)]
            thin = [piece for place in others for piece in place.leader]
            width = CHARACTER * size * (len(names[index].text) + 1)
            places = _places(_at(ax, names[index].point), width, LINE_HEIGHT * size)
            taken = [*solid, points[index], *drawn, *thin]
            placed[index] = min(places, key=lambda place: _cost(place, taken, solid, inside))
    for index, place in placed.items():
        _write(ax, names[index], place, size)


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
            box = Box(left, bottom, left + width, bottom + height)
            ends = (x + across * reach, y + up * reach)
            yield Place(box, far, across, up, _pieces((x, y), ends) if far > DISTANCES[0] else ())


def _pieces(start: tuple[float, float], end: tuple[float, float]) -> tuple[Box, ...]:
    """Short pieces of a straight line, without its beginning in the point."""
    (x, y), (far_x, far_y) = start, end
    length = math.dist(start, end)
    count = max(1, round((length - POINT) / (2 * POINT)))
    shares = [(POINT + (length - POINT) * place / count) / length for place in range(count + 1)]
    corners = [(x + share * (far_x - x), y + share * (far_y - y)) for share in shares]
    return tuple(_about(one, other, HALF_LINE / 2) for one, other in pairwise(corners))


def _cost(place: Place, taken: Sequence[Box], solid: Sequence[Box], inside: Box) -> float:
    """Area of what a name covers and of what leaves the axes, and what its line crosses.

    The nearest of equal ones is cheapest.
    """
    covered = sum(place.box.shared(other) for other in taken)
    outside = place.box.area - place.box.shared(inside)
    crossed = sum(any(piece.shared(other) > 0 for piece in place.leader) for other in solid)
    return 2 * covered + 3 * outside + CROSSED * crossed + place.far / 10


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
