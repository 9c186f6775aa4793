"""A network as a picture: nodes, links as wide as they are fast, queues, and the paths of the classes."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Rectangle

from sojourn.plot import graph, layout, style
from sojourn.plot.graph import Class, Edge, Graph

#: Least width of a column, points; with more columns the picture continues in another row.
HOP = 62.0
#: Most and least distance between two nodes of a column, and most height of all, points.
STEP, LEAST_STEP, TALLEST = 60.0, 20.0, 300.0
#: Points above and below a row, above and below all, and for a line of the legend.
ROW, MARGIN, LEGEND = 16.0, 26.0, 15.0
#: Distances of the first track from the middle of a link, and between tracks, points.
FIRST, TRACK = 2.6, 3.2
#: Width of a queue, points.
QUEUE = 20.0
#: Widths of the slowest link, added for ten times its rate, and of the fastest, points.
SLOW, DECADE, FAST = 3.0, 2.0, 9.0
#: Text sizes at links, points; width of a letter as a fraction of its height.
SMALL, LINE, LETTER = style.FONT_PT - 2, 10.0, 0.54
#: Least number of links of one rate and delay that share a line of the legend.
MANY = 5

Point = tuple[float, float]


@dataclass(frozen=True)
class Sheet:
    """Positions of all parts, in points from the lower left."""

    graph: Graph
    size: Point
    at: dict[str, Point]
    #: Bends of links that pass columns, from the link's first end.
    bends: dict[tuple[str, str], list[Point]]
    #: Half the width and half the height of each node.
    half: dict[str, Point]
    #: Track of each class; classes that share a direction of a link have different ones.
    tracks: list[int]
    #: Height of the text beside a link from its middle.
    beside: float

    def path(self, ends: tuple[str, str]) -> list[Point]:
        """Line of a link from one end to the other, between the borders of their nodes."""
        bends = self.bends.get(ends) or self.bends.get(ends[::-1], [])[::-1]
        points = [self.at[ends[0]], *bends, self.at[ends[1]]]
        points[0], points[-1] = (
            _shifted(points[0], points[1], self._border(ends[0], points[1])),
            _shifted(points[-1], points[-2], self._border(ends[1], points[-2])),
        )
        return points

    def is_alone(self, edge: Edge) -> bool:
        """True if both ends of a link are alone in their columns."""
        columns = [x for x, _ in self.at.values()]
        return all(columns.count(self.at[end][0]) == 1 for end in edge.ends)

    def _border(self, node: str, towards: Point) -> float:
        """Distance from the middle of a node to its border."""
        (x, y), (wide, tall) = self.at[node], self.half[node]
        distance = math.dist((x, y), towards) or 1.0
        across, up = abs(towards[0] - x) / distance, abs(towards[1] - y) / distance
        return min(wide / max(across, 1e-9), tall / max(up, 1e-9))


def height_in(scenario: dict[str, Any], width: float) -> float:
    """Height of the picture, inches; `width` is in points."""
    sheet, legend = _laid_out(scenario, width)
    return (sheet.size[1] + _legend_height(legend)) / 72


def draw(ax: Axes, scenario: dict[str, Any], width: float) -> Axes:
    """Draw the network into `ax`, whose data become points, from the lower left."""
    sheet, legend = _laid_out(scenario, width)
    ax.set_xlim(0, width)
    ax.set_ylim(-_legend_height(legend), sheet.size[1])
    ax.set_aspect("equal")
    widths = _widths(sheet.graph.edges)
    for edge in sheet.graph.edges:
        _line(ax, sheet.path(edge.ends), color=style.RULE, linewidth=widths[edge.ends], zorder=1)
    for one, track in zip(sheet.graph.classes, sheet.tracks, strict=True):
        _path(ax, sheet, one, FIRST + TRACK * track)
    for edge in sheet.graph.edges:
        for ends, arc in ((edge.ends, edge.there), (edge.ends[::-1], edge.back)):
            if arc is not None and arc.queue:
                _queue(ax, sheet, ends)
        _label(ax, sheet, edge)
    for node in sheet.graph.nodes:
        _node(ax, sheet, node)
    for line, entries in enumerate(legend):
        y = 6 - LEGEND * (line + 1)
        for x, text, place in entries:
            if place is not None:
                _line(ax, [(x, y), (x + 14, y)], color=style.colour(place), linewidth=2)
            _write(ax, (x if place is None else x + 19, y), text, size=style.FONT_PT - 1, ha="left")
    return ax


def _laid_out(
    scenario: dict[str, Any], width: float
) -> tuple[Sheet, list[list[tuple[float, str, int | None]]]]:
    """The picture, and the lines of its legend: x, text, and index of a colour."""
    drawn = graph.of(scenario)
    places, bends = layout.places(drawn)
    columns = 1 + max((column for column, _ in places.values()), default=0)
    rows = math.ceil(columns / max(2, 1 + int((width - 60) / HOP)))
    across = math.ceil(columns / rows)
    heights = [height for _, height in chain(places.values(), *bends.values())] or [0.0]
    spread = max(heights) - min(heights)
    step = max(LEAST_STEP, min(STEP, TALLEST / rows / max(1.0, spread)))
    tracks = _tracks(drawn.classes)
    beside = FIRST + TRACK * max(tracks, default=0) + 3
    reach = min(max(10.0, beside + 2), *([0.4 * step] if spread else []), math.inf)
    widest = 40.0 if columns == 1 else 0.24 * (width - 60) / max(1, across - 1)
    half = {node: (min(widest, 7 + LETTER * 5 * len(node)), reach) for node in drawn.nodes}
    margin = 1.5 + max((wide for wide, _ in half.values()), default=0.0)
    hop = (width - 2 * margin) / max(1, across - 1)
    row = spread * step + 2 * (reach + ROW)

    def point(place: layout.Place) -> Point:
        line, along = divmod(place[0], across)
        # Every other row runs backwards, so that a chain continues below its last node.
        along = across - 1 - along if line % 2 else along
        x = margin + along * hop if across > 1 else width / 2
        return (x, MARGIN + reach + (place[1] - min(heights)) * step + (rows - 1 - line) * row)

    sheet = Sheet(
        graph=drawn,
        size=(width, 2 * (MARGIN + reach) + spread * step + (rows - 1) * row),
        at={node: point(place) for node, place in places.items()},
        bends={ends: [point(place) for place in places] for ends, places in bends.items()},
        half=half,
        tracks=tracks,
        beside=beside,
    )
    return sheet, _legend(sheet)


def _tracks(classes: list[Class]) -> list[int]:
    tracks: list[int] = []
    for one in classes:
        taken = {
            track for track, other in zip(tracks, classes, strict=False) if set(one.steps) & set(other.steps)
        }
        tracks.append(next(track for track in range(len(classes)) if track not in taken))
    return tracks


def _legend_height(legend: list[list[tuple[float, str, int | None]]]) -> float:
    return LEGEND * len(legend) + (6 if legend else 0)


def _legend(sheet: Sheet) -> list[list[tuple[float, str, int | None]]]:
    """Legend: the classes, the capacities of links without space for them, and the note on undrawn parts."""
    entries: list[tuple[str, int | None]] = [(one.label, one.place) for one in sheet.graph.classes]
    unlabelled = [edge for edge in sheet.graph.edges if not _texts(sheet, edge)]
    for capacity, links in Counter(edge.capacity for edge in unlabelled).items():
        names = [edge.arcs[0].name for edge in unlabelled if edge.capacity == capacity]
        named = ", ".join(names) if links < MANY else "other links"
        named = "each link" if links == len(sheet.graph.edges) else named
        entries.append((f"{named}: {' and '.join(capacity)}", None))
    if sheet.graph.note:
        entries.append((sheet.graph.note, None))
    lines: list[list[tuple[float, str, int | None]]] = []
    x = width = sheet.size[0]
    for text, place in entries:
        needs = LETTER * (style.FONT_PT - 1) * len(text) + (0 if place is None else 19)
        if x + needs > width:
            lines.append([])
            x = 1.0
        lines[-1].append((x, text, place))
        x += needs + 14
    return lines


def _widths(edges: list[Edge]) -> dict[tuple[str, str], float]:
    """Line width of each link, by the faster of its directions."""
    rates = {edge.ends: max((graph.bits_per_second(arc.rate) or 0.0) for arc in edge.arcs) for edge in edges}
    slowest = min(filter(None, rates.values()), default=1.0)
    return {
        ends: min(FAST, SLOW + DECADE * math.log10(max(rate, slowest) / slowest))
        for ends, rate in rates.items()
    }


def _path(ax: Axes, sheet: Sheet, one: Class, offset: float) -> None:
    """Draw a line on the left of each link of a class's path, from a dot to an arrow."""
    colour = style.colour(one.place)
    ends_at = {step[0] for step in one.steps}
    starts_at = {step[1] for step in one.steps}
    for ends in one.steps:
        points = _left_of(sheet.path(ends), offset)
        if ends[0] not in starts_at:
            points[0] = _shifted(points[0], points[1], 3)
            ax.plot(*points[0], marker="o", markersize=3.6, color=colour, zorder=2)
        if ends[1] not in ends_at:
            points[-1] = _shifted(points[-1], points[-2], 4)
            marker = (3, 0, _degrees(points[-2], points[-1]) - 90)
            ax.plot(*points[-1], marker=marker, markersize=6.5, color=colour, markeredgewidth=0, zorder=2)
        _line(ax, points, color=colour, linewidth=1.6)


def _left_of(points: list[Point], offset: float) -> list[Point]:
    """A line to the left of another one."""
    moved = []
    for start, end in pairwise(points):
        length = math.dist(start, end) or 1.0
        x, y = offset * (start[1] - end[1]) / length, offset * (end[0] - start[0]) / length
        moved += [(start[0] + x, start[1] + y), (end[0] + x, end[1] + y)]
    return moved


def _queue(ax: Axes, sheet: Sheet, ends: tuple[str, str]) -> None:
    """Draw a queue at the beginning of a direction, across the tracks of that direction."""
    start, end = sheet.path(ends)[:2]
    tall = sheet.beside + 2
    along = min(8 + QUEUE / 2 if abs(start[1] - end[1]) < 1 else 0.3 * math.dist(start, end), 40.0)
    middle, _ = _left_of([_shifted(start, end, along), end], tall / 2)
    turn = _degrees(start, end)
    style_of_bars = {"facecolor": style.INK, "linewidth": 0}
    # Packets, the first one at the exit.
    bars = [(QUEUE / 2 - 4 - 5 * place, 3.4, tall - 4, 0.85 - 0.25 * place) for place in range(3)]
    frame = {"facecolor": style.PAPER, "edgecolor": style.INK, "linewidth": 1.1}
    for x, wide, high, alpha in ((0.0, QUEUE, tall, 1.0), *bars):
        at = _shifted(middle, _ahead(middle, turn), x)
        box = (at[0] - wide / 2, at[1] - high / 2)
        look = frame if wide == QUEUE else style_of_bars
        ax.add_patch(
            Rectangle(box, wide, high, angle=turn, rotation_point="center", alpha=alpha, zorder=3, **look)
        )


def _texts(sheet: Sheet, edge: Edge) -> list[tuple[str, int]]:
    """Texts at a link, each with its side, 1 above and -1 below; none if they do not fit."""
    path = sheet.path(edge.ends)
    start, end = _longest(path)
    level = abs(end[1] - start[1]) < 1
    room = (math.dist(start, end) - 6) / (LETTER * SMALL)
    # Away from the middle of the picture and its links.
    outside = 1 if start[1] + end[1] > sheet.size[1] - 6 else -1
    texts = [(text, outside) for text in edge.capacity if text]
    arc = edge.arcs[0]
    if len(edge.capacity) > 1:
        # Each direction on the side of its tracks.
        there, back = ("→", "←") if path[0][0] <= path[-1][0] else ("←", "→")
        found = sorted([(there, edge.there), (back, edge.back)], key=lambda one: one[0] == "←")
        signed = [f"{sign} {arc.capacity}" for sign, arc in found if arc and arc.capacity]
        texts = [*zip(signed, (1, -1), strict=True)] if level else [("\n".join(signed), outside)]
    elif level and len(arc.capacity) > room and sheet.is_alone(edge):
        texts = [(arc.rate, 1), *([(arc.delay, -1)] if arc.delay in arc.capacity else [])]
    return texts if all(len(line) <= room for text, _ in texts for line in text.split("\n")) else []


def _label(ax: Axes, sheet: Sheet, edge: Edge) -> None:
    """Write rate and delay along a link."""
    start, end = sorted(_longest(sheet.path(edge.ends)))
    turn = _degrees(start, end)
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    for text, side in _texts(sheet, edge):
        off = sheet.beside + LINE * (1 + text.count("\n")) / 2 + 2.5
        at, _ = _left_of([middle, end], side * off)
        box = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.2}
        _write(ax, at, text, size=SMALL, rotation=turn, bbox=box)


def _longest(points: list[Point]) -> tuple[Point, Point]:
    return max(pairwise(points), key=lambda part: math.dist(*part))


def _node(ax: Axes, sheet: Sheet, node: str) -> None:
    (x, y), (wide, tall) = sheet.at[node], sheet.half[node]
    ax.add_patch(
        FancyBboxPatch(
            (x - wide, y - tall),
            2 * wide,
            2 * tall,
            boxstyle="round,pad=0,rounding_size=4",
            facecolor=style.PAPER,
            edgecolor=style.MUTED,
            linewidth=1.0,
            zorder=4,
        )
    )
    size = min(style.FONT_PT - 1.0, 1.5 * tall)
    most = max(1, int((2 * wide - 4) / (LETTER * size)))
    # Long names differ in their ends.
    name = node if len(node) <= most else "…" + node[-max(1, most - 1) :]
    _write(ax, (x, y), name, size=size, color=style.INK, zorder=5)


def _shifted(point: Point, towards: Point, distance: float) -> Point:
    length = math.dist(point, towards) or 1.0
    share = distance / length
    return (point[0] + share * (towards[0] - point[0]), point[1] + share * (towards[1] - point[1]))


def _ahead(point: Point, degrees: float) -> Point:
    return (point[0] + math.cos(math.radians(degrees)), point[1] + math.sin(math.radians(degrees)))


def _degrees(start: Point, end: Point) -> float:
    return math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))


def _line(ax: Axes, points: list[Point], **look: Any) -> None:
    usual: dict[str, Any] = {"zorder": 2, "solid_capstyle": "butt"}
    ax.plot(*zip(*points, strict=True), **usual | look)


def _write(ax: Axes, at: Point, text: str, *, size: float, **look: Any) -> None:
    usual: dict[str, Any] = {
        "ha": "center",
        "va": "center",
        "color": style.MUTED,
        "zorder": 3.5,
        "rotation_mode": "anchor",
    }
    ax.text(*at, style.plain(text), fontsize=size, **usual | look)
