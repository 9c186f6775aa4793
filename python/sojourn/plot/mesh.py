"""Any network, drawn: nodes, links as wide as they are fast, queues, the ways of the classes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.path import Path

from sojourn.plot import graph, layers, style
from sojourn.plot.graph import Arc, Class, Edge, Graph
from sojourn.plot.room import Point, Room

#: Points between two columns at least, else the picture goes on in the next row; between heights at most.
HOP, STEP = 62.0, 46.0
#: The height of all steps together, at most, points; a step takes this much at least.
TALLEST, LEAST_STEP = 260.0, 15.0
#: Points between two rows, above and below all, for a line of the legend.
ROW, MARGIN, LEGEND = 64.0, 26.0, 15.0
#: The first track beside the middle of a link, and from one to the next, points.
FIRST, TRACK = 2.6, 3.2
#: The width of a queue, points.
QUEUE = 20.0
#: Widths of the slowest link, of ten times its rate more, and of the fastest, points.
SLOW, DECADE, FAST = 3.0, 2.0, 9.0
#: Points that an upright link leaves at least where it is written on.
ROOM_UPRIGHT = 36.0
#: So many links with one rate and delay are told of together.
MANY = 5
#: The width of a letter, of its height.
LETTER = 0.54
#: How high a line of what is written at links is, points.
LINE = 10.0
#: Where along its link something is written, first choice first.
SHARES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)
#: How much further along its link a queue stands where one is in the way, first choice first, points.
FURTHER = (0.0, QUEUE + 4, 2 * QUEUE + 8)


@dataclass(frozen=True)
class Sheet:
    """Where everything stands, in points from the lower left."""

    graph: Graph
    size: tuple[float, float]
    at: dict[str, Point]
    #: The bends of links that pass columns.
    bends: dict[tuple[str, str], list[Point]]
    #: Half the width and half the height of each node.
    half: dict[str, Point]
    #: The track of each class: those that share a direction of a link stand apart.
    tracks: list[int]
    #: The lines of the legend.
    legend: list[list[tuple[float, str, int | None]]]
    #: What so many links have in common that it is told below.
    common: set[tuple[str, ...]]
    #: Points from a column to the next.
    hop: float
    #: What the picture has already.
    room: Room = field(default_factory=Room)

    @property
    def beside(self) -> float:
        """How far from the middle of a link its tracks reach."""
        return FIRST + TRACK * max(self.tracks, default=0) + 1


def height_in(scenario: dict[str, Any], width: float) -> float:
    """The height of the picture, inches; `width` is in points."""
    return _sheet(scenario, width).size[1] / 72


def draw(ax: Axes, scenario: dict[str, Any], width: float) -> Axes:
    """Draw the network into `ax`, whose data become points, from the lower left."""
    sheet = _sheet(scenario, width)
    ax.set_xlim(0, sheet.size[0])
    ax.set_ylim(0, sheet.size[1])
    ax.set_aspect("equal")
    rates = _rates(sheet.graph)
    sheet.room.lines |= {edge.ends: Path(_path(sheet, edge.ends)) for edge in sheet.graph.edges}
    for node, middle in sheet.at.items():
        wide, tall = sheet.half[node]
        sheet.room.take(middle, (2 * wide, 2 * tall))
    for edge in sheet.graph.edges:
        path = np.array(_path(sheet, edge.ends))
        ax.plot(
            path[:, 0],
            path[:, 1],
            color=style.RULE,
            linewidth=_width(edge, rates),
            solid_capstyle="butt",
            solid_joinstyle="round",
            zorder=1,
        )
    for one, track in zip(sheet.graph.classes, sheet.tracks, strict=True):
        _way(ax, sheet, one, track)
    for edge in sheet.graph.edges:
        for ends, arc in ((edge.ends, edge.there), (edge.ends[::-1], edge.back)):
            if arc is not None and arc.queue:
                _queue(ax, sheet, ends)
    for edge in sheet.graph.edges:
        if edge.capacity not in sheet.common:
            _labels(ax, sheet, edge)
    for node in sheet.graph.nodes:
        _node(ax, sheet, node)
    for line, entries in enumerate(sheet.legend):
        y = 6 + LEGEND * (len(sheet.legend) - 1 - line)
        for x, text, place in entries:
            if place is not None:
                ax.plot((x, x + 14), (y, y), color=style.colour(place), linewidth=2, zorder=2)
            start = x if place is None else x + 19
            ax.text(start, y, style.plain(text), va="center", fontsize=style.FONT_PT - 1, color=style.MUTED)
    return ax


def _sheet(scenario: dict[str, Any], width: float) -> Sheet:
    drawn = graph.of(scenario)
    places, bends = layers.places(drawn)
    columns = 1 + max((column for column, _ in places.values()), default=0)
    most = max(2, 1 + int((width - 60) / HOP))
    rows = math.ceil(columns / most)
    across = math.ceil(columns / rows)
    spread = max(
        (abs(height) for _, height in itertools.chain(places.values(), *bends.values())), default=0.0
    )
    step = max(LEAST_STEP, min(STEP, TALLEST / rows / max(1.0, 2 * spread)))
    tracks = _tracks(drawn.classes)
    reach = max(10.0, FIRST + TRACK * max(tracks, default=0) + 4)
    stacked = Counter(column for column, _ in places.values())
    tall = {
        node: min(reach, 0.45 * step) if stacked[column] > 1 else reach
        for node, (column, _) in places.items()
    }
    rough = (width - 60) / max(1, across - 1)
    half = {
        node: (min(0.24 * rough, 7 + LETTER * 5 * len(node)) if columns > 1 else 40.0, tall[node])
        for node in drawn.nodes
    }
    margin = 1.5 + max((wide for wide, _ in half.values()), default=0.0)
    hop = (width - 2 * margin) / max(1, across - 1)
    common = _common(drawn, places)
    legend = _legend(drawn, common, width)
    below = MARGIN + LEGEND * len(legend) + (6 if legend else 0)
    row = 2 * spread * step + ROW

    def point(place: layers.Place) -> Point:
        column, height = place
        line, along = divmod(column, across)
        # Every other row goes back, so that a chain goes on where it is.
        along = across - 1 - along if line % 2 else along
        x = margin + along * hop if across > 1 else width / 2
        return (x, below + reach + spread * step + height * step + (rows - 1 - line) * row)

    at = {node: point(place) for node, place in places.items()}
    bent = {ends: [point(place) for place in chain] for ends, chain in bends.items()}
    size = (width, below + MARGIN + 2 * reach + 2 * spread * step + (rows - 1) * row)
    return Sheet(drawn, size, at, bent, half, tracks, legend, common, hop)


def _tracks(classes: list[Class]) -> list[int]:
    tracks: list[int] = []
    for place, one in enumerate(classes):
        taken = {
            tracks[before]
            for before, other in enumerate(classes[:place])
            if set(one.steps) & set(other.steps)
        }
        tracks.append(next(track for track in range(len(classes)) if track not in taken))
    return tracks


def _common(drawn: Graph, places: layers.Places) -> set[tuple[str, ...]]:
    """Rates and delays that many links have, not all of them level: too much to read beside them."""
    alike: dict[tuple[str, ...], list[Edge]] = {}
    for edge in drawn.edges:
        alike.setdefault(edge.capacity, []).append(edge)
    return {
        capacity
        for capacity, edges in alike.items()
        if len(edges) >= MANY and any(places[edge.ends[0]][1] != places[edge.ends[1]][1] for edge in edges)
    }


def _legend(
    drawn: Graph, common: set[tuple[str, ...]], width: float
) -> list[list[tuple[float, str, int | None]]]:
    entries: list[tuple[str, int | None]] = [(one.label, one.place) for one in drawn.classes]
    named = "each link" if all(edge.capacity in common for edge in drawn.edges) else "other links"
    entries += [(f"{named}: {' and '.join(capacity)}", None) for capacity in sorted(common)]
    if drawn.note:
        entries.append((drawn.note, None))
    lines: list[list[tuple[float, str, int | None]]] = []
    x = width
    for text, place in entries:
        needs = LETTER * (style.FONT_PT - 1) * len(text) + (0 if place is None else 19)
        if x + needs > width:
            lines.append([])
            x = 1.0
        lines[-1].append((x, text, place))
        x += needs + 14
    return lines


def _rates(drawn: Graph) -> dict[str, float]:
    """The rate of each direction of a link that has one, bit/s."""
    arcs = [arc for edge in drawn.edges for arc in (edge.there, edge.back) if arc is not None]
    rates = {arc.name: graph.bits_per_second(arc.rate) for arc in arcs}
    return {name: rate for name, rate in rates.items() if rate}


def _width(edge: Edge, rates: dict[str, float]) -> float:
    own = [rates[arc.name] for arc in (edge.there, edge.back) if arc is not None and arc.name in rates]
    if not own:
        return SLOW
    return min(FAST, SLOW + DECADE * math.log10(max(own) / min(rates.values())))


def _path(sheet: Sheet, ends: tuple[str, str]) -> list[Point]:
    """From one node to the other, in a bend where another node is in the way."""
    start, end = sheet.at[ends[0]], sheet.at[ends[1]]
    bends = sheet.bends.get(ends) or sheet.bends.get(ends[::-1], [])[::-1]
    if bends:
        return [start, *bends, end]
    along, across = _axes(start, end)
    length = math.dist(start, end)
    # Between two columns, what stands in them is beside the ends, not in the way.
    beside = set() if start[0] == end[0] else {start[0], end[0]}
    others = [
        sheet.at[node] for node in sheet.graph.nodes if node not in ends and sheet.at[node][0] not in beside
    ]

    def is_free(points: list[Point]) -> bool:
        return not any(
            _distance(point, one, other) < 14 for point in others for one, other in itertools.pairwise(points)
        )

    if is_free([start, end]):
        return [start, end]
    # The same side whichever end one comes from.
    side = 1.0 if ends[0] < ends[1] else -1.0
    for bend in (30.0, -30.0):
        middle = (
            start[0] + along[0] * length / 2 + side * bend * across[0],
            start[1] + along[1] * length / 2 + side * bend * across[1],
        )
        if is_free([start, middle, end]):
            return [start, middle, end]
    return [start, end]


def _axes(start: Point, end: Point) -> tuple[Point, Point]:
    """The direction from one point to another, and the one to its left."""
    length = math.dist(start, end) or 1.0
    x, y = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    return (x, y), (-y, x)


def _distance(point: Point, one: Point, other: Point) -> float:
    """From a point to a line between two others."""
    (x, y), _ = _axes(one, other)
    along = (point[0] - one[0]) * x + (point[1] - one[1]) * y
    along = min(max(along, 0.0), math.dist(one, other))
    return math.dist(point, (one[0] + along * x, one[1] + along * y))


def _border(sheet: Sheet, node: str, direction: Point) -> float:
    """How far it is from the middle of a node to its border."""
    wide, tall = sheet.half[node]
    return min(wide / max(abs(direction[0]), 1e-9), tall / max(abs(direction[1]), 1e-9))


def _way(ax: Axes, sheet: Sheet, one: Class, track: int) -> None:
    """A line on the left of each link of the way, from a dot to an arrow."""
    colour, offset = style.colour(one.place), FIRST + TRACK * track
    last = len(one.steps) - 1
    for number, ends in enumerate(one.steps):
        path = _path(sheet, ends)
        points = []
        for start, end in itertools.pairwise(path):
            _, left = _axes(start, end)
            points += [_moved(start, left, offset), _moved(end, left, offset)]
        if number == 0 or one.steps[number - 1][1] != ends[0]:
            along, _ = _axes(path[0], path[1])
            points[0] = _moved(points[0], along, _border(sheet, ends[0], along) + 3)
            ax.plot(*points[0], marker="o", markersize=3.6, color=colour, zorder=2)
        if number == last or one.steps[number + 1][0] != ends[1]:
            along, _ = _axes(path[-2], path[-1])
            points[-1] = _moved(points[-1], along, -_border(sheet, ends[1], along) - 4)
            angle = math.degrees(math.atan2(along[1], along[0])) - 90
            ax.plot(
                *points[-1], marker=(3, 0, angle), markersize=6.5, color=colour, markeredgewidth=0, zorder=2
            )
        ax.plot(*zip(*points, strict=True), color=colour, linewidth=1.6, zorder=2)


def _moved(point: Point, direction: Point, distance: float) -> Point:
    return (point[0] + distance * direction[0], point[1] + distance * direction[1])


def _queue(ax: Axes, sheet: Sheet, ends: tuple[str, str]) -> None:
    """A queue at the beginning of a direction, through which the tracks of that direction go."""
    path = _path(sheet, ends)
    along, left = _axes(path[0], path[1])
    height = sheet.beside + 3
    first = _border(sheet, ends[0], along) + 8 + QUEUE / 2
    beside = _moved(path[0], left, height / 2)
    places = [_moved(beside, along, first + more) for more in FURTHER]
    own = ends if ends in sheet.room.lines else ends[::-1]
    x, y = sheet.room.best(places, (QUEUE, height), own)
    sheet.room.take((x, y), (QUEUE, height))
    box = Rectangle(
        (x - QUEUE / 2, y - height / 2),
        QUEUE,
        height,
        facecolor=style.PAPER,
        edgecolor=style.INK,
        linewidth=1.1,
        zorder=3,
    )
    ax.add_patch(box)
    # Packets, the first one where they leave.
    side = 1 if along[0] >= 0 else -1
    for place in range(3):
        middle = x + side * (QUEUE / 2 - 4 - 5 * place)
        bar = Rectangle((middle - 1.7, y - height / 2 + 2), 3.4, height - 4, facecolor=style.INK, zorder=3)
        bar.set_alpha(0.85 - 0.25 * place)
        ax.add_patch(bar)


def _labels(ax: Axes, sheet: Sheet, edge: Edge) -> None:
    """Rate and delay, of each direction where they differ; nothing where there is no room."""
    path = _path(sheet, edge.ends)
    middle = len(path) // 2
    start, end = path[middle - 1], path[middle]
    along, _ = _axes(start, end)
    level = abs(along[1]) < 0.04
    arcs = [arc for arc in (edge.there, edge.back) if arc is not None]
    differ = len({arc.capacity for arc in arcs}) > 1
    first = _border(sheet, edge.ends[0], along) if middle == 1 else 0.0
    last = math.dist(start, end) - (_border(sheet, edge.ends[1], along) if len(path) == 2 else 0.0)
    if not level:
        _label_aslant(ax, sheet, edge, (start, along, first, last))
        return
    letters = (last - first) / (LETTER * (style.FONT_PT - 2))
    above, below = _beside(arcs, edge, along, letters) if differ else _one(arcs[0], letters)
    high = sheet.beside + 3
    is_used = any(_goes_back(one, along, edge) for one in sheet.graph.classes)
    for text, off, side in ((above, high, 1), (below, high if is_used or differ else 5.0, -1)):
        if text:
            size = _size(text)
            middles = _middles(sheet, (start, along, first, last), size[0])
            moved = [(x, y + side * (off + size[1] / 2)) for x, y in middles]
            _write_best(ax, sheet, edge, text, middles=moved)


def _middles(sheet: Sheet, place: tuple[Point, Point, float, float], wide: float) -> list[Point]:
    """Places along a link for something so wide; links at the sides leave the picture no room."""
    start, along, first, last = place
    # At a level link it stays between the ends.
    inside = max(0.0, (last - first - wide * abs(along[0])) / (last - first)) if last > first else 0.0
    shares = [0.5 + (share - 0.5) * inside for share in SHARES]
    found = [_moved(start, along, first + share * (last - first)) for share in shares]
    return [(min(max(x, wide / 2 + 1), sheet.size[0] - wide / 2 - 1), y) for x, y in found]


def _size(text: str) -> Point:
    """How wide and how high something written is, about."""
    lines = text.split("\n")
    return LETTER * (style.FONT_PT - 2) * max(map(len, lines)), LINE * len(lines)


def _write_best(
    ax: Axes, sheet: Sheet, edge: Edge, text: str, *, middles: list[Point], boxed: bool = False
) -> None:
    """Write where it covers least."""
    wide, high = _size(text)
    size = (wide + 4, high + 3)
    x, y = sheet.room.best(middles, size, edge.ends)
    sheet.room.take((x, y), size)
    _write(ax, x, y, text, boxed=boxed)


def _label_aslant(ax: Axes, sheet: Sheet, edge: Edge, place: tuple[Point, Point, float, float]) -> None:
    """Rate and delay on a link that is not level, between its queues; where there is less room, the rate."""
    start, along, first, last = place
    first += QUEUE + 10 if edge.there is not None and edge.there.queue else 0.0
    last -= QUEUE + 10 if edge.back is not None and edge.back.queue else 0.0
    if abs(along[0]) < 0.2 and last - first < ROOM_UPRIGHT:
        return
    arcs = [arc for arc in (edge.there, edge.back) if arc is not None]
    for rate_alone in (False, True):
        told = [_told(arc, rate_alone) for arc in arcs]
        if len(set(told)) > 1:
            told = [f"{_sign(arc, edge, along)} {text}" for arc, text in zip(arcs, told, strict=True)]
        text = "\n".join(dict.fromkeys(told))
        wide, high = _size(text)
        # A line is as long as its box lets be seen of it.
        hidden = min(wide / max(abs(along[0]), 1e-9), high / max(abs(along[1]), 1e-9))
        if hidden < last - first + 4 and wide < 1.6 * sheet.hop:
            middles = _middles(sheet, (start, along, first, last), wide)
            _write_best(ax, sheet, edge, text, middles=middles, boxed=True)
            return


def _told(arc: Arc, rate_alone: bool) -> str:
    return arc.rate if rate_alone else arc.capacity


def _one(arc: Arc, letters: float) -> tuple[str, str]:
    """What stands above and below a link that is the same in both directions."""
    delay = "" if arc.delay.startswith("0 ") else arc.delay
    return (arc.rate if len(arc.rate) <= letters else "", delay if len(delay) <= letters else "")


def _beside(arcs: list[Arc], edge: Edge, along: Point, letters: float) -> tuple[str, str]:
    """What stands above and below: each direction on the side where its tracks are."""
    told = []
    for arc in sorted(arcs, key=lambda arc: (arc is edge.there) != (along[0] >= 0)):
        whole = _arrowed(arc, edge, along)
        short = whole.replace(", ", "\n")
        told.append(whole if len(whole) <= letters else short if len(arc.rate) + 2 <= letters else "")
    return told[0], told[1]


def _arrowed(arc: Arc, edge: Edge, along: Point) -> str:
    return f"{_sign(arc, edge, along)} {arc.capacity}"


def _sign(arc: Arc, edge: Edge, along: Point) -> str:
    """The way that a direction goes in the picture."""
    return "→" if (arc is edge.there) == (along[0] >= 0) else "←"


def _goes_back(one: Class, along: Point, edge: Edge) -> bool:
    """Whether a class has its track below a level link."""
    return (edge.ends if along[0] < 0 else edge.ends[::-1]) in one.steps


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
    # Of long names the ends differ.
    name = node if len(node) <= most else "…" + node[-max(1, most - 1) :]
    ax.text(x, y, style.plain(name), ha="center", va="center", fontsize=size, color=style.INK, zorder=5)


def _write(ax: Axes, x: float, y: float, text: str, *, boxed: bool = False) -> None:
    box = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.0} if boxed else None
    ax.text(
        x,
        y,
        style.plain(text),
        ha="center",
        va="center",
        fontsize=style.FONT_PT - 2,
        linespacing=1.1,
        color=style.MUTED,
        bbox=box,
        zorder=3.5,
    )
