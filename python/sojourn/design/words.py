"""A design as sentences and as a table, and what proves it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn.design.box import Box
from sojourn.design.search import DENSE, Wanted

if TYPE_CHECKING:
    from sojourn.design import Design
    from sojourn.design.judge import Point

__all__ = ["COLUMNS", "proof", "rows", "sentences", "shortfall"]

#: Columns of the table of vertices: name, unit, key of a `Point`.
COLUMNS = (
    ("p", "", "p"),
    ("backlog", "packets", "backlog_packets"),
    ("window", "packets", "window_packets"),
    ("phase margin", "deg", "phase_margin_deg"),
    ("gain margin", "", "gain_margin"),
    ("crossover", "rad/s", "crossover_rad_s"),
    ("settling", "s", "settling_s"),
)
#: Settling from which a law with fixed gains is called slow, s.
SLOW_S = 60.0
#: Laws of a fixed PI loop, whose vertex bounds the margin of Hollot's plant over the box.
VERTEX_LAWS = ("pi", "rem")
#: Why it does.
VERTICES = (
    "In Hollot's plant |L| at each frequency rises with R and C and falls with N, so that no crossover "
    "exceeds that of the vertex with the fewest flows, the longest round trip and the highest rate; the zero "
    "lies on the least pole of the windows over the box, so that arg L >= -90 deg - w R - atan(w R), which "
    "falls with w and R. The vertex has equality in both."
)


def sentences(design: Design) -> list[str]:
    """The answer, what limits it, its proof, and the default parameters beside it."""
    lines = [_answer(design)]
    limiting, slowest = design.limiting, design.slowest
    if limiting is not None:
        lines.append(f"Limiting: {at(limiting)}: {_margins(limiting)}.")
    if slowest is not None and math.isfinite(slowest.settling_s):
        lines.append(f"Slowest: {at(slowest)}: within 2 % after {short(slowest.settling_s)} s.")
        if slowest.settling_s > SLOW_S and not design.rule.adapts and design.wanted.settling_s is None:
            lines.append(SLOW)
    lines.append(f"Rule: {design.rule.words}; its gain times {short(design.factor)}{_shape(design)}.")
    if design.law == "red":
        lines.append(
            "RED holds no target: its queue follows the load between its thresholds, as in the table."
        )
    if design.rule.partial is not None:
        lines.append(f"The margins are those of a part of the law: {design.rule.partial}.")
    lines += _proof_lines(design)
    lines += [
        f"Outside of the theory, and not counted: {count} of {len(design.points)} points, as {reason}."
        for reason, count in design.outside.items()
    ]
    lines.append(_default(design))
    return lines


def shortfall(design: Design) -> str:
    """What a design that is not met lacks, in a line."""
    head, wanted, slowest = f"no gains of {design.law}'s rule", design.wanted, design.slowest
    is_late = slowest is not None and wanted.settling_s is not None and slowest.settling_s > wanted.settling_s
    if slowest is None or not is_late or design.met_boxes or wanted.lacking(design.points):
        return f"{head} meet the box"
    late = f"the fastest take {short(slowest.settling_s)} s, at {at(slowest)}"
    return f"{head} settle within {short(wanted.settling_s)} s: {late}"


SLOW = (
    "Fixed gains that are safe where the plant's gain is largest are slow where it is least: a settling time "
    "moves the zero; pid:adapt=load, arm_pfc, pi2 and pie follow the load."
)


def _answer(design: Design) -> str:
    wanted = _wants(design.wanted)
    if design.is_met:
        return f"{design.spec} keeps {wanted} over {over(design.box)}."
    head = f"No gains of {design.law}'s rule keep {wanted} over {over(design.box)}."
    if not design.met_boxes:
        return f"{head} Nor over a part of it with one end moved."
    boxes = "; ".join(f"{over(box)}" for box in design.met_boxes)
    return f"{head} Largest boxes with one end moved: {boxes}. Over the first: {design.spec}."


def _wants(wanted: Wanted) -> str:
    text = (
        f"a phase margin of {short(wanted.margin_deg)} deg and a gain margin of {short(wanted.gain_margin)}"
    )
    if wanted.settling_s is not None:
        text += f", settled within {short(wanted.settling_s)} s,"
    return text


def _shape(design: Design) -> str:
    return "" if design.shape == 1.0 else f", its zero moved by a factor of {short(design.shape)}"


def _default(design: Design) -> str:
    worst = design.wanted.limiting(design.default.points)
    name = design.default.spec.removesuffix(":")
    if worst is None:
        return f"Default parameters, {name}: the theory reaches no point."
    if design.default.keeps(design.wanted):
        return f"Default parameters, {name}, keep the margins, too: {_margins(worst)}, at {at(worst)}."
    lacking = f"{design.wanted.lacking(design.default.points)} of {len(design.default.points)} points"
    return f"Default parameters, {name}, do not at {lacking}: worst {at(worst)}: {_margins(worst)}."


def _proof_lines(design: Design) -> list[str]:
    found = proof(design)
    lines = []
    if found["checked"] and not design.wanted.lacking(design.points):
        where = "at a vertex" if found["least_at_a_vertex"] else "inside"
        lines.append(
            "Checked by Nyquist's count and margins with the exact delay at "
            f"{found['grid']} points of a grid and {found['random']} random ones. The least is {where}; from "
            "it to the next points of the grid the phase margin changes by at most "
            f"{short(found['steepest_deg'])} deg."
        )
    if found["textbook_vertex_deg"] is not None:
        lines.append(
            f"In Hollot's plant, without sampling, the vertex bounds the whole box: "
            f"{short(found['textbook_vertex_deg'])} deg."
        )
    return lines


def proof(design: Design) -> dict[str, Any]:
    """What shows that the margins hold on the whole box, and not at its vertices alone."""
    box = design.met
    points = {one.where: one for one in design.points}
    grid = [points[place] for place in box.grid(DENSE) if place in points]
    limiting = design.limiting
    least = {name: _is_monotone(box, points, axis) for axis, name in enumerate(("flows", "rtt"))}
    return {
        "kind": "grid",
        "checked": bool(grid) and limiting is not None,
        "grid": len(grid),
        "random": len(design.points) - len(grid),
        "least_at_a_vertex": limiting is not None and limiting.where in set(box.corners),
        "monotone_in": least,
        "steepest_deg": _steepest(box, points, limiting),
        "textbook_vertex_deg": _vertex(design, box),
        "textbook_why": VERTICES if _vertex(design, box) is not None else None,
    }


def _vertex(design: Design, box: Box) -> float | None:
    """Margin of Hollot's plant at the worst vertex, which bounds the box; None: the zero is elsewhere."""
    if design.law not in VERTEX_LAWS or design.shape != 1.0:
        return None
    from sojourn.design.rules import Demand, hollot

    k, _ = hollot(Demand(box, design.wanted.margin_deg))
    gain, rtt = design.factor * k * box.worst.gain, box.worst.rtt
    # w sqrt(1 + (w R)^2) = K P(0): a quadratic in w^2.
    w = math.sqrt((math.sqrt(1 + (2 * gain * rtt) ** 2) - 1) / 2) / rtt
    return 90 - math.degrees(w * rtt + math.atan(w * rtt))


def _is_monotone(box: Box, points: dict[tuple[float, float, float], Point], axis: int) -> bool:
    """True if the phase margin over the grid rises along an axis throughout, or falls."""
    axes = box.axes(DENSE)
    lines: dict[tuple[float, ...], list[float]] = {}
    for place in box.grid(DENSE):
        one = points.get(place)
        if one is not None and one.outside is None:
            lines.setdefault(tuple(value for at, value in enumerate(place) if at != axis), []).append(
                one.margin
            )
    steps = [b - a for line in lines.values() for a, b in itertools.pairwise(line)]
    return len(axes[axis]) < 2 or all(step >= 0 for step in steps) or all(step <= 0 for step in steps)


def _steepest(
    box: Box, points: dict[tuple[float, float, float], Point], limiting: Point | None
) -> float | None:
    """Largest change of the phase margin from the limiting point to its neighbours on the grid, deg."""
    if limiting is None or not math.isfinite(limiting.margin):
        return None
    axes = box.axes(DENSE)
    nearest = [
        min(range(len(axis)), key=lambda k: abs(math.log(axis[k] / value)))
        for axis, value in zip(axes, limiting.where, strict=True)
    ]
    around = []
    for at_axis, axis in enumerate(axes):
        for k in (nearest[at_axis] - 1, nearest[at_axis] + 1):
            if 0 <= k < len(axis):
                place = tuple(
                    axis[k] if other == at_axis else axes[other][nearest[other]] for other in range(3)
                )
                one = points.get((place[0], place[1], place[2]))
                if one is not None and one.outside is None and math.isfinite(one.margin):
                    around.append(abs(one.margin - limiting.margin))
    return max(around, default=0.0)


def rows(design: Design) -> list[tuple[str, list[str]]]:
    """Place of each vertex, and its numbers in the order of `COLUMNS`."""
    one_rate = design.box.capacity_pps[0] == design.box.capacity_pps[1]
    return [
        (
            at(one, briefly=one_rate) + (" (outside)" if one.outside is not None else ""),
            [short(getattr(one, key)) for _, _, key in COLUMNS],
        )
        for one in design.corners
    ]


def _margins(point: Point) -> str:
    if point.reason is not None:
        return point.reason
    if point.phase_margin_deg <= 0:
        return f"unstable, phase margin {short(point.phase_margin_deg)} deg"
    return f"phase margin {short(point.phase_margin_deg)} deg, gain margin {short(point.gain_margin)}"


def at(point: Point, *, briefly: bool = False) -> str:
    """A point in words, without its rate if `briefly`."""
    rate = "" if briefly else f", {short(point.capacity_pps)} packets/s"
    return f"{short(point.flows)} flows, {short(point.rtt_s * 1e3)} ms{rate}"


def over(box: Box) -> str:
    """A box in words."""
    return ", ".join(
        (
            f"{_ends(box.flows)} flows",
            f"{_ends([1e3 * end for end in box.rtt_s])} ms",
            f"{_ends(box.capacity_pps)} packets/s",
        )
    )


def _ends(pair: Sequence[float]) -> str:
    return short(pair[0]) if pair[0] == pair[1] else f"{short(pair[0])} to {short(pair[1])}"


def short(value: float | None) -> str:
    """A number in a few digits."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "unlimited" if value > 0 else "none"
    return f"{value:.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
