"""Where something can be put into a picture without lying on something else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from matplotlib.path import Path
from matplotlib.transforms import Bbox

Point = tuple[float, float]

#: To lie on something that is put there is so many times worse than to lie on a line.
SOLID = 10


@dataclass
class Room:
    """What a picture has already: boxes, and lines by name."""

    boxes: list[Bbox] = field(default_factory=list)
    lines: dict[tuple[str, str], Path] = field(default_factory=dict)

    def take(self, middle: Point, size: Point) -> None:
        """Put a box of this width and height there."""
        self.boxes.append(_box(middle, size))

    def best(self, middles: Iterable[Point], size: Point, own: tuple[str, str]) -> Point:
        """The first of the places that cover least; to lie on the line `own` costs nothing.

        >>> room = Room()
        >>> room.take((0, 0), (10, 10))
        >>> room.best([(4, 0), (12, 0), (14, 0)], (10, 10), ("a", "b"))
        (12, 0)
        """
        return min(middles, key=lambda middle: self._covered(_box(middle, size), own))

    def _covered(self, box: Bbox, own: tuple[str, str]) -> int:
        solid = sum(box.overlaps(other) for other in self.boxes)
        crossed = sum(
            path.intersects_bbox(box, filled=False) for name, path in self.lines.items() if name != own
        )
        return SOLID * solid + crossed


def _box(middle: Point, size: Point) -> Bbox:
    (x, y), (wide, high) = middle, size
    return Bbox.from_extents(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)
