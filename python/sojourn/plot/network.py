"""The network of a scenario, drawn; a plain dumbbell as senders, queue, bottleneck, receivers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle

from sojourn.plot import graph, mesh, style

#: Most groups of flows drawn; the others are counted.
DRAWN = 4
#: Heights in points: of a group's box, between two, and above and below them.
BOX, GAP, MARGIN = 48.0, 10.0, 22.0
#: Widths in points: of the senders' boxes and of the receivers', and of the queue.
SENDERS, RECEIVERS, QUEUE = 124.0, 74.0, 54.0
#: Least width of the picture, points.
NARROWEST = 350.0


@dataclass(frozen=True)
class Group:
    """A group of like flows, as text."""

    name: str
    traffic: str
    access: str
    receivers: str


def height_in(scenario: dict[str, Any], width_in: float) -> float:
    """Height of a picture of this width, inches."""
    if not graph.is_plain(scenario):
        return mesh.height_in(scenario, max(NARROWEST, 72 * width_in))
    return _height(len(_groups(scenario))) / 72


def draw(ax: Axes, scenario: dict[str, Any]) -> Axes:
    """Draw the network into `ax`, which loses its frame; its data are points, from the lower left."""
    width = max(NARROWEST, 72 * ax.get_position().width * _figure_width(ax))
    ax.set_axis_off()
    ax.set_facecolor("none")
    if not graph.is_plain(scenario):
        return mesh.draw(ax, scenario, width)
    groups = _groups(scenario)
    height = _height(len(groups))
    ax.set_xlim(0, width)
    ax.set_ylim(0, height)
    ax.set_aspect("equal")
    middle = height / 2
    near, far = _bottleneck(ax, scenario.get("bottleneck") or {}, width, middle)
    for place, group in enumerate(groups):
        y = height - MARGIN - BOX / 2 - place * (BOX + GAP)
        _line(ax, (SENDERS, near), (y, middle))
        _line(ax, (far, width - RECEIVERS), (middle, y))
        _box(ax, 0.8, y, SENDERS)
        _write(ax, SENDERS / 2, y + 13, style.plain(group.name), bold=True)
        _write(ax, SENDERS / 2, y - 1, group.traffic)
        _write(ax, SENDERS / 2, y - 14, group.access)
        _box(ax, width - RECEIVERS - 0.8, y, RECEIVERS)
        _write(ax, width - RECEIVERS / 2, y, group.receivers)
    return ax


def _bottleneck(ax: Axes, link: dict[str, Any], width: float, y: float) -> tuple[float, float]:
    """Draw the queue, the slow link and the router behind it; returns the ends of the lines of both sides."""
    between = (width - SENDERS - RECEIVERS - QUEUE) / 3
    left = SENDERS + 0.5 * between
    right = left + QUEUE
    far = width - RECEIVERS - 0.5 * between
    _line(ax, (right, far), (y, y), wide=True)
    ax.add_patch(
        Rectangle((left, y - 15), QUEUE, 30, facecolor="none", edgecolor=style.INK, linewidth=1.4, zorder=3)
    )
    for place in range(4):
        bar = Rectangle((right - 9.5 - 9 * place, y - 11), 6, 22, facecolor=style.colour(0), zorder=3)
        bar.set_alpha(1 - 0.2 * place)
        ax.add_patch(bar)
    ax.add_patch(Circle((far, y), 7, facecolor=style.PAPER, edgecolor=style.INK, linewidth=1.4, zorder=3))
    _write(ax, left + QUEUE / 2, y + 36, "queue", bold=True)
    _write(ax, left + QUEUE / 2, y + 23, str(link.get("buffer") or "unlimited"))
    _write(ax, (right + far) / 2, y + 12, str(link.get("rate") or ""), bold=True)
    _write(ax, (right + far) / 2, y - 12, str(link.get("delay") or ""))
    return left, far


def _groups(scenario: dict[str, Any]) -> list[Group]:
    flows = scenario.get("flows") or []
    if len(flows) <= DRAWN:
        return [_group(one) for one in flows]
    rest = flows[DRAWN - 1 :]
    most = "at most " if any(one.get("arrivals") for one in rest) else ""
    more = f"{most}{sum(int(one.get('count', 1)) for one in rest)} more"
    counted = Group(f"{more} flows", f"in {len(rest)} classes", "", more)
    return [*map(_group, flows[: DRAWN - 1]), counted]


def _group(flows: dict[str, Any]) -> Group:
    count = graph.count_of(flows)
    access = flows.get("access") or {}
    delay = access.get("delay")
    if isinstance(delay, dict):
        delay = " to ".join(map(str, next(iter(delay.values()), [])))
    # Rate of traffic without congestion control.
    rate = str(flows.get("rate") or "")
    traffic = [rate, f"{'' if flows.get('ecn') else 'no '}ECN", str(flows.get("segment") or "")]
    return Group(
        name=_cut(graph.label_of(flows)),
        traffic=", ".join(part for part in traffic if part),
        access=", ".join(str(part) for part in (access.get("rate"), _short(delay)) if part),
        receivers=f"{count} {'receiver' if count == '1' else 'receivers'}",
    )


def _cut(text: str) -> str:
    """The text, cut to fit into a box of senders."""
    most = int(SENDERS / (mesh.LETTER * style.FONT_PT))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _short(delay: object) -> str:
    """Factor out the unit: ``38 to 42 ms`` for ``38 ms to 42 ms``."""
    first, to, last = str(delay or "").partition(" to ")
    number, _, unit = first.partition(" ")
    if to and last.endswith(f" {unit}"):
        return f"{number} to {last}" if number != last.partition(" ")[0] else last
    return str(delay or "")


def _height(groups: int) -> float:
    rows = max(1, groups)
    return max(104.0, 2 * MARGIN + rows * BOX + (rows - 1) * GAP)


def _figure_width(ax: Axes) -> float:
    drawn = ax.get_figure(root=True)
    return 0.0 if drawn is None else float(drawn.get_figwidth())


def _box(ax: Axes, x: float, y: float, width: float) -> None:
    ax.add_patch(
        FancyBboxPatch(
            (x, y - BOX / 2),
            width - 0.8,
            BOX,
            boxstyle="round,pad=0,rounding_size=5",
            facecolor="none",
            edgecolor=style.MUTED,
            linewidth=1.0,
        )
    )


def _line(ax: Axes, x: tuple[float, float], y: tuple[float, float], *, wide: bool = False) -> None:
    ax.plot(x, y, color=style.INK if wide else style.MUTED, linewidth=3.0 if wide else 1.0, zorder=2)


def _write(ax: Axes, x: float, y: float, text: str, *, bold: bool = False) -> None:
    ax.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=style.FONT_PT - 1,
        fontweight="bold" if bold else "normal",
        color=style.INK if bold else style.MUTED,
        zorder=4,
    )
